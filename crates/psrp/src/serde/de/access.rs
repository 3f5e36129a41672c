//! Access to items, members and entries for serde visitors.

use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::ValueDeserializer;
use crate::error::Kind;
use crate::serde::budget::RemainingBudget;
use crate::serde::path_error::{PathError, PathSegment, Result};
use crate::serde::view::{ObjectView, visible};
use crate::{PsString, Value};

/// An item of [`ItemAccess`]: a value, a byte, or a dictionary entry.
pub(super) trait Item {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, budget: &RemainingBudget) -> Result<S::Value>;
}

impl Item for Value {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, budget: &RemainingBudget) -> Result<S::Value> {
        seed.deserialize(ValueDeserializer::new(self, budget)?)
    }
}

impl Item for &Value {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, budget: &RemainingBudget) -> Result<S::Value> {
        (**self).read(seed, budget)
    }
}

impl Item for u8 {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, budget: &RemainingBudget) -> Result<S::Value> {
        Value::Byte(*self).read(seed, budget)
    }
}

impl Item for (Value, Value) {
    fn read<'de, S: DeserializeSeed<'de>>(&self, seed: S, budget: &RemainingBudget) -> Result<S::Value> {
        seed.deserialize(EntryAsList { key: &self.0, value: &self.1, budget })
    }
}

pub(super) struct ItemAccess<'v, I> {
    items: slice::Iter<'v, I>,
    index: usize,
    budget: &'v RemainingBudget,
}

impl<'v, I> ItemAccess<'v, I> {
    pub(super) fn new(items: &'v [I], budget: &'v RemainingBudget) -> Self {
        Self { items: items.iter(), index: 0, budget }
    }

    /// Checks that the visitor has read all items.
    pub(super) fn finish(&self) -> Result<()> {
        match (self.index, self.items.len()) {
            (_, 0) => Ok(()),
            (taken, left) => {
                let detail = format!("expected {taken} items, found {}", taken + left);
                Err(PathError::new(Kind::Mismatch, detail))
            }
        }
    }
}

impl<'de, I: Item> SeqAccess<'de> for ItemAccess<'_, I> {
    type Error = PathError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        item.read(seed, self.budget).map(Some).map_err(|error| error.at(PathSegment::Item(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct EntryAsList<'v> {
    key: &'v Value,
    value: &'v Value,
    budget: &'v RemainingBudget,
}

impl<'de> Deserializer<'de> for EntryAsList<'_> {
    type Error = PathError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let items = [self.key, self.value];
        let mut items = ItemAccess::new(&items, self.budget);
        let value = visitor.visit_seq(&mut items)?;
        items.finish()?;
        Ok(value)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The key of an entry or the name of a member.
enum Key<'v> {
    Value(&'v Value),
    Name(&'v PsString),
}

/// Accesses map entries: dictionary entries, then extended members, then adapted members that are not hidden by these.
pub(super) struct EntryAccess<'v> {
    pairs: std::vec::IntoIter<(Key<'v>, &'v Value)>,
    index: usize,
    value: Option<&'v Value>,
    budget: &'v RemainingBudget,
}

impl<'v> EntryAccess<'v> {
    pub(super) fn new(view: &ObjectView<'v>, budget: &'v RemainingBudget) -> Self {
        let mut pairs = Vec::with_capacity(view.entries.len() + view.extended.len() + view.adapted.len());
        pairs.extend(view.entries.iter().map(|(key, value)| (Key::Value(key), value)));
        // Members of a dictionary, for example of a subclass of `Hashtable`, are not entries.
        if view.entries.is_empty() {
            pairs.extend(
                visible(view.extended, view.adapted)
                    .into_iter()
                    .map(|(name, value)| (Key::Name(name), value)),
            );
        }
        Self { pairs: pairs.into_iter(), index: 0, value: None, budget }
    }
}

impl<'de> MapAccess<'de> for EntryAccess<'_> {
    type Error = PathError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some((key, value)) = self.pairs.next() else { return Ok(None) };
        self.value = Some(value);
        let segment = PathSegment::Key(self.index);
        match key {
            Key::Value(key) => key.read(seed, self.budget),
            Key::Name(name) => seed.deserialize(name_of(&name.to_str_lossy())),
        }
        .map(Some)
        .map_err(|error| error.at(segment))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let segment = PathSegment::Value(self.index);
        self.index += 1;
        match self.value.take() {
            Some(value) => value.read(seed, self.budget),
            None => Err(PathError::new(Kind::Mismatch, "a value was requested before its key")),
        }
        .map_err(|error| error.at(segment))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

pub(super) fn name_of(name: &str) -> StrDeserializer<'_, PathError> {
    name.into_deserializer()
}
