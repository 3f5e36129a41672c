//! Functions and types with a counterpart in serde_json, compared with it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;

use proptest::prelude::*;
use serde::de::{DeserializeSeed, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer as _, Serialize, Serializer as _};
use test_support::Pieces;
use tightwire_json::de::{IoRead, Read, SliceRead, StrRead};
use tightwire_json::{
    Codec, Decoder, Deserializer, Duplicates, Error, ErrorDetails as _, Limits, RawValue, Serializer,
    StreamDeserializer, Value, to_raw_value,
};

use crate::support::{document, mutated, outcome};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Newtype(u8);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair(u8, String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    id: u64,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    Newtype(i64),
    Tuple(u8, f64),
    Struct { a: Option<bool>, b: () },
}

/// Asserts that every function returns the same as that of serde_json.
fn same<T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug>(value: &T) {
    let compact = serde_json::to_string(value).unwrap();
    let pretty = serde_json::to_string_pretty(value).unwrap();
    assert_eq!(tightwire_json::to_string(value).unwrap(), compact);
    assert_eq!(tightwire_json::to_vec(value).unwrap(), compact.as_bytes());
    assert_eq!(tightwire_json::to_string_pretty(value).unwrap(), pretty);
    assert_eq!(tightwire_json::to_vec_pretty(value).unwrap(), pretty.as_bytes());
    let mut written = Vec::new();
    tightwire_json::to_writer(&mut written, value).unwrap();
    tightwire_json::to_writer_pretty(&mut written, value).unwrap();
    assert_eq!(written, format!("{compact}{pretty}").as_bytes());

    for document in [&compact, &pretty] {
        assert_eq!(tightwire_json::from_str::<T>(document).unwrap(), *value);
        assert_eq!(tightwire_json::from_slice::<T>(document.as_bytes()).unwrap(), *value);
        assert_eq!(tightwire_json::from_reader::<_, T>(document.as_bytes()).unwrap(), *value);
        assert_eq!(T::deserialize(&mut Deserializer::from_str(document)).unwrap(), *value);
        assert_eq!(T::deserialize(&mut Deserializer::from_slice(document.as_bytes())).unwrap(), *value);
        assert_eq!(T::deserialize(&mut Deserializer::from_reader(document.as_bytes())).unwrap(), *value);
        let raw = RawValue::from_string(document.clone()).unwrap();
        assert_eq!(T::deserialize(&*raw).unwrap(), *value);
    }

    // A serializer writes one value after the other, with and without type erasure.
    let mut serializer = Serializer::new(Vec::new());
    value.serialize(&mut serializer).unwrap();
    erased_serde::serialize(value, &mut serializer).unwrap();
    assert_eq!(String::from_utf8(serializer.into_inner()).unwrap(), compact.repeat(2));
    let mut serializer = Serializer::pretty(Vec::new());
    value.serialize(&mut serializer).unwrap();
    erased_serde::serialize(value, &mut serializer).unwrap();
    assert_eq!(String::from_utf8(serializer.into_inner()).unwrap(), pretty.repeat(2));
    let mut serializer = Serializer::with_codec(Vec::new(), Codec::compat());
    value.serialize(&mut serializer).unwrap();
    assert_eq!(serializer.into_inner(), Codec::compat().to_vec(value).unwrap());

    let deserializer = &mut Deserializer::from_str(&compact);
    let mut erased = <dyn erased_serde::Deserializer<'_>>::erase(deserializer);
    assert_eq!(erased_serde::deserialize::<T>(&mut erased).unwrap(), *value);
}

