//! `partial::Parser`.

use proptest::prelude::*;
use tightwire_json::partial::{Parser, Part};
use tightwire_json::{Codec, Limits, Result, Segment, Value, from_str, json};

use test_support::counting::usage;

use crate::conformance::cases;
use crate::support::{Outcome, document, mutated, outcome, pointer};

/// Returns the outcome, with line and column of the error.
fn located<T>(result: Result<T>) -> (Outcome<T>, Option<(usize, usize)>) {
    let position = result.as_ref().err().map(|error| (error.line(), error.column()));
    (outcome(result), position)
}

/// Parses `text` in chunks of the given sizes, repeated; a size is rounded up to the next character.
fn parse(text: &str, sizes: &[usize], limits: Limits) -> Result<Value> {
    let mut parser = Parser::with_limits(limits);
    let (mut rest, mut sizes) = (text, sizes.iter().cycle());
    while !rest.is_empty() {
        let size = sizes.next().copied().unwrap_or(usize::MAX).max(1).min(rest.len());
        let size = (size..).find(|at| rest.is_char_boundary(*at)).unwrap();
        let (chunk, next) = rest.split_at(size);
        if let Err(error) = parser.push(chunk) {
            // Failed parsers stay failed.
            let again = located(parser.push(" "));
            assert_eq!(again, located(Err(error)));
            assert!(!parser.is_complete());
            return parser.finish();
        }
        rest = next;
    }
    let is_complete = parser.is_complete();
    let result = parser.finish();
    // A number at the root may be out of range.
    assert!(
        is_complete == result.is_ok() || is_complete && result.as_ref().is_err_and(|error| error.is_data())
    );
    result
}

/// Same as [`parse`] for bytes, in chunks that may end inside of a character.
fn parse_bytes(bytes: &[u8], size: usize, limits: Limits) -> Result<Value> {
    let mut parser = Parser::with_limits(limits);
    bytes.chunks(size).try_for_each(|chunk| parser.push_bytes(chunk))?;
    parser.finish()
}

