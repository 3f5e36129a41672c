//! Results of implementations, and standard output.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use crate::implementation::Role;

/// One implementation of one row. `README.md` documents the fields.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Line {
    /// `system/row`.
    pub(crate) key: String,
    pub(crate) implementation: String,
    pub(crate) role: Role,
    pub(crate) language: &'static str,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) payload_bytes: Option<u64>,
    pub(crate) elements: Option<u64>,
    pub(crate) check: Option<u64>,
    /// Median of the samples.
    pub(crate) time_ns: Option<f64>,
    /// True if the duration of the checked call is the only figure.
    pub(crate) is_once: bool,
    pub(crate) bytes_op: Option<f64>,
    pub(crate) allocs_op: Option<f64>,
    pub(crate) deterministic: Option<bool>,
    /// Reason why there is no time.
    pub(crate) failure: Option<String>,
}

impl Line {
    /// Prints the line as JSON, for `cargo xtask bench`.
    pub(crate) fn print(&self) {
        // A struct of numbers and texts is always JSON.
        let text = serde_json::to_string(self).unwrap_or_default();
        say(format_args!("{text}\n"));
    }

    /// Prints what criterion does not print.
    pub(crate) fn print_counts(&self) {
        if let (true, Some(time)) = (self.is_once, self.time_ns) {
            say(format_args!("{:<24}time:   {:.3} ms (one call)\n", "", time / 1e6));
        }
        if let (Some(bytes), Some(allocs)) = (self.bytes_op, self.allocs_op) {
            say(format_args!("{:<24}memory: {bytes:.2} B in {allocs:.2} allocations\n", ""));
        }
    }
}

/// Writes to standard output. Ends the process quietly if the reader has closed it, as with `cargo bench | head`.
pub(crate) fn say(text: impl fmt::Display) {
    if write!(io::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}
