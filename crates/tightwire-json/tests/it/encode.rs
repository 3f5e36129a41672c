//! Encoding: output and errors.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Serialize, Serializer};
use tightwire_json::{Codec, ErrorDetails as _, Format, RawValue, to_fmt_writer, to_string};

#[derive(Serialize)]
enum Shape {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { a: u8, b: () },
}

/// Serializes with `collect_str`.
struct Displayed(&'static str);

impl Display for Displayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)?;
        f.write_str("\"<")
    }
}

impl Serialize for Displayed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[test]
fn enums_tuples_and_displayed_values_are_encoded() {
    let shapes = [Shape::Unit, Shape::Newtype(1), Shape::Tuple(1, 2), Shape::Struct { a: 1, b: () }];
    let expected = r#"["Unit",{"Newtype":1},{"Tuple":[1,2]},{"Struct":{"a":1,"b":null}}]"#;
    assert_eq!(to_string(&shapes).unwrap(), expected);
    assert_eq!(to_string(&shapes).unwrap(), serde_json::to_string(&shapes).unwrap());
    assert_eq!(
        to_string(&(Some(1), None::<u8>, 'x', i128::MIN, u128::MAX)).unwrap(),
        format!(r#"[1,null,"x",{},{}]"#, i128::MIN, u128::MAX)
    );
    assert_eq!(to_string(&Displayed("a\n")).unwrap(), r#""a\n\"<""#);
    assert_eq!(Codec::compat().to_string(&Displayed("a\n")).unwrap(), r#""a\n\"\u003c""#);
    assert_eq!(
        to_string(&BTreeMap::from([(1.5_f32.to_bits(), Displayed("k"))])).unwrap(),
        r#"{"1069547520":"k\"<"}"#
    );
}

#[test]
fn encoding_errors_leave_the_buffer_unchanged() {
    let mut buffer = b"before".to_vec();
    for codec in [Codec::strict(), Codec::compat(), Codec::fast(), Codec::canonical()] {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = codec.to_buf(&mut buffer, &[Some(value)]).unwrap_err();
            assert!(error.is_encode());
            assert_eq!(error.offset(), None);
            assert_eq!(buffer, b"before");
            assert!(codec.to_vec(&(value as f32)).unwrap_err().is_encode());
        }
        let error = codec.to_vec(&BTreeMap::from([((1, 2), 3)])).unwrap_err();
        assert!(error.is_encode());
    }
}

#[test]
fn only_compat_mode_sorts_map_keys() {
    struct Entries(&'static [(&'static str, u8)]);
    impl Serialize for Entries {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().copied())
        }
    }
    let entries = Entries(&[("z", 1), ("a\n", 2), ("a", 3), ("", 4), ("é", 5), ("Z", 6)]);
    assert_eq!(to_string(&entries).unwrap(), "{\"z\":1,\"a\\n\":2,\"a\":3,\"\":4,\"é\":5,\"Z\":6}");
    assert_eq!(
        Codec::compat().to_string(&entries).unwrap(),
        "{\"\":4,\"Z\":6,\"a\":3,\"a\\n\":2,\"z\":1,\"é\":5}"
    );
    // Nested maps are sorted, too.
    let nested = BTreeMap::from([("b", Entries(&[("y", 1), ("x", 2)])), ("a", Entries(&[]))]);
    assert_eq!(Codec::compat().to_string(&nested).unwrap(), r#"{"a":{},"b":{"x":2,"y":1}}"#);
}

/// Raw value whose text is not validated.
pub(crate) struct Unchecked<'a>(pub(crate) &'a str);

impl Serialize for Unchecked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let name = "$serde_json::private::RawValue";
        let mut raw = serializer.serialize_struct(name, 1)?;
        raw.serialize_field(name, self.0)?;
        raw.end()
    }
}

