//! Schemas and values as JSON, and their error messages.
#![cfg(feature = "schema-json")]

use tightwire_parco::WireExt as _;
use tightwire_parco::schema::{Dynamic, Schema, Value};

fn wire(schema: &str) -> Dynamic {
    Schema::from_json(schema).unwrap().compile().unwrap()
}

#[test]
fn invalid_schemas_are_rejected_with_their_path() {
    for (text, expected) in [
        ("", "invalid JSON"),
        ("{", "invalid JSON"),
        ("[]", "a type must be an object"),
        ("{}", "a type must have a name in the key `t`"),
        (r#"{"t":"uint9"}"#, "unknown type name"),
        (r#"{"t":"float32_header","order":"le"}"#, "unknown type name"),
        (r#"{"t":"uint8","order":"le"}"#, "`order` must be `le` or `be`, and absent for one-byte numbers"),
        (r#"{"t":"uint16","order":"me"}"#, "`order` must be `le` or `be`, and absent for one-byte numbers"),
        (r#"{"t":"uint16"}"#, "a key is missing at .order"),
        (r#"{"t":"bool","n":1}"#, "the type has no such key"),
        (r#"{"t":"bool","t":"bool"}"#, "duplicate model id or key"),
        (r#"{"t":"string","header":{"t":"bool"}}"#, "a header must be an integer at [header]"),
        (r#"{"t":"blob","header":{"t":"float32","order":"le"}}"#, "a header must be an integer at [header]"),
        (r#"{"t":"array","len":-1,"elem":{"t":"bool"}}"#, "a count must be a number"),
        (r#"{"t":"array","len":10000001,"elem":{"t":"bool"}}"#, "the array is too long"),
        (r#"{"t":"skip","n":104857601}"#, "too many bytes are reserved"),
        (r#"{"t":"struct","fields":[["a"]]}"#, "`fields` must be a list of pairs of name and type"),
        (
            r#"{"t":"struct","fields":[["a",{"t":"option","inner":{"t":"map","header":{"t":"uint8"},"key":{"t":"uint8"},"value":{"t":"x"}}}]]}"#,
            "unknown type name at .a[some][value]",
        ),
        (
            r#"{"t":"multi","header":{"t":"bool"},"models":{}}"#,
            "an id must be an integer or a string at [id]",
        ),
        (
            r#"{"t":"multi","header":{"t":"uint8"},"models":{"one":{"t":"bool"}}}"#,
            "the id of a model is not an integer at [one]",
        ),
        (
            r#"{"t":"multi","header":{"t":"uint8"},"models":{"1":{"t":"bool"},"01":{"t":"bool"}}}"#,
            "duplicate model id or key at [01]",
        ),
        (
            r#"{"t":"multi","header":{"t":"uint8"},"models":{"256":{"t":"bool"}}}"#,
            "an id does not fit its wire type at [256]",
        ),
        (
            r#"{"t":"multi","header":{"t":"uint64_header","order":"le"},"models":{"9223372036854775808":{"t":"bool"}}}"#,
            "an id does not fit its wire type at [9223372036854775808]",
        ),
        (
            r#"{"t":"option","inner":{"t":"struct","fields":[["a",{"t":"bool"}],["b",{"t":"bool"}],["a",{"t":"uint8"}]]}}"#,
            "two fields of a struct have the same name at [some].a",
        ),
        (r#"{"t":"evolve","fields":[]}"#, "a key is missing at .required"),
        (r#"{"t":"evolve","required":1,"fields":[]}"#, "more fields are required than the struct has"),
        (r#"{"t":"bool","name":"A"}"#, "the name of a type is empty, or the type is no struct or multi"),
        (
            r#"{"t":"struct","name":"","fields":[]}"#,
            "the name of a type is empty, or the type is no struct or multi",
        ),
        (r#"{"t":"struct","name":1,"fields":[]}"#, "a name must be a string at .name"),
        (r#"{"t":"recursive","n":1}"#, "`recursive` refers to a level that does not exist"),
        (
            r#"{"t":"struct","fields":[["a",{"t":"recursive","n":0}]]}"#,
            "`recursive` refers to a level that does not exist at .a",
        ),
        (
            r#"{"t":"struct","fields":[["a",{"t":"recursive","n":1}]]}"#,
            "a type contains itself without an option or collection, or is too large",
        ),
        (
            r#"{"t":"array","len":10000000,"elem":{"t":"array","len":10000000,"elem":{"t":"skip","n":104857600}}}"#,
            "a type contains itself without an option or collection, or is too large",
        ),
    ] {
        let error = Schema::from_json(text).unwrap_err();
        // Either of two models with the same id may be named.
        let found = error.to_string().replace("[1]", "[01]");
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn deep_schemas_are_rejected() {
    for (levels, is_taken) in [(60, true), (70, false), (100_000, false)] {
        let text = r#"{"t":"option","inner":"#.repeat(levels) + r#"{"t":"bool"}"# + &"}".repeat(levels);
        assert_eq!(Schema::from_json(&text).is_ok(), is_taken, "{levels} levels");
    }
    let mut schema = Schema::Bool;
    for _ in 0..Schema::MAX_DEPTH {
        schema = Schema::Option(Box::new(schema));
    }
    assert!(schema.compile().unwrap_err().is_limit());
}

#[test]
fn large_schemas_are_rejected() {
    let fields =
        |count| Schema::Struct((0..count).map(|index: usize| (index.to_string(), Schema::Bool)).collect());
    assert!(fields(Schema::MAX_TYPES - 1).compile().is_ok());
    assert!(fields(Schema::MAX_TYPES).compile().unwrap_err().is_limit());
}

#[test]
fn invalid_values_are_rejected_with_their_path() {
    let text = r#"{"t":"string","header":{"t":"uint8_header"}}"#;
    for (schema, value, expected) in [
        (r#"{"t":"bool"}"#, "1", "the value does not match the schema"),
        (r#"{"t":"uint8"}"#, "1.5", "expected an integer"),
        (r#"{"t":"uint8"}"#, "\"x\"", "expected an integer"),
        (r#"{"t":"float64","order":"le"}"#, "1.5", "expected an object"),
        (
            r#"{"t":"float32","order":"le"}"#,
            r#"{"bits":"0x100000000"}"#,
            "`bits` must be a string of hexadecimal digits after 0x",
        ),
        (text, r#"{"hex":"f"}"#, "invalid hexadecimal digits"),
        (text, "null", "expected an object"),
        (r#"{"t":"struct","fields":[["a",{"t":"bool"}]]}"#, "{}", "a key is missing at .a"),
        (r#"{"t":"struct","fields":[]}"#, r#"{"a":true}"#, "the object has keys that are not fields"),
        (
            r#"{"t":"slice","header":{"t":"uint8"},"elem":{"t":"bool"}}"#,
            "[true,0]",
            "the value does not match the schema at [1]",
        ),
        (r#"{"t":"option","inner":{"t":"bool"}}"#, "true", "expected an object"),
        (
            r#"{"t":"multi","header":{"t":"uint8"},"models":{"1":{"t":"bool"}}}"#,
            "[2,true]",
            "unknown model id",
        ),
        (
            r#"{"t":"multi","header":{"t":"uint8"},"models":{"1":{"t":"bool"}}}"#,
            "[256,true]",
            "an id does not fit its wire type",
        ),
        (
            r#"{"t":"multi","header":{"t":"uint8"},"models":{"1":{"t":"bool"}}}"#,
            "[1,0]",
            "the value does not match the schema at [1]",
        ),
    ] {
        assert_eq!(
            wire(schema).value_from_json(value).unwrap_err().to_string(),
            expected,
            "{schema} {value}"
        );
    }
}

/// Types of one name can be in different modules, so both names and variants may occur twice. They are told apart by id.
#[test]
fn variants_may_have_one_name() {
    let text = r#"{"t":"multi","header":{"t":"uint8"},"models":{"1":{"t":"bool"},"2":{"t":"uint8"}},"names":{"1":"A","2":"A"}}"#;
    let schema = Schema::from_json(text).unwrap();
    assert_eq!(schema.to_json(), text);
    let (wire, value) = (schema.compile().unwrap(), "[2,7]");
    assert_eq!(wire.to_vec(&wire.value_from_json(value).unwrap()).unwrap(), [2, 7]);
    assert_eq!(wire.value_to_json(&wire.decode_exact(&[2, 7]).unwrap()).unwrap(), value);
    assert!(tightwire_parco::schema::compare(&schema, &schema).changes.is_empty());
}

#[test]
fn schemas_of_types_round_trip() {
    for schema in [
        tightwire_parco::schema::of::<Vec<Option<i64>>>(),
        tightwire_parco::schema::of::<std::collections::BTreeMap<String, [f32; 3]>>(),
        Schema::Struct(vec![("next".into(), Schema::Option(Box::new(Schema::Recursive(1))))]),
    ] {
        assert_eq!(Schema::from_json(&schema.to_json()).unwrap(), schema);
    }
}

/// A schema has the names of types, fields and variants, and the meaning of values.
#[cfg(feature = "derive")]
#[test]
fn names_are_in_the_schema() {
    #[derive(tightwire_parco::Encode)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Pair<'a, T> {
        key: &'a str,
        value: T,
    }

    #[derive(tightwire_parco::Encode)]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Tree {
        Leaf(char),
        Pair(Pair<'static, Option<bool>>),
        Node(Vec<Self>),
    }

    let schema = tightwire_parco::schema::of::<Tree>();
    let text = concat!(
        r#"{"t":"multi","name":"Tree","header":{"t":"varint"},"models":{"#,
        r#""0":{"t":"uint32","logical":"char","order":"le"},"#,
        r#""1":{"t":"struct","name":"Pair<Option<bool>>","fields":["#,
        r#"["key",{"t":"string","header":{"t":"varint"}}],["value",{"t":"option","inner":{"t":"bool"}}]]},"#,
        r#""2":{"t":"slice","header":{"t":"varint"},"elem":{"t":"recursive","n":1}}},"#,
        r#""names":{"0":"Leaf","1":"Pair","2":"Node"}}"#,
    );
    assert_eq!(schema.to_json(), text);
    assert_eq!(Schema::from_json(text).unwrap(), schema);
    let nameless = Schema::from_json(&text.replace(r#""name":"Tree","#, "")).unwrap();
    assert_eq!(nameless.fingerprint(), schema.fingerprint());
    assert!(tightwire_parco::schema::compare(&nameless, &schema).changes.is_empty());
}

#[test]
fn optional_fields_of_evolve_structs_may_be_missing() {
    let wire = wire(
        r#"{"t":"evolve","required":1,"fields":[["a",{"t":"bool"}],["b",{"t":"bool"}],["c",{"t":"bool"}]]}"#,
    );
    for (text, bytes) in [
        (r#"{"a":true}"#, &[1, 1][..]),
        (r#"{"a":true,"b":false}"#, &[2, 1, 0]),
        (r#"{"a":true,"b":false,"c":true}"#, &[3, 1, 0, 1]),
    ] {
        let value = wire.value_from_json(text).unwrap();
        assert_eq!(wire.to_vec(&value).unwrap(), bytes);
        assert_eq!(wire.decode_exact::<Value>(bytes).unwrap(), value);
        assert_eq!(wire.value_to_json(&value).unwrap(), text);
    }
    for (text, expected) in [
        ("{}", "a key is missing at .a"),
        (r#"{"a":true,"c":true}"#, "a key is missing at .b"),
        (r#"{"a":true,"d":true}"#, "a key is missing at .b"),
    ] {
        assert_eq!(wire.value_from_json(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn values_of_another_schema_cannot_be_converted() {
    let wire = wire(r#"{"t":"struct","fields":[["a",{"t":"bool"}]]}"#);
    assert!(wire.value_to_json(&Value::Struct(vec![Value::Skip])).unwrap_err().is_mismatch());
    assert!(wire.to_vec(&Value::Struct(vec![Value::Skip])).unwrap_err().is_unknown_type());
}
