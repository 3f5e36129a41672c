//! Pages of the report, and tables for the terminal.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Facts, Party, Standing, best, distinct, is_different, range, shown};
use crate::model::{Duel, LEAST_RATIO, Outcome, Role, Row};
use crate::quantity::{self as units, Quantity};
use crate::seed::{Line, System, Table};
use crate::stats::{maximum, minimum};
use crate::summary::{figure, verdicts};
use crate::table::{NONE, Sheet, list};
use crate::{history, summary};

/// A page in Markdown with its drawings, to which it refers as `ID.svg`.
#[derive(Debug)]
pub(crate) struct Page {
    /// Name of the file without extension.
    pub(crate) id: String,
    /// Content.
    pub(crate) text: String,
    /// Drawings.
    pub(crate) charts: Vec<Chart>,
}

/// A drawing.
#[derive(Debug)]
pub(crate) struct Chart {
    /// Name of the file without extension.
    pub(crate) id: String,
    /// Content, whose colours are those of a style sheet.
    pub(crate) svg: String,
}

/// Languages of other implementations with the headings of their columns.
pub(crate) const LANGUAGES: [(&str, &str); 6] = [
    ("rust", "Best Rust library"),
    ("go", "Go"),
    ("cpp", "C++"),
    ("python", "Python"),
    ("node", "Node.js"),
    ("powershell", "PowerShell"),
];

/// Returns all pages but the first one.
pub(crate) fn all(facts: &Facts<'_>) -> Vec<Page> {
    let systems = facts.sources.seed.systems.iter().map(|system| system_page(system, facts));
    systems.chain([coverage(facts), errors(facts), history::page(facts.sources)]).collect()
}

/// Returns the page of one report of a Go project: chart, published tables, all rows, and the results of servers.
fn system_page(system: &System, facts: &Facts<'_>) -> Page {
    let (id, name, role, platform) = (&system.id, &system.name, &system.role, system.platform());
    let mut text = format!("\n## {name}\n\n{role}. The published figures are those of {platform}.\n");
    let suites = suites_of(system, facts);
    let standings = facts.standings();
    let of_system: Vec<&Standing<'_>> =
        standings.iter().filter(|one| suites.contains(suite(one.key))).collect();
    let title = format!("{name}: ratio of every row with its interval");
    let sizes = summary::sizes(facts).filter(|_| suites.contains("json"));
    let drawings =
        [(id.as_str(), &*title, summary::dots(&title, &of_system, facts)), ("sizes", summary::SIZES, sizes)];
    let mut charts = Vec::new();
    for (id, title, svg) in drawings.into_iter().filter_map(|(id, title, svg)| Some((id, title, svg?))) {
        text += &format!("\n{title}:\n\n![{title}]({id}.svg)\n");
        charts.push(Chart { id: id.to_owned(), svg });
    }
    for table in &system.tables {
        text += &published(table, facts).markdown();
    }
    for suite in &suites {
        text += &all_rows(suite, &of_system, facts).markdown();
    }
    if id == "pypi_proxy" {
        let runs = [&facts.report.load, &facts.report.fleet].into_iter().flatten();
        runs.flat_map(|run| &run.tables).for_each(|sheet| text += &sheet.folded());
    }
    Page { id: id.clone(), text, charts }
}

fn suite(key: &str) -> &str {
    key.split('/').next().unwrap_or_default()
}

/// Returns the suites with rows of a report. A system may have suites besides the one with its published rows.
fn suites_of<'f>(system: &'f System, facts: &Facts<'f>) -> BTreeSet<&'f str> {
    let of_rows = facts.keys().iter().map(|key| suite(key)).filter(|suite| suite.starts_with(&system.id));
    system.benches.iter().map(|bench| suite(&bench.key)).chain(of_rows).collect()
}

/// The figure of one [`Party`] for a published line: a value, or a range over several rows.
struct Cell {
    name: String,
    /// Formatted figures by quantity.
    figures: Vec<String>,
    /// Bytes and allocations per operation.
    counts: Option<(f64, f64)>,
}

