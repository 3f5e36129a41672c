//! Decoded trees, which share memory, compared with trees of vectors and boxes.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::mpsc;

use proptest::prelude::*;
use tightwire_json::{
    Codec, Duplicates, ErrorDetails as _, Limits, Value, from_slice, from_str, json, to_string, to_value,
};

use crate::support::{document, outcome};

/// Returns the same tree without shared memory, because serde buffers the values of untagged enums.
fn owned(document: &str) -> Value {
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Buffered {
        Tree(Value),
    }
    let Buffered::Tree(tree) = from_str(document).unwrap();
    tree
}

/// Replaces, moves and removes values at all levels.
fn change(value: &mut Value, depth: usize) {
    match value {
        Value::Array(array) => {
            for element in array.iter_mut() {
                change(element, depth + 1);
            }
            array.push(depth.into());
            array.reverse();
            array.truncate(5);
        }
        Value::Object(map) => {
            for (_, value) in map.iter_mut() {
                change(value, depth + 1);
            }
            map.insert("depth".into(), depth.into());
            let first = map.keys().next().cloned();
            let removed = first.and_then(|key| map.remove(&key));
            map.insert("removed".into(), removed.into());
        }
        other => *other = Value::from([other.take()]),
    }
}

proptest! {
    #[test]
    fn trees_equal_those_of_another_deserializer(document in document()) {
        let tree = from_str::<Value>(&document);
        prop_assume!(tree.is_ok());
        let tree = tree.unwrap();
        let expected = owned(&document);
        prop_assert_eq!(&tree, &expected);
        prop_assert_eq!(to_string(&tree).unwrap(), to_string(&expected).unwrap());
    }

    /// Objects with optional fields, in one order or in any, with duplicates.
    #[test]
    fn kinds_of_objects_alternate(
        kinds in prop::collection::vec(prop::collection::vec(0..24_usize, 1..30), 4),
        sorted: bool,
        order in prop::collection::vec(0..4_usize, 0..16),
    ) {
        let objects = order.iter().enumerate().map(|(at, kind)| {
            let mut keys = kinds[*kind].clone();
            if sorted {
                keys.sort_unstable();
                keys.dedup();
            }
            // Some keys are longer than 22 bytes.
            let entries = keys.iter().map(|key| format!(r#""{}{key}":{at}"#, "key ".repeat(key % 7)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        });
        let document = format!("[{}]", objects.collect::<Vec<_>>().join(","));
        let (tree, expected) = (from_str::<Value>(&document).unwrap(), owned(&document));
        prop_assert_eq!(to_string(&tree).unwrap(), to_string(&expected).unwrap());
        for object in tree.as_array().into_iter().flatten().filter_map(Value::as_object) {
            prop_assert!(object.iter().all(|(key, value)| object.get(key.as_str()) == Some(value)));
        }
        prop_assert_eq!(to_value(&expected).unwrap(), tree);
    }

    #[test]
    fn changes_equal_those_of_owned_trees(document in document()) {
        let original = from_str::<Value>(&document);
        prop_assume!(original.is_ok());
        let original = original.unwrap();
        let (mut tree, mut expected) = (original.clone(), owned(&document));
        change(&mut tree, 0);
        change(&mut expected, 0);
        prop_assert_eq!(to_string(&tree).unwrap(), to_string(&expected).unwrap());
        prop_assert_eq!(original, owned(&document));
    }

    #[test]
    fn parts_outlive_their_document(document in document()) {
        let tree = from_str::<Value>(&document).unwrap_or_default();
        let part = match &tree {
            Value::Array(array) => array.last().cloned(),
            Value::Object(map) => map.values().next_back().cloned(),
            other => Some(other.clone()),
        };
        let expected = part.as_ref().map(|part| to_string(part).unwrap());
        drop(tree);
        let in_thread = std::thread::spawn(move || part.map(|part| to_string(&part).unwrap())).join().unwrap();
        prop_assert_eq!(in_thread, expected);
    }

    #[test]
    fn damaged_documents_have_the_errors_of_validation(
        document in document(), at in any::<prop::sample::Index>(), byte: u8
    ) {
        let mut bytes = document.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        for bytes in [&bytes[..], &bytes[..at]] {
            let tree = outcome(from_slice::<Value>(bytes).map(|_| ()));
            match outcome(Codec::strict().validate(bytes)) {
                // A number may be out of range.
                Ok(()) => prop_assert!(matches!(tree, Ok(()) | Err(("data", _)))),
                error => prop_assert!(tree == error || matches!(tree, Err(("data", _)))),
            }
        }
    }
}

#[test]
fn limits_apply_to_trees() {
    let codec = Codec::strict().with_limits(Limits::new().max_depth(3).max_string(30));
    let long = "k".repeat(30);
    for (document, offset) in [
        ("[[[1]]]".to_owned(), None),
        ("[[[[1]]]]".to_owned(), Some(3)),
        (r#"{"a":[{"b":{}}]}"#.to_owned(), Some(11)),
        (format!(r#"{{"{long}":["{long}"]}}"#), None),
        (format!(r#"{{"{long}k":1}}"#), Some(1)),
        (format!(r#"["{long}\n"]"#), Some(1)),
    ] {
        // The decoder expects the keys of earlier documents of the thread, which may have had higher limits.
        _ = from_str::<Value>(&document);
        let error = codec.from_str::<Value>(&document).err();
        assert_eq!(error.as_ref().and_then(tightwire_json::Error::offset), offset, "{document}");
        assert!(error.is_none_or(|error| error.is_limit()), "{document}");
    }
}

#[test]
fn the_last_of_duplicate_keys_is_kept_at_the_first_position() {
    let many: String = (0..40).map(|key| format!(r#""k{}":{key},"#, key % 25)).collect();
    for (document, expected) in [
        (r#"{"a":1,"b":2,"a":3}"#.to_owned(), r#"{"a":3,"b":2}"#.to_owned()),
        (r#"{"a":1,"\u0061":[2]}"#.to_owned(), r#"{"a":[2]}"#.to_owned()),
        (
            r#"{"key longer than 22 bytes, twice":1,"key longer than 22 bytes, twice":2}"#.to_owned(),
            r#"{"key longer than 22 bytes, twice":2}"#.to_owned(),
        ),
        (
            format!("{{{}}}", many.trim_end_matches(',')),
            format!(
                "{{{}}}",
                (0..25)
                    .map(|key| format!(r#""k{key}":{}"#, if key < 15 { key + 25 } else { key }))
                    .collect::<Vec<_>>()
                    .join(",")
            ),
        ),
        // Objects with the keys of the object before them, in the same and in another order.
        (
            r#"[{"a":1,"b":2},{"a":3,"b":4},{"b":5,"a":6,"b":7},{"a":8,"b":9,"a":10},{"a":11}]"#.to_owned(),
            r#"[{"a":1,"b":2},{"a":3,"b":4},{"b":7,"a":6},{"a":10,"b":9},{"a":11}]"#.to_owned(),
        ),
    ] {
        let tree: Value = from_str(&document).unwrap();
        assert_eq!(to_string(&tree).unwrap(), expected);
        assert_eq!(tree, owned(&document));
        let last = Codec::strict().with_duplicates(Duplicates::Last).from_str::<Value>(&document).unwrap();
        assert_eq!(last, tree);
    }
}

#[test]
fn keys_are_compared_with_the_object_before_exactly() {
    // An expected key may occur in the document with other characters after it, or with an escape.
    for keys in [
        ["a", "ab"],
        ["ab", "a"],
        [r"a\u0062", "ab"],
        ["ab", r"a\u0062"],
        [r#"a\""#, "a"],
        [r"a\\", r"a\\b"],
        ["", "a"],
        ["key with exactly 22 by", "key with exactly 22 byt"],
        ["a key with more than 22 bytes", "a key with more than 22 bytes and more"],
        ["a key with more than 22 bytes and more", "a key with more than 22 bytes"],
    ] {
        let [first, second] = keys;
        let document = format!(r#"[{{"{first}":1,"c":2}},{{"{second}":3,"c":4}},{{"{first}":5,"c":6}}]"#);
        assert_eq!(from_str::<Value>(&document).unwrap(), owned(&document), "{document}");
    }
}

#[test]
fn keys_of_earlier_documents_are_copied() {
    // Numbers of keys with and without an index, and more than are kept.
    for count in [1, 15, 16, 32, 33, 100] {
        for key in ["k", "a key with more than 22 bytes "] {
            let document = |keys: usize, value: &str| {
                let entries: Vec<_> = (0..keys).map(|at| format!(r#""{key}{at}":{value}"#)).collect();
                format!(r#"{{"object":{{{}}}}}"#, entries.join(","))
            };
            let first: Value = from_str(&document(count, "1")).unwrap();
            let documents = [document(count, "[2]"), document(count - 1, "{}"), document(count + 1, "3")];
            let trees = documents.each_ref().map(|document| from_str::<Value>(document).unwrap());
            drop(first);
            for (tree, document) in trees.iter().zip(&documents) {
                assert_eq!(tree, &owned(document));
                assert_eq!(to_string(tree).unwrap(), *document);
                let object = tree["object"].as_object().unwrap();
                assert!(object.keys().all(|key| object.contains_key(key)), "{document}");
                assert!(!object.contains_key(&format!("{key}{}", object.len())), "{document}");
            }
        }
    }
}

#[test]
fn keys_of_other_trees_are_not_compared_with_escapes() {
    let map = BTreeMap::from([(r#"a"b"#, 1)]);
    // Each depth is another context of expected keys.
    for depth in 0..128 {
        assert_eq!(to_value(&map).unwrap().to_string(), r#"{"a\"b":1}"#);
        let document = "[".repeat(depth) + r#"{"a"b":1}"# + &"]".repeat(depth);
        assert!(from_str::<Value>(&document).is_err(), "{document}");
    }
}

#[test]
fn fields_of_structs_can_be_trees() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Mixed {
        value: Value,
        map: tightwire_json::Map<String, Value>,
        array: tightwire_json::Array,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }

    let document = r#"{"value":{"a":[1]},"map":{"b":"c"},"array":[null],"x":[{"y":1.5}],"z":"text"}"#;
    let expected: Mixed = serde_json::from_str(document).unwrap();
    assert_eq!(from_str::<Mixed>(document).unwrap(), expected);
    assert_eq!(expected.rest["x"][0]["y"], 1.5);
    for (document, offset) in [(r#"{"map":[1]}"#, 7), (r#"{"array":{}}"#, 9), (r#"{"map":1}"#, 7)] {
        let error = from_str::<Mixed>(document).unwrap_err();
        // With a flattened field, serde buffers all other fields.
        assert!(error.is_data());
        assert!(error.offset().is_some_and(|at| at >= offset), "{error}");
    }
}

#[test]
fn destructors_of_a_thread_can_decode() {
    struct Last(mpsc::Sender<Value>);

    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(from_str(r#"[{"a":1}]"#).unwrap()).unwrap();
        }
    }

    thread_local! {
        static LAST: Cell<Option<Last>> = const { Cell::new(None) };
    }

    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        // Registered before the variables of the decoder, so that it is dropped after them.
        LAST.set(Some(Last(sender)));
        drop(from_str::<Value>("[1]"));
    });
    thread.join().unwrap();
    assert_eq!(receiver.recv().unwrap(), json!([{"a": 1}]));
}
