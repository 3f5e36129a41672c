//! The shared benchmark harness.
//!
//! One binary per system under `suites/` builds a [`Suite`], adds rows and runs each implementation of a row:
//!
//! ```no_run
//! use benches::{Impl, Suite};
//!
//! benches::counting_allocator!();
//!
//! fn main() {
//!     let mut suite = Suite::from_args("demo", std::env::temp_dir());
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
//! }
//! ```
//!
//! Every operation returns a check value that is compared before timing. A separate pass counts allocations. criterion
//! times the operation for `cargo bench`, and the module `sampler` for `cargo xtask bench`.
//!
//! The `README.md` of this package describes the files of a suite.

mod alloc;
mod count;
pub mod event_stream;
mod implementation;
mod line;
pub mod memory;
mod options;
mod sampler;
mod suite;

pub use crate::alloc::CountingAllocator;
pub use crate::count::{Counts, count};
pub use crate::implementation::{Impl, Role};
pub use crate::suite::{Row, Suite};

/// Installs [`CountingAllocator`] as the global allocator of the binary.
///
/// Every suite needs it: [`Suite::from_args`] does not measure without it, because all counts would be zero.
#[macro_export]
macro_rules! counting_allocator {
    () => {
        #[global_allocator]
        static COUNTING_ALLOCATOR: $crate::CountingAllocator = $crate::CountingAllocator::new();
    };
}
