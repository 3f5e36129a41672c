//! The Go source that a schema prints, against files that are kept.
//!
//! `gofmt` leaves the files as they are. To see what a change does, run with `UPDATE_GOLDEN=1` and look at the
//! difference.
#![cfg(feature = "schema-json")]

use std::path::Path;

use tightwire_parco::schema::Schema;

fn check(file: &str, name: &str, schema: &str) {
    let source = Schema::from_json(schema).unwrap().to_go("messages", name).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/go").join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &source).unwrap();
    }
    assert_eq!(source, std::fs::read_to_string(&path).unwrap(), "{file}");
}

const SMALL: &str = r#"{"t":"string","header":{"t":"uint8_header"}}"#;

#[test]
fn the_example_of_the_original() {
    let schema = format!(
        r#"{{"t":"struct","fields":[
            ["Greet",{SMALL}],["LifeSense",{{"t":"uint8"}}],
            ["Grades",{{"t":"map","header":{{"t":"uint8_header"}},"key":{SMALL},"value":{{"t":"uint8"}}}}],
            ["Friends",{{"t":"slice","header":{{"t":"uint8_header"}},"elem":{SMALL}}}],
            ["EvenOrOdd",{{"t":"bool"}}],
            ["Pet",{{"t":"struct","fields":[["Specie",{SMALL}],["Age",{{"t":"uint8"}}]]}}],
            ["Pointer",{{"t":"option","inner":{{"t":"int","order":"le"}}}}],
            ["Flags",{{"t":"array","len":5,"elem":{{"t":"bool"}}}}],
            ["Balance",{{"t":"float32","order":"le"}}],["MorePreciseBalance",{{"t":"float64","order":"le"}}],
            ["CreatedAt",{{"t":"time_utc"}}]]}}"#
    );
    check("example.go", "example", &schema);
}

#[test]
fn every_type_as_a_field() {
    let ordered =
        ["uint16", "int16", "uint32", "int32", "uint64", "int64", "int", "uint", "float32", "float64"];
    let mut fields = Vec::new();
    for name in ordered {
        for order in ["le", "be"] {
            fields.push(format!(r#"["{name}_{order}",{{"t":"{name}","order":"{order}"}}]"#));
        }
    }
    for name in ["uint8", "int8", "bool", "time_utc", "time_location"] {
        fields.push(format!(r#"["{name}",{{"t":"{name}"}}]"#));
    }
    for header in ["uint16", "int16", "uint32", "int32", "uint64", "int64", "int", "uint"] {
        for order in ["le", "be"] {
            let header = format!(r#"{{"t":"{header}_header","order":"{order}"}}"#);
            fields.push(format!(r#"["count",{header}]"#));
            fields.push(format!(r#"["text",{{"t":"string","header":{header}}}]"#));
        }
    }
    for header in ["uint8_header", "int8_header"] {
        fields.push(format!(r#"["count",{{"t":"{header}"}}]"#));
        fields.push(format!(r#"["text",{{"t":"string","header":{{"t":"{header}"}}}}]"#));
        fields.push(format!(r#"["blob",{{"t":"blob","header":{{"t":"{header}"}}}}]"#));
    }
    fields.push(r#"["_pad",{"t":"skip","n":10}]"#.into());
    check("scalars.go", "scalars", &format!(r#"{{"t":"struct","fields":[{}]}}"#, fields.join(",")));
}

#[test]
fn types_in_types() {
    let byte = r#"{"t":"uint8"}"#;
    let header = r#"{"t":"uint32_header","order":"be"}"#;
    let slice = |element: &str| format!(r#"{{"t":"slice","header":{header},"elem":{element}}}"#);
    let point =
        r#"{"t":"struct","fields":[["x",{"t":"int32","order":"le"}],["y",{"t":"int32","order":"be"}]]}"#;
    let map = |value: &str| format!(r#"{{"t":"map","header":{header},"key":{byte},"value":{value}}}"#);
    let array = |element: &str| format!(r#"{{"t":"array","len":3,"elem":{element}}}"#);
    let schema = format!(
        r#"{{"t":"struct","fields":[
            ["rows",{}],["points",{}],["point_by_id",{}],["maybe",{{"t":"option","inner":{point}}}],
            ["corner",{point}],["tables",{}],["maps",{}],["gaps",{}],["blobs",{}],["times",{}]]}}"#,
        slice(&slice(byte)),
        slice(point),
        map(point),
        map(&array(r#"{"t":"bool"}"#)),
        slice(&map(byte)),
        array(r#"{"t":"skip","n":2}"#),
        slice(&format!(r#"{{"t":"blob","header":{header}}}"#)),
        array(r#"{"t":"time_location"}"#),
    );
    check("nested.go", "nested", &schema);
}

#[test]
fn a_registry() {
    let animal = format!(r#"{{"t":"struct","fields":[["Specie",{SMALL}],["Age",{{"t":"uint8"}}]]}}"#);
    let flat = format!(
        r#"{{"t":"struct","fields":[["Price",{{"t":"float32","order":"le"}}],["Address",{SMALL}]]}}"#
    );
    let schema =
        format!(r#"{{"t":"multi","header":{{"t":"uint8_header"}},"models":{{"0":{animal},"1":{flat}}}}}"#);
    check("registry.go", "frame", &schema);
    let schema = format!(
        r#"{{"t":"multi","header":{SMALL},"models":{{"animal":{animal},"empty":{{"t":"struct","fields":[]}},"a \"pet\"":{animal}}}}}"#
    );
    check("registry_named.go", "frame", &schema);
}

#[test]
fn a_type_by_itself() {
    check(
        "slice.go",
        "ids",
        r#"{"t":"slice","header":{"t":"uint8_header"},"elem":{"t":"uint16","order":"le"}}"#,
    );
    check("option.go", "id", r#"{"t":"option","inner":{"t":"uint","order":"be"}}"#);
}

#[test]
fn what_go_does_not_have_is_refused() {
    let option = r#"{"t":"option","inner":{"t":"bool"}}"#;
    let header = r#"{"t":"uint8_header"}"#;
    for (schema, expected) in [
        (
            format!(r#"{{"t":"struct","fields":[["a",{{"t":"slice","header":{header},"elem":{option}}}]]}}"#),
            "an option that is no field at .a",
        ),
        (
            format!(r#"{{"t":"struct","fields":[["a",{{"t":"multi","header":{header},"models":{{}}}}]]}}"#),
            "a registry inside a message at .a",
        ),
        (
            r#"{"t":"struct","fields":[["a",{"t":"option","inner":{"t":"recursive","n":1}}]]}"#.into(),
            "a struct that contains itself at .a",
        ),
        (
            format!(
                r#"{{"t":"map","header":{header},"key":{{"t":"blob","header":{header}}},"value":{option}}}"#
            ),
            "a key that is more than a number, text or time",
        ),
    ] {
        let error = Schema::from_json(&schema).unwrap().to_go("messages", "message").unwrap_err();
        assert!(error.is_not_in_go());
        assert_eq!(error.to_string(), expected);
    }
}
