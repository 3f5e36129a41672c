//! Pages of the report in Markdown, and tables for the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::chart::{self, Dot, Panel, Strip};
use crate::facts::{Facts, Match, Standing, best, distinct, grouped, is_different, shown};
use crate::history;
use crate::model::{EVEN, LEAST_RATIO, Outcome, Role, Row};
use crate::quantity::{self as units, Quantity};
use crate::sources::{Line, System, Table};
use crate::stats::{bounds, median};
use crate::table::{NONE, Sheet, escaped, list, optional};

/// A page in Markdown with its drawings, to which it refers as `ID.svg`.
#[derive(Debug)]
pub(crate) struct Page {
    /// Name of the file without extension.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Drawings by name.
    pub(crate) charts: Vec<(String, String)>,
}

/// Languages of other implementations with the headings of their columns.
const LANGUAGES: [(&str, &str); 6] = [
    ("rust", "Best Rust library"),
    ("go", "Go"),
    ("cpp", "C++"),
    ("python", "Python"),
    ("node", "Node.js"),
    ("powershell", "PowerShell"),
];
/// Columns of a comparison, which the terminal shows as well, and those after them.
const COMPARED: &str = "#Ours | #Fastest other | #Ratio (interval) | Verdict";
const OTHERS: &str = "#Best Rust library | #Go | #C++ | #Python | #Node.js | #PowerShell | #Limit";
/// Alternative texts of drawings.
const DOTS: &str = "Ratio of every row with its interval, by group; rows in which another implementation is faster at the top";
const SIZES: &str = "Time per kilobyte of JSON over the size of the document: ours (solid) and the best Rust library (dashed)";
/// The method, and how to dispute a figure. Details are in `benches/README.md`.
const METHOD: &str = include_str!("method.md");
const DOUBTS: &str = include_str!("doubts.md");
/// Number of libraries named in a line.
const MAX_NAMES: usize = 3;

/// Returns the first page without its title. `folder` is the path of the other pages and the drawings.
pub(crate) fn first(facts: &Facts<'_>, folder: &str) -> Page {
    let published = facts.standings.iter().filter(|one| one.is_published);
    let mut text = format!(
        "\n## Overview\n\nA ratio is the time of another implementation divided by ours: above 1, ours is faster. Each row is \
         compared with the fastest other implementation of the same class, in any language; a row has a result per class of \
         ours. Faster and slower mean that the whole interval of the ratio is beyond {LEAST_RATIO}, even that it is within {} \
         to {}.\n\n- Results of published benchmarks: {}.\n- Of all rows: {}.\n",
        EVEN.start(),
        EVEN.end(),
        verdicts(published),
        verdicts(facts.standings.iter())
    );
    for warning in warnings(facts) {
        text += &format!("- **{}**\n", escaped(&warning));
    }
    let charts: Vec<_> =
        dots(DOTS, |_| true, facts).map(|svg| ("ratios".to_owned(), svg)).into_iter().collect();
    if !charts.is_empty() {
        text += &format!("\n![{DOTS}]({folder}ratios.svg)\n");
    }
    text += "\n## Every row in which another implementation is faster\n\nAll results whose ratio has a median below 1, published or \
             not, decided or not. `~` marks a rough ratio of two single figures.\n";
    text += &slower(facts).markdown();
    text += "\n## By group\n\nEach table has all groups with such an alternative. The median and the range are those of the rows of a \
             group; each row counts with its smallest ratio.\n";
    let is_library = |row: &Row| row.role != Role::OriginalStandin;
    // Parts of Go's standard library.
    let is_standard = |row: &Row| {
        ["encoding", "net-http", "net/http"].iter().any(|name| row.implementation.starts_with(name))
    };
    let is_go = |row: &Row| row.language == "go" && is_library(row);
    text +=
        &against("Compared with the fastest alternative in any language", None, facts, &|_| true).markdown();
    for (language, name) in LANGUAGES {
        let title = format!(
            "Compared with the best alternative in {}",
            name.trim_start_matches("Best ").trim_end_matches(" library")
        );
        let is_wanted =
            |row: &Row| row.language == language && is_library(row) && !(is_go(row) && is_standard(row));
        text += &against(&title, None, facts, &is_wanted).markdown();
        if language == "go" {
            let is_wanted = |row: &Row| is_go(row) && is_standard(row);
            text += &against("Compared with Go's standard library", None, facts, &is_wanted).markdown();
            let title = "Compared with our stand-ins of Go projects that cannot be imported";
            text += &against(title, None, facts, &|row| !is_library(row)).markdown();
        }
    }
    text += &facts.report.comparison.iter().map(Sheet::markdown).collect::<String>();
    text += &format!("\n## Run\n{}", list(run(facts)));
    let flags = &facts.report.run.machine.flags;
    if !flags.is_empty() {
        text += &format!("\n<details><summary>Processor flags</summary>\n\n{flags}\n\n</details>\n");
    }
    Page { id: String::new(), text: text + "\n## Method\n" + METHOD, charts }
}

