//! The counting global allocator.
#![allow(
    unsafe_code,
    reason = "`GlobalAlloc` can only be implemented with `unsafe`; nothing else here needs it"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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
    counted(|| drop(std::hint::black_box(Box::new(0_u64)))).0 > 0
}
