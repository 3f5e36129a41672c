//! Content of the report, independent of Markdown and HTML: tables, charts and the pages of the systems.

use std::collections::BTreeSet;

use crate::chart::{self, Bar, Cluster};
use crate::data::groups::Group;
use crate::data::seed;
use crate::join::{Facts, Party, Sources, Standing};
use crate::markdown;
use crate::model::{Ratio, Report, Role, Row, Sheet};
use crate::quantity::{self as units, Quantity};
use crate::stats::{maximum, minimum};

pub(crate) mod summary;

/// A page in Markdown with its drawings, to which it refers as `ID.svg`.
#[derive(Debug)]
pub(crate) struct Page {
    /// Name of the file without extension.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) charts: Vec<Chart>,
}

#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) id: String,
    title: String,
    pub(crate) svg: String,
}

/// Shown if there is no figure.
pub(crate) const NONE: &str = "-";

/// Languages of alternatives with their headings and the class of their bars.
const LANGUAGES: [(&str, &str); 5] = [
    ("rust", "Best Rust library"),
    ("go", "Go library"),
    ("python", "Python"),
    ("node", "Node.js"),
    ("powershell", "PowerShell"),
];

/// Returns a page for each report of a Go project.
pub(crate) fn systems<'r>(report: &'r Report, sources: &'r Sources) -> impl Iterator<Item = Page> + use<'r> {
    sources.seed.systems.iter().map(|system| system_page(system, report, sources))
}

/// Returns the page of one report: charts, published tables, all rows, and the results of servers.
fn system_page(system: &seed::System, report: &Report, sources: &Sources) -> Page {
    let facts = Facts::new(report, sources);
    let (name, role, platform) = (&system.name, &system.role, system.platform());
    let mut text = format!("\n## {name}\n\n{role}. The published figures are those of {platform}.\n");
    let suites = suites_of(&system.id, &facts, sources);
    let charts: Vec<Chart> = suites.iter().filter_map(|suite| chart_of(suite, &facts, sources)).collect();
    for Chart { id, title, .. } in &charts {
        text += &format!("\n![{title}]({id}.svg)\n");
    }
    for table in sources.seed.tables.iter().filter(|table| table.system == system.id) {
        text += &markdown::table(&published(table, &facts, sources));
    }
    for sheet in suites.iter().filter_map(|suite| all_rows(suite, &facts)) {
        text += &markdown::table(&sheet);
    }
    if system.id == "pypi_proxy" {
        let runs = [&report.load, &report.fleet].into_iter().flatten();
        runs.flat_map(|run| &run.tables).for_each(|sheet| text += &markdown::folded(sheet));
    }
    Page { id: system.id.clone(), text, charts }
}

/// Lists published entries that no run measures, and rows without a published figure.
pub(crate) fn coverage(sources: &Sources) -> Page {
    let absent = sources.unmeasured.unmeasured.iter().flat_map(|entry| {
        let names = entry.benches.iter().chain(&entry.lines);
        names.map(|name| vec![name.clone(), entry.reason.clone()])
    });
    let added = sources.rows.added.iter();
    let added = added.flat_map(|entry| entry.rows.iter().map(|row| vec![row.clone(), entry.text.clone()]));
    let sheets = [
        Sheet::new("Published and not measured", "Published | Reason", absent),
        Sheet::new("Measured and not published", "Rows | Reason", added),
    ];
    let tables: String = sheets.iter().map(markdown::table).collect();
    Page { id: "coverage".to_owned(), text: format!("\n## Coverage\n{tables}"), charts: Vec::new() }
}

/// Returns a folded table of all implementations of each suite.
pub(crate) fn all_implementations(report: &Report, sources: &Sources) -> String {
    let facts = Facts::new(report, sources);
    let suites: BTreeSet<String> =
        sources.groups.groups.iter().map(|group| group.suite().to_owned()).collect();
    let sheets: Vec<Sheet> = implementations(&facts, &suites).collect();
    let tables: String = sheets.iter().map(markdown::folded).collect();
    format!("\n## All implementations\n{tables}")
}

/// Formats a ratio with its interval.
pub(crate) fn range(ratio: &Ratio) -> String {
    let range = format!(" ({} to {})", units::ratio(ratio.low), units::ratio(ratio.high));
    format!("{}x{}", units::ratio(ratio.value), if ratio.processes > 1 { &range } else { "" })
}