pub(crate) fn others(facts: &Facts<'_>) -> Vec<Page> {
    let mut pages: Vec<Page> =
        facts.sources.systems.iter().map(|system| system_page(system, facts)).collect();
    pages.extend(
        [
            ("coverage", "Coverage", coverage(facts)),
            ("how-we-could-be-wrong", "How we could be wrong", errors(facts)),
            ("history", "History", history::text(facts.sources)),
        ]
        .map(|(id, title, text)| {
            let text = format!("\n## {title}\n{text}");
            Page { id: id.to_owned(), text, charts: Vec::new() }
        }),
    );
    pages
}

fn suite(key: &str) -> &str {
    key.split('/').next().unwrap_or_default()
}

/// Returns the page of one report of a Go project: charts, published tables, all rows, and the results of servers.
fn system_page(system: &System, facts: &Facts<'_>) -> Page {
    let System { id, name, role, platform, .. } = system;
    let mut text = format!("\n## {name}\n\n{role}. The published figures are those of: {platform}.\n");
    // A system may have suites besides those with its published rows.
    let of_rows = facts.keys.iter().map(|key| suite(key)).filter(|suite| suite.starts_with(id));
    let suites: BTreeSet<&str> =
        system.benches.iter().map(|bench| suite(&bench.key)).chain(of_rows).collect();
    let title = format!("{name}: ratio of every row with its interval");
    let sizes = sizes(facts).filter(|_| suites.contains("json"));
    let dots = dots(&title, |one| suites.contains(suite(one.key)), facts);
    let mut charts = Vec::new();
    for (id, title, svg) in [(id.as_str(), title.as_str(), dots), ("sizes", SIZES, sizes)] {
        if let Some(svg) = svg {
            let _ = write!(text, "\n{title}:\n\n![{title}]({id}.svg)\n");
            charts.push((id.to_owned(), svg));
        }
    }
    text += &system.tables.iter().map(|table| published(table, false, facts).markdown()).collect::<String>();
    for name in suites {
        let rows = facts.standings.iter().filter(|one| suite(one.key) == name);
        text += &all_rows(&format!("Suite {name}: all rows"), rows, facts).markdown();
    }
    if id == "pypi_proxy" {
        let runs = [&facts.report.load, &facts.report.fleet].into_iter().flatten();
        text += &runs.flat_map(|run| run.tables.iter().map(Sheet::folded)).collect::<String>();
    }
    Page { id: id.clone(), text, charts }
}

/// Returns figures with the name of the implementation. A time is followed by allocations if `is_counted`.
fn figures(row: Option<&Row>, quantities: &[Quantity], is_counted: bool) -> String {
    let Some(row) = row else { return NONE.to_owned() };
    let known = quantities.iter().filter(|quantity| row.value(**quantity).is_some());
    let mut parts: Vec<String> = known.map(|quantity| row.shown(*quantity)).collect();
    let counts = row.value(Quantity::Bytes).zip(row.value(Quantity::Allocs));
    if let (true, Some((bytes, allocs))) = (is_counted && quantities == [Quantity::Time], counts) {
        parts.push(format!("{}, {} allocs", units::bytes(bytes), units::per_op(allocs)));
    }
    format!("{} ({})", parts.join(", "), shown(row))
}

/// Returns the cells of [`COMPARED`] and [`OTHERS`] for a result.
fn cells(one: &Standing<'_>, quantities: &[Quantity], is_counted: bool, facts: &Facts<'_>) -> Vec<String> {
    let figures = |row| figures(row, quantities, is_counted);
    let other = one.worst().map(|worst| worst.other);
    // Counts such as allocations are shown and not compared.
    let verdict = if one.quantity.is_compared() { one.verdict() } else { String::new() };
    let mut cells = vec![figures(one.ours), figures(other), one.ratios(), verdict];
    let class = one.ours.and_then(|ours| ours.class.as_ref());
    let best = |is_wanted: &dyn Fn(&Row) -> bool| {
        let rows = facts.of_key(one.key).filter(|row| row.class.as_ref() == class && is_wanted(row));
        figures(best(rows, one.quantity))
    };
    cells.extend(LANGUAGES.map(|(language, _)| best(&|row| row.role.is_other() && row.language == language)));
    cells.push(best(&|row| row.role == Role::Limit));
    cells
}

