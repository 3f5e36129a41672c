//! Properties of every schema and every value of it.
#![cfg(feature = "schema-json")]

use proptest::prelude::*;
use tightwire_parco::schema::{Schema, Value, compare};
use tightwire_parco::wire::Wire as _;
use tightwire_parco::{Decoder, Mode, Options, WireExt as _};

use crate::random;

/// A schema and a value of it.
fn message() -> impl Strategy<Value = (Schema, Value)> {
    random::schema(false)
        .prop_flat_map(|schema| random::value(&schema).prop_map(move |value| (schema.clone(), value)))
}

proptest! {
    #[test]
    fn values_round_trip((schema, value) in message()) {
        let wire = schema.compile().unwrap();
        let bytes = wire.to_vec(&value).unwrap();
        prop_assert_eq!(wire.encoded_len(&value).unwrap(), bytes.len());
        prop_assert!(wire.min_size() <= bytes.len());
        prop_assert!(wire.fixed_size().is_none_or(|size| size == bytes.len()));
        prop_assert_eq!(&wire.decode_exact::<Value>(&bytes).unwrap(), &value);
        let lenient = Options::new().mode(Mode::Compat);
        prop_assert_eq!(&wire.decode_exact_with::<Value>(lenient, &bytes).unwrap(), &value);
        let text = wire.value_to_json(&value).unwrap();
        prop_assert_eq!(wire.value_from_json(&text).unwrap(), value, "{}", text);
    }

    #[test]
    fn walking_consumes_the_same_bytes_as_decoding((schema, value) in message(), more in any::<[u8; 3]>()) {
        let wire = schema.compile().unwrap();
        let mut bytes = wire.to_vec(&value).unwrap();
        let len = bytes.len();
        bytes.extend(more);
        // A stream is walked over first; the bytes left show how far that went.
        let mut rest = &*bytes;
        let mut stream = Decoder::new(&mut rest);
        prop_assert_eq!(stream.decode_as::<_, Value>(&wire).unwrap(), Some(value));
        drop(stream);
        prop_assert_eq!(rest.len(), bytes.len() - len);
    }

    #[test]
    fn every_prefix_is_reported_as_too_short((schema, value) in message()) {
        let wire = schema.compile().unwrap();
        let bytes = wire.to_vec(&value).unwrap();
        for len in 0..bytes.len() {
            let error = wire.decode_exact::<Value>(&bytes[..len]).unwrap_err();
            prop_assert!(error.is_unexpected_end(), "{} at {}", error, len);
            prop_assert!(error.missing() > Some(0) && error.missing() <= Some(bytes.len() - len));
        }
    }

    #[test]
    fn any_bytes_end_in_a_value_or_an_error(schema in random::schema(false), bytes in any::<Vec<u8>>()) {
        let wire = schema.compile().unwrap();
        let mut stream = Decoder::new(&*bytes);
        match (wire.decode::<Value>(&bytes), stream.decode_as::<_, Value>(&wire)) {
            (Ok((value, rest)), streamed) => {
                let streamed = streamed.unwrap();
                prop_assert!(streamed.is_none_or(|streamed| streamed == value));
                // Decoded values can be encoded; the result may be shorter (duplicate keys) or longer (time zones).
                let again = wire.to_vec(&value).unwrap();
                prop_assert_eq!(&wire.decode_exact::<Value>(&again).unwrap(), &value);
                prop_assert!(rest.len() <= bytes.len());
            }
            // An empty stream has ended between messages.
            (Err(_), streamed) => prop_assert!(streamed.is_err() || bytes.is_empty()),
        }
    }

    #[test]
    fn schemas_survive_as_text(schema in random::schema(false)) {
        let again = Schema::from_json(&schema.to_json()).unwrap();
        prop_assert_eq!(&again, &schema);
        prop_assert_eq!(again.fingerprint(), schema.fingerprint());
        prop_assert!(compare(&again, &schema).changes.is_empty());
    }

    #[test]
    fn equal_fingerprints_are_the_same_wire(one in random::schema(false), other in random::schema(false)) {
        let is_same = compare(&one, &other).changes.iter().all(|change| !change.what.contains("reserved"))
            && compare(&one, &other).is_same_wire();
        prop_assert_eq!(is_same, one.fingerprint() == other.fingerprint(), "{} {}", one.canonical(), other.canonical());
    }
}
