//! Access to the elements of arrays, the entries of objects and the variants of enums.

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

use super::borrow::Source;
use super::key::Key;
use super::parser::Parser;
use crate::error::{Error, Result, Syntax};

/// Elements of an array. The parser is positioned after the opening bracket.
pub(super) struct Elements<'a, 't, 'p, M> {
    pub(super) parser: &'a mut Parser<'t, 'p, M>,
    /// Number of elements so far.
    pub(super) count: usize,
}

/// Size of the smallest vector that is allocated at once. Below it, `Vec` reserves as much without a hint.
const LEAST_HINT: u32 = 5;

impl<'t, 'de, M: Source<'t, 'de>> de::SeqAccess<'de> for Elements<'_, 't, '_, M> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        match self.parser.expect()? {
            b']' => {
                let depth = self.parser.depth();
                if let Some(lengths) = self.parser.lengths.get_mut(depth) {
                    *lengths = (u32::try_from(self.count).unwrap_or(u32::MAX), lengths.0);
                }
                return Ok(None);
            }
            _ if self.count == 0 => {}
            b',' => self.parser.at += 1,
            _ => return Err(self.parser.syntax(Syntax::ArrayEnd)),
        }
        self.count += 1;
        self.parser.value(seed).map(Some)
    }

    /// Guesses that an array is as long as the shorter of the previous two arrays at its depth, so that a vector of
    /// coordinates is allocated once.
    ///
    /// A malicious document cannot cause large allocations: a hint needs an array of that length that ended since the
    /// hint before at the same depth, so that the sum of all hints is at most the number of elements.
    #[inline]
    fn size_hint(&self) -> Option<usize> {
        let (last, before) = *self.parser.lengths.get(self.parser.depth())?;
        let hint = last.min(before);
        let is_empty = self.parser.bytes.get(self.parser.at) == Some(&b']');
        (hint >= LEAST_HINT && self.count == 0 && !is_empty).then_some(hint as usize)
    }
}

/// Entries of an object. The parser is positioned after the opening brace.
pub(super) struct Entries<'a, 't, 'p, M> {
    pub(super) parser: &'a mut Parser<'t, 'p, M>,
    /// Offset after the opening brace.
    pub(super) start: usize,
}

impl<M> Entries<'_, '_, '_, M> {
    /// Advances past the opening quote of the next key. Returns `false` at the end of the object.
    #[inline(always)]
    fn next_key(&mut self) -> Result<bool> {
        if !self.next_entry()? {
            return Ok(false);
        }
        let mut at = self.parser.at;
        if !self.parser.superseded.is_empty() {
            match self.skip_superseded()? {
                Some(next) => at = next,
                None => return Ok(false),
            }
        }
        // In both cases, so that the compiler keeps the position in a register.
        self.parser.at = at;
        Ok(true)
    }

    /// Same as [`next_key`](Self::next_key), including keys that a later key replaces.
    #[inline(always)]
    fn next_entry(&mut self) -> Result<bool> {
        let is_first = self.parser.at == self.start;
        match self.parser.expect()? {
            b',' if !is_first => {
                self.parser.at += 1;
                self.parser.key_start()?;
            }
            b'"' if is_first => self.parser.at += 1,
            b'}' => return Ok(false),
            _ => {
                let what = if is_first { Syntax::Key } else { Syntax::ObjectEnd };
                return Err(self.parser.syntax(what));
            }
        }
        Ok(true)
    }

    /// Skips entries whose key a later entry has, too. The parser is positioned after the opening quote of a key. Returns
    /// the offset after the opening quote of the next key, `None` at the end of the object.
    #[cold]
    fn skip_superseded(&mut self) -> Result<Option<usize>> {
        while self.parser.superseded.binary_search(&(self.parser.at - 1)).is_ok() {
            self.parser.skip_string()?;
            self.parser.colon()?;
            self.parser.skip_value(&mut ())?;
            if !self.next_entry()? {
                return Ok(None);
            }
        }
        Ok(Some(self.parser.at))
    }
}

impl<'t, 'de, M: Source<'t, 'de>> de::MapAccess<'de> for Entries<'_, 't, '_, M> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if self.next_key()? { seed.deserialize(Key(self.parser)).map(Some) } else { Ok(None) }
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.parser.colon()?;
        self.parser.value(seed)
    }

    /// Reads the key and the value of an entry in one call. serde's default implementation calls two methods, and
    /// copies key and value once more.
    #[inline(always)]
    fn next_entry_seed<K: DeserializeSeed<'de>, V: DeserializeSeed<'de>>(
        &mut self,
        key: K,
        value: V,
    ) -> Result<Option<(K::Value, V::Value)>> {
        if !self.next_key()? {
            return Ok(None);
        }
        let key = key.deserialize(Key(self.parser))?;
        self.parser.colon()?;
        let value = self.parser.value(value)?;
        Ok(Some((key, value)))
    }
}

/// Name of the newtype struct as which a type requests the field `type` of an object before its other fields.
///
/// serde can decode a union of objects in one pass only if the field that selects the variant is the first one; its derive
/// macro buffers the object otherwise. A type that passes this name to [`Deserializer::deserialize_newtype_struct`] gets a
/// call of [`Visitor::visit_enum`] from this crate's decoder if a later field of the object is called `type`: the variant is
/// the value of that field, and its content the whole object. In all other cases, and from other deserializers, it gets a call
/// of [`Visitor::visit_newtype_struct`].
pub const TYPE_FIRST: &str = "$tightwire_json::TypeFirst";

/// Object as an enum variant, whose name is the value at the offset `name`. The parser is positioned at the opening brace.
pub(super) struct Typed<'a, 't, 'p, M> {
    pub(super) parser: &'a mut Parser<'t, 'p, M>,
    pub(super) name: usize,
}

impl<'a, 't, 'p, 'de, M: Source<'t, 'de>> de::EnumAccess<'de> for Typed<'a, 't, 'p, M> {
    type Error = Error;
    type Variant = Variant<'a, 't, 'p, M>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant)> {
        let object = std::mem::replace(&mut self.parser.at, self.name);
        let variant = self.parser.value(seed)?;
        self.parser.at = object;
        Ok((variant, Variant(self.parser)))
    }
}

/// Enum variant encoded as an object with one entry. The parser is positioned after the opening brace.
pub(super) struct Variant<'a, 't, 'p, M>(pub(super) &'a mut Parser<'t, 'p, M>);

impl<'t, 'de, M: Source<'t, 'de>> de::EnumAccess<'de> for Variant<'_, 't, '_, M> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        if self.0.peek() == Some(b'}') {
            let error: Error = de::Error::custom("expected the name of a variant");
            return Err(error.at(self.0.at));
        }
        self.0.key_start()?;
        let variant = seed.deserialize(Key(self.0))?;
        self.0.colon()?;
        Ok((variant, self))
    }
}

impl<'t, 'de, M: Source<'t, 'de>> de::VariantAccess<'de> for Variant<'_, 't, '_, M> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        de::Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        self.0.value(seed)
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