/// Returns our results in the rows of a published line.
fn compared<'f>(table: &Table, line: &Line, facts: &Facts<'f>) -> Vec<Standing<'f>> {
    let (quantities, keys) = facts.sources.rows_of(table, line);
    let library = facts.sources.libraries.get(&table.name_of(line));
    keys.iter().filter_map(|key| facts.compared(key, quantities[0], library)).collect()
}

/// Returns a published table. Columns without any figure are left out, and allocations if `is_brief`.
fn published(table: &Table, is_brief: bool, facts: &Facts<'_>) -> Sheet {
    let mut origins = BTreeSet::new();
    let lines = table.lines.iter().map(|line| {
        let (quantities, keys) = facts.sources.rows_of(table, line);
        let is_counted = !is_brief && line.figures.contains("allocs");
        let recorded = keys.iter().flat_map(|key| facts.of_key(key));
        let recorded: Vec<&Row> = recorded.filter(|row| row.role == Role::RecordedOriginal).collect();
        origins.extend(recorded.iter().filter_map(|row| row.remark.clone()));
        let recorded = recorded.into_iter().rfind(|row| row.value(quantities[0]).is_some());
        let recorded = figures(recorded, &quantities, is_counted);
        let none = || NONE.to_owned();
        let mut rest = match compared(table, line, facts).as_slice() {
            [] => vec![none(), none(), none(), missing(&table.name_of(line), &keys, facts)],
            [one] => cells(one, &quantities, is_counted, facts),
            several => several_cells(several, quantities[0]),
        };
        rest.resize_with(OTHERS.split('|').count() + 4, none);
        [line.label.clone(), line.figures.clone(), recorded].into_iter().chain(rest).collect()
    });
    let lines: Vec<Vec<String>> = lines.collect();
    let columns = format!("Line | Published | #Go project, recorded | {COMPARED} | {OTHERS}");
    let notes = origins.iter().map(|origin| format!("Recorded: {origin}.")).collect();
    Sheet::new(&table.title(), &columns, lines).without_empty_columns().with_notes(notes)
}

/// Returns the cells of [`COMPARED`] for several rows: the range of our figures, figures and ratios if there are few rows,
/// and in how many ours is faster.
fn several_cells(standings: &[Standing<'_>], quantity: Quantity) -> Vec<String> {
    let values: Vec<f64> = standings.iter().filter_map(|one| one.ours?.value(quantity)).collect();
    let range =
        bounds(&values).map(|(low, high)| [low, high].map(|value| quantity.format(value)).join(" to "));
    let worst = || standings.iter().filter_map(Standing::worst);
    let joined = |texts: Vec<String>| match texts.len() {
        1..=3 => texts.join("; "),
        _ => NONE.to_owned(),
    };
    let outcomes: Vec<Outcome> = standings.iter().filter_map(Standing::outcome).collect();
    let faster = outcomes.iter().filter(|outcome| **outcome == Outcome::Faster).count();
    vec![
        range.unwrap_or_default(),
        joined(worst().map(|one| figures(Some(one.other), &[quantity], false)).collect()),
        joined(worst().map(|one| one.ratio.to_string()).collect()),
        if outcomes.is_empty() {
            String::new()
        } else {
            format!("faster in {faster} of {} rows", outcomes.len())
        },
    ]
}

/// Returns the reason why ours has no figure for a line.
fn missing(name: &str, keys: &[String], facts: &Facts<'_>) -> String {
    if let Some(reason) = facts.sources.notes.unmeasured(name) {
        return format!("not measured: {reason}");
    }
    let of_peers = keys.iter().find(|key| facts.of_key(key).any(|row| row.role == Role::Peer));
    of_peers.and_then(|key| facts.sources.notes.remark(key, None)).unwrap_or("not in this run").to_owned()
}

/// Lists results with our figure and the best implementation of each language. A row in which we have several classes of
/// results has one line for each.
fn all_rows<'s>(title: &str, standings: impl Iterator<Item = &'s Standing<'s>>, facts: &Facts<'_>) -> Sheet {
    let lines = standings.filter(|one| one.ours.is_some()).map(|one| {
        let cells = cells(one, &[one.quantity], false, facts);
        std::iter::once(one.name()).chain(cells).collect()
    });
    Sheet::new(title, &format!("Line | {COMPARED} | {OTHERS}"), lines).without_empty_columns()
}

