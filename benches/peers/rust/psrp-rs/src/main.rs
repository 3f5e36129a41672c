//! Rows of the suite `psrp` for the crate `psrp-rs`.
//!
//! ```text
//! psrp-rs-rows --list
//! psrp-rs-rows --row ROW --millis MS
//! ```
//!
//! Prints the line protocol of `benches/README.md`. Documents have no wrapper, properties are extended ones, and there is
//! no reference: the crate has neither. Every operation is checked before it is timed.

// The harness's own, so that all sides are counted alike.
#[path = "../../../../src/alloc.rs"]
mod alloc;
#[path = "../../../../src/count.rs"]
mod count;
mod measure;
mod rows;

use std::env;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: alloc::CountingAllocator = alloc::CountingAllocator::new();

/// As in `Cargo.toml`.
const VERSION: &str = "1.0.0";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).map(String::as_str)
    };
    if arguments.iter().any(|argument| argument == "--list") {
        rows::NAMES.iter().for_each(|row| println!("psrp/{row}/psrp-rs"));
        return ExitCode::SUCCESS;
    }
    let millis = value("--millis").map_or(Some(300), |millis| millis.parse().ok());
    let (Some(row), Some(millis)) = (value("--row"), millis) else {
        eprintln!("usage: psrp-rs-rows --list | --row ROW [--millis MS]");
        return ExitCode::from(2);
    };
    let Some(mut operation) = rows::operation(row) else { return ExitCode::SUCCESS };
    if let Err(why) = operation.check() {
        eprintln!("{row}: {why}");
        return ExitCode::FAILURE;
    }
    assert!(alloc::is_installed());
    let counts = count::count(&mut operation.run);
    let (allocations, bytes) = (counts.allocs_op, counts.bytes_op);
    println!(
        "{{\"key\":\"psrp/{row}\",\"implementation\":\"psrp-rs\",\"version\":\"{VERSION}\",\"time_ns\":{},\
         \"bytes_op\":{bytes},\"allocs_op\":{allocations},\"payload_bytes\":{}}}",
        measure::median(&mut operation.run, millis),
        operation.payload,
    );
    ExitCode::SUCCESS
}
