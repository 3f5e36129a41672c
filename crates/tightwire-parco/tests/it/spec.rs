//! The examples of SPEC.md.
#![cfg(feature = "schema-json")]

use tightwire_parco::WireExt as _;
use tightwire_parco::schema::{Dynamic, Schema, Value};

const SPEC: &str = include_str!("../../SPEC.md");

/// Returns the examples of a kind: the schema, and the lines after it.
fn examples<const N: usize>(kind: &str) -> Vec<(Dynamic, [&'static str; N])> {
    let start = format!("```{kind}\n");
    let blocks = SPEC.split(&*start).skip(1).map(|rest| rest.split("\n```").next().unwrap());
    let examples = blocks.map(|block| {
        let mut lines = block.lines();
        let schema = Schema::from_json(lines.next().unwrap()).unwrap();
        (schema.compile().unwrap(), lines.collect::<Vec<_>>().try_into().expect("the lines of the kind"))
    });
    examples.collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    digits.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn values_have_these_bytes() {
    let examples = examples::<2>("example");
    assert_eq!(examples.len(), 35);
    for (wire, [json, bytes]) in examples {
        let (value, bytes) = (wire.value_from_json(json).unwrap(), unhex(bytes));
        assert_eq!(wire.to_vec(&value).unwrap(), bytes, "{json}");
        assert_eq!(wire.decode_exact::<Value>(&bytes).unwrap(), value, "{json}");
        assert_eq!(wire.value_from_json(&wire.value_to_json(&value).unwrap()).unwrap(), value);
    }
}

#[test]
fn messages_of_newer_versions_are_decoded() {
    let examples = examples::<3>("older");
    assert_eq!(examples.len(), 1);
    for (wire, [newer, json, older]) in examples {
        let value = wire.decode_exact::<Value>(&unhex(newer)).unwrap();
        assert_eq!(value, wire.value_from_json(json).unwrap());
        assert_eq!(wire.to_vec(&value).unwrap(), unhex(older));
    }
}

#[test]
fn invalid_messages_have_these_errors() {
    let examples = examples::<2>("error");
    assert_eq!(examples.len(), 9);
    for (wire, [bytes, expected]) in examples {
        assert_eq!(wire.decode_exact::<Value>(&unhex(bytes)).unwrap_err().to_string(), expected);
    }
}

#[test]
fn schemas_have_these_fingerprints() {
    let examples = examples::<2>("fingerprint");
    assert_eq!(examples.len(), 4);
    for (wire, [canonical, fingerprint]) in examples {
        assert_eq!(wire.schema().canonical(), canonical);
        assert_eq!(wire.schema().fingerprint().to_string(), fingerprint);
    }
}
