//! Deserializer.

mod access;
mod key;
mod number;
mod skip;
mod stream;

use serde::de::{self, Deserialize, Expected, Unexpected, Visitor};
use tightwire_json::engine;

pub(crate) use self::access::no_content;
use self::access::{Elements, Entries, UnitVariant, Variant};
pub(crate) use self::number::Parsed;
pub use self::stream::StreamDeserializer;
use crate::error::{Error, Reason, Result};
#[cfg(feature = "std")]
pub use crate::read::IoRead;
pub use crate::read::{Read, SliceRead, StrRead};
use crate::read::{Reference, error, peek_error};

/// Number of nested arrays and objects that is an error.
const MAX_DEPTH: u8 = 128;

/// Deserializer of JSON values.
pub struct Deserializer<R> {
    read: R,
    /// Remaining levels of nesting.
    levels: u8,
    #[cfg(feature = "unbounded_depth")]
    is_unbounded: bool,
}

impl<'de, R: Read<'de>> Deserializer<R> {
    /// Returns a deserializer of one of the inputs of this module. See also [`from_str`](Deserializer::from_str),
    /// [`from_slice`](Deserializer::from_slice) and `from_reader`.
    pub fn new(read: R) -> Self {
        Self {
            read,
            levels: MAX_DEPTH,
            #[cfg(feature = "unbounded_depth")]
            is_unbounded: false,
        }
    }
}

#[cfg(feature = "std")]
impl<R: std::io::Read> Deserializer<IoRead<R>> {
    /// Returns a deserializer of the values of a reader, which is left directly behind the last value.
    pub fn from_reader(reader: R) -> Self {
        Self::new(IoRead::new(reader))
    }
}

impl<'a> Deserializer<SliceRead<'a>> {
    /// Returns a deserializer of bytes.
    pub fn from_slice(bytes: &'a [u8]) -> Self {
        Self::new(SliceRead::new(bytes))
    }
}

impl<'a> Deserializer<StrRead<'a>> {
    /// Returns a deserializer of text.
    #[allow(clippy::should_implement_trait, reason = "the name is that of serde_json")]
    pub fn from_str(s: &'a str) -> Self {
        Self::new(StrRead::new(s))
    }
}

impl<'de, R: Read<'de>> Deserializer<R> {
    /// Checks that only white space follows.
    pub fn end(&mut self) -> Result<()> {
        match self.read.token()? {
            None => Ok(()),
            Some(_) => Err(peek_error(&self.read, Reason::TRAILING)),
        }
    }

    /// Returns an iterator over the values that follow.
    #[allow(clippy::should_implement_trait, reason = "the name is that of serde_json")]
    pub fn into_iter<T: Deserialize<'de>>(self) -> StreamDeserializer<'de, R, T> {
        StreamDeserializer::of(self)
    }

    /// Allows any depth. Deep values overflow the stack, unless the deserializer is wrapped in one that grows it.
    #[cfg(feature = "unbounded_depth")]
    pub fn disable_recursion_limit(&mut self) {
        self.is_unbounded = true;
    }