#[test]
fn functions_return_the_same_as_those_of_serde_json() {
    same(&true);
    same(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    same(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    same(&(0.1_f32, 1e300_f64, -0.0_f64, 1.0_f64));
    same(&'\u{e9}');
    same(&String::from("line\n\"quoted\" \u{1F600}"));
    same(&(Some(1), None::<u8>, ()));
    same(&Unit);
    same(&Newtype(7));
    same(&Pair(1, "a".into()));
    same(&Record { id: 1, rest: BTreeMap::from([("z".into(), Value::from(1)), ("a".into(), Value::Null)]) });
    same(&vec![
        Shape::Unit,
        Shape::Newtype(-1),
        Shape::Tuple(1, 0.5),
        Shape::Struct { a: Some(true), b: () },
        Shape::Struct { a: None, b: () },
    ]);
    for shape in [Shape::Unit, Shape::Newtype(1), Shape::Tuple(1, 2.0), Shape::Struct { a: None, b: () }] {
        same(&shape);
    }
    same(&BTreeMap::from([(-1_i8, vec![0_u8; 3]), (5, vec![])]));
    same(&BTreeMap::from([(true, BTreeMap::<String, u8>::new())]));
    same(
        &serde_json::json!({"a": [], "b": {}, "c": [[1, {"d": "x,{\"y\":"}], null], "e": {"f": {"g": 1.5}}}),
    );
    same(&serde_bytes::ByteBuf::from(b"bytes".to_vec()));
}

#[test]
fn nothing_is_written_for_a_value_that_cannot_be_encoded() {
    let mut serializer = Serializer::new(Vec::new());
    for _ in 0..2 {
        let error = vec![Some(1.0), Some(f64::NAN)].serialize(&mut serializer).unwrap_err();
        assert!(error.is_encode());
        assert!(f64::INFINITY.serialize(&mut serializer).unwrap_err().is_encode());
        "ok".serialize(&mut serializer).unwrap();
    }
    serializer.collect_str(&format_args!("{}<", 1)).unwrap();
    assert_eq!(serializer.into_inner(), br#""ok""ok""1<""#);
}

#[test]
fn a_failing_writer_is_an_io_error_of_the_serializer() {
    struct Failing;
    impl io::Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    assert!([1].serialize(&mut Serializer::new(Failing)).unwrap_err().is_io());
    assert!(tightwire_json::to_writer_pretty(Failing, &1).unwrap_err().is_io());
}

#[test]
fn paths_of_errors_are_tracked() {
    let deserializer = &mut Deserializer::from_str(r#"{"a": [{"id": 1}, {"id": true}]}"#);
    let error =
        serde_path_to_error::deserialize::<_, BTreeMap<String, Vec<Record>>>(deserializer).unwrap_err();
    assert_eq!(error.path().to_string(), "a[1].id");
    assert!(error.inner().is_data());
    // The message has the path once.
    assert!(error.to_string().starts_with("a[1].id: expected"), "{error}");
    let tree = tightwire_json::json!({"a": [{"id": 1}, {"id": true}]});
    let error = serde_path_to_error::deserialize::<_, BTreeMap<String, Vec<Record>>>(&tree).unwrap_err();
    assert!(!error.inner().to_string().starts_with("a["), "{error}");

    let mut serializer = Serializer::new(Vec::new());
    let mut track = serde_path_to_error::Track::new();
    let value = BTreeMap::from([("a", [1.0, f64::NAN])]);
    let error =
        value.serialize(serde_path_to_error::Serializer::new(&mut serializer, &mut track)).unwrap_err();
    assert!(error.is_encode());
    assert_eq!(track.path().to_string(), "a[1]");
}

#[test]
fn errors_of_deserializers_have_a_path_and_a_position() {
    fn second<'de, R: Read<'de>>(read: R) -> String {
        let mut values = Deserializer::new(read).into_iter::<BTreeMap<String, Vec<u8>>>();
        assert!(values.next().unwrap().is_ok());
        values.next().unwrap().unwrap_err().to_string()
    }
    // Path and message, line and column in the text, and line and column in the value.
    for (text, message, position, in_value) in [
        ("{}\n {\"a\":\n[x]}", "a[0]: expected a value", (3, 2), (2, 2)),
        (
            "\n{}{\"a\":[1,true]}",
            "a[1]: expected an unsigned 8-bit integer, found a boolean",
            (2, 11),
            (1, 9),
        ),
        ("{}\n\n 5", "expected an object, found a number", (3, 2), (1, 1)),
        ("{} {\"a\":[", "a[0]: unexpected end of the document", (1, 10), (1, 7)),
        ("{} ]", "expected a value", (1, 4), (1, 1)),
    ] {
        let expected = |(line, column)| format!("{message} (line {line}, column {column})");
        assert_eq!(second(StrRead::new(text)), expected(position));
        assert_eq!(second(SliceRead::new(text.as_bytes())), expected(position));
        assert_eq!(second(IoRead::new(text.as_bytes())), expected(in_value));
    }
    let bytes: [(&[u8], &str); 2] = [
        (b"{} {\"a\xff\":0}", "invalid UTF-8 (line 1, column 7)"),
        (b"{}\n \xff", "invalid UTF-8 (line 2, column 2)"),
    ];
    for (text, expected) in bytes {
        assert_eq!(second(SliceRead::new(text)), expected);
    }
}

#[test]
fn errors_for_trailing_text_have_a_position() {
    let mut deserializer = Deserializer::from_str("[]\n 1x\n");
    assert!(Value::deserialize(&mut deserializer).is_ok());
    let position = |error: Error| (error.line(), error.column());
    assert_eq!(position(deserializer.end().unwrap_err()), (2, 2));
    let mut values = deserializer.into_iter::<Value>();
    assert_eq!(position(values.next().unwrap().unwrap_err()), (2, 3));
    let mut values = Deserializer::from_slice(b" 1x").into_iter::<Value>();
    assert_eq!(position(values.next().unwrap().unwrap_err()), (1, 3));
    let mut values = Deserializer::from_reader(&b"\n1x"[..]).into_iter::<Value>();
    assert_eq!(position(values.next().unwrap().unwrap_err()), (1, 2));
}

#[test]
fn names_of_serde_json_have_the_same_paths() {
    use tightwire_json::error::{Category, Error, Result};
    use tightwire_json::value::{RawValue, to_raw_value};

    let error: Result<Box<RawValue>> = to_raw_value(&f64::NAN);
    let error: Error = error.unwrap_err();
    assert_eq!(error.classify(), Category::Data);
}

/// Appends the numbers of an array to a vector.
struct Append<'v>(&'v mut Vec<u64>);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(number) = seq.next_element()? {
            self.0.push(number);
        }
        Ok(())
    }
}

#[test]
fn seeds_decode_several_values_from_every_input() {
    let text = " [1, 2] [3]\n[] ";
    let mut numbers = Vec::new();
    let mut from_str = Deserializer::from_str(text);
    let mut from_slice = Deserializer::from_slice(text.as_bytes());
    let mut from_reader = Deserializer::from_reader(text.as_bytes());
    let mut buffered = Deserializer::new(Decoder::new(text.as_bytes()));
    for _ in 0..3 {
        Append(&mut numbers).deserialize(&mut from_str).unwrap();
        Append(&mut numbers).deserialize(&mut from_slice).unwrap();
        Append(&mut numbers).deserialize(&mut from_reader).unwrap();
        Append(&mut numbers).deserialize(&mut buffered).unwrap();
    }
    assert_eq!(numbers, [1, 2, 1, 2, 1, 2, 1, 2, 3, 3, 3, 3]);
    buffered.end().unwrap();
    from_str.end().unwrap();
    from_slice.end().unwrap();
    from_reader.end().unwrap();
    let error = Append(&mut numbers).deserialize(&mut from_reader).unwrap_err();
    assert_eq!(outcome::<()>(Err(error)), Err(("eof", Some(text.len() as u64))));
}

#[test]
fn values_borrow_from_text_but_not_from_a_reader() {
    let text = r#""word" ["a", "b\n"] "word""#;
    let mut deserializer = Deserializer::from_str(text);
    let word = <&str>::deserialize(&mut deserializer).unwrap();
    assert!(text.as_bytes().as_ptr_range().contains(&word.as_ptr()));
    #[derive(Deserialize)]
    struct Word<'a>(#[serde(borrow)] Cow<'a, str>);
    let words = Vec::<Word<'_>>::deserialize(&mut deserializer).unwrap();
    assert!(matches!(words[0].0, Cow::Borrowed("a")));
    assert!(matches!(words[1].0, Cow::Owned(_)));
    assert!(<&RawValue>::deserialize(&mut deserializer).is_ok());

    let mut deserializer = Deserializer::from_reader(text.as_bytes());
    assert!(<&str>::deserialize(&mut deserializer).unwrap_err().is_data());
    let words = Vec::<Word<'_>>::deserialize(&mut deserializer).unwrap();
    assert!(matches!(words[0].0, Cow::Owned(_)));
    assert_eq!(Box::<RawValue>::deserialize(&mut deserializer).unwrap().get(), "\"word\"");
}

