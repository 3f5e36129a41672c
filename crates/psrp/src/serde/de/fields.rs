//! Access to the members of an object for the fields of a struct.

use serde::de::{DeserializeSeed, MapAccess};

use super::access::{Item as _, name_of};
use super::view::ObjectView;
use crate::error::Kind;
use crate::serde::budget::RemainingBudget;
use crate::serde::path_error::{PathError, PathSegment, Result};
use crate::serde::special;
use crate::{Object, PsString, Value};

/// Accesses the members for the fields of a struct. Names are compared case-insensitively, extended members have
/// priority over adapted ones, of several members with the same name the last is used, and each field is returned once.
pub(super) struct FieldAccess<'v> {
    fields: &'static [&'static str],
    /// Parts of the object other than members.
    parts: std::array::IntoIter<(&'static str, Option<FieldValue<'v>>), 3>,
    /// The remaining members, read from the end.
    rest: ObjectView<'v>,
    returned: FieldSet,
    /// The field after the one to try first: members often are in the order of the fields.
    guess: usize,
    found: Option<(PathSegment, FieldValue<'v>)>,
    /// Number of members read so far, including unknown ones.
    index: usize,
    budget: &'v RemainingBudget,
}

/// The value of a field.
enum FieldValue<'v> {
    Value(&'v Value),
    Text(&'v PsString),
    Texts(&'v [PsString]),
}

/// The set of fields that were already returned.
struct FieldSet {
    first: u64,
    /// Fields from the 65th on.
    more: Vec<bool>,
}

impl FieldSet {
    fn new(count: usize) -> Self {
        Self { first: 0, more: vec![false; count.saturating_sub(64)] }
    }

    /// Adds a field. Returns false if it was already in the set.
    fn insert(&mut self, index: usize) -> bool {
        match index.checked_sub(64) {
            Some(index) => !std::mem::replace(&mut self.more[index], true),
            None => {
                let bit = 1 << index;
                let new = self.first & bit == 0;
                self.first |= bit;
                new
            }
        }
    }
}

impl<'v> FieldAccess<'v> {
    pub(super) fn new(
        view: &ObjectView<'v>,
        fields: &'static [&'static str],
        budget: &'v RemainingBudget,
    ) -> Self {
        let parts = [
            (special::TYPE_NAMES, view.type_names.map(|names| FieldValue::Texts(names.as_slice()))),
            (special::TO_STRING, view.to_string.map(FieldValue::Text)),
            (special::VALUE, view.base.map(FieldValue::Value)),
        ];
        Self {
            fields,
            parts: parts.into_iter(),
            rest: *view,
            returned: FieldSet::new(fields.len()),
            guess: fields.len(),
            found: None,
            index: 0,
            budget,
        }
    }

    /// Returns the field with this name; an exact match has priority over one that ignores the case of ASCII letters.
    fn field(&mut self, name: &str) -> Option<usize> {
        let guess = self.guess.wrapping_sub(1);
        let index = if self.fields.get(guess).is_some_and(|field| *field == name) {
            guess
        } else {
            let exact = self.fields.iter().position(|field| *field == name);
            exact.or_else(|| self.fields.iter().position(|field| field.eq_ignore_ascii_case(name)))?
        };
        self.guess = index;
        Some(index)
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
    fn advance(&mut self) -> Option<(Result<usize, &'v PsString>, FieldValue<'v>)> {
        for (name, found) in self.parts.by_ref() {
            let index = self.fields.iter().position(|field| *field == name);
            if let (Some(index), Some(found)) = (index, found)
                && self.returned.insert(index)
            {
                return Some((Ok(index), found));
            }
        }
        while let Some((name, value)) = self.next_member() {
            self.index += 1;
            match name.as_str().and_then(|text| self.field(text)) {
                Some(index) if self.returned.insert(index) => {
                    return Some((Ok(index), FieldValue::Value(value)));
                }
                // Hidden by a member with priority.
                Some(_) => {}
                None => return Some((Err(name), FieldValue::Value(value))),
            }
        }
        None
    }
}

impl<'de> MapAccess<'de> for FieldAccess<'_> {
    type Error = PathError;

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
            return Err(PathError::new(Kind::Mismatch, "a value was requested before its key"));
        };
        match found {
            FieldValue::Value(value) => value.read(seed, self.budget),
            FieldValue::Text(text) => Value::String(text.clone()).read(seed, self.budget),
            FieldValue::Texts(texts) => {
                Value::from(Object::list(texts.iter().cloned())).read(seed, self.budget)
            }
        }
        .map_err(|error| error.at(segment))
    }
}
