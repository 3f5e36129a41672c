//! Access to the members of an object for the fields of a struct.

use serde::de::{DeserializeSeed, MapAccess};

use super::access::{Item as _, name_of};
use crate::error::Kind;
use crate::serde::budget::RemainingBudget;
use crate::serde::path_error::{PathError, PathSegment, Result};
use crate::serde::special;
use crate::serde::view::ObjectView;
use crate::{Object, PsString, Value};

/// Accesses the members for the fields of a struct. Names are compared case-insensitively, extended members have
/// priority over adapted ones, of several members with the same name the last is used, and each field is returned once.
pub(super) struct FieldAccess<'v> {
    fields: &'static [&'static str],
    /// Parts of the object other than members.
    parts: std::array::IntoIter<(&'static str, Option<FieldValue<'v>>), 3>,
    /// The remaining members, read from the end.
    rest: ObjectView<'v>,
    /// True for each field that was already returned.
    returned: Vec<bool>,
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
    fn advance(&mut self) -> Option<(Result<usize, &'v PsString>, FieldValue<'v>)> {
        while let Some((name, found)) = self.parts.next() {
            let index = self.fields.iter().position(|field| *field == name);
            if let (Some(index), Some(found)) = (index, found)
                && self.take(index)
            {
                return Some((Ok(index), found));
            }
        }
        while let Some((name, value)) = self.next_member() {
            self.index += 1;
            match name.as_str().and_then(|text| self.field(text)) {
                Some(index) if self.take(index) => {
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
