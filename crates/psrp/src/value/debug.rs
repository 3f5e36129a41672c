//! `Debug` output of bounded size: each shared object is shown once, secrets never.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use super::{Base, Cycle, Members, Object};

thread_local! {
    /// Addresses of the shared objects already shown in the current output.
    static SHOWN: RefCell<HashSet<usize>> = RefCell::default();
    /// Nesting depth of the current output.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Maximum nesting depth; deeper parts are shown as `..`. An object with members counts as two. Each level is a
/// recursive call, and values built in code can be nested to any depth.
const MAX_DEPTH: u32 = 64;

/// Runs `show` one level deeper.
fn nested(
    f: &mut fmt::Formatter<'_>,
    show: impl FnOnce(&mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    struct Level(u32);

    impl Drop for Level {
        fn drop(&mut self) {
            DEPTH.set(self.0);
            if self.0 == 0 {
                SHOWN.with_borrow_mut(|shown| *shown = HashSet::new());
            }
        }
    }

    let level = Level(DEPTH.get());
    if level.0 == MAX_DEPTH {
        return f.write_str("..");
    }
    DEPTH.set(level.0 + 1);
    show(f)
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        nested(f, |f| {
            let address = self.address();
            let again = self.is_shared() && !SHOWN.with_borrow_mut(|shown| shown.insert(address));
            if again {
                return f.write_str("Object(shown above)");
            }
            let mut out = f.debug_struct("Object");
            if let Some(names) = self.type_names() {
                out.field("type_names", names);
            }
            if let Some(text) = self.to_string_text() {
                out.field("to_string", text);
            }
            match self.base() {
                Base::None => {}
                Base::Value(value) => drop(out.field("base", value)),
                Base::List(kind, items) => drop(out.field("kind", kind).field("items", items)),
                Base::Dictionary(entries) => drop(out.field("entries", entries)),
            }
            if !self.adapted().is_empty() {
                out.field("adapted", self.adapted());
            }
            if !self.extended().is_empty() {
                out.field("extended", self.extended());
            }
            out.finish()
        })
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        nested(f, |f| f.debug_map().entries(self.iter()).finish())
    }
}

impl fmt::Debug for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cycle")
    }
}