/// Returns the values of a stream, `None` for an error, and the offset after each value, at its first error, or at its
/// end. Bounded, so that a stream that does not end fails.
fn drain<E>(
    len: usize,
    mut next: impl FnMut() -> (Option<Result<Value, E>>, usize),
) -> (Vec<Option<Value>>, Vec<usize>) {
    let (mut values, mut offsets) = (Vec::new(), Vec::new());
    for _ in 0..len + 3 {
        let (item, offset) = next();
        if !values.contains(&None) {
            offsets.push(offset);
        }
        match item {
            Some(item) => values.push(item.ok()),
            None => return (values, offsets),
        }
    }
    panic!("the stream does not end");
}

macro_rules! drain {
    ($len:expr, $deserializer:expr) => {{
        let mut stream = $deserializer.into_iter::<Value>();
        drain($len, || {
            let item = stream.next();
            (item, stream.byte_offset())
        })
    }};
}

fn same_streams(text: &[u8]) {
    let len = text.len();
    let shown = String::from_utf8_lossy(text).into_owned();
    let theirs = drain!(len, serde_json::Deserializer::from_slice(text));
    assert_eq!(drain!(len, Deserializer::from_slice(text)), theirs, "{shown:?}");
    if let Ok(text) = std::str::from_utf8(text) {
        assert_eq!(drain!(len, Deserializer::from_str(text)), theirs, "{shown:?}");
    }
    let (mut values, mut offsets) = theirs;
    // After a number with trailing characters, only a stream from a slice continues, and only its offset is that of
    // the characters.
    if let Some(error) = values.iter().position(Option::is_none) {
        values.truncate(error + 1);
        offsets.truncate(error);
    }
    for step in [1, 3, len.max(1)] {
        let pieces: Vec<_> = text.chunks(step).collect();
        let reader = io::BufReader::new(Pieces::new(&pieces));
        let buffered = drain!(len, Deserializer::new(Decoder::new(reader)));
        for ours in [drain!(len, Deserializer::from_reader(Pieces::new(&pieces))), buffered] {
            assert_eq!(ours.0[..values.len()], values, "{shown:?}");
            assert_eq!(ours.1[..offsets.len()], offsets, "{shown:?}");
        }
    }
}

