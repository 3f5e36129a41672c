//! How much of a value is walked.

use std::cell::Cell;

use crate::error::Kind;
use crate::serde::fault::{Fault, Result};
use crate::{Error, Value};

/// How many values are walked, and how deep, before a value is refused.
///
/// A short document can refer to one object again and again, and objects that do so nest: thirty levels of two
/// references stand for half a billion values. Where a value becomes a Rust type or text, every reference is followed,
/// and this is what bounds it.
///
/// ```
/// use psrp::serde::Budget;
/// use psrp::{Object, Value};
///
/// let mut value = Value::from("x");
/// for _ in 0..40 {
///     value = Object::list([value.clone(), value]).into();
/// }
/// let skipped = Budget::new().max_values(10_000).from_value::<serde::de::IgnoredAny>(&value);
/// assert!(skipped.is_ok(), "what nobody looks at costs nothing");
/// let error = Budget::new().max_values(10_000).from_value::<serde_json::Value>(&value).unwrap_err();
/// assert!(error.is_limit());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Budget {
    values: u64,
    depth: u32,
}

impl Budget {
    /// Default of [`max_values`](Self::max_values): 4,194,304.
    pub const DEFAULT_MAX_VALUES: u64 = 4 << 20;
    /// Default of [`max_depth`](Self::max_depth): 128.
    pub const DEFAULT_MAX_DEPTH: u32 = 128;

    /// Bytes of text or data that cost as much as a value.
    const CHUNK: usize = 64;

    /// The defaults.
    pub const fn new() -> Self {
        Self { values: Self::DEFAULT_MAX_VALUES, depth: Self::DEFAULT_MAX_DEPTH }
    }

    /// Limits how many values are walked; each 64 bytes of text or data count as one more value. Default:
    /// [`DEFAULT_MAX_VALUES`](Self::DEFAULT_MAX_VALUES), 4,194,304.
    pub const fn max_values(mut self, values: u64) -> Self {
        self.values = values;
        self
    }

    /// Limits how deep values nest. References to an enclosing object count as a level each. Every level takes room on
    /// the stack, how much depends on the type that is read. Default:
    /// [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH), 128.
    pub const fn max_depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    pub(super) fn meter(self) -> Meter {
        Meter { values: Cell::new(self.values), depth: Cell::new(self.depth) }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

/// What is left of a [`Budget`].
pub(super) struct Meter {
    values: Cell<u64>,
    depth: Cell<u32>,
}

impl Meter {
    /// Takes what `value` itself costs, without what is inside it.
    pub(super) fn charge(&self, value: &Value) -> Result<(), Error> {
        let bytes = match value {
            Value::String(text) | Value::Uri(text) | Value::Xml(text) | Value::ScriptBlock(text) => {
                text.size()
            }
            Value::Bytes(bytes) => bytes.len(),
            Value::Object(object) => object.to_string_text().map_or(0, |text| text.size()),
            _ => 0,
        };
        let cost = 1 + (bytes / Budget::CHUNK) as u64;
        match self.values.get().checked_sub(cost) {
            Some(left) => {
                self.values.set(left);
                Ok(())
            }
            None => Err(Error::with(Kind::Limit, "more values than the budget allows")),
        }
    }

    /// Runs `inside` one level deeper.
    pub(super) fn nested<T>(&self, inside: impl FnOnce() -> Result<T>) -> Result<T> {
        self.enter().map_err(Fault::from)?;
        let result = inside();
        self.leave();
        result
    }

    /// Goes a level down; after a success, [`leave`](Self::leave) has to follow.
    pub(super) fn enter(&self) -> Result<(), Error> {
        match self.depth.get().checked_sub(1) {
            Some(left) => {
                self.depth.set(left);
                Ok(())
            }
            None => Err(Error::with(Kind::Limit, "values nest deeper than the budget allows")),
        }
    }

    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() + 1);
    }
}
