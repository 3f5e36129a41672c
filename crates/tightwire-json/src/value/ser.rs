//! Serialization of trees, and of other types into trees.

use std::borrow::BorrowMut;

use serde::Serialize;
use serde::ser;

use super::memory::{Object, Stack, context};
use super::{Number, Value};
use crate::error::{Error, Result};
use crate::marks::{NUMBER_TOKEN, as_text, is_token, raw_token};
use crate::ser::encode_key;

impl Serialize for Value {
    #[inline]
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(array) => array.serialize(serializer),
            Self::Object(map) => map.serialize(serializer),
        }
    }
}

/// Converts `value` to a tree, as if it were encoded and decoded.
///
/// There are these differences: NaN and infinity become `null`, as in serde_json, although encoding them is an error; and
/// integers that exceed 64 bits become written numbers (see [`Number::from_written`]).
///
/// The arrays and objects of the tree share memory, like those of a decoded document (see [`Value`]).
///
/// # Errors
///
/// If a map key cannot be written as a string, if a raw value is not JSON, or if the `Serialize` implementation returns
/// an error.
///
/// # Examples
///
/// ```
/// use tightwire_json::{json, to_value};
///
/// assert_eq!(to_value(Some([1, 2]))?, json!([1, 2]));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub fn to_value<T: Serialize>(value: T) -> Result<Value> {
    value.serialize(Serializer)
}

/// Serializer that returns a [`Value`]. See [`to_value`].
pub type Serializer = To<Root>;

/// Value of the type [`type@Serializer`], like that of a unit struct.
#[expect(non_upper_case_globals, reason = "the type of serde_json is a unit struct")]
pub const Serializer: Serializer = To(Root);

/// Receiver of a value: [`Root`], or the stack of the container around it.
pub trait Target: Sized {
    /// Result of serialization.
    type Ok;
    /// Stack for the values of an array or object.
    type Stack: BorrowMut<Stack>;

    /// Receives a value.
    fn value(self, value: Value) -> Result<Self::Ok>;
    /// Receives a string.
    fn text(self, text: &str) -> Self::Ok;
    fn stack(self) -> Self::Stack;
    /// Receives the array or object on the top of the stack.
    fn container(stack: Self::Stack) -> Self::Ok;
}

/// The value is the root of a tree.
#[derive(Debug, Clone, Copy, Default)]
pub struct Root;

impl Target for Root {
    type Ok = Value;
    type Stack = Stack;

    fn value(self, value: Value) -> Result<Value> {
        Ok(value)
    }

    fn text(self, text: &str) -> Value {
        text.into()
    }

    fn stack(self) -> Stack {
        Stack::new("", 0, usize::MAX)
    }

    fn container(stack: Stack) -> Value {
        stack.finish()
    }
}

impl Target for &mut Stack {
    type Ok = ();
    type Stack = Self;

    #[inline(always)]
    fn value(self, value: Value) -> Result<()> {
        if self.push_scalar(&value) { Ok(()) } else { value.serialize(To(self)) }
    }

    #[inline(always)]
    fn text(self, text: &str) {
        self.push_copy(text);
    }

    #[inline(always)]
    fn stack(self) -> Self {
        self
    }

    #[inline(always)]
    fn container(_stack: Self) {}
}

/// Serializer of a value for a target.
#[derive(Debug, Clone, Copy, Default)]
pub struct To<T>(T);

macro_rules! values {
    ($($method:ident($type:ty))*) => {
        $(
            #[inline]
            fn $method(self, value: $type) -> Result<T::Ok> {
                self.0.value(value.into())
            }
        )*
    };
}

impl<T: Target> ser::Serializer for To<T> {
    type Ok = T::Ok;
    type Error = Error;
    type SerializeSeq = Elements<T>;
    type SerializeTuple = Elements<T>;
    type SerializeTupleStruct = Elements<T>;
    type SerializeTupleVariant = Elements<T>;
    type SerializeMap = Entries<T>;
    type SerializeStruct = Fields<T>;
    type SerializeStructVariant = Entries<T>;

