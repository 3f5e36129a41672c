//! Results of a load run, as rows and tables of the report.

use bench_report::model::{ProxyRun, Row};
use bench_report::quantity::Quantity;
use bench_report::stats::bounds;
use bench_report::table::{Sheet, optional};

use crate::measure::Measured;
use crate::note;
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
    pub(crate) once: Vec<Vec<String>>,
    /// Rows of these measurements, for the report.
    pub(crate) more_rows: Vec<Row>,
    /// Row, server and the reason why there is no figure.
    pub(crate) unmeasured: Vec<Vec<String>>,
}

impl Outcome {
    /// Reports a server without a figure in a row.
    pub(crate) fn skip(&mut self, row: &str, server: &str, reason: impl Into<String>) {
        let reason = reason.into();
        note(&format!("  {row}: {server}: {reason}"));
        self.unmeasured.push(vec![row.to_owned(), server.to_owned(), reason]);
    }

    /// Adds the result of a measurement without a load generator.
    pub(crate) fn add(&mut self, row: &str, server: &str, result: anyhow::Result<String>) {
        match result {
            Ok(text) => {
                note(&format!("  {row}: {server}: {text}"));
                self.once.push(vec![row.to_owned(), server.to_owned(), text]);
            }
            Err(error) => self.skip(row, server, format!("{error:#}")),
        }
    }

    /// Adds the peak memory of the servers over all rows.
    pub(crate) fn add_memory(&mut self, servers: &[Server]) {
        for server in servers {
            let rows = self.rows.iter().filter(|entry| entry.report.implementation == server.name);
            let peaks: Vec<f64> = rows.filter_map(|entry| entry.report.value(Quantity::Memory)).collect();
            let peak = bounds(&peaks).map(|(_, most)| most);
            let row = peak.map(|peak| server.row_with("memory_peak", Quantity::Memory, vec![peak]));
            self.more_rows.extend(row);
        }
    }

    pub(crate) fn results(self) -> ProxyRun {
        let ours = self.rows.iter().filter(|entry| entry.report.implementation == OURS);
        let about = ours.map(|Measured { row, report, .. }| {
            format!("`{}`: {}, {}.", row.key, row.about, report.shown(Quantity::Connections))
        });
        let notes = [self.about, format!("{}.", self.versions.join(", "))].into_iter().chain(about).collect();
        let tables = [
            sheet(&self.rows).with_notes(notes),
            Sheet::new("Load: what happens once", "Row | Server | Result", self.once),
            Sheet::new("Load: not measured", "Row | Server | Reason", self.unmeasured),
        ];
        let rows = self.rows.into_iter().map(|entry| entry.report).chain(self.more_rows).collect();
        ProxyRun { rows, tables: tables.into() }
    }
}

/// Columns of a table of the results under load, and their quantities.
const COLUMNS: &str = "Row | Server | Coding | #Rounds | #Times ours (interval) | #Requests/s | #p50 | #p99 | #CPU/request | #Body | #Bytes/s | #Connections | #Failed | #Peak RSS";
const QUANTITIES: [Quantity; 9] = [
    Quantity::RequestsPerS,
    Quantity::P50,
    Quantity::P99,
    Quantity::CpuPerRequest,
    Quantity::Payload,
    Quantity::BytesPerS,
    Quantity::Connections,
    Quantity::Errors,
    Quantity::Memory,
];

/// Returns a table of the results under load.
pub(crate) fn sheet(rows: &[Measured]) -> Sheet {
    let lines = rows.iter().map(|entry| {
        let is_ours =
            |other: &&Measured| other.row.key == entry.row.key && other.report.implementation == OURS;
        let ratio = rows.iter().find(is_ours).and_then(|ours| entry.ratio(ours));
        let (server, coding) = (entry.report.implementation.clone(), entry.verified.coding.clone());
        let ratio = optional(ratio, |ratio| ratio.to_string());
        let cells = [entry.row.key.to_owned(), server, coding, entry.rounds.to_string(), ratio];
        cells.into_iter().chain(QUANTITIES.map(|quantity| entry.report.shown(quantity))).collect()
    });
    Sheet::new("Load: rows", COLUMNS, lines)
}
