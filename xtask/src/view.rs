//! Content of the report, independent of Markdown and HTML.

use std::collections::BTreeSet;

use crate::chart::{self, Axis, Lane, Mark};
use crate::data::seed;
use crate::join::{Facts, Party, Sources, Standing};
use crate::model::{Outcome, Ratio, Report, Role, Row, Sheet};
use crate::quantity::{self as units, Quantity, Unit};
use crate::stats::{geometric_mean, maximum, minimum};

/// A part of the report with its own heading.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Debug)]
pub(crate) enum Block {
    Text(String),
    Warnings(Vec<String>),
    List(Vec<&'static str>),
    /// Names and values.
    Facts(Vec<(String, String)>),
    /// Counts with their labels.
    Tiles(Vec<(&'static str, usize)>),
    Table(Sheet),
    /// A long table.
    Folded(Sheet),
    /// A drawing with the legend of its marks: CSS class and label. Only the HTML page has it.
    Chart(String, &'static [(&'static str, &'static str)]),
}

/// Shown if there is no figure.
const NONE: &str = "-";

/// Returns the whole report; the tables of all implementations only if wanted.
pub(crate) fn sections(report: &Report, sources: &Sources, with_all: bool) -> Vec<Section> {
    let facts = Facts::new(report, sources);
    let section = |id: &str, title: &str, blocks| Section { id: id.into(), title: title.into(), blocks };
    let tables = |sheets: Vec<Sheet>| sheets.into_iter().map(Block::Table).collect();
    let mut sections = vec![
        section("run", "Run", vec![Block::Facts(run_facts(report)), Block::Warnings(warnings(report))]),
        section("overview", "Overview", overview(report, &facts)),
    ];
    for system in &sources.seed.systems {
        let mut blocks = vec![Block::Text(format!("{}.", system.role))];
        for table in sources.seed.tables.iter().filter(|table| table.system == system.id) {
            blocks.extend(published(table, &facts, sources));
        }
        if with_all {
            blocks.extend(measured(&facts, &suites_of(&system.id, &facts, sources)).map(Block::Folded));
        }
        sections.push(section(&system.id, &system.name, blocks));
    }
    for (id, title, run) in [("load", "Load", &report.load), ("fleet", "Fleet", &report.fleet)] {
        let blocks = match run {
            Some(run) => run.tables.iter().cloned().map(Block::Folded).collect(),
            None => vec![Block::Text(format!("Not measured: `cargo xtask {id}` does."))],
        };
        sections.push(section(id, title, blocks));
    }
    sections.push(section("gaps", "Not measured, and added", tables(gaps(sources))));
    let method = LEGEND.iter().chain(&BIAS).copied().collect();
    sections.push(section("method", "Method and bias", vec![Block::List(method)]));
    sections
}

fn run_facts(report: &Report) -> Vec<(String, String)> {
    let run = &report.run;
    let load = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2}"));
    let machine = format!("{}, {} cores, {}", run.machine.cpu, run.machine.cores, run.machine.kernel);
    let elapsed = units::time(run.elapsed_s * 1e9);
    let mut facts = vec![
        ("Date".to_owned(), run.date.clone()),
        ("Machine".to_owned(), machine),
        (
            "Load average".to_owned(),
            format!("{} before, {} after", load(run.load_before), load(run.load_after)),
        ),
        ("Commit".to_owned(), run.commit.clone().unwrap_or_else(|| "unknown".to_owned())),
        (
            "Method".to_owned(),
            format!("{} alternating rounds, {}, {elapsed} in all", run.rounds, run.settings),
        ),
    ];
    facts.extend(run.versions.iter().cloned());
    if !run.imports.is_empty() {
        facts.push(("Imported".to_owned(), run.imports.join(", ")));
    }
    facts
}

/// Returns the warnings to show before the figures. Peers that are missing for the same reason share one.
fn warnings(report: &Report) -> Vec<String> {
    let mut warnings: Vec<String> =
        report.run.unfit.iter().map(|reason| format!("Not fit to publish: {reason}.")).collect();
    let missing = &report.run.missing_peers;
    for reason in missing.iter().map(|missing| missing.reason.as_str()).collect::<BTreeSet<_>>() {
        let names: Vec<String> = missing
            .iter()
            .filter(|missing| missing.reason == reason)
            .map(|missing| format!("{} ({})", missing.peer, missing.language))
            .collect();
        warnings.push(format!("Not measured: {}: {reason}.", names.join(", ")));
    }
    warnings
}

fn overview(report: &Report, facts: &Facts<'_>) -> Vec<Block> {
    let standings = facts.standings();
    let mut blocks = vec![
        Block::Text(
            "Published benchmarks, ours against the strongest that was measured beside it: the best peer, in any \
             language, or the original."
                .to_owned(),
        ),
        Block::Tiles(tally(&standings)),
    ];
    blocks.extend(drawing(&standings).map(|svg| Block::Chart(svg, &RATIO_KEY)));
    blocks.push(Block::Table(not_ahead(&standings)));
    blocks.push(Block::Table(margins(&standings)));
    blocks.extend(comparison(report).map(Block::Table));
    blocks
}

/// Returns the number of published benchmarks per verdict, without verdicts that do not occur.
fn tally(standings: &[Standing]) -> Vec<(&'static str, usize)> {
    let published = || standings.iter().filter(|one| one.is_published);
    let count = |label: &'static str| (label, published().filter(|one| one.label() == label).count());
    let labels = ["faster", "even", "slower", "undecided", "no peer", "not in this run"].map(count);
    let counted = labels.into_iter().filter(|(_, count)| *count > 0);
    std::iter::once(("published", published().count())).chain(counted).collect()
}

fn range(ratio: &Ratio) -> String {
    let mark = if ratio.like_for_like { "" } else { "*" };
    let range = format!(" ({} to {})", units::ratio(ratio.min), units::ratio(ratio.max));
    format!("{}x{mark}{}", units::ratio(ratio.median), if ratio.rounds > 1 { &range } else { "" })
}

/// Lists every row in which ours is not ahead, with the reason if one is known.
fn not_ahead(standings: &[Standing]) -> Sheet {
    let lines = standings.iter().filter(|standing| !standing.is_faster()).filter_map(|standing| {
        let ratio = standing.ratio.as_ref()?;
        let remark = standing.remark.clone().unwrap_or_else(|| NONE.to_owned());
        let (against, label) = (ratio.against.clone(), standing.label().to_owned());
        Some(vec![standing.key.clone(), against, range(ratio), label, remark])
    });
    Sheet::new("Not ahead", &["Row", "Strongest other", "#Ratio", "Verdict", "Remark"], lines)
}

fn margins(standings: &[Standing]) -> Sheet {
    let mut ratios: Vec<_> = standings
        .iter()
        .filter(|standing| standing.is_published)
        .filter_map(|standing| Some((&standing.key, standing.ratio.as_ref()?)))
        .collect();
    ratios.sort_by(|(_, a), (_, b)| a.median.total_cmp(&b.median));
    let lines = ratios.into_iter().take(5).map(|(key, ratio)| {
        vec![key.clone(), ratio.against.clone(), format!("{}x", units::ratio(ratio.median))]
    });
    Sheet::new("The five smallest margins", &["Row", "Strongest other", "#Ratio"], lines)
}

/// Returns the changes since an earlier report.
fn comparison(report: &Report) -> Option<Sheet> {
    let comparison = report.comparison.as_ref()?;
    let changed = comparison.changes.iter().filter(|change| change.verdict.label() != "unchanged");
    let lines = changed.map(|change| {
        let allocs = change
            .allocs
            .filter(|(before, after)| before != after)
            .map(|(before, after)| format!("{} to {}", units::per_op(before), units::per_op(after)));
        vec![
            format!("{}, {}", change.key, change.implementation),
            units::time(change.before_ns),
            units::time(change.after_ns),
            format!("{:.2}", change.drift),
            format!("{:.2}", change.change),
            format!("{:.2}", change.noise),
            allocs.unwrap_or_else(|| NONE.to_owned()),
            change.verdict.label().to_owned(),
        ]
    });
    let columns = [
        "Row",
        "#Before",
        "#Now",
        "#Drift of peers",
        "#Change beside them",
        "#Noise",
        "Allocations",
        "Verdict",
    ];
    let notes = vec![
        format!(
            "Against {}, commit {}: {} rows of ours compared, {} regressions; unchanged ones are left out.",
            comparison.date,
            comparison.commit.as_deref().unwrap_or("unknown"),
            comparison.changes.len(),
            comparison.regressions()
        ),
        "Drift is how many times as long the suite's peers take now. A change counts where it exceeds 5 % and the noise \
         of both runs."
            .to_owned(),
    ];
    Some(Sheet::new("Changes", &columns, lines).with_notes(notes))
}

/// The figure of one party for a published line: a value, or a range over several rows.
struct Cell {
    name: String,
    low: f64,
    high: f64,
    /// Bytes and allocations per operation.
    counts: Option<(f64, f64)>,
}

impl Cell {
    fn of(keys: &[String], quantity: Quantity, party: Party, facts: &Facts<'_>) -> Option<Self> {
        let rows = keys.iter().map(|key| facts.row(key, party, quantity));
        let rows: Vec<&Row> = rows.collect::<Option<_>>()?;
        let values: Vec<f64> = rows.iter().filter_map(|row| row.value(quantity)).collect();
        let last = rows.last()?;
        Some(Self {
            name: last.implementation.clone(),
            low: minimum(&values)?,
            high: maximum(&values)?,
            counts: last.value(Quantity::Bytes).zip(last.value(Quantity::Allocs)),
        })
    }

    fn text(&self, unit: Unit) -> String {
        let (low, high) = (unit.format(self.low), unit.format(self.high));
        if low == high { low } else { format!("{low} to {high}") }
    }
}

/// Columns of a published table, from left to right, with the CSS class of their marks.
const PARTIES: [(&str, &str, Party); 5] = [
    ("#Original, recorded", "recorded", Party::Recorded),
    ("#Go, live", "go", Party::Go),
    ("#Best other peer, live", "peer", Party::Peer),
    ("#Limit", "limit", Party::Limit),
    ("#Ours", "ours", Party::Ours),
];

const PARTY_KEY: [(&str, &str); 6] = [
    ("ours", "ours"),
    ("peer", "best other peer"),
    ("go", "Go, live"),
    ("recorded", "original, recorded earlier"),
    ("published", "published, from another machine"),
    ("limit", "bound of the machine"),
];

/// Returns a published table and its drawing.
fn published(table: &seed::Table, facts: &Facts<'_>, sources: &Sources) -> Vec<Block> {
    let (mut cells, mut lanes, mut origins) = (Vec::new(), Vec::new(), BTreeSet::new());
    for line in sources.seed.rows.iter().filter(|row| row.table == table.id) {
        let (quantity, keys) = sources.rows_of(line);
        let of_parties = PARTIES.map(|(.., party)| Cell::of(&keys, quantity, party, facts));
        let recorded = keys.iter().filter_map(|key| facts.row(key, Party::Recorded, quantity));
        origins.extend(recorded.filter_map(|row| row.remark.clone()));
        let ratio = match keys.as_slice() {
            [key] => facts.row(key, Party::Ours, quantity).and_then(|ours| facts.opponent(ours, quantity)),
            _ => None,
        };
        let is_counted = line.bytes_op.is_some() || line.allocs_op.is_some();
        let text = |cell: &Option<Cell>| {
            let Some(cell) = cell else { return NONE.to_owned() };
            let mut text = cell.text(quantity.unit());
            if let (true, Quantity::Time, Some((bytes, allocs))) = (is_counted, quantity, cell.counts) {
                text += &format!(", {}, {} allocs", units::bytes(bytes), units::per_op(allocs));
            }
            format!("{text} ({})", cell.name)
        };
        let verdict = match (&of_parties[4], &ratio) {
            (None, _) => missing(line, &keys, facts, sources),
            (Some(_), Some(ratio)) => ratio.verdict(),
            (Some(_), None) if keys.len() > 1 => faster_in(&keys, quantity, facts),
            (Some(_), None) => String::new(),
        };
        let mut texts = vec![line.label.clone(), line.figures()];
        texts.extend(of_parties.iter().map(text));
        texts.extend([ratio.as_ref().map_or_else(|| NONE.to_owned(), range), verdict]);
        cells.push(texts);
        lanes.push((quantity.unit(), lane(line, quantity, &of_parties)));
    }
    // Few tables have a limit; the other columns are always present, so that gaps are visible.
    const LIMIT: usize = 5;
    let mut columns: Vec<&str> = ["Line", "Published"].into_iter().chain(PARTIES.map(|one| one.0)).collect();
    columns.extend(["#Ratio", "Verdict"]);
    if cells.iter().all(|line| line[LIMIT] == NONE) {
        columns.remove(LIMIT);
        for line in &mut cells {
            line.remove(LIMIT);
        }
    }
    let platform = sources.seed.platform(&table.system);
    let mut notes = vec![format!("{}. Published by {platform}.", table.id)];
    notes.extend(origins.iter().map(|origin| format!("Recorded: {origin}.")));
    let sheet = Sheet::new(&table.heading, &columns, cells).with_notes(notes);
    let chart = chart_of(&table.heading, lanes).map(|svg| Block::Chart(svg, &PARTY_KEY));
    std::iter::once(Block::Table(sheet)).chain(chart).collect()
}

/// Returns the reason why a line has no figure of ours.
fn missing(line: &seed::Row, keys: &[String], facts: &Facts<'_>, sources: &Sources) -> String {
    if let Some(reason) = sources.unmeasured.line(&line.name()) {
        return format!("not measured: {reason}");
    }
    let of_peers = keys.iter().find(|key| facts.of_key(key).any(|row| row.role == Role::Peer));
    of_peers.and_then(|key| sources.rows.remark(key)).unwrap_or("not in this run").to_owned()
}

/// Counts the rows in which ours is faster.
fn faster_in(keys: &[String], quantity: Quantity, facts: &Facts<'_>) -> String {
    let outcomes: Vec<Outcome> = keys
        .iter()
        .filter_map(|key| facts.opponent(facts.row(key, Party::Ours, quantity)?, quantity))
        .map(|ratio| ratio.outcome())
        .collect();
    let faster = outcomes.iter().filter(|outcome| **outcome == Outcome::Faster).count();
    match outcomes.len() {
        0 if quantity.is_compared() => "no peer".to_owned(),
        0 => String::new(),
        all if all == faster => format!("faster in all of {all}"),
        all => format!("faster in {faster} of {all}"),
    }
}

/// Returns the marks of a line, except ranges. Ours is drawn last, so that it is not hidden.
fn lane(line: &seed::Row, quantity: Quantity, cells: &[Option<Cell>]) -> Lane {
    let unit = quantity.unit();
    let published = line.value(quantity).map(|value| Mark {
        class: "published",
        value,
        words: format!("published: {}", unit.format(value)),
    });
    let marks = PARTIES.iter().zip(cells).filter_map(|((_, class, _), cell)| {
        let cell = cell.as_ref().filter(|cell| cell.low == cell.high)?;
        Some(Mark { class, value: cell.low, words: format!("{}: {}", cell.name, cell.text(unit)) })
    });
    Lane { label: line.label.clone(), marks: published.into_iter().chain(marks).collect() }
}

/// Draws the lines of a table with the unit of most lines. `None` if no line has ours and another party.
fn chart_of(heading: &str, mut lanes: Vec<(Unit, Lane)>) -> Option<String> {
    lanes.retain(|(_, lane)| lane.marks.len() > 1 && lane.marks.iter().any(|mark| mark.class == "ours"));
    let count = |unit: Unit| lanes.iter().filter(|(other, _)| *other == unit).count();
    // On a tie the first one wins, because a table starts with its main subject.
    let unit = lanes.iter().map(|(unit, _)| *unit).rev().max_by_key(|unit| count(*unit))?;
    let lanes: Vec<Lane> =
        lanes.into_iter().filter(|(other, _)| *other == unit).map(|(_, lane)| lane).collect();
    let axis = Axis { label: format!("{}, logarithmic", unit.axis()), one: None };
    chart::draw(&format!("{heading}: plot of the table above"), &lanes, &axis, |value| unit.format(value))
}

const RATIO_KEY: [(&str, &str); 3] =
    [("ours", "faster in every round"), ("peer", "slower in every round"), ("limit", "neither")];

/// Draws the ratios of all rows, with a lane per suite. `None` if no row has a peer.
pub(crate) fn drawing(standings: &[Standing]) -> Option<String> {
    let rows: Vec<(&str, &Ratio)> = standings
        .iter()
        .filter_map(|standing| Some((standing.key.as_str(), standing.ratio.as_ref()?)))
        .collect();
    let suite = |key: &str| key.split('/').next().unwrap_or_default().to_owned();
    let mut suites: Vec<String> = rows.iter().map(|(key, _)| suite(key)).collect();
    suites.sort();
    suites.dedup();
    let lane = |name: &String| {
        let rows: Vec<_> = rows.iter().filter(|(key, _)| suite(key) == *name).collect();
        let ratios: Vec<f64> = rows.iter().map(|(_, ratio)| ratio.median).collect();
        let mean = geometric_mean(&ratios).map_or_else(String::new, units::ratio);
        let count = if rows.len() == 1 { "1 row".to_owned() } else { format!("{} rows", rows.len()) };
        let mark = |(key, ratio): &(&str, &Ratio)| Mark {
            class: match ratio.outcome() {
                Outcome::Faster => "ours",
                Outcome::Slower => "peer",
                Outcome::Even | Outcome::Undecided => "limit",
            },
            value: ratio.median,
            words: format!("{key}: {}x, {}", units::ratio(ratio.median), ratio.against),
        };
        Lane {
            label: format!("{name}: {count}, geometric mean {mean}x"),
            marks: rows.into_iter().map(mark).collect(),
        }
    };
    let lanes: Vec<Lane> = suites.iter().map(lane).collect();
    let axis = Axis {
        label: "strongest other's time / ours: right of the line ours is faster".to_owned(),
        one: Some("as fast as the strongest other"),
    };
    chart::draw("Ratios of the strongest other's time to ours, row by row", &lanes, &axis, |ratio| {
        format!("{ratio}x")
    })
}

/// Returns the suites with rows of a report. A system may have suites besides the one with its published rows.
fn suites_of(system: &str, facts: &Facts<'_>, sources: &Sources) -> BTreeSet<String> {
    let suite = |key: &str| key.split('/').next().unwrap_or_default().to_owned();
    let benches = sources.seed.benches.iter().filter(|bench| bench.system == system);
    let of_rows = facts.keys().into_iter().map(suite).filter(|suite| suite.starts_with(system));
    benches.map(|bench| suite(&bench.key)).chain(of_rows).collect()
}

/// Returns one table per suite with all implementations of all rows.
fn measured<'f>(facts: &'f Facts<'_>, suites: &'f BTreeSet<String>) -> impl Iterator<Item = Sheet> + use<'f> {
    let columns = [
        "Row",
        "Implementation",
        "Role",
        "Class",
        "#Time/op",
        "#Bytes/op",
        "#Allocs/op",
        "#Throughput",
        "#Ratio to best peer (range)",
        "#Ratio to original (range)",
        "#Share of the machine's limit (range)",
        "Verdict",
    ];
    suites.iter().filter_map(move |suite| {
        let keys = facts.keys().into_iter().filter(|key| key.split('/').next() == Some(suite));
        // Rows of servers have tables of their own.
        let keys = keys.filter(|key| facts.of_key(key).any(|row| row.value(Quantity::Time).is_some()));
        let rows: Vec<&Row> = keys.flat_map(|key| facts.of_key(key)).collect();
        let mut sheet = Sheet::new(
            &format!("{suite}: all implementations"),
            &columns,
            rows.iter().map(|row| implementation(row, facts)),
        );
        for (index, (line, row)) in sheet.lines.iter_mut().zip(&rows).enumerate() {
            line.is_ours = row.role == Role::Ours;
            line.starts_group = index == 0 || rows[index - 1].key != row.key;
            if !line.starts_group {
                line.cells[0].clear();
            }
        }
        (!rows.is_empty()).then_some(sheet)
    })
}

fn implementation(row: &Row, facts: &Facts<'_>) -> Vec<String> {
    let optional = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let language = match row.language.as_str() {
        "rust" | "" => String::new(),
        language => format!(", {language}"),
    };
    let once = if row.is_once { " (once)" } else { "" };
    let count = |quantity| {
        let mark = if row.deterministic == Some(false) { "~" } else { "" };
        optional(row.value(quantity).map(|value| format!("{mark}{}", units::per_op(value))))
    };
    let rate = |amount: Option<u64>| Some(amount? as f64 * 1e9 / row.value(Quantity::Time)?);
    let throughput = [
        rate(row.payload_bytes).map(units::bytes_per_second),
        rate(row.elements).map(|rate| Unit::PerS.format(rate)),
    ];
    let throughput: Vec<String> = throughput.into_iter().flatten().collect();
    let is_ours = row.role == Role::Ours;
    let of_ours = |ratio: Option<Ratio>, text: fn(&Ratio) -> String| {
        optional(ratio.filter(|_| is_ours).as_ref().map(text))
    };
    let share = |ratio: &Ratio| {
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let (median, min, max) = (percent(ratio.median), percent(ratio.min), percent(ratio.max));
        format!("{median} % of {} ({min} to {max})", ratio.against)
    };
    vec![
        row.name().to_owned(),
        [row.implementation.as_str(), row.version.as_deref().unwrap_or_default()].join(" ").trim().to_owned(),
        format!("{}{language}", row.role.label()),
        optional(row.class.clone()),
        optional(row.value(Quantity::Time).map(|time| format!("{}{once}", units::time(time)))),
        count(Quantity::Bytes),
        count(Quantity::Allocs),
        optional(Some(throughput.join(", ")).filter(|text| !text.is_empty())),
        of_ours(facts.best_peer(row, Quantity::Time), range),
        of_ours(facts.original(row, Quantity::Time), range),
        of_ours(facts.limit(row, Quantity::Time), share),
        facts.verdict(row),
    ]
}

/// Lists published entries that no run measures, and rows without a published figure.
fn gaps(sources: &Sources) -> Vec<Sheet> {
    let absent = sources.unmeasured.unmeasured.iter().flat_map(|entry| {
        let names = entry.benches.iter().chain(&entry.lines);
        names.map(|name| vec![name.clone(), entry.reason.clone()])
    });
    let added = sources.rows.added.iter();
    let added = added.flat_map(|entry| entry.rows.iter().map(|row| vec![row.clone(), entry.text.clone()]));
    vec![
        Sheet::new("Published and not measured", &["Published", "Reason"], absent),
        Sheet::new("Measured and not published", &["Rows", "Reason"], added),
    ]
}

/// Explains the columns; the same for all tables.
const LEGEND: [&str; 6] = [
    "Time/op is the smallest of the rounds' medians (of the means for Go, which reports nothing else).",
    "Bytes/op and Allocs/op count requested bytes and allocations; a reallocation counts its whole new size. Go rounds sizes up to size classes.",
    "A ratio is the other side's time divided by ours, the median over the rounds with smallest and largest in parentheses: above one, ours is faster. Ours is compared with peers of its own class where there is one, and in published tables with the strongest of the best peer and the original; * marks another class. Published tables show the variant of ours that does what the original does.",
    "\"Faster\" and \"slower\" are said only where the ratios of all rounds are on one side of one.",
    "Published figures come from the originals' reports and other machines; no ratio uses them.",
    "What was recorded earlier was measured on a machine of this kind in another state; no ratio uses it.",
];

/// Describes the limits of the method, and how they are addressed.
const BIAS: [&str; 5] = [
    "Every implementation of a row gets a short slice, a process of its own, before the next row comes; all rows make a round, and the order turns every other round. Sides of a row are seconds apart, so that a change of the machine's load hits both.",
    "A result is compared with the expected value before anything is timed. Bytes and allocations are counted in a pass of their own.",
    "The authors of these benchmarks are the authors of one of the sides. Rows and inputs are those of the originals' reports; every peer runs as its documentation shows first, in the same profile; all implementations of a row are shown, lost rows included.",
    "What remains: we know our own code best, rows beside the published ones are rows we thought of, and the adapters around peers are ours.",
    "Under load, the generator, the servers and the index share one machine. Processor time per request is what servers are compared by; requests per second depend on what the generator leaves.",
];

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::tests::{go_row, row};
    use crate::model::{Missing, ProxyRun, Run};
    use crate::workspace::Workspace;