/// Draws the groups of a suite: for each, the time of the best alternative in every language relative to ours.
fn chart_of(suite: &str, facts: &Facts<'_>, sources: &Sources) -> Option<Chart> {
    let groups = sources.groups.groups.iter().filter(|group| group.suite() == suite);
    let clusters: Vec<Cluster> = groups.filter_map(|group| cluster(group, facts)).collect();
    let title = format!("{suite}: time relative to ours, median of similar rows; shorter is faster");
    let svg = chart::bars(&title, &clusters)?;
    Some(Chart { id: suite.to_owned(), title, svg })
}

fn cluster(group: &Group, facts: &Facts<'_>) -> Option<Cluster> {
    let bars = LANGUAGES.into_iter().filter_map(|(language, label)| {
        let summary = facts.summary(group, &|row| row.language == language)?;
        Some(Bar { class: language, label: label.to_owned(), value: summary.median })
    });
    let bars: Vec<Bar> = bars.collect();
    let ours = Bar { class: "ours", label: "Ours".to_owned(), value: 1.0 };
    let label = group.title.clone();
    (!bars.is_empty()).then(|| Cluster { label, bars: std::iter::once(ours).chain(bars).collect() })
}

/// The figure of one [`Party`] for a published line: a value, or a range over several rows.
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

    fn text(&self, quantity: Quantity, is_counted: bool) -> String {
        let (low, high) = (quantity.format(self.low), quantity.format(self.high));
        let mut text = if low == high { low } else { format!("{low} to {high}") };
        if let (true, Quantity::Time, Some((bytes, allocs))) = (is_counted, quantity, self.counts) {
            text += &format!(", {}, {} allocs", units::bytes(bytes), units::per_op(allocs));
        }
        format!("{text} ({})", self.name)
    }
}

/// Columns of a published table after line and published figures.
const PARTIES: [(&str, Party); 8] = [
    ("#Go project, recorded", Party::Recorded),
    ("#Ours", Party::Ours),
    ("#Best Rust library", Party::Language("rust")),
    ("#Go", Party::Language("go")),
    ("#Python", Party::Language("python")),
    ("#Node.js", Party::Language("node")),
    ("#PowerShell", Party::Language("powershell")),
    ("#Limit", Party::Limit),
];

/// Returns a published table. Columns without any figure are left out.
fn published(table: &seed::Table, facts: &Facts<'_>, sources: &Sources) -> Sheet {
    let (mut lines, mut origins) = (Vec::new(), BTreeSet::new());
    for line in sources.seed.rows.iter().filter(|row| row.table == table.id) {
        let (quantity, keys) = sources.rows_of(line);
        let recorded = keys.iter().filter_map(|key| facts.row(key, Party::Recorded, quantity));
        origins.extend(recorded.filter_map(|row| row.remark.clone()));
        let is_counted = line.bytes_op.is_some() || line.allocs_op.is_some();
        let cells = PARTIES.map(|(_, party)| Cell::of(&keys, quantity, party, facts));
        let ratio = match keys.as_slice() {
            [key] => facts.row(key, Party::Ours, quantity).and_then(|ours| facts.opponent(ours, quantity)),
            _ => None,
        };
        let verdict = match (&cells[1], &ratio) {
            (None, _) => missing(line, &keys, facts, sources),
            (Some(_), Some(ratio)) => format!("{} against {}", ratio.verdict(), ratio.against),
            (Some(_), None) if keys.len() > 1 => faster_in(&keys, quantity, facts),
            (Some(_), None) => String::new(),
        };
        let text = |cell: &Option<Cell>| {
            cell.as_ref().map_or_else(|| NONE.to_owned(), |cell| cell.text(quantity, is_counted))
        };
        let mut texts = vec![line.label.clone(), line.figures()];
        texts.extend(cells.iter().map(text));
        texts.extend([ratio.as_ref().map_or_else(|| NONE.to_owned(), range), verdict]);
        lines.push(texts);
    }
    let mut columns: Vec<&str> = ["Line", "Published"].into_iter().chain(PARTIES.map(|one| one.0)).collect();
    columns.extend(["#Ratio (interval)", "Verdict"]);
    for index in (2..columns.len() - 1).rev() {
        if lines.iter().all(|line: &Vec<String>| line[index] == NONE) {
            columns.remove(index);
            lines.iter_mut().for_each(|line| drop(line.remove(index)));
        }
    }
    let notes = origins.iter().map(|origin| format!("Recorded: {origin}.")).collect();
    Sheet::new(&table.heading, &columns.join("|"), lines).with_notes(notes)
}

