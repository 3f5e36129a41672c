//! Strings of trees.

use std::ops::Deref;

use super::memory::Text;

/// Immutable string of a [`Value`](super::Value). Dereferences to `str`.
///
/// Strings of up to 22 bytes need no allocation.
#[derive(Clone)]
#[repr(transparent)]
pub struct JsonString(pub(super) Text);

impl JsonString {
    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Appends in amortized constant time per byte. The string has spare capacity until [`shrink`](Self::shrink).
    pub(super) fn push_str(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Releases the spare capacity.
    pub(super) fn shrink(&mut self) {
        *self = Self::from(std::mem::take(self).as_str());
    }
}

impl Deref for JsonString {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl From<&str> for JsonString {
    fn from(text: &str) -> Self {
        Self(Text::inline(text).unwrap_or_else(|| Text::heap(text.to_owned())))
    }
}

impl From<String> for JsonString {
    fn from(text: String) -> Self {
        Self(Text::inline(&text).unwrap_or_else(|| Text::heap(text)))
    }
}

impl From<JsonString> for String {
    fn from(mut text: JsonString) -> Self {
        text.0.take()
    }
}

impl PartialEq for JsonString {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for JsonString {}
