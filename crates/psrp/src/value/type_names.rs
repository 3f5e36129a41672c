//! Type names of an object.

use std::sync::Arc;

use super::PsString;
use super::text::shared_size;

/// The type names of an object (MS-PSRP 2.2.5.2.3), from the most derived type to `System.Object`. Objects with the
/// same list share it.
///
/// Names are data: no .NET type is ever instantiated by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeNames(Arc<[PsString]>);

impl TypeNames {
    /// Creates a list of names, most derived type first.
    pub fn new<T: Into<PsString>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// Returns the names, most derived type first.
    pub fn as_slice(&self) -> &[PsString] {
        &self.0
    }

    /// Returns the name of the most derived type.
    pub fn first(&self) -> Option<&PsString> {
        self.0.first()
    }

    /// Returns whether one of the names is this one, optionally prefixed with `Deserialized.`, ignoring the case of
    /// ASCII letters.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().filter_map(PsString::as_str).any(|own| {
            let own = own.strip_prefix("Deserialized.").unwrap_or(own);
            own.eq_ignore_ascii_case(name)
        })
    }

    /// Heap bytes of a list, not counting its names.
    pub(crate) const SIZE: usize = shared_size(0);

    /// Returns the address of the list: its identity while a handle to it exists.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns whether both are handles to the same list.
    pub(crate) fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<'a> IntoIterator for &'a TypeNames {
    type Item = &'a PsString;
    type IntoIter = std::slice::Iter<'a, PsString>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
