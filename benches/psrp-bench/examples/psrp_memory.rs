//! Measures the memory of a session whose pipeline outputs many objects: client and server in one process, over an
//! in-memory pipe. The client processes each object as it arrives.
//!
//!     cargo run --release -p psrp-bench --example psrp_memory
//!
//! Prints the peak resident memory of the process after ten thousand objects and after a million. Linux only.

use std::fs;
use std::io::Write as _;

use anyhow::{Context, Result, ensure};
use psrp_bench::session::{ServerKind, Sessions, sum};

fn main() -> Result<()> {
    let sessions = Sessions::new(ServerKind::Full)?;
    let pool = sessions.open()?;
    let mut out = std::io::stdout().lock();
    for count in [10_000, 1_000_000] {
        let found = sessions.stream(&pool, count)?;
        ensure!(u64::try_from(found) == Ok(sum(count)), "another sum");
        writeln!(out, "{count} objects: peak of {} KiB", peak()?)?;
    }
    Ok(())
}

/// Returns the peak resident memory in KiB.
fn peak() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status").context("only Linux tells")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()).context("no peak")?;
    Ok(number.parse()?)
}
