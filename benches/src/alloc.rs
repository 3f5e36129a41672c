//! The counting global allocator, and the pass that counts allocations and bytes per operation.
#![allow(
    unsafe_code,
    reason = "`GlobalAlloc` can only be implemented with `unsafe`; nothing else here needs it"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Initialises lazy tables and pools, whose cost does not belong to the operation.
const WARM_UP_CALLS: u32 = 100;
const WARM_UP_TIME: Duration = Duration::from_millis(10);
/// Maximum duration of a batch, for operations of many milliseconds.
const BATCH_TIME: Duration = Duration::from_millis(10);
const BATCH_CALLS: u128 = 100;

/// Off except in counting passes, so that timed code pays one relaxed load and a predicted branch.
static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The system allocator with optional counting.
///
/// The rules make the figures comparable with Go's `allocs/op` and `B/op`: `alloc`, `alloc_zeroed` and `realloc` count
/// as one each, a `realloc` counts its whole new size (Go grows by allocating anew), and frees do not count. The
/// counters cover the whole process. Sizes are as requested, whereas Go rounds up to size classes.
#[derive(Debug, Default)]
pub struct CountingAllocator(());

impl CountingAllocator {
    /// Creates the allocator; [`counting_allocator!`](crate::counting_allocator) is the usual way to install it.
    pub const fn new() -> Self {
        Self(())
    }
}

fn note(bytes: usize) {
    if COUNTING.load(Relaxed) {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(bytes as u64, Relaxed);
    }
}

// SAFETY: every method forwards its arguments unchanged to `System`, which upholds the contract of `GlobalAlloc`;
// `note` only touches atomics, so it neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`, and `layout` is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`, and `layout` is passed on unchanged.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size);
        // SAFETY: `ptr` came from this allocator, hence from `System`, with this `layout`; the caller upholds the rest.
        unsafe { System.realloc(ptr, layout, new_size) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from this allocator, hence from `System`, with this `layout`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Runs `operation` with counting enabled and returns the number of allocations and of requested bytes.
///
/// Counts the allocations of all threads. Returns zeros if the binary has another global allocator. Not reentrant: a
/// nested call resets the counters of the outer one.
pub(crate) fn counted(operation: impl FnOnce()) -> (u64, u64) {
    ALLOCATIONS.store(0, Relaxed);
    BYTES.store(0, Relaxed);
    COUNTING.store(true, Relaxed);
    operation();
    COUNTING.store(false, Relaxed);
    (ALLOCATIONS.load(Relaxed), BYTES.load(Relaxed))
}

/// Returns whether [`CountingAllocator`] is the global allocator of this binary.
pub(crate) fn is_installed() -> bool {
    // `black_box` keeps the optimiser from removing the allocation.
    counted(|| drop(black_box(Box::new(0_u64)))).0 > 0
}

/// Allocations of one operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// Allocations per operation, the smaller of two batches.
    pub allocs_op: f64,
    /// Requested bytes per operation, of the same batch.
    pub bytes_op: f64,
    /// Whether both batches agree. Lazy initialisation, growing pools or other threads make them differ.
    pub deterministic: bool,
}

/// Counts the allocations of `operations`, which repeats an operation the given number of times, by the rules of
/// [`CountingAllocator`].
///
/// Warms up with at most 100 calls or 10 ms, counts two equal batches, and returns the smaller result. All counts are
/// zero if the binary does not install the allocator.
pub fn count<T>(mut operations: impl FnMut(u64) -> T) -> Counts {
    let start = Instant::now();
    let mut calls = 0;
    while calls < WARM_UP_CALLS && (calls == 0 || start.elapsed() < WARM_UP_TIME) {
        black_box(operations(1));
        calls += 1;
    }
    let per_call = (start.elapsed() / calls).as_nanos().max(1);
    let iterations = (BATCH_TIME.as_nanos() / per_call).clamp(1, BATCH_CALLS) as u64;
    let mut batch = || counted(|| drop(black_box(operations(iterations))));
    let (first, second) = (batch(), batch());
    let (allocations, bytes) = first.min(second);
    Counts {
        allocs_op: allocations as f64 / iterations as f64,
        bytes_op: bytes as f64 / iterations as f64,
        deterministic: first == second,
    }
}