/// Lists published entries that no run measures, rows without a published figure, and rows that several published entries
/// rest on.
fn coverage(facts: &Facts<'_>) -> String {
    let sources = facts.sources;
    let lines = |notes: &[crate::sources::Note]| -> Vec<Vec<String>> {
        let lines =
            notes.iter().flat_map(|note| note.rows.iter().map(|row| vec![row.clone(), note.text.clone()]));
        lines.collect()
    };
    let mut shared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut add = |key: &str, name: String| {
        for row in sources.notes.parts(key) {
            shared.entry(facts.measured_as(&row).to_owned()).or_default().insert(name.clone());
        }
    };
    for (table, line) in sources.lines() {
        sources.rows_of(table, line).1.iter().for_each(|key| add(key, table.name_of(line)));
    }
    for bench in sources.benches().filter(|bench| sources.notes.unmeasured(&bench.key).is_none()) {
        add(&bench.key, bench.key.clone());
    }
    let shared = shared.into_iter().map(|(row, mut names)| {
        names.remove(&row);
        vec![row, names.into_iter().collect::<Vec<_>>().join(", ")]
    });
    let sheets = [
        Sheet::new("Published and not measured", "Published | Reason", lines(&sources.notes.unmeasured)),
        Sheet::new("Measured and not published", "Rows | Reason", lines(&sources.notes.added)),
        Sheet::new(
            "Published entries that rest on one row",
            "Row | Published lines and benchmarks",
            shared.filter(|line| line[1].contains(", ")),
        ),
    ];
    sheets.iter().map(Sheet::markdown).collect()
}

/// Returns the duels of equal code and the limits of the method.
fn errors(facts: &Facts<'_>) -> String {
    let equals = facts.equals();
    let lines = equals.iter().map(|(duel, ratio)| {
        let build = if duel.build.is_empty() { "portable" } else { &duel.build };
        let result = if is_different(ratio) { "difference" } else { "no difference" };
        let numbers = [ratio.to_string(), ratio.count.to_string(), duel.processes.to_string()];
        [&duel.key, &duel.ours, build]
            .map(str::to_owned)
            .into_iter()
            .chain(numbers)
            .chain([result.to_owned()])
            .collect()
    });
    let columns =
        "Row | Implementation, twice | Build | #Ratio (interval) | #Placements | #Processes | Result";
    let table = Sheet::new("Duels of equal code", columns, lines).markdown();
    let medians: Vec<f64> = equals.iter().map(|(_, ratio)| ratio.value).collect();
    let found = match bounds(&medians) {
        Some((low, high)) => format!(
            "In this run, {} of {} duels of equal code show a difference of more than {LEAST_RATIO}; their medians are {low:.3} to \
             {high:.3}. A run with more than one in ten is not published.",
            equals.iter().filter(|(_, ratio)| is_different(ratio)).count(),
            medians.len()
        ),
        None => "This run has no duels of equal code.".to_owned(),
    };
    format!(
        "\nEach suite also compares one implementation with itself. Such a duel must find no difference; where it finds one, the \
         method is wrong by that much. {found}\n{table}{DOUBTS}"
    )
}

/// Returns a folded table of all implementations of each suite.
pub(crate) fn implementations(facts: &Facts<'_>) -> String {
    let line = |row: &Row| {
        let rough = if row.is_rough { "~" } else { "" };
        let unsure = if row.deterministic == Some(false) { "~" } else { "" };
        let count =
            |quantity| optional(row.value(quantity), |value| format!("{unsure}{}", units::per_op(value)));
        let rate =
            row.payload_bytes.zip(row.value(Quantity::Time)).map(|(bytes, time)| bytes as f64 * 1e9 / time);
        vec![
            row.name().to_owned(),
            format!("{} {}", row.implementation, row.version.as_deref().unwrap_or_default())
                .trim()
                .to_owned(),
            format!("{}, {}", row.role.label(), row.language),
            optional(row.class.clone(), |class| class),
            format!("{rough}{}", row.shown(Quantity::Time)),
            count(Quantity::Bytes),
            count(Quantity::Allocs),
            optional(rate, units::bytes_per_second),
            row.remark.clone().unwrap_or_default(),
        ]
    };
    let columns =
        "Row | Implementation | Role | Class | #Time/op | #Bytes/op | #Allocs/op | #Throughput | Remark";
    let mut text = "\n## All implementations\n".to_owned();
    for name in distinct(facts.keys.iter().map(|key| suite(key))) {
        // Rows of servers have tables of their own.
        let rows = facts.report.rows.iter().filter(|row| suite(&row.key) == name);
        text += &Sheet::new(&format!("{name}: all implementations"), columns, rows.map(line)).folded();
    }
    text
}

