//! The file of the results, which `cargo xtask` reads, and the format of figures in tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Role of a server in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Ours,
    #[default]
    Peer,
    /// groxpi, the reference implementation.
    Original,
}

/// Figures of one server in one row, as in the report of the suites.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: &'static str,
    /// Content coding of the response; only servers of the same class are compared. `None` if the content was not
    /// found to be the same as that of the other servers.
    pub(crate) class: Option<String>,
    /// Size of the response body.
    pub(crate) payload_bytes: Option<usize>,
    /// Values by quantity: one per round, or a single one. Times are in nanoseconds.
    pub(crate) figures: BTreeMap<&'static str, Vec<f64>>,
}

/// One table of the report.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Sheet {
    pub(crate) title: &'static str,
    notes: Vec<String>,
    columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
}

#[derive(Clone, Debug, Serialize)]
struct Column {
    name: &'static str,
    is_number: bool,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    pub(crate) cells: Vec<String>,
}

impl Sheet {
    /// Creates a table. `|` separates the names of the columns. Those of number columns begin with `#`.
    pub(crate) fn new(
        title: &'static str,
        notes: impl Into<Vec<String>>,
        columns: &'static str,
        lines: impl IntoIterator<Item = impl Into<Vec<String>>>,
    ) -> Self {
        let column = |name: &'static str| Column {
            name: name.trim().trim_start_matches('#'),
            is_number: name.trim().starts_with('#'),
        };
        let columns: Vec<Column> = columns.split('|').map(column).collect();
        let lines: Vec<Line> = lines.into_iter().map(|cells| Line { cells: cells.into() }).collect();
        debug_assert!(lines.iter().all(|line| line.cells.len() == columns.len()), "{title}");
        Self { title, notes: notes.into(), columns, lines }
    }
}

/// Writes the rows and tables for the report, and the complete outcome of the run.
pub(crate) fn write(
    path: &Path,
    rows: &[Row],
    mut tables: Vec<Sheet>,
    outcome: &impl Serialize,
) -> Result<()> {
    tables.retain(|sheet| !sheet.lines.is_empty());
    let file = serde_json::json!({ "rows": rows, "tables": tables, "outcome": outcome });
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(&file)? + "\n";
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads the outcome of an earlier run. Returns `None` if there is none.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    #[derive(Deserialize)]
    struct File<T> {
        outcome: T,
    }
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let file: File<T> =
        serde_json::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))?;
    Ok(Some(file.outcome))
}

/// Formats an optional value; `-` if it is absent.
pub(crate) fn optional<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or("-".to_owned(), format)
}

/// Formats a time given in microseconds.
pub(crate) fn time(us: f64) -> String {
    match us {
        us if us < 100.0 => format!("{us:.1} us"),
        us if us < 1e3 => format!("{us:.0} us"),
        us if us < 100e3 => format!("{:.2} ms", us / 1e3),
        us if us < 1e6 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// Formats a time given in milliseconds.
pub(crate) fn millis(ms: f64) -> String {
    time(ms * 1e3)
}

/// Formats a number of bytes.
pub(crate) fn bytes(count: usize) -> String {
    match count {
        0..10_000 => format!("{count} B"),
        10_000..10_000_000 => format!("{:.0} KB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// Formats a memory size in MiB.
pub(crate) fn memory(count: u64) -> String {
    format!("{:.1} M", count as f64 / f64::from(1 << 20))
}