#[test]
fn streams_of_values_equal_those_of_serde_json() {
    for text in [
        "",
        " ",
        "1",
        "1 2",
        "[1][2]",
        "{}{}\n",
        "1[2]3{}",
        "\"a\"\"b\"",
        "truefalse",
        "true false",
        "1x",
        "1x 2",
        "[1] x",
        "[1",
        "[1][",
        "1,2",
        "[1],[2]",
        "}",
        "1}",
        "nul",
        "null null",
        "1\"a\"",
        "\"a\"1",
        "{}1 ",
        "01",
        "-",
        "1.",
        "1.5.5",
        "1 \u{e9} 2",
        "\"\u{e9}\"\u{e9}",
        "[[]",
        "[]]",
        "\u{feff}1",
    ] {
        same_streams(text.as_bytes());
    }
    same_streams(b"1 \xff");
    same_streams(b"[1] [\"\xff\"] 2");
    same_streams(b"1 2\xc3");
    same_streams(b"\"a\" \"\xc3");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_streams_equal_those_of_serde_json(documents in prop::collection::vec((document(), "[ \n]?"), 0..4)) {
        let text: String = documents.iter().map(|(document, space)| format!("{document}{space}")).collect();
        same_streams(text.as_bytes());
    }

    #[test]
    fn malformed_streams_equal_those_of_serde_json(
        before in document(),
        malformed in mutated(),
        behind in document(),
    ) {
        let mut text = before.into_bytes();
        text.push(b' ');
        text.extend(malformed);
        text.extend(behind.into_bytes());
        same_streams(&text);
    }

    #[test]
    fn pretty_output_equals_that_of_serde_json(document in document()) {
        let Ok(value) = serde_json::from_str::<Value>(&document) else { return Ok(()) };
        let expected = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(&tightwire_json::to_string_pretty(&value).unwrap(), &expected);
        let mut serializer = Serializer::pretty(Vec::new());
        value.serialize(&mut serializer).unwrap();
        prop_assert_eq!(serializer.into_inner(), expected.into_bytes());
    }
}