/// Returns the reason why we have no figure for a line.
fn missing(line: &seed::Row, keys: &[String], facts: &Facts<'_>, sources: &Sources) -> String {
    if let Some(reason) = sources.unmeasured.line(&line.name()) {
        return format!("not measured: {reason}");
    }
    let of_peers = keys.iter().find(|key| facts.of_key(key).any(|row| row.role == Role::Peer));
    of_peers.and_then(|key| sources.rows.remark(key, None)).unwrap_or("not in this run").to_owned()
}

/// Counts the rows in which ours is faster.
fn faster_in(keys: &[String], quantity: Quantity, facts: &Facts<'_>) -> String {
    let ratios = keys.iter().filter_map(|key| {
        let ours = facts.row(key, Party::Ours, quantity)?;
        facts.opponent(ours, quantity)
    });
    let labels: Vec<&str> = ratios.map(|ratio| ratio.outcome().label()).collect();
    match labels.iter().filter(|label| **label == "faster").count() {
        _ if labels.is_empty() => String::new(),
        faster => format!("faster in {faster} of {}", labels.len()),
    }
}

/// Lists the rows of a suite with our figure and the best implementation of each language. A row in which we have
/// several classes of results has one line for each.
fn all_rows(suite: &str, facts: &Facts<'_>) -> Option<Sheet> {
    let standings = facts.standings().into_iter();
    let standings = standings.filter(|standing| standing.key.split('/').next() == Some(suite));
    let lines: Vec<Vec<String>> = standings.filter_map(|standing| row_line(&standing, facts)).collect();
    let languages = LANGUAGES.map(|(_, label)| label).join(" | #");
    let columns = format!("Row | #Ours | #{languages} | #Ratio (interval) | Verdict");
    (!lines.is_empty()).then(|| Sheet::new(&format!("Suite {suite}: all rows"), &columns, lines))
}

fn row_line(standing: &Standing<'_>, facts: &Facts<'_>) -> Option<Vec<String>> {
    let (ours, quantity) = (standing.ours?, standing.quantity);
    let value = |row: &Row| row.value(quantity).map(|value| quantity.format(value));
    let best = |language: &str| {
        let row = facts.strongest(ours, quantity, &|row| row.role.is_other() && row.language == language)?;
        Some(format!("{} ({})", value(row)?, row.implementation))
    };
    let mut line = vec![standing.name(), value(ours)?];
    line.extend(LANGUAGES.map(|(language, _)| best(language).unwrap_or_else(|| NONE.to_owned())));
    let ratio = standing.ratio.as_ref();
    line.push(ratio.map_or_else(|| NONE.to_owned(), range));
    line.push(ratio.map_or_else(|| standing.label().to_owned(), Ratio::verdict));
    Some(line)
}

/// Returns the suites with rows of a report. A system may have suites besides the one with its published rows.
fn suites_of(system: &str, facts: &Facts<'_>, sources: &Sources) -> BTreeSet<String> {
    let suite = |key: &str| key.split('/').next().unwrap_or_default().to_owned();
    let benches = sources.seed.benches.iter().filter(|bench| bench.system == system);
    let of_rows = facts.keys().into_iter().map(suite).filter(|suite| suite.starts_with(system));
    benches.map(|bench| suite(&bench.key)).chain(of_rows).collect()
}

