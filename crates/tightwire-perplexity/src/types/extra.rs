//! JSON object fields that have no struct field.

use std::collections::BTreeMap;

use tightwire_json::Value;

/// Fields of a JSON object that this crate does not define, sorted by name.
///
/// Encoding writes them after the struct fields. An entry with the name of a struct field replaces it, unless the
/// entry is `null`: a `null` is written only while the struct field is absent.
///
/// Decoding stores the unknown fields of request bodies. Those of responses, and of objects nested in requests, are
/// stored only with the feature `extra` and skipped without it. With it, a decoded value encodes again without loss,
/// including fields that were `null`.
///
/// # Examples
/// ```
/// use tightwire_perplexity::types::browser::Session;
/// use tightwire_perplexity::types::chat::Request;
///
/// let request = Request::new("sonar", "Hello").extra_field("trace", true).null("max_tokens");
/// let body = tightwire_json::to_string(&request)?;
/// assert!(body.ends_with(r#""max_tokens":null,"trace":true}"#));
///
/// let session: Session = tightwire_json::from_str(r#"{"session_id": "s", "region": "eu"}"#)?;
/// let region = session.extra.get("region").and_then(tightwire_json::Value::as_str);
/// assert_eq!(region, cfg!(feature = "extra").then_some("eu"));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra {
    /// `None` if there are no fields, as in most objects.
    #[allow(clippy::box_collection, reason = "keeps objects without such fields small")]
    map: Option<Box<BTreeMap<String, Value>>>,
}

impl Extra {
    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.as_ref()?.get(name)
    }

    /// Inserts or replaces a field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.map.get_or_insert_default().insert(name.into(), value.into());
    }

    /// Returns whether there are no fields.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_none()
    }

    /// Returns the fields, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.map.iter().flat_map(|map| map.iter())
    }

    /// Returns whether the entry is written in place of the struct field of the same name.
    pub(crate) fn overrides(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }

    /// Merges the fields of a later chunk of the same object.
    pub(crate) fn merge(&mut self, later: &Self) {
        for (name, value) in later.iter() {
            if !value.is_null() || self.get(name).is_none() {
                self.insert(name.as_str(), value.clone());
            }
        }
    }
}
