//! Named parts of a value.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::value::{Base, Members, TypeNames};
use crate::{PsString, Value};

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

    /// Like [`of`](Self::of), for structs with a `$Value` field: any value counts as wrapped.
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

    /// Returns whether there are no entries and no members.
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

/// Maximum number of members for a linear search; a hash table is used for more.
const MAX_LINEAR: usize = 16;

/// Returns the members in order, each name once: extended members have priority over adapted ones, and of several
/// members with the same name the last is used.
pub(in crate::serde) fn visible<'v>(
    extended: &'v [(PsString, Value)],
    adapted: &'v [(PsString, Value)],
) -> Vec<(&'v PsString, &'v Value)> {
    let count = extended.len() + adapted.len();
    let mut members: Vec<(&PsString, &Value)> = Vec::with_capacity(count);
    let mut table = HashSet::with_capacity(if count > MAX_LINEAR { count } else { 0 });
    for part in [extended, adapted] {
        let start = members.len();
        for (name, value) in part.iter().rev() {
            // A name with a lone surrogate only matches itself.
            let first = name.as_str().is_none_or(|text| {
                if count > MAX_LINEAR {
                    table.insert(CaseInsensitive(text))
                } else {
                    !members.iter().any(|(other, _)| other.eq_ignore_ascii_case(text))
                }
            });
            if first {
                members.push((name, value));
            }
        }
        members[start..].reverse();
    }
    members
}

/// A name that is compared ignoring the case of ASCII letters.
struct CaseInsensitive<'v>(&'v str);

impl PartialEq for CaseInsensitive<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(other.0)
    }
}

impl Eq for CaseInsensitive<'_> {}

impl Hash for CaseInsensitive<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for chunk in self.0.as_bytes().chunks(16) {
            let mut folded = [0; 16];
            folded[..chunk.len()].copy_from_slice(chunk);
            folded.make_ascii_lowercase();
            state.write(&folded);
        }
        state.write_usize(self.0.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_and_hashed_lookup_agree() {
        for count in [3, 7, 8, 100] {
            let names = |prefix: &str| -> Vec<(PsString, Value)> {
                (0..count)
                    .map(|index| (format!("{prefix} of some length {index}").into(), index.into()))
                    .collect()
            };
            let mut extended = names("member");
            extended.push(("MEMBER of some LENGTH 1".into(), "last".into()));
            let mut adapted = names("Member");
            adapted.push(("other".into(), Value::Nil));
            let members = visible(&extended, &adapted);
            assert_eq!(members.len(), count as usize + 1);
            assert_eq!(members[0].0, &"member of some length 0");
            assert_eq!(members[1].0, &"member of some length 2");
            assert_eq!(members[members.len() - 2].1, &"last");
            assert_eq!(members[members.len() - 1].0, &"other");
        }
    }
}
