//! Conversions and comparisons of strings.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::str::FromStr;

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{self, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JsonString;
use super::deserialize::visit;

impl Default for JsonString {
    fn default() -> Self {
        Self::from("")
    }
}

impl fmt::Debug for JsonString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for JsonString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

/// Same as the hash of the text.
impl Hash for JsonString {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

/// Order of the bytes of the text.
impl Ord for JsonString {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other)
    }
}

impl PartialOrd for JsonString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Borrow<str> for JsonString {
    fn borrow(&self) -> &str {
        self
    }
}

macro_rules! as_ref {
    ($($type:ty)*) => {
        $(
            impl AsRef<$type> for JsonString {
                fn as_ref(&self) -> &$type {
                    self.as_str().as_ref()
                }
            }
        )*
    };
}

as_ref! { str [u8] OsStr Path }

impl From<&Self> for JsonString {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl From<&String> for JsonString {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Box<str>> for JsonString {
    fn from(text: Box<str>) -> Self {
        text.into_string().into()
    }
}

impl From<Cow<'_, str>> for JsonString {
    fn from(text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}

impl From<char> for JsonString {
    fn from(char: char) -> Self {
        Self::from(&*char.encode_utf8(&mut [0; 4]))
    }
}

impl From<JsonString> for Box<str> {
    fn from(text: JsonString) -> Self {
        String::from(text).into()
    }
}

impl From<&JsonString> for String {
    fn from(text: &JsonString) -> Self {
        text.as_str().to_owned()
    }
}

impl From<JsonString> for Cow<'_, str> {
    fn from(text: JsonString) -> Self {
        Self::Owned(text.into())
    }
}

impl<'a> From<&'a JsonString> for Cow<'a, str> {
    fn from(text: &'a JsonString) -> Self {
        Self::Borrowed(text)
    }
}

impl FromStr for JsonString {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.into())
    }
}

impl FromIterator<char> for JsonString {
    fn from_iter<I: IntoIterator<Item = char>>(chars: I) -> Self {
        chars.into_iter().collect::<String>().into()
    }
}

macro_rules! equal {
    ($($type:ty)*) => {
        $(
            impl PartialEq<$type> for JsonString {
                fn eq(&self, other: &$type) -> bool {
                    self.as_str() == AsRef::<str>::as_ref(other)
                }
            }

            impl PartialEq<JsonString> for $type {
                fn eq(&self, other: &JsonString) -> bool {
                    other == self
                }
            }
        )*
    };
}

equal! { str &str String Cow<'_, str> }

impl Serialize for JsonString {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de, E: de::Error> IntoDeserializer<'de, E> for JsonString {
    type Deserializer = StringDeserializer<E>;

    fn into_deserializer(self) -> Self::Deserializer {
        StringDeserializer::new(self.into())
    }
}

impl<'de, E: de::Error> IntoDeserializer<'de, E> for &'de JsonString {
    type Deserializer = BorrowedStrDeserializer<'de, E>;

    fn into_deserializer(self) -> Self::Deserializer {
        BorrowedStrDeserializer::new(self)
    }
}

impl<'de> Deserialize<'de> for JsonString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StringVisitor;

        impl Visitor<'_> for StringVisitor {
            type Value = JsonString;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            visit! { visit_str(&str) visit_string(String) }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<JsonString, E> {
                match str::from_utf8(bytes) {
                    Ok(text) => Ok(text.into()),
                    Err(_) => Err(E::invalid_value(de::Unexpected::Bytes(bytes), &self)),
                }
            }
        }

        deserializer.deserialize_string(StringVisitor)
    }
}
