//! The shared benchmark harness.
//!
//! One binary per system builds rows and the implementations of each row:
//!
//! ```no_run
//! use benches::{Impl, Suite};
//!
//! benches::counting_allocator!();
//!
//! fn main() -> std::process::ExitCode {
//!     benches::main("demo", "target/tmp", rows) // a suite passes env!("CARGO_TARGET_TMPDIR")
//! }
//!
//! fn rows(suite: &mut Suite) -> anyhow::Result<()> {
//!     let input = b"data: 1\n\n";
//!     suite
//!         .row("count_lines")
//!         .payload(input.len() as u64)
//!         .elements(2)
//!         .run(Impl::ours("loop").class("count"), 2, || {
//!             input.iter().filter(|&&byte| byte == b'\n').count() as u64
//!         })
//!         .run(Impl::peer("split", "std").class("count"), 2, || {
//!             input.split(|&byte| byte == b'\n').count() as u64 - 1
//!         });
//!     Ok(())
//! }
//! ```
//!
//! Every operation returns a check value that is compared before timing. A separate pass counts allocations. Then ours
//! and the fastest peers of each class and language take turns in one process (the module `duel`), in several processes
//! that the module `coordinator` starts. criterion times each implementation alone.
//!
//! The `README.md` of this package describes the files of a suite.

mod alloc;
mod coordinator;
mod duel;
pub mod event_stream;
mod implementation;
pub mod memory;
mod options;
mod placement;
mod resident;
mod suite;
mod worker;

pub use crate::alloc::{CountingAllocator, Counts, count};
pub use crate::coordinator::main;
pub use crate::implementation::Impl;
pub use crate::suite::{Row, Suite};

/// Installs [`CountingAllocator`] as the global allocator of the binary.
///
/// Every suite needs it: [`main`](crate::main) does not measure without it, because all counts would be zero.
#[macro_export]
macro_rules! counting_allocator {
    () => {
        #[global_allocator]
        static COUNTING_ALLOCATOR: $crate::CountingAllocator = $crate::CountingAllocator::new();
    };
}
