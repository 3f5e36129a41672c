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

    /// The recorded figures of a row, that of the original first.
    pub(crate) fn of(&self, key: &str) -> Vec<report::Recorded> {
        let mut figures: Vec<report::Recorded> = self
            .figures
            .iter()
            .filter(|figure| figure.key == key)
            .map(|figure| self.describe(figure))
            .collect();
        figures.sort_by_key(|figure| !figure.original);
        figures
    }

    fn describe(&self, figure: &Figure) -> report::Recorded {
        let origin = self.origins.iter().find(|origin| origin.id == figure.origin);
        report::Recorded {
            implementation: figure.implementation.clone(),
            original: figure.original,
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
        let simple = file.of("sse/decode_simple_event");
        let names: Vec<(&str, bool)> =
            simple.iter().map(|figure| (figure.implementation.as_str(), figure.original)).collect();
        assert_eq!(names, [("perplexity-go", true), ("perplexity-py", false)]);
        assert_eq!((simple[0].time_ns, simple[0].allocs_op), (1562.0, Some(6.0)));
        assert!(file.of("sse/absent").is_empty());
    }
}