#[test]
fn a_stream_retries_after_an_io_error() {
    /// Fails at each `?`.
    struct Interrupted(std::slice::Iter<'static, u8>);
    impl io::Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.next() {
                Some(b'?') => Err(io::ErrorKind::WouldBlock.into()),
                Some(byte) => {
                    buffer[0] = *byte;
                    Ok(1)
                }
                None => Ok(0),
            }
        }
    }
    fn check<'de>(read: impl Read<'de>) {
        let mut stream = StreamDeserializer::<_, [u8; 2]>::new(read);
        for _ in 0..3 {
            assert!(stream.next().unwrap().unwrap_err().is_io());
        }
        assert_eq!(stream.next().unwrap().unwrap(), [1, 2]);
        assert!(stream.next().is_none());
        assert_eq!(stream.byte_offset(), 5);
    }
    let interrupted = || Interrupted(b"?[?1,?2]".iter());
    check(IoRead::new(interrupted()));
    check(Decoder::new(io::BufReader::new(interrupted())));
}

#[test]
fn a_stream_ends_after_a_failure_of_the_reader() {
    struct Broken;
    impl io::Read for Broken {
        fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    for start in ["[1] ", "[1] [2", "[1] 2"] {
        let reader = || io::Read::chain(start.as_bytes(), Broken);
        let ours = Deserializer::from_reader(reader()).into_iter::<Value>();
        let theirs = serde_json::Deserializer::from_reader(reader()).into_iter::<serde_json::Value>();
        // At most four items, because a stream that does not end would repeat the error forever.
        let ours: Vec<_> = ours.take(4).map(|value| value.is_ok()).collect();
        let theirs: Vec<_> = theirs.take(4).map(|value| value.is_ok()).collect();
        assert_eq!(ours, theirs, "{start}");
    }
}

#[test]
fn limits_apply_to_each_value() {
    let codec = Codec::strict().with_limits(Limits::new().max_document(5));
    // The limit of the length of the value, whether it is exceeded, and the text.
    for (text, is_exceeded) in [
        ("12345 1", false),
        ("123456 1", true),
        ("[1,2] 1", false),
        ("[1, 2]", true),
        ("\"\u{e9}bc\u{e9}\"", true),
    ] {
        for spaces in [0, 3] {
            let text = format!("{}{text}", " ".repeat(spaces));
            let expected = is_exceeded.then_some(Some(5 + spaces as u64));
            let mut read = StrRead::new(&text);
            let first = Value::deserialize(&mut Deserializer::with_codec(&mut read, codec));
            assert_eq!(outcome(first).err(), expected.map(|offset| ("limit", offset)), "{text}");
            let first =
                Value::deserialize(&mut Deserializer::with_codec(SliceRead::new(text.as_bytes()), codec));
            assert_eq!(outcome(first).err(), expected.map(|offset| ("limit", offset)), "{text}");
            let reader = IoRead::new(text.as_bytes());
            let first = Value::deserialize(&mut Deserializer::with_codec(reader, codec));
            assert_eq!(outcome(first).err(), expected.map(|offset| ("limit", offset)), "{text}");
        }
    }
}

#[test]
fn handling_of_duplicates_applies_to_each_value() {
    let text = r#"{"a":1,"a":2} {"a":3,"b":4,"a":5}"#;
    let last = Codec::strict().with_duplicates(Duplicates::Last);
    let reject = Codec::strict().with_duplicates(Duplicates::Error);
    #[derive(Debug, PartialEq, Deserialize)]
    struct Entry {
        a: u8,
    }
    let values = Deserializer::with_codec(StrRead::new(text), last).into_iter::<Entry>();
    assert_eq!(values.collect::<Result<Vec<_>, _>>().unwrap(), [Entry { a: 2 }, Entry { a: 5 }]);
    let values = Deserializer::with_codec(IoRead::new(text.as_bytes()), last).into_iter::<Entry>();
    assert_eq!(values.collect::<Result<Vec<_>, _>>().unwrap(), [Entry { a: 2 }, Entry { a: 5 }]);
    let error = Value::deserialize(&mut Deserializer::with_codec(StrRead::new(text), reject)).unwrap_err();
    assert_eq!(error.offset(), Some(7));
}

#[test]
fn end_reports_what_follows() {
    let mut deserializer = Deserializer::from_slice(b"1 \n\xff");
    assert_eq!(u8::deserialize(&mut deserializer).unwrap(), 1);
    assert_eq!(outcome(deserializer.end()), Err(("syntax", Some(3))));
    let mut deserializer = Deserializer::from_reader(&b"[1] ]"[..]);
    assert_eq!(<[u8; 1]>::deserialize(&mut deserializer).unwrap(), [1]);
    assert_eq!(outcome(deserializer.end()), Err(("syntax", Some(4))));
}

#[test]
fn raw_values_have_the_functions_of_serde_json() {
    for text in ["null", " [1, 2] ", "\"\\n\"", "{\"a\" : 1.50}\n"] {
        let ours = RawValue::from_string(text.to_owned()).unwrap();
        let theirs = serde_json::value::RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(ours.get(), theirs.get());
        assert_eq!(format!("{ours} {ours:?}"), format!("{theirs} {theirs:?}"));
        assert_eq!(ours.clone().get(), ours.get());
        let text: Box<str> = ours.clone().into();
        assert_eq!(*text, *theirs.get());
        let value: Value = ours.into_deserializer().deserialize_any(ValueVisitor).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(theirs.get()).unwrap());
    }
    for text in ["", "1 2", "[1,]", "\"\n\"", "nul"] {
        assert!(RawValue::from_string(text.to_owned()).is_err());
    }
    assert_eq!(RawValue::NULL.get(), Box::<RawValue>::default().get());
    assert_eq!([RawValue::TRUE.get(), RawValue::FALSE.get()], ["true", "false"]);
    assert_eq!(to_raw_value(&[1.0, 2.5]).unwrap().get(), "[1.0,2.5]");
    assert!(to_raw_value(&f64::NAN).is_err());
}

