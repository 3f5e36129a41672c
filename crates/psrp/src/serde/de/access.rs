//! Items, members and pairs as serde asks for them.

use std::collections::HashSet;
use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::ValueDeserializer;
use super::view::View;
use crate::error::Kind;
use crate::serde::budget::Meter;
use crate::serde::fault::{Fault, Result, Step};
use crate::serde::special;
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
        let items = [self.key.clone(), self.value.clone()];
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

/// Members in order, each name once: extended before adapted ones, and of several with the same name the last.
pub(in crate::serde) fn visible<'v>(
    extended: &'v [(PsString, Value)],
    adapted: &'v [(PsString, Value)],
) -> Vec<(&'v PsString, &'v Value)> {
    let mut seen = HashSet::new();
    let mut members = Vec::with_capacity(extended.len() + adapted.len());
    for part in [extended, adapted] {
        let start = members.len();
        for (name, value) in part.iter().rev() {
            let first = match name.as_str() {
                Some(text) => seen.insert(text.to_ascii_lowercase()),
                // Nothing but itself looks up a name with a lone surrogate.
                None => true,
            };
            if first {
                members.push((name, value));
            }
        }
        members[start..].reverse();
    }
    members
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

fn name_of(name: &str) -> StrDeserializer<'_, Fault> {
    name.into_deserializer()
}

/// What the value of a field is.
enum Found<'v> {
    Value(&'v Value),
    Text(&'v PsString),
    Texts(&'v [PsString]),
}

/// Members for the fields of a struct: names without regard to case, extended before adapted ones, of several with the
/// same name the last, each field once.
pub(super) struct Fields<'v> {
    fields: &'static [&'static str],
    view: View<'v>,
    /// What comes next among the parts of the view that are walked from their end.
    part: Part,
    left: usize,
    /// Which fields were given; those from the 65th on in `seen_more`.
    seen: u64,
    seen_more: Vec<bool>,
    /// The field that is tried first: members often have the order of the fields, and are walked backwards.
    guess: usize,
    found: Option<(Step, Found<'v>)>,
    meter: &'v Meter,
}

#[derive(Clone, Copy)]
enum Part {
    TypeNames,
    ToString,
    Base,
    Entries,
    Extended,
    Adapted,
    Nothing,
}

impl<'v> Fields<'v> {
    pub(super) fn new(view: &View<'v>, fields: &'static [&'static str], meter: &'v Meter) -> Self {
        Self {
            fields,
            view: *view,
            part: Part::TypeNames,
            left: 0,
            seen: 0,
            seen_more: vec![false; fields.len().saturating_sub(64)],
            guess: fields.len(),
            found: None,
            meter,
        }
    }

    /// The field of this name, exactly or but for the case of ASCII letters.
    fn field(&mut self, name: &str) -> Option<usize> {
        let guess = self.guess.wrapping_sub(1);
        if self.fields.get(guess).is_some_and(|field| *field == name) {
            self.guess = guess;
            return Some(guess);
        }
        let exact = self.fields.iter().position(|field| *field == name);
        let index = exact.or_else(|| self.fields.iter().position(|field| field.eq_ignore_ascii_case(name)));
        if let Some(index) = index {
            self.guess = index;
        }
        index
    }

    /// Marks a field as given; false if it was already.
    fn mark(&mut self, index: usize) -> bool {
        match self.seen_more.get_mut(index.wrapping_sub(64)) {
            Some(seen) if index >= 64 => !std::mem::replace(seen, true),
            _ => {
                let bit = 1 << index;
                let new = self.seen & bit == 0;
                self.seen |= bit;
                new
            }
        }
    }

    /// The next name, and what it stands for.
    fn advance(&mut self) -> Option<(Result<usize, &'v PsString>, Found<'v>)> {
        loop {
            let (name, value) = match self.part {
                Part::Nothing => return None,
                Part::TypeNames | Part::ToString | Part::Base => {
                    let (name, found, next) = match self.part {
                        Part::TypeNames => (
                            special::TYPE_NAMES,
                            self.view.type_names.map(|names| Found::Texts(names.as_slice())),
                            Part::ToString,
                        ),
                        Part::ToString => {
                            (special::TO_STRING, self.view.to_string.map(Found::Text), Part::Base)
                        }
                        _ => (special::VALUE, self.view.base.map(Found::Value), Part::Entries),
                    };
                    self.part = next;
                    self.left = self.view.entries.len();
                    match (self.fields.iter().position(|field| *field == name), found) {
                        (Some(index), Some(found)) if self.mark(index) => return Some((Ok(index), found)),
                        _ => continue,
                    }
                }
                Part::Entries => match self.left.checked_sub(1) {
                    Some(left) => {
                        self.left = left;
                        let (key, value) = &self.view.entries[left];
                        let Value::String(name) = key.base() else { continue };
                        (name, value)
                    }
                    None => {
                        self.part = Part::Extended;
                        self.left = self.view.extended.len();
                        continue;
                    }
                },
                Part::Extended => match self.left.checked_sub(1) {
                    Some(left) => {
                        self.left = left;
                        let (name, value) = &self.view.extended[left];
                        (name, value)
                    }
                    None => {
                        self.part = Part::Adapted;
                        self.left = self.view.adapted.len();
                        continue;
                    }
                },
                Part::Adapted => match self.left.checked_sub(1) {
                    Some(left) => {
                        self.left = left;
                        let (name, value) = &self.view.adapted[left];
                        (name, value)
                    }
                    None => {
                        self.part = Part::Nothing;
                        continue;
                    }
                },
            };
            match name.as_str().and_then(|text| self.field(text)) {
                Some(index) if self.mark(index) => return Some((Ok(index), Found::Value(value))),
                // Hidden by one that came first.
                Some(_) => {}
                None => return Some((Err(name), Found::Value(value))),
            }
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some((name, found)) = self.advance() else { return Ok(None) };
        let (step, key) = match name {
            Ok(index) => (Step::Member(self.fields[index]), seed.deserialize(name_of(self.fields[index]))),
            Err(name) => (Step::Value(self.left), seed.deserialize(name_of(&name.to_str_lossy()))),
        };
        self.found = Some((step, found));
        key.map(Some).map_err(|fault| fault.below(Step::Key(self.left)))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let Some((step, found)) = self.found.take() else {
            return Err(Fault::new(Kind::Mismatch, "a value was asked for before its key"));
        };
        match found {
            Found::Value(value) => value.read(seed, self.meter),
            Found::Text(text) => Value::String(text.clone()).read(seed, self.meter),
            Found::Texts(texts) => {
                Value::from(crate::Object::list(texts.iter().cloned())).read(seed, self.meter)
            }
        }
        .map_err(|fault| fault.below(step))
    }
}
