//! Messages of the Go library, byte for byte, through every encoder and decoder of this crate.
#![cfg(all(feature = "schema-json", feature = "derive"))]

use crate::vector_runner as vectors;

#[test]
fn all_cases_pass() {
    let report = vectors::run(include_str!("../data/parco-vectors.json")).unwrap();
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert_eq!(report.passed, 183);
    assert!(report.with_static_form >= 160, "only {} cases have a static wire", report.with_static_form);
    // Truncated messages, a wrapping count, flags and zones, where the Go library is wrong or makes a different choice.
    assert_eq!(report.rules.values().copied().collect::<Vec<_>>(), [1, 3, 1, 7, 1], "{:#?}", report.rules);
}

/// A long string, list or map is written as what it repeats, anywhere in a value.
#[test]
fn repetitions_are_expanded() {
    const TEXT: &str = r#"{"t": "string", "header": {"t": "uint8_header"}}"#;
    const MAP: &str =
        r#"{"t": "map", "header": {"t": "uint8_header"}, "key": {"t": "uint8"}, "value": {"t": "uint8"}}"#;
    let slice = format!(r#"{{"t": "slice", "header": {{"t": "uint8_header"}}, "elem": {TEXT}}}"#);
    let option = format!(r#"{{"t": "option", "inner": {TEXT}}}"#);
    let fields = format!(r#"{{"t": "struct", "fields": [["text", {TEXT}]]}}"#);
    let numbers = r#"{"t": "struct", "fields": [["count", {"t": "uint8"}]]}"#;
    let multi =
        format!(r#"{{"t": "multi", "header": {{"t": "uint8_header"}}, "models": {{"7": {fields}}}}}"#);
    for (schema, long, short, hex) in [
        (TEXT, r#"{"repeat": "A", "count": 256}"#, r#"{"repeat": "A", "count": 3}"#, "03414141"),
        (&slice, r#"{"repeat": "", "count": 256}"#, r#"["b", {"repeat": "A", "count": 2}]"#, "020162024141"),
        (
            &option,
            r#"{"some": {"repeat": "A", "count": 256}}"#,
            r#"{"some": {"repeat": "A", "count": 1}}"#,
            "010141",
        ),
        (
            &fields,
            r#"{"text": {"repeat": "AB", "count": 128}}"#,
            r#"{"text": {"repeat": "AB", "count": 1}}"#,
            "024142",
        ),
        (
            &multi,
            r#"[7, {"text": {"repeat": "A", "count": 256}}]"#,
            r#"[7, {"text": {"repeat": "A", "count": 1}}]"#,
            "070141",
        ),
        (MAP, r#"{"count": 256}"#, r#"{"count": 2}"#, "0200000100"),
        (numbers, r#"{"count": 256}"#, r#"{"count": 2}"#, "02"),
    ] {
        let len = hex.len() / 2;
        let text = format!(
            r#"{{"encode_errors": [{{"schema": {schema}, "value": {long}, "error": "overflow"}}],
                "roundtrip": [{{"schema": {schema}, "value": {short}, "hex": "{hex}", "len": {len}}}],
                "streams": [{{"schema": {schema}, "values": [{short}], "hex": "{hex}"}}]}}"#
        );
        let report = vectors::run(&text).unwrap();
        assert_eq!((report.passed, &*report.failures), (3, &[][..]), "{text}");
    }
}

#[test]
fn wrong_cases_fail() {
    let case = |list: &str, case: &str| format!(r#"{{"{list}": [{{"id": "it", {case}}}]}}"#);
    for text in [
        case("roundtrip", r#""schema": {"t": "uint8"}, "value": 1, "hex": "02", "len": 1"#),
        case("roundtrip", r#""schema": {"t": "uint8"}, "value": 1, "hex": "0101", "len": 2"#),
        case("decode_only", r#""schema": {"t": "bool"}, "value": true, "hex": "02", "canonical_hex": "01""#),
        case("encode_errors", r#""schema": {"t": "uint8"}, "value": 1, "error": "overflow""#),
        case("decode_errors", r#""schema": {"t": "bool"}, "hex": "02", "error": "overflow", "consumed": 1"#),
        case("model_decode_truncation", r#""schema": {"t": "bool"}, "hex": "01", "complete": false"#),
        case("streams", r#""schema": {"t": "bool"}, "hex": "0100", "values": [true]"#),
        case("streams", r#""schema": {"t": "boolean"}, "hex": "01", "values": [true]"#),
    ] {
        let report = vectors::run(&text).unwrap();
        assert_eq!((report.passed, report.failures.len()), (0, 1), "{text}");
        assert_eq!(report.failures[0].0, "it");
    }
    assert!(vectors::run("{}").is_err());
}
