//! Members for the fields of a struct.

use serde::de::{DeserializeSeed, MapAccess};

use super::access::{Item as _, name_of};
use super::view::View;
use crate::error::Kind;
use crate::serde::budget::Meter;
use crate::serde::fault::{Fault, Result, Step};
use crate::serde::special;
use crate::{Object, PsString, Value};

/// Members for the fields of a struct: names without regard to case, extended before adapted ones, of several with the
/// same name the last, each field once.
pub(super) struct Fields<'v> {
    fields: &'static [&'static str],
    /// Parts of the object other than members.
    parts: std::array::IntoIter<(&'static str, Option<Found<'v>>), 3>,
    /// What is left of the members, to be walked from the end.
    rest: View<'v>,
    given: Given,
    /// The field after the one that is tried first: members often have the order of the fields.
    guess: usize,
    found: Option<(Step, Found<'v>)>,
    /// How many members were found, the unknown ones included.
    index: usize,
    meter: &'v Meter,
}

/// What the value of a field is.
enum Found<'v> {
    Value(&'v Value),
    Text(&'v PsString),
    Texts(&'v [PsString]),
}

/// Which fields were given.
struct Given {
    first: u64,
    /// Those from the 65th on.
    more: Vec<bool>,
}

impl Given {
    fn new(count: usize) -> Self {
        Self { first: 0, more: vec![false; count.saturating_sub(64)] }
    }

    /// Marks a field as given; false if it was already.
    fn mark(&mut self, index: usize) -> bool {
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

impl<'v> Fields<'v> {
    pub(super) fn new(view: &View<'v>, fields: &'static [&'static str], meter: &'v Meter) -> Self {
        let parts = [
            (special::TYPE_NAMES, view.type_names.map(|names| Found::Texts(names.as_slice()))),
            (special::TO_STRING, view.to_string.map(Found::Text)),
            (special::VALUE, view.base.map(Found::Value)),
        ];
        Self {
            fields,
            parts: parts.into_iter(),
            rest: *view,
            given: Given::new(fields.len()),
            guess: fields.len(),
            found: None,
            index: 0,
            meter,
        }
    }

    /// The field of this name, exactly or but for the case of ASCII letters.
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

    /// The next member from the end: entries, then extended members, then adapted ones.
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

    /// What comes next: the index of its field, or its name if the type has no such field.
    fn advance(&mut self) -> Option<(Result<usize, &'v PsString>, Found<'v>)> {
        for (name, found) in self.parts.by_ref() {
            let index = self.fields.iter().position(|field| *field == name);
            if let (Some(index), Some(found)) = (index, found)
                && self.given.mark(index)
            {
                return Some((Ok(index), found));
            }
        }
        while let Some((name, value)) = self.next_member() {
            self.index += 1;
            match name.as_str().and_then(|text| self.field(text)) {
                Some(index) if self.given.mark(index) => return Some((Ok(index), Found::Value(value))),
                // Hidden by one that came first.
                Some(_) => {}
                None => return Some((Err(name), Found::Value(value))),
            }
        }
        None
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let Some((name, found)) = self.advance() else { return Ok(None) };
        let (step, key) = match name {
            Ok(index) => (Step::Member(self.fields[index]), seed.deserialize(name_of(self.fields[index]))),
            Err(name) => (Step::Value(self.index), seed.deserialize(name_of(&name.to_str_lossy()))),
        };
        self.found = Some((step, found));
        key.map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let Some((step, found)) = self.found.take() else {
            return Err(Fault::new(Kind::Mismatch, "a value was asked for before its key"));
        };
        match found {
            Found::Value(value) => value.read(seed, self.meter),
            Found::Text(text) => Value::String(text.clone()).read(seed, self.meter),
            Found::Texts(texts) => Value::from(Object::list(texts.iter().cloned())).read(seed, self.meter),
        }
        .map_err(|fault| fault.below(step))
    }
}
