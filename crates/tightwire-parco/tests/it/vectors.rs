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
