//! The first page: verdicts, a chart of all rows, every row that is not faster, medians by group, and the method.

use std::collections::BTreeMap;

use crate::chart::{self, Dot, Panel, Strip};
use crate::facts::{Facts, NATIVE, Standing, Summary, distinct, range, shown};
use crate::model::{EVEN, LEAST_RATIO, Outcome, Report, Role, Row};
use crate::pages::{Chart, LANGUAGES};
use crate::quantity::{self as units, Quantity};
use crate::sources::Group;
use crate::table::{NONE, Sheet, list};

/// Number of libraries named in a line.
const MAX_NAMES: usize = 3;
/// Alternative text of the chart.
const DOTS: &str = "Ratio of every row with its interval, by group; rows in which another implementation is faster at the top";
pub(crate) const SIZES: &str = "Time per kilobyte of JSON over the size of the document: ours (solid) and the best Rust library (dashed)";

/// Returns the first page without its title. `folder` is the path of the other pages.
pub(crate) fn text(facts: &Facts<'_>, folder: Option<&str>) -> String {
    let standings = facts.standings();
    let all: Vec<&Standing<'_>> = standings.iter().collect();
    let published: Vec<&Standing<'_>> = standings.iter().filter(|one| one.is_published).collect();
    let path = folder.map_or_else(String::new, |folder| format!("{folder}/"));
    let link = |name: &str, id: &str| match folder {
        Some(_) => format!("[{name}]({path}{id}.md)"),
        None => format!("\"{name}\""),
    };
    let mut text = format!(
        "\n## Overview\n\nA ratio is the time of another implementation divided by ours: above 1, ours is faster. Each row is \
         compared with the fastest other implementation of the same class, in any language; a row has a result per class of \
         ours. Faster and slower mean that the whole interval of the ratio is beyond {LEAST_RATIO}, even that it is within {} \
         to {}.\n\n- Results of published benchmarks: {}.\n- Of all rows: {}.\n",
        EVEN.start(),
        EVEN.end(),
        verdicts(&published),
        verdicts(&all)
    );
    for warning in warnings(facts) {
        text += &format!("- **{}**\n", crate::table::escaped(&warning));
    }
    if standings.iter().any(|one| one.worst().is_some()) {
        text += &format!("\n![{DOTS}]({path}ratios.svg)\n");
    }
    text += "\n## Every row in which another implementation is faster\n\nAll results whose ratio has a median below 1, published or \
             not, decided or not. `~` marks a rough ratio of two single figures.\n";
    text += &slower(&standings).markdown();
    text += &unsettled(facts, &standings).markdown();
    text += "\n## By group\n\nEach table has all groups with such an alternative. The median and the range are those of the rows of a group; \
             each row counts with its smallest ratio.\n";
    let is_go = |row: &Row| row.language == "go" && row.role != Role::OriginalStandin;
    let sheets = [
        against("Compared with the fastest alternative in any language", facts, &|_| true),
        against("Compared with the best Rust library", facts, &|row| row.language == "rust"),
        against("Compared with the best Go library", facts, &|row| is_go(row) && !is_standard(row)),
        against("Compared with Go's standard library", facts, &|row| is_go(row) && is_standard(row)),
        against("Compared with our stand-ins of Go projects that cannot be imported", facts, &|row| {
            row.role == Role::OriginalStandin
        }),
        other_languages(facts),
    ];
    sheets.iter().chain(&changes(facts.report)).for_each(|sheet| text += &sheet.markdown());
    text += &format!("\n## The proxy under load\n\n{}", load(facts));
    text += &format!(
        "\n## Run\n{}",
        list(run_facts(facts.report).map(|(name, value)| format!("{name}: {value}")))
    );
    let flags = &facts.report.run.machine.flags;
    if !flags.is_empty() {
        text += &format!("\n<details><summary>Processor flags</summary>\n\n{flags}\n\n</details>\n");
    }
    text += &format!("\n## Method\n{}", list(METHOD));
    text += &format!(
        "\nThe limits of the method, and the duels of equal code, are on the page {}; earlier runs are on the page {}.\n{DISPUTE}",
        link("How we could be wrong", "how-we-could-be-wrong"),
        link("History", "history")
    );
    text
}

