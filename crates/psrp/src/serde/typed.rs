//! Type names and text form added to any type.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::passthrough::{self, DeserializeValue, SerializeValue};
use super::path_error::Result;
use super::ser::to_value;
use crate::value::TypeNames;
use crate::{Object, PsString, Value};

/// Adds .NET type names and a text form to any type, if these are only known at run time.
///
/// A struct that always represents the same .NET type declares it with [its name](crate::serde#type-names) instead.
/// Other serializers and deserializers only see the value.
///
/// ```
/// use psrp::serde::Typed;
/// use psrp::{Object, Value};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// #[serde(rename_all = "PascalCase")]
/// struct Item {
///     name: String,
/// }
///
/// let item = Typed::new(Item { name: "a".into() }).with_type_names(["My.Item", "System.Object"]);
/// let value = psrp::to_value(&item)?;
/// assert!(value.as_object().unwrap().is_a("My.Item"));
///
/// let back: Typed<Item> = psrp::from_value(&value)?;
/// assert_eq!(back.type_names.unwrap().first().unwrap(), "My.Item");
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Typed<T> {
    /// The type names. `None` writes the default type names of the value.
    pub type_names: Option<TypeNames>,
    /// The text form, the result of `ToString`.
    pub to_string: Option<PsString>,
    /// The value.
    pub value: T,
}

impl<T> Typed<T> {
    /// Creates a value without type names and text form.
    pub const fn new(value: T) -> Self {
        Self { type_names: None, to_string: None, value }
    }

    /// Sets the type names, most derived type first.
    #[must_use]
    pub fn with_type_names<N: Into<PsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.type_names = Some(TypeNames::new(names));
        self
    }

    /// Sets the text form.
    #[must_use]
    pub fn with_to_string(mut self, text: impl Into<PsString>) -> Self {
        self.to_string = Some(text.into());
        self
    }
}

impl<T: Serialize> SerializeValue for Typed<T> {
    fn value(&self) -> Result<Value> {
        let value = to_value(&self.value)?;
        let mut content = match value {
            Value::Object(object) => object.content().clone(),
            value => Object::builder().wrap(value).build().content().clone(),
        };
        if self.type_names.is_some() {
            content.type_names.clone_from(&self.type_names);
        }
        if self.to_string.is_some() {
            content.to_string.clone_from(&self.to_string);
        }
        Ok(Object::from_content(content).into())
    }

    fn serialize_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeValue<'de> for Typed<T> {
    const EXPECTED: &'static str = "an object";

    fn from_value<D: Deserializer<'de>>(value: Value, deserializer: D) -> Result<Option<Self>, D::Error> {
        let object = value.as_object();
        let object = object.as_ref();
        Ok(Some(Self {
            type_names: object.and_then(Object::type_names).cloned(),
            to_string: object.and_then(Object::to_string_text).cloned(),
            value: T::deserialize(deserializer)?,
        }))
    }

    fn deserialize_plain<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

impl<T: Serialize> Serialize for Typed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        passthrough::serialize(self, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Typed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        passthrough::deserialize(deserializer)
    }
}
