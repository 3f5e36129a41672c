//! Results of benchmark runs: the data of `report.json` and its statistics.

pub mod machine;
pub mod model;
pub mod quantity;
pub mod stats;
