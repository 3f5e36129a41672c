//! Output of a Go project, given with `--import`.

use super::{Sources, throughput, time};
use crate::parse::benchfmt::BenchLine;
use crate::report::{Role, Row};
use crate::stats;

/// The project's own output for one row.
#[derive(Debug)]
pub(super) struct Imported {
    pub(super) name: String,
    times: Vec<f64>,
    bytes_op: Option<f64>,
    allocs_op: Option<f64>,
    cpu: Option<String>,
}

impl Imported {
    pub(super) fn of(lines: &[BenchLine], sources: &Sources, key: &str) -> Option<Self> {
        let times: Vec<f64> = lines.iter().filter_map(|line| line.value("ns/op")).collect();
        let line = lines.first().filter(|_| !times.is_empty())?;
        let platform = sources.seed.published(key).map(|(_, published)| published.platform);
        let name = platform.as_deref().and_then(|platform| platform.split(',').next()).unwrap_or("original");
        Some(Self {
            name: name.to_owned(),
            times,
            bytes_op: line.value("B/op"),
            allocs_op: line.value("allocs/op"),
            cpu: line.cpu.clone(),
        })
    }

    pub(super) fn typical_ns(&self) -> Option<f64> {
        stats::median(&self.times)
    }

    /// Turns a row with the same key into the row of the project.
    pub(super) fn describe(&self, row: &mut Row) {
        row.implementation.clone_from(&self.name);
        row.role = Role::Original;
        "go".clone_into(&mut row.language);
        row.version = None;
        row.class = None;
        row.time_ns = time(&self.times, true);
        row.bytes_op = self.bytes_op;
        row.allocs_op = self.allocs_op;
        row.counts_deterministic = None;
        row.throughput = throughput(row);
        row.verdict = self.cpu.as_ref().map(|cpu| format!("imported, {cpu}")).unwrap_or_default();
    }
}
