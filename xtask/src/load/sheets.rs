//! Tables of the report.

use super::outcome::Outcome;
use super::rows::ROWS;
use super::table::{bytes, memory, time};
use crate::report::{Column, Line, Role, Sheet};

fn line(role: Role, cells: Vec<String>) -> Line {
    Line { cells, ours: role == Role::Ours, starts_group: false }
}

/// Returns all tables that are not empty.
pub(crate) fn sheets(outcome: &Outcome) -> Vec<Sheet> {
    let mut sheets = vec![targets(outcome), rows(outcome), cold(outcome), single(outcome), missing(outcome)];
    sheets.retain(|sheet| !sheet.lines.is_empty());
    sheets
}

fn targets(outcome: &Outcome) -> Sheet {
    let lines = outcome.targets.iter().map(|target| {
        line(Role::Peer, vec![target.name.clone(), target.found.clone(), target.verdict().to_owned()])
    });
    let load = |load: Option<f64>| load.map_or("unknown".to_owned(), |load| format!("{load:.2}"));
    let notes = vec![
        format!(
            "{}, commit {}, {} ({} cores), {}.",
            outcome.date,
            outcome.commit.as_deref().unwrap_or("unknown"),
            outcome.machine.cpu,
            outcome.machine.cores,
            outcome.versions.join(", ")
        ),
        format!(
            "{} rounds of {} s for each row and server, in turn; load average {} before, {} after.",
            outcome.rounds,
            outcome.seconds,
            load(outcome.load_before),
            load(outcome.load_after)
        ),
    ];
    Sheet::new(
        "Load: targets",
        notes,
        vec![Column::text("Target"), Column::text("Found"), Column::text("Verdict")],
        lines.collect(),
    )
}

fn rows(outcome: &Outcome) -> Sheet {
    let names =
        ["Requests/s", "p50", "p99", "CPU/request", "(min..max)", "Body", "MB/s", "Failed", "Peak RSS"];
    let columns = [Column::text("Row"), Column::text("Server"), Column::text("Role"), Column::text("Coding")];
    let columns = columns.into_iter().chain(names.map(Column::number)).collect();
    let mut last = "";
    let lines = outcome.rows.iter().map(|entry| {
        let range =
            entry.cpu_us_range.map_or("-".to_owned(), |(min, max)| format!("{}..{}", time(min), time(max)));
        let mut line = line(
            entry.role,
            vec![
                entry.row.clone(),
                entry.server.clone(),
                entry.role.label().to_owned(),
                entry.coding.clone(),
                format!("{:.0}", entry.requests_per_s),
                time(entry.p50_us),
                time(entry.p99_us),
                entry.cpu_us.map_or("-".to_owned(), time),
                range,
                bytes(entry.body_bytes),
                format!("{:.1}", entry.bytes_per_s / 1e6),
                entry.errors.to_string(),
                entry.peak_memory.map_or("-".to_owned(), memory),
            ],
        );
        line.starts_group = entry.row != last;
        last = &entry.row;
        line
    });
    let lines = lines.collect();
    let about = ROWS.iter().filter(|row| outcome.rows.iter().any(|entry| entry.row == row.key));
    let about = about.map(|row| format!("`{}`: {}, {} connections.", row.key, row.about, row.connections));
    Sheet::new("Load: rows", about.collect(), columns, lines)
}

fn cold(outcome: &Outcome) -> Sheet {
    let names = [
        "GETs of the index",
        "First byte p50",
        "max",
        "Whole file p50",
        "max",
        "Index alone",
        "Failed",
        "CPU",
        "Peak RSS",
    ];
    let columns = [Column::text("Server")].into_iter().chain(names.map(Column::number)).collect();
    let ms = |ms: f64| time(ms * 1e3);
    let lines = outcome.cold.iter().map(|run| {
        line(
            run.role,
            vec![
                run.server.clone(),
                run.upstream_gets.to_string(),
                ms(run.first_byte_ms.median),
                ms(run.first_byte_ms.max),
                ms(run.total_ms.median),
                ms(run.total_ms.max),
                ms(run.upstream_ms),
                run.failed.to_string(),
                run.cpu_ms.map_or("-".to_owned(), ms),
                run.peak_memory.map_or("-".to_owned(), memory),
            ],
        )
    });
    let note =
        "50 clients ask at once for a wheel of 60 MiB that is not here; the index sends 30 MB/s.".to_owned();
    Sheet::new("Load: one cold file", vec![note], columns, lines.collect())
}

fn single(outcome: &Outcome) -> Sheet {
    let mut lines = Vec::new();
    let ms = |ms: f64| time(ms * 1e3);
    let some = |memory_: Option<u64>| memory_.map_or("-".to_owned(), memory);
    for start in &outcome.starts {
        let times: Vec<String> = start.first_answer_ms.iter().map(|time| ms(*time)).collect();
        let found = format!("{}; {} then", times.join(", "), some(start.idle_memory));
        lines.push(line(start.role, vec!["start to the first 200".into(), start.server.clone(), found]));
    }
    for list in &outcome.lists {
        let found = format!(
            "{} for {}; peak RSS {}, {} with HTML and gzip, {} after",
            ms(list.answer_ms),
            bytes(list.body_bytes),
            some(list.peak_memory),
            some(list.peak_memory_all),
            some(list.memory_after)
        );
        lines.push(line(list.role, vec!["list of 927,000 names".into(), list.server.clone(), found]));
    }
    for refresh in &outcome.refreshes {
        let found = format!(
            "{}, of which the index {}; CPU {} with what is compressed behind it",
            ms(refresh.answer_ms),
            ms(refresh.upstream_ms),
            refresh.cpu_ms.map_or("-".to_owned(), ms)
        );
        lines
            .push(line(refresh.role, vec!["page of 3,060 files anew".into(), refresh.server.clone(), found]));
    }
    Sheet::new(
        "Load: what happens once",
        Vec::new(),
        vec![Column::text("What"), Column::text("Server"), Column::text("Found")],
        lines,
    )
}

fn missing(outcome: &Outcome) -> Sheet {
    let lines = outcome
        .unmeasured
        .iter()
        .map(|entry| line(Role::Peer, vec![entry.row.clone(), entry.server.clone(), entry.reason.clone()]));
    let columns = vec![Column::text("Row"), Column::text("Server"), Column::text("Why there is no figure")];
    Sheet::new("Load: not measured", Vec::new(), columns, lines.collect())
}
