//! `derived.toml`: published lines without a benchmark of their own, and the rows they follow from.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::report::Figure;

#[derive(Debug, Deserialize)]
pub(crate) struct DerivedFile {
    #[serde(rename = "derived")]
    pub(crate) lines: Vec<Derived>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Derived {
    /// Table of the published line.
    pub(crate) table: String,
    /// Id of the published line within its table.
    pub(crate) row: String,
    /// Rows the figure follows from.
    pub(crate) keys: Vec<String>,
    pub(crate) figure: Figure,
}

impl DerivedFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        super::load(&data.join("derived.toml"))
    }

    pub(crate) fn find(&self, table: &str, row: &str) -> Option<&Derived> {
        self.lines.iter().find(|line| line.table == table && line.row == row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::seed::Seed;

    #[test]
    fn every_entry_points_at_published_lines() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/data");
        let (file, seed) = (DerivedFile::load(&data).unwrap(), Seed::load(&data).unwrap());
        assert!(file.find("perplexity.headline", "sse_per_event_overhead").is_some());
        for line in &file.lines {
            assert!(
                seed.rows.iter().any(|row| row.table == line.table && row.id == line.row),
                "{}/{} is not published",
                line.table,
                line.row
            );
            assert!(!line.keys.is_empty(), "{}/{} follows from nothing", line.table, line.row);
            for key in &line.keys {
                assert!(seed.benches.iter().any(|bench| bench.key == *key), "{key} is not listed");
            }
        }
    }
}
