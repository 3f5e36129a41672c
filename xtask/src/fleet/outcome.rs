//! Results of a run, as stored in `fleet.json`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use super::scaling::Scaling;
use super::soak::Soak;
use crate::report::Machine;

/// Incremented with every incompatible change.
const SCHEMA: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(super) schema: u32,
    pub(crate) date: String,
    pub(crate) machine: Machine,
    pub(crate) commit: Option<String>,
    /// Name of the S3 server.
    pub(crate) server: String,
    pub(crate) load_before: Option<f64>,
    /// Names of the tests and whether they passed, and whether they ran with all clients and files.
    pub(crate) scenarios: Vec<(String, bool)>,
    pub(crate) is_whole: bool,
    pub(crate) scaling: Scaling,
    pub(crate) estimate: Option<Estimate>,
    pub(crate) soak: Option<Soak>,
}

impl Outcome {
    pub(super) fn new(machine: Machine, date: String, server: &str) -> Self {
        Self {
            schema: SCHEMA,
            date,
            machine,
            commit: None,
            server: server.to_owned(),
            load_before: None,
            scenarios: Vec::new(),
            is_whole: false,
            scaling: Scaling::default(),
            estimate: None,
            soak: None,
        }
    }

    /// Reads the results of a run, or returns `None` if there are none.
    ///
    /// # Errors
    ///
    /// Fails if they have another schema.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
        let outcome: Self = serde_json::from_str(&text)
            .with_context(|| format!("unexpected content of {}", path.display()))?;
        ensure!(outcome.schema == SCHEMA, "{} has the unsupported schema {}", path.display(), outcome.schema);
        Ok(Some(outcome))
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns descriptions of all failures.
    pub(super) fn failures(&self) -> Vec<String> {
        let mut failures: Vec<String> =
            self.scenarios.iter().filter(|(_, passed)| !passed).map(|(name, _)| name.clone()).collect();
        let cold = self.scaling.passes.iter().filter(|pass| pass.is_cold);
        // An S3 server without conditional writes allows several downloads of the same file.
        let most = if self.server == "rclone" { f64::INFINITY } else { 1.0 };
        failures.extend(cold.filter(|pass| pass.upstream_gets_per_file > most).map(|pass| {
            format!("{} instances: {} downloads for each file", pass.instances, pass.upstream_gets_per_file)
        }));
        let failed: usize = self.scaling.passes.iter().map(|pass| pass.failed).sum();
        let errors: u64 = self.scaling.hot.iter().map(|row| row.errors).sum();
        if failed as u64 + errors > 0 {
            failures.push(format!("{failed} files and {errors} requests under load failed"));
        }
        if self.soak.as_ref().is_some_and(|soak| !soak.is_passed()) {
            failures.push("the soak".to_owned());
        }
        failures
    }
}