    pub(crate) fn sources() -> Sources {
        Sources::load(&Workspace::find().unwrap()).unwrap()
    }

    /// A report with a row that ours wins and one that it loses. Names contain characters that need escaping.
    pub(crate) fn report() -> Report {
        let lost = |name, role, time| Row {
            key: "client/client_do_simple".to_owned(),
            ..row(name, role, Some("owned"), &[time, time])
        };
        Report {
            schema: crate::model::SCHEMA,
            run: Run {
                date: "2026-01-02T03:04:05Z".to_owned(),
                missing_peers: vec![Missing {
                    peer: "go-sse".to_owned(),
                    language: "go".to_owned(),
                    reason: "`go version` cannot be run here".to_owned(),
                }],
                ..Run::default()
            },
            rows: vec![
                row("push | owned", Role::Ours, Some("owned"), &[40.0, 40.0]),
                go_row("original-standin", Role::OriginalStandin, &[900.0, 900.0]),
                row("a<b", Role::Peer, Some("owned"), &[76.0, 84.0]),
                lost("ours", Role::Ours, 100.0),
                lost("reqwest", Role::Peer, 95.0),
            ],
            load: Some(ProxyRun::default()),
            ..Report::default()
        }
    }

    fn tables(report: &Report) -> Vec<Sheet> {
        let blocks = sections(report, &sources(), true).into_iter().flat_map(|section| section.blocks);
        let tables = blocks.filter_map(|block| match block {
            Block::Table(sheet) | Block::Folded(sheet) => Some(sheet),
            _ => None,
        });
        tables.collect()
    }

