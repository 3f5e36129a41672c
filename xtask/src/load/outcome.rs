//! Results of a run, as stored in `load.json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::measure::{Measured, Unmeasured};
use super::single::{Cold, List, Refresh, Start};
use super::targets::Target;
use crate::report::Machine;

/// Incremented with every incompatible change.
const SCHEMA: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    schema: u32,
    pub(crate) date: String,
    pub(crate) machine: Machine,
    pub(crate) commit: Option<String>,
    /// Version lines of `wrk` and nginx.
    pub(crate) versions: Vec<String>,
    pub(crate) load_before: Option<f64>,
    pub(crate) load_after: Option<f64>,
    pub(crate) rounds: usize,
    pub(crate) seconds: usize,
    pub(crate) rows: Vec<Measured>,
    pub(crate) unmeasured: Vec<Unmeasured>,
    pub(crate) cold: Vec<Cold>,
    pub(crate) starts: Vec<Start>,
    pub(crate) lists: Vec<List>,
    pub(crate) refreshes: Vec<Refresh>,
    pub(crate) targets: Vec<Target>,
}

impl Outcome {
    pub(crate) fn new(machine: Machine, date: String, commit: Option<String>) -> Self {
        Self {
            schema: SCHEMA,
            date,
            machine,
            commit,
            versions: Vec::new(),
            load_before: None,
            load_after: None,
            rounds: 0,
            seconds: 0,
            rows: Vec::new(),
            unmeasured: Vec::new(),
            cold: Vec::new(),
            starts: Vec::new(),
            lists: Vec::new(),
            refreshes: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Reads the results of a run, or returns `None` if there are none.
    ///
    /// # Errors
    ///
    /// Fails if they have another schema.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
        let outcome: Self = serde_json::from_str(&text)
            .with_context(|| format!("unexpected content of {}", path.display()))?;
        ensure!(outcome.schema == SCHEMA, "{} has the unsupported schema {}", path.display(), outcome.schema);
        Ok(Some(outcome))
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns the figures of one server in one row.
    pub(crate) fn find(&self, row: &str, server: &str) -> Option<&Measured> {
        self.rows.iter().find(|entry| entry.row == row && entry.server == server)
    }
}
