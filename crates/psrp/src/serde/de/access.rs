//! Access to items, members, entries and fields for serde visitors.

use std::borrow::Cow;
use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::ValueDeserializer;
use crate::error::{Kind, PathSegment};
use crate::serde::error::Result;
use crate::serde::functions::RemainingBudget;
use crate::serde::view::{self, ObjectView, visible};
use crate::{Error, Object, PsString, Value};

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

    /// Visits the items and checks that the visitor has read all of them.
    pub(super) fn visit<'de, V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value>
    where
        I: Item,
    {
        let value = visitor.visit_seq(&mut self)?;
        match (self.index, self.items.len()) {
            (_, 0) => Ok(value),
            (taken, left) => {
                let detail = format!("expected {taken} items, found {}", taken + left);
                Err(Error::with(Kind::Mismatch, detail))
            }
        }
    }
}

impl<'de, I: Item> SeqAccess<'de> for ItemAccess<'_, I> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        item.read(seed, self.budget).map(Some).map_err(|error| error.at(index))
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
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let items = [self.key, self.value];
        ItemAccess::new(&items, self.budget).visit(visitor)
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
    type Error = Error;

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
            None => Err(Error::with(Kind::Mismatch, "a value was requested before its key")),
        }
        .map_err(|error| error.at(segment))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.pairs.len())
    }
}

pub(super) fn name_of(name: &str) -> StrDeserializer<'_, Error> {
    name.into_deserializer()
}

type Part = for<'v> fn(&ObjectView<'v>) -> Option<Cow<'v, Value>>;

const PARTS: [(&str, Part); 3] = [
    (view::TYPE_NAMES, |view| {
        let names = view.type_names?.as_slice();
        Some(Cow::Owned(Object::list(names.iter().cloned()).into()))
    }),
    (view::TO_STRING, |view| Some(Cow::Owned(Value::String(view.to_string?.clone())))),
    (view::VALUE, |view| view.base.map(Cow::Borrowed)),
];

/// Accesses the members for the fields of a struct. Names are compared case-insensitively, extended members have
/// priority over adapted ones, of several members with the same name the last is used, and each field is returned once.
pub(super) struct FieldAccess<'v> {
    fields: &'static [&'static str],
    /// Parts of the object other than members.
    parts: slice::Iter<'static, (&'static str, Part)>,
    /// The remaining members, read from the end.
    rest: ObjectView<'v>,
    /// Whether each field was already returned.
    returned: Vec<bool>,
    found: Option<(PathSegment, Cow<'v, Value>)>,
    /// Number of members read so far, including unknown ones.
    index: usize,
    budget: &'v RemainingBudget,
}

impl<'v> FieldAccess<'v> {
    pub(super) fn new(
        view: &ObjectView<'v>,
        fields: &'static [&'static str],
        budget: &'v RemainingBudget,
    ) -> Self {
        Self {
            fields,
            parts: PARTS.iter(),
            rest: *view,
            returned: vec![false; fields.len()],
            found: None,
            index: 0,
            budget,
        }
    }

    /// Returns the field with this name; an exact match has priority over one that ignores the case of ASCII letters.
    fn field(&self, name: &str) -> Option<usize> {
        let exact = self.fields.iter().position(|field| *field == name);
        exact.or_else(|| self.fields.iter().position(|field| field.eq_ignore_ascii_case(name)))
    }

    /// Marks a field as returned. Returns false if it already was.
    fn take(&mut self, index: usize) -> bool {
        !std::mem::replace(&mut self.returned[index], true)
    }

    /// Returns the next member from the end: entries, then extended members, then adapted ones.
    fn next_member(&mut self) -> Option<(&'v PsString, &'v Value)> {
        while let Some(((key, value), rest)) = self.rest.entries.split_last() {
            self.rest.entries = rest;
            if let Value::String(name) = key.base() {
                return Some((name, value));
            }
        }
        for members in [&mut self.rest.extended, &mut self.rest.adapted] {
            if let Some(((name, value), rest)) = members.split_last() {
                *members = rest;
                return Some((name, value));
            }
        }
        None
    }

    /// Returns the next value with the index of its field, or with its name if the struct has no such field.
    fn advance(&mut self) -> Option<(Result<usize, &'v PsString>, Cow<'v, Value>)> {
        while let Some((name, part)) = self.parts.next() {
            if let Some(index) = self.fields.iter().position(|field| field == name)
                && let Some(found) = part(&self.rest)
                && self.take(index)
            {
                return Some((Ok(index), found));
            }
        }
        while let Some((name, value)) = self.next_member() {
            self.index += 1;
            match name.as_str().and_then(|text| self.field(text)) {
                Some(index) if self.take(index) => {
                    return Some((Ok(index), Cow::Borrowed(value)));
                }
                // Hidden by a member with priority.
                Some(_) => {}
                None => return Some((Err(name), Cow::Borrowed(value))),
            }
        }
        None
    }
}

impl<'de> MapAccess<'de> for FieldAccess<'_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some((name, found)) = self.advance() else { return Ok(None) };
        let (segment, key) = match name {
            Ok(index) => {
                (PathSegment::Member(self.fields[index]), seed.deserialize(name_of(self.fields[index])))
            }
            Err(name) => (PathSegment::Value(self.index), seed.deserialize(name_of(&name.to_str_lossy()))),
        };
        self.found = Some((segment, found));
        key.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let Some((segment, found)) = self.found.take() else {
            return Err(Error::with(Kind::Mismatch, "a value was requested before its key"));
        };
        found.read(seed, self.budget).map_err(|error| error.at(segment))
    }
}
