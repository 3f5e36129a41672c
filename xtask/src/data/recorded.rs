//! `recorded.toml`: figures recorded earlier, each with its source.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::model::{Role, Row};
use crate::quantity::Quantity;

#[derive(Debug, Deserialize)]
pub(crate) struct File {
    origin: Vec<Origin>,
    recorded: Vec<Figure>,
}

/// Source of a group of figures.
#[derive(Debug, Deserialize)]
struct Origin {
    id: String,
    remark: String,
}

#[derive(Debug, Deserialize)]
struct Figure {
    key: String,
    implementation: String,
    /// True for the Go project of the published figure; false for another program, shown for scale.
    #[serde(default)]
    original: bool,
    origin: String,
    #[serde(flatten)]
    figures: BTreeMap<Quantity, f64>,
}

/// Returns the recorded figures as rows whose remark is the source.
pub(crate) fn rows(File { origin, recorded }: File) -> Result<Vec<Row>> {
    let row = |figure: Figure| {
        let origin = origin.iter().find(|origin| origin.id == figure.origin);
        Ok(Row {
            remark: Some(origin.with_context(|| format!("{} has no origin", figure.key))?.remark.clone()),
            key: figure.key,
            implementation: figure.implementation,
            role: if figure.original { Role::RecordedOriginal } else { Role::Recorded },
            figures: figure.figures.into_iter().map(|(quantity, value)| (quantity, vec![value])).collect(),
            ..Row::default()
        })
    };
    recorded.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_committed_file() {
        let rows = rows(crate::data::committed("recorded.toml")).unwrap();
        assert!(rows.iter().all(|row| row.figures.values().flatten().all(|figure| *figure > 0.0)));
        let simple: Vec<_> = rows.iter().filter(|row| row.key == "sse/decode_simple_event").collect();
        assert_eq!((simple[0].role, simple[1].role), (Role::RecordedOriginal, Role::Recorded));
        assert_eq!(
            (simple[0].value(Quantity::Time), simple[0].value(Quantity::Allocs)),
            (Some(1562.0), Some(6.0))
        );
        let index = rows.iter().find(|row| row.key == "pypi_proxy/index_warm_324").unwrap();
        assert!(index.value(Quantity::RequestsPerS).is_some_and(|rate| rate > 1000.0));
    }
}