    /// Returns the next byte.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>> {
        self.read.peek()
    }

    /// Skips white space and returns the first byte of a value.
    #[inline(always)]
    fn first(&mut self) -> Result<u8> {
        match self.read.token()? {
            Some(byte) => Ok(byte),
            None => Err(peek_error(&self.read, Reason::EOF_VALUE)),
        }
    }

    /// Adds the current position to an error of a visitor.
    #[inline(always)]
    fn place<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(self.place_error(error)),
        }
    }

    #[cold]
    fn place_error(&self, error: Error) -> Error {
        error.or_at(|| self.read.position())
    }

    /// Returns the error for a value of another type than expected, or for a malformed value. It has a position in any case,
    /// also that of the reader.
    #[cold]
    fn mismatch(&mut self, expected: &dyn Expected) -> Error {
        let error = self.found(expected).unwrap_or_else(|malformed| malformed);
        self.place_error(error)
    }

    fn found(&mut self, expected: &dyn Expected) -> Result<Error> {
        Ok(match self.read.peek()? {
            Some(b'n') => {
                self.read.literal(b"null")?;
                de::Error::invalid_type(Unexpected::Unit, expected)
            }
            Some(b't') => {
                self.read.literal(b"true")?;
                de::Error::invalid_type(Unexpected::Bool(true), expected)
            }
            Some(b'f') => {
                self.read.literal(b"false")?;
                de::Error::invalid_type(Unexpected::Bool(false), expected)
            }
            Some(b'-' | b'0'..=b'9') => de::Error::invalid_type(self.any_number()?.unexpected(), expected),
            Some(b'"') => {
                self.read.discard();
                de::Error::invalid_type(Unexpected::Str(&self.read.string()?), expected)
            }
            Some(b'[') => de::Error::invalid_type(Unexpected::Seq, expected),
            Some(b'{') => de::Error::invalid_type(Unexpected::Map, expected),
            _ => peek_error(&self.read, Reason::VALUE),
        })
    }

    /// Consumes an opening bracket.
    #[inline(always)]
    fn enter(&mut self) -> Result<()> {
        #[cfg(feature = "unbounded_depth")]
        if self.is_unbounded {
            self.read.discard();
            return Ok(());
        }
        self.levels -= 1;
        if self.levels == 0 {
            return Err(peek_error(&self.read, Reason::DEPTH));
        }
        self.read.discard();
        Ok(())
    }

    #[inline(always)]
    fn leave(&mut self) {
        #[cfg(feature = "unbounded_depth")]
        if self.is_unbounded {
            return;
        }
        self.levels += 1;
    }

    /// Returns the result of visiting an array or object, whose end was read in any case.
    #[inline(always)]
    fn close<T>(&self, result: Result<T>, end: Result<()>) -> Result<T> {
        match (result, end) {
            (Ok(value), Ok(())) => Ok(value),
            (Err(error), _) | (_, Err(error)) => Err(self.place_error(error)),
        }
    }

    #[inline]
    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let result = visitor.visit_seq(Elements::new(self));
        self.leave();
        let end = self.end_array();
        self.close(result, end)
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let result = visitor.visit_map(Entries::new(self));
        self.leave();
        let end = self.end_object();
        self.close(result, end)
    }

    #[inline(always)]
    fn end_array(&mut self) -> Result<()> {
        if self.read.token()? == Some(b']') {
            self.read.discard();
            return Ok(());
        }
        Err(self.leftover(b']', Reason::EOF_LIST))
    }

    #[inline(always)]
    fn end_object(&mut self) -> Result<()> {
        if self.read.token()? == Some(b'}') {
            self.read.discard();
            return Ok(());
        }
        Err(self.leftover(b'}', Reason::EOF_OBJECT))
    }

    /// Returns the error for a visitor that stopped before the end of an array or object.
    #[cold]
    fn leftover(&mut self, end: u8, eof: Reason) -> Error {
        let next = self.read.peek().ok().flatten();
        let reason = match next {
            None => eof,
            Some(b',') if end == b'}' => Reason::TRAILING_COMMA,
            Some(b',') => {
                self.read.discard();
                match self.read.token() {
                    Ok(Some(b']')) => Reason::TRAILING_COMMA,
                    _ => Reason::TRAILING,
                }
            }
            Some(_) => Reason::TRAILING,
        };
        peek_error(&self.read, reason)
    }

    /// Consumes the colon after a key.
    #[inline(always)]
    fn colon(&mut self) -> Result<()> {
        match self.read.token()? {
            Some(b':') => {
                self.read.discard();
                Ok(())
            }
            Some(_) => Err(peek_error(&self.read, Reason::COLON)),
            None => Err(peek_error(&self.read, Reason::EOF_OBJECT)),
        }
    }

    #[inline(always)]
    fn visit_string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.read.discard();
        let result = match self.read.string()? {
            Reference::Borrowed(text) => visitor.visit_borrowed_str(text),
            Reference::Copied(text) => visitor.visit_str(text),
        };
        self.place(result)
    }

    #[inline(always)]
    fn visit_bool<V: Visitor<'de>>(&mut self, value: bool, visitor: V) -> Result<V::Value> {
        if value {
            self.read.literal(b"true")?
        } else {
            self.read.literal(b"false")?
        }
        self.place(visitor.visit_bool(value))
    }

    #[inline(always)]
    fn visit_null<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.read.literal(b"null")?;
        self.place(visitor.visit_unit())
    }
}

