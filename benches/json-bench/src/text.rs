//! String type of decoded payloads.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// String that borrows from the document unless it has escapes.
///
/// A `Cow` as type parameter always copies, because `#[serde(borrow)]` is an attribute of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lazy<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl AsRef<str> for Lazy<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Lazy<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}