#[test]
fn raw_values_are_validated_compacted_or_trusted_by_mode() {
    let raw = RawValue::from_string("{ \"b\" : \"<\" }".to_owned()).unwrap();
    assert_eq!(Codec::strict().to_string(&raw).unwrap(), "{ \"b\" : \"<\" }");
    assert_eq!(Codec::fast().to_string(&raw).unwrap(), "{ \"b\" : \"<\" }");
    assert_eq!(Codec::compat().to_string(&raw).unwrap(), "{\"b\":\"\\u003c\"}");
    for bad in ["{bad", "", "1 2", "\"\n\""] {
        assert!(Codec::strict().to_vec(&Unchecked(bad)).unwrap_err().is_encode());
        assert!(Codec::compat().to_vec(&Unchecked(bad)).unwrap_err().is_encode());
        assert_eq!(Codec::fast().to_string(&[Unchecked(bad)]).unwrap(), format!("[{bad}]"));
        let pretty = Codec::fast().to_string_pretty(&[Unchecked(bad), Unchecked("]}")], " ").unwrap();
        assert_eq!(pretty, format!("[\n {bad},\n ]}}\n]"));
    }
}

#[test]
fn pretty_output_equals_that_of_serde_json() {
    fn same(value: &impl Serialize) {
        for indent in ["", "\t", "   ", " \n \r                            "] {
            let ours = Codec::strict().to_string_pretty(value, indent).unwrap();
            let mut theirs = Vec::new();
            let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
            value.serialize(&mut serde_json::Serializer::with_formatter(&mut theirs, formatter)).unwrap();
            assert_eq!(ours, String::from_utf8(theirs).unwrap());
        }
    }
    same(&serde_json::json!({"a": [], "b": {}, "c": [1, {"d": "x,{\"y\":"}], "e": null}));
    same(&[Shape::Unit, Shape::Newtype(1), Shape::Tuple(1, 2), Shape::Struct { a: 1, b: () }]);
    same(&(serde_bytes::Bytes::new(b""), serde_bytes::Bytes::new(b"ab"), ((), [0; 0], [[[[1.5]]]])));
    same(&BTreeMap::from([(1, BTreeMap::from([(true, 'x')])), (-2, BTreeMap::new())]));
    same(&BTreeMap::from([("\"", 1), ("b", 2)]));
    let displayed = [(Displayed("k"), Some(1)), (Displayed(""), None)];
    let mut serializer = tightwire_json::Serializer::pretty(Vec::new());
    serializer.collect_map(displayed.iter().map(|(key, value)| (key, value))).unwrap();
    assert_eq!(serializer.into_inner(), b"{\n  \"k\\\"<\": 1,\n  \"\\\"<\": null\n}");
}

#[test]
fn pretty_output_after_an_error_starts_at_the_first_level() {
    let mut serializer = tightwire_json::Serializer::pretty(Vec::new());
    let error = [[f64::NAN]].serialize(&mut serializer).unwrap_err();
    assert!(error.is_encode());
    [1].serialize(&mut serializer).unwrap();
    assert_eq!(serializer.into_inner(), b"[\n  1\n]");
    let error = Codec::strict().to_vec_pretty(&BTreeMap::from([("a", [0.0, f64::NAN])]), "  ").unwrap_err();
    assert_eq!(error.path().unwrap().to_string(), "a[1]");
}

#[test]
fn all_modes_indent_alike() {
    let value = serde_json::json!({"a": {"b": [], "c": [1, {"d": "x,{\"y\": "}]}, "e": {}, "f": null});
    let expected = serde_json::to_string_pretty(&value).unwrap();
    for codec in [Codec::strict(), Codec::fast(), Codec::compat(), Codec::canonical()] {
        assert_eq!(codec.to_string_pretty(&value, "  ").unwrap(), expected, "{codec:?}");
    }
}

/// Arrays of up to this many bytes on one line, ASCII only, and floats that end with a zero.
struct Short(usize);

impl Format for Short {
    fn indentation(&self) -> &str {
        "\t"
    }