/// Methods that decode a string, a number, or a sequence.
macro_rules! forward {
    ($($target:ident: $($method:ident($($argument:ident: $type:ty),*))*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value> {
                $(let _ = $argument;)*
                self.$target(visitor)
            }
        )*)*
    };
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.decode_number(false, visitor)
            }
        )*
    };
}

impl<'de, R: Read<'de>> de::Deserializer<'de> for &mut Deserializer<R> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b'"' => self.visit_string(visitor),
            b'-' | b'0'..=b'9' => {
                let number = self.any_number()?;
                self.place(number.visit(visitor))
            }
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            b't' => self.visit_bool(true, visitor),
            b'f' => self.visit_bool(false, visitor),
            b'n' => self.visit_null(visitor),
            _ => Err(peek_error(&self.read, Reason::VALUE)),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b't' => self.visit_bool(true, visitor),
            b'f' => self.visit_bool(false, visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.decode_wide(true, visitor, V::visit_i128)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.decode_wide(false, visitor, V::visit_u128)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.decode_number(true, visitor)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.first()?;
        match self.read.fraction() {
            Some(value) => self.place(visitor.visit_f64(value)),
            None => self.decode_number(false, visitor),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b'"' => self.visit_string(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b'"' => {
                self.read.discard();
                let result = match self.read.byte_string()? {
                    Reference::Borrowed(bytes) => visitor.visit_borrowed_bytes(bytes),
                    Reference::Copied(bytes) => visitor.visit_bytes(bytes),
                };
                self.place(result)
            }
            b'[' => self.array(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.read.token()? == Some(b'n') {
            self.read.literal(b"null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b'n' => self.visit_null(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        #[cfg(feature = "raw_value")]
        if name == crate::raw::TOKEN {
            return self.raw_value(visitor);
        }
        let _ = name;
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b'[' => self.array(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.first()? {
            b'{' => self.object(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.first()? {
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.first()? {
            b'{' => {
                self.enter()?;
                let result = visitor.visit_enum(Variant(self));
                self.leave();
                let value = result?;
                match self.read.token()? {
                    Some(b'}') => {
                        self.read.discard();
                        Ok(value)
                    }
                    Some(_) => Err(error(&self.read, Reason::VALUE)),
                    None => Err(error(&self.read, Reason::EOF_OBJECT)),
                }
            }
            b'"' => visitor.visit_enum(UnitVariant(self)),
            _ => Err(peek_error(&self.read, Reason::VALUE)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    forward! {
        deserialize_str: deserialize_char() deserialize_string() deserialize_identifier();
        deserialize_bytes: deserialize_byte_buf();
        deserialize_unit: deserialize_unit_struct(name: &'static str);
        deserialize_seq: deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize);
    }
}

/// Decodes exactly one value.
#[inline]
fn decode<'de, R: Read<'de>, T: Deserialize<'de>>(read: R) -> Result<T> {
    let mut deserializer = Deserializer::new(read);
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Decodes exactly one value from a reader.
///
/// Reads to the end of the reader, or at least to the first error: a connection that stays open blocks after the value. Use
/// [`Deserializer::from_reader`] for such a reader.
///
/// # Errors
///
/// If the reader fails, or if its content is not one JSON value of this type.
#[cfg(feature = "std")]
pub fn from_reader<R, T>(rdr: R) -> Result<T>
where
    R: std::io::Read,
    T: de::DeserializeOwned,
{
    decode(IoRead::buffered(rdr))
}

/// Decodes exactly one value from bytes.
///
/// # Errors
///
/// If the bytes are not one JSON value of this type.
pub fn from_slice<'a, T>(v: &'a [u8]) -> Result<T>
where
    T: Deserialize<'a>,
{
    match engine::text(v) {
        Some(text) => from_str(text),
        None => decode(SliceRead::new(v)),
    }
}

/// Decodes exactly one value from text.
///
/// # Errors
///
/// If the text is not one JSON value of this type.
pub fn from_str<'a, T>(s: &'a str) -> Result<T>
where
    T: Deserialize<'a>,
{
    decode(StrRead::new(s))
}
