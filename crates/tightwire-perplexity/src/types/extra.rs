//! JSON object fields that have no struct field.

use std::collections::{BTreeMap, btree_map};

use serde::de::MapAccess;
use tightwire_json::Value;

/// Storage for unknown fields of a JSON object.
pub(crate) trait FieldStore: Default {
    /// Unknown key, stored until its value is read.
    type Key;

    /// Whether unknown fields are stored at all.
    const STORES: bool;

    fn unknown(name: &str) -> Self::Key;

    /// Reads the value of an unknown field and stores it.
    fn store<'de, A: MapAccess<'de>>(&mut self, name: Self::Key, map: &mut A) -> Result<(), A::Error>;

    /// Records that a known field was `null`.
    fn store_null(&mut self, name: &'static str);

    fn is_empty(&self) -> bool;

    fn fields(&self) -> impl Iterator<Item = (&String, &Value)>;

    /// Returns whether the entry is written in place of the struct field of the same name.
    fn overrides(&self, name: &str) -> bool;

    /// Merges the fields of a later chunk of the same object.
    fn merge(&mut self, later: &Self);
}

/// Request fields that this crate does not define.
///
/// An entry with the name of a struct field replaces it, unless the entry is `null`: a `null` is written only
/// while the struct field is absent.
///
/// # Examples
/// ```
/// use tightwire_perplexity::types::chat::Request;
///
/// let request = Request::new("sonar", "Hello").extra_field("trace", true).null("max_tokens");
/// let body = tightwire_json::to_string(&request)?;
/// assert!(body.ends_with(r#""max_tokens":null,"trace":true}"#));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraFields {
    map: BTreeMap<String, Value>,
}

impl ExtraFields {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self { map: BTreeMap::new() }
    }

    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// Inserts or replaces a field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.map.insert(name.into(), value.into());
    }

    /// Removes a field and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name)
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the fields, sorted by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Value> {
        self.map.iter()
    }
}

impl<'a> IntoIterator for &'a ExtraFields {
    type Item = (&'a String, &'a Value);
    type IntoIter = btree_map::Iter<'a, String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FieldStore for ExtraFields {
    type Key = String;

    const STORES: bool = true;

    fn unknown(name: &str) -> String {
        name.to_owned()
    }

    fn store<'de, A: MapAccess<'de>>(&mut self, name: String, map: &mut A) -> Result<(), A::Error> {
        let value: Value = map.next_value()?;
        self.insert(name, value);
        Ok(())
    }

    fn store_null(&mut self, name: &'static str) {
        self.insert(name, Value::Null);
    }

    #[inline]
    fn is_empty(&self) -> bool {
        Self::is_empty(self)
    }

    fn fields(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.iter()
    }

    fn overrides(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }

    fn merge(&mut self, later: &Self) {
        for (name, value) in later {
            if !value.is_null() || self.get(name).is_none() {
                self.insert(name.as_str(), value.clone());
            }
        }
    }
}

/// Unknown fields of a response, or of an object nested in a request.
///
/// They are stored only with the feature `extra`; this type is then [`ExtraFields`]. Without it, it is zero-sized
/// and always empty, so that code reading unknown fields compiles either way. With it, a decoded value encodes
/// again without loss, including fields that were `null`.
///
/// # Examples
/// ```
/// let session: tightwire_perplexity::types::browser::Session = tightwire_json::from_str(r#"{"session_id": "s", "region": "eu"}"#)?;
/// let region = session.extra.get("region").and_then(tightwire_json::Value::as_str);
/// assert_eq!(region, cfg!(feature = "extra").then_some("eu"));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[cfg(feature = "extra")]
pub type Extra = ExtraFields;

#[cfg(not(feature = "extra"))]
pub use without::Extra;

#[cfg(not(feature = "extra"))]
mod without {
    use serde::de::{IgnoredAny, MapAccess};
    use tightwire_json::Value;

    use super::FieldStore;

    /// Unknown fields of a response, or of an object nested in a request.
    ///
    /// They are stored only with the feature `extra`; this type is then [`ExtraFields`](super::ExtraFields). It is
    /// always empty, so that code reading unknown fields compiles without the feature.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct Extra;

    impl Extra {
        /// Returns `None`.
        pub fn get(&self, _name: &str) -> Option<&Value> {
            None
        }

        /// Returns `true`.
        pub fn is_empty(&self) -> bool {
            true
        }

        /// Returns an empty iterator.
        pub fn iter(&self) -> std::iter::Empty<(&String, &Value)> {
            std::iter::empty()
        }
    }

    impl<'a> IntoIterator for &'a Extra {
        type Item = (&'a String, &'a Value);
        type IntoIter = std::iter::Empty<Self::Item>;

        fn into_iter(self) -> Self::IntoIter {
            self.iter()
        }
    }

    impl FieldStore for Extra {
        type Key = ();

        const STORES: bool = false;

        #[inline(always)]
        fn unknown(_name: &str) {}

        #[inline]
        fn store<'de, A: MapAccess<'de>>(&mut self, (): (), map: &mut A) -> Result<(), A::Error> {
            map.next_value::<IgnoredAny>().map(drop)
        }

        #[inline(always)]
        fn store_null(&mut self, _name: &'static str) {}

        #[inline(always)]
        fn is_empty(&self) -> bool {
            true
        }

        fn fields(&self) -> impl Iterator<Item = (&String, &Value)> {
            self.iter()
        }

        fn overrides(&self, _name: &str) -> bool {
            false
        }

        #[inline(always)]
        fn merge(&mut self, _later: &Self) {}
    }
}