/// Returns the tables for a terminal: the published tables of which the run has rows, the other rows by group, and a line
/// of totals.
pub(crate) fn terminal(facts: &Facts<'_>) -> String {
    let (mut text, mut known) = (String::new(), BTreeSet::new());
    for table in facts.sources.tables() {
        known.extend(table.lines.iter().flat_map(|line| compared(table, line, facts)).map(|one| one.name()));
        text += &brief(published(table, true, facts));
    }
    for (index, group) in facts.sources.groups.iter().enumerate() {
        let others =
            facts.standings.iter().filter(|one| one.group == Some(index) && !known.contains(&one.name()));
        text += &brief(all_rows(&group.name(), others, facts));
    }
    let measured = facts.standings.iter().filter(|one| one.ours.is_some());
    text += &format!("\nAll results: {}.\n", verdicts(measured));
    text + &warnings(facts).into_iter().map(|warning| warning + "\n").collect::<String>()
}

/// Returns the columns of a comparison for the terminal; nothing if ours has no figure.
fn brief(mut sheet: Sheet) -> String {
    let index = |name: &str| sheet.columns.iter().position(|column| column.name == name);
    let Some(ours) = index("Ours") else { return String::new() };
    sheet.lines.retain(|line| line.cells[ours] != NONE);
    let verdict = index("Verdict");
    for line in &mut sheet.lines {
        line.cells[ours] = line.cells[ours].split(" (").next().unwrap_or_default().to_owned();
        // The implementation is in another column.
        let ends = [" than ", " with ", ", against ", " against "];
        let word = |cell: &String| {
            ends.iter().fold(cell.clone(), |text, end| text.split(end).next().unwrap_or_default().to_owned())
        };
        verdict.iter().for_each(|index| line.cells[*index] = word(&line.cells[*index]));
    }
    sheet.only("Line | Ours | Fastest other | Ratio (interval) | Verdict").text()
}

/// Draws the ratio of each wanted result, those below 1 with their names at the top.
fn dots(title: &str, is_wanted: impl Fn(&Standing<'_>) -> bool, facts: &Facts<'_>) -> Option<String> {
    let dot = |one: &Standing<'_>| {
        let Match { other, ratio, .. } = one.worst()?;
        let (label, short) =
            (format!("{}, {}", one.name(), shown(other)), format!("{}, {}", one.key, shown(other)));
        let class = one.outcome().map_or("rough", Outcome::label);
        Some((one.group?, Dot { label, short, low: ratio.low, value: ratio.value, high: ratio.high, class }))
    };
    let dots: Vec<(usize, Dot)> =
        facts.standings.iter().filter(|one| is_wanted(one)).filter_map(dot).collect();
    let strip = |title: &str, note: String, mut dots: Vec<Dot>| {
        dots.sort_by(|a, b| a.value.total_cmp(&b.value));
        Strip { title: title.trim_start_matches("tightwire-").to_owned(), note, dots }
    };
    let losses: Vec<Dot> = dots.iter().map(|(_, dot)| dot).filter(|dot| dot.value < 1.0).cloned().collect();
    let named = strip("Another implementation is faster", format!("{} results", losses.len()), losses);
    let strips = facts.sources.groups.iter().enumerate().filter_map(|(index, group)| {
        let of_group: Vec<Dot> =
            dots.iter().filter(|(group, _)| *group == index).map(|(_, dot)| dot.clone()).collect();
        let median = median(&of_group.iter().map(|dot| dot.value).collect::<Vec<_>>())?;
        Some(strip(&group.name(), format!("{}x", units::ratio(median)), of_group))
    });
    chart::ratios(title, &named, &strips.collect::<Vec<_>>())
}

