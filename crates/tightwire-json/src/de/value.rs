//! Deserializer of a value.

use base64_simd::STANDARD;
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{self, Unexpected, Visitor};

use super::access::{Elements, Entries, TYPE_FIRST, Typed, Variant};
use super::borrow::Source;
use super::number::Number;
use super::parser::{Parser, locate};
use super::string::Text;
use super::tree;
use crate::error::{Error, Result, Syntax};
use crate::marks::raw_token;
use crate::value::{containers, hand_over, is_any, memory, plain, to_bytes};

impl<'t, 'de, M: Source<'t, 'de>> Parser<'t, '_, M> {
    #[inline]
    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V, float: bool) -> Result<V::Value> {
        match self.expect()? {
            b'-' | b'0'..=b'9' => {}
            _ => return Err(self.mismatch(&visitor)),
        }
        let start = self.at;
        let result = match self.number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Signed(value) => visitor.visit_i64(value),
            // `-0` is valid for an integer type.
            Number::Float(_) if !float && &self.bytes[start..self.at] == b"-0" => visitor.visit_i64(0),
            Number::Float(value) => visitor.visit_f64(value),
        };
        locate(result, start)
    }

    #[inline]
    fn visit_integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.visit_number(visitor, false)
    }

    #[inline]
    fn visit_text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.expect()? {
            b'"' => {}
            _ => return Err(self.mismatch(&visitor)),
        }
        self.at += 1;
        self.visit_open_string(visitor)
    }

    /// Visits a string. The parser is positioned after the opening quote.
    #[inline(always)]
    pub(super) fn visit_open_string<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let start = self.at - 1;
        let result = match self.string()? {
            Text::Borrowed(text) => M::visit_str(text, visitor),
            Text::Unescaped(text) => visitor.visit_str(text),
        };
        locate(result, start)
    }

    /// Visits the bytes of a string. The parser is positioned after the opening quote.
    pub(super) fn visit_open_bytes<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let start = self.at - 1;
        let is_base64 = self.codec.is_compat();
        let result = match self.string()? {
            text if is_base64 => match base64(text.as_str()) {
                Some(bytes) => visitor.visit_byte_buf(bytes),
                None => Err(de::Error::invalid_value(Unexpected::Str(""), &"a string in base64")),
            },
            Text::Borrowed(text) => M::visit_bytes(text.as_bytes(), visitor),
            Text::Unescaped(text) => visitor.visit_bytes(text.as_bytes()),
        };
        locate(result, start)
    }

    #[inline]
    fn visit_array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        let start = self.at;
        self.enter()?;
        let value = locate(visitor.visit_seq(Elements { parser: self, count: 0 }), start)?;
        self.close(b']', Syntax::ArrayEnd, value)
    }

    #[inline]
    fn visit_object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.enter()?;
        let start = self.at;
        let value = match visitor.visit_map(Entries { parser: self, start }) {
            Ok(value) => value,
            // A missing field is reported at the end of the object.
            Err(error) => return Err(error.at(self.at)),
        };
        self.close(b'}', Syntax::ObjectEnd, value)
    }

    /// Visits an object that has a field `type` after other fields; see [`TYPE_FIRST`].
    fn visit_type_first<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        // Which of several fields counts is not known here.
        if self.expect()? != b'{' || !self.superseded.is_empty() {
            return visitor.visit_newtype_struct(self);
        }
        let (start, levels) = (self.at, self.levels);
        let name = self.later_type();
        (self.at, self.levels) = (start, levels);
        match name {
            Ok(Some(name)) => locate(visitor.visit_enum(Typed { parser: self, name }), start),
            // Decoding finds the error again.
            Ok(None) | Err(_) => visitor.visit_newtype_struct(self),
        }
    }

    #[inline]
    fn visit_any<V: Visitor<'de>>(&mut self, byte: u8, visitor: V) -> Result<V::Value> {
        match byte {
            b'"' => self.visit_text(visitor),
            b'-' | b'0'..=b'9' => self.visit_any_number(visitor),
            b'{' => self.visit_any_object(visitor),
            b'[' => self.visit_any_array(visitor),
            b't' | b'f' => de::Deserializer::deserialize_bool(self, visitor),
            b'n' => de::Deserializer::deserialize_unit(self, visitor),
            _ => Err(self.syntax(Syntax::Value)),
        }
    }

    /// Visits a value for one of the visitors of [`containers`].
    #[inline]
    fn visit_tree<V: Visitor<'de>>(&mut self, byte: u8, visitor: V) -> Result<V::Value> {
        let (start, containers) = (self.at, containers::<V>().unwrap_or_default());
        let is_container = containers.contains(&byte);
        let is_shared = is_container && memory::IS_SUPPORTED && u32::try_from(self.bytes.len()).is_ok();
        let tree = if self.codec.keeps_numbers && is_any::<V>() && matches!(byte, b'-' | b'0'..=b'9') {
            tree::decode_number(self)?
        } else if is_shared && self.codec.keeps_numbers {
            tree::decode_deep(self)?
        } else if is_shared && self.superseded.is_empty() {
            // A tree keeps the last of duplicate keys, but in another order than `Duplicates::Last`.
            match tree::decode(self) {
                Err(error) if error.is_limit() && self.nonrecursive_levels > 0 => {
                    self.at = start;
                    tree::decode_deep(self)?
                }
                tree => tree?,
            }
        } else if is_any::<V>() || is_container {
            return self.visit_any(byte, visitor);
        } else {
            return Err(self.mismatch(&visitor));
        };
        locate(hand_over(tree, visitor), start)
    }

    /// Not inlined, so that scalars in `deserialize_any` do not pay for the stack frame of containers.
    #[inline(never)]
    fn visit_any_array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.visit_array(visitor)
    }

    /// Same as [`visit_any_array`](Self::visit_any_array).
    #[inline(never)]
    fn visit_any_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        if self.codec.keeps_numbers {
            let start = self.at;
            self.skip_number()?;
            let text = &self.text[start..self.at];
            if plain(text).is_none() {
                return locate(visitor.visit_byte_buf(to_bytes(text)), start);
            }
            self.at = start;
        }
        self.visit_number(visitor, true)
    }

    /// Same as [`visit_any_array`](Self::visit_any_array).
    #[inline(never)]
    fn visit_any_object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        self.visit_object(visitor)
    }
}