impl Cell {
    fn of(keys: &[String], quantities: &[Quantity], party: Party<'_>, facts: &Facts<'_>) -> Option<Self> {
        let rows = keys.iter().map(|key| facts.row(key, party, *quantities.first()?));
        let rows: Vec<&Row> = rows.collect::<Option<_>>()?;
        let figures = quantities.iter().filter_map(|quantity| {
            let values: Vec<f64> = rows.iter().filter_map(|row| row.value(*quantity)).collect();
            let (low, high) = (quantity.format(minimum(&values)?), quantity.format(maximum(&values)?));
            Some(if low == high { low } else { format!("{low} to {high}") })
        });
        let last = rows.last()?;
        let counts = last.value(Quantity::Bytes).zip(last.value(Quantity::Allocs));
        Some(Self { name: shown(last), figures: figures.collect(), counts })
    }

    fn text(mut self, is_counted: bool) -> String {
        if let (true, Some((bytes, allocs))) = (is_counted, self.counts) {
            self.figures.push(format!("{}, {} allocs", units::bytes(bytes), units::per_op(allocs)));
        }
        format!("{} ({})", self.figures.join(", "), self.name)
    }
}

/// Columns of a published table after those of the comparison.
const PARTIES: [(&str, Party<'_>); 8] = [
    ("#Go project, recorded", Party::Recorded),
    ("#Best Rust library", Party::Language("rust")),
    ("#Go", Party::Language("go")),
    ("#C++", Party::Language("cpp")),
    ("#Python", Party::Language("python")),
    ("#Node.js", Party::Language("node")),
    ("#PowerShell", Party::Language("powershell")),
    ("#Limit", Party::Limit),
];
/// Columns of a comparison.
const COMPARED: &str = "#Ours | #Fastest other implementation | #Ratio (interval) | Verdict";

/// Ours in a published line, compared with the fastest other implementation.
fn compared(line: &Line, table: &Table, facts: &Facts<'_>) -> ([String; 4], Vec<Quantity>, Vec<String>) {
    let (quantities, keys) = facts.sources.rows_of(table, line);
    let quantity = quantities[0];
    let library = facts.sources.libraries.get(&table.name_of(line));
    let standings: Vec<Standing<'_>> =
        keys.iter().filter_map(|key| facts.compared(key, quantity, library)).collect();
    let is_counted = line.is_counted() && quantity == Quantity::Time;
    let ours = Cell::of(&keys, &quantities, Party::Ours, facts).map(|cell| cell.text(is_counted));
    let none = || NONE.to_owned();
    let cells = match (ours, standings.as_slice()) {
        (None, _) => [none(), none(), none(), missing(&table.name_of(line), &keys, facts)],
        (Some(ours), [one]) if one.worst().is_some() => [ours, one.other(), one.ratios(), one.verdict()],
        (Some(ours), _) => [ours, none(), none(), faster_in(&standings)],
    };
    (cells, quantities, keys)
}

/// Returns a published table. Columns without any figure are left out.
fn published(table: &Table, facts: &Facts<'_>) -> Sheet {
    let mut origins = BTreeSet::new();
    let lines = table.lines.iter().map(|line| {
        let (cells, quantities, keys) = compared(line, table, facts);
        let recorded = keys.iter().filter_map(|key| facts.row(key, Party::Recorded, quantities[0]));
        origins.extend(recorded.filter_map(|row| row.remark.clone()));
        let is_counted = line.is_counted() && quantities[0] == Quantity::Time;
        let library = facts.sources.libraries.get(&table.name_of(line));
        let parties = PARTIES.map(|(_, party)| {
            let party = match library {
                Some(name) if party == Party::Language("go") => Party::Named(name),
                _ => party,
            };
            let cell = Cell::of(&keys, &quantities, party, facts);
            cell.map_or_else(|| NONE.to_owned(), |cell| cell.text(is_counted))
        });
        [line.label.clone(), line.figures()].into_iter().chain(cells).chain(parties).collect()
    });
    let lines: Vec<Vec<String>> = lines.collect();
    let parties = PARTIES.map(|(name, _)| name).join(" | ");
    let sheet = Sheet::new(&table.heading, &format!("Line | Published | {COMPARED} | {parties}"), lines);
    let notes = origins.iter().map(|origin| format!("Recorded: {origin}.")).collect();
    sheet.without_empty_columns().with_notes(notes)
}

/// Returns the reason why ours has no figure for a line.
fn missing(name: &str, keys: &[String], facts: &Facts<'_>) -> String {
    if let Some(reason) = facts.sources.unmeasured(name) {
        return format!("not measured: {reason}");
    }
    let of_peers = keys.iter().find(|key| facts.of_key(key).any(|row| row.role == Role::Peer));
    of_peers.and_then(|key| facts.sources.rows.remark(key, None)).unwrap_or("not in this run").to_owned()
}

/// Counts the rows in which ours is faster.
fn faster_in(standings: &[Standing<'_>]) -> String {
    let outcomes: Vec<Outcome> = standings.iter().filter_map(Standing::outcome).collect();
    let faster = outcomes.iter().filter(|outcome| **outcome == Outcome::Faster).count();
    if outcomes.is_empty() { String::new() } else { format!("faster in {faster} of {}", outcomes.len()) }
}

/// Lists the rows of a suite with our figure and the best implementation of each language. A row in which we have
/// several classes of results has one line for each.
fn all_rows(name: &str, standings: &[&Standing<'_>], facts: &Facts<'_>) -> Sheet {
    let standings = standings.iter().filter(|standing| suite(standing.key) == name);
    let lines = standings.filter_map(|standing| {
        let ours = standing.ours?;
        let languages = LANGUAGES.map(|(language, _)| {
            let is_alike =
                |row: &&Row| row.role.is_other() && row.language == language && row.class == ours.class;
            let row = best(facts.of_key(standing.key).filter(is_alike), standing.quantity);
            row.map_or_else(
                || NONE.to_owned(),
                |row| format!("{} ({})", figure(row, standing.quantity), shown(row)),
            )
        });
        let cells =
            [figure(ours, standing.quantity), standing.other(), standing.ratios(), standing.verdict()];
        Some(std::iter::once(standing.name()).chain(cells).chain(languages).collect())
    });
    let languages = LANGUAGES.map(|(_, label)| label).join(" | #");
    let columns = format!("Row | {COMPARED} | #{languages}");
    Sheet::new(&format!("Suite {name}: all rows"), &columns, lines).without_empty_columns()
}

/// Lists published entries that no run measures, rows without a published figure, and rows that several published entries
/// rest on.
fn coverage(facts: &Facts<'_>) -> Page {
    let sources = facts.sources;
    let absent = sources.unmeasured.iter().flat_map(|entry| {
        let names = entry.benches.iter().chain(&entry.lines);
        names.map(|name| vec![name.clone(), entry.reason.clone()])
    });
    let added = sources.rows.added.iter();
    let added = added.flat_map(|entry| entry.rows.iter().map(|row| vec![row.clone(), entry.text.clone()]));
    let mut shared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for table in sources.seed.tables() {
        for line in &table.lines {
            for key in sources.rows_of(table, line).1 {
                let rows = sources.rows.parts(&key).into_iter().map(|key| facts.measured_as(&key).to_owned());
                rows.for_each(|row| shared.entry(row).or_default().extend([table.name_of(line)]));
            }
        }
    }
    for bench in sources.seed.benches().filter(|bench| sources.unmeasured(&bench.key).is_none()) {
        for row in sources.rows.parts(&bench.key) {
            let measured = facts.measured_as(&row).to_owned();
            if measured != bench.key {
                shared.entry(measured).or_default().insert(bench.key.clone());
            }
        }
    }
    let shared = shared.into_iter().filter(|(_, names)| names.len() > 1);
    let shared = shared.map(|(row, names)| vec![row, names.into_iter().collect::<Vec<_>>().join(", ")]);
    let sheets = [
        Sheet::new("Published and not measured", "Published | Reason", absent),
        Sheet::new("Measured and not published", "Rows | Reason", added),
        Sheet::new("Published entries that rest on one row", "Row | Published lines and benchmarks", shared),
    ];
    let tables: String = sheets.iter().map(Sheet::markdown).collect();
    Page { id: "coverage".to_owned(), text: format!("\n## Coverage\n{tables}"), charts: Vec::new() }
}

/// Ways in which the comparison may be wrong, besides those that the duels of equal code show.
const DOUBTS: [&str; 8] = [
    "We wrote the benchmarks and one of the sides. We know our own code best, and the authors of a peer may be able to call \
     it faster than our adapter does.",
    "Rows of the published reports were chosen by the Go projects; all others by us.",
    "Where code and data lie in memory changes the ratio of unlike code. Each process therefore measures at several \
     placements, and each duel has several processes. A layout that no process had is not in the interval.",
    "The interval treats all placements as independent. Placements of one process share its code layout, so the true interval \
     may be wider if a duel has few processes.",
    "All figures come from one machine, which the first page names. Other processors have other caches and vector units.",
    "Both sides run alone and repeatedly on the same input, so that caches and branch predictors know it. A program that does \
     other work in between finds neither.",
    "Peers in other languages run in a process of their own and report their own time. Switching between the processes may \
     cool the caches of both.",
    "Only the fastest implementations of each language in a short screening have duels. Another one could be faster than the \
     screening showed.",
];

/// Returns the page with the duels of equal code and the limits of the method.
fn errors(facts: &Facts<'_>) -> Page {
    let equals: Vec<&Duel> = facts.equals().collect();
    let ratios = equals.iter().filter_map(|duel| Some((duel, duel.ratio()?)));
    let lines: Vec<Vec<String>> = ratios
        .clone()
        .map(|(duel, ratio)| {
            vec![
                duel.key.clone(),
                duel.ours.clone(),
                if duel.build.is_empty() { "portable".to_owned() } else { duel.build.clone() },
                range(&ratio),
                ratio.count.to_string(),
                duel.processes.to_string(),
                if is_different(&ratio) { "difference" } else { "no difference" }.to_owned(),
            ]
        })
        .collect();
    let medians: Vec<f64> = ratios.clone().map(|(_, ratio)| ratio.value).collect();
    let different = ratios.filter(|(_, ratio)| is_different(ratio)).count();
    let found = match (minimum(&medians), maximum(&medians)) {
        (Some(low), Some(high)) => format!(
            "In this run, {different} of {} duels of equal code show a difference of more than {LEAST_RATIO}; their medians are \
             {low:.3} to {high:.3}. A run with more than one in ten is not published.",
            medians.len()
        ),
        _ => "This run has no duels of equal code.".to_owned(),
    };
    let columns =
        "Row | Implementation, twice | Build | #Ratio (interval) | #Placements | #Processes | Result";
    let doubts = list(DOUBTS);
    let text = format!(
        "\n## How we could be wrong\n\nEach suite also compares one implementation with itself. Such a duel must find no \
         difference; where it finds one, the method is wrong by that much. {found}\n{}\n### Other doubts\n{doubts}{}",
        Sheet::new("Duels of equal code", columns, lines).markdown(),
        summary::DISPUTE
    );
    Page { id: "how-we-could-be-wrong".to_owned(), text, charts: Vec::new() }
}

/// Returns a folded table of all implementations of each suite.
pub(crate) fn implementations(facts: &Facts<'_>) -> String {
    let columns =
        "Row | Implementation | Role | Class | #Time/op | #Bytes/op | #Allocs/op | #Throughput | Remark";
    let mut text = "\n## All implementations\n".to_owned();
    for name in distinct(facts.keys().iter().map(|key| suite(key))) {
        let keys = facts.keys().iter().filter(|key| suite(key) == name);
        // Rows of servers have tables of their own.
        let keys = keys.filter(|key| facts.of_key(key).any(|row| row.value(Quantity::Time).is_some()));
        let rows: Vec<&Row> = keys.flat_map(|key| facts.of_key(key)).collect();
        let lines = rows.iter().map(|row| implementation(row));
        let mut sheet = Sheet::new(&format!("{name}: all implementations"), columns, lines);
        for index in (1..rows.len()).filter(|index| rows[index - 1].key == rows[*index].key) {
            sheet.lines[index].cells[0].clear();
        }
        text += &sheet.folded();
    }
    text
}

fn implementation(row: &Row) -> Vec<String> {
    let optional = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let language = match row.language.as_str() {
        "rust" | "" => String::new(),
        language => format!(", {language}"),
    };
    let count = |quantity| {
        let mark = if row.deterministic == Some(false) { "~" } else { "" };
        optional(row.value(quantity).map(|value| format!("{mark}{}", units::per_op(value))))
    };
    let rate = |amount: Option<u64>| Some(amount? as f64 * 1e9 / row.value(Quantity::Time)?);
    let throughput = [
        rate(row.payload_bytes).map(units::bytes_per_second),
        rate(row.elements).map(|rate| Quantity::ElementsPerS.format(rate)),
    ];
    let throughput: Vec<String> = throughput.into_iter().flatten().collect();
    let rough = if row.is_rough { "~" } else { "" };
    vec![
        row.name().to_owned(),
        [row.implementation.as_str(), row.version.as_deref().unwrap_or_default()].join(" ").trim().to_owned(),
        format!("{}{language}", row.role.label()),
        optional(row.class.clone()),
        optional(row.value(Quantity::Time).map(|time| format!("{rough}{}", units::time(time)))),
        count(Quantity::Bytes),
        count(Quantity::Allocs),
        optional(Some(throughput.join(", ")).filter(|text| !text.is_empty())),
        row.remark.clone().unwrap_or_default(),
    ]
}

/// Returns the tables for a terminal: the published tables of which the run has rows, the other rows by group, and a line
/// of totals.
pub(crate) fn terminal(facts: &Facts<'_>) -> String {
    let columns = "Row | #Ours | #Fastest other | #Ratio (interval) | Verdict";
    let ratio = |one: &Standing<'_>| {
        let worst =
            one.worst().map(|worst| format!("{} {}", range(&worst.ratio), worst.build).trim().to_owned());
        worst.unwrap_or_else(|| NONE.to_owned())
    };
    let (mut text, mut known) = (String::new(), BTreeSet::new());
    for table in facts.sources.seed.tables() {
        let mut lines = Vec::new();
        for line in &table.lines {
            let (quantities, keys) = facts.sources.rows_of(table, line);
            let library = facts.sources.libraries.get(&table.name_of(line));
            let standings: Vec<_> =
                keys.iter().filter_map(|key| facts.compared(key, quantities[0], library)).collect();
            known.extend(standings.iter().map(Standing::name));
            let cells = match (Cell::of(&keys, &quantities, Party::Ours, facts), standings.as_slice()) {
                (None, _) => continue,
                (Some(ours), [one]) => {
                    [ours.figures.join(", "), one.other(), ratio(one), one.label().to_owned()]
                }
                (Some(ours), _) => {
                    [ours.figures.join(", "), NONE.to_owned(), NONE.to_owned(), faster_in(&standings)]
                }
            };
            lines.push(std::iter::once(line.label.clone()).chain(cells).collect());
        }
        if !lines.is_empty() {
            text += &Sheet::new(&format!("{} ({})", table.heading, table.id), columns, lines).text();
        }
    }
    let standings = facts.standings();
    for group in &facts.sources.groups {
        let others =
            standings.iter().filter(|one| facts.is_in(group, one.key) && !known.contains(&one.name()));
        let lines = others.filter_map(|one| {
            let ours = figure(one.ours?, one.quantity);
            let name = one.name();
            let name = name.split_once('/').map_or(&*name, |(_, name)| name);
            Some(vec![name.to_owned(), ours, one.other(), ratio(one), one.label().to_owned()])
        });
        let sheet = Sheet::new(&group.name(), columns, lines);
        if !sheet.lines.is_empty() {
            text += &sheet.text();
        }
    }
    let measured: Vec<&Standing<'_>> = standings.iter().filter(|one| one.ours.is_some()).collect();
    text += &format!("\nAll results: {}.\n", verdicts(&measured));
    for warning in summary::warnings(facts) {
        text += &format!("{warning}\n");
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::tests::{KEY, go_row, row};
    use crate::model::{Missing, ProxyRun, Report, Run, SCHEMA};
    use crate::sources::tests::sources;

    /// A report with a row that ours wins and one that it loses. Names contain characters that need escaping.
    pub(crate) fn report() -> Report {
        let lost = |name, role, time| Row {
            key: "client/client_do_simple".to_owned(),
            ..row(name, role, Some("owned"), &[time])
        };
        let duel = |key: &str, ours: &str, peer: &str, ratios: &[f64]| Duel {
            key: key.to_owned(),
            ours: ours.to_owned(),
            peer: peer.to_owned(),
            ratios: ratios.to_vec(),
            processes: 3,
            ..Duel::default()
        };
        Report {
            schema: SCHEMA,
            run: Run {
                date: "2026-01-02T03:04:05Z".to_owned(),
                commit: Some("abcdef".to_owned()),
                missing_peers: vec![Missing {
                    peer: "go-sse".to_owned(),
                    language: "go".to_owned(),
                    reason: "`go version` cannot be run here".to_owned(),
                }],
                ..Run::default()
            },
            rows: vec![
                row("push | owned", Role::Ours, Some("owned"), &[40.0]),
                go_row("standin", Role::OriginalStandin, &[900.0]),
                row("a<b", Role::Peer, Some("owned"), &[80.0]),
                lost("ours", Role::Ours, 100.0),
                lost("reqwest", Role::Peer, 95.0),
            ],
            duels: vec![
                duel(KEY, "push | owned", "a<b", &[1.95, 2.0, 2.05]),
                duel(KEY, "push | owned", "standin", &[22.0, 22.5, 23.0]),
                duel(KEY, "push | owned", "push | owned", &[0.99, 1.0, 1.01]),
                duel("client/client_do_simple", "ours", "reqwest", &[0.94, 0.95, 0.96]),
            ],
            load: Some(ProxyRun::default()),
            ..Report::default()
        }
    }

    /// Returns the cells of the first line of a table that contains a text.
    fn line<'t>(text: &'t str, label: &str) -> Vec<&'t str> {
        let line = text.lines().find(|line| line.starts_with('|') && line.contains(label)).unwrap();
        line.trim_matches('|').split('|').map(str::trim).collect()
    }

    #[test]
    fn every_published_line_is_in_a_table() {
        let (report, sources) = (report(), sources());
        let facts = Facts::new(&report, &sources);
        let sheets: Vec<Sheet> = sources.seed.tables().map(|table| published(table, &facts)).collect();
        assert!(
            sheets.iter().all(|sheet| sheet.lines.iter().all(|line| line.cells.len() == sheet.columns.len()))
        );
        assert_eq!(sheets.iter().map(|sheet| sheet.lines.len()).sum::<usize>(), 257);
        let text: String = all(&facts).into_iter().map(|page| page.text).collect();
        assert_eq!(
            line(&text, "Decode_SimpleEvent").join("; "),
            "BenchmarkDecoder_Decode_SimpleEvent-32; 611 ns, 4336 B, 7 allocs; 40.0 ns (push \\; owned); 80.0 ns (a&lt;b); \
             2.00x (1.95 to 2.05); faster than a&lt;b; 1.56 µs, 4320 B, 6 allocs (perplexity-go); 80.0 ns (a&lt;b); \
             900 ns (standin (our stand-in))"
        );
        assert!(text.contains("not measured: tells how the report was made"));
        let rows = &text[text.find("### Suite client: all rows").unwrap()..];
        let cells = line(rows, "client_do_simple");
        assert_eq!(
            cells[1..5],
            ["100 ns", "95.0 ns (reqwest)", "0.950x (0.940 to 0.960)", "slower than reqwest"]
        );
        assert!(text.contains("0 of 1 duels of equal code show a difference"), "the page about errors");
        assert_eq!(line(&text, "pypi_proxy_store/get ").len(), 2, "lines that share a row");
    }

    #[test]
    fn all_implementations_share_the_name_of_their_row() {
        let (report, sources) = (report(), sources());
        let text = implementations(&Facts::new(&report, &sources));
        let sse = &text[text.find("sse: all implementations").unwrap()..];
        assert_eq!((line(sse, "push")[0], line(sse, "a&lt;b")[0]), ("decode_simple_event", ""));
    }

    #[test]
    fn the_terminal_shows_published_tables_then_groups_then_totals() {
        let (mut report, sources) = (report(), sources());
        report.rows.push(Row { key: "sse/tiny_1".to_owned(), ..row("x", Role::Ours, Some("owned"), &[5.0]) });
        let text = terminal(&Facts::new(&report, &sources));
        let find = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
        assert!(find("(perplexity.raw_sse)") < find("tightwire-sse: long and unusual"), "{text}");
        assert!(text.contains("80.0 ns (a<b)  2.00x (1.95 to 2.05)  faster"), "{text}");
        assert!(
            text.contains("\nAll results: 3 (1 faster, 1 slower, 1 no alternative), 100.0 % decided.\n"),
            "{text}"
        );
        assert!(text.lines().filter(|line| !line.contains("Not")).all(|line| line.chars().count() <= 110));
    }
}
