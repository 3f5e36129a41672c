//! What the tables of a report say, before Markdown or HTML draws them.

use super::units;
use super::{Figure, Ratio, Report, Role, Row, Table};

/// One table with its title and remarks.
#[derive(Debug)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) notes: Vec<String>,
    pub(crate) columns: Vec<Column>,
    /// The column that names a line, which stays in view on a narrow screen.
    pub(crate) key_column: usize,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Numbers are set to the right.
    pub(crate) numeric: bool,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) cells: Vec<String>,
    /// One of ours, which a drawing may set apart.
    pub(crate) ours: bool,
    /// The first line of a row of the suite.
    pub(crate) starts_group: bool,
}

const NONE: &str = "-";

fn text(name: &str) -> Column {
    Column { name: name.to_owned(), numeric: false }
}

fn number(name: &str) -> Column {
    Column { name: name.to_owned(), numeric: true }
}

/// Each value once, in the order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// The facts of the run, as pairs of name and value.
pub(crate) fn run_facts(report: &Report) -> Vec<(String, String)> {
    let run = &report.run;
    let load = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2}"));
    let mut facts = vec![
        ("Date".to_owned(), run.date.clone()),
        (
            "Machine".to_owned(),
            format!("{}, {} cores, {}", run.machine.cpu, run.machine.cores, run.machine.kernel),
        ),
        (
            "Load average".to_owned(),
            format!("{} before, {} after", load(run.load_before), load(run.load_after)),
        ),
        ("Commit".to_owned(), run.commit.clone().unwrap_or_else(|| "unknown".to_owned())),
        (
            "Method".to_owned(),
            format!(
                "{} alternating rounds, {}, {} in all",
                run.rounds,
                run.settings,
                units::time(run.elapsed_s * 1e9)
            ),
        ),
    ];
    facts.extend(run.versions.iter().map(|(language, version)| (language.clone(), version.clone())));
    if !run.imports.is_empty() {
        facts.push(("Imported".to_owned(), run.imports.join(", ")));
    }
    facts
}

/// What a reader must know before the figures.
pub(crate) fn warnings(report: &Report) -> Vec<String> {
    let mut warnings: Vec<String> =
        report.run.unfit.iter().map(|reason| format!("Not fit to publish: {reason}.")).collect();
    let missing = &report.run.missing_peers;
    for reason in distinct(missing.iter().map(|missing| missing.reason.as_str())) {
        let names: Vec<String> = missing
            .iter()
            .filter(|missing| missing.reason == reason)
            .map(|missing| format!("{} ({})", missing.peer, missing.language))
            .collect();
        warnings.push(format!("Not measured: {}: {reason}.", names.join(", ")));
    }
    warnings
}

/// One sentence per variant of ours, and one about what is left.
pub(crate) fn summary(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report
        .summaries
        .iter()
        .map(|summary| {
            format!(
                "{}, ours `{}`: {}x the speed of the best peer (geometric mean, rows: {}); faster in {}, slower in {}, even or undecided in {}.",
                summary.system,
                summary.implementation,
                units::ratio(summary.geometric_mean),
                summary.rows,
                summary.faster,
                summary.slower,
                summary.rows - summary.faster - summary.slower,
            )
        })
        .collect();
    if report.published_not_measured > 0 {
        lines.push(format!("{} published benchmarks are not measured yet.", report.published_not_measured));
    }
    lines
}

/// How to read the columns; the same for all tables.
pub(crate) const LEGEND: [&str; 6] = [
    "Time/op is the smallest of the rounds' medians (of the means for Go, which reports nothing else).",
    "Bytes/op and Allocs/op count requested bytes and allocations; a reallocation counts its whole new size. Go rounds sizes up to size classes.",
    "A ratio is the other side's time divided by ours, the median over the rounds with smallest and largest in parentheses: above one, ours is faster. Ours is compared with peers of its own class where there is one.",
    "\"Faster\" and \"slower\" are said only where the ratios of all rounds are on one side of one.",
    "Published figures come from the originals' reports and other machines; no ratio uses them.",
    "What was recorded earlier was measured on a machine of this kind in another state; the ratio to the recorded original is cross-machine, an orientation only.",
];

