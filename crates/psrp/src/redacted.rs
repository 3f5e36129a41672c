//! Hides secrets from `Debug`.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes of which `Debug` shows only the length.
#[derive(Clone, Default)]
pub(crate) struct Redacted<T>(pub(crate) T);

impl<T: AsRef<[u8]>> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} bytes)", self.0.as_ref().len())
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Redacted<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