    fn is_on_one_line(&self, compact: &str) -> bool {
        compact.starts_with('[') && compact.len() <= self.0
    }

    fn is_ascii(&self) -> bool {
        true
    }

    fn push_float(&self, out: &mut String, text: &str) {
        out.push_str(text.trim_end_matches('0'));
        out.push('0');
    }
}

/// Default methods only.
struct Plain;

impl Format for Plain {}

#[test]
fn a_program_has_its_own_format() {
    let value =
        serde_json::json!({"a": {"b": [], "c": [1, {"d": "x,{\"y\": é"}]}, "e": {}, "f": [1.0, 2e30]});
    for codec in [Codec::strict(), Codec::fast()] {
        let pretty = codec.to_string_pretty(&value, "  ").unwrap();
        assert_eq!(codec.to_string_formatted(&value, &Plain).unwrap(), pretty);
    }
    for (document, len, expected) in [
        ("[[1,2],[1,2,3]]", 5, "[\n\t[1, 2],\n\t[\n\t\t1,\n\t\t2,\n\t\t3\n\t]\n]"),
        ("[[1,2],[1,2,3]]", 15, "[[1, 2], [1, 2, 3]]"),
        (r#"[{"a":[],"b":{}}]"#, 100, r#"[{"a": [], "b": {}}]"#),
        (r#"{"é":"\n😀\u00e9"}"#, 0, "{\n\t\"\\u00e9\": \"\\n\\ud83d\\ude00\\u00e9\"\n}"),
        ("[1.5,-2.25e3,3,true]", 20, "[1.50, -2.25e30, 3, true]"),
        // White space of raw values.
        ("[ 1 , { } ,\n[ ]\t]", 100, "[1, {}, []]"),
        ("[ 1 , { } ,\n[ ]\t]", 0, "[\n\t1,\n\t{},\n\t[]\n]"),
    ] {
        let raw = RawValue::from_string(document.to_owned()).unwrap();
        let formatted = Codec::strict().to_string_formatted(&raw, &Short(len)).unwrap();
        assert_eq!(formatted, expected, "{document}");
    }
    // A raw value that is not validated may be malformed.
    for text in ["]", "[\"", "é{", "\\\"[", "}{", "["] {
        let raw = Codec::fast().to_string_formatted(&Unchecked(text), &Short(9)).unwrap();
        assert!(raw.len() >= text.trim().len(), "{text}");
    }
    assert!(Codec::strict().to_string_formatted(&f64::NAN, &Plain).unwrap_err().is_encode());
}

#[test]
fn a_serialize_implementation_may_encode_another_value() {
    struct Inner;
    impl Serialize for Inner {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(&to_string(&["inner"]).unwrap())
        }
    }
    assert_eq!(to_string(&[Inner, Inner]).unwrap(), r#"["[\"inner\"]","[\"inner\"]"]"#);
}

#[test]
fn a_document_is_written_to_text() {
    let mut text = "before ".to_owned();
    to_fmt_writer(&mut text, &["é\n"]).unwrap();
    assert!(to_fmt_writer(&mut text, &f64::NAN).unwrap_err().is_encode());
    Codec::compat().to_fmt_writer(&mut text, "<").unwrap();
    assert_eq!(text, r#"before ["é\n"]"\u003c""#);

    struct Full;

    impl fmt::Write for Full {
        fn write_str(&mut self, _: &str) -> fmt::Result {
            Err(fmt::Error)
        }
    }

    let error = to_fmt_writer(Full, &1).unwrap_err();
    assert!(error.is_io());
    assert_eq!(error.io_error_kind(), Some(std::io::ErrorKind::Other));
}

#[cfg(feature = "bytes")]
#[test]
fn to_bytes_returns_the_document() {
    assert_eq!(tightwire_json::to_bytes(&1).unwrap(), bytes::Bytes::from_static(b"1"));
}