/// Draws the time per kilobyte of JSON documents that occur in several sizes, such as `twitter_10k_decode`.
fn sizes(facts: &Facts<'_>) -> Option<String> {
    let is_size = |part: &&str| {
        let number = part.strip_suffix(['k', 'm']).unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    // Size, and time per kilobyte of ours and of the other, by document, operation and class.
    let mut rows: BTreeMap<(String, &str), Vec<[f64; 3]>> = BTreeMap::new();
    for one in &facts.standings {
        let Some((ours, name)) = one.ours.zip(one.key.strip_prefix("json/")) else { continue };
        let Some((size, class)) = ours.payload_bytes.zip(ours.class.as_deref()) else { continue };
        let (sizes, words): (Vec<&str>, Vec<&str>) = name.split('_').partition(is_size);
        let per_kilobyte =
            |row: &Row| row.value(Quantity::Time).map_or(f64::NAN, |time| time * 1e3 / size as f64);
        let rust = facts.matches(ours, Quantity::Time, &|row| row.language == "rust");
        let other = rust.first().map_or(f64::NAN, |one| per_kilobyte(one.other));
        if !sizes.is_empty() {
            rows.entry((words.join(" "), class)).or_default().push([size as f64, per_kilobyte(ours), other]);
        }
    }
    let panels =
        rows.into_iter().filter(|(_, points)| points.len() > 1).map(|((title, class), mut points)| {
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            let (first, last) = (points[0][0], points[points.len() - 1][0]);
            let place = |size: f64| (size / first).ln() / (last / first).ln().max(f64::MIN_POSITIVE);
            let series = |index: usize| {
                let points = points.iter().filter(|point| point[index].is_finite());
                points.map(|point| (place(point[0]), point[index])).collect()
            };
            Panel {
                title,
                note: class.to_owned(),
                ends: (units::bytes(first), units::bytes(last)),
                series: vec![("other", series(2)), ("ours", series(1))],
                format: |value| format!("{}/kB", units::time(value)),
            }
        });
    chart::lines(SIZES, &panels.collect::<Vec<_>>())
}

fn run(facts: &Facts<'_>) -> Vec<String> {
    let (run, duels) = (&facts.report.run, &facts.report.duels);
    let busy = optional(run.busy_after, |part| format!("{:.1} %", 100.0 * part));
    let processes: Vec<f64> = duels.iter().map(|duel| duel.processes as f64).collect();
    let processes =
        bounds(&processes).map(|(fewest, most)| format!(", with {fewest} to {most} processes each"));
    let mut lines = vec![
        format!("Date: {}", run.date),
        format!("Machine: {}, {} cores, {}", run.machine.cpu, run.machine.cores, run.machine.kernel),
        format!("Processor time of other programs: {busy}"),
        format!("Commit: {}", run.commit.as_deref().unwrap_or("unknown")),
        format!("Duels: {}{}", duels.len(), processes.unwrap_or_default()),
        format!("Time without the build: {}", units::time(run.elapsed_s * 1e9)),
    ];
    lines.extend(run.versions.iter().map(|(language, version)| format!("{language}: {version}")));
    lines.extend(run.notes.iter().map(|note| format!("Note: {note}")));
    lines.extend(run.imports.iter().map(|file| format!("Imported: {file}")));
    lines
}

/// Returns the warnings to show beside the figures. Peers that are missing for the same reason share one.
fn warnings(facts: &Facts<'_>) -> Vec<String> {
    let unfit = facts.unfit();
    let mut warnings: Vec<String> =
        unfit.iter().map(|reason| format!("Not fit to publish: {reason}.")).collect();
    if facts.is_portable_only() {
        warnings.push(
            "JSON is compared in the portable build only. sonic-rs and simd-json ask for a build for the processor of the machine, \
             which `cargo xtask bench` compares as well."
                .to_owned(),
        );
    }
    let missing = facts.report.run.missing_peers.iter();
    let missing =
        grouped(missing.map(|one| (&one.reason, format!("{} ({})", one.peer, one.language)))).into_iter();
    warnings.extend(missing.map(|(reason, peers)| format!("Not measured: {}: {reason}.", peers.join(", "))));
    warnings
}

/// Counts results by verdict.
fn verdicts<'s>(standings: impl Iterator<Item = &'s Standing<'s>>) -> String {
    let labels = ["faster", "even", "slower", "undecided", "rough", "no alternative", "not in this run"];
    let mut counts = [0; 7];
    for one in standings {
        counts[labels.iter().position(|label| *label == one.label()).unwrap_or_default()] += 1;
    }
    let shown = labels.iter().zip(counts).filter(|(_, count)| *count > 0);
    let shown: Vec<String> = shown.map(|(label, count)| format!("{count} {label}")).collect();
    let (decided, all) = (counts[..3].iter().sum::<usize>(), counts[..4].iter().sum::<usize>());
    let percent = 100.0 * decided as f64 / all.max(1) as f64;
    format!("{} ({}), {percent:.1} % of {all} decided", counts.iter().sum::<usize>(), shown.join(", "))
}