/// Builds a [`Value`].
struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("null, a string, an array or an object")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        Value::deserialize(serde::de::value::SeqAccessDeserializer::new(seq))
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))
    }
}

#[test]
fn raw_values_of_both_crates_are_decoded_and_encoded() {
    #[derive(Serialize, Deserialize)]
    struct Both<'a> {
        #[serde(borrow)]
        ours: &'a RawValue,
        #[serde(borrow)]
        theirs: &'a serde_json::value::RawValue,
        optional: Option<Box<RawValue>>,
        map: BTreeMap<String, Box<serde_json::value::RawValue>>,
    }
    let document = r#"{"ours":[1, 2],"theirs":{"a" : 1.50},"optional":"x","map":{"k":[ ]}}"#;
    let both: Both<'_> = tightwire_json::from_str(document).unwrap();
    assert_eq!(both.ours.get(), "[1, 2]");
    assert!(document.as_bytes().as_ptr_range().contains(&both.ours.get().as_ptr()));
    assert_eq!(both.theirs.get(), "{\"a\" : 1.50}");
    assert_eq!(tightwire_json::to_string(&both).unwrap(), document);
    let mut serializer = Serializer::new(Vec::new());
    both.serialize(&mut serializer).unwrap();
    RawValue::from_string("[ 1 ]".to_owned()).unwrap().serialize(&mut serializer).unwrap();
    assert_eq!(serializer.into_inner(), format!("{document}[ 1 ]").as_bytes());
    let pretty = serde_json::to_string_pretty(&both.theirs).unwrap();
    assert_eq!(tightwire_json::to_string_pretty(&both.ours).unwrap(), "[1, 2]");
    assert_eq!(tightwire_json::to_string_pretty(&both.theirs).unwrap(), pretty);
    let pretty = serde_json::to_string_pretty(&(both.theirs, [both.theirs])).unwrap();
    assert_eq!(tightwire_json::to_string_pretty(&(both.theirs, [both.theirs])).unwrap(), pretty);
    let mut serializer = Serializer::pretty(Vec::new());
    (both.theirs, [both.theirs]).serialize(&mut serializer).unwrap();
    assert_eq!(serializer.into_inner(), pretty.as_bytes());
    let indented = Codec::compat().to_string_pretty(&[both.ours], " ").unwrap();
    assert_eq!(indented, "[\n [\n  1,\n  2\n ]\n]");
    // Other keys do not make a raw value.
    let text = r#"{"$tightwire_json::private::RawValue": "[1"}"#;
    assert_eq!(tightwire_json::from_str::<&RawValue>(text).unwrap().get(), text);
    assert!(serde_json::from_str::<Box<RawValue>>("1").is_err());
}

