//! The counting pass: allocations and bytes per operation.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::alloc::counted;

/// Initialises lazy tables and pools, whose cost does not belong to the operation.
const WARM_UP_CALLS: u32 = 100;
const WARM_UP_TIME: Duration = Duration::from_millis(10);
/// Maximum duration of a batch, for operations of many milliseconds.
const BATCH_TIME: Duration = Duration::from_millis(10);
const BATCH_CALLS: u32 = 100;

/// Allocations of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// Operations per counted batch.
    pub iterations: u32,
    /// Allocations per operation, the smaller of two batches.
    pub allocs_op: f64,
    /// Requested bytes per operation, of the same batch.
    pub bytes_op: f64,
    /// True if both batches agree. Lazy initialisation, growing pools or other threads make them differ.
    pub deterministic: bool,
}

/// Counts the allocations of `operation` by the rules of [`CountingAllocator`](crate::CountingAllocator).
///
/// Warms up with at most 100 calls or 10 ms, counts two equal batches, and returns the smaller result. All counts are
/// zero if the binary does not install the allocator.
pub fn count<T>(mut operation: impl FnMut() -> T) -> Counts {
    count_batches(|iterations| {
        for _ in 0..iterations {
            black_box(operation());
        }
    })
}

/// [`count`] for an operation that repeats itself the given number of times.
pub(crate) fn count_batches<T>(mut operations: impl FnMut(u64) -> T) -> Counts {
    let start = Instant::now();
    let mut calls = 0;
    while calls < WARM_UP_CALLS && (calls == 0 || start.elapsed() < WARM_UP_TIME) {
        black_box(operations(1));
        calls += 1;
    }
    let per_call = start.elapsed() / calls;
    let affordable = BATCH_TIME.as_nanos() / per_call.as_nanos().max(1);
    let iterations = u32::try_from(affordable).unwrap_or(BATCH_CALLS).clamp(1, BATCH_CALLS);

    let mut batch = || {
        counted(|| {
            black_box(operations(u64::from(iterations)));
        })
    };
    let (first, second) = (batch(), batch());
    let (allocations, bytes) = first.min(second);
    Counts {
        iterations,
        allocs_op: allocations as f64 / f64::from(iterations),
        bytes_op: bytes as f64 / f64::from(iterations),
        deterministic: first == second,
    }
}