    #[test]
    fn every_published_line_is_in_a_table() {
        let tables = tables(&report());
        assert!(
            tables.iter().all(|sheet| sheet.lines.iter().all(|line| line.cells.len() == sheet.columns.len()))
        );
        let find = |note: &str, label: &str| {
            let is_it = |sheet: &&Sheet| sheet.notes.first().is_some_and(|first| first.starts_with(note));
            let lines = &tables.iter().find(is_it).unwrap().lines;
            lines.iter().find(|line| line.cells[0].contains(label)).unwrap().cells.clone()
        };
        let published = tables.iter().filter(|sheet| sheet.columns[1].name == "Published");
        assert_eq!(published.map(|sheet| sheet.lines.len()).sum::<usize>(), 257);
        assert_eq!(
            find("perplexity.raw_sse", "SimpleEvent")[1..],
            [
                "611 ns, 4336 B, 7 allocs",
                "1.56 µs, 4320 B, 6 allocs (perplexity-go)",
                "900 ns (original-standin)",
                "76.0 ns (a<b)",
                "40.0 ns (push | owned)",
                "2.00x (1.90 to 2.10)",
                "faster than a<b"
            ]
        );
        assert!(
            find("perplexity.json_vs_industry", "easyjson").last().unwrap().starts_with("not measured: an")
        );
        assert_eq!(find("perplexity.headline", "SSE").last().unwrap(), "not in this run");
    }

