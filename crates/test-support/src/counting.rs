//! A counting allocator for tests of memory use.

#![allow(unsafe_code, reason = "a global allocator is the only way to count")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Allocations of a piece of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of allocations, including reallocations.
    pub count: usize,
    /// Total bytes allocated, including freed ones.
    pub bytes: usize,
    /// Size of the largest allocation in bytes.
    pub largest: usize,
}

struct Counting;

thread_local! {
    /// Bytes allocated by this thread, now and at most. Freeing memory of another thread makes the number negative.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    static USAGE: Cell<Usage> = const { Cell::new(Usage { count: 0, bytes: 0, largest: 0 }) };
}

/// Bytes allocated by all threads.
static TOTAL: AtomicIsize = AtomicIsize::new(0);

fn count(size: usize) {
    // The counter of an ending thread is gone.
    let _ = USAGE.try_with(|usage| {
        let Usage { count, bytes, largest } = usage.get();
        usage.set(Usage { count: count + 1, bytes: bytes.saturating_add(size), largest: largest.max(size) });
    });
}

/// Adds a number of bytes, which is negative for freed ones.
fn hold(size: isize) {
    TOTAL.fetch_add(size, Ordering::Relaxed);
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = now.saturating_add(size);
        held.set((now, most.max(now)));
    });
}

// SAFETY: every method passes its arguments on to the system's allocator, which upholds the contract; counting
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        hold(layout.size().cast_signed());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        hold(layout.size().cast_signed());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-layout.size().cast_signed());
        // SAFETY: the caller upholds the contract of `dealloc`; `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        hold(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: the caller upholds the contract of `realloc`; `pointer` came from `System`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the bytes that the process has allocated and not freed.
pub fn held() -> usize {
    usize::try_from(TOTAL.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Runs a function and returns its allocations on this thread.
pub fn usage<T>(run: impl FnOnce() -> T) -> (Usage, T) {
    let before = USAGE.replace(Usage::default());
    let value = run();
    let usage = USAGE.replace(before);
    (usage, value)
}

/// Returns the number of allocations of a function.
pub fn allocations<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let (usage, value) = usage(run);
    (usage.count, value)
}

/// Returns the maximum number of bytes that a function has allocated at a time on this thread.
pub fn peak(run: impl FnOnce()) -> usize {
    let (before, most) = HELD.get();
    HELD.set((before, before));
    run();
    let (now, own) = HELD.get();
    HELD.set((now, most.max(own)));
    usize::try_from(own - before).unwrap_or(0)
}