#[test]
fn readers_are_left_behind_the_value() {
    /// Reads one value with each kind of decoder, and returns what is left in the reader.
    fn rests(text: &[u8]) -> [Vec<u8>; 6] {
        let read = |decode: fn(&mut io::BufReader<&[u8]>) -> bool| {
            let mut reader = io::BufReader::with_capacity(5, text);
            assert!(decode(&mut reader), "{text:?}");
            let mut rest = Vec::new();
            io::Read::read_to_end(&mut reader, &mut rest).unwrap();
            rest
        };
        [
            read(|reader| Value::deserialize(&mut Deserializer::from_reader(reader)).is_ok()),
            read(|reader| Value::deserialize(&mut Deserializer::new(Decoder::new(reader))).is_ok()),
            read(|reader| Deserializer::from_reader(reader).into_iter::<Value>().next().unwrap().is_ok()),
            read(|reader| {
                Deserializer::new(Decoder::new(reader)).into_iter::<Value>().next().unwrap().is_ok()
            }),
            read(|reader| StreamDeserializer::<_, Value>::new(IoRead::new(reader)).next().unwrap().is_ok()),
            read(|reader| Decoder::new(reader).decode::<Value>().unwrap().is_some()),
        ]
    }
    for value in ["{\"len\":4}", " [[], {\"a\": \"]\\\"\"}, 1.5]", "\"te\\\\xt\"", "true", "false", "null"] {
        // An iterator examines the byte behind a literal name.
        let is_name = value.ends_with(['e', 'l']);
        for rest in [&b""[..], b"\n{\"id\":2}", b",[1]]", b"\xff\x00\x01"] {
            if is_name && rest.starts_with(b"\xff") {
                continue;
            }
            for (at, found) in rests(&[value.as_bytes(), rest].concat()).iter().enumerate() {
                let examined = usize::from(is_name && [2, 4].contains(&at)).min(rest.len());
                assert_eq!(found, &rest[examined..], "{value} {at}");
            }
        }
    }
    for (at, rest) in rests(b"12 [3]").iter().enumerate() {
        let buffered = [1, 3, 5].contains(&at);
        assert_eq!(rest, if buffered { b" [3]".as_slice() } else { b"[3]" }, "{at}");
    }
    // A deserializer per message, and the elements of an array one by one.
    let mut messages = &b"[{\"id\":1},{\"id\":2}\n,3]\n"[..];
    let mut ids = Vec::new();
    while let Some((b'[' | b',' | b'\n', rest)) = messages.split_first() {
        messages = rest;
        if let Ok(message) = Value::deserialize(&mut Deserializer::from_reader(&mut messages)) {
            ids.push(message["id"].as_u64());
        }
    }
    assert_eq!(ids[..2], [Some(1), Some(2)]);
}
