//! Merges extra fields into the JSON body of a request.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use serde::de::{self, Deserialize, Deserializer, MapAccess};
use tightwire_json::RawValue;

use crate::error::{Error, Result};

/// Name and JSON value of a field to add.
pub(crate) type Extra = (String, Box<RawValue>);

/// Fields of a JSON object, with unparsed values.
struct RawFields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        /// A key that borrows if possible. serde never borrows for a plain `Cow`.
        #[derive(serde::Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = RawFields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    fields.push((key, value));
                }
                Ok(RawFields(fields))
            }
        }

        deserializer.deserialize_map(Visitor)
    }
}

/// Merges `extras` into the top level of `body`. They override fields of the body, and later ones override
/// earlier ones.
///
/// Values are copied verbatim, so numbers of any length stay exact. Without a body, the extras become the
/// body.
pub(crate) fn merge(body: &[u8], extras: &[Extra]) -> Result<Bytes> {
    let RawFields(mut fields) = if body.is_empty() {
        RawFields(Vec::new())
    } else {
        tightwire_json::from_slice_borrowed(body).map_err(|error| {
            Error::invalid("extra_body", "requires a JSON object as body").with_source(error)
        })?
    };
    for (name, value) in extras {
        let value: &RawValue = value;
        match fields.iter_mut().find(|(key, _)| key == name) {
            Some(field) => field.1 = value,
            None => fields.push((Cow::Borrowed(name), value)),
        }
    }
    let mut merged = Vec::with_capacity(body.len() + 64);
    merged.push(b'{');
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            merged.push(b',');
        }
        tightwire_json::to_buf(&mut merged, key)
            .map_err(|error| Error::invalid("extra_body", "cannot be encoded as JSON").with_source(error))?;
        merged.push(b':');
        merged.extend_from_slice(value.get().as_bytes());
    }
    merged.push(b'}');
    Ok(merged.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extra(name: &str, value: &str) -> Extra {
        (name.to_owned(), RawValue::from_string(value.to_owned()).unwrap())
    }

    #[test]
    fn extras_override_fields_and_the_rest_is_unchanged() {
        let body = br#"{"model":"a","big":123456789012345678901234567890,"f":1.0,"k\"":"\u00e9"}"#;
        let merged = merge(body, &[extra("model", "\"b\""), extra("n", "null"), extra("n", "[1]")]).unwrap();
        assert_eq!(
            merged,
            r#"{"model":"b","big":123456789012345678901234567890,"f":1.0,"k\"":"\u00e9","n":[1]}"#
        );
    }
}
