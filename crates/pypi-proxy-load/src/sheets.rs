//! Tables of a load run.

use crate::output::{Sheet, bytes, memory, millis, optional, time};
use crate::results::Outcome;
use crate::rows::ROWS;

/// Returns all tables.
pub(crate) fn sheets(outcome: &Outcome) -> Vec<Sheet> {
    vec![rows(outcome), cold(outcome), single(outcome), missing(outcome)]
}

fn rows(outcome: &Outcome) -> Sheet {
    let columns = "Row | Server | Coding | #Requests/s | #p50 | #p99 | #CPU/request | #(min..max) | #Body | #MB/s | #Failed | #Peak RSS";
    let lines = outcome.rows.iter().map(|entry| {
        let range = optional(entry.cpu_us_range, |(min, max)| format!("{}..{}", time(min), time(max)));
        [
            entry.row.clone(),
            entry.server.clone(),
            entry.coding.clone(),
            format!("{:.0}", entry.requests_per_s),
            time(entry.p50_us),
            time(entry.p99_us),
            optional(entry.cpu_us, time),
            range,
            bytes(entry.body_bytes),
            format!("{:.1}", entry.bytes_per_s / 1e6),
            entry.errors.to_string(),
            optional(entry.peak_memory, memory),
        ]
    });
    let about = ROWS.iter().filter(|row| outcome.rows.iter().any(|entry| entry.row == row.key));
    let about = about.map(|row| format!("`{}`: {}, {} connections.", row.key, row.about, row.connections));
    let run = [
        format!("{}; {}.", outcome.about, outcome.versions.join(", ")),
        format!("{} rounds of {} s for each row and server, in turn.", outcome.rounds, outcome.seconds),
    ];
    Sheet::new("Load: rows", run.into_iter().chain(about).collect::<Vec<_>>(), columns, lines)
}

fn cold(outcome: &Outcome) -> Sheet {
    let columns = "Server | #GETs of the index | #First byte p50 | #max | #Whole file p50 | #max | #Index alone | #Failed | #CPU | #Peak RSS";
    let lines = outcome.cold.iter().map(|run| {
        [
            run.server.clone(),
            run.upstream_gets.to_string(),
            millis(run.first_byte_ms.median),
            millis(run.first_byte_ms.max),
            millis(run.total_ms.median),
            millis(run.total_ms.max),
            millis(run.upstream_ms),
            run.failed.to_string(),
            optional(run.cpu_ms, millis),
            optional(run.peak_memory, memory),
        ]
    });
    let note =
        "50 clients ask at once for a wheel of 60 MiB that is not here; the index sends 30 MB/s.".to_owned();
    Sheet::new("Load: one cold file", [note], columns, lines)
}

fn single(outcome: &Outcome) -> Sheet {
    let mut lines = Vec::new();
    let mut add = |what: &str, server: &str, found| lines.push([what.to_owned(), server.to_owned(), found]);
    for start in &outcome.starts {
        let times: Vec<String> = start.first_answer_ms.iter().map(|time| millis(*time)).collect();
        let found = format!("{}; {} then", times.join(", "), optional(start.idle_memory, memory));
        add("start to the first 200", &start.server, found);
    }
    for list in &outcome.lists {
        let found = format!(
            "{} for {}; peak RSS {}, {} with HTML and gzip, {} after",
            millis(list.answer_ms),
            bytes(list.body_bytes),
            optional(list.peak_memory, memory),
            optional(list.peak_memory_all, memory),
            optional(list.memory_after, memory)
        );
        add("list of 927,000 names", &list.server, found);
    }
    for refresh in &outcome.refreshes {
        let found = format!(
            "{}, of which the index {}; CPU {} with what is compressed behind it",
            millis(refresh.answer_ms),
            millis(refresh.upstream_ms),
            optional(refresh.cpu_ms, millis)
        );
        add("page of 3,060 files anew", &refresh.server, found);
    }
    for locked in &outcome.locked {
        let found =
            format!("{}, of which the index {}", millis(locked.answer_ms), millis(locked.upstream_ms));
        add("wheel of 1 MiB by its path in a lock file, not cached", &locked.server, found);
    }
    Sheet::new("Load: what happens once", [], "What | Server | Found", lines)
}

fn missing(outcome: &Outcome) -> Sheet {
    let lines = outcome
        .unmeasured
        .iter()
        .map(|entry| [entry.row.clone(), entry.server.clone(), entry.reason.clone()]);
    Sheet::new("Load: not measured", [], "Row | Server | Why there is no figure", lines)
}

/// Formats the figures of a row for the terminal.
pub(crate) fn lines(measured: &[crate::measure::Measured]) -> String {
    let mut text = format!(
        "  {:<22} {:>11} {:>10} {:>10} {:>11} {:>10} {:>9} {:>7} {:>8}\n",
        "", "requests/s", "p50", "p99", "CPU/request", "body", "MB/s", "errors", "peak RSS"
    );
    for entry in measured {
        text += &format!(
            "  {:<22} {:>11.0} {:>10} {:>10} {:>11} {:>10} {:>9.1} {:>7} {:>8}\n",
            entry.server,
            entry.requests_per_s,
            time(entry.p50_us),
            time(entry.p99_us),
            optional(entry.cpu_us, time),
            bytes(entry.body_bytes),
            entry.bytes_per_s / 1e6,
            entry.errors,
            optional(entry.peak_memory, memory),
        );
    }
    text
}
