//! `ElementDecoder`.

use std::cell::Cell;
use std::io::{self, Read};

use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use tightwire_json::{
    Array, ChunkDecoder, Codec, DocumentReader, Duplicates, ElementDecoder, Limits, RawValue, Value,
    from_slice,
};

use crate::support::{self, Outcome};

fn elements(document: &[u8], pointer: &str, codec: Codec) -> Vec<Outcome<Value>> {
    support::decode_pieces(|| ElementDecoder::with_codec(pointer, codec).unwrap(), document)
}

fn chunked(document: &[u8], pointer: &str, lengths: &[usize]) -> Vec<Outcome<Value>> {
    let decoder = ElementDecoder::new(pointer).unwrap();
    support::decode_chunks(decoder, &support::split(document, lengths))
}

#[test]
fn a_pointer_selects_an_array() {
    let document = r#" {"skip":[{"items":[0]},"]",-1.5e+3,true,null,""],
        "data":{"item":[0],"items":[1 , "a]\u00e9" ,[2,[]],{"b":{}},false,-0.5E1],"more":{"items":[9]}},
        "a/b":[[7],[8,9]],"m~n":[3],"":[4],"0":[5],"es\u0063":[6],"one":[[1]],"empty":[ ]} "#;
    for (pointer, expected) in [
        ("/data/items", r#"[1,"a]é",[2,[]],{"b":{}},false,-5.0]"#),
        ("/data/item", "[0]"),
        ("/data/more/items", "[9]"),
        ("/skip/0/items", "[0]"),
        ("/a~1b", "[[7],[8,9]]"),
        ("/a~1b/1", "[8,9]"),
        ("/m~0n", "[3]"),
        ("/", "[4]"),
        ("/0", "[5]"),
        ("/esc", "[6]"),
        ("/one/0", "[1]"),
        ("/empty", "[]"),
    ] {
        let expected: Vec<Value> = from_slice(expected.as_bytes()).unwrap();
        let expected: Vec<_> = expected.into_iter().map(Ok).collect();
        assert_eq!(elements(document.as_bytes(), pointer, Codec::strict()), expected, "{pointer}");
        // Only the white space at the end may be missing.
        for cut in 0..document.len() - 1 {
            let truncated = chunked(&document.as_bytes()[..cut], pointer, &[cut / 2]);
            let (last, found) = truncated.split_last().unwrap();
            assert_eq!(last, &Err(("eof", Some(cut as u64))), "{pointer}");
            assert!(expected.starts_with(found), "{pointer}, {cut} bytes");
        }
    }
    assert_eq!(elements(b" [1,[2]]\n", "", Codec::strict()), [Ok(1.into()), Ok(Value::from(vec![2]))]);
}

