//! Decoding: values, errors and their offsets.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{IgnoredAny, VariantAccess as _};
use serde_bytes::ByteBuf;
use tightwire_json::{
    Codec, Decoder, Deserializer, Duplicates, ElementDecoder, ErrorDetails as _, Limits, LineDecoder,
    RawValue, TYPE_FIRST, TextSequenceDecoder, Value, de, from_slice, from_str, is_valid, json,
};

use crate::support;
use crate::support::outcome;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Nested(#[expect(dead_code, reason = "only its depth matters")] Vec<Self>);

#[derive(Debug, PartialEq, Deserialize)]
enum Shape {
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { a: u8 },
}

#[test]
fn syntax_errors_have_the_offset_of_the_first_wrong_byte() {
    for (text, offset) in [
        ("[1,]", 3),
        ("[1 2]", 3),
        ("{\"a\"}", 4),
        ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("{\"a\":1]", 6),
        ("tru!", 3),
        ("\"a\nb\"", 2),
        ("\"\\x\"", 2),
        ("\"\\u12g4\"", 5),
        ("\"ab\\ud800\"", 3),
        ("\"\\ud800\\u0041\"", 1),
        ("\"\\udc00\"", 1),
        ("1 x", 2),
        ("[]]", 2),
        ("+1", 0),
        ("\u{feff}1", 0),
        ("[1e+]", 4),
        (".5", 0),
        ("'a'", 0),
        ("[NaN]", 1),
    ] {
        for codec in support::codecs() {
            if codec.mode() == tightwire_json::Mode::Compat {
                continue;
            }
            let expected = Err(("syntax", Some(offset)));
            assert_eq!(outcome(codec.from_str::<Value>(text)), expected, "{text} {codec:?}");
            assert_eq!(
                outcome(codec.validate(text.as_bytes())),
                expected.map(|_: Value| ()),
                "{text} {codec:?}"
            );
        }
    }
}

#[test]
fn truncated_documents_are_eof_errors_at_their_end() {
    let text = r#"{"a":[1,-2.5e3,true,null,"x\u00e9\ud83d\ude00\n"],"b":{"c":false}}"#;
    for len in 0..text.len() {
        let truncated = outcome(from_str::<Value>(&text[..len]));
        assert_eq!(truncated, Err(("eof", Some(len as u64))), "{}", &text[..len]);
    }
    assert!(from_str::<Value>(text).is_ok());
    // So is a truncated UTF-8 sequence.
    assert_eq!(outcome(from_slice::<Value>(b"\"\xe2\x82")), Err(("eof", Some(3))));
    assert_eq!(outcome(from_slice::<Value>(b"\"\xe2\x28\"")), Err(("syntax", Some(1))));
}

#[test]
fn data_errors_have_the_offset_of_the_value_but_do_not_show_it() {
    for (text, offset, message) in [
        (r#" {"x":1,"y":"secret"}"#, 12, "y: expected a 32-bit integer, found a string (line 1, column 13)"),
        (
            r#"{"x":1,"y":3000000000}"#,
            11,
            "y: expected a 32-bit integer, found a number that it cannot represent (line 1, column 12)",
        ),
        (
            r#"{"x":1.5,"y":1}"#,
            5,
            "x: expected a 32-bit integer, found a floating-point number (line 1, column 6)",
        ),
        (r#"{"x":1}"#, 6, "missing field `y` (line 1, column 7)"),
        (r#"{"x":1,"z":1}"#, 7, "unknown field `z`, expected `x` or `y` (line 1, column 8)"),
        ("[1]", 0, "expected an array of 2 elements, found 1 element (line 1, column 1)"),
        ("[1,2,3]", 4, "more elements than expected (line 1, column 5)"),
        ("true", 0, "expected an object, found a boolean (line 1, column 1)"),
    ] {
        let error = from_str::<Point>(text).unwrap_err();
        assert!(error.is_data(), "{text}");
        assert_eq!(error.offset(), Some(offset), "{text}");
        assert_eq!(error.to_string(), message, "{text}");
        assert!(!format!("{error:?}").contains("secret"));
    }
    let long = format!("{{\"{}\":1}}", "é".repeat(10_000));
    assert!(from_str::<Point>(&long).unwrap_err().to_string().len() < 200);
}

#[test]
fn enum_variants_are_decoded_from_strings_and_objects() {
    let read = |text| outcome(from_str::<Shape>(text));
    assert_eq!(read("\"Unit\""), Ok(Shape::Unit));
    assert_eq!(read("{\"Unit\":null}"), Ok(Shape::Unit));
    assert_eq!(read("{ \"Newtype\" : 7 }"), Ok(Shape::Newtype(7)));
    assert_eq!(read("{\"Tuple\":[1,2]}"), Ok(Shape::Tuple(1, 2)));
    assert_eq!(read("{\"Struct\":{\"a\":1}}"), Ok(Shape::Struct { a: 1 }));
    assert_eq!(read("\"Newtype\""), Err(("data", Some(0))));
    assert_eq!(read("\"Other\""), Err(("data", Some(0))));
    assert_eq!(read("{\"Newtype\":7,\"Unit\":null}"), Err(("data", Some(12))));
    // Behind an element too many, the document may be malformed.
    assert_eq!(read("{\"Newtype\":7,}"), Err(("syntax", Some(13))));
    assert_eq!(read("{\"Tuple\":[1,2,]}"), Err(("syntax", Some(14))));
    assert_eq!(read("{\"Tuple\":[1,2, "), Err(("eof", Some(15))));
    assert_eq!(read("{}"), Err(("data", Some(1))));
    assert_eq!(read("7"), Err(("data", Some(0))));
}

#[test]
fn numbers_are_exact_if_the_type_can_represent_them() {
    assert_eq!(from_str::<u64>("18446744073709551615").unwrap(), u64::MAX);
    assert_eq!(from_str::<i128>("-170141183460469231731687303715884105728").unwrap(), i128::MIN);
    assert_eq!(from_str::<u128>("340282366920938463463374607431768211455").unwrap(), u128::MAX);
    assert!(from_str::<u128>("340282366920938463463374607431768211456").unwrap_err().is_data());
    assert_eq!(from_str::<i64>("-0").unwrap(), 0);
    assert!(from_str::<f64>("-0").unwrap().is_sign_negative());
    assert_eq!(from_str::<f64>("9007199254740993").unwrap(), 9_007_199_254_740_992.0);
    assert_eq!(from_str::<f64>("0.1e1").unwrap(), 1.0);
    // Through f64 it would be rounded twice, to 1.
    assert_eq!(from_str::<f32>("1.000000059604644775390626").unwrap(), 1.000_000_1);
    for text in ["1e400", "-1e400"] {
        assert!(from_str::<f64>(text).unwrap_err().is_data());
        assert!(from_str::<Value>(text).unwrap_err().is_data());
        assert!(is_valid(text.as_bytes()));
    }
    assert!(from_str::<f32>("1e39").unwrap_err().is_data());
    assert_eq!(from_str::<f64>("1e-400").unwrap(), 0.0);
    assert!(from_str::<u8>("1.0").unwrap_err().is_data());
}

#[test]
fn duplicate_keys_are_handled_by_the_type_by_default() {
    let text = r#"{"role":"user","role":"admin"}"#;
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code, reason = "it is only decoded")]
    struct Grant {
        role: String,
    }
    assert_eq!(from_str::<Value>(text).unwrap()["role"], "admin");
    let error = from_str::<Grant>(text).unwrap_err();
    assert!(error.is_data() && error.to_string().contains("duplicate field"), "{error}");
    assert_eq!(Codec::compat().from_str::<Grant>(text).unwrap().role, "admin");
    for codec in [Codec::strict(), Codec::fast(), Codec::compat().with_duplicates(Duplicates::ByType)] {
        assert!(codec.from_str::<Grant>(text).is_err());
    }
}

/// Rejects every value, and counts the calls.
struct Rejecting;

thread_local! {
    static CALLS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

impl<'de> Deserialize<'de> for Rejecting {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        CALLS.set(CALLS.get() + 1);
        IgnoredAny::deserialize(deserializer)?;
        Err(serde::de::Error::custom("rejected"))
    }
}

#[test]
fn decoding_is_not_retried_after_an_error_of_the_type() {
    let text = r#"{"a":1,"a":2}"#;
    for mode in [tightwire_json::Mode::Strict, tightwire_json::Mode::Fast] {
        CALLS.set(0);
        let codec = Codec::new(mode);
        assert!(codec.from_str::<Rejecting>(text).is_err_and(|error| error.is_data()), "{mode:?}");
        assert!(codec.from_slice::<Rejecting>(text.as_bytes()).is_err());
        assert_eq!(CALLS.get(), 2, "each decodes once");
    }
}

#[test]
fn byte_strings_are_base64_only_in_compat_mode() {
    assert_eq!(outcome(Codec::compat().from_str::<ByteBuf>(r#" "AQ""#)), Err(("data", Some(1))));
    assert_eq!(from_str::<ByteBuf>(r#""AQID""#).unwrap(), b"AQID");
}

#[test]
fn negative_zero_is_accepted_for_every_integer_type() {
    macro_rules! widths {
        ($($type:ty)*) => {$(
            assert_eq!(from_str::<$type>("-0").unwrap(), 0, stringify!($type));
            for text in ["-0.0", "1.0", "1e2", "-1e0"] {
                let error = from_str::<$type>(text).unwrap_err();
                assert!(error.is_data(), "{} {text}", stringify!($type));
            }
        )*};
    }
    widths! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }
}

#[test]
fn codecs_can_use_the_last_of_duplicate_keys_or_reject_them() {
    let text = r#"{"x":1,"y":2,"\u0078":3}"#;
    for codec in support::codecs().into_iter().map(|codec| codec.with_duplicates(Duplicates::Last)) {
        assert_eq!(codec.from_str::<Point>(text).unwrap(), Point { x: 3, y: 2 }, "{codec:?}");
        assert_eq!(codec.from_str::<Value>(text).unwrap(), json!({"x": 3, "y": 2}));
        let rejecting = codec.with_duplicates(Duplicates::Error);
        assert_eq!(outcome(rejecting.from_str::<Point>(text)), Err(("syntax", Some(13))), "{codec:?}");
        assert_eq!(outcome(rejecting.from_str::<Value>(text)), Err(("syntax", Some(13))));
        assert!(!rejecting.is_valid(text.as_bytes()));
        assert!(rejecting.from_str::<Value>(r#"[{"x":1},{"x":{"x":1}}]"#).is_ok());
    }
    // The value of a replaced entry may have any type, but must be JSON.
    let codec = Codec::compat();
    assert_eq!(codec.from_str::<Point>(r#"{"x":[],"y":2,"x":3}"#).unwrap(), Point { x: 3, y: 2 });
    assert_eq!(outcome(codec.from_str::<Point>(r#"{"x":[,"y":2,"x":3}"#)), Err(("data", Some(5))));
}

#[test]
fn limits_are_inclusive_and_reported_with_offsets() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(from_str::<Value>(&nested(128)).is_ok());
    assert_eq!(outcome(from_str::<Value>(&nested(129))), Err(("limit", Some(128))));
    assert_eq!(outcome(from_str::<IgnoredAny>(&nested(129))).err(), Some(("limit", Some(128))));
    assert!(!is_valid(nested(129).as_bytes()));
    for codec in support::codecs() {
        let codec = codec.with_limits(Limits::new().max_depth(3).max_document(20).max_string(4));
        assert!(codec.from_str::<Value>("[[[1]],[[]]]").is_ok());
        assert_eq!(outcome(codec.from_str::<Value>("[[[[1]]]]")), Err(("limit", Some(3))));
        assert_eq!(outcome(codec.from_str::<Value>("[{\"a\":{\"a\":[]}}]")), Err(("limit", Some(11))));
        assert!(codec.from_str::<Value>("\"1234\"").is_ok());
        assert_eq!(outcome(codec.from_str::<Value>(" \"12345\"")), Err(("limit", Some(1))));
        assert_eq!(outcome(codec.from_str::<Value>("{\"\\u0041\":1}")), Err(("limit", Some(1))));
        assert_eq!(outcome(codec.from_str::<Value>("                    1")), Err(("limit", Some(20))));
        assert_eq!(codec.from_str::<Value>("                   1").unwrap(), 1);
    }
    assert_eq!(from_str::<Value>(&nested(1000)).unwrap_err().limit(), Some(128));
}

#[test]
fn the_maximum_depth_fits_into_the_default_stack_of_a_thread() {
    let codec = Codec::strict().with_limits(Limits::new().max_depth(usize::MAX));
    let deepest = "{\"a\":".repeat(Limits::MAX_DEPTH) + "1" + &"}".repeat(Limits::MAX_DEPTH);
    let run = move || {
        for codec in support::codecs() {
            let codec = codec.with_limits(Limits::new().max_depth(usize::MAX));
            let value = codec.from_str::<Value>(&deepest).unwrap();
            assert!(codec.to_string(&value).unwrap() == deepest);
        }
        // These do not recurse.
        for (open, close) in [("[1,", "]"), ("{\"a\":", "}")] {
            const DEEP: usize = 100_000;
            let deep = open.repeat(DEEP) + "[1.50]" + &close.repeat(DEEP);
            let compat = Codec::compat().with_limits(codec.limits());
            for codec in [codec, codec.with_written_numbers(true), compat] {
                let value = codec.from_str::<Value>(&deep).unwrap();
                let (mut part, mut levels) = (&value, 0);
                while let Some(inner) = part.get("a").or_else(|| part.get(1)) {
                    (part, levels) = (inner, levels + 1);
                }
                assert_eq!((levels, part[0].as_f64()), (DEEP, Some(1.5)));
                codec.from_str::<IgnoredAny>(&deep).unwrap();
                assert_eq!(codec.from_str::<&RawValue>(&deep).unwrap().get().len(), deep.len());
                let limited = codec.with_limits(Limits::new().max_depth(DEEP));
                let limit = Err(("limit", Some((DEEP * open.len()) as u64)));
                assert_eq!(outcome(limited.from_str::<Value>(&deep).map(drop)), limit);
                assert_eq!(outcome(limited.from_str::<IgnoredAny>(&deep).map(drop)), limit);
                let truncated = &deep[..deep.len() - 1];
                let end = Err(("eof", Some(truncated.len() as u64)));
                assert_eq!(outcome(codec.from_str::<Value>(truncated).map(drop)), end);
            }
        }
    };
    // The default of Rust.
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    let run = move || {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        codec.from_str::<Nested>(&nested(Limits::MAX_DEPTH)).unwrap();
        let error = codec.from_str::<Nested>(&nested(Limits::MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.limit(), Some(Limits::MAX_DEPTH));
        assert_eq!(error.offset(), Some(Limits::MAX_DEPTH as u64));
    };
    // Builds without optimization need more for other types.
    std::thread::Builder::new().stack_size(16 << 20).spawn(run).unwrap().join().unwrap();
}

#[test]
fn a_byte_order_mark_is_accepted_by_option() {
    let document = "\u{feff} {\"a\": \"x\", \"a\": 1}";
    for codec in [Codec::strict(), Codec::compat(), Codec::strict().with_written_numbers(true)] {
        assert!(codec.from_str::<Value>(document).unwrap_err().is_syntax());
        let codec = codec.with_byte_order_mark(true);
        for value in [
            codec.from_str::<Value>(document),
            codec.from_slice(document.as_bytes()),
            codec.from_reader(document.as_bytes()),
        ] {
            assert_eq!(value.unwrap()["a"], 1);
        }
        assert_eq!(codec.from_str::<&str>("\u{feff}\"b\"").unwrap(), "b");
        assert!(codec.is_valid(document.as_bytes()) && codec.is_valid(b"1"));
        assert_eq!(outcome(codec.from_str::<u8>("\u{feff}\u{feff}1")), Err(("syntax", Some(3))));
        assert_eq!(outcome(codec.from_str::<u8>("\u{feff}[]")), Err(("data", Some(3))));
        assert_eq!(outcome(codec.from_str::<Value>("\u{feff}[1")), Err(("eof", Some(5))));
    }
    let unique = Codec::canonical().with_byte_order_mark(true);
    assert_eq!(outcome(unique.from_str::<Value>(document)), Err(("syntax", Some(15))));
}

#[test]
fn comments_and_trailing_commas_are_accepted_by_option() {
    let comments = Codec::strict().with_comments(true);
    let commas = Codec::strict().with_trailing_commas(true);
    let both = comments.with_trailing_commas(true);
    for (text, codec, expected) in [
        ("// first\n[1]// last", comments, "[1]"),
        ("/* é */[/**/1/*,*/,/* \n */2]/***/", comments, "[1,2]"),
        ("{\"a\"/* : */:/**/1//\r}", comments, r#"{"a":1}"#),
        (r#"["// no", "/* no */", "\"//"]"#, comments, r#"["// no","/* no */","\"//"]"#),
        ("[1,]", commas, "[1]"),
        ("[[],{},\"a\" , ]", commas, r#"[[],{},"a"]"#),
        (r#"{"a":[1,],"b":{"c":null,},}"#, commas, r#"{"a":[1],"b":{"c":null}}"#),
        (r#"[",]"]"#, commas, r#"[",]"]"#),
        ("[1, // ,\n /* ] */ ]", both, "[1]"),
        ("{\"a\": 1 /* , */ , // }\n}", both, r#"{"a":1}"#),
    ] {
        let value: Value = codec.from_str(text).unwrap();
        assert_eq!(codec.to_string(&value).unwrap(), expected, "{text}");
        assert!(codec.is_valid(text.as_bytes()), "{text}");
        for codec in [codec.with_duplicates(Duplicates::Last), codec.with_duplicates(Duplicates::Error)] {
            assert_eq!(codec.from_slice::<Value>(text.as_bytes()).unwrap(), value, "{text}");
        }
        // The text of a raw value is JSON.
        let raw: Box<RawValue> = codec.from_reader(text.as_bytes()).unwrap();
        assert_eq!(from_str::<Value>(raw.get()).unwrap(), value, "{text}");
    }
    for (text, codec, offset) in [
        ("[1]// last", commas, 3),
        ("[1,]", comments, 3),
        ("[,]", both, 1),
        ("[1,,]", both, 3),
        ("{,}", both, 1),
        ("{\"a\":,}", both, 5),
        ("1,", both, 1),
        ("[1]/* open", both, 3),
        ("[1]/", both, 3),
        ("[1 /* \n */ 2]", both, 11),
        ("[1/*/]", both, 2),
    ] {
        let error = codec.from_str::<Value>(text).unwrap_err();
        assert_eq!((error.is_syntax(), error.offset()), (true, Some(offset)), "{text}");
        assert!(!codec.is_valid(text.as_bytes()), "{text}");
    }
    let error = both.from_str::<Vec<u8>>("[ // first\n  1, // second\n  true,\n]").unwrap_err();
    assert_eq!(
        error.to_string(),
        "[1]: expected an unsigned 8-bit integer, found a boolean (line 3, column 3)"
    );
    assert_eq!(both.from_str::<Vec<&str>>("[\"a\", \"b\", /**/]").unwrap(), ["a", "b"]);
    assert_eq!(both.with_byte_order_mark(true).from_str::<u8>("\u{feff}/**/1//").unwrap(), 1);
}

#[test]
fn only_lines_are_decoded_with_the_options_of_a_codec() {
    let codec = Codec::strict().with_byte_order_mark(true).with_comments(true).with_trailing_commas(true);
    let value = Ok(json!([[1], 2]));
    for (document, offset) in [("\u{feff}[[1],2]", 0), ("[[1/**/],2]", 3), ("[[1,],2]", 4), ("[[1],2,]", 7)] {
        let rejected = |decoded: Vec<support::Outcome<Value>>, start: u64| {
            assert_eq!(decoded.last(), Some(&Err(("syntax", Some(start + offset)))), "{document}");
        };
        let text = format!("\x1e{document}\n");
        rejected(support::decode_pieces(|| TextSequenceDecoder::with_codec(codec), text.as_bytes()), 1);
        let elements = || ElementDecoder::with_codec("", codec).unwrap();
        rejected(support::decode_pieces(elements, document.as_bytes()), 0);
        let mut decoder = Decoder::with_codec(document.as_bytes(), codec);
        rejected(vec![outcome(decoder.decode().map(Option::unwrap))], 0);
        let mut deserializer = Deserializer::with_codec(de::StrRead::new(document), codec);
        rejected(vec![outcome(Value::deserialize(&mut deserializer))], 0);
        let lines = format!("{document}\n{document}");
        let lines = support::decode_pieces(|| LineDecoder::with_codec(codec), lines.as_bytes());
        assert_eq!(lines, [value.clone(), value.clone()], "{document}");
    }
}

#[test]
fn lone_surrogates_are_rejected_or_replaced() {
    for (text, replaced) in [
        (r#""\ud800""#, "\u{fffd}"),
        (r#""a\udc00b""#, "a\u{fffd}b"),
        (r#""\ud800\u0041""#, "\u{fffd}A"),
        (r#""\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\ud800\n""#, "\u{fffd}\n"),
    ] {
        assert!(Codec::strict().from_str::<String>(text).unwrap_err().is_syntax());
        assert!(Codec::fast().from_str::<IgnoredAny>(text).unwrap_err().is_syntax());
        assert!(!Codec::strict().is_valid(text.as_bytes()));
        for codec in support::codecs() {
            if codec.mode() == tightwire_json::Mode::Compat {
                assert_eq!(codec.from_str::<String>(text).unwrap(), replaced);
                assert!(codec.is_valid(text.as_bytes()));
            }
        }
    }
}

#[test]
fn skipped_values_are_validated() {
    #[derive(Debug, Deserialize)]
    struct Empty {}
    for value in ["[1,2 3]", "truu", "01", "\"\\x\"", "\"\n\"", "\"\\ud800\"", "{\"a\"}"] {
        for codec in [Codec::strict(), Codec::fast()] {
            assert!(codec.from_str::<Empty>(&format!("{{\"a\":{value}}}")).is_err(), "{value}");
            assert!(codec.from_str::<Vec<Box<RawValue>>>(&format!("[{value}]")).is_err(), "{value}");
        }
    }
    assert!(from_slice::<Empty>(b"{\"a\":\"\xff\"}").unwrap_err().is_syntax());
}

/// How `TYPE_FIRST` decodes a value: the variant, if it is known before the value, and the value.
#[derive(Debug, PartialEq)]
struct Typed(Option<Value>, Value);

impl<'de> Deserialize<'de> for Typed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Typed;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value")
            }

            fn visit_newtype_struct<D: serde::Deserializer<'de>>(self, value: D) -> Result<Typed, D::Error> {
                Value::deserialize(value).map(|value| Typed(None, value))
            }

            fn visit_enum<A: serde::de::EnumAccess<'de>>(self, object: A) -> Result<Typed, A::Error> {
                let (variant, object) = object.variant()?;
                object.newtype_variant().map(|value| Typed(Some(variant), value))
            }
        }

        deserializer.deserialize_newtype_struct(TYPE_FIRST, Visitor)
    }
}

#[test]
fn the_type_of_an_object_is_found_behind_other_fields() {
    for (text, variant) in [
        (r#"{"a": [{"type": 1}, "\"type\":2"], "b": -1.5e3, "type" : "t" , "c": null}"#, Some(json!("t"))),
        (r#"{"a":1,"type":{"b":2}}"#, Some(json!({"b": 2}))),
        (r#"{"a":1,"type":1,"type":2}"#, Some(json!(1))),
        (r#"{"type":"t","a":1}"#, None),
        (r#"{"a":{"type":1}}"#, None),
        ("{}", None),
        ("[1]", None),
        ("null", None),
        ("\"type\"", None),
    ] {
        let expected = Typed(variant, from_str(text).unwrap());
        assert_eq!(from_str::<Typed>(text).unwrap(), expected, "{text}");
        let nested: Vec<Typed> = from_str(&format!("[{text}, {text}]")).unwrap();
        assert_eq!(nested, [from_str(text).unwrap(), from_str(text).unwrap()]);
        assert_eq!(tightwire_json::from_value::<Typed>(from_str(text).unwrap()).unwrap().0, None);
        for end in 0..text.len() {
            assert_eq!(from_str::<Typed>(&text[..end]).is_ok(), from_str::<Value>(&text[..end]).is_ok());
        }
    }
    let (limits, deep) = (Limits::new().max_depth(2), r#"{"a":[[1]],"type":1}"#);
    assert_eq!(Codec::strict().with_limits(limits).from_str::<Typed>(deep).unwrap_err().offset(), Some(6));
}

#[test]
fn raw_values_are_decoded_unchanged() {
    let map: BTreeMap<&str, &RawValue> = from_str(r#"{"a": { "b" : 1.0 } , "c":"x\n"}"#).unwrap();
    assert_eq!(map["a"].get(), r#"{ "b" : 1.0 }"#);
    assert_eq!(map["c"].get(), r#""x\n""#);
}

#[test]
fn keys_can_be_numbers_and_booleans() {
    assert_eq!(from_str::<BTreeMap<i8, bool>>(r#"{"-1":true}"#).unwrap(), BTreeMap::from([(-1, true)]));
    for (text, offset) in
        [(r#"{"1x":true}"#, 1), (r#"{"300":true}"#, 2), (r#"{"":true}"#, 1), (r#"{"01":true}"#, 1)]
    {
        assert_eq!(outcome(from_str::<BTreeMap<i8, bool>>(text)), Err(("data", Some(offset))), "{text}");
    }
    assert_eq!(outcome(from_str::<BTreeMap<i8, bool>>("{\"1")), Err(("eof", Some(3))));
    assert_eq!(from_str::<BTreeMap<bool, u8>>(r#"{"true":1}"#).unwrap(), BTreeMap::from([(true, 1)]));
}
