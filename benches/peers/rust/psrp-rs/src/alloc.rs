//! The counting allocator, by the rules of the suites: `alloc`, `alloc_zeroed` and `realloc` count one each, a `realloc`
//! its whole new size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

static COUNTING: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Calls that are counted, and calls before them.
const CALLS: u64 = 100;

/// The system's allocator, which counts when it is told to.
pub(crate) struct Counting;

fn note(bytes: usize) {
    if COUNTING.load(Relaxed) {
        ALLOCATIONS.fetch_add(1, Relaxed);
        BYTES.fetch_add(bytes as u64, Relaxed);
    }
}

// SAFETY: every method forwards its arguments unchanged to `System`, which upholds the contract of `GlobalAlloc`;
// `note` only touches atomics, so it neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`, and `layout` is passed on as it is.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`, and `layout` is passed on as it is.
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

/// Allocations and requested bytes of one operation.
pub(crate) fn per_operation(operation: &mut dyn FnMut()) -> (f64, f64) {
    let mut repeat = || (0..CALLS).for_each(|_| operation());
    repeat();
    COUNTING.store(true, Relaxed);
    repeat();
    COUNTING.store(false, Relaxed);
    let each = |counter: &AtomicU64| counter.load(Relaxed) as f64 / CALLS as f64;
    (each(&ALLOCATIONS), each(&BYTES))
}