    values! {
        serialize_bool(bool)
        serialize_i8(i8)
        serialize_i16(i16)
        serialize_i32(i32)
        serialize_i64(i64)
        serialize_i128(i128)
        serialize_u8(u8)
        serialize_u16(u16)
        serialize_u32(u32)
        serialize_u64(u64)
        serialize_u128(u128)
        serialize_f32(f32)
        serialize_f64(f64)
    }

    fn serialize_char(self, value: char) -> Result<T::Ok> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<T::Ok> {
        Ok(self.0.text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<T::Ok> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_none(self) -> Result<T::Ok> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<V: Serialize + ?Sized>(self, value: &V) -> Result<T::Ok> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<T::Ok> {
        self.0.value(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<T::Ok> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<T::Ok> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<V: Serialize + ?Sized>(self, name: &'static str, value: &V) -> Result<T::Ok> {
        match name {
            NUMBER_TOKEN => as_text(|| value.serialize(self)),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &V,
    ) -> Result<T::Ok> {
        let mut stack = self.0.stack();
        let object = push_variant(stack.borrow_mut(), variant);
        value.serialize(To(stack.borrow_mut()))?;
        close(stack.borrow_mut(), &object)?;
        Ok(T::container(stack))
    }

    #[inline]
    fn serialize_seq(self, _len: Option<usize>) -> Result<Elements<T>> {
        let mut stack = self.0.stack();
        let from = stack.borrow_mut().len();
        Ok(Elements { stack, from, variant: None })
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Elements<T>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Elements<T>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Elements<T>> {
        let mut stack = self.0.stack();
        let variant = Some(push_variant(stack.borrow_mut(), variant));
        let from = stack.borrow_mut().len();
        Ok(Elements { stack, from, variant })
    }

    #[inline]
    fn serialize_map(self, _len: Option<usize>) -> Result<Entries<T>> {
        let mut stack = self.0.stack();
        let object = stack.borrow_mut().object(0);
        Ok(Entries { stack, object, variant: None })
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Fields<T>> {
        if is_token(name) {
            return Ok(Fields::Raw(self.0, Value::Null));
        }
        let mut stack = self.0.stack();
        // Structs of one type have the same keys.
        let object = stack.borrow_mut().object(context(name.as_ptr().addr() as u64));
        Ok(Fields::Entries(Entries { stack, object, variant: None }))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Entries<T>> {
        let mut stack = self.0.stack();
        let outer = push_variant(stack.borrow_mut(), variant);
        let object = stack.borrow_mut().object(context(variant.as_ptr().addr() as u64));
        Ok(Entries { stack, object, variant: Some(outer) })
    }
}

/// Pushes a value. An error leaves the stack unchanged, because the type may ignore it.
#[inline]
fn push<V: Serialize + ?Sized>(stack: &mut Stack, value: &V) -> Result<()> {
    let lens = stack.lens();
    let result = value.serialize(To(&mut *stack));
    if result.is_err() {
        stack.truncate(lens);
    }
    result
}

/// Opens the object around the content of an enum variant, and pushes its key.
fn push_variant(stack: &mut Stack, variant: &'static str) -> Object {
    let mut object = Object::new(stack.len());
    stack.push_copy(variant);
    stack.end_key(&mut object);
    object
}

/// Replaces the values of an open object by the object.
#[inline]
fn close(stack: &mut Stack, object: &Object) -> Result<()> {
    match stack.len() - object.from() {
        0 => stack.push_empty(true),
        count if u32::try_from(count).is_ok() => stack.push_object(object),
        _ => return too_many(),
    }
    Ok(())
}

#[cold]
fn too_many() -> Result<()> {
    Err(ser::Error::custom("an array or object has too many elements"))
}

/// Serializer of an array.
#[allow(missing_debug_implementations, reason = "not nameable outside of the crate")]
pub struct Elements<T: Target> {
    stack: T::Stack,
    /// Number of values on the stack before the array.
    from: usize,
    /// Object around the content of an enum variant.
    variant: Option<Object>,
}

macro_rules! arrays {
    ($($kind:ident::$element:ident)*) => {
        $(
            impl<T: Target> ser::$kind for Elements<T> {
                type Ok = T::Ok;
                type Error = Error;

                #[inline]
                fn $element<V: Serialize + ?Sized>(&mut self, value: &V) -> Result<()> {
                    push(self.stack.borrow_mut(), value)
                }

                #[inline]
                fn end(mut self) -> Result<T::Ok> {
                    let stack = self.stack.borrow_mut();
                    match stack.len() - self.from {
                        0 => stack.push_empty(false),
                        count if u32::try_from(count).is_ok() => stack.push_array(self.from),
                        _ => too_many()?,
                    }
                    if let Some(variant) = &self.variant {
                        close(stack, variant)?;
                    }
                    Ok(T::container(self.stack))
                }
            }
        )*
    };
}

arrays! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

/// Serializer of an object.
#[allow(missing_debug_implementations, reason = "not nameable outside of the crate")]
pub struct Entries<T: Target> {
    stack: T::Stack,
    object: Object,
    /// Object around the content of an enum variant.
    variant: Option<Object>,
}

impl<T: Target> Entries<T> {
    #[inline]
    fn field<V: Serialize + ?Sized>(&mut self, key: &'static str, value: &V) -> Result<()> {
        let stack = self.stack.borrow_mut();
        stack.push_copy(key);
        stack.end_key(&mut self.object);
        let result = push(stack, value);
        if result.is_err() {
            stack.drop_key(&mut self.object);
        }
        result
    }

    #[inline]
    fn close(mut self) -> Result<T::Ok> {
        let stack = self.stack.borrow_mut();
        stack.drop_key(&mut self.object);
        close(stack, &self.object)?;
        if let Some(variant) = &self.variant {
            close(stack, variant)?;
        }
        Ok(T::container(self.stack))
    }
}

impl<T: Target> ser::SerializeMap for Entries<T> {
    type Ok = T::Ok;
    type Error = Error;

    #[inline]
    fn serialize_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<()> {
        let stack = self.stack.borrow_mut();
        stack.drop_key(&mut self.object);
        push(stack, key)?;
        if !stack.end_key(&mut self.object) {
            // Other keys are rare, and so are written as by the encoder.
            stack.push_copy(&encode_key(key)?);
            stack.end_key(&mut self.object);
        }
        Ok(())
    }

    #[inline]
    fn serialize_value<V: Serialize + ?Sized>(&mut self, value: &V) -> Result<()> {
        let stack = self.stack.borrow_mut();
        if !stack.has_key(&self.object) {
            return Err(ser::Error::custom("a map has a value without a key"));
        }
        push(stack, value)
    }

    #[inline]
    fn end(self) -> Result<T::Ok> {
        self.close()
    }
}

impl<T: Target> ser::SerializeStructVariant for Entries<T> {
    type Ok = T::Ok;
    type Error = Error;

    fn serialize_field<V: Serialize + ?Sized>(&mut self, key: &'static str, value: &V) -> Result<()> {
        self.field(key, value)
    }

    fn end(self) -> Result<T::Ok> {
        self.close()
    }
}

/// Serializer of a struct, or of a raw value or number, which are serialized as a struct with their text.
#[allow(missing_debug_implementations, reason = "not nameable outside of the crate")]
pub enum Fields<T: Target> {
    /// Struct.
    Entries(Entries<T>),
    /// Raw value or number.
    Raw(T, Value),
}

impl<T: Target> ser::SerializeStruct for Fields<T> {
    type Ok = T::Ok;
    type Error = Error;

    #[inline]
    fn serialize_field<V: Serialize + ?Sized>(&mut self, key: &'static str, value: &V) -> Result<()> {
        match self {
            Self::Entries(entries) => entries.field(key, value),
            Self::Raw(_, raw) => {
                let text = to_value(value)?;
                let text = text
                    .as_str()
                    .ok_or_else(|| <Error as ser::Error>::custom("raw value is not a string"))?;
                *raw = match raw_token(key) {
                    Some(_) => crate::from_str(text)
                        .map_err(|_| <Error as ser::Error>::custom("raw value is not valid JSON"))?,
                    None => Value::Number(Number::from_written(text)?),
                };
                Ok(())
            }
        }
    }

    #[inline]
    fn end(self) -> Result<T::Ok> {
        match self {
            Self::Entries(entries) => entries.close(),
            Self::Raw(target, value) => target.value(value),
        }
    }
}
