//! Serializers of lists, dictionaries and objects.

use serde::ser::{self, Serialize};

use super::{SerializerState, ValueSerializer, names, of_variant};
use crate::error::{Kind, PathSegment};
use crate::serde::error::Result;
use crate::serde::view;
use crate::value::object::Content;
use crate::value::{Base, TypeNames};
use crate::{Error, Object, Value};

/// Maximum number of items allocated in advance for a length that the type announces.
const MAX_PREALLOCATED: usize = 4096;

impl SerializerState {
    fn value<T: Serialize + ?Sized>(&self, value: &T, segment: impl Into<PathSegment>) -> Result<Value> {
        value.serialize(ValueSerializer(self)).map_err(|error| error.at(segment))
    }
}

/// Adds the variant that contains the value, if there is one, to the path of an error.
fn in_variant(error: Error, variant: Option<&'static str>) -> Error {
    match variant {
        Some(name) => error.at(name),
        None => error,
    }
}

/// Serializes a list, or a variant whose content is one.
pub(super) struct ListSerializer<'a> {
    state: &'a SerializerState,
    variant: Option<&'static str>,
    items: Vec<Value>,
}

impl<'a> ListSerializer<'a> {
    pub(super) fn new(state: &'a SerializerState, variant: Option<&'static str>, length: usize) -> Self {
        Self { state, variant, items: Vec::with_capacity(length.min(MAX_PREALLOCATED)) }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let value = self.state.value(value, self.items.len());
        self.items.push(value.map_err(|error| in_variant(error, self.variant))?);
        Ok(())
    }

    fn finish(self) -> Value {
        self.state.adapted.set(false);
        of_variant(self.variant, Object::list(self.items).into())
    }
}

pub(super) struct DictionarySerializer<'a> {
    state: &'a SerializerState,
    key: Option<Value>,
    entries: Vec<(Value, Value)>,
}

impl<'a> DictionarySerializer<'a> {
    pub(super) fn new(state: &'a SerializerState, length: usize) -> Self {
        Self { state, key: None, entries: Vec::with_capacity(length.min(MAX_PREALLOCATED)) }
    }
}

/// Serializes an object with members, or a variant whose content is one.
pub(super) struct StructSerializer<'a> {
    state: &'a SerializerState,
    variant: Option<&'static str>,
    length: usize,
    /// Whether the struct's name or its field `$TypeNames` defines the .NET type.
    named: bool,
    content: Content,
}

impl<'a> StructSerializer<'a> {
    /// `name` is the name of the struct, `length` the number of its fields.
    pub(super) fn new(
        state: &'a SerializerState,
        variant: Option<&'static str>,
        name: &'static str,
        length: usize,
    ) -> Self {
        let mut content = Content::default();
        content.type_names = Some(state.names.of(name));
        Self { state, variant, length, named: names::is_dotnet_type(name), content }
    }

    fn push<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.push_field(name, value).map_err(|error| in_variant(error, self.variant))
    }

    fn push_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.state.adapted.set(false);
        let value = self.state.value(value, name)?;
        let adapted = self.state.adapted.replace(false);
        let error = |detail| Error::with(Kind::Unwritable, detail).at(name);
        match name {
            view::TYPE_NAMES if value.is_nil() => {}
            view::TYPE_NAMES => {
                let names = value.items().ok_or_else(|| error("the type names are not a list of strings"))?;
                let names: Option<Vec<_>> = names.iter().map(|name| name.as_ps_string().cloned()).collect();
                let names = names.ok_or_else(|| error("the type names are not a list of strings"))?;
                self.content.type_names = (!names.is_empty()).then(|| TypeNames::new(names));
                self.named = true;
            }
            view::TO_STRING => match value.as_ps_string() {
                Some(text) => self.content.to_string = Some(text.clone()),
                None if value.is_nil() => {}
                None => return Err(error("the text form is not a string")),
            },
            view::VALUE => self.wrap(value),
            _ => {
                let content = &mut self.content;
                let members = if adapted { &mut content.adapted } else { &mut content.extended };
                if members.is_empty() {
                    members.reserve(self.length.min(MAX_PREALLOCATED));
                }
                members.push(name, value);
            }
        }
        Ok(())
    }

    /// Sets the wrapped value. Of a container without members, only the items or entries are wrapped.
    fn wrap(&mut self, value: Value) {
        let container = match &value {
            Value::Nil => return,
            Value::Object(object) if object.adapted().is_empty() && object.extended().is_empty() => {
                matches!(object.base(), Base::List(..) | Base::Dictionary(_)).then_some(object)
            }
            _ => None,
        };
        // Without a type of its own, the object gets the type of the container.
        if !self.named {
            self.content.type_names = container.and_then(|object| object.type_names()).cloned();
        }
        self.content.base = match container {
            Some(object) => object.base().clone(),
            None => Base::Value(value),
        };
    }

    fn finish(self) -> Value {
        of_variant(self.variant, Object::from_content(self.content).into())
    }
}

/// Implements serde's traits for compound values, which differ in the names of trait and method and in whether a
/// field has a name.
macro_rules! impl_serializer {
    ($serializer:ident: $($trait:ident::$serialize:ident($($name:ident: $type:ty)?)),*) => {$(
        impl ser::$trait for $serializer<'_> {
            type Ok = Value;
            type Error = Error;

            fn $serialize<T: Serialize + ?Sized>(&mut self, $($name: $type,)? value: &T) -> Result<()> {
                self.push($($name,)? value)
            }

            fn end(self) -> Result<Value> {
                Ok(self.finish())
            }
        }
    )*};
}

impl_serializer!(
    ListSerializer: SerializeSeq::serialize_element(),
    SerializeTuple::serialize_element(),
    SerializeTupleStruct::serialize_field(),
    SerializeTupleVariant::serialize_field()
);
impl_serializer!(
    StructSerializer: SerializeStruct::serialize_field(name: &'static str),
    SerializeStructVariant::serialize_field(name: &'static str)
);

impl ser::SerializeMap for DictionarySerializer<'_> {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let segment = PathSegment::Key(self.entries.len());
        let key = self.state.value(key, segment)?;
        if key.is_nil() {
            return Err(Error::with(Kind::Unwritable, "a dictionary key is $null").at(segment));
        }
        self.key = Some(key);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let segment = PathSegment::Value(self.entries.len());
        let value = self.state.value(value, segment)?;
        let Some(key) = self.key.take() else {
            return Err(Error::with(Kind::Unwritable, "a dictionary value has no key").at(segment));
        };
        self.entries.push((key, value));
        Ok(())
    }

    fn end(self) -> Result<Value> {
        self.state.adapted.set(false);
        Ok(Object::dictionary(self.entries).into())
    }
}
