//! Results of benchmark runs: the data of `report.json`, its statistics, and the pages written from it.
//!
//! A suite writes a [`model::Report`] of its own rows. [`collect`] merges them; [`tables`] and the pages compare ours with the
//! other implementations and with the published figures of [`Sources`].

mod chart;
mod facts;
mod files;
mod history;
mod html;
pub mod machine;
pub mod model;
mod pages;
pub mod program;
pub mod publish;
pub mod quantity;
pub mod sources;
pub mod stats;
pub mod table;

pub use files::{JSON, PAIRS, collect, read, read_json, text, write};
pub use history::{save, text as history};
pub use sources::Sources;

use facts::Facts;
use model::Report;

/// Returns tables for the terminal, at most 110 columns wide: the published tables of which the run has rows, the other rows
/// by group, and totals.
pub fn tables(report: &Report, sources: &Sources) -> String {
    let mut report = report.clone();
    files::use_times_of_duels(&mut report);
    pages::terminal(&Facts::new(&report, sources))
}

/// Returns the reasons why a report must not be published: the circumstances of the run, too many undecided rows, or
/// differences in duels of equal code.
pub fn unfit(report: &Report, sources: &Sources) -> Vec<String> {
    Facts::new(report, sources).unfit()
}
