//! `recorded.toml`: figures of originals recorded earlier, each with its origin.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::report;

#[derive(Debug, Deserialize)]
pub(crate) struct RecordedFile {
    /// Where and how a group of figures was taken, by id.
    #[serde(rename = "origin")]
    origins: Vec<Origin>,
    #[serde(rename = "recorded")]
    pub(crate) figures: Vec<Figure>,
}

#[derive(Debug, Deserialize)]
struct Origin {
    id: String,
    remark: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Figure {
    key: String,
    implementation: String,
    /// Whether it is the original that the row's published figure comes from, or another program for scale.
    #[serde(default)]
    original: bool,
    origin: String,
    time_ns: f64,
    bytes_op: Option<f64>,
    allocs_op: Option<f64>,
}

impl RecordedFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        super::load(&data.join("recorded.toml"))
    }

    /// The recorded figure of the original of a row.
    pub(crate) fn original(&self, key: &str) -> Option<report::Recorded> {
        let figure = self.figures.iter().find(|figure| figure.original && figure.key == key)?;
        Some(self.describe(figure))
    }

    fn describe(&self, figure: &Figure) -> report::Recorded {
        let origin = self.origins.iter().find(|origin| origin.id == figure.origin);
        report::Recorded {
            implementation: figure.implementation.clone(),
            time_ns: figure.time_ns,
            bytes_op: figure.bytes_op,
            allocs_op: figure.allocs_op,
            origin: origin.map_or_else(|| figure.origin.clone(), |origin| origin.remark.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_file_names_an_origin_for_every_figure() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/data");
        let file = RecordedFile::load(&data).unwrap();
        for figure in &file.figures {
            assert!(
                file.origins.iter().any(|origin| origin.id == figure.origin),
                "{} has no origin",
                figure.key
            );
            assert!(figure.time_ns > 0.0, "{} has no time", figure.key);
        }
        let simple = file.original("sse/decode_simple_event").unwrap();
        assert_eq!((simple.time_ns, simple.allocs_op), (1562.0, Some(6.0)));
        assert!(file.original("sse/absent").is_none());
    }
}
