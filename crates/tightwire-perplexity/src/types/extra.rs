//! JSON object fields that have no struct field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tightwire_json::Value;

/// Fields of a JSON object that this crate does not define, sorted by name.
///
/// Decoding stores them, and fields that were `null`, so that a value encodes again without loss. Encoding writes
/// them after the struct fields. An entry with the name of a struct field replaces it, unless the entry is `null`: a
/// `null` is written only while the struct field is absent.
///
/// # Examples
///
/// ```
/// use tightwire_perplexity::types::{browser::Session, chat::Request};
///
/// let request = Request::new("sonar", "Hello").extra_field("trace", true).null("max_tokens");
/// let body = tightwire_json::to_string(&request)?;
/// assert!(body.ends_with(r#""max_tokens":null,"trace":true}"#));
///
/// let session: Session = tightwire_json::from_str(r#"{"session_id": "s", "region": "eu"}"#)?;
/// assert_eq!(session.extra.get("region").and_then(|region| region.as_str()), Some("eu"));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra {
    map: BTreeMap<Cow<'static, str>, Value>,
}

impl Extra {
    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// Inserts or replaces a field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.map.insert(Cow::Owned(name.into()), value.into());
    }

    /// Records that a known field was `null`.
    pub(crate) fn insert_null(&mut self, name: &'static str) {
        self.map.insert(Cow::Borrowed(name), Value::Null);
    }

    /// Returns whether there are no fields.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the fields, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.map.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns whether the entry is written in place of the struct field of the same name.
    pub(crate) fn overrides(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }

    /// Merges the fields of a later chunk of the same object.
    pub(crate) fn merge(&mut self, later: &Self) {
        for (name, value) in later.iter() {
            if !value.is_null() || self.get(name).is_none() {
                self.insert(name, value.clone());
            }
        }
    }
}
