//! Results of a load run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::measure::{Measured, Round, Unmeasured};
use crate::output::{Role, Row};
use crate::single::{Cold, List, Locked, Refresh, Start};

/// Name of our program in the tables.
pub(crate) const OURS: &str = "pypi-proxy";

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Outcome {
    /// Date, machine and commit.
    pub(crate) about: String,
    /// Version lines of `wrk` and nginx.
    pub(crate) versions: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) seconds: usize,
    pub(crate) rows: Vec<Measured>,
    pub(crate) unmeasured: Vec<Unmeasured>,
    pub(crate) cold: Vec<Cold>,
    pub(crate) starts: Vec<Start>,
    pub(crate) lists: Vec<List>,
    pub(crate) refreshes: Vec<Refresh>,
    pub(crate) locked: Vec<Locked>,
}

impl Outcome {
    /// Returns the figures for the report of the suites.
    pub(crate) fn report_rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.rows.iter().map(under_load).collect();
        let mut servers: Vec<(&str, Role)> = Vec::new();
        for entry in &self.rows {
            if !servers.contains(&(&entry.server, entry.role)) {
                servers.push((&entry.server, entry.role));
            }
        }
        for (server, role) in &servers {
            let figures = [
                ("memory_peak", "memory", self.memory(server).into_iter().collect()),
                ("startup", "start", self.starts(server)),
                ("cold_cache", "fetches", self.fetches(server).into_iter().collect::<Vec<_>>()),
            ];
            for (key, quantity, values) in figures.into_iter().filter(|(.., values)| !values.is_empty()) {
                let figures = BTreeMap::from([(quantity, values)]);
                rows.push(Row { class: Some("program".to_owned()), figures, ..row(key, server, *role) });
            }
        }
        rows
    }

    /// Returns the peak memory over all rows of the load generator.
    fn memory(&self, server: &str) -> Option<f64> {
        let rows = self.rows.iter().filter(|row| row.server == server);
        rows.filter_map(|row| row.peak_memory).max().map(|bytes| bytes as f64)
    }

    /// Returns the durations of all starts with an empty cache, in nanoseconds.
    fn starts(&self, server: &str) -> Vec<f64> {
        let starts = self.starts.iter().filter(|start| start.server == server);
        starts.flat_map(|start| &start.first_answer_ms).map(|ms| ms * 1e6).collect()
    }

    fn fetches(&self, server: &str) -> Option<f64> {
        let runs = self.cold.iter().filter(|run| run.server == server);
        runs.map(|run| run.upstream_gets).max().map(|count| count as f64)
    }
}

/// Returns a row without figures.
fn row(key: &str, server: &str, role: Role) -> Row {
    let language = match server {
        "groxpi" => "go",
        "proxpi" | "devpi" => "python",
        "pypi-proxy" => "rust",
        _ => "c",
    };
    Row {
        key: format!("pypi_proxy/{key}"),
        implementation: server.to_owned(),
        role,
        language,
        class: None,
        payload_bytes: None,
        figures: BTreeMap::new(),
    }
}

fn under_load(entry: &Measured) -> Row {
    let of = |figure: fn(&Round) -> f64| entry.rounds.iter().map(figure).collect::<Vec<_>>();
    let processor_times = entry.rounds.iter().filter_map(|round| round.cpu_us);
    let figures = BTreeMap::from([
        ("cpu_per_request", processor_times.map(|us| us * 1e3).collect()),
        ("requests_per_s", of(|round| round.requests_per_s)),
        ("bytes_per_s", of(|round| round.bytes_per_s)),
        ("p50", of(|round| round.figures.p50 as f64 * 1e3)),
        ("p75", of(|round| round.figures.p75 as f64 * 1e3)),
        ("p90", of(|round| round.figures.p90 as f64 * 1e3)),
        ("p99", of(|round| round.figures.p99 as f64 * 1e3)),
        ("longest", vec![entry.max_us as f64 * 1e3]),
        ("errors", vec![entry.errors as f64]),
    ]);
    Row {
        class: entry.is_alike.then(|| entry.coding.clone()),
        payload_bytes: Some(entry.body_bytes),
        figures,
        ..row(&entry.row, &entry.server, entry.role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrk::Figures;

    fn measured(row: &str, server: &str, cpu_us: f64) -> Measured {
        Measured {
            row: row.into(),
            server: server.into(),
            role: if server == OURS { Role::Ours } else { Role::Peer },
            requests_per_s: 1000.0,
            p50_us: 100.0,
            p99_us: 900.0,
            max_us: 1000,
            cpu_us: Some(cpu_us),
            coding: "identity".into(),
            is_alike: row != "health",
            peak_memory: Some(70 << 20),
            ..Measured::default()
        }
    }

    #[test]
    fn figures_have_the_unit_of_their_quantity() {
        let round = Round { figures: Figures { p50: 90, ..Figures::default() }, ..Round::default() };
        let entry = |row, server| Measured { rounds: vec![round, round], ..measured(row, server, 1.0) };
        let rows = vec![entry("health", "groxpi"), entry("six_json", "groxpi")];
        let rows = Outcome { rows, ..Outcome::default() }.report_rows();
        assert_eq!((rows[0].key.as_str(), rows[0].language), ("pypi_proxy/health", "go"));
        assert_eq!((&rows[0].class, rows[1].class.as_deref()), (&None, Some("identity")));
        assert_eq!((&rows[0].figures["p50"], &rows[0].figures["longest"]), (&vec![90e3, 90e3], &vec![1e6]));
        assert_eq!(
            (rows[2].key.as_str(), &rows[2].figures["memory"]),
            ("pypi_proxy/memory_peak", &vec![73_400_320.0])
        );
        assert_eq!(rows.len(), 3, "neither starts nor downloads were measured");
    }
}
