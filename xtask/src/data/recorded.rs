//! `recorded.toml`: figures of the Go projects recorded earlier, each with its source.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::report::{self, Quantity};

#[derive(Debug, Deserialize)]
pub(crate) struct RecordedFile {
    /// Source of each group of figures, by id.
    #[serde(rename = "origin")]
    origins: Vec<Origin>,
    #[serde(rename = "recorded")]
    pub(crate) figures: Vec<Figure>,
    #[serde(rename = "recorded_load", default)]
    loads: Vec<LoadFigure>,
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
    /// True for the Go project of the published figure; false for another program, shown for scale.
    #[serde(default)]
    original: bool,
    origin: String,
    time_ns: f64,
    bytes_op: Option<f64>,
    allocs_op: Option<f64>,
}

/// Result of a server under load. Times are in nanoseconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadFigure {
    key: String,
    pub(crate) server: String,
    origin: String,
    requests_per_s: Option<f64>,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    start_ns: Option<f64>,
    memory_bytes: Option<f64>,
    fetches: Option<f64>,
}

impl LoadFigure {
    pub(crate) fn figure(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::RequestsPerS => self.requests_per_s,
            Quantity::P50 => self.p50_ns,
            Quantity::P99 => self.p99_ns,
            Quantity::Start => self.start_ns,
            Quantity::Memory => self.memory_bytes,
            Quantity::Fetches => self.fetches,
            _ => None,
        }
    }
}

impl RecordedFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        super::load(&data.join("recorded.toml"))
    }

    /// Returns the recorded figures of a row, starting with the Go project.
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

    /// Returns the recorded result of the Go project under load.
    pub(crate) fn of_load(&self, key: &str) -> Option<&LoadFigure> {
        self.loads.iter().find(|figure| figure.key == key)
    }

    /// Returns the source of the Go project's figures of a row.
    pub(crate) fn origin(&self, key: &str) -> Option<String> {
        let under_load = || {
            let figure = self.of_load(key)?;
            let origin = self.origins.iter().find(|origin| origin.id == figure.origin)?;
            Some(origin.remark.clone())
        };
        let of_row = self.of(key).into_iter().find(|figure| figure.original).map(|figure| figure.origin);
        of_row.or_else(under_load)
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
        let file = RecordedFile::load(&crate::data::committed()).unwrap();
        for figure in &file.figures {
            assert!(
                file.origins.iter().any(|origin| origin.id == figure.origin),
                "{} has no origin",
                figure.key
            );
            assert!(figure.time_ns > 0.0, "{} has no time", figure.key);
        }
        for figure in &file.loads {
            let is_known = file.origins.iter().any(|origin| origin.id == figure.origin);
            assert!(is_known, "{} has no origin", figure.key);
        }
        let index = file.of_load("pypi_proxy/index_warm").unwrap();
        assert_eq!((index.server.as_str(), index.figure(Quantity::P90)), ("groxpi", None));
        assert!(index.figure(Quantity::RequestsPerS).is_some_and(|rate| rate > 1000.0));
        let simple = file.of("sse/decode_simple_event");
        let names: Vec<(&str, bool)> =
            simple.iter().map(|figure| (figure.implementation.as_str(), figure.original)).collect();
        assert_eq!(names, [("perplexity-go", true), ("perplexity-py", false)]);
        assert_eq!((simple[0].time_ns, simple[0].allocs_op), (1562.0, Some(6.0)));
        assert!(file.of("sse/absent").is_empty());
    }
}
