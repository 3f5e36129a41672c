//! Properties of every schema and every value of it.
#![cfg(feature = "schema-json")]

use proptest::collection::vec;
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

    /// Both versions decode each other's messages, inside of other types.
    #[test]
    fn fields_can_be_appended_to_evolve_structs(
        (old, new, before, after) in (vec(random::schema(false), 0..4), vec(random::schema(false), 0..4))
            .prop_flat_map(|(old, appended)| {
                let required = old.len();
                let new = Schema::Evolve { required, fields: random::named([old.clone(), appended].concat()) };
                let old = Schema::Evolve { required, fields: random::named(old) };
                let (before, after) = (vec(random::value(&old), 0..4), vec(random::value(&new), 0..4));
                (Just(old), Just(new), before, after)
            }),
        last: u64,
    ) {
        let message = |schema: &Schema| {
            let list = Schema::Slice { header: Schema::Varint.into(), element: schema.clone().into() };
            let fields = random::named([list, Schema::Varint].into());
            Schema::Struct(fields)
        };
        let (old, new) = (message(&old), message(&new));
        let comparison = compare(&old, &new);
        prop_assert!(comparison.old_reads_new() && comparison.new_reads_old(), "{}", comparison);
        let (old, new) = (old.compile().unwrap(), new.compile().unwrap());
        for (writer, reader, values) in [(&old, &new, before), (&new, &old, after)] {
            let bytes = writer.to_vec(&Value::Struct([Value::List(values.clone()), last.into()].into())).unwrap();
            let read: Value = reader.decode_exact(&bytes).unwrap();
            let [list, found] = read.as_struct().unwrap() else { panic!("not two fields") };
            prop_assert_eq!(found, &Value::from(last));
            prop_assert_eq!(list.as_list().unwrap().len(), values.len());
            for (read, written) in list.as_list().unwrap().iter().zip(&values) {
                let common = read.as_struct().unwrap().iter().zip(written.as_struct().unwrap());
                for (read, written) in common {
                    prop_assert_eq!(read, written);
                }
            }
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
