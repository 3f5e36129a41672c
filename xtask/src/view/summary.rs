//! The first page: one table per question, every row that is not faster, the proxy under load, and the method.

use std::collections::BTreeSet;

use super::{LANGUAGES, NONE, range};
use crate::join::{Facts, Sources, Standing, Summary, distinct};
use crate::markdown;
use crate::model::{LEAST_RATIO, MIN_PROCESSES, Outcome, Ratio, Report, Role, Row, Sheet};
use crate::quantity::{self as units, Quantity};

/// Number of libraries named in a line.
const MAX_NAMES: usize = 3;

/// Returns the first page without its title.
pub(crate) fn text(report: &Report, sources: &Sources) -> String {
    let facts = Facts::new(report, sources);
    let standings = facts.standings();
    let facts_of_run = run_facts(report).into_iter().map(|(name, value)| format!("{name}: {value}"));
    let warnings = warnings(report).into_iter().map(|warning| format!("**{warning}**"));
    let questions = [
        against("Compared with the best Rust library", "rust", &facts, sources),
        against("Compared with the Go library", "go", &facts, sources),
        interpreted(&facts, sources),
    ];
    let mut text = "\n## Run\n".to_owned();
    text += &markdown::list(facts_of_run.chain(warnings));
    text += &format!("\n## Overview\n\n{}\n", tally(&standings));
    questions.iter().chain(&changes(report)).for_each(|sheet| text += &markdown::table(sheet));
    text += &format!(
        "\n## Rows that are not faster\n\nAll rows of this run in which another implementation is faster, published or \
         not. A row counts as faster or slower only if the whole interval of its ratio is beyond {LEAST_RATIO}.\n"
    );
    text += &markdown::table(&slower(&standings, |standing, ratio| {
        let published = if standing.is_published { ", published" } else { "" };
        format!("{} compared with {}{published}", range(ratio), ratio.against)
    }));
    text += &markdown::table(&unsettled(&facts, sources));
    text += &format!("\n## The proxy under load\n\n{}", load(report, sources));
    text + "\n## Method\n" + &markdown::list(METHOD)
}