/// Completes the beginning of a document textually, `None` if its value has not begun.
fn completed(prefix: &str) -> Option<String> {
    let bytes = prefix.as_bytes();
    // Text up to the last place where the open brackets can be closed, and the closing brackets there.
    let (mut kept, mut closing) = (None, String::new());
    let mut brackets: Vec<char> = Vec::new();
    let mut expects_key = false;
    let mut at = 0;
    while at < bytes.len() {
        let is_value = match bytes[at] {
            byte @ (b'{' | b'[') => {
                brackets.push(if byte == b'{' { '}' } else { ']' });
                expects_key = byte == b'{';
                at += 1;
                true
            }
            b'}' | b']' => {
                brackets.pop();
                expects_key = false;
                at += 1;
                true
            }
            b',' => {
                expects_key = brackets.last() == Some(&'}');
                at += 1;
                false
            }
            b'"' => {
                let start = at;
                // End of the last complete character.
                let mut end = at + 1;
                at = end;
                let mut is_closed = false;
                while at < bytes.len() && !is_closed {
                    let len = match bytes[at] {
                        b'"' => {
                            is_closed = true;
                            1
                        }
                        b'\\' if bytes.get(at + 1) != Some(&b'u') => 2,
                        b'\\'
                            if bytes.get(at + 2).is_some_and(|byte| matches!(byte, b'd' | b'D'))
                                && bytes.get(at + 3).is_some_and(|byte| !matches!(byte, b'0'..=b'7')) =>
                        {
                            12
                        }
                        b'\\' => 6,
                        _ => 1,
                    };
                    at += len;
                    if at <= bytes.len() {
                        end = at;
                    }
                }
                at = at.min(bytes.len());
                let is_key = expects_key;
                expects_key = false;
                if !is_closed && !is_key {
                    kept = Some(format!("{}\"", &prefix[..end]));
                    closing = brackets.iter().rev().collect();
                    assert!(start < end);
                    continue;
                }
                !is_key
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                let is_literal = bytes[at].is_ascii_alphabetic();
                let start = at;
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'+' | b'-' | b'.'))
                {
                    at += 1;
                }
                at < bytes.len() || is_literal && matches!(&prefix[start..], "true" | "false" | "null")
            }
            _ => {
                at += 1;
                false
            }
        };
        if is_value {
            kept = Some(prefix[..at].to_owned());
            closing = brackets.iter().rev().collect();
        }
    }
    kept.map(|kept| kept + &closing)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn documents_are_decoded_as_by_the_strict_decoder(
        document in mutated(), sizes in prop::collection::vec(1_usize..9, 1..5),
    ) {
        let document = String::from_utf8_lossy(&document);
        let expected = located(from_str::<Value>(&document));
        for sizes in [&sizes[..], &[1], &[usize::MAX]] {
            // `Debug` distinguishes -0 from 0, `==` does not.
            let actual = located(parse(&document, sizes, Limits::new()));
            prop_assert_eq!(format!("{:?}", actual), format!("{:?}", expected), "{:?}", sizes);
            let actual = located(parse_bytes(document.as_bytes(), sizes[0], Limits::new()));
            prop_assert_eq!(format!("{:?}", actual), format!("{:?}", expected), "{:?}", sizes);
        }
    }

    #[test]
    fn every_beginning_of_a_document_has_the_value_of_its_completed_text(
        document in document(), sizes in prop::collection::vec(1_usize..9, 1..5),
    ) {
        prop_assume!(from_str::<Value>(&document).is_ok());
        let mut sizes = sizes.iter().cycle();
        let (mut parser, mut at) = (Parser::new(), 0);
        while at < document.len() {
            let end = at + sizes.next().unwrap();
            let end = (end.min(document.len())..).find(|at| document.is_char_boundary(*at)).unwrap();
            parser.push(&document[at..end]).unwrap();
            at = end;
            let expected = completed(&document[..end]).map(|text| from_str::<Value>(&text).expect(&text));
            prop_assert_eq!(parser.value(), expected.as_ref(), "{}", &document[..end]);
            let incomplete = parser.incomplete();
            prop_assert_eq!(incomplete.is_none(), from_str::<Value>(&document[..end]).is_ok()
                && !document[..end].ends_with(|last: char| last.is_ascii_digit()), "{}", &document[..end]);
            if let Some(incomplete) = incomplete {
                prop_assert!(!parser.is_final(&pointer(&incomplete.path[..incomplete.path.len().saturating_sub(1)])));
            }
        }
    }

    #[test]
    fn limits_apply_in_every_chunking(
        document in mutated(), depth in 0_usize..5, size in 0_usize..60, string in 0_usize..12,
        sizes in prop::collection::vec(1_usize..9, 1..5),
    ) {
        let document = String::from_utf8_lossy(&document);
        let limits = Limits::new().max_depth(depth).max_document(size).max_string(string);
        let strict = outcome(Codec::strict().with_limits(limits).from_str::<Value>(&document));
        let whole = outcome(parse(&document, &[usize::MAX], limits));
        prop_assert_eq!(&outcome(parse(&document, &sizes, limits)), &whole);
        prop_assert_eq!(&outcome(parse(&document, &[1], limits)), &whole);
        for size in [1, 2, 3, usize::MAX] {
            prop_assert_eq!(&outcome(parse_bytes(document.as_bytes(), size, limits)), &whole);
        }
        // The parser stops at the first error of the text, before it knows the size of the document or of a string.
        let is_limit = |outcome: &std::result::Result<Value, (&str, _)>| matches!(outcome, Err(("limit", _)));
        prop_assert!(whole == strict || whole.is_err() && (is_limit(&strict) || is_limit(&whole)), "{:?}", strict);
    }
}

#[test]
fn the_test_suite_is_decoded_as_by_the_strict_decoder() {
    for (name, document) in cases() {
        let Ok(document) = String::from_utf8(document) else { continue };
        let expected = located(from_str::<Value>(&document));
        for size in [1, 2, 3, 7, usize::MAX] {
            assert_eq!(located(parse(&document, &[size], Limits::new())), expected, "{name} {size}");
        }
    }
}

