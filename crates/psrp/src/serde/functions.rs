//! The functions of the crate root, and those of a budget.

use serde::de::DeserializeOwned;
use serde::ser::Serialize;

use super::de::ValueDeserializer;
use super::{Budget, ser};
use crate::{Error, Value, clixml};

/// `value` as a value of PowerShell, as [`serde`](crate::serde) describes it.
///
/// # Errors
///
/// [`Error::is_unwritable`] if there is no such value: an integer of 128 bits, a dictionary with a null key, or what the
/// type's own `Serialize` refuses. The text names the place.
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
///
/// let value = psrp::to_value(&BTreeMap::from([(7, "seven")]))?;
/// assert_eq!(value.entries().unwrap()[0], (7.into(), "seven".into()));
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    ser::to_value(value).map_err(super::fault::Fault::into_error)
}

/// A Rust type from a value, as [`serde`](crate::serde) describes it, within the default [`Budget`].
///
/// # Errors
///
/// - [`Error::is_mismatch`] if the value does not fit the type. The text names the place, such as `Items[3].Name`, and
///   what was expected. A message of the type itself, which may quote a value, is the source.
/// - [`Error::is_limit`] if the budget is exceeded.
///
/// # Examples
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

/// `value` as the bytes of a bare element, the form of messages: [`to_value`], then [`clixml::to_vec`].
///
/// Files, streams, other limits of depth and secure strings take a [`clixml::Writer`].
///
/// # Errors
///
/// Those of both.
///
/// # Examples
///
/// ```
/// assert_eq!(psrp::to_clixml(&(1_u8, 'a'))?, psrp::clixml::to_vec(&psrp::to_value(&(1_u8, 'a'))?)?);
/// assert_eq!(psrp::to_clixml("a\nb")?, b"<S>a_x000A_b</S>");
/// # Ok::<(), psrp::Error>(())
/// ```
pub fn to_clixml<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    clixml::to_vec(&to_value(value)?)
}

/// A Rust type from the one value of a message or document: [`clixml::from_slice`], then [`from_value`].
///
/// Documents with several values, other limits and ciphers take a [`clixml::Reader`].
///
/// # Errors
///
/// Those of both. Where the bytes are no CLIXML, the error has their [`offset`](Error::offset); where the value does not
/// fit the type, its text has the place in the value.
///
/// # Examples
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
    /// The member or entry of this name as another type, as [`serde`](crate::serde) describes it. Where there is none this
    /// is as for `$null`, which is `None` for an [`Option`]. With the feature `serde`.
    ///
    /// # Errors
    ///
    /// As [`from_value`]; the text names the place.
    ///
    /// # Examples
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
    /// As [`from_value`], within this budget.
    ///
    /// # Errors
    ///
    /// As [`from_value`].
    pub fn from_value<T: DeserializeOwned>(self, value: &Value) -> Result<T, Error> {
        let meter = self.meter();
        ValueDeserializer::new(value, &meter)
            .and_then(|deserializer| T::deserialize(deserializer))
            .map_err(super::fault::Fault::into_error)
    }
}
