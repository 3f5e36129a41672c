//! Items, members and pairs as serde asks for them.

use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::ValueDeserializer;
use super::view::{View, visible};
use crate::error::Kind;
use crate::serde::budget::Meter;
use crate::serde::fault::{Fault, Result, Step};
use crate::{PsString, Value};

/// What [`Items`] walks: values, or pairs of a dictionary.
pub(super) trait Item {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, meter: &Meter) -> Result<S::Value>;
}

impl Item for Value {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, meter: &Meter) -> Result<S::Value> {
        seed.deserialize(ValueDeserializer::new(self, meter)?)
    }
}

impl Item for &Value {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, meter: &Meter) -> Result<S::Value> {
        (**self).read(seed, meter)
    }
}

impl Item for (Value, Value) {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, meter: &Meter) -> Result<S::Value> {
        seed.deserialize(Pair { key: &self.0, value: &self.1, meter })
    }
}

/// Items in order.
pub(super) struct Items<'v, I> {
    items: slice::Iter<'v, I>,
    index: usize,
    meter: &'v Meter,
}

impl<'v, I> Items<'v, I> {
    pub(super) fn new(items: &'v [I], meter: &'v Meter) -> Self {
        Self { items: items.iter(), index: 0, meter }
    }

    /// # Errors
    ///
    /// If the type has not taken all items.
    pub(super) fn finish(&self) -> Result<()> {
        finish(self.index, self.items.len())
    }
}

fn finish(taken: usize, left: usize) -> Result<()> {
    if left == 0 {
        return Ok(());
    }
    Err(Fault::new(Kind::Mismatch, format!("expected {taken} items, found {}", taken + left)))
}

impl<'de, I: Item> SeqAccess<'de> for Items<'_, I> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        item.read(seed, self.meter).map(Some).map_err(|fault| fault.below(Step::Item(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// Bytes as items.
pub(super) struct ByteItems<'v> {
    bytes: slice::Iter<'v, u8>,
    index: usize,
    meter: &'v Meter,
}

impl<'v> ByteItems<'v> {
    pub(super) fn new(bytes: &'v [u8], meter: &'v Meter) -> Self {
        Self { bytes: bytes.iter(), index: 0, meter }
    }

    pub(super) fn finish(&self) -> Result<()> {
        finish(self.index, self.bytes.len())
    }
}

impl<'de> SeqAccess<'de> for ByteItems<'_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(byte) = self.bytes.next() else { return Ok(None) };
        let value = Value::Byte(*byte);
        let step = Step::Item(self.index);
        self.index += 1;
        value.read(seed, self.meter).map(Some).map_err(|fault| fault.below(step))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.bytes.len())
    }
}

/// A pair of a dictionary as a list of two.
struct Pair<'v> {
    key: &'v Value,
    value: &'v Value,
    meter: &'v Meter,
}

impl<'de> Deserializer<'de> for Pair<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let items = [self.key, self.value];
        let mut items = Items::new(&items, self.meter);
        let value = visitor.visit_seq(&mut items)?;
        items.finish()?;
        Ok(value)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The key of a pair.
enum Key<'v> {
    Value(&'v Value),
    Name(&'v PsString),
}

/// Keys and values for a map: entries first, then extended members, then the adapted ones that none of these hides.
pub(super) struct Pairs<'v> {
    pairs: std::vec::IntoIter<(Key<'v>, &'v Value)>,
    index: usize,
    value: Option<&'v Value>,
    meter: &'v Meter,
}

impl<'v> Pairs<'v> {
    pub(super) fn new(view: &View<'v>, meter: &'v Meter) -> Self {
        let mut pairs = Vec::with_capacity(view.entries.len() + view.extended.len() + view.adapted.len());
        pairs.extend(view.entries.iter().map(|(key, value)| (Key::Value(key), value)));
        // Members of a dictionary, such as those of a subclass of `Hashtable`, are none of its keys.
        if view.entries.is_empty() {
            pairs.extend(
                visible(view.extended, view.adapted)
                    .into_iter()
                    .map(|(name, value)| (Key::Name(name), value)),
            );
        }
        Self { pairs: pairs.into_iter(), index: 0, value: None, meter }
    }
}

impl<'de> MapAccess<'de> for Pairs<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some((key, value)) = self.pairs.next() else { return Ok(None) };
        self.value = Some(value);
        let step = Step::Key(self.index);
        match key {
            Key::Value(key) => key.read(seed, self.meter),
            Key::Name(name) => seed.deserialize(name_of(&name.to_str_lossy())),
        }
        .map(Some)
        .map_err(|fault| fault.below(step))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let step = Step::Value(self.index);
        self.index += 1;
        match self.value.take() {
            Some(value) => value.read(seed, self.meter),
            None => Err(Fault::new(Kind::Mismatch, "a value was asked for before its key")),
        }
        .map_err(|fault| fault.below(step))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

/// A name as a key.
pub(super) fn name_of(name: &str) -> StrDeserializer<'_, Fault> {
    name.into_deserializer()
}