/// Returns one table per suite with all implementations of all rows.
fn implementations<'f>(
    facts: &'f Facts<'_>,
    suites: &'f BTreeSet<String>,
) -> impl Iterator<Item = Sheet> + use<'f> {
    let columns =
        "Row | Implementation | Role | Class | #Time/op | #Bytes/op | #Allocs/op | #Throughput | Remark";
    suites.iter().filter_map(move |suite| {
        let keys = facts.keys().into_iter().filter(|key| key.split('/').next() == Some(suite));
        // Rows of servers have tables of their own.
        let keys = keys.filter(|key| facts.of_key(key).any(|row| row.value(Quantity::Time).is_some()));
        let rows: Vec<&Row> = keys.flat_map(|key| facts.of_key(key)).collect();
        let lines = rows.iter().map(|row| implementation(row));
        let mut sheet = Sheet::new(&format!("{suite}: all implementations"), columns, lines);
        for index in (1..rows.len()).filter(|index| rows[index - 1].key == rows[*index].key) {
            sheet.lines[index].cells[0].clear();
        }
        (!rows.is_empty()).then_some(sheet)
    })
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
    let once = if row.is_once { "one call per process, because it takes long" } else { "" };
    vec![
        row.name().to_owned(),
        [row.implementation.as_str(), row.version.as_deref().unwrap_or_default()].join(" ").trim().to_owned(),
        format!("{}{language}", row.role.label()),
        optional(row.class.clone()),
        optional(row.value(Quantity::Time).map(units::time)),
        count(Quantity::Bytes),
        count(Quantity::Allocs),
        optional(Some(throughput.join(", ")).filter(|text| !text.is_empty())),
        row.remark.clone().unwrap_or_else(|| once.to_owned()),
    ]
}

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
            ..row(name, role, Some("owned"), &[time; 10])
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
                row("push | owned", Role::Ours, Some("owned"), &[40.0; 10]),
                go_row("original-standin", Role::OriginalStandin, &[900.0; 10]),
                row(
                    "a<b",
                    Role::Peer,
                    Some("owned"),
                    &[78.0, 78.0, 82.0, 82.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0],
                ),
                lost("ours", Role::Ours, 100.0),
                lost("reqwest", Role::Peer, 95.0),
            ],
            load: Some(ProxyRun::default()),
            ..Report::default()
        }
    }

    /// Returns the cells of the first line that contains a text, without empty ones at both ends.
    fn line<'t>(text: &'t str, label: &str) -> Vec<&'t str> {
        let line = text.lines().find(|line| line.starts_with('|') && line.contains(label)).unwrap();
        line.trim_matches('|').split('|').map(str::trim).collect()
    }

    #[test]
    fn every_published_line_is_in_a_table() {
        let (report, sources) = (report(), sources());
        let facts = Facts::new(&report, &sources);
        let sheets = || sources.seed.tables.iter().map(|table| published(table, &facts, &sources));
        assert!(sheets().all(|sheet| sheet.lines.iter().all(|line| line.cells.len() == sheet.columns.len())));
        assert_eq!(sheets().map(|sheet| sheet.lines.len()).sum::<usize>(), 257);
        let text: String = systems(&report, &sources).map(|page| page.text).collect();
        assert_eq!(
            line(&text, "Decode_SimpleEvent").join("; "),
            "BenchmarkDecoder_Decode_SimpleEvent-32; 611 ns, 4336 B, 7 allocs; \
             1.56 µs, 4320 B, 6 allocs (perplexity-go); 40.0 ns (push \\; owned); 80.0 ns (a&lt;b); \
             900 ns (original-standin); 2.00x (1.95 to 2.05); faster against a&lt;b"
        );
        assert!(line(&text, "easyjson").last().unwrap().starts_with("not measured: an"));
        let rows = &text[text.find("### Suite client: all rows").unwrap()..];
        let cells = line(rows, "client_do_simple");
        assert_eq!(cells[1..3], ["100 ns", "95.0 ns (reqwest)"]);
        assert_eq!(cells[7..], ["0.95x (0.95 to 0.95)", "slower"]);
    }

    #[test]
    fn all_implementations_share_the_name_of_their_row() {
        let text = all_implementations(&report(), &sources());
        let sse = &text[text.find("sse: all implementations").unwrap()..];
        assert_eq!(line(sse, "push")[0], "decode_simple_event");
        assert_eq!(line(sse, "a&lt;b")[0], "");
    }

    #[test]
    fn charts_show_the_measured_languages_only() {
        let (report, sources) = (report(), sources());
        let svg = chart_of("sse", &Facts::new(&report, &sources), &sources).unwrap().svg;
        assert!(svg.contains(">Best Rust library<") && svg.contains(">Go library<"), "{svg}");
        assert!(svg.contains("2.00x") && svg.contains("22.5x") && !svg.contains("Node.js"), "{svg}");
        assert!(chart_of("psrp", &Facts::new(&report, &sources), &sources).is_none());
    }
}
