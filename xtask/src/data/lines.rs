//! `lines.toml`: the rows that a published line follows from, if it is not simply the time of one benchmark.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::quantity::Quantity;

/// The keys of rows by published line (`table/row`), by quantity.
#[derive(Debug, Deserialize)]
pub(crate) struct LinesFile(BTreeMap<Quantity, BTreeMap<String, Vec<String>>>);

impl LinesFile {
    /// Returns the quantity and the rows of a published line.
    pub(crate) fn find(&self, line: &str) -> Option<(Quantity, &[String])> {
        self.0.iter().find_map(|(quantity, lines)| Some((*quantity, lines.get(line)?.as_slice())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::committed;
    use crate::data::seed::Seed;

    #[test]
    fn every_line_is_published_and_has_rows() {
        let (file, seed): (LinesFile, Seed) = (committed("lines.toml"), committed("seed-rows.toml"));
        let mut lines: Vec<&String> = file.0.values().flat_map(BTreeMap::keys).collect();
        for line in &lines {
            assert!(seed.rows.iter().any(|row| row.name() == **line), "{line} is not published");
            assert!(!file.find(line).unwrap().1.is_empty(), "{line} has no row");
        }
        let all = lines.len();
        lines.sort();
        lines.dedup();
        assert_eq!(lines.len(), all, "a line has one quantity");
        let overhead = file.find("perplexity.headline/sse_per_event_overhead").unwrap();
        assert_eq!(overhead, (Quantity::TimePerElement, &["sse/decode_buffered_stream".to_owned()][..]));
    }
}
