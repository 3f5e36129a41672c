//! Side files, with data about one implementation of one row that criterion's files cannot hold.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Serialize;

use crate::count::Counts;
use crate::implementation::{Impl, Role};

/// Schema version of the side files, raised with every incompatible change.
const SCHEMA: u32 = 1;

/// How the run of one implementation ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// Checked, and timed unless the suite ran as a test.
    Ok,
    /// The checked call took longer than the row's guard and is the only measurement.
    Guarded {
        /// Duration of that call in nanoseconds.
        once_ns: f64,
    },
    /// A peer panicked or returned another check value.
    Failed {
        /// The reason, in one line.
        why: String,
    },
}

/// One side file. `README.md` documents the fields.
#[derive(Debug, Serialize)]
pub(crate) struct Record<'a> {
    pub(crate) schema: u32,
    pub(crate) key: &'a str,
    pub(crate) implementation: &'a str,
    pub(crate) role: Role,
    pub(crate) language: &'a str,
    pub(crate) version: Option<&'a str>,
    pub(crate) class: Option<&'a str>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
    pub(crate) check: u64,
    pub(crate) outcome: Outcome,
    pub(crate) iterations: Option<u32>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
}

impl<'a> Record<'a> {
    pub(crate) fn new(
        key: &'a str,
        implementation: &'a Impl,
        payload: Option<u64>,
        elements: Option<u64>,
        check: u64,
    ) -> Self {
        Self {
            schema: SCHEMA,
            key,
            implementation: &implementation.name,
            role: implementation.role,
            language: &implementation.language,
            version: implementation.version.as_deref(),
            class: implementation.class.as_deref(),
            payload_bytes: implementation.payload.or(payload),
            elements,
            check,
            outcome: Outcome::Ok,
            iterations: None,
            allocs_op: None,
            bytes_op: None,
            deterministic: None,
        }
    }

    pub(crate) fn set_counts(&mut self, counts: &Counts) {
        self.iterations = Some(counts.iterations);
        self.allocs_op = Some(counts.allocs_op);
        self.bytes_op = Some(counts.bytes_op);
        self.deterministic = Some(counts.deterministic);
    }

    /// Writes `<directory>/<system>/<row>@<implementation>.json` and returns its path.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<PathBuf> {
        let (system, row) = self.key.split_once('/').unwrap_or(("", self.key));
        let directory = directory.join(file_name(system));
        fs::create_dir_all(&directory)?;
        let path = directory.join(format!("{}@{}.json", file_name(row), file_name(self.implementation)));
        fs::write(&path, serde_json::to_vec_pretty(self)?)?;
        Ok(path)
    }
}

/// Replaces special characters of paths and shells; the file contains the real names.
fn file_name(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.chars().map(|c| if plain(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name("large/8 KiB"), "large_8_KiB");
        assert_eq!(file_name("sse-core_0.2.3"), "sse-core_0.2.3");
    }

    #[test]
    fn outcomes_are_tagged() {
        let json = |outcome: Outcome| serde_json::to_string(&outcome).unwrap();
        assert_eq!(json(Outcome::Ok), r#""ok""#);
        assert_eq!(json(Outcome::Guarded { once_ns: 2e9 }), r#"{"guarded":{"once_ns":2000000000.0}}"#);
        assert_eq!(json(Outcome::Failed { why: "panicked".to_owned() }), r#"{"failed":{"why":"panicked"}}"#);
    }
}