impl<M> Parser<'_, '_, M> {
    /// Returns the offset of the value of the field `type` of the object at the current position; `None` if it is the first
    /// field or missing.
    fn later_type(&mut self) -> Result<Option<usize>> {
        let mut is_first = true;
        loop {
            self.at += 1;
            let key = self.key_start()?;
            self.skip_string()?;
            let is_type = &self.bytes[key..self.at] == b"\"type\"";
            self.colon()?;
            if is_type {
                return Ok((!is_first).then_some(self.at));
            }
            self.skip_value(&mut ())?;
            if self.expect()? != b',' {
                return Ok(None);
            }
            is_first = false;
        }
    }

    /// Consumes the closing bracket of an array or object, and returns its value.
    #[inline(always)]
    fn close<T>(&mut self, bracket: u8, end: Syntax, value: T) -> Result<T> {
        if self.peek() != Some(bracket) {
            return Err(self.leftover(end));
        }
        self.leave();
        Ok(value)
    }

    /// Returns the error for a visitor that stopped before the end of an array or object.
    #[cold]
    fn leftover(&mut self, end: Syntax) -> Error {
        let next = self.peek();
        let start = self.at;
        if next == Some(b',') {
            self.at += 1;
            if matches!(self.peek(), None | Some(b']' | b'}')) {
                return self.unexpected(if end == Syntax::ObjectEnd { Syntax::Key } else { Syntax::Value });
            }
        }
        match next {
            Some(b',' | b'"' | b'{' | b'[' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => {
                let error: Error = de::Error::custom("more elements than expected");
                error.at(start)
            }
            _ => self.unexpected(end),
        }
    }

    /// Returns the error for a value of another type than `visitor` expects, or for a malformed value.
    #[cold]
    fn mismatch<'de, V: Visitor<'de>>(&mut self, visitor: &V) -> Error {
        let start = self.at;
        let error: Result<Error> = (|| {
            let unexpected = match self.expect()? {
                b'n' => self.literal(b"null").map(|()| Unexpected::Unit)?,
                b't' => self.literal(b"true").map(|()| Unexpected::Bool(true))?,
                b'f' => self.literal(b"false").map(|()| Unexpected::Bool(false))?,
                b'-' | b'0'..=b'9' => match self.number()? {
                    Number::Unsigned(value) => Unexpected::Unsigned(value),
                    Number::Signed(value) => Unexpected::Signed(value),
                    Number::Float(value) => Unexpected::Float(value),
                },
                b'"' => {
                    self.at += 1;
                    self.skip_string().map(|()| Unexpected::Str(""))?
                }
                b'[' => Unexpected::Seq,
                b'{' => Unexpected::Map,
                _ => return Err(self.syntax(Syntax::Value)),
            };
            Ok(de::Error::invalid_type(unexpected, visitor))
        })();
        match error {
            Ok(error) => error.at(start),
            Err(malformed) => malformed,
        }
    }
}

/// Decodes base64, in which line breaks are ignored, as by Go.
fn base64(text: &str) -> Option<Vec<u8>> {
    let decoded = match text.contains(['\r', '\n']) {
        true => STANDARD.decode_to_vec(text.replace(['\r', '\n'], "")),
        false => STANDARD.decode_to_vec(text),
    };
    decoded.ok()
}

macro_rules! forward {
    ($($target:ident: $($method:ident)*;)*) => {
        $($(
            #[inline]
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                self.$target(visitor)
            }
        )*)*
    };
}

