//! Debug output that ends: what was shown is not shown again, secrets are not shown at all.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;

use super::{Base, Cycle, Members, Object, ObjectBuilder, Value};

thread_local! {
    /// Shared objects that the output in progress has shown.
    static SHOWN: RefCell<HashSet<usize>> = RefCell::default();
    /// How many parts of values the output in progress is inside of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// How many parts of values are shown inside of each other; an object with members is two. What is deeper is cut off:
/// each level is a call, and values that were put together by hand nest as deep as they like.
const DEEPEST: u32 = 64;

/// Runs `show` one level deeper.
fn within(
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
    if level.0 == DEEPEST {
        return f.write_str("..");
    }
    DEPTH.set(level.0 + 1);
    show(f)
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("Nil"),
            Self::Bool(value) => f.debug_tuple("Bool").field(value).finish(),
            Self::Char(value) => f.debug_tuple("Char").field(value).finish(),
            Self::SByte(value) => f.debug_tuple("SByte").field(value).finish(),
            Self::Byte(value) => f.debug_tuple("Byte").field(value).finish(),
            Self::Int16(value) => f.debug_tuple("Int16").field(value).finish(),
            Self::UInt16(value) => f.debug_tuple("UInt16").field(value).finish(),
            Self::Int32(value) => f.debug_tuple("Int32").field(value).finish(),
            Self::UInt32(value) => f.debug_tuple("UInt32").field(value).finish(),
            Self::Int64(value) => f.debug_tuple("Int64").field(value).finish(),
            Self::UInt64(value) => f.debug_tuple("UInt64").field(value).finish(),
            Self::Single(value) => f.debug_tuple("Single").field(value).finish(),
            Self::Double(value) => f.debug_tuple("Double").field(value).finish(),
            Self::Decimal(value) => f.debug_tuple("Decimal").field(value).finish(),
            Self::String(text) => f.debug_tuple("String").field(text).finish(),
            Self::Uri(text) => f.debug_tuple("Uri").field(text).finish(),
            Self::Xml(text) => f.debug_tuple("Xml").field(text).finish(),
            Self::ScriptBlock(text) => f.debug_tuple("ScriptBlock").field(text).finish(),
            Self::Guid(value) => f.debug_tuple("Guid").field(value).finish(),
            Self::Version(value) => f.debug_tuple("Version").field(value).finish(),
            Self::DateTime(value) => f.debug_tuple("DateTime").field(value).finish(),
            Self::TimeSpan(value) => f.debug_tuple("TimeSpan").field(value).finish(),
            Self::Bytes(bytes) => f.debug_tuple("Bytes").field(bytes).finish(),
            Self::SecureString(secret) => fmt::Debug::fmt(secret, f),
            Self::Progress(record) => fmt::Debug::fmt(record, f),
            Self::Object(object) => fmt::Debug::fmt(object, f),
            Self::Cycle(cycle) => fmt::Debug::fmt(cycle, f),
            Self::MemberSet(members) => f.debug_tuple("MemberSet").field(members).finish(),
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        within(f, |f| {
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

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        within(f, |f| match self {
            Self::None => f.write_str("None"),
            Self::Value(value) => f.debug_tuple("Value").field(value).finish(),
            Self::List(kind, items) => f.debug_tuple("List").field(kind).field(items).finish(),
            Self::Dictionary(entries) => f.debug_tuple("Dictionary").field(entries).finish(),
        })
    }
}

impl fmt::Debug for ObjectBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.clone().build(), f)
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        within(f, |f| f.debug_map().entries(self.iter()).finish())
    }
}

impl fmt::Debug for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cycle")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_references_are_shown_once() {
        let mut value = Value::from(Object::list(["x"]));
        for _ in 0..40 {
            value = Object::list([value.clone(), value]).into();
        }
        assert!(format!("{value:?}").len() < 10_000);
        assert_eq!(format!("{value:?}"), format!("{value:?}"));
    }
}
