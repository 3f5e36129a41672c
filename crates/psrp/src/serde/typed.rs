//! Type names and text of an object, beside any type.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::fault::Result;
use super::hand::{self, Give, Take};
use super::ser::to_value;
use crate::value::TypeNames;
use crate::{Object, PsString, Value};

/// Any type with the type names and text form of the object that it is in PowerShell, where these are not known before.
///
/// A struct that always is of one .NET type says so by [its name](crate::serde#type-names) instead.
///
/// Other serializers and deserializers see the value alone.
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
    /// The type names. `None` writes those that the value has without this type.
    pub type_names: Option<TypeNames>,
    /// What `ToString` gives.
    pub to_string: Option<PsString>,
    /// What the object has besides.
    pub value: T,
}

impl<T> Typed<T> {
    /// A value without names and text.
    pub const fn new(value: T) -> Self {
        Self { type_names: None, to_string: None, value }
    }

    /// Sets the type names, most derived first.
    #[must_use]
    pub fn with_type_names<N: Into<PsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.type_names = Some(TypeNames::new(names));
        self
    }

    /// Sets the text.
    #[must_use]
    pub fn with_to_string(mut self, text: impl Into<PsString>) -> Self {
        self.to_string = Some(text.into());
        self
    }
}

impl<T: Serialize> Give for Typed<T> {
    fn give(&self) -> Result<Value> {
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

    fn give_plain<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Take<'de> for Typed<T> {
    const EXPECTED: &'static str = "an object";

    fn take<D: Deserializer<'de>>(value: Value, deserializer: D) -> Result<Option<Self>, D::Error> {
        let object = value.as_object();
        let object = object.as_ref();
        Ok(Some(Self {
            type_names: object.and_then(Object::type_names).cloned(),
            to_string: object.and_then(Object::to_string_text).cloned(),
            value: T::deserialize(deserializer)?,
        }))
    }

    fn take_plain<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

impl<T: Serialize> Serialize for Typed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hand::serialize(self, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Typed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        hand::deserialize(deserializer)
    }
}
