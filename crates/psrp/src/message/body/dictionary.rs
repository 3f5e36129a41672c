//! Dictionaries of application data.

use super::SessionCapability;
use crate::shape::{CopyBudget, Field, Mismatch, object_struct};
use crate::value::{Base, Object, PsString, Value};

/// A dictionary of primitives (`System.Management.Automation.PSPrimitiveDictionary`, MS-PSRP 2.2.3.18), used by
/// applications to exchange data when a pool is opened.
///
/// Keys are strings and are compared ignoring the case of ASCII letters. Values are primitives, lists of primitives,
/// and nested dictionaries of this type.
///
/// ```
/// use psrp::message::PrimitiveDictionary;
///
/// let arguments = PrimitiveDictionary::new([("Client", "example")]);
/// assert_eq!(arguments.get("client").unwrap(), &"example");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveDictionary(Object);

impl PrimitiveDictionary {
    /// Creates a dictionary from its entries.
    pub fn new<K: Into<PsString>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let names = [
            "System.Management.Automation.PSPrimitiveDictionary",
            "System.Collections.Hashtable",
            "System.Object",
        ];
        let entries = entries.into_iter().map(|(key, value)| (Value::String(key.into()), value));
        Self(Object::builder().type_names(names).dictionary(entries).build())
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().rev().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Iterates over the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&PsString, &Value)> {
        let entries = match self.0.base() {
            Base::Dictionary(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().filter_map(|(key, value)| key.as_ps_string().map(|key| (key, value)))
    }
}

impl From<PrimitiveDictionary> for Value {
    fn from(dictionary: PrimitiveDictionary) -> Self {
        Self::Object(dictionary.0)
    }
}

/// The object is preserved unchanged, including its type names.
impl Field for PrimitiveDictionary {
    fn write(&self) -> Value {
        Value::Object(self.0.clone())
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Mismatch> {
        let Value::Object(object) = value else { return Err(Mismatch::new("is not a dictionary")) };
        let Base::Dictionary(entries) = object.base() else {
            return Err(Mismatch::new("is not a dictionary"));
        };
        if entries.iter().any(|(key, _)| key.as_ps_string().is_none()) {
            return Err(Mismatch::new("has a key that is not a string"));
        }
        Ok(Self(object.clone()))
    }
}

object_struct! {
    /// Application data that the server sends to the client (MS-PSRP 2.2.2.13).
    #[derive(Clone, Debug, PartialEq)]
    pub struct ApplicationPrivateData {
        /// The data, `None` for `$null`.
        pub data: Option<PrimitiveDictionary> => "ApplicationPrivateData" [nil],
    }
}

impl ApplicationPrivateData {
    /// Creates data from entries, preceded by `PSVersionTable` with the versions that a server must send.
    pub fn new<K: Into<PsString>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let versions = PrimitiveDictionary::new([
            ("PSRemotingProtocolVersion", SessionCapability::PROTOCOL),
            ("SerializationVersion", SessionCapability::SERIALIZATION),
        ]);
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into()));
        let table = [(PsString::from("PSVersionTable"), Value::from(versions))];
        Self { data: Some(PrimitiveDictionary::new(table.into_iter().chain(entries))) }
    }
}
