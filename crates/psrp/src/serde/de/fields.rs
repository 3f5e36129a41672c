//! Access to the members of an object for the fields of a struct.

use std::borrow::Cow;
use std::slice;

use serde::de::{DeserializeSeed, MapAccess};

use super::access::{Item as _, name_of};
use crate::error::Kind;
use crate::serde::budget::RemainingBudget;
use crate::serde::path_error::{PathError, PathSegment, Result};
use crate::serde::view::{self, ObjectView};
use crate::{Object, PsString, Value};

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
    /// True for each field that was already returned.
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
        found.read(seed, self.budget).map_err(|error| error.at(segment))
    }
}
