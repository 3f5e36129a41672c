//! Arrays, objects and enums.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

use super::key::Key;
use super::parser::Parser;
use crate::error::{Error, Result, Syntax};
use crate::ser::RAW_TOKEN;

/// The elements of an array whose bracket is passed.
pub(super) struct Elements<'a, 'de, 'p> {
    parser: &'a mut Parser<'de, 'p>,
    first: bool,
}

impl<'a, 'de, 'p> Elements<'a, 'de, 'p> {
    #[inline(always)]
    pub(super) fn new(parser: &'a mut Parser<'de, 'p>) -> Self {
        Self { parser, first: true }
    }
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de, '_> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.parser.expect()? {
            b']' => return Ok(None),
            _ if self.first => self.first = false,
            b',' => self.parser.at += 1,
            _ => return Err(self.parser.syntax(Syntax::ArrayEnd)),
        }
        seed.deserialize(&mut *self.parser).map(Some)
    }
}

/// The entries of an object whose brace is passed.
pub(super) struct Entries<'a, 'de, 'p> {
    parser: &'a mut Parser<'de, 'p>,
    first: bool,
}

impl<'a, 'de, 'p> Entries<'a, 'de, 'p> {
    #[inline(always)]
    pub(super) fn new(parser: &'a mut Parser<'de, 'p>) -> Self {
        Self { parser, first: true }
    }

    /// Passes what precedes the text of the next key; `false` at the end of the object.
    #[inline(always)]
    fn next_key(&mut self) -> Result<bool> {
        match self.parser.expect()? {
            b'"' if self.first => self.parser.at += 1,
            b'}' => return Ok(false),
            b',' if !self.first => {
                self.parser.at += 1;
                self.parser.key_start()?;
            }
            _ => {
                let what = if self.first { Syntax::Key } else { Syntax::ObjectEnd };
                return Err(self.parser.syntax(what));
            }
        }
        self.first = false;
        if !self.parser.superseded.is_empty() && self.pass_superseded()? {
            return self.next_key();
        }
        Ok(true)
    }

    /// Passes the entry whose first quote is passed if a later one has the same key.
    #[cold]
    fn pass_superseded(&mut self) -> Result<bool> {
        let start = self.parser.at - 1;
        let found = self.parser.superseded.binary_search(&start).is_ok();
        if found {
            self.parser.skip_string()?;
            self.parser.colon()?;
            self.parser.skip_value(&mut ())?;
        }
        Ok(found)
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, 'de, '_> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.next_key()? { seed.deserialize(Key::new(self.parser)).map(Some) } else { Ok(None) }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.parser.colon()?;
        seed.deserialize(&mut *self.parser)
    }

    /// Spares maps the detour over the two halves, which copies the key and the value once more.
    #[inline(always)]
    fn next_entry_seed<K: DeserializeSeed<'de>, V: DeserializeSeed<'de>>(
        &mut self,
        key: K,
        value: V,
    ) -> Result<Option<(K::Value, V::Value)>> {
        if !self.next_key()? {
            return Ok(None);
        }
        let key = key.deserialize(Key::new(self.parser))?;
        self.parser.colon()?;
        let value = value.deserialize(&mut *self.parser)?;
        Ok(Some((key, value)))
    }
}

/// An enum in its form as an object with one entry; the brace is passed.
pub(super) struct Variant<'a, 'de, 'p>(pub(super) &'a mut Parser<'de, 'p>);

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        if self.0.peek() == Some(b'}') {
            let error: Error = de::Error::custom("expected the name of a variant");
            return Err(error.at(self.0.at));
        }
        self.0.key_start()?;
        let variant = seed.deserialize(Key::new(self.0))?;
        self.0.colon()?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        de::Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.0.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.0.deserialize_struct("", fields, visitor)
    }
}

/// An enum in its form as a string.
pub(super) struct UnitOnly<'a, 'de, 'p>(pub(super) &'a mut Parser<'de, 'p>);

impl<'de> de::EnumAccess<'de> for UnitOnly<'_, 'de, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let variant = seed.deserialize(&mut *self.0)?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for UnitOnly<'_, 'de, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value> {
        Err(de::Error::invalid_type(de::Unexpected::UnitVariant, &"newtype variant"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value> {
        Err(de::Error::invalid_type(de::Unexpected::UnitVariant, &"tuple variant"))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value> {
        Err(de::Error::invalid_type(de::Unexpected::UnitVariant, &"struct variant"))
    }
}

/// The text of a value in the form that `serde_json::value::RawValue` asks for: a map with one entry.
pub(super) struct RawEntry<D> {
    text: Option<D>,
}

impl<D> RawEntry<D> {
    pub(super) fn new(text: D) -> Self {
        Self { text: Some(text) }
    }
}

impl<'de, D: Deserializer<'de, Error = Error>> de::MapAccess<'de> for RawEntry<D> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.text.is_none() {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(RAW_TOKEN)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        match self.text.take() {
            Some(text) => seed.deserialize(text),
            None => Err(de::Error::custom("a raw value has one text")),
        }
    }
}
