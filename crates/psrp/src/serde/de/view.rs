//! What a struct or map sees of a value.

use crate::value::{Base, Members, TypeNames};
use crate::{PsString, Value};

/// The parts of an object that have names or keys.
#[derive(Clone, Copy, Default)]
pub(super) struct View<'v> {
    pub(super) type_names: Option<&'v TypeNames>,
    pub(super) to_string: Option<&'v PsString>,
    /// What the object wraps: this value, or the list or dictionary that this value is.
    pub(super) base: Option<&'v Value>,
    pub(super) entries: &'v [(Value, Value)],
    pub(super) extended: &'v [(PsString, Value)],
    pub(super) adapted: &'v [(PsString, Value)],
}

impl<'v> View<'v> {
    /// Of an object with members, a dictionary or a set of members; an object that only wraps another one is looked
    /// through.
    pub(super) fn of(value: &'v Value) -> Option<Self> {
        let mut value = value;
        loop {
            let object = match value {
                Value::MemberSet(members) => return Some(Self::of_members(members)),
                Value::Object(object) => object,
                _ => return None,
            };
            let mut view = Self {
                type_names: object.type_names(),
                to_string: object.to_string_text(),
                base: None,
                entries: &[],
                extended: object.extended().as_slice(),
                adapted: object.adapted().as_slice(),
            };
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

    /// As [`of`](Self::of), for a type that asks for what is wrapped: any value wraps itself.
    pub(super) fn with_base(value: &'v Value) -> Self {
        match value {
            Value::Object(object) => Self {
                type_names: object.type_names(),
                to_string: object.to_string_text(),
                base: match object.base() {
                    Base::None => None,
                    Base::Value(inner) => Some(inner),
                    Base::List(..) | Base::Dictionary(_) => Some(value),
                },
                entries: &[],
                extended: object.extended().as_slice(),
                adapted: object.adapted().as_slice(),
            },
            Value::MemberSet(members) => Self::of_members(members),
            Value::Nil => Self::default(),
            value => Self { base: Some(value), ..Self::default() },
        }
    }

    pub(super) fn of_members(members: &'v Members) -> Self {
        Self { extended: members.as_slice(), ..Self::default() }
    }

    /// Whether nothing has a name or key.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.extended.is_empty() && self.adapted.is_empty()
    }

    /// The one thing that has a name or key, if there is no other.
    pub(super) fn only(&self) -> Option<(&'v PsString, &'v Value)> {
        match (self.entries, self.extended, self.adapted) {
            ([(Value::String(name), value)], [], [])
            | ([], [(name, value)], [])
            | ([], [], [(name, value)]) => Some((name, value)),
            _ => None,
        }
    }
}
