//! Rows of the suite `psrp` for the crate `psrp-rs`, as a program that a suite runs.
//!
//! The documents have no root element and no references, and all properties are extended ones, because the crate
//! supports nothing else. Each operation returns the check value of our implementations if its result is right.

mod rows;

use std::process::ExitCode;

benches::counting_allocator!();

fn main() -> ExitCode {
    benches::main("psrp", env!("CARGO_MANIFEST_DIR"), rows::add)
}
