//! The list of type names of an object, most derived first.

use std::fmt;
use std::sync::Arc;

use super::PsString;
use super::object::shared_size;

/// The type names of an object (MS-PSRP 2.2.5.2.3), from the most derived type to `System.Object`; shared by all
/// objects that a document gives the same list.
///
/// Names are data: nothing is ever made by its name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TypeNames(Arc<[PsString]>);

impl TypeNames {
    /// A list of names, most derived first.
    pub fn new<T: Into<PsString>>(names: impl IntoIterator<Item = T>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// The names, most derived first.
    pub fn as_slice(&self) -> &[PsString] {
        &self.0
    }

    /// The most derived name.
    pub fn first(&self) -> Option<&PsString> {
        self.0.first()
    }

    /// Whether one of the names is this one, or this one after `Deserialized.`, without regard to the case of ASCII
    /// letters.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().filter_map(PsString::as_str).any(|own| {
            let own = own.strip_prefix("Deserialized.").unwrap_or(own);
            own.eq_ignore_ascii_case(name)
        })
    }

    /// Bytes that a list takes on the heap besides its names.
    pub(crate) const SIZE: usize = shared_size(0);

    /// The address of the list, its identity while a handle to it lives.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Whether both are the same list in memory.
    pub(crate) fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for TypeNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&*self.0).finish()
    }
}

impl<'a> IntoIterator for &'a TypeNames {
    type Item = &'a PsString;
    type IntoIter = std::slice::Iter<'a, PsString>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
