//! Strings as PowerShell has them: UTF-16, possibly with lone surrogates.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use compact_str::CompactString;

/// A string of UTF-16 code units, stored as UTF-8 if possible.
///
/// PowerShell strings may contain a lone surrogate, which a Rust `str` can't. Such strings are stored as code units,
/// all others as UTF-8; short strings are not allocated. Comparison and hashing depend on the text only.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PsString(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Utf8(CompactString),
    /// Contains at least one lone surrogate; all other text is stored as `Utf8`.
    Utf16(Arc<[u16]>),
}

impl PsString {
    /// Creates a string from code units; lone surrogates are preserved.
    pub fn from_utf16(units: &[u16]) -> Self {
        match String::from_utf16(units) {
            Ok(text) => text.into(),
            Err(_) => Self(Repr::Utf16(units.into())),
        }
    }

    /// Creates a string from static text without allocation.
    pub(crate) const fn from_static(text: &'static str) -> Self {
        Self(Repr::Utf8(CompactString::const_new(text)))
    }

    /// Returns the text, or `None` if it contains a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Utf8(text) => Some(text),
            Repr::Utf16(_) => None,
        }
    }

    /// Returns the text, with U+FFFD in place of each lone surrogate.
    pub fn to_str_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Utf8(text) => Cow::Borrowed(text),
            Repr::Utf16(units) => Cow::Owned(String::from_utf16_lossy(units)),
        }
    }

    /// Returns the code units.
    pub fn to_utf16(&self) -> Vec<u16> {
        match &self.0 {
            Repr::Utf8(text) => text.encode_utf16().collect(),
            Repr::Utf16(units) => units.to_vec(),
        }
    }

    /// Returns the code units if there is a lone surrogate, else `None`.
    pub(crate) fn as_wide(&self) -> Option<&[u16]> {
        match &self.0 {
            Repr::Utf8(_) => None,
            Repr::Utf16(units) => Some(units),
        }
    }

    /// Heap bytes of the text.
    #[inline]
    pub(crate) fn heap_size(&self) -> usize {
        match &self.0 {
            Repr::Utf8(text) if text.is_heap_allocated() => text.capacity(),
            Repr::Utf8(_) => 0,
            Repr::Utf16(units) => shared_size(size_of_val(&**units)),
        }
    }

    /// Length of the stored text in bytes.
    pub(crate) fn size(&self) -> usize {
        match &self.0 {
            Repr::Utf8(text) => text.len(),
            Repr::Utf16(units) => size_of_val(&**units),
        }
    }

    /// Returns whether the string is empty.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Repr::Utf8(text) => text.is_empty(),
            Repr::Utf16(_) => false,
        }
    }

    /// Compares ignoring the case of ASCII letters, like the lookup of members.
    pub fn eq_ignore_ascii_case(&self, other: &str) -> bool {
        self.as_str().is_some_and(|text| text.eq_ignore_ascii_case(other))
    }
}

/// Heap bytes of a value of this size in an [`Arc`], which adds two counters.
pub(crate) const fn shared_size(value: usize) -> usize {
    value + 2 * size_of::<usize>()
}

impl Default for PsString {
    fn default() -> Self {
        Self(Repr::Utf8(CompactString::const_new("")))
    }
}

impl PartialEq<str> for PsString {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for PsString {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(*other)
    }
}

macro_rules! impl_from {
    ($($type:ty),*) => {$(
        impl From<$type> for PsString {
            #[inline]
            fn from(text: $type) -> Self {
                Self(Repr::Utf8(text.into()))
            }
        }
    )*};
}

impl_from!(&str, String, Cow<'_, str>);

impl From<char> for PsString {
    fn from(char: char) -> Self {
        Self::from(&*char.encode_utf8(&mut [0; 4]))
    }
}

/// Writes the text with U+FFFD in place of each lone surrogate. Control characters are written unchanged: escape remote
/// text with [`terminal_safe`](crate::terminal_safe) before it reaches a terminal.
impl fmt::Display for PsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_str_lossy())
    }
}

impl fmt::Debug for PsString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Utf8(text) => fmt::Debug::fmt(text.as_str(), f),
            Repr::Utf16(units) => {
                f.write_str("\"")?;
                for unit in char::decode_utf16(units.iter().copied()) {
                    match unit {
                        Ok(char) => write!(f, "{}", char.escape_debug())?,
                        Err(lone) => write!(f, "\\u{{{:x}}}", lone.unpaired_surrogate())?,
                    }
                }
                f.write_str("\"")
            }
        }
    }
}
