//! Side files of the Rust suites, written by the `benches` package.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::report::Role;

/// The supported schema version.
const SCHEMA: u32 = 1;

/// How the run of one implementation ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Ok,
    Guarded { once_ns: f64 },
    Failed { why: String },
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Record {
    schema: u32,
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) check: u64,
    pub(crate) outcome: Outcome,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
}

/// One line of a suite's `--list --format json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Listed {
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: String,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
}

pub(crate) fn parse(text: &str) -> Result<Record> {
    let record: Record = serde_json::from_str(text)?;
    ensure!(record.schema == SCHEMA, "schema {}, expected {SCHEMA}", record.schema);
    Ok(record)
}

/// Reads a side file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<Record>> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Some(parse(&text).with_context(|| format!("unexpected content of {}", path.display()))?))
}

pub(crate) fn parse_list(text: &str) -> Result<Vec<Listed>> {
    text.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).with_context(|| format!("not a list line: {line}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_suite_wrote() {
        let ok = parse(include_str!("../../tests/data/record-ok.json")).unwrap();
        assert_eq!((ok.key.as_str(), ok.implementation.as_str()), ("smoke/count_lines", "loop"));
        assert_eq!((ok.outcome, ok.check), (Outcome::Ok, 100_000));
        assert_eq!((ok.allocs_op, ok.bytes_op, ok.deterministic), (Some(0.0), Some(0.0), Some(true)));

        let guarded = parse(include_str!("../../tests/data/record-guarded.json")).unwrap();
        assert_eq!(guarded.outcome, Outcome::Guarded { once_ns: 100_000_074.0 });

        let failed = parse(include_str!("../../tests/data/record-failed.json")).unwrap();
        assert_eq!(failed.outcome, Outcome::Failed { why: "failed: panicked: no 1".to_owned() });
        assert_eq!(failed.allocs_op, None);
    }

    #[test]
    fn another_schema_is_refused() {
        let text = include_str!("../../tests/data/record-ok.json").replace("\"schema\": 1", "\"schema\": 2");
        assert!(parse(&text).unwrap_err().to_string().contains("schema 2"));
    }

    #[test]
    fn reads_a_list() {
        let text = r#"{"class":null,"elements":null,"implementation":"very","key":"smoke/slow/ish","language":"rust","payload_bytes":7,"role":"peer","version":"1"}"#;
        let listed = parse_list(text).unwrap();
        assert_eq!(listed[0].role, Role::Peer);
        assert_eq!((listed[0].payload_bytes, listed[0].elements), (Some(7), None));
    }
}
