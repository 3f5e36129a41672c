//! Trees and strings in the formats of other crates, as those of serde_json.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tightwire_json::{Array, JsonString, Map, Number, Value, to_value};

/// Types of a tree. `Theirs` are those of serde_json.
trait Types: Debug {
    type Value: Serialize + DeserializeOwned + Debug;
    type Map: Serialize + DeserializeOwned + Debug;
    type Number: Serialize + DeserializeOwned + Debug;
    type Array: Serialize + DeserializeOwned + Debug;
    type Text: Serialize + DeserializeOwned + Debug;
}

#[derive(Debug)]
struct Ours;

impl Types for Ours {
    type Value = Value;
    type Map = Map<String, Value>;
    type Number = Number;
    type Array = Array;
    type Text = JsonString;
}

#[derive(Debug)]
struct Theirs;

impl Types for Theirs {
    type Value = serde_json::Value;
    type Map = serde_json::Map<String, serde_json::Value>;
    type Number = serde_json::Number;
    type Array = Vec<serde_json::Value>;
    type Text = String;
}

/// Scalars, for formats without nesting.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Row<T: Types> {
    text: T::Text,
    value: T::Value,
    optional: Option<T::Text>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "", tag = "kind")]
enum Tagged<T: Types> {
    A { value: T::Value },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Tree<T: Types> {
    number: T::Number,
    row: Row<T>,
    tagged: Tagged<T>,
    value: Option<T::Value>,
    array: T::Array,
    map: T::Map,
}

/// Tree without floats, booleans and nulls.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Texts<T: Types> {
    text: T::Text,
    array: T::Array,
    map: T::Map,
}

/// Asserts that a format encodes `$ours` and `$theirs` alike, and that both types decode alike.
macro_rules! check {
    ($name:expr, $type:ident, $document:expr, $encode:expr, $decode:ident => $decoded:expr) => {{
        let ours: $type<Ours> = tightwire_json::from_str($document).unwrap();
        let theirs: $type<Theirs> = serde_json::from_str($document).unwrap();
        fn encode<'a, T: Serialize, U, E: Debug>(
            value: &'a T,
            encode: impl FnOnce(&'a T) -> Result<U, E>,
        ) -> U {
            encode(value).unwrap()
        }
        let encoded = encode(&theirs, $encode);
        assert_eq!(encode(&ours, $encode), encoded, "{}", $name);
        let $decode = &encoded;
        let decoded: $type<Theirs> = $decoded.unwrap();
        let expected = serde_json::to_value(decoded).unwrap();
        let decoded: Result<$type<Ours>, _> = $decoded;
        let found = decoded.unwrap_or_else(|error| panic!("{}: {error}", $name));
        assert_eq!(serde_json::to_value(found).unwrap(), expected, "{}", $name);
    }};
}

const ROW: &str = r#"{"text":"é \"x\"","value":1.5,"optional":"a text of 23 or more bytes"}"#;

const TREE: &str = r#"{
    "number": -7,
    "row": {"text": "", "value": "x", "optional": null},
    "tagged": {"kind": "A", "value": [1, {"b": [2.5, true]}]},
    "value": {"a": [1, -2, 2.5, true, "text", [], {}]},
    "array": [18446744073709551615, {"x": null}],
    "map": {"a": {"c": [false]}, "b": 1}
}"#;

/// Without nulls and 64-bit integers, which some formats lack.
const PLAIN: &str = r#"{
    "number": -7,
    "row": {"text": "", "value": "x", "optional": "y"},
    "tagged": {"kind": "A", "value": [1, {"b": [2.5, true]}]},
    "value": {"a": [1, -2, 2.5, true, "text", [], {}]},
    "array": [65536, {"x": 1}],
    "map": {"a": {"c": [false]}, "b": 1}
}"#;

const TEXTS: &str = r#"{"text": "a", "array": ["b", "c"], "map": {"d": "e", "f": ["g"]}}"#;

#[test]
fn trees_and_strings_are_as_those_of_serde_json_in_other_formats() {
    check!("serde_json", Tree, TREE, serde_json::to_vec, bytes => serde_json::from_slice(bytes));
    check!("tightwire-json", Tree, TREE, tightwire_json::to_vec, bytes => tightwire_json::from_slice(bytes));
    check!("RON", Tree, TREE, ron::to_string, text => ron::from_str(text));
    check!("RON", Row, ROW, ron::to_string, text => ron::from_str(text));
    check!("YAML", Tree, TREE, serde_yaml_ng::to_string, text => serde_yaml_ng::from_str(text));
    check!("TOML", Tree, PLAIN, toml::to_string, text => toml::from_str(text));
    check!("MessagePack", Tree, TREE, rmp_serde::to_vec_named, bytes => rmp_serde::from_slice(bytes));
    check!("MessagePack, arrays", Tree, TREE, rmp_serde::to_vec, bytes => rmp_serde::from_slice(bytes));
    check!("serde-value", Tree, TREE, serde_value::to_value, value => value.clone().deserialize_into());
    check!("query string", Texts, TEXTS, serde_qs::to_string, text => serde_qs::from_str(text));
    check!("form", Row, ROW, serde_urlencoded::to_string, text => serde_urlencoded::from_str(text));
    check!("XML", Row, ROW, quick_xml::se::to_string, text => quick_xml::de::from_str(text));
    check!(
        "CBOR", Tree, TREE,
        |value| {
            let mut bytes = Vec::new();
            ciborium::into_writer(value, &mut bytes).map(|()| bytes)
        },
        bytes => ciborium::from_reader(&bytes[..])
    );
    check!(
        "property list", Tree, PLAIN,
        |value| {
            let mut bytes = Vec::new();
            plist::to_writer_xml(&mut bytes, value).map(|()| bytes)
        },
        bytes => plist::from_bytes(bytes)
    );
    check!(
        "pickle", Tree, PLAIN,
        |value| serde_pickle::to_vec(value, Default::default()),
        bytes => serde_pickle::from_slice(bytes, Default::default())
    );
    check!(
        "CSV", Row, ROW,
        |value| {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.serialize(value).map(|()| writer.into_inner().unwrap())
        },
        bytes => csv::Reader::from_reader(&bytes[..]).into_deserialize().next().unwrap()
    );
    check!(
        "erased", Tree, TREE,
        |value| serde_json::to_vec(value as &dyn erased_serde::Serialize),
        bytes => erased_serde::deserialize(&mut <dyn erased_serde::Deserializer<'_>>::erase(
            &mut tightwire_json::Deserializer::from_slice(bytes)
        ))
    );
}

#[test]
fn roots_are_as_those_of_serde_json() {
    assert_eq!(ron::from_str::<Number>("1").unwrap(), 1.into());
    assert_eq!(ron::from_str::<Map<_, _>>("{\"a\": 1}").unwrap()["a"], 1);
    assert_eq!(ron::from_str::<Array>("[1, 2.5]").unwrap().len(), 2);
    let bytes = |bytes| serde::de::value::BytesDeserializer::<serde::de::value::Error>::new(bytes);
    assert_eq!(JsonString::deserialize(bytes(b"text")).unwrap(), "text");
    assert!(JsonString::deserialize(bytes(b"\xff")).is_err() && Value::deserialize(bytes(b"text")).is_err());
    assert_eq!(ron::to_string(&Number::from_written("2.5").unwrap()).unwrap(), "2.5");
    for text in ["1", "\"a\"", "[1]", "{\"a\": None}", "true", "()"] {
        let theirs: serde_json::Value = ron::from_str(text).unwrap();
        assert_eq!(ron::from_str::<Value>(text).unwrap(), to_value(theirs).unwrap());
    }
}
