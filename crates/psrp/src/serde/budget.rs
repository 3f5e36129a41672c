//! Limits on the conversion of values.

use std::cell::Cell;

use crate::error::Kind;
use crate::serde::path_error::{PathError, Result};
use crate::{Error, Value};

/// Limits on the number and depth of converted values.
///
/// A short document can refer to one object many times, and such objects can be nested: thirty levels with two
/// references each expand to half a billion values. The conversion to Rust types or text follows every reference; this
/// limits it.
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
/// assert!(skipped.is_ok(), "ignored values cost nothing");
/// let error = Budget::new().max_values(10_000).from_value::<serde_json::Value>(&value).unwrap_err();
/// assert!(error.is_limit());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    values: u64,
    depth: u32,
}

impl Budget {
    /// Default of [`max_values`](Self::max_values): 4,194,304.
    pub const DEFAULT_MAX_VALUES: u64 = 4 << 20;
    /// Default of [`max_depth`](Self::max_depth): 128.
    pub const DEFAULT_MAX_DEPTH: u32 = 128;

    /// Bytes of text or data that are charged like one value.
    const CHUNK: usize = 64;

    /// Creates the default limits.
    pub const fn new() -> Self {
        Self { values: Self::DEFAULT_MAX_VALUES, depth: Self::DEFAULT_MAX_DEPTH }
    }

    setters! {
        /// Maximum number of values. Every 64 bytes of text or data count as one more value. Default:
        /// [`DEFAULT_MAX_VALUES`](Self::DEFAULT_MAX_VALUES), 4,194,304.
        max_values(values: u64) => values = values;
        /// Maximum nesting depth. A reference to an enclosing object counts as a level. Every level uses stack space;
        /// how much depends on the Rust type. Default: [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH), 128.
        max_depth(depth: u32) => depth = depth;
    }

    pub(super) fn start(self) -> RemainingBudget {
        RemainingBudget { values: Cell::new(self.values), depth: Cell::new(self.depth) }
    }
}

impl_default!(Budget);

pub(super) struct RemainingBudget {
    values: Cell<u64>,
    depth: Cell<u32>,
}

impl RemainingBudget {
    /// Charges the value itself, without nested values.
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
            None => Err(Error::with(Kind::Limit, "the budget is exceeded: too many values (set max_values)")),
        }
    }

    /// Runs `convert` one level deeper.
    pub(super) fn nested<T>(&self, convert: impl FnOnce() -> Result<T>) -> Result<T> {
        self.enter().map_err(PathError::from)?;
        let result = convert();
        self.leave();
        result
    }

    /// Enters a level. If it succeeds, [`leave`](Self::leave) must be called.
    pub(super) fn enter(&self) -> Result<(), Error> {
        match self.depth.get().checked_sub(1) {
            Some(left) => {
                self.depth.set(left);
                Ok(())
            }
            None => Err(Error::with(
                Kind::Limit,
                "the budget is exceeded: values are nested too deep (set max_depth)",
            )),
        }
    }

    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() + 1);
    }
}