fn run_facts(report: &Report) -> Vec<(String, String)> {
    let run = &report.run;
    let busy = |part: Option<f64>| {
        part.map_or_else(|| "unknown".to_owned(), |part| format!("{:.1} %", 100.0 * part))
    };
    let machine = format!("{}, {} cores, {}", run.machine.cpu, run.machine.cores, run.machine.kernel);
    let elapsed = units::time(run.elapsed_s * 1e9);
    let mut facts = vec![
        ("Date".to_owned(), run.date.clone()),
        ("Machine".to_owned(), machine),
        (
            "Processor time of other programs".to_owned(),
            format!("{} before, {} after", busy(run.busy_before), busy(run.busy_after)),
        ),
        ("Commit".to_owned(), run.commit.clone().unwrap_or_else(|| "unknown".to_owned())),
        (
            "Sampling".to_owned(),
            format!("{} processes per side, {}; {elapsed} without the build", run.rounds, run.settings),
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
        report.run.unfit().iter().map(|reason| format!("Not fit to publish: {reason}.")).collect();
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

/// Counts the results of the published benchmarks and of all rows.
fn tally(standings: &[Standing<'_>]) -> String {
    let counts = |is_wanted: &dyn Fn(&&Standing<'_>) -> bool| {
        let wanted: Vec<_> = standings.iter().filter(is_wanted).collect();
        let labels = ["faster", "even", "slower", "undecided", "no alternative", "not in this run"];
        let counts = labels.map(|label| (label, wanted.iter().filter(|one| one.label() == label).count()));
        let counts = counts.iter().filter(|(_, count)| *count > 0);
        let counts: Vec<String> = counts.map(|(label, count)| format!("{count} {label}")).collect();
        format!("{} ({})", wanted.len(), counts.join(", "))
    };
    format!(
        "Each row is compared with the fastest other implementation of the same class, in any language; a row has a \
         result per class of ours. Results of published benchmarks: {}. Of all rows: {}.",
        counts(&|one| one.is_published),
        counts(&|_| true)
    )
}

pub(crate) fn median_of(summary: &Summary) -> String {
    let ratio = units::ratio;
    match summary.low == summary.high {
        true => format!("{}x", ratio(summary.median)),
        false => format!("{}x ({} to {})", ratio(summary.median), ratio(summary.low), ratio(summary.high)),
    }
}

pub(crate) fn names_of(summary: &Summary) -> String {
    let mut names = summary.names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if summary.names.len() > MAX_NAMES {
        names += &format!(" and {} more", summary.names.len() - MAX_NAMES);
    }
    names
}

/// Returns one line per group of similar rows, compared with the best library of a language in each row.
fn against(title: &str, language: &str, facts: &Facts<'_>, sources: &Sources) -> Sheet {
    let lines = sources.groups.groups.iter().filter_map(|group| {
        let summary = facts.summary(group, &|row| row.language == language)?;
        let mut line =
            vec![format!("`{}`: {}", group.package, group.title), names_of(&summary), median_of(&summary)];
        line.extend(summary.outcomes.map(|count| count.to_string()));
        line.push(group.condition.clone());
        Some(line)
    });
    let columns =
        "Rows | Compared with | #Median ratio (range) | #Faster | #Even | #Slower | #Undecided | Condition";
    Sheet::new(title, columns, lines)
}

/// Returns one line per group, compared with the best libraries of Python, Node.js and PowerShell.
fn interpreted(facts: &Facts<'_>, sources: &Sources) -> Sheet {
    let languages = &LANGUAGES[2..];
    let lines = sources.groups.groups.iter().filter_map(|group| {
        let cells: Vec<Option<String>> = languages
            .iter()
            .map(|(language, _)| {
                let summary = facts.summary(group, &|row| row.language == *language)?;
                Some(format!("{} {}", median_of(&summary), names_of(&summary)))
            })
            .collect();
        let has_any = cells.iter().any(Option::is_some);
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| NONE.to_owned()));
        has_any
            .then(|| std::iter::once(format!("`{}`: {}", group.package, group.title)).chain(cells).collect())
    });
    let headings: Vec<&str> = languages.iter().map(|(_, label)| *label).collect();
    let columns = format!("Rows | {}", headings.join(" | "));
    Sheet::new("Compared with Python, Node.js and PowerShell", &columns, lines)
}

/// Lists every row that is slower, with the reason if one is known. Rows with the same reason share a line.
pub(crate) fn slower(
    standings: &[Standing<'_>],
    describe: impl Fn(&Standing<'_>, &Ratio) -> String,
) -> Sheet {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for standing in standings.iter().filter(|standing| standing.is(Outcome::Slower)) {
        let Some(ratio) = &standing.ratio else { continue };
        let reason = standing.remark.clone().unwrap_or_else(|| NONE.to_owned());
        let row = format!("`{}` {}", standing.name(), describe(standing, ratio));
        match lines.iter_mut().find(|(other, _)| *other == reason && reason != NONE) {
            Some((_, rows)) => rows.push(row),
            None => lines.push((reason, vec![row])),
        }
    }
    let lines = lines.into_iter().map(|(reason, rows)| vec![rows.join(", "), reason]);
    Sheet::new("Slower", "Slower rows | Reason", lines)
}

/// Lists the rows that are even or undecided, one line per group.
fn unsettled(facts: &Facts<'_>, sources: &Sources) -> Sheet {
    let standings = facts.standings();
    let lines = sources.groups.groups.iter().filter_map(|group| {
        let of_group = || standings.iter().filter(|one| facts.is_in(group, &one.key));
        let listed = |outcome| {
            let rows = of_group().filter(|standing| standing.is(outcome)).filter_map(|standing| {
                let ratio = standing.ratio.as_ref()?;
                let name = standing.name();
                let name = name.split_once('/').map_or(name.as_str(), |(_, name)| name);
                Some(format!("{name} {}x", units::ratio(ratio.value)))
            });
            let rows: Vec<String> = rows.collect();
            if rows.is_empty() { NONE.to_owned() } else { rows.join(", ") }
        };
        let line = vec![group.title.clone(), listed(Outcome::Even), listed(Outcome::Undecided)];
        (line[1] != NONE || line[2] != NONE).then_some(line)
    });
    Sheet::new("Even or undecided", "Rows | Even | Undecided", lines)
}

/// Returns the changes since an earlier report.
fn changes(report: &Report) -> Option<Sheet> {
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
    let columns =
        "Row | #Before | #Now | #Drift of peers | #Change beside them | #Noise | Allocations | Verdict";
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
    Some(Sheet::new("Changes", columns, lines).with_notes(notes))
}

/// Returns tables of the processor time of every server by request, and of memory, start-up time and upstream
/// requests.
fn load(report: &Report, sources: &Sources) -> String {
    let Some(run) = &report.load else {
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
            let body = ours.payload_bytes.map(|bytes| units::bytes(bytes as f64));
            let mut line = vec![ours.name().to_owned(), body.unwrap_or_else(|| NONE.to_owned())];
            line.extend(servers.iter().map(|server| {
                let row = find(key, server).filter(|row| row.value(quantity).is_some());
                row.map_or_else(|| NONE.to_owned(), |row| server_cell(row, ours, quantity))
            }));
            Some(line)
        });
        Sheet::new(title, &format!("Request | #Body | #{}", servers.join(" | #")), lines)
    };
    let text = "Every server writes one line per request to an access log. Load generator, servers and index share the \
                machine, so the processor time per request is compared, not the rate. Body is the size of our response; \
                `*` marks a server whose response has other content or another coding, which is not compared.";
    let single = [Quantity::Memory, Quantity::Start, Quantity::Fetches];
    let remark = sources.rows.remark("pypi_proxy/startup", None);
    [
        format!("{text}\n"),
        markdown::table(&table("Processor time per request", &[Quantity::CpuPerRequest])),
        markdown::table(&table("Peak memory, start-up time, and upstream requests for one file", &single)),
        remark.map_or_else(String::new, |remark| format!("\nStart-up: {remark}.\n")),
    ]
    .concat()
}

/// Returns the figure of a server, marked if its response cannot be compared with ours.
fn server_cell(row: &Row, ours: &Row, quantity: Quantity) -> String {
    let is_alike = ours.class.is_some() && row.class == ours.class || quantity != Quantity::CpuPerRequest;
    let value = row.value(quantity).map_or_else(|| NONE.to_owned(), |value| quantity.format(value));
    format!("{value}{}", if is_alike { "" } else { " *" })
}

/// Describes the method. Details are in `benches/README.md`.
const METHOD: [&str; 10] = [
    "Each side of a row runs in processes of its own. The sides take turns within seconds, in reverse order every other round, so that a change of the machine's load affects all of them.",
    "A ratio is the median time of the other implementation divided by that of ours; above 1, ours is faster. Its interval comes from the ratios of the rounds: with ten rounds, second smallest and second largest (97.9 % confidence).",
    "\"Faster\" and \"slower\" need ten processes per side and an interval that is completely beyond 1.02. Rows whose processes form two groups are \"undecided\", as are rows with fewer processes.",
    "Processes of rows that use one thread are pinned to one processor. That includes HTTP requests: Go then has one thread as well. Samples in Rust and Go are taken while no other thread shares the core, as far as possible: a short calculation before and after each sample detects it.",
    "Only implementations of the same class are compared: the same input, the same kind of result. The result of every implementation is checked before it is timed.",
    "Allocations are counted in a separate pass. Go rounds sizes up to its size classes, and reports mean times instead of medians.",
    "Published figures come from other machines, recorded ones from an earlier run of the Go projects; no ratio uses either. Where the Go project is not available as a module, our own Go program with its algorithm takes its place (`original-standin`).",
    "A group's ratio is the median over its rows. Groups contain similar rows only; no figure combines unlike rows.",
    "Distant implementations (more than 1.5 times the best of their class and language) and those of interpreters have three processes.",
    "We wrote the benchmarks and one of the sides. All implementations of all rows are in `docs/benchmarks/report.json`, also those that are faster than ours.",
];

const _: () = assert!(MIN_PROCESSES == 10, "METHOD names the number");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::tests::{report, sources};

    #[test]
    fn slower_rows_are_listed() {
        let (report, sources) = (report(), sources());
        let standings = Facts::new(&report, &sources).standings();
        let text = tally(&standings);
        assert!(text.contains("published benchmarks: 84 (1 faster, 1 slower, 82 not in this run)"), "{text}");
        let lost =
            slower(&standings, |standing, ratio| format!("{} {}", ratio.against, standing.is_published));
        assert_eq!(lost.lines.len(), 1);
        assert_eq!(lost.lines[0].cells[0], "`client/client_do_simple (owned)` reqwest true");
    }

    #[test]
    fn a_question_has_a_line_per_group() {
        let (report, sources) = (report(), sources());
        let facts = Facts::new(&report, &sources);
        let rust = against("Rust", "rust", &facts, &sources);
        assert_eq!(rust.lines.len(), 2, "two groups have rows");
        assert_eq!(rust.lines[0].cells[1..7], ["a<b", "2.00x", "1", "0", "0", "0"]);
        let go = against("Go", "go", &facts, &sources);
        assert_eq!(go.lines[0].cells[1..3], ["original-standin", "22.5x"]);
        assert!(interpreted(&facts, &sources).lines.is_empty());
    }

    #[test]
    fn peers_missing_for_the_same_reason_share_a_warning() {
        let mut report = report();
        let mut second = report.run.missing_peers[0].clone();
        "another".clone_into(&mut second.peer);
        report.run.missing_peers.push(second);
        report.run.is_quick = true;
        assert_eq!(
            warnings(&report),
            [
                "Not fit to publish: a quick run.",
                "Not measured: go-sse (go), another (go): `go version` cannot be run here."
            ]
        );
    }
}
