//! Named members in document order.

use super::{PsString, Value};

/// Members of an object (MS-PSRP 2.2.5.2.8, 2.2.5.2.9): an ordered list of names and values.
///
/// Like in PowerShell, lookup ignores the case of ASCII letters; order and spelling are preserved. If a name occurs
/// more than once, all members are preserved and lookup returns the last.
#[derive(Default)]
pub struct Members(pub(crate) Vec<(PsString, Value)>);

impl Members {
    /// Creates an empty list.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a member, even if one with this name exists.
    pub fn push(&mut self, name: impl Into<PsString>, value: impl Into<Value>) {
        self.0.push((name.into(), value.into()));
    }

    /// Reserves capacity for more members.
    #[cfg(feature = "serde")]
    pub(crate) fn reserve(&mut self, more: usize) {
        self.0.reserve_exact(more);
    }

    /// Returns the value of the last member with this name, ignoring the case of ASCII letters.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&PsString, &Value)> + DoubleEndedIterator {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|(_, value)| value)
    }

    #[cfg(feature = "serde")]
    pub(crate) fn as_slice(&self) -> &[(PsString, Value)] {
        &self.0
    }
}

/// Clones nested sets without recursion, because values built in code can be nested to any depth.
impl Clone for Members {
    fn clone(&self) -> Self {
        /// A set that is being cloned.
        struct Set<'a> {
            /// Name of this set in the enclosing set.
            name: PsString,
            rest: std::slice::Iter<'a, (PsString, Value)>,
            members: Vec<(PsString, Value)>,
        }

        fn set(name: PsString, members: &Members) -> Set<'_> {
            Set { name, rest: members.0.iter(), members: Vec::with_capacity(members.len()) }
        }

        let mut outer = Vec::new();
        let mut current = set(PsString::default(), self);
        loop {
            match current.rest.next() {
                Some((name, Value::MemberSet(inner))) => {
                    outer.push(std::mem::replace(&mut current, set(name.clone(), inner)));
                }
                Some((name, value)) => current.members.push((name.clone(), value.clone())),
                None => {
                    let members = Self(std::mem::take(&mut current.members));
                    let Some(before) = outer.pop() else { return members };
                    let Set { name, .. } = std::mem::replace(&mut current, before);
                    current.members.push((name, Value::MemberSet(Box::new(members))));
                }
            }
        }
    }
}

impl<N: Into<PsString>, V: Into<Value>> FromIterator<(N, V)> for Members {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        Self(members.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl IntoIterator for Members {
    type Item = (PsString, Value);
    type IntoIter = std::vec::IntoIter<(PsString, Value)>;

    fn into_iter(mut self) -> Self::IntoIter {
        std::mem::take(&mut self.0).into_iter()
    }
}