/// Returns one line per group of similar rows, compared with implementations for which `is_wanted` is true. Only groups
/// of `package`, if one is given.
pub(crate) fn against(
    title: &str,
    package: Option<&str>,
    facts: &Facts<'_>,
    is_wanted: &dyn Fn(&Row) -> bool,
) -> Sheet {
    let groups = facts.sources.groups.iter().enumerate();
    let groups = groups.filter(|(_, group)| package.is_none_or(|package| group.package == package));
    let lines = groups.filter_map(|(index, group)| {
        let of_group = facts.standings.iter().filter(|one| one.group == Some(index));
        let standings = of_group.filter_map(|one| {
            let matches = facts.matches(one.ours?, one.quantity, is_wanted);
            Some(Standing { matches, ..one.clone() }).filter(|one| !one.matches.is_empty())
        });
        let standings: Vec<Standing<'_>> = standings.collect();
        let worst: Vec<&Match<'_>> = standings.iter().filter_map(Standing::worst).collect();
        let values: Vec<f64> = worst.iter().map(|one| one.ratio.value).collect();
        let (low, high) = bounds(&values)?;
        let [median, low, high] = [median(&values)?, low, high].map(units::ratio);
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for one in worst {
            // The name of an implementation begins with that of the library.
            let name = one.other.implementation.split([' ', ',']).next().unwrap_or_default().to_owned();
            *names.entry(shown(&Row { implementation: name, ..one.other.clone() })).or_default() += 1;
        }
        let mut names: Vec<(String, usize)> = names.into_iter().collect();
        names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let more = names.len().saturating_sub(MAX_NAMES);
        let names: Vec<String> = names.into_iter().take(MAX_NAMES).map(|(name, _)| name).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let mut cells = vec![
            format!("`{}`: {}", group.package, group.title),
            format!("{}{more}", names.join(", ")),
            format!("{median}x ({low} to {high})"),
        ];
        let labels = ["faster", "even", "slower", "undecided", "rough"];
        cells.extend(
            labels.map(|label| standings.iter().filter(|one| one.label() == label).count().to_string()),
        );
        cells.push(group.condition.clone());
        Some(cells)
    });
    let columns = "Rows | Compared with | #Median ratio (range) | #Faster | #Even | #Slower | #Undecided | #Rough | Condition";
    Sheet::new(title, columns, lines)
}

