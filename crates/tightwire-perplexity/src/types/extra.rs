//! JSON object fields that have no struct field.

use std::collections::BTreeMap;

use tightwire_json::Value;

/// Storage for unknown fields of a JSON object.
pub(crate) trait FieldStore: Default {
    /// Whether unknown fields are stored at all.
    const STORES: bool;

    /// Returns the stored fields; `None` without storage.
    fn stored(&self) -> Option<&ExtraFields>;

    /// Returns the stored fields; `None` without storage.
    fn stored_mut(&mut self) -> Option<&mut ExtraFields>;

    /// Records that a known field was `null`.
    #[inline]
    fn store_null(&mut self, name: &'static str) {
        if let Some(fields) = self.stored_mut() {
            fields.insert(name, Value::Null);
        }
    }

    /// Merges the fields of a later chunk of the same object.
    fn merge(&mut self, later: &Self) {
        let (Some(fields), Some(later)) = (self.stored_mut(), later.stored()) else { return };
        for (name, value) in later.iter() {
            if !value.is_null() || fields.get(name).is_none() {
                fields.insert(name.as_str(), value.clone());
            }
        }
    }
}

/// Request fields that this crate does not define, sorted by name.
///
/// Encoding writes them after the struct fields. An entry with the name of a struct field replaces it, unless the
/// entry is `null`: a `null` is written only while the struct field is absent.
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
    /// Returns the value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// Inserts or replaces a field.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.map.insert(name.into(), value.into());
    }

    /// Returns whether there are no fields.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// Returns the fields, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.map.iter()
    }

    /// Returns whether the entry is written in place of the struct field of the same name.
    pub(crate) fn overrides(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !value.is_null())
    }
}

impl FieldStore for ExtraFields {
    const STORES: bool = true;

    #[inline(always)]
    fn stored(&self) -> Option<&Self> {
        Some(self)
    }

    #[inline(always)]
    fn stored_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}

/// Unknown fields of a response, or of an object nested in a request.
///
/// They are stored only with the feature `extra`; this type is then [`ExtraFields`]. Without the feature, the
/// type is zero-sized and always empty, so that code that reads unknown fields compiles either way. With the
/// feature, a decoded value encodes again without loss, including fields that were `null`.
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

/// Unknown fields of a response, or of an object nested in a request.
///
/// They are stored only with the feature `extra`; this type is then [`ExtraFields`]. Without the feature, the
/// type is always empty, so that code that reads unknown fields still compiles.
#[cfg(not(feature = "extra"))]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extra;

#[cfg(not(feature = "extra"))]
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
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        std::iter::empty()
    }
}

#[cfg(not(feature = "extra"))]
impl FieldStore for Extra {
    const STORES: bool = false;

    #[inline(always)]
    fn stored(&self) -> Option<&ExtraFields> {
        None
    }

    #[inline(always)]
    fn stored_mut(&mut self) -> Option<&mut ExtraFields> {
        None
    }
}
