//! Access to the elements of arrays, the entries of objects, and the variants of enums.

use serde::de::{self, DeserializeSeed, Deserializer as _, Unexpected, Visitor};

use super::Deserializer;
use super::key::Key;
use crate::error::{Error, Reason, Result};
use crate::read::{Read, peek_error};

/// Elements of an array after its opening bracket.
pub(super) struct Elements<'a, R> {
    de: &'a mut Deserializer<R>,
    is_first: bool,
}

impl<'a, R> Elements<'a, R> {
    #[inline(always)]
    pub(super) fn new(de: &'a mut Deserializer<R>) -> Self {
        Self { de, is_first: true }
    }
}

impl<'de, R: Read<'de>> de::SeqAccess<'de> for Elements<'_, R> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let read = &mut self.de.read;
        match read.token()? {
            Some(b']') => return Ok(None),
            Some(_) if self.is_first => self.is_first = false,
            Some(b',') => {
                read.discard();
                match read.token()? {
                    Some(b']') => return Err(peek_error(read, Reason::TRAILING_COMMA)),
                    Some(_) => {}
                    None => return Err(peek_error(read, Reason::EOF_VALUE)),
                }
            }
            Some(_) => return Err(peek_error(read, Reason::LIST_END)),
            None => return Err(peek_error(read, Reason::EOF_LIST)),
        }
        seed.deserialize(&mut *self.de).map(Some)
    }
}

/// Entries of an object after its opening brace.
pub(super) struct Entries<'a, R> {
    de: &'a mut Deserializer<R>,
    is_first: bool,
}

impl<'a, R> Entries<'a, R> {
    #[inline(always)]
    pub(super) fn new(de: &'a mut Deserializer<R>) -> Self {
        Self { de, is_first: true }
    }
}

impl<'de, R: Read<'de>> de::MapAccess<'de> for Entries<'_, R> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let read = &mut self.de.read;
        let next = match read.token()? {
            Some(b'}') => return Ok(None),
            Some(next) if self.is_first => {
                self.is_first = false;
                next
            }
            Some(b',') => {
                read.discard();
                match read.token()? {
                    Some(b'}') => return Err(peek_error(read, Reason::TRAILING_COMMA)),
                    Some(next) => next,
                    None => return Err(peek_error(read, Reason::EOF_VALUE)),
                }
            }
            Some(_) => return Err(peek_error(read, Reason::OBJECT_END)),
            None => return Err(peek_error(read, Reason::EOF_OBJECT)),
        };
        if next != b'"' {
            return Err(peek_error(read, Reason::KEY));
        }
        seed.deserialize(Key(self.de)).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.de.colon()?;
        seed.deserialize(&mut *self.de)
    }
}

/// Enum variant encoded as an object with one entry, after the opening brace.
pub(super) struct Variant<'a, R>(pub(super) &'a mut Deserializer<R>);

impl<'de, R: Read<'de>> de::EnumAccess<'de> for Variant<'_, R> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let reason = match self.0.read.token()? {
            Some(b'"') => {
                let variant = seed.deserialize(Key(self.0));
                let variant = self.0.place(variant)?;
                self.0.colon()?;
                return Ok((variant, self));
            }
            Some(b'}') => Reason::VALUE,
            Some(_) => Reason::KEY,
            None => Reason::EOF_OBJECT,
        };
        Err(peek_error(&self.0.read, reason))
    }
}

impl<'de, R: Read<'de>> de::VariantAccess<'de> for Variant<'_, R> {
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

/// Enum variant encoded as a string.
pub(super) struct UnitVariant<'a, R>(pub(super) &'a mut Deserializer<R>);

impl<'de, R: Read<'de>> de::EnumAccess<'de> for UnitVariant<'_, R> {
    type Error = Error;
    type Variant = OnlyUnit;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, OnlyUnit)> {
        Ok((seed.deserialize(self.0)?, OnlyUnit))
    }
}

/// Content of an enum variant that has none.
pub(crate) struct OnlyUnit;

/// Returns the error for a variant with content that was encoded as a string.
#[cold]
pub(crate) fn no_content<T>(expected: &'static str) -> Result<T> {
    Err(de::Error::invalid_type(Unexpected::UnitVariant, &expected))
}

impl<'de> de::VariantAccess<'de> for OnlyUnit {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value> {
        no_content("newtype variant")
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value> {
        no_content("tuple variant")
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value> {
        no_content("struct variant")
    }
}