/// Lists every result whose median is below 1, the smallest first, with the reason if one is known.
pub(crate) fn slower(facts: &Facts<'_>) -> Sheet {
    let losses = facts.standings.iter().filter_map(|one| Some((one, one.worst()?)));
    let mut losses: Vec<_> = losses.filter(|(_, worst)| worst.ratio.value < 1.0).collect();
    losses.sort_by(|a, b| a.1.ratio.value.total_cmp(&b.1.ratio.value));
    let lines = losses.into_iter().map(|(one, worst)| {
        let build = if worst.build.is_empty() { String::new() } else { format!(" ({} build)", worst.build) };
        vec![
            format!("`{}`", one.name()),
            format!("{}{build}", shown(worst.other)),
            worst.ratio.to_string(),
            one.label().to_owned(),
            if one.is_published { "yes" } else { "no" }.to_owned(),
            facts.remark(one).to_owned(),
        ]
    });
    let columns = "Row | Faster implementation | #Ratio (interval) | Verdict | Published | Reason";
    Sheet::new("Ratios below 1", columns, lines)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::tests::{KEY, go_row, row};
    use crate::model::{Duel, Missing, ProxyRun, Report, Run, SCHEMA};
    use crate::sources::tests::sources;

    pub(crate) fn duel(key: &str, ours: &str, peer: &str, ratios: &[f64]) -> Duel {
        let (key, ours, peer) = (key.to_owned(), ours.to_owned(), peer.to_owned());
        Duel { key, ours, peer, ratios: ratios.to_vec(), processes: 3, ..Duel::default() }
    }

    /// A report with a row that ours wins and one that it loses. Names contain characters that need escaping.
    pub(crate) fn report() -> Report {
        let lost = |name, role, time| {
            let key = "client/client_do_simple".to_owned();
            Row { key, ..row(name, role, Some("owned"), &[time]) }
        };
        let missing = |peer: &str| Missing {
            peer: peer.to_owned(),
            language: "go".to_owned(),
            reason: "`go version` cannot be run here".to_owned(),
        };
        Report {
            schema: SCHEMA,
            run: Run {
                date: "2026-01-02T03:04:05Z".to_owned(),
                commit: Some("abcdef".to_owned()),
                missing_peers: vec![missing("go-sse"), missing("other")],
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
        let sheets: Vec<Sheet> = sources.tables().map(|table| published(table, false, &facts)).collect();
        assert!(
            sheets.iter().all(|sheet| sheet.lines.iter().all(|line| line.cells.len() == sheet.columns.len()))
        );
        assert_eq!(sheets.iter().map(|sheet| sheet.lines.len()).sum::<usize>(), 257);
        let text: String = others(&facts).into_iter().map(|page| page.text).collect();
        assert_eq!(
            line(&text, "Decode_SimpleEvent").join("; "),
            "BenchmarkDecoder_Decode_SimpleEvent-32; 611 ns, 4336 B, 7 allocs, 1798516 iterations; \
             1.56 µs, 4320 B, 6 allocs (perplexity-go); 40.0 ns (push \\; owned); 80.0 ns (a&lt;b); 2.00x (1.95 to 2.05); \
             faster than a&lt;b; 80.0 ns (a&lt;b); 900 ns (standin (our stand-in))"
        );
        assert!(text.contains("not measured: tells how the report was made"));
        let mut report = report.clone();
        let connections = [
            (Quantity::Requests, vec![6e4]),
            (Quantity::Connections, vec![100.0]),
            (Quantity::Errors, vec![0.0]),
        ];
        let row =
            Row { key: "pypi_proxy/connections_max".to_owned(), ..row("pypi-proxy", Role::Ours, None, &[]) };
        report.rows.push(Row { figures: connections.into_iter().collect(), ..row });
        let text: String = others(&Facts::new(&report, &sources)).into_iter().map(|page| page.text).collect();
        assert_eq!(
            line(&text, "Max simultaneous connections")[2..],
            ["60000 requests, 100 connections, 0 errors (pypi-proxy)", ""]
        );
        let rows = &text[text.find("### Suite client: all rows").unwrap()..];
        let cells = line(rows, "client_do_simple");
        assert_eq!(
            cells[1..5],
            ["100 ns (ours)", "95.0 ns (reqwest)", "0.950x (0.940 to 0.960)", "slower than reqwest"]
        );
        assert!(text.contains("0 of 1 duels of equal code show a difference"), "the page about errors");
        assert_eq!(line(&text, "pypi_proxy_store/get ").len(), 2, "lines that share a row");
    }

    #[test]
    fn the_first_page_lists_every_ratio_below_one_and_splits_go() {
        let (mut report, sources) = (report(), sources());
        report.duels[0].ratios = vec![0.97, 0.99, 1.2];
        report.run.busy_after = Some(0.2);
        let page = first(&Facts::new(&report, &sources), "docs/");
        let losses = [
            "`client/client_do_simple (owned)`; reqwest; 0.950x (0.940 to 0.960); slower; yes",
            "`sse/decode_simple_event (owned)`; a&lt;b; 0.990x (0.970 to 1.20); undecided; yes",
        ];
        assert_eq!(
            ["client_do_simple", "decode_simple"].map(|key| line(&page.text, key)[..5].join("; ")),
            losses
        );
        assert!(page.charts[0].1.contains(">0.950 client/client_do_simple, reqwest</text>"));
        let text = page.text;
        for part in [
            "(docs/ratios.svg)",
            "### Compared with our stand-ins",
            "### Compared with the best alternative in Rust",
            "**Not fit to publish: other programs used 20 %",
            "**Not measured: go-sse (go), other (go): `go version` cannot be run here.**",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(!text.contains("### Compared with the best alternative in Go"));
    }

    #[test]
    fn the_terminal_shows_published_tables_then_groups_then_totals() {
        let (mut report, sources) = (report(), sources());
        report.rows.push(Row { key: "sse/tiny_1".to_owned(), ..row("x", Role::Ours, Some("owned"), &[5.0]) });
        let text = terminal(&Facts::new(&report, &sources));
        let find = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
        assert!(
            find("BenchmarkDecoder_Decode_SimpleEvent") < find("tightwire-sse: long and unusual"),
            "{text}"
        );
        assert!(text.contains("80.0 ns (a<b)  2.00x (1.95 to 2.05)  faster\n"), "{text}");
        assert!(
            text.contains("\nAll results: 3 (1 faster, 1 slower, 1 no alternative), 100.0 % of 2 decided.\n"),
            "{text}"
        );
        assert!(
            !text.contains("Published") && !text.contains("ToolCall"),
            "only lines and columns of the comparison"
        );
        assert!(text.lines().filter(|line| !line.contains("Not")).all(|line| line.chars().count() <= 110));
    }

    #[test]
    fn time_over_size_has_a_panel_per_document_and_class() {
        let of = |key: &str, name: &str, role, time: f64, bytes| Row {
            key: key.to_owned(),
            payload_bytes: Some(bytes),
            ..row(name, role, Some("tree"), &[time])
        };
        let rows = vec![
            of("json/twitter_10k_decode", "a", Role::Ours, 10_000.0, 10_000),
            of("json/twitter_10k_decode", "b", Role::Peer, 20_000.0, 10_000),
            of("json/twitter_1m_decode", "a", Role::Ours, 2e6, 1_000_000),
            of("json/pretty", "a", Role::Ours, 5.0, 5),
        ];
        let (report, sources) = (Report { rows, ..Report::default() }, sources());
        let svg = sizes(&Facts::new(&report, &sources)).unwrap();
        assert_eq!(svg.matches(">twitter decode<").count(), 1);
        assert!(
            svg.contains(">10.0 kB<") && svg.contains(">1.00 MB<") && svg.contains(">2.00 µs/kB<"),
            "{svg}"
        );
    }
}
