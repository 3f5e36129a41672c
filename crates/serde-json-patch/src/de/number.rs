//! Numbers of a document.

use std::str::FromStr;

use serde::de::{Unexpected, Visitor};
use tightwire_json::engine::Number as Plain;

use super::Deserializer;
use crate::error::{Error, Reason, Result};
use crate::number::Number;
use crate::read::{Read, error, peek_error};

/// Number of a document.
pub(crate) enum Parsed {
    Plain(Plain),
    /// Text of a number that is no integer of 64 bits.
    #[cfg(feature = "arbitrary_precision")]
    Text(String),
}

/// Passes a number to the visitor.
#[inline(always)]
fn visit<'de, V: Visitor<'de>>(number: Plain, visitor: V) -> Result<V::Value> {
    match number {
        Plain::Unsigned(value) => visitor.visit_u64(value),
        Plain::Signed(value) => visitor.visit_i64(value),
        Plain::Float(value) => visitor.visit_f64(value),
    }
}

impl Parsed {
    #[inline(always)]
    pub(super) fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Self::Plain(number) => visit(number, visitor),
            #[cfg(feature = "arbitrary_precision")]
            Self::Text(text) => visitor.visit_map(crate::private::entry(crate::number::TOKEN, text)),
        }
    }

    pub(super) fn unexpected(&self) -> Unexpected<'static> {
        match self {
            Self::Plain(Plain::Unsigned(value)) => Unexpected::Unsigned(*value),
            Self::Plain(Plain::Signed(value)) => Unexpected::Signed(*value),
            Self::Plain(Plain::Float(value)) => Unexpected::Float(*value),
            #[cfg(feature = "arbitrary_precision")]
            Self::Text(_) => Unexpected::Other("number"),
        }
    }
}

impl<'de, R: Read<'de>> Deserializer<R> {
    /// Reads a number for a visitor of any type.
    #[inline(always)]
    #[cfg(not(feature = "arbitrary_precision"))]
    pub(super) fn any_number(&mut self) -> Result<Parsed> {
        self.read.number(false).map(Parsed::Plain)
    }

    /// Reads a number for a visitor of any type.
    #[cfg(feature = "arbitrary_precision")]
    pub(super) fn any_number(&mut self) -> Result<Parsed> {
        let text = self.read.number_text()?;
        if let Ok(value) = text.parse() {
            return Ok(Parsed::Plain(Plain::Unsigned(value)));
        }
        if text != "-0"
            && let Ok(value) = text.parse()
        {
            return Ok(Parsed::Plain(Plain::Signed(value)));
        }
        // The exponent always has a small letter and a sign.
        let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
            return Ok(Parsed::Text(text.to_owned()));
        };
        let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
        Ok(Parsed::Text(format!("{mantissa}e{sign}{exponent}")))
    }

    /// Decodes a number. A float is rounded to `f32` if `single`.
    #[inline(always)]
    pub(crate) fn decode_number<'any, V: Visitor<'any>>(
        &mut self,
        single: bool,
        visitor: V,
    ) -> Result<V::Value> {
        match self.first()? {
            b'-' | b'0'..=b'9' => {
                let number = self.read.number(single)?;
                self.place(visit(number, visitor))
            }
            _ => Err(self.mismatch(&visitor)),
        }
    }

    /// Reads the digits of an integer of any size.
    fn digits(&mut self, text: &mut String) -> Result<()> {
        let is_digit = |byte: Option<u8>| byte.filter(u8::is_ascii_digit);
        let Some(first) = is_digit(self.read.peek()?) else {
            return Err(peek_error(&self.read, Reason::NUMBER));
        };
        text.push(char::from(first));
        self.read.discard();
        while let Some(digit) = is_digit(self.read.peek()?) {
            if first == b'0' {
                return Err(peek_error(&self.read, Reason::NUMBER));
            }
            text.push(char::from(digit));
            self.read.discard();
        }
        Ok(())
    }

    /// Decodes a 128-bit integer.
    pub(crate) fn decode_wide<'any, V: Visitor<'any>, T: FromStr>(
        &mut self,
        is_signed: bool,
        visitor: V,
        visit: impl FnOnce(V, T) -> Result<V::Value>,
    ) -> Result<V::Value> {
        let mut text = String::new();
        if self.first()? == b'-' {
            if !is_signed {
                return Err(peek_error(&self.read, Reason::OUT_OF_RANGE));
            }
            self.read.discard();
            text.push('-');
        }
        self.digits(&mut text)?;
        match text.parse() {
            Ok(value) => {
                let result = visit(visitor, value);
                self.place(result)
            }
            Err(_) => Err(error(&self.read, Reason::OUT_OF_RANGE)),
        }
    }
}

impl FromStr for Number {
    type Err = Error;

    fn from_str(s: &str) -> Result<Self> {
        let mut deserializer = Deserializer::from_str(s);
        let result = match deserializer.read.peek()? {
            Some(b'-' | b'0'..=b'9') => deserializer.any_number(),
            Some(_) => return Err(peek_error(&deserializer.read, Reason::NUMBER)),
            None => return Err(peek_error(&deserializer.read, Reason::EOF_VALUE)),
        };
        match deserializer.read.peek()? {
            Some(_) => Err(peek_error(&deserializer.read, Reason::NUMBER)),
            None => result.map(Self::parsed),
        }
    }
}