    #[test]
    fn lost_rows_are_listed() {
        let report = report();
        let sources = sources();
        let standings = Facts::new(&report, &sources).standings();
        let counts = [("published", 84), ("faster", 1), ("slower", 1), ("not in this run", 82)];
        assert_eq!(tally(&standings), counts);
        let lost = not_ahead(&standings);
        assert_eq!(
            lost.lines[0].cells[..4],
            ["client/client_do_simple", "reqwest", "0.95x (0.95 to 0.95)", "slower"]
        );
        assert_eq!((lost.lines.len(), margins(&standings).lines.len()), (1, 2));
        let svg = drawing(&standings).unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        assert!(svg.contains("sse: 1 row, geometric mean 2.00x") && svg.contains("0.95x, reqwest"), "{svg}");
    }

    #[test]
    fn all_implementations_share_the_name_of_their_row() {
        let tables = tables(&report());
        let sse = tables.iter().find(|sheet| sheet.title == "sse: all implementations").unwrap();
        let firsts: Vec<&str> = sse.lines.iter().map(|line| line.cells[0].as_str()).collect();
        assert_eq!(firsts[..3], ["decode_simple_event", "", ""]);
        assert!(sse.lines[0].is_ours && !sse.lines[1].is_ours);
    }

    #[test]
    fn peers_missing_for_the_same_reason_share_a_warning() {
        let mut report = report();
        let mut second = report.run.missing_peers[0].clone();
        "another".clone_into(&mut second.peer);
        report.run.missing_peers.push(second);
        report.run.unfit.push("a quick run".to_owned());
        assert_eq!(
            warnings(&report),
            [
                "Not fit to publish: a quick run.",
                "Not measured: go-sse (go), another (go): `go version` cannot be run here."
            ]
        );
    }
}