/// Returns the drawing of the first page.
pub(crate) fn chart(facts: &Facts<'_>) -> Option<Chart> {
    let standings = facts.standings();
    let svg = dots(DOTS, &standings.iter().collect::<Vec<_>>(), facts)?;
    Some(Chart { id: "ratios".to_owned(), svg })
}

/// Draws the ratio of each result, those below 1 with their names at the top.
pub(crate) fn dots(title: &str, standings: &[&Standing<'_>], facts: &Facts<'_>) -> Option<String> {
    let dot = |one: &&&Standing<'_>| {
        let worst = one.worst()?;
        let class = one.outcome().map_or("rough", Outcome::label);
        let ratio = &worst.ratio;
        let (low, value, high) = (ratio.low, ratio.value, ratio.high);
        let other = shown(worst.other);
        let (label, short) = (format!("{}, {other}", one.name()), format!("{}, {other}", one.key));
        Some(Dot { label, short, low, value, high, class })
    };
    let mut losses: Vec<Dot> =
        standings.iter().filter_map(|one| dot(&one)).filter(|dot| dot.value < 1.0).collect();
    losses.sort_by(|a, b| a.value.total_cmp(&b.value));
    let named = Strip {
        title: "Another implementation is faster".to_owned(),
        note: format!("{} results", losses.len()),
        dots: losses,
    };
    let strips = facts.sources.groups.iter().filter_map(|group| {
        let dots = standings.iter().filter(|one| facts.is_in(group, one.key));
        let dots: Vec<Dot> = dots.filter_map(|one| dot(&one)).collect();
        let values: Vec<f64> = dots.iter().map(|dot| dot.value).collect();
        let median = crate::stats::median(&values)?;
        let title = group.name();
        let title = title.trim_start_matches("tightwire-").to_owned();
        Some(Strip { title, note: format!("{}x", units::ratio(median)), dots })
    });
    chart::ratios(title, &named, &strips.collect::<Vec<_>>())
}

