//! Lists, dictionaries and objects while they are put together.

use serde::ser::{self, Serialize};

use super::{Context, ValueSerializer, names, tagged};
use crate::error::Kind;
use crate::serde::fault::{Fault, Result, Step};
use crate::serde::special;
use crate::value::object::Content;
use crate::value::{Base, ContainerKind, TypeNames};
use crate::{Object, Value};

/// Room that is made for a length that the type tells before its items are seen.
const ROOM: usize = 4096;

impl Context {
    fn value<T: Serialize + ?Sized>(&self, value: &T, step: Step) -> Result<Value> {
        value.serialize(ValueSerializer(self)).map_err(|fault| fault.below(step))
    }
}

/// A list.
pub(super) struct Items<'a> {
    context: &'a Context,
    items: Vec<Value>,
}

impl<'a> Items<'a> {
    pub(super) fn new(context: &'a Context, length: usize) -> Self {
        Self { context, items: Vec::with_capacity(length.min(ROOM)) }
    }

    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let value = self.context.value(value, Step::Item(self.items.len()))?;
        self.items.push(value);
        Ok(())
    }

    fn finish(self) -> Value {
        self.context.adapted.set(false);
        object(names::list(), Base::List(ContainerKind::List, self.items))
    }
}

fn object(type_names: TypeNames, base: Base) -> Value {
    Object::from_content(Content { type_names: Some(type_names), base, ..Content::default() }).into()
}

/// A dictionary.
pub(super) struct Entries<'a> {
    context: &'a Context,
    key: Option<Value>,
    entries: Vec<(Value, Value)>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(context: &'a Context, length: usize) -> Self {
        Self { context, key: None, entries: Vec::with_capacity(length.min(ROOM)) }
    }
}

/// An object with members.
pub(super) struct Fields<'a> {
    context: &'a Context,
    length: usize,
    /// Whether the type itself says of which .NET type the object is.
    named: bool,
    content: Content,
}

impl<'a> Fields<'a> {
    /// `name` is that of the struct, `length` how many fields it has.
    pub(super) fn new(context: &'a Context, name: &'static str, length: usize) -> Self {
        let type_names = Some(context.names.of(name));
        Self {
            context,
            length,
            named: names::is_given(name),
            content: Content { type_names, ..Content::default() },
        }
    }

    fn push<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.context.adapted.set(false);
        let value = self.context.value(value, Step::Member(name))?;
        let adapted = self.context.adapted.replace(false);
        let fault = |detail| Fault::new(Kind::Unwritable, detail).below(Step::Member(name));
        match name {
            special::TYPE_NAMES if value.is_nil() => {}
            special::TYPE_NAMES => {
                let names = value.items().ok_or_else(|| fault("type names are a list of strings"))?;
                let names: Option<Vec<_>> = names.iter().map(|name| name.as_ps_string().cloned()).collect();
                let names = names.ok_or_else(|| fault("type names are a list of strings"))?;
                self.content.type_names = (!names.is_empty()).then(|| TypeNames::new(names));
                self.named = true;
            }
            special::TO_STRING => match value.as_ps_string() {
                Some(text) => self.content.to_string = Some(text.clone()),
                None if value.is_nil() => {}
                None => return Err(fault("the text of an object is a string")),
            },
            special::VALUE => self.wrap(value),
            _ => {
                let content = &mut self.content;
                let members = if adapted { &mut content.adapted } else { &mut content.extended };
                if members.is_empty() {
                    members.reserve(self.length.min(ROOM));
                }
                members.push(name, value);
            }
        }
        Ok(())
    }

    /// Wraps `value`: of a container its items or entries rather than the object that holds nothing else.
    fn wrap(&mut self, value: Value) {
        let container = match &value {
            Value::Nil => return,
            Value::Object(object) if object.adapted().is_empty() && object.extended().is_empty() => {
                matches!(object.base(), Base::List(..) | Base::Dictionary(_)).then_some(object)
            }
            _ => None,
        };
        // Without a type of its own, the object is of the type of what it wraps.
        if !self.named {
            self.content.type_names = container.and_then(|object| object.type_names()).cloned();
        }
        self.content.base = match container {
            Some(object) => object.base().clone(),
            None => Base::Value(value),
        };
    }

    fn finish(self) -> Value {
        Object::from_content(self.content).into()
    }
}

/// A variant and what it carries.
pub(super) struct Tagged<T> {
    pub(super) variant: &'static str,
    pub(super) inner: T,
}

impl ser::SerializeSeq for Items<'_> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.push(value)
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for Items<'_> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.push(value)
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for Items<'_> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.push(value)
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for Tagged<Items<'_>> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.inner.push(value).map_err(|fault| fault.below(Step::Member(self.variant)))
    }

    fn end(self) -> Result<Value> {
        Ok(tagged(self.variant, self.inner.finish()))
    }
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let step = Step::Key(self.entries.len());
        let key = self.context.value(key, step)?;
        if key.is_nil() {
            return Err(Fault::new(Kind::Unwritable, "a key of a dictionary is $null").below(step));
        }
        self.key = Some(key);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        let step = Step::Value(self.entries.len());
        let value = self.context.value(value, step)?;
        let Some(key) = self.key.take() else {
            return Err(Fault::new(Kind::Unwritable, "a value of a dictionary has no key").below(step));
        };
        self.entries.push((key, value));
        Ok(())
    }

    fn end(self) -> Result<Value> {
        self.context.adapted.set(false);
        Ok(object(names::hashtable(), Base::Dictionary(self.entries)))
    }
}

impl ser::SerializeStruct for Fields<'_> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.push(name, value)
    }

    fn end(self) -> Result<Value> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Tagged<Fields<'_>> {
    type Ok = Value;
    type Error = Fault;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
        self.inner.push(name, value).map_err(|fault| fault.below(Step::Member(self.variant)))
    }

    fn end(self) -> Result<Value> {
        Ok(tagged(self.variant, self.inner.finish()))
    }
}