/// The published tables, line by line, with what this run found.
pub(crate) fn published(report: &Report) -> Vec<Sheet> {
    report.tables.iter().map(|table| published_table(report, table)).collect()
}

fn published_table(report: &Report, table: &Table) -> Sheet {
    let keys: Vec<&String> = table.lines.iter().flat_map(|line| &line.keys).collect();
    let rows: Vec<&Row> = report.rows.iter().filter(|row| keys.contains(&&row.key())).collect();
    let of_role = |role: Role| rows.iter().filter(move |row| row.role == role);
    let variants = distinct(of_role(Role::Ours).map(|row| row.implementation.as_str()));
    let languages = distinct(of_role(Role::Peer).map(|row| row.language.as_str()));
    let has_original = rows.iter().any(|row| matches!(row.role, Role::Original | Role::OriginalStandin));

    let mut columns = vec![text("Published line"), text("Published"), number("Recorded earlier")];
    if has_original {
        columns.push(number("Original, live or imported"));
    }
    columns.extend(languages.iter().map(|language| number(&format!("Best {language} peer"))));
    columns.extend(variants.iter().map(|variant| number(&format!("Ours, {variant}"))));

    let lines = table.lines.iter().map(|line| {
        let cell = |wanted: &dyn Fn(&Row) -> bool, named: bool| {
            figure(&rows, &line.keys, line.figure, wanted, named).unwrap_or_else(|| NONE.to_owned())
        };
        let recorded = match (line.keys.as_slice(), line.figure) {
            ([key], Figure::Time) => recorded_figures(&rows, key),
            _ => NONE.to_owned(),
        };
        let mut cells = vec![line.label.clone(), line.published.clone(), recorded];
        if has_original {
            // The original itself where it was imported for all of the line's rows, else the stand-in.
            let of = |role: Role| figure(&rows, &line.keys, line.figure, &|row| row.role == role, true);
            let original = of(Role::Original).or_else(|| of(Role::OriginalStandin));
            cells.push(original.unwrap_or_else(|| NONE.to_owned()));
        }
        for language in &languages {
            cells.push(cell(&|row| row.role == Role::Peer && row.language == *language, true));
        }
        for variant in &variants {
            let time = cell(&|row| row.role == Role::Ours && row.implementation == *variant, false);
            cells.push(match line_ratio(&rows, &line.keys, variant) {
                Some(ratio) => format!("{time}, {ratio}"),
                None => time,
            });
        }
        Line { cells, ours: false, starts_group: false }
    });
    let mut notes = vec![
        format!("Published by {}.", table.platform),
        "Beside ours: the best peer's time divided by ours; * where no peer is of the same class.".to_owned(),
    ];
    if table.not_measured > 0 {
        notes.push(format!("{} further lines of this table are not measured yet.", table.not_measured));
    }
    Sheet {
        title: format!("{} ({})", table.heading, table.id),
        notes,
        columns,
        key_column: 0,
        lines: lines.collect(),
    }
}

/// What was recorded earlier for a row, by whom.
fn recorded_figures(rows: &[&Row], key: &str) -> String {
    let row = rows.iter().find(|row| row.key() == key && !row.recorded.is_empty());
    let figures = row.into_iter().flat_map(|row| &row.recorded);
    let texts: Vec<String> = figures
        .map(|recorded| format!("{} {}", recorded.implementation, units::time(recorded.time_ns)))
        .collect();
    if texts.is_empty() { NONE.to_owned() } else { texts.join(", ") }
}

