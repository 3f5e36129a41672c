//! Conversion functions of the crate root, and [`Budget`], the limits on conversions.

use std::cell::Cell;

use serde::de::DeserializeOwned;
use serde::ser::Serialize;

use super::de::ValueDeserializer;
use super::ser;
use crate::error::Kind;
use crate::serde::error::Result;
use crate::{Error, Value, clixml};

/// Converts a Rust value to a PowerShell value by the rules of [`serde`](crate::serde).
///
/// # Errors
///
/// Fails with [`Error::is_unwritable`] for 128-bit integers, for a dictionary with a null key, and if the type's own
/// `Serialize` fails. The message contains the path to the value.
///
/// ```
/// use std::collections::BTreeMap;
///
/// let value = psrp::to_value(&BTreeMap::from([(7, "seven")]))?;
/// assert_eq!(value.entries().unwrap()[0], (7.into(), "seven".into()));
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    ser::to_value(value)
}

/// Converts a PowerShell value to a Rust type by the rules of [`serde`](crate::serde), within the default [`Budget`].
///
/// # Errors
///
/// - [`Error::is_mismatch`] if the value does not fit the type. The message contains the path, such as `Items[3].Name`,
///   and the expected type. An error message of the type itself, which may quote a value, is the source.
/// - [`Error::is_limit`] if the budget is exceeded.
///
/// ```
/// let value = psrp::Value::from(psrp::Object::list([1_i64, 2, 300]));
/// assert_eq!(psrp::from_value::<Vec<u16>>(&value)?, [1, 2, 300]);
///
/// let error = psrp::from_value::<Vec<u8>>(&value).unwrap_err();
/// assert!(error.is_mismatch());
/// assert!(error.to_string().contains("[2]"));
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    Budget::new().from_value(value)
}

/// Converts a Rust value to CLIXML, as a single element like in messages: [`to_value`], then [`clixml::to_vec`].
///
/// Use a [`clixml::Writer`] for files, streams, other depth limits and secure strings.
///
/// # Errors
///
/// Fails like both functions.
///
/// ```
/// assert_eq!(psrp::to_clixml(&(1_u8, 'a'))?, psrp::clixml::to_vec(&psrp::to_value(&(1_u8, 'a'))?)?);
/// assert_eq!(psrp::to_clixml("a\nb")?, b"<S>a_x000A_b</S>");
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn to_clixml<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    clixml::to_vec(&to_value(value)?)
}

/// Converts the single value of a message or document to a Rust type: [`clixml::from_slice`], then [`from_value`].
///
/// Use a [`clixml::Reader`] for documents with several values, other limits and ciphers.
///
/// # Errors
///
/// Fails like both functions. If the bytes are not CLIXML, the error has their [`offset`](Error::offset); if the value
/// does not fit the type, the message contains the path to the value.
///
/// ```
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "PascalCase")]
/// struct State {
///     runspace_state: i32,
/// }
///
/// let message = b"<Obj RefId='0'><MS><I32 N='RunspaceState'>2</I32></MS></Obj>";
/// assert_eq!(psrp::from_clixml::<State>(message)?.runspace_state, 2);
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn from_clixml<T: DeserializeOwned>(document: &[u8]) -> Result<T, Error> {
    from_value(&clixml::from_slice(document)?)
}

impl Value {
    /// Converts a member or dictionary entry to a Rust type by the rules of [`serde`](crate::serde). A missing one is
    /// like `$null`, which is `None` for an [`Option`]. Requires the feature `serde`.
    ///
    /// # Errors
    ///
    /// Fails like [`from_value`]; the message contains the path.
    ///
    /// ```
    /// use psrp::{Object, Value};
    ///
    /// let process = Object::builder().adapted("Id", 4242).adapted("Modules", Object::list(["ntdll", "kernel32"]));
    /// let process = Value::from(process.build());
    /// assert_eq!(process.get_as::<u32>("Id")?, 4242);
    /// assert_eq!(process.get_as::<Vec<String>>("Modules")?, ["ntdll", "kernel32"]);
    /// assert_eq!(process.get_as::<Option<u32>>("Parent")?, None);
    ///
    /// let error = process.get_as::<Vec<u8>>("Modules").unwrap_err();
    /// assert!(error.is_mismatch() && error.to_string().contains("Modules: [0]"));
    /// # Ok::<(), psrp::Error>(())
    /// ```
    pub fn get_as<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        from_value(&self[name]).map_err(|error| error.within(name))
    }
}

impl Budget {
    /// Like [`from_value`], within this budget.
    ///
    /// # Errors
    ///
    /// Fails like [`from_value`].
    pub fn from_value<T: DeserializeOwned>(self, value: &Value) -> Result<T, Error> {
        let budget = self.start();
        ValueDeserializer::new(value, &budget).and_then(|deserializer| T::deserialize(deserializer))
    }
}

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
        self.enter()?;
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