#[test]
fn errors_have_offsets_in_the_document() {
    for (document, pointer, found, error) in [
        // The array does not exist, or is another value.
        (r#"{"a":[1],"b":2}"#, "/c", 0, ("data", 14)),
        (r#"{"a":[1],"b":2}"#, "/b", 0, ("data", 13)),
        (r#"{"a":[1],"b":2}"#, "/b/c", 0, ("data", 13)),
        (r#"{"a":[1],"b":2}"#, "/a/1", 0, ("data", 7)),
        (r#"{"a":[1],"b":2}"#, "/a/0", 0, ("data", 6)),
        (r#"{"a":[1],"b":2}"#, "/a/00", 0, ("data", 5)),
        (r#"{"a":[1],"b":2}"#, "/a/-", 0, ("data", 5)),
        (r#"{"a":[1],"b":2}"#, "", 0, ("data", 0)),
        (" 12 ", "", 0, ("data", 1)),
        ("{}", "/a", 0, ("data", 1)),
        ("[[1],[2]]", "/99999999999999999999", 0, ("data", 0)),
        // A key of the pointer occurs twice.
        (r#"{"a":[1],"b":2,"\u0061":3}"#, "/a", 1, ("data", 15)),
        (r#"{"a":{"b":[1],"c":0,"b":0}}"#, "/a/b", 1, ("data", 20)),
        (r#"{"a":{"b":[1],"a":0},"b":0,"a":0}"#, "/a/b", 1, ("data", 27)),
        // Malformed before, inside and after the array, and after the root.
        (r#"{"b":tru,"a":[1]}"#, "/a", 0, ("syntax", 8)),
        (r#"{"b":01,"a":[1]}"#, "/a", 0, ("syntax", 6)),
        (r#"{"b":-,"a":[1]}"#, "/a", 0, ("syntax", 6)),
        (r#"{"b":1.e,"a":[1]}"#, "/a", 0, ("syntax", 7)),
        (r#"{"b":"\x","a":[1]}"#, "/a", 0, ("syntax", 7)),
        (r#"{"b":"\ud800","a":[1]}"#, "/a", 0, ("syntax", 6)),
        (r#"{"b":"\ud800\n","a":[1]}"#, "/a", 0, ("syntax", 6)),
        (r#"{"b":"\ud800\u0041","a":[1]}"#, "/a", 0, ("syntax", 6)),
        (r#"{"b":"\ud800\ud800\udc00","a":[1]}"#, "/a", 0, ("syntax", 6)),
        (r#"{"b":"x\udc00","a":[1]}"#, "/a", 0, ("syntax", 7)),
        ("{\"b\":\"\n\",\"a\":[1]}", "/a", 0, ("syntax", 6)),
        (r#"{"b":[1},"a":[1]}"#, "/a", 0, ("syntax", 7)),
        (r#"{"b":{"c" 1},"a":[1]}"#, "/a", 0, ("syntax", 10)),
        (r#"{,"a":[1]}"#, "/a", 0, ("syntax", 1)),
        ("[1,]", "", 1, ("syntax", 3)),
        ("[1 2]", "", 1, ("syntax", 3)),
        ("[1,nul]", "", 1, ("syntax", 6)),
        ("[1}", "", 1, ("syntax", 2)),
        (r#"{"a":[1],}"#, "/a", 1, ("syntax", 9)),
        ("[1] x", "", 1, ("syntax", 4)),
        ("x", "", 0, ("syntax", 0)),
        ("", "", 0, ("eof", 0)),
    ] {
        let outcomes = elements(document.as_bytes(), pointer, Codec::strict());
        assert_eq!(outcomes.len(), found + 1, "{document} {pointer}");
        assert_eq!(outcomes[found], Err((error.0, Some(error.1))), "{document} {pointer}");
    }
    // Invalid UTF-8, of which a part may be in the previous chunk.
    for (document, offset) in [
        (&b"{\"a\":\"x\xff\",\"b\":[1]}"[..], 7),
        (b"{\"a\":\"\xe2\x82\",\"b\":[1]}", 6),
        (b"{\"a\":\"\xe2\x82\\n\",\"b\":[1]}", 6),
        (b"{\"a\":\"\xf0\x9f\x98\xffx\",\"b\":[1]}", 6),
        (b"{\"a\":\"\xed\xa0\x80\",\"b\":[1]}", 6),
    ] {
        assert_eq!(elements(document, "/b", Codec::strict()), [Err(("syntax", Some(offset)))]);
    }
    let message = ElementDecoder::<Value>::new("/a").unwrap().next(&mut &b"[]"[..]).unwrap().unwrap_err();
    assert!(message.to_string().contains("`/a`"), "{message}");
}

#[test]
fn malformed_pointers_are_errors() {
    for pointer in ["a", "a/b", "/~", "/a~2", "/~~"] {
        assert!(ElementDecoder::<Value>::new(pointer).unwrap_err().is_data(), "{pointer}");
    }
}

#[test]
fn an_element_of_another_type_does_not_end_decoding() {
    let document = br#"{"n":[1,"two",300,{"a":1,"a":2},4]}"#;
    let codec = Codec::strict().with_duplicates(Duplicates::Error);
    let decoder = || ElementDecoder::<u8>::with_codec("/n", codec).unwrap();
    let data = |offset| Err(("data", Some(offset)));
    let expected = [Ok(1), data(8), data(14), Err(("syntax", Some(25))), Ok(4)];
    assert_eq!(support::decode_pieces(decoder, document), expected);
}

thread_local! {
    static DECODED: Cell<usize> = const { Cell::new(0) };
}

/// Counts how often it is decoded.
#[derive(Debug, PartialEq)]
struct Counted(u8);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DECODED.set(DECODED.get() + 1);
        <(u8,)>::deserialize(deserializer).map(|(number,)| Self(number))
    }
}

#[test]
fn elements_are_decoded_once() {
    let data = |offset| Err(("data", Some(offset)));
    let document = br#"[[1],["x"],{"a":[]},[2],"[3]",[ 4 ]]"#;
    let expected = [Ok(Counted(1)), data(6), data(11), Ok(Counted(2)), data(24), Ok(Counted(4))];
    for lengths in [&[][..], &[1; 40], &[7, 8, 9]] {
        DECODED.set(0);
        let decoder = ElementDecoder::<Counted>::new("").unwrap();
        assert_eq!(support::decode_chunks(decoder, &support::split(document, lengths)), expected);
        assert_eq!(DECODED.get(), expected.len(), "{lengths:?}");
    }
    // A malformed element has no other error.
    let decoder = || ElementDecoder::<Counted>::new("").unwrap();
    let syntax = |offset| Err(("syntax", Some(offset)));
    assert_eq!(support::decode_pieces(decoder, br#"[[1],["x",}]"#), [Ok(Counted(1)), syntax(10)]);
    assert_eq!(support::decode_pieces(decoder, b"[{\"a\":\"\xff\"}]"), [syntax(7)]);
}

#[test]
fn the_mode_applies_to_skipped_values_and_keys() {
    let document = br#"{"a":"\udc00\ud800","\ud800":[1]}"#;
    assert_eq!(elements(document, "/\u{fffd}", Codec::compat()), [Ok(1.into())]);
}

#[test]
fn limits_apply_to_elements_and_count_from_the_root() {
    // The document exceeds the limit for elements.
    let long = format!("\"{}\"", "é\\n".repeat(20_000));
    for element in ["12345", "\"abc\"", "[1,2]", "{\"a\":{}}", "null", long.as_str()] {
        let document = format!("{{\"skip\":\"{}\",\"a\":[0, {element} , 0]}}", "x".repeat(50));
        let start = document.find(" ").unwrap() + 1;
        for max in test_support::limits(element.len()) {
            let codec = Codec::strict().with_limits(Limits::new().max_document(max));
            let outcomes = elements(document.as_bytes(), "/a", codec);
            if max < element.len() {
                assert_eq!(outcomes.last(), Some(&Err(("limit", Some((start + max) as u64)))), "{max}");
            } else {
                assert_eq!((outcomes.len(), outcomes[2].clone()), (3, Ok(0.into())), "{max}");
            }
        }
    }

    let depth = |levels| Codec::strict().with_limits(Limits::new().max_depth(levels));
    for (document, deepest) in [("{\"a\":[[1,[]]]}", 9), ("{\"b\":[[{}]],\"a\":[]}", 7)] {
        assert_eq!(
            elements(document.as_bytes(), "/a", depth(3)).last(),
            Some(&Err(("limit", Some(deepest))))
        );
        assert!(elements(document.as_bytes(), "/a", depth(4)).iter().all(Result::is_ok));
    }

    let codec = Codec::strict().with_limits(Limits::new().max_string(3));
    for (document, quote) in [
        ("{\"b\":\"abcd\",\"a\":[]}", 5),
        ("{\"b\":\"ab\\n\",\"a\":[]}", 5),
        ("{\"b\":\"ab\u{e9}\",\"a\":[]}", 5),
        ("{\"abcd\":1,\"a\":[]}", 1),
        ("{\"a\":[\"abcd\"]}", 6),
    ] {
        let expected = [Err(("limit", Some(quote)))];
        assert_eq!(elements(document.as_bytes(), "/a", codec), expected, "{document}");
    }
    assert!(elements(b"{\"b\":\"abc\",\"a\":[\"abc\"]}", "/a", codec).iter().all(Result::is_ok));
}

#[test]
fn malformed_input_ends_the_iterator_without_reading_more() {
    let mut endless = DocumentReader::new(
        io::BufReader::new(io::repeat(b'[')),
        ElementDecoder::<IgnoredAny>::new("/a").unwrap(),
    );
    assert!(endless.next().unwrap().unwrap_err().is_data());
    assert!(endless.next().is_none());
    let mut endless = DocumentReader::new(
        io::BufReader::new(io::repeat(b'[')),
        ElementDecoder::<IgnoredAny>::new("").unwrap(),
    );
    assert!(endless.next().unwrap().unwrap_err().is_limit());
    assert!(endless.next().is_none());
}

#[test]
fn a_decoder_is_reset_at_the_end() {
    let mut decoder = ElementDecoder::<u8>::new("").unwrap();
    for (input, is_failed) in [("[1]", false), ("[1,]", true), ("[1 ", false), ("[1]", false)] {
        let mut chunk = input.as_bytes();
        assert_eq!(decoder.next(&mut chunk).unwrap().unwrap(), 1);
        let _ = decoder.next(&mut chunk);
        assert_eq!(decoder.is_failed(), is_failed, "{input}");
        assert_eq!(decoder.finish().is_some(), input == "[1 ", "{input}");
    }
}

#[test]
fn debug_output_omits_the_input() {
    let mut decoder = ElementDecoder::<Value>::new("").unwrap();
    assert!(decoder.next(&mut &b"[\"hunter2"[..]).is_none());
    let text = format!("{decoder:?}");
    // `Debug` prints bytes as numbers.
    assert!(!text.contains("104, 117, 110") && !text.contains("hunter2"), "{text}");
    let mut reader = DocumentReader::new(&b"[1, \"hunter2\"]"[..], ElementDecoder::<Value>::new("").unwrap());
    reader.next().unwrap().unwrap();
    let text = format!("{reader:?}");
    assert!(!text.contains("104, 117, 110"), "{text}");
}

/// Document of ten megabytes with small elements in front of, inside and behind the selected array.
fn export(mut read: impl FnMut(&mut dyn Read)) {
    let item = b"{\"id\":123456,\"name\":\"a name\\u00e9 \xc3\xa9\",\"tags\":[1.5,true,null]},";
    let items = item.repeat((10 << 20) / item.len() / 3);
    let skipped = |name: &'static [u8]| name.chain(&items[..]).chain(&b"0]"[..]);
    let long = io::repeat(b'x').take(1 << 20);
    let mut document = skipped(b"{\"before\":[")
        .chain(&b",\"long\":\""[..])
        .chain(long)
        .chain(&b"\","[..])
        .chain(skipped(b"\"items\":["))
        .chain(&b","[..])
        .chain(skipped(b"\"after\":["))
        .chain(&b"}"[..]);
    read(&mut document);
}

#[test]
fn memory_is_bounded_by_the_largest_element() {
    export(|document| {
        let peak = test_support::counting::peak(|| {
            let decoder = ElementDecoder::<IgnoredAny>::new("/items").unwrap();
            let count =
                DocumentReader::new(io::BufReader::new(document), decoder).map(Result::unwrap).count();
            assert!(count > 50_000);
        });
        assert!(peak < 16 << 10, "{peak}");
    });
}

#[test]
fn single_bytes_are_buffered_once() {
    let size = 1 << 20;
    let document = format!("{{\"skip\":\"{0}\",\"a\":[\"{0}\"]}}", "a".repeat(size));
    let mut decoder = ElementDecoder::<Box<RawValue>>::new("/a").unwrap();
    let (usage, found) = test_support::counting::usage(|| {
        document.as_bytes().chunks(1).find_map(|mut chunk| decoder.next(&mut chunk))
    });
    assert_eq!(found.unwrap().unwrap().get().len(), size + 2);
    // All sizes of the doubled buffer, and the raw value.
    assert!(usage.bytes < 6 * size, "{usage:?}");
}

/// Collects the pointers to all values.
fn pointers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    match value {
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                pointers(value, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                let token = key.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{pointer}/{token}"), found);
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn elements_are_those_of_the_whole_document(
        document in support::document(),
        key in "[ab/~0]{0,2}",
        selected in any::<Index>(),
        lengths in prop::collection::vec(0_usize..20, 0..40),
        missing in prop::bool::weighted(0.1),
    ) {
        let codec = Codec::strict().with_duplicates(Duplicates::Error);
        let Ok(root) = codec.from_str::<Value>(&document) else { return Ok(()) };
        // The key is written with its first character as an escape.
        let escaped = key.chars().enumerate().map(|(at, char)| match at {
            0 => format!("\\u{:04x}", u32::from(char)),
            _ => char.to_string(),
        });
        let document = format!("[0,{{\"{}\":{document},\"other\":[]}},[]]", escaped.collect::<String>());
        let root = Value::from(vec![
            Value::from(0),
            Value::from_iter([(key, root), ("other".to_owned(), Value::Array(Array::new()))]),
            Value::Array(Array::new()),
        ]);
        let mut found = Vec::new();
        pointers(&root, "", &mut found);
        let mut pointer = selected.get(&found).clone();
        if missing {
            pointer.push_str("/none");
        }
        let outcomes = chunked(document.as_bytes(), &pointer, &lengths);
        match root.pointer(&pointer) {
            Some(Value::Array(values)) => {
                prop_assert_eq!(outcomes, values.iter().cloned().map(Ok).collect::<Vec<_>>());
            }
            _ => prop_assert!(matches!(outcomes[..], [Err(("data", Some(_)))]), "{:?}", outcomes),
        }
        for cut in 0..document.len() {
            prop_assert!(chunked(&document.as_bytes()[..cut], &pointer, &lengths).iter().any(Result::is_err));
        }
    }

    #[test]
    fn malformed_documents_have_the_error_of_the_whole_document(
        bytes in support::mutated(),
        pointer in "(/[ab01]){0,2}",
        lengths in prop::collection::vec(0_usize..20, 0..40),
    ) {
        let outcomes = chunked(&bytes, &pointer, &lengths);
        prop_assert_eq!(&outcomes, &chunked(&bytes, &pointer, &[]));
        let expected = support::outcome(Codec::strict().validate(&bytes));
        match (expected, outcomes.last()) {
            (Ok(()), None | Some(Ok(_) | Err(("data", _)))) => {}
            // The array was not found in front of the error.
            (Err(_), Some(Err(("data", _)))) => {}
            (Err(error), Some(Err(actual))) => {
                // The whole document is checked for invalid UTF-8 first.
                if std::str::from_utf8(&bytes).is_ok() {
                    prop_assert_eq!(actual, &error);
                }
            }
            unexpected => prop_assert!(false, "{:?}", unexpected),
        }
    }
}

#[test]
fn raw_values_are_the_text_of_elements() {
    let document = "[ {\"a\" : 1} , 2.50 ]";
    let decoder = ElementDecoder::<Box<RawValue>>::new("").unwrap();
    let texts: Vec<_> = DocumentReader::new(document.as_bytes(), decoder)
        .map(|text| text.unwrap().get().to_owned())
        .collect();
    assert_eq!(texts, ["{\"a\" : 1}", "2.50"]);
}