/// Draws the time per kilobyte of JSON documents that occur in several sizes, such as `twitter_10k_decode`.
pub(crate) fn sizes(facts: &Facts<'_>) -> Option<String> {
    let is_size = |part: &&str| {
        part.strip_suffix(['k', 'm'])
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // Size, and time per kilobyte of ours and of the other, by document, operation and class.
    let mut rows: BTreeMap<(String, &str), Vec<[f64; 3]>> = BTreeMap::new();
    for one in facts.standings() {
        let Some((ours, name)) = one.ours.zip(one.key.strip_prefix("json/")) else { continue };
        let Some((size, class)) = ours.payload_bytes.zip(ours.class.as_deref()) else { continue };
        let (sizes, words): (Vec<&str>, Vec<&str>) = name.split('_').partition(is_size);
        let per_kilobyte = |row: &Row| Some(row.value(Quantity::Time)? * 1e3 / size as f64);
        let rust = facts.matches(ours, Quantity::Time, &|row| row.language == "rust");
        if let (false, Some(time)) = (sizes.is_empty(), per_kilobyte(ours)) {
            let other = rust.first().and_then(|one| per_kilobyte(one.other)).unwrap_or(f64::NAN);
            rows.entry((words.join(" "), class)).or_default().push([size as f64, time, other]);
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

fn run_facts(report: &Report) -> impl Iterator<Item = (String, String)> {
    let run = &report.run;
    let busy = |part: Option<f64>| {
        part.map_or_else(|| "unknown".to_owned(), |part| format!("{:.1} %", 100.0 * part))
    };
    let processes: Vec<f64> = report.duels.iter().map(|duel| duel.processes as f64).collect();
    let number = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.0}"));
    let processes = format!(
        "{}, with {} to {} processes each",
        report.duels.len(),
        number(crate::stats::minimum(&processes)),
        number(crate::stats::maximum(&processes))
    );
    let mut facts = vec![
        ("Date", run.date.clone()),
        ("Machine", format!("{}, {} cores, {}", run.machine.cpu, run.machine.cores, run.machine.kernel)),
        (
            "Processor time of other programs",
            format!("{} before, {} after", busy(run.busy_before), busy(run.busy_after)),
        ),
        ("Commit", run.commit.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("Duels", processes),
        ("Time without the build", units::time(run.elapsed_s * 1e9)),
    ];
    facts.extend(run.versions.iter().map(|(language, version)| (language.as_str(), version.clone())));
    facts.extend(run.notes.iter().map(|note| ("Note", note.clone())));
    if !run.imports.is_empty() {
        facts.push(("Imported", run.imports.join(", ")));
    }
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Vec<_>>().into_iter()
}

/// Returns the warnings to show beside the figures. Peers that are missing for the same reason share one.
pub(crate) fn warnings(facts: &Facts<'_>) -> Vec<String> {
    let mut warnings: Vec<String> =
        facts.unfit().iter().map(|reason| format!("Not fit to publish: {reason}.")).collect();
    if facts.is_portable_only() {
        warnings.push(
            "JSON is compared in the portable build only. sonic-rs and simd-json ask for a build for the processor of the machine, \
             which `cargo xtask bench` compares as well."
                .to_owned(),
        );
    }
    warnings.extend(facts.missing().into_iter().map(|(reason, peers)| {
        let names: Vec<String> = peers.iter().map(|one| format!("{} ({})", one.peer, one.language)).collect();
        format!("Not measured: {}: {reason}.", names.join(", "))
    }));
    warnings
}

/// Counts results by verdict.
pub(crate) fn verdicts(standings: &[&Standing<'_>]) -> String {
    let count = |label| standings.iter().filter(|one| one.label() == label).count();
    let labels = ["faster", "even", "slower", "undecided", "rough", "no alternative", "not in this run"];
    let counts = labels.map(|label| (count(label), label));
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    let shown: Vec<String> = shown.map(|(count, label)| format!("{count} {label}")).collect();
    let decided: usize = counts[..3].iter().map(|(count, _)| count).sum();
    let all = decided + counts[3].0;
    let part = if all == 0 {
        String::new()
    } else {
        format!(", {:.1} % decided", 100.0 * decided as f64 / all as f64)
    };
    format!("{} ({}){part}", standings.len(), shown.join(", "))
}

/// Returns a figure with its unit.
pub(crate) fn figure(row: &Row, quantity: Quantity) -> String {
    row.value(quantity).map_or_else(|| NONE.to_owned(), |value| quantity.format(value))
}

fn median_of(summary: &Summary) -> String {
    let ratio = units::ratio;
    match summary.low == summary.high {
        true => format!("{}x", ratio(summary.median)),
        false => format!("{}x ({} to {})", ratio(summary.median), ratio(summary.low), ratio(summary.high)),
    }
}

fn names_of(summary: &Summary) -> String {
    let mut names = summary.names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if summary.names.len() > MAX_NAMES {
        names += &format!(" and {} more", summary.names.len() - MAX_NAMES);
    }
    names
}

/// Returns whether a peer is part of Go's standard library.
fn is_standard(row: &Row) -> bool {
    ["encoding", "net-http", "net/http", "bufio"].iter().any(|name| row.implementation.starts_with(name))
}

/// Returns one line per group of similar rows, compared with implementations for which `is_wanted` is true.
pub(crate) fn against(title: &str, facts: &Facts<'_>, is_wanted: &dyn Fn(&Row) -> bool) -> Sheet {
    groups(title, facts, is_wanted, &|_| true)
}

/// Returns one line per group for which `is_shown` is true.
pub(crate) fn groups(
    title: &str,
    facts: &Facts<'_>,
    is_wanted: &dyn Fn(&Row) -> bool,
    is_shown: &dyn Fn(&Group) -> bool,
) -> Sheet {
    let lines = facts.sources.groups.iter().filter(|group| is_shown(group)).filter_map(|group| {
        let summary = facts.summary(group, is_wanted)?;
        let counts = summary.outcomes.into_iter().chain([summary.rough]).map(|count| count.to_string());
        let names =
            [format!("`{}`: {}", group.package, group.title), names_of(&summary), median_of(&summary)];
        Some(names.into_iter().chain(counts).chain([group.condition.clone()]).collect())
    });
    let columns = "Rows | Compared with | #Median ratio (range) | #Faster | #Even | #Slower | #Undecided | #Rough | Condition";
    Sheet::new(title, columns, lines)
}

/// Returns one line per group, compared with the best libraries of the languages besides Rust and Go.
fn other_languages(facts: &Facts<'_>) -> Sheet {
    let languages = &LANGUAGES[2..];
    let lines = facts.sources.groups.iter().filter_map(|group| {
        let cells = languages.iter().map(|(language, _)| {
            let summary = facts.summary(group, &|row| row.language == *language);
            summary.map_or_else(
                || NONE.to_owned(),
                |summary| format!("{} {}", median_of(&summary), names_of(&summary)),
            )
        });
        let cells: Vec<String> = cells.collect();
        let name = format!("`{}`: {}", group.package, group.title);
        cells.iter().any(|cell| cell != NONE).then(|| std::iter::once(name).chain(cells).collect())
    });
    let headings: Vec<&str> = languages.iter().map(|(_, label)| *label).collect();
    let sheet =
        Sheet::new("Compared with other languages", &format!("Rows | {}", headings.join(" | ")), lines);
    sheet.without_empty_columns()
}

/// Lists every result whose median is below 1, the smallest first, with the reason if one is known.
pub(crate) fn slower(standings: &[Standing<'_>]) -> Sheet {
    let losses =
        standings.iter().filter_map(|one| Some((one, one.worst().filter(|worst| worst.ratio.value < 1.0)?)));
    let mut losses: Vec<_> = losses.collect();
    losses.sort_by(|a, b| a.1.ratio.value.total_cmp(&b.1.ratio.value));
    let lines = losses.into_iter().map(|(one, worst)| {
        let build = if worst.build == NATIVE { " (native build)" } else { "" };
        vec![
            format!("`{}`", one.name()),
            format!("{}{build}", shown(worst.other)),
            range(&worst.ratio),
            one.label().to_owned(),
            if one.is_published { "yes" } else { "no" }.to_owned(),
            one.remark.unwrap_or_default().to_owned(),
        ]
    });
    let columns = "Row | Faster implementation | #Ratio (interval) | Verdict | Published | Reason";
    Sheet::new("Ratios below 1", columns, lines)
}

/// Lists the rows that are even or undecided and not below 1, one line per group.
fn unsettled(facts: &Facts<'_>, standings: &[Standing<'_>]) -> Sheet {
    let lines = facts.sources.groups.iter().filter_map(|group| {
        let listed = |outcome| {
            let of_group =
                standings.iter().filter(|one| facts.is_in(group, one.key) && one.outcome() == Some(outcome));
            let rows = of_group.filter_map(|one| {
                let ratio = one.worst().map(|worst| &worst.ratio).filter(|ratio| ratio.value >= 1.0)?;
                let name = one.name();
                Some(format!("{} {}", name.split_once('/').map_or(&*name, |(_, name)| name), range(ratio)))
            });
            let rows: Vec<String> = rows.collect();
            if rows.is_empty() { NONE.to_owned() } else { rows.join(", ") }
        };
        let line = vec![group.name(), listed(Outcome::Even), listed(Outcome::Undecided)];
        (line[1] != NONE || line[2] != NONE).then_some(line)
    });
    Sheet::new("Even or undecided, with a median of 1 or more", "Rows | Even | Undecided", lines)
}

/// Returns the changes since an earlier report.
fn changes(report: &Report) -> Option<Sheet> {
    let comparison = report.comparison.as_ref()?;
    let changed = comparison.changes.iter().filter(|change| change.verdict.label() != "unchanged");
    let lines = changed.map(|change| {
        let (what, write): (&str, fn(f64) -> String) = match change.peer.is_empty() {
            true => ("allocations", units::per_op),
            false => (&change.peer, |ratio| format!("{}x", units::ratio(ratio))),
        };
        let cells = [change.row.clone(), what.to_owned(), write(change.before), write(change.after)];
        cells.into_iter().chain([change.verdict.label().to_owned()]).collect()
    });
    let note = format!(
        "Since {}, commit {}: {} duels and counts of ours compared, {} regressions; unchanged ones are left out. A ratio changed if it \
         did by more than 5 % and the intervals do not overlap.",
        comparison.date,
        comparison.commit.as_deref().unwrap_or("unknown"),
        comparison.changes.len(),
        comparison.regressions()
    );
    Some(Sheet::new("Changes", "Row | Ratio to | #Before | #Now | Verdict", lines).with_notes(vec![note]))
}

/// Returns tables of the processor time of every server by request, and of memory, start-up time and upstream
/// requests.
fn load(facts: &Facts<'_>) -> String {
    let Some(run) = &facts.report.load else {
        return "Not measured in this run; `cargo xtask load` measures it.\n".to_owned();
    };
    let servers = distinct(run.rows.iter().map(|row| row.implementation.as_str()));
    let keys = distinct(run.rows.iter().map(|row| row.key.as_str()));
    let find =
        |key: &str, server: &str| run.rows.iter().find(|row| row.key == key && row.implementation == server);
    let table = |title: &str, quantities: &[Quantity]| {
        let lines = keys.iter().filter_map(|key| {
            let ours = run.rows.iter().find(|row| row.key == *key && row.role == Role::Ours)?;
            let quantity = *quantities.iter().find(|quantity| ours.value(**quantity).is_some())?;
            let body = ours.payload_bytes.map_or_else(|| NONE.to_owned(), |bytes| units::bytes(bytes as f64));
            let servers = servers.iter().map(|server| {
                let is_alike = |row: &&Row| row.class == ours.class || quantity != Quantity::CpuPerRequest;
                let row = find(key, server).filter(|row| row.value(quantity).is_some());
                let mark = if row.is_none_or(|row| is_alike(&row)) { "" } else { " *" };
                row.map_or_else(|| NONE.to_owned(), |row| format!("{}{mark}", figure(row, quantity)))
            });
            Some([ours.name().to_owned(), body].into_iter().chain(servers).collect())
        });
        Sheet::new(title, &format!("Request | #Body | #{}", servers.join(" | #")), lines)
    };
    let text = "Load generator, servers and index share the machine, so the processor time per request is compared, not the rate. Body \
                is the size of our response; `*` marks a server whose response has other content or another coding, which is not \
                compared.";
    let single = [Quantity::Memory, Quantity::Start, Quantity::Fetches];

    [
        format!("{text}\n"),
        table("Processor time per request", &[Quantity::CpuPerRequest]).markdown(),
        table("Peak memory, start-up time, and upstream requests for one file", &single).markdown(),
    ]
    .concat()
}

/// How to report a wrong adapter.
pub(crate) const DISPUTE: &str = "\n### To dispute a figure\n\nThe call of each peer is a few lines in the package of its suite (`benches/*-bench`) or, in \
    other languages, in `benches/peers`. If yours is slower than its documentation promises: change these lines, run \
    `cargo bench -p SUITE-bench -- ROW` (a peer in another language: `cargo xtask bench SYSTEM --row ROW`), and send the change or the \
    lines as an issue. A correct adapter that is faster is merged whatever it does to our ratio. Results that differ from ours are \
    rejected before anything is timed, so a faster call must return the same value. All pairs of times are in `pairs.csv.gz` beside \
    `report.json`.\n";

/// Describes the method. Details are in `benches/README.md`.
const METHOD: [&str; 8] = [
    "Two implementations of a row are in one process and take turns in slices of 0.3 to 1 ms, or one operation if that is longer: A B, B A, A B. Two neighbouring slices give one ratio, so that a disturbance hits both or is an outlier, which the median ignores.",
    "Inputs and buffers are placed at new random addresses several times per process, and each duel has 3 to 20 processes. The ratio of a row is the median over all placements, with the confidence interval (95 % or more) of the order statistics.",
    "Every implementation is screened once for some milliseconds. Ours then has duels with the fastest of each language, and with the second fastest if it takes less than 1.5 times as long; the smallest ratio counts. `~` marks the times of others.",
    "Peers in other languages are programs that stay alive and run beside ours on the same processor. Garbage collection is inside their time.",
    "Only implementations of the same class are compared: the same input, the same kind of result. The result of every implementation is checked before it is timed.",
    "JSON is compared in two builds of both sides, portable and for the processor of the machine. Ours counts as faster only if it is faster in each build that was measured.",
    "Requests of the client suite go over loopback, with client and server in one process. Servers of the proxy under load take turns in short rounds; their ratios are those of the rounds.",
    "Allocations are counted in a separate pass. Published figures come from other machines; no ratio uses them, nor figures recorded earlier.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Duel;
    use crate::model::tests::{KEY, row};
    use crate::pages::tests::report;
    use crate::sources::tests::sources;

    #[test]
    fn every_ratio_below_one_is_listed_decided_or_not() {
        let (mut report, sources) = (report(), sources());
        report.duels[0].ratios = vec![0.97, 0.99, 1.2];
        let facts = Facts::new(&report, &sources);
        let sheet = slower(&facts.standings());
        let cells: Vec<String> = sheet.lines.iter().map(|line| line.cells[..5].join("; ")).collect();
        assert_eq!(
            cells,
            [
                "`client/client_do_simple (owned)`; reqwest; 0.950x (0.940 to 0.960); slower; yes",
                "`sse/decode_simple_event (owned)`; a<b; 0.990x (0.970 to 1.20); undecided; yes"
            ]
        );
        let svg = dots("t", &facts.standings().iter().collect::<Vec<_>>(), &facts).unwrap();
        assert!(svg.contains(">0.950 client/client_do_simple, reqwest</text>"), "{svg}");
    }

    #[test]
    fn go_is_split_by_kind_of_library() {
        let (report, sources) = (report(), sources());
        let text = text(&Facts::new(&report, &sources), Some("docs"));
        assert!(text.contains("### Compared with our stand-ins"), "{text}");
        assert!(
            !text.contains("### Compared with the best Go library")
                && text.contains("standin (our stand-in)")
        );
        assert!(text.contains("](docs/ratios.svg)") && text.contains("](docs/how-we-could-be-wrong.md)"));
    }

    #[test]
    fn peers_missing_for_the_same_reason_share_a_warning() {
        let (mut report, sources) = (report(), sources());
        let mut second = report.run.missing_peers[0].clone();
        "another".clone_into(&mut second.peer);
        report.run.missing_peers.push(second);
        report.run.busy_after = Some(0.2);
        let expected = [
            "Not fit to publish: other programs used 20 % of the processors at the end.",
            "Not measured: go-sse (go), another (go): `go version` cannot be run here.",
        ];
        assert_eq!(warnings(&Facts::new(&report, &sources)), expected);
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

    #[test]
    fn a_run_with_many_undecided_rows_or_unequal_twins_is_unfit() {
        let (mut report, sources) = (report(), sources());
        assert_eq!(Facts::new(&report, &sources).unfit(), [""; 0]);
        report.duels[2].ratios = vec![1.05, 1.06, 1.07];
        report.duels[3].ratios = vec![0.9, 1.0, 1.1];
        let reasons = ["1 of 2 results are undecided", "1 of 1 duels of equal code show a difference"];
        assert_eq!(Facts::new(&report, &sources).unfit(), reasons);
        let duel = Duel { key: KEY.to_owned(), ..Duel::default() };
        assert_eq!(duel.ratio(), None);
    }
}
