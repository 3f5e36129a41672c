//! Values are dropped however deep they nest: with a call per level only to some depth, and from a list beyond.

use std::cell::{Cell, RefCell};
use std::mem;

use super::object::Content;
use super::{Base, Members, PsString, Value};

/// How many parts are dropped inside of each other. Documents are rarely deeper, so that the list stays unused.
const NESTED: u32 = 64;

/// What values are in.
#[expect(dead_code, reason = "parts are there to be dropped")]
enum Part {
    Base(Base),
    Members(Vec<(PsString, Value)>),
}

thread_local! {
    /// How many parts are being dropped.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What is dropped once the outermost part is.
    static LATER: RefCell<Vec<Part>> = const { RefCell::new(Vec::new()) };
}

fn release(part: Part) {
    let depth = DEPTH.get();
    if depth == NESTED {
        // A thread that ends has no list any more, and drops the part here.
        let _ = LATER.try_with(|later| later.borrow_mut().push(part));
        return;
    }
    DEPTH.set(depth + 1);
    drop(part);
    if depth == 0 {
        while let Ok(Some(part)) = LATER.try_with(|later| later.borrow_mut().pop()) {
            drop(part);
        }
    }
    DEPTH.set(depth);
}

impl Drop for Content {
    fn drop(&mut self) {
        if !matches!(self.base, Base::None) {
            release(Part::Base(mem::take(&mut self.base)));
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        if !self.is_empty() {
            release(Part::Members(self.take()));
        }
    }
}
