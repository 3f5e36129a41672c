//! Drops values of any depth without overflowing the stack: recursive to a fixed depth, iterative beyond.

use std::cell::{Cell, RefCell};
use std::mem;

use super::object::Content;
use super::{Base, Members, PsString, Value};

/// Maximum recursion depth. Documents are rarely nested deeper, so that the list is rarely used.
const MAX_RECURSION: u32 = 64;

/// A part of a value that contains other values.
#[expect(dead_code, reason = "parts are only dropped")]
enum Part {
    Base(Base),
    Members(Vec<(PsString, Value)>),
}

thread_local! {
    /// Current recursion depth.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Parts to be dropped when the outermost drop returns.
    static DEFERRED: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

fn drop_bounded(part: Part) {
    let depth = DEPTH.get();
    if depth == MAX_RECURSION {
        // During the destruction of thread-locals there is no list; the part is then dropped here.
        let _ = DEFERRED.try_with(|deferred| deferred.borrow_mut().push(part));
        return;
    }
    DEPTH.set(depth + 1);
    drop(part);
    if depth == 0 {
        while let Ok(Some(part)) = DEFERRED.try_with(|deferred| deferred.borrow_mut().pop()) {
            drop(part);
        }
    }
    DEPTH.set(depth);
}

impl Drop for Content {
    fn drop(&mut self) {
        if !matches!(self.base, Base::None) {
            drop_bounded(Part::Base(mem::take(&mut self.base)));
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        if !self.is_empty() {
            drop_bounded(Part::Members(mem::take(&mut self.0)));
        }
    }
}
