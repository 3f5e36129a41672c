//! The decoder cases of `crates/sse/tests/data/sse-cases.json`.

mod case;
mod ours;
mod peers;
mod subject;

pub use case::{Case, Event, load};
pub use subject::{Outcome, Report, Subject, run};

/// Every entry point and adaptor of the `sse` crate.
pub fn ours() -> Vec<Subject> {
    ours::subjects()
}

/// The decoders by others.
pub fn peers() -> Vec<Subject> {
    peers::subjects()
}