macro_rules! wide {
    ($($method:ident $visit:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
                let (b'-' | b'0'..=b'9') = self.expect()? else { return Err(self.mismatch(&visitor)) };
                let start = self.at;
                match self.integer_text()?.map(|text| if text == "-0" { "0" } else { text }.parse()) {
                    Some(Ok(value)) => locate(visitor.$visit(value), start),
                    Some(Err(_)) => Err(super::number::out_of_range(start)),
                    None => {
                        self.at = start;
                        self.visit_number(visitor, false)
                    }
                }
            }
        )*
    };
}

impl<'t, 'de, M: Source<'t, 'de>> de::Deserializer<'de> for &mut Parser<'t, '_, M> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.expect()? {
            byte if containers::<V>().is_some() => self.visit_tree(byte, visitor),
            byte => self.visit_any(byte, visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let byte = self.expect()?;
        let start = self.at;
        match byte {
            b't' => {
                self.literal(b"true")?;
                locate(visitor.visit_bool(true), start)
            }
            b'f' => {
                self.literal(b"false")?;
                locate(visitor.visit_bool(false), start)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    forward! {
        visit_integer: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
            deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        visit_text: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        deserialize_bytes: deserialize_byte_buf;
    }

    wide! { deserialize_i128 visit_i128 deserialize_u128 visit_u128 }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let (b'-' | b'0'..=b'9') = self.expect()? else { return Err(self.mismatch(&visitor)) };
        let start = self.at;
        let value = self.float32()?;
        locate(visitor.visit_f32(value), start)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.expect()?;
        let start = self.at;
        match self.fraction() {
            Some(value) => locate(visitor.visit_f64(value), start),
            None => self.visit_number(visitor, true),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.expect()? {
            b'[' => self.visit_array(visitor),
            b'"' => {
                self.at += 1;
                self.visit_open_bytes(visitor)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.expect()? == b'n' {
            let start = self.at;
            self.literal(b"null")?;
            locate(visitor.visit_none(), start)
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.expect()? != b'n' {
            return Err(self.mismatch(&visitor));
        }
        let start = self.at;
        self.literal(b"null")?;
        locate(visitor.visit_unit(), start)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if let Some(token) = raw_token(name) {
            self.expect()?;
            let start = self.at;
            self.skip_value(&mut ())?;
            // Raw values are deserialized from a map with one entry. Without comments, they can be encoded again.
            let result = if std::ptr::eq(self.bytes, self.text.as_bytes()) {
                let entry = (M::text(token), M::text(&self.text[start..self.at]));
                visitor.visit_map(MapDeserializer::new(std::iter::once(entry)))
            } else {
                let text = str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
                let entry = (StrDeserializer::<Error>::new(token), StrDeserializer::<Error>::new(text));
                visitor.visit_map(MapDeserializer::new(std::iter::once(entry)))
            };
            return locate(result, start);
        }
        if name == TYPE_FIRST {
            return self.visit_type_first(visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.expect()? {
            byte if containers::<V>().is_some() => self.visit_tree(byte, visitor),
            b'[' => self.visit_array(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.expect()? {
            byte if containers::<V>().is_some() => self.visit_tree(byte, visitor),
            b'{' => self.visit_object(visitor),
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
        match self.expect()? {
            b'{' => self.visit_object(visitor),
            b'[' => self.visit_array(visitor),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.expect()? {
            b'{' => {
                let start = self.at;
                self.enter()?;
                let value = locate(visitor.visit_enum(Variant(self)), start)?;
                self.close(b'}', Syntax::ObjectEnd, value)
            }
            b'"' => {
                let start = self.at;
                self.at += 1;
                let result = match self.string()? {
                    Text::Borrowed(text) => visitor.visit_enum(M::text(text)),
                    Text::Unescaped(text) => visitor.visit_enum(StrDeserializer::new(text)),
                };
                locate(result, start)
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip_value(&mut ())?;
        visitor.visit_unit()
    }
}