/// The figure of a published line from the fastest wanted row of each of its keys.
fn figure(
    rows: &[&Row],
    keys: &[String],
    figure: Figure,
    wanted: &dyn Fn(&Row) -> bool,
    named: bool,
) -> Option<String> {
    let fastest = |key: &String| {
        rows.iter()
            .filter(|row| row.key() == *key && wanted(row))
            .filter_map(|row| Some((row.time_ns.as_ref()?.min, *row)))
            .min_by(|(a, _), (b, _)| a.total_cmp(b))
    };
    let found: Vec<(f64, &Row)> = keys.iter().map(fastest).collect::<Option<_>>()?;
    let &(time, row) = found.first()?;
    let elements = || row.elements.filter(|&elements| elements > 0).map(|elements| elements as f64);
    let value = match figure {
        Figure::Time => units::time(time),
        Figure::TimePerElement => units::time(time / elements()?),
        Figure::ElementsPerSecond => format!("{}/s", units::count(elements()? * 1e9 / time)),
        Figure::TimeRange => {
            let times = || found.iter().map(|&(time, _)| time);
            let (from, to) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
            return Some(format!("{} to {}", units::time(from), units::time(to)));
        }
    };
    Some(if named { format!("{} {value}", row.implementation) } else { value })
}

/// The ratio of one variant to the best peer, where the line speaks of one row.
fn line_ratio(rows: &[&Row], keys: &[String], variant: &str) -> Option<String> {
    let [key] = keys else { return None };
    let row = rows.iter().find(|row| row.key() == *key && row.implementation == variant)?;
    let ratio = row.ratio_vs.as_ref()?.best_peer.as_ref()?;
    Some(format!("{}x{}", units::ratio(ratio.median), if ratio.like_for_like { "" } else { "*" }))
}

fn ratio_range(ratio: &Ratio) -> String {
    format!("{} ({}..{})", units::ratio(ratio.median), units::ratio(ratio.min), units::ratio(ratio.max))
}

fn share(ratio: &Ratio) -> String {
    let percent = |share: f64| format!("{:.0}", share * 100.0);
    format!(
        "{} % of {} ({}..{})",
        percent(ratio.median),
        ratio.against,
        percent(ratio.min),
        percent(ratio.max)
    )
}

/// All implementations of all rows, one sheet per system.
pub(crate) fn measured(report: &Report) -> Vec<Sheet> {
    distinct(report.rows.iter().map(|row| row.system.as_str()))
        .into_iter()
        .map(|system| {
            let rows: Vec<&Row> = report.rows.iter().filter(|row| row.system == system).collect();
            let published = rows.iter().filter_map(|row| row.published.as_ref());
            let recorded = rows.iter().flat_map(|row| &row.recorded);
            let notes =
                distinct(published.map(|published| format!("Published by {}.", published.platform)).chain(
                    recorded.map(|recorded| {
                        format!("Recorded earlier: {}, {}.", recorded.implementation, recorded.origin)
                    }),
                ));
            Sheet {
                title: format!("{system}: all implementations"),
                notes,
                key_column: 1,
                columns: vec![
                    text("Row"),
                    text("Implementation"),
                    text("Role"),
                    text("Class"),
                    number("Time/op"),
                    number("Bytes/op"),
                    number("Allocs/op"),
                    number("Throughput"),
                    text("Published"),
                    number("Ratio to best peer (min..max)"),
                    number("Ratio to original (min..max)"),
                    number("Ratio to recorded original, cross-machine"),
                    number("Share of the machine's limit (min..max)"),
                    text("Verdict"),
                ],
                lines: rows
                    .iter()
                    .enumerate()
                    .map(|(index, row)| {
                        let starts_group = index == 0 || rows[index - 1].row != row.row;
                        measured_line(row, starts_group)
                    })
                    .collect(),
            }
        })
        .collect()
}