#[test]
fn the_incomplete_part_has_a_path_and_a_type() {
    use Segment::{Index, Key};
    for (text, value, path, part) in [
        ("", "", &[][..], Part::Missing),
        (" \n", "", &[], Part::Missing),
        ("[", "[]", &[], Part::Array),
        ("[1,", "[1]", &[], Part::Array),
        ("[1, 2", "[1]", &[Index(1)], Part::Number("2")),
        ("[1, 2 ", "[1,2]", &[], Part::Array),
        ("-", "", &[], Part::Number("-")),
        ("12", "", &[], Part::Number("12")),
        ("[tru", "[]", &[Index(0)], Part::Literal("tru")),
        ("[true", "[true]", &[], Part::Array),
        ("{", "{}", &[], Part::Object),
        (r#"{"a\n"#, "{}", &[], Part::Key("a\n")),
        (r#"{"a""#, "{}", &[Key("a")], Part::Missing),
        (r#"{"a": "#, "{}", &[Key("a")], Part::Missing),
        (r#"{"a": 1.5e"#, "{}", &[Key("a")], Part::Number("1.5e")),
        (r#"{"a": 1, "#, r#"{"a":1}"#, &[], Part::Object),
        (r#"{"a": 1, "a"#, r#"{"a":1}"#, &[], Part::Key("a")),
        (r#"{"a": 1, "a": "x"#, r#"{"a":"x"}"#, &[Key("a")], Part::String("x")),
        (
            r#"{"z": 0, "a": [[], {"b": "#,
            r#"{"z":0,"a":[[],{}]}"#,
            &[Key("a"), Index(1), Key("b")],
            Part::Missing,
        ),
        (r#"{"z": 0, "a": [[], ["#, r#"{"z":0,"a":[[],[]]}"#, &[Key("a"), Index(1)], Part::Array),
        (r#"["a\ud83d"#, r#"["a"]"#, &[Index(0)], Part::String("a")),
        (r#"["a\ud83d\ude0"#, r#"["a"]"#, &[Index(0)], Part::String("a")),
        (r#"["a\ud83d\ude00"#, "[\"a\u{1f600}\"]", &[Index(0)], Part::String("a\u{1f600}")),
        (r#"["a\"#, r#"["a"]"#, &[Index(0)], Part::String("a")),
        (r#""a"#, r#""a""#, &[], Part::String("a")),
    ] {
        for size in [1, 3, usize::MAX] {
            let mut parser = Parser::new();
            for chunk in text.as_bytes().chunks(size) {
                parser.push(str::from_utf8(chunk).unwrap()).unwrap();
            }
            let expected = (!value.is_empty()).then(|| from_str::<Value>(value).unwrap());
            assert_eq!(parser.value(), expected.as_ref(), "{text}");
            let incomplete = parser.incomplete().unwrap();
            assert_eq!((&incomplete.path[..], incomplete.part), (path, part), "{text}");
        }
    }
    let mut parser = Parser::new();
    parser.push("[] ").unwrap();
    assert_eq!(parser.incomplete(), None);
}

#[test]
fn bytes_that_are_not_utf_8_are_rejected_at_their_offset() {
    for (bytes, expected) in [
        (&b"[\"a\xc3\xa9\", 1]"[..], Ok(json!(["aé", 1]))),
        (b"{\"\xf0\x9f\x98\x80\": 1}", Ok(json!({"😀": 1}))),
        (b"[\"ab\xff\"]", Err(("syntax", Some(4)))),
        (b"[\"\xc3\"]", Err(("syntax", Some(2)))),
        (b"[\"\xf0\x9f\x98", Err(("eof", Some(5)))),
        (b"[\"\xf0\x9f\x98\\n", Err(("syntax", Some(2)))),
        (b"[\"\xed\xa0\x80\"]", Err(("syntax", Some(2)))),
        (b"{\"a\xc3\n", Err(("syntax", Some(3)))),
        (b"[\xc3\xa9]", Err(("syntax", Some(1)))),
    ] {
        for size in [1, 2, 3, usize::MAX] {
            let actual = outcome(parse_bytes(bytes, size, Limits::new()));
            assert_eq!(actual, expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }
    // Text cannot continue a character.
    let mut parser = Parser::new();
    parser.push_bytes(b"[\"a\xc3").unwrap();
    assert_eq!(parser.incomplete().unwrap().part, Part::String("a"));
    assert_eq!(outcome(parser.push("b")), Err(("syntax", Some(3))));
}

#[test]
fn a_lenient_parser_accepts_what_language_models_write() {
    for (text, expected) in [
        (r#"["\d+ \s\\ \'x\' C:\Users \é"]"#, json!([r"\d+ \s\ 'x' C:\Users \é"])),
        (r#"["\u12 \uZ \u00e9 \u"]"#, json!([r"\u12 \uZ é \u"])),
        (
            r#"{"\k": "\uD83d\uDe00 \ud83dx \ud83d\n \udc00\ud83d"}"#,
            json!({r"\k": "😀 \u{fffd}x \u{fffd}\n \u{fffd}\u{fffd}"}),
        ),
        (r#"["\ud83d\ud83d\ude00\ud83d\q"]"#, json!(["\u{fffd}😀\u{fffd}\\q"])),
        ("[\"a\nb\tc\0\", \"\\\n\"]", json!(["a\nb\tc\0", "\\\n"])),
        ("```json\n[1]\n```\n", json!([1])),
        (" ```\n{\"a\": 1}``` and {more", json!({"a": 1})),
        ("```[\"`\"]```", json!(["`"])),
        ("``` \n true ```", json!(true)),
        ("```\"x\"", json!("x")),
    ] {
        for size in [1, 2, 3, 7, usize::MAX] {
            let mut parser = Parser::new().lenient();
            text.as_bytes().chunks(size).try_for_each(|chunk| parser.push_bytes(chunk)).unwrap();
            assert_eq!(parser.incomplete(), None, "{text}");
            assert!(parser.is_complete() && parser.is_final(""), "{text}");
            assert_eq!(parser.finish().unwrap(), expected, "{text}");
        }
        assert!(parse(text, &[1], Limits::new()).unwrap_err().is_syntax(), "{text}");
    }
    for (text, offset) in
        [("```json\n[1,]", 11), ("[`1`]", 1), ("[1]]", 3), ("[\"a\nb\", x]", 8), (r#""\d" x"#, 5)]
    {
        let mut parser = Parser::new().lenient();
        assert_eq!(outcome(parser.push(text)), Err(("syntax", Some(offset))), "{text}");
    }
    let mut parser = Parser::new().lenient();
    parser.push("```json").unwrap();
    assert_eq!(parser.incomplete().unwrap().part, Part::Missing);
    parser.push("\n[\"a\n\\u0").unwrap();
    assert_eq!(parser.incomplete().unwrap().part, Part::String("a\n"));
    assert!(!parser.is_complete() && parser.finish().unwrap_err().is_eof());
    // The string begins in an earlier line and chunk.
    let mut parser = Parser::with_limits(Limits::new().max_string(4)).lenient();
    parser.push("\"a\n").unwrap();
    parser.push("b\n").unwrap();
    assert_eq!(located(parser.push("c")), (Err(("limit", Some(0))), Some((1, 1))));
    for size in [1, 2, 3, 100] {
        let mut parser = Parser::with_limits(Limits::new().max_string(4)).lenient();
        let error =
            b"[\n \"a\nb\", \"\\u0\n\n\"]".chunks(size).try_for_each(|chunk| parser.push_bytes(chunk));
        assert_eq!(located(error), (Err(("limit", Some(10))), Some((3, 5))), "{size}");
    }
}

#[test]
fn final_parts_are_told_apart_from_open_ones() {
    let mut parser = Parser::new();
    parser.push(r#"{"a/b": {"c": [1, "x"], "d": "op"#).unwrap();
    for (pointer, is_final) in [
        ("", false),
        ("/a~1b", false),
        ("/a~1b/c", true),
        ("/a~1b/c/0", true),
        ("/a~1b/c/2", false),
        ("/a~1b/d", false),
        ("/a~1b/e", false),
    ] {
        assert_eq!(parser.is_final(pointer), is_final, "{pointer}");
    }
    parser.push(r#"en"}, "n": 12"#).unwrap();
    for (pointer, is_final) in [("", false), ("/a~1b", true), ("/a~1b/d", true), ("/n", false)] {
        assert_eq!(parser.is_final(pointer), is_final, "{pointer}");
    }
    parser.push(r#"3, "n""#).unwrap();
    assert!(parser.is_final("/n"));
    parser.push(": 0}").unwrap();
    assert!(parser.is_final("") && parser.is_final("/n"));
}

#[test]
fn text_before_an_error_keeps_its_value() {
    let mut parser = Parser::new();
    let error = parser.push("{\"a\": [1, \"z9\n").unwrap_err();
    assert_eq!(outcome::<()>(Err(error)), Err(("syntax", Some(13))));
    assert_eq!(parser.value(), Some(&from_str(r#"{"a": [1, "z9"]}"#).unwrap()));
    assert!(!format!("{parser:?}").contains("z9"));
}

/// Pushes a text byte by byte and reads the value after each, and returns the allocations.
fn by_bytes(text: &str) -> test_support::counting::Usage {
    let (usage, parser) = usage(|| {
        let mut parser = Parser::new();
        for byte in text.as_bytes() {
            parser.push(str::from_utf8(std::slice::from_ref(byte)).unwrap()).unwrap();
            std::hint::black_box(parser.value());
        }
        parser
    });
    let value = parser.finish().unwrap();
    assert_eq!(value, from_str::<Value>(text).unwrap());
    usage
}

#[test]
fn single_bytes_of_a_long_string_are_not_copied_again() {
    let long = "x".repeat(1 << 20);
    for text in [format!(r#"{{"a": ["{long}"]}}"#), format!(r#"{{"{long}": ["\n{long}"]}}"#), "1".repeat(300)]
    {
        let usage = by_bytes(&text);
        // A buffer that doubles allocates up to four times its content, and a complete string is copied once.
        assert!(usage.bytes < 6 * text.len() + 4096, "{usage:?}");
        assert!(usage.count < 100, "{usage:?}");
    }
}

#[test]
fn single_bytes_of_nested_documents_allocate_as_much_as_one_chunk() {
    let level = r#"{"key": [1, "text", "#;
    let nested = format!("{}null{}", level.repeat(60), "]}".repeat(60));
    let wide = format!("[{}0]", format!("{nested},").repeat(20));
    for text in [nested, wide] {
        let (whole, value) = usage(|| parse(&text, &[usize::MAX], Limits::new()).unwrap());
        let bytes = by_bytes(&text);
        assert!(bytes.count <= whole.count * 2 + 10, "{bytes:?} {whole:?}");
        assert!(bytes.bytes <= whole.bytes * 2 + 4096, "{bytes:?} {whole:?}");
        drop(value);
    }
}
