//! Members that have no field.

use std::collections::{BTreeMap, btree_map};
use std::fmt;

#[cfg(not(feature = "extra"))]
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use tightwire_json::Value;

/// What becomes of members that have no field.
pub(crate) trait Keep: Default {
    /// What is remembered of a name until its value is read.
    type Unknown;

    /// Whether anything is ever kept.
    const KEEPS: bool;

    fn unknown(name: &str) -> Self::Unknown;

    /// Reads the value of an unknown member.
    fn keep<'de, A: MapAccess<'de>>(&mut self, name: Self::Unknown, map: &mut A) -> Result<(), A::Error>;

    /// Notes that a field came as `null`.
    fn keep_null(&mut self, name: &'static str);

    fn is_empty(&self) -> bool;

    fn members(&self) -> Iter<'_>;

    /// Whether the member is written even if its field has a value.
    fn replaces(&self, name: &str) -> bool;

    /// Takes over the members of a later part of the same object.
    fn merge(&mut self, later: &Self);
}

/// Members of a request that have no field, for whatever the server understands and this crate does not name.
///
/// A member with the name of a field is written instead of the field, unless it is `null`: that is written only
/// while the field is absent.
///
/// # Examples
/// ```
/// use tightwire_perplexity::types::chat::Request;
///
/// let request = Request::new("sonar", "Hello").member("trace", true).null("max_tokens");
/// let body = tightwire_json::to_string(&request)?;
/// assert!(body.ends_with(r#""max_tokens":null,"trace":true}"#));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Members {
    map: BTreeMap<String, Value>,
}

impl Members {
    /// No members.
    pub const fn new() -> Self {
        Self { map: BTreeMap::new() }
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// Adds or replaces a member.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.map.insert(name.into(), value.into());
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// All members, in the order of their names.
    pub fn iter(&self) -> Iter<'_> {
        Iter { inner: Some(self.map.iter()) }
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<'a> IntoIterator for &'a Members {
    type Item = (&'a str, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Keep for Members {
    type Unknown = String;

    const KEEPS: bool = true;

    fn unknown(name: &str) -> String {
        name.to_owned()
    }

    fn keep<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        let value: Value = map.next_value()?;
        self.insert(name, value);
        Ok(())
    }

    fn keep_null(&mut self, name: &'static str) {
        self.insert(name, Value::Null);
    }

    #[inline]
    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }

    fn members(&self) -> Iter<'_> {
        self.iter()
    }

    fn replaces(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }

    fn merge(&mut self, later: &Self) {
        for (name, value) in later {
            if !value.is_null() || self.get(name).is_none() {
                self.insert(name, value.clone());
            }
        }
    }
}

/// Members of an answer, or of an object inside of a request, that have no field.
///
/// They are kept with the feature `extra` alone. Without it this type has no size and is always empty, so that code
/// that asks for members compiles either way. With it, what was decoded is encoded again without losing a member; those
/// that came as `null` for a field without a value are among them. A field that has a value goes before a member of the
/// same name.
///
/// # Examples
/// ```
/// let answer: tightwire_perplexity::types::browser::Session = tightwire_json::from_str(r#"{"session_id": "s", "region": "eu"}"#)?;
/// let region = answer.extra.get("region").and_then(tightwire_json::Value::as_str);
/// assert_eq!(region, cfg!(feature = "extra").then_some("eu"));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Extra {
    #[cfg(feature = "extra")]
    members: Members,
}

impl Extra {
    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(key, value)| (key == name).then_some(value))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        Keep::is_empty(self)
    }

    /// All members, in the order of their names.
    pub fn iter(&self) -> Iter<'_> {
        Keep::members(self)
    }

    /// Adds or replaces a member.
    #[cfg(feature = "extra")]
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.members.insert(name, value);
    }

    /// Removes a member.
    #[cfg(feature = "extra")]
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name)
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<'a> IntoIterator for &'a Extra {
    type Item = (&'a str, &'a Value);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

#[cfg(feature = "extra")]
impl Keep for Extra {
    type Unknown = String;

    const KEEPS: bool = true;

    fn unknown(name: &str) -> String {
        Members::unknown(name)
    }

    fn keep<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        self.members.keep(name, map)
    }

    fn keep_null(&mut self, name: &'static str) {
        self.members.keep_null(name);
    }

    fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn members(&self) -> Iter<'_> {
        self.members.iter()
    }

    fn replaces(&self, _name: &str) -> bool {
        false
    }

    fn merge(&mut self, later: &Self) {
        self.members.merge(&later.members);
    }
}

#[cfg(not(feature = "extra"))]
impl Keep for Extra {
    type Unknown = ();

    const KEEPS: bool = false;

    #[inline(always)]
    fn unknown(_name: &str) {}

    #[inline]
    fn keep<'de, A: MapAccess<'de>>(&mut self, (): (), map: &mut A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>().map(drop)
    }

    #[inline(always)]
    fn keep_null(&mut self, _name: &'static str) {}

    #[inline(always)]
    fn is_empty(&self) -> bool {
        true
    }

    fn members(&self) -> Iter<'_> {
        Iter { inner: None }
    }

    fn replaces(&self, _name: &str) -> bool {
        false
    }

    #[inline(always)]
    fn merge(&mut self, _later: &Self) {}
}

/// The members of [`Members`] or [`Extra`].
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    inner: Option<btree_map::Iter<'a, String, Value>>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.inner.as_mut()?.next().map(|(name, value)| (name.as_str(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.inner.as_ref().map_or(0, ExactSizeIterator::len);
        (len, Some(len))
    }
}

impl ExactSizeIterator for Iter<'_> {}