fn measured_line(row: &Row, starts_group: bool) -> Line {
    let optional = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
    let ratio = |pick: fn(&super::Ratios) -> Option<&Ratio>| row.ratio_vs.as_ref().and_then(pick);
    let language = if row.language == "rust" { String::new() } else { format!(", {}", row.language) };
    let published = row.published.as_ref().filter(|_| starts_group).map(|published| {
        let parts = [
            published.time_ns.map(units::time),
            published.bytes_op.map(|bytes| format!("{bytes} B")),
            published.allocs_op.map(|count| format!("{count} allocs")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    });
    let count = |value: Option<f64>| {
        let mark = if row.counts_deterministic == Some(false) { "~" } else { "" };
        optional(value.map(|value| format!("{mark}{}", units::per_op(value))))
    };
    let throughput = row.throughput.as_ref().and_then(|throughput| {
        let parts = [
            throughput.bytes_per_s.map(units::bytes_per_second),
            throughput.elements_per_s.map(|rate| format!("{}/s", units::count(rate))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    });
    let cells =
        vec![
            if starts_group { row.row.clone() } else { String::new() },
            match &row.version {
                Some(version) => format!("{} {version}", row.implementation),
                None => row.implementation.clone(),
            },
            format!("{}{language}", row.role.label()),
            optional(row.class.clone()),
            optional(row.time_ns.as_ref().map(|time| {
                format!("{}{}", units::time(time.min), if time.sampled { "" } else { " (once)" })
            })),
            count(row.bytes_op),
            count(row.allocs_op),
            optional(throughput),
            published.unwrap_or_default(),
            optional(ratio(|ratios| ratios.best_peer.as_ref()).map(ratio_range)),
            optional(ratio(|ratios| ratios.original.as_ref()).map(ratio_range)),
            optional(
                ratio(|ratios| ratios.recorded_original.as_ref()).map(|ratio| units::ratio(ratio.of_minima)),
            ),
            optional(ratio(|ratios| ratios.limit.as_ref()).map(share)),
            row.verdict.clone(),
        ];
    Line { cells, ours: row.role == Role::Ours, starts_group }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    fn of_ours(row: &Row) -> bool {
        row.role == Role::Ours
    }

    #[test]
    fn published_figures_follow_from_measured_times() {
        let mut stream = fixture::row("push", Role::Ours, 2_000.0);
        "decode_buffered_stream".clone_into(&mut stream.row);
        stream.elements = Some(100);
        let single = fixture::row("push", Role::Ours, 40.0);
        let rows = [&stream, &single];
        let keys = |names: &[&str]| names.iter().map(|name| format!("sse/{name}")).collect::<Vec<String>>();
        let one = keys(&["decode_buffered_stream"]);
        let cell = |keys: &[String], what, named| figure(&rows, keys, what, &of_ours, named);
        assert_eq!(cell(&one, Figure::Time, true).as_deref(), Some("push 2.00 µs"));
        assert_eq!(cell(&one, Figure::TimePerElement, false).as_deref(), Some("20.0 ns"));
        assert_eq!(cell(&one, Figure::ElementsPerSecond, false).as_deref(), Some("50.0 M/s"));
        let both = keys(&["decode_buffered_stream", "decode_simple_event"]);
        assert_eq!(cell(&both, Figure::TimeRange, false).as_deref(), Some("40.0 ns to 2.00 µs"));
        let absent = keys(&["decode_simple_event", "absent"]);
        assert_eq!(cell(&absent, Figure::TimeRange, false), None, "a range needs all of its rows");
    }

    #[test]
    fn peers_missing_for_one_reason_share_a_warning() {
        let mut report = fixture::report();
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

    #[test]
    fn a_group_names_its_row_and_published_figure_once() {
        let sheets = measured(&fixture::report());
        assert_eq!(sheets.len(), 1);
        let firsts: Vec<&str> = sheets[0].lines.iter().map(|line| line.cells[0].as_str()).collect();
        assert_eq!(firsts, ["decode_simple_event", ""]);
        assert!(sheets[0].lines.iter().all(|line| line.cells.len() == sheets[0].columns.len()));
        assert!(sheets[0].lines[0].ours && !sheets[0].lines[1].ours);
    }
}
