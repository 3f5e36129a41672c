//! Named parts of a value.

use std::borrow::Cow;
use std::collections::HashSet;

use uuid::fmt::Hyphenated;

use crate::value::{Base, Members, TypeNames};
use crate::{Object, PsString, Value};

/// Field names that stand for parts of an object other than its members: type names, text form, and the wrapped value (a
/// primitive, or the items or entries of a container).
pub(super) const TYPE_NAMES: &str = "$TypeNames";
pub(super) const TO_STRING: &str = "$ToString";
pub(super) const VALUE: &str = "$Value";

/// The parts of an object that structs and maps can access.
#[derive(Clone, Copy, Default)]
pub(super) struct ObjectView<'v> {
    pub(super) type_names: Option<&'v TypeNames>,
    pub(super) to_string: Option<&'v PsString>,
    /// The wrapped value, or this value itself if it is a list or dictionary.
    pub(super) base: Option<&'v Value>,
    pub(super) entries: &'v [(Value, Value)],
    pub(super) extended: &'v [(PsString, Value)],
    pub(super) adapted: &'v [(PsString, Value)],
}

impl<'v> ObjectView<'v> {
    /// Creates a view of an object with members, a dictionary or a member set. Objects that only wrap another object
    /// are unwrapped.
    pub(super) fn of(value: &'v Value) -> Option<Self> {
        let mut value = value;
        loop {
            let object = match value {
                Value::MemberSet(members) => return Some(Self::of_members(members)),
                Value::Object(object) => object,
                _ => return None,
            };
            let mut view = Self::of_parts(object);
            match object.base() {
                Base::None => return Some(view),
                Base::Dictionary(entries) => {
                    view.entries = entries;
                    view.base = Some(value);
                    return Some(view);
                }
                Base::List(..) => {
                    view.base = Some(value);
                    return (!view.is_empty()).then_some(view);
                }
                Base::Value(inner) => {
                    view.base = Some(inner);
                    if !view.is_empty() {
                        return Some(view);
                    }
                    value = inner;
                }
            }
        }
    }

    /// Like [`of`](Self::of), for structs with a `$Value` field: any value counts as wrapped.
    pub(super) fn with_base(value: &'v Value) -> Self {
        match value {
            Value::Object(object) => Self {
                base: match object.base() {
                    Base::None => None,
                    Base::Value(inner) => Some(inner),
                    Base::List(..) | Base::Dictionary(_) => Some(value),
                },
                ..Self::of_parts(object)
            },
            Value::MemberSet(members) => Self::of_members(members),
            Value::Nil => Self::default(),
            value => Self { base: Some(value), ..Self::default() },
        }
    }

    /// Creates a view of an object without its base.
    fn of_parts(object: &'v Object) -> Self {
        Self {
            type_names: object.type_names(),
            to_string: object.to_string_text(),
            extended: object.extended().as_slice(),
            adapted: object.adapted().as_slice(),
            ..Self::default()
        }
    }

    pub(super) fn of_members(members: &'v Members) -> Self {
        Self { extended: members.as_slice(), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.extended.is_empty() && self.adapted.is_empty()
    }

    /// Returns the single named entry or member, if there are no others.
    pub(super) fn single_member(&self) -> Option<(&'v PsString, &'v Value)> {
        match (self.entries, self.extended, self.adapted) {
            ([(Value::String(name), value)], [], [])
            | ([], [(name, value)], [])
            | ([], [], [(name, value)]) => Some((name, value)),
            _ => None,
        }
    }
}

/// Returns the members in order, each name once: extended members have priority over adapted ones, and of several
/// members with the same name the last is used.
pub(super) fn visible<'v>(
    extended: &'v [(PsString, Value)],
    adapted: &'v [(PsString, Value)],
) -> Vec<(&'v PsString, &'v Value)> {
    let mut members = Vec::with_capacity(extended.len() + adapted.len());
    let mut seen = HashSet::new();
    for part in [extended, adapted] {
        let start = members.len();
        for (name, value) in part.iter().rev() {
            // A name with a lone surrogate only matches itself.
            if name.as_str().is_none_or(|text| seen.insert(text.to_ascii_lowercase())) {
                members.push((name, value));
            }
        }
        members[start..].reverse();
    }
    members
}

/// Returns the text form of a value: a string, a value that is written as text, or the result of `ToString`.
///
/// Numbers, booleans, bytes and secrets have none.
pub(super) fn text(value: &Value) -> Option<Cow<'_, PsString>> {
    let text = match value {
        Value::String(text) | Value::Uri(text) | Value::Xml(text) | Value::ScriptBlock(text) => {
            return Some(Cow::Borrowed(text));
        }
        Value::Object(object) => {
            let wrapped = match (object.base(), value.base()) {
                (Base::Value(_), Value::Object(inner)) => inner.to_string_text().map(Cow::Borrowed),
                (Base::Value(_), inner) => text(inner),
                _ => None,
            };
            return wrapped.or_else(|| object.to_string_text().map(Cow::Borrowed));
        }
        Value::Char(unit) => PsString::from_utf16(&[*unit]),
        Value::Guid(id) => (&*id.hyphenated().encode_lower(&mut [0; Hyphenated::LENGTH])).into(),
        Value::Version(version) => version.to_string().into(),
        Value::DateTime(time) => time.text().as_str().into(),
        Value::TimeSpan(span) => span.text().as_str().into(),
        Value::Decimal(number) => number.text().as_str().into(),
        _ => return None,
    };
    Some(Cow::Owned(text))
}
