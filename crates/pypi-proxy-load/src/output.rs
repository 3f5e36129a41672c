//! The file of the results, which `cargo xtask` reads, and the format of figures in tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::servers::Server;

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
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: &'static str,
    pub(crate) version: Option<String>,
    /// Content coding of the response; only servers of the same class are compared. `None` if the content was not
    /// found to be the same as that of the other servers.
    pub(crate) class: Option<String>,
    /// Size of the response body.
    pub(crate) payload_bytes: Option<usize>,
    /// Values by quantity: one per round, the same round for all servers of a row, or a single one. Times are in
    /// nanoseconds.
    pub(crate) figures: BTreeMap<&'static str, Vec<f64>>,
}

impl Row {
    /// Creates a row without figures.
    pub(crate) fn new(key: &str, server: &Server) -> Self {
        Self {
            key: format!("pypi_proxy/{key}"),
            implementation: server.name.clone(),
            role: server.role,
            language: match &*server.name {
                "groxpi" => "go",
                "proxpi" | "devpi" => "python",
                "pypi-proxy" => "rust",
                _ => "c",
            },
            version: server.version.clone(),
            ..Self::default()
        }
    }

    /// Adds a quantity that is not that of a response.
    pub(crate) fn with(mut self, quantity: &'static str, values: Vec<f64>) -> Self {
        self.class = Some("program".to_owned());
        self.figures.insert(quantity, values);
        self
    }
}

/// One table of the report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    notes: Vec<String>,
    columns: Vec<Column>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Column {
    name: String,
    is_number: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    cells: Vec<String>,
}

impl Sheet {
    /// Creates a table. `|` separates the names of the columns. Those of number columns begin with `#`.
    pub(crate) fn new(
        title: &str,
        notes: impl Into<Vec<String>>,
        columns: &str,
        lines: impl IntoIterator<Item = impl Into<Vec<String>>>,
    ) -> Self {
        let column = |name: &str| {
            let name = name.trim();
            Column { name: name.trim_start_matches('#').to_owned(), is_number: name.starts_with('#') }
        };
        let lines = lines.into_iter().map(|cells| Line { cells: cells.into() }).collect();
        Self {
            title: title.to_owned(),
            notes: notes.into(),
            columns: columns.split('|').map(column).collect(),
            lines,
        }
    }

    /// Formats the table for the terminal, from the second column.
    pub(crate) fn text(&self) -> String {
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        let lines: Vec<&[String]> = [&names]
            .into_iter()
            .chain(self.lines.iter().map(|line| &line.cells))
            .map(|cells: &Vec<String>| &cells[1..])
            .collect();
        let width = |at: usize| lines.iter().map(|cells| cells[at].chars().count()).max().unwrap_or(0);
        let line = |cells: &&[String]| {
            let cells = cells.iter().enumerate().map(|(at, cell)| match self.columns[at + 1].is_number {
                true => format!("  {cell:>0$}", width(at)),
                false => format!("  {cell:<0$}", width(at)),
            });
            cells.collect::<String>() + "\n"
        };
        lines.iter().map(line).collect()
    }
}

/// Writes the rows and tables for the report.
pub(crate) fn write(path: &Path, rows: &[Row], mut tables: Vec<Sheet>) -> Result<()> {
    tables.retain(|sheet| !sheet.lines.is_empty());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let text = serde_json::to_string_pretty(&serde_json::json!({ "rows": rows, "tables": tables }))? + "\n";
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads the tables of an earlier run, if there was one.
pub(crate) fn tables(path: &Path) -> Result<Vec<Sheet>> {
    #[derive(Deserialize)]
    struct File {
        tables: Vec<Sheet>,
    }
    let Ok(text) = fs::read_to_string(path) else { return Ok(Vec::new()) };
    let file: File =
        serde_json::from_str(&text).with_context(|| format!("unexpected content of {}", path.display()))?;
    Ok(file.tables)
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
