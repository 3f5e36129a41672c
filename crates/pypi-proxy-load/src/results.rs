//! Results of a load run, as rows and tables of the report.

use std::collections::BTreeMap;

use crate::measure::{Measured, Round};
use crate::note;
use crate::output::{Row, Sheet, bytes, memory, optional, time};
use crate::programs::OURS;
use crate::servers::Server;

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Date, machine, commit, and number of rounds.
    pub(crate) about: String,
    /// Versions of all programs.
    pub(crate) versions: Vec<String>,
    pub(crate) rows: Vec<Measured>,
    /// What is measured without a load generator: row, server and result.
    pub(crate) once: Vec<[String; 3]>,
    /// Rows of these measurements, for the report.
    pub(crate) more_rows: Vec<Row>,
    /// Row, server and the reason why there is no figure.
    pub(crate) unmeasured: Vec<[String; 3]>,
}

impl Outcome {
    /// Reports a server without a figure in a row.
    pub(crate) fn skip(&mut self, row: &str, server: &str, reason: impl Into<String>) {
        let reason = reason.into();
        note(&format!("  {row}: {server}: {reason}"));
        self.unmeasured.push([row.to_owned(), server.to_owned(), reason]);
    }

    /// Adds the result of a measurement without a load generator.
    pub(crate) fn add(&mut self, row: &str, server: &str, result: anyhow::Result<String>) {
        match result {
            Ok(text) => {
                note(&format!("  {row}: {server}: {text}"));
                self.once.push([row.to_owned(), server.to_owned(), text]);
            }
            Err(error) => self.skip(row, server, format!("{error:#}")),
        }
    }

    /// Adds the peak memory of the servers over all rows.
    pub(crate) fn add_memory(&mut self, servers: &[Server]) {
        for server in servers {
            let rows = self.rows.iter().filter(|entry| entry.server.implementation == server.name);
            if let Some(peak) = rows.filter_map(|entry| entry.peak_memory).max() {
                self.more_rows.push(Row::new("memory_peak", server).with("memory", vec![peak as f64]));
            }
        }
    }

    /// Returns the figures for the report of the suites.
    pub(crate) fn report_rows(&self) -> Vec<Row> {
        self.rows.iter().map(Measured::report_row).chain(self.more_rows.iter().cloned()).collect()
    }

    /// Returns all tables.
    pub(crate) fn sheets(&self) -> Vec<Sheet> {
        let mut notes = vec![self.about.clone(), format!("{}.", self.versions.join(", "))];
        notes.extend(self.rows.iter().filter(|entry| entry.server.implementation == OURS).map(|entry| {
            let row = entry.row;
            format!("`{}`: {}, {} connections.", row.key, row.about, row.connections)
        }));
        vec![
            sheet(&self.rows, notes),
            Sheet::new("Load: what happens once", [], "Row | Server | Result", self.once.clone()),
            Sheet::new("Load: not measured", [], "Row | Server | Reason", self.unmeasured.clone()),
        ]
    }
}

impl Measured {
    fn report_row(&self) -> Row {
        let of = |figure: fn(&Round) -> f64| self.rounds.iter().map(figure).collect::<Vec<_>>();
        let mut figures = BTreeMap::from([
            ("requests_per_s", of(|round| round.figures.rate())),
            ("requests", of(|round| round.figures.rate() * 60.0)),
            ("bytes_per_s", of(|round| round.bytes_per_s)),
            ("p50", of(|round| round.figures.p50 as f64 * 1e3)),
            ("p75", of(|round| round.figures.p75 as f64 * 1e3)),
            ("p90", of(|round| round.figures.p90 as f64 * 1e3)),
            ("p99", of(|round| round.figures.p99 as f64 * 1e3)),
            ("longest", vec![of(|round| round.figures.max as f64 * 1e3).into_iter().fold(0.0, f64::max)]),
            ("errors", vec![self.errors() as f64]),
        ]);
        let cpu: Vec<f64> = self.rounds.iter().filter_map(|round| Some(round.cpu_us? * 1e3)).collect();
        let counts = [("cpu_per_request", cpu), ("connections", vec![self.connections as f64])];
        figures.extend(
            counts.into_iter().filter(|(_, values)| values.first().is_some_and(|value| *value > 0.0)),
        );
        Row {
            class: self.verified.is_alike.then(|| self.verified.coding.clone()),
            payload_bytes: Some(self.verified.body),
            figures,
            ..self.server.clone()
        }
    }

    /// Returns the number of failed requests.
    fn errors(&self) -> u64 {
        self.rounds.iter().map(|round| round.figures.errors).sum()
    }
}

/// Returns a table of the results under load.
pub(crate) fn sheet(rows: &[Measured], notes: Vec<String>) -> Sheet {
    let columns = "Row | Server | Coding | #Rounds | #Requests/s | #p50 | #p99 | #CPU/request | #Times ours (interval) | #Body | #MB/s | #Connections | #Failed | #Peak RSS";
    let lines = rows.iter().map(|entry| {
        let is_ours =
            |other: &&Measured| other.row.key == entry.row.key && other.server.implementation == OURS;
        let ratio = rows.iter().find(is_ours).and_then(|ours| entry.ratio(ours));
        let median =
            |figure: fn(&Round) -> f64| entry.median(|round| Some(figure(round))).unwrap_or_default();
        [
            entry.row.key.to_owned(),
            entry.server.implementation.clone(),
            entry.verified.coding.clone(),
            entry.rounds.len().to_string(),
            format!("{:.0}", median(|round| round.figures.rate())),
            time(median(|round| round.figures.p50 as f64)),
            time(median(|round| round.figures.p99 as f64)),
            optional(entry.median(|round| round.cpu_us), time),
            optional(ratio, |(ratio, low, high)| format!("{ratio:.2} ({low:.2} to {high:.2})")),
            bytes(entry.verified.body),
            format!("{:.1}", median(|round| round.bytes_per_s) / 1e6),
            if entry.connections > 0 { entry.connections.to_string() } else { "-".to_owned() },
            entry.errors().to_string(),
            optional(entry.peak_memory, memory),
        ]
    });
    Sheet::new("Load: rows", notes, columns, lines)
}
