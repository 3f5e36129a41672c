//! Path, position, wording and kind of errors.

use std::collections::BTreeMap;
use std::io;

use proptest::prelude::*;
use serde::de::{self, DeserializeOwned, Deserializer, IgnoredAny, Visitor};
use serde::ser::{SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use tightwire_json::ChunkDecoder as _;
use tightwire_json::error::Category;
use tightwire_json::{
    Codec, Decoder, Duplicates, Error, ErrorDetails as _, Limits, Path, RawValue, Segment, Value, from_slice,
    from_str, to_string,
};

use crate::support::{self, pointer};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(dead_code, reason = "it is only decoded")]
struct User {
    id: u32,
    name: String,
    address: Option<Address>,
    kind: Option<Kind>,
    even: Option<Even>,
    either: Option<Either>,
    tagged: Option<Tagged>,
    flat: Option<Flat>,
    pair: (u8, bool),
    raw: Option<Box<RawValue>>,
    by_number: BTreeMap<u8, char>,
    never: Option<Never>,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "it is only decoded")]
struct Address {
    zip: String,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "it is only decoded")]
enum Kind {
    Unit,
    Newtype(Even),
    Struct { a: f32 },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(dead_code, reason = "it is only decoded")]
enum Either {
    Number(u8),
    List(Vec<u8>),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
#[allow(dead_code, reason = "it is only decoded")]
enum Tagged {
    A { a: u8 },
}

#[derive(Debug, Deserialize)]
#[allow(dead_code, reason = "it is only decoded")]
struct Flat {
    #[serde(flatten)]
    inner: Address,
}

/// Rejects odd numbers after they were decoded.
#[derive(Debug, Deserialize)]
#[serde(try_from = "u64")]
struct Even;

impl TryFrom<u64> for Even {
    type Error = &'static str;

    fn try_from(number: u64) -> Result<Self, Self::Error> {
        if number.is_multiple_of(2) { Ok(Self) } else { Err("the number is odd") }
    }
}

/// Fails without reading the value.
#[derive(Debug)]
struct Never;

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(de::Error::custom("not supported"))
    }
}

fn fail<T: DeserializeOwned>(document: &str) -> Error {
    from_str::<T>(document).map(|_| "a value").unwrap_err()
}

/// Returns the error for a field of the second of three users. The field begins at line 3, column 3.
fn in_field(field: &str) -> Error {
    fail::<BTreeMap<String, Vec<User>>>(&format!("{{\"users\":[{{}},\n {{\"raw\":0,\n  {field}}}, {{}}]}}"))
}

#[test]
fn errors_of_the_type_name_the_value_and_its_position() {
    for (field, path, message, line, column) in [
        (r#""id": "secret""#, ".id", "expected an unsigned 32-bit integer, found a string", 3, 9),
        (
            r#""id":-1"#,
            ".id",
            "expected an unsigned 32-bit integer, found a number that it cannot represent",
            3,
            8,
        ),
        (r#""id":1.5"#, ".id", "expected an unsigned 32-bit integer, found a floating-point number", 3, 8),
        (r#""id":null"#, ".id", "expected an unsigned 32-bit integer, found null", 3, 8),
        (r#""name":[]"#, ".name", "expected a string, found an array", 3, 10),
        (r#""name":{}"#, ".name", "expected a string, found an object", 3, 10),
        (r#""name":true"#, ".name", "expected a string, found a boolean", 3, 10),
        (r#""address":{"zip":7}"#, ".address.zip", "expected a string, found a number", 3, 20),
        (
            r#""address":{"zip":""},"id":true"#,
            ".id",
            "expected an unsigned 32-bit integer, found a boolean",
            3,
            29,
        ),
        (r#""address":1"#, ".address", "expected an object, found a number", 3, 13),
        (r#""address":[]"#, ".address", "expected an array of 1 element, found 0 elements", 3, 13),
        (r#""address":{}"#, ".address", "missing field `zip`", 3, 14),
        (r#""address":{"x":1 }"#, ".address", "missing field `zip`", 3, 20),
        (r#""address":{"zip":"","zip":""}"#, ".address", "duplicate field `zip`", 3, 23),
        (
            r#""zip":1"#,
            "",
            "unknown field `zip`, expected `id`, `name`, `address`, `kind`, `even`, `either`, `tagged`, `flat`, `pair`, `raw`, `by_number` or `never`",
            3,
            3,
        ),
        (r#""raw":"y""#, "", "duplicate field `raw`", 3, 3),
        (r#""pair":[1]"#, ".pair", "expected an array of length 2, found 1 element", 3, 10),
        (r#""pair":[1,2]"#, ".pair[1]", "expected a boolean, found a number", 3, 13),
        (r#""pair":[1,true,3]"#, ".pair", "more elements than expected", 3, 17),
        (
            r#""kind":"secret""#,
            ".kind",
            "expected `Unit`, `Newtype` or `Struct`, found another variant",
            3,
            10,
        ),
        (
            r#""kind":{"secret":1}"#,
            ".kind",
            "expected `Unit`, `Newtype` or `Struct`, found another variant",
            3,
            11,
        ),
        (r#""kind":{}"#, ".kind", "expected the name of a variant", 3, 11),
        (r#""kind":1"#, ".kind", "expected a string or an object, found a number", 3, 10),
        (r#""kind":{"Unit":1}"#, ".kind.Unit", "expected null, found a number", 3, 18),
        (r#""kind":{"Newtype":3}"#, ".kind.Newtype", "the number is odd", 3, 21),
        (r#""kind":{"Struct":{"a":""}}"#, ".kind.Struct.a", "expected a number, found a string", 3, 25),
        (r#""kind":{"Struct":{"a":1},"x":1}"#, ".kind", "more elements than expected", 3, 27),
        (r#""even":  3  "#, ".even", "the number is odd", 3, 12),
        (r#""even":"secret""#, ".even", "expected an unsigned 64-bit integer, found a string", 3, 10),
        (r#""either":[1,-1]"#, ".either", "data did not match any variant of untagged enum Either", 3, 12),
        (r#""either": "x" "#, ".either", "data did not match any variant of untagged enum Either", 3, 13),
        (
            r#""tagged":{"type":"A","a":true}"#,
            ".tagged",
            "expected an unsigned 8-bit integer, found a boolean",
            3,
            12,
        ),
        (r#""tagged":{"a":1}"#, ".tagged", "missing field `type`", 3, 18),
        (r#""flat":{"zip":7}"#, ".flat", "expected a string, found a number", 3, 18),
        (r#""flat":{}"#, ".flat", "missing field `zip`", 3, 11),
        (
            r#""by_number":{"1":"a","x":"b"}"#,
            ".by_number",
            "expected an unsigned 8-bit integer, found a string",
            3,
            24,
        ),
        (r#""by_number":{"1":"a","7 ":"b"}"#, ".by_number", "the key is not a number", 3, 24),
        (
            r#""by_number":{"1":"secret"}"#,
            r#".by_number["1"]"#,
            "expected a character, found another string",
            3,
            20,
        ),
        (r#""never":  {"a":1}"#, ".never", "not supported", 3, 13),
        (r#""id":1e400"#, ".id", "number out of range", 3, 8),
    ] {
        let error = in_field(field);
        let path = format!("users[1]{path}");
        assert!(error.is_data(), "{field}");
        assert_eq!(error.to_string(), format!("{path}: {message} (line {line}, column {column})"));
        assert_eq!(error.path().unwrap().to_string(), path, "{field}");
        assert_eq!((error.line(), error.column()), (line, column), "{field}");
        assert_eq!(error.classify(), Category::Data);
        let debug = format!("{error:?}");
        assert!(!debug.contains("secret") && debug.contains(&path), "{debug}");
    }
}

#[test]
fn errors_at_the_root_have_no_path() {
    for (error, expected) in [
        (fail::<User>(" 1"), "expected an object, found a number (line 1, column 2)"),
        (fail::<Even>("\n 1"), "the number is odd (line 2, column 2)"),
        (fail::<Never>("\n 1"), "not supported (line 2, column 2)"),
        (fail::<Address>("{\n}"), "missing field `zip` (line 2, column 1)"),
        (fail::<Value>(""), "unexpected end of the document (line 1, column 1)"),
        (fail::<Value>("1\n2"), "expected the end of the document (line 2, column 1)"),
        (fail::<Value>("{\"a\":1,}"), "comma before a closing bracket (line 1, column 8)"),
    ] {
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.path(), None);
    }
}

#[test]
fn syntax_errors_truncation_and_limits_have_a_path_and_a_position() {
    let tight = Codec::strict()
        .with_limits(Limits::new().max_depth(3).max_string(4).max_document(60))
        .with_duplicates(Duplicates::Error);
    for (document, expected) in [
        ("{\"a\":[1,]}", "a[1]: comma before a closing bracket (line 1, column 9)"),
        ("{\"a\":[1,tru!]}", "a[1]: expected a value (line 1, column 12)"),
        ("{\"a\":[1 2]}", "a: expected `,` or `]` (line 1, column 9)"),
        ("{\"a\":[12\"\"]}", "a: expected `,` or `]` (line 1, column 9)"),
        ("[0,{\"a\":1 2}]", "[1]: expected `,` or `}` (line 1, column 11)"),
        ("[0,{\"a\":{} 2}]", "[1]: expected `,` or `}` (line 1, column 12)"),
        ("[0,{\"a\" 1}]", "[1]: expected `:` (line 1, column 9)"),
        ("[0,{a:1}]", "[1]: expected a string as key (line 1, column 5)"),
        ("[0,{\"a\":01}]", "[1].a: malformed number (line 1, column 10)"),
        ("[0,{\"a\":1.}]", "[1].a: malformed number (line 1, column 11)"),
        ("[0,\"\n\"]", "[1]: unescaped control character in a string (line 1, column 5)"),
        ("[0,\"\\x\"]", "[1]: invalid escape in a string (line 1, column 6)"),
        ("[0,\"\\ud800\"]", "[1]: lone surrogate in a string (line 1, column 5)"),
        ("[0,{\"\\x\":1}]", "[1]: invalid escape in a string (line 1, column 7)"),
        ("{\"a\":1,\n\"a\":2}", "duplicate key (line 2, column 1)"),
        ("{\"b\":{\"a\":1,\n\"a\":2}}", "b: duplicate key (line 2, column 1)"),
        ("{\"a\":[\n0,\"x", "a[1]: unexpected end of the document (line 2, column 5)"),
        ("{\"a\":[\n0,12", "a[1]: unexpected end of the document (line 2, column 5)"),
        ("{\"a\":[\n0,tr", "a[1]: unexpected end of the document (line 2, column 5)"),
        ("{\"a\":[\n0,", "a[1]: unexpected end of the document (line 2, column 3)"),
        ("{\"a\":[\n0 ", "a: unexpected end of the document (line 2, column 3)"),
        ("{\"a\":{\"b\"", "a: unexpected end of the document (line 1, column 10)"),
        ("{\"a\":{\"b", "a: unexpected end of the document (line 1, column 9)"),
        ("[[0,[0,[]]]]", "[0][1][1]: the document is nested deeper than 3 levels (line 1, column 8)"),
        ("[0,\"12345\"]", "[1]: the string is longer than 4 bytes (line 1, column 4)"),
        ("[0,{\"12345\":1}]", "[1]: the string is longer than 4 bytes (line 1, column 5)"),
    ] {
        for error in [
            tight.from_slice::<Value>(document.as_bytes()).unwrap_err(),
            tight.from_str::<IgnoredAny>(document).unwrap_err(),
            tight.validate(document.as_bytes()).unwrap_err(),
        ] {
            assert_eq!(error.to_string(), expected, "{document}");
            let category = if error.is_eof() { Category::Eof } else { Category::Syntax };
            assert_eq!(error.classify(), category);
        }
    }
    let large = format!("{{\"a\":\n[{}", "0,".repeat(100));
    let error = tight.from_str::<Value>(&large).unwrap_err();
    assert_eq!(error.to_string(), "a[26]: the document is larger than 60 bytes (line 2, column 55)");
    assert_eq!((error.limit(), error.offset()), (Some(60), Some(60)));
    let error = from_slice::<Value>(b"{\"a\":[0,\n\"x\xff\"]}").unwrap_err();
    assert_eq!(error.to_string(), "a[1]: invalid UTF-8 (line 2, column 3)");
    // Not validated before the UTF-8 check.
    for malformed in ["}]}]:,\"", "{:{:{:[,{\"\\q\":[\"", "{1{\"a\":", "\"\\"] {
        let document = [malformed.as_bytes(), b"\xff"].concat();
        assert!(from_slice::<Value>(&document).unwrap_err().is_syntax());
        let document =
            [&b"[{\"a\":".repeat(1000), &b"}]".repeat(1000), malformed.as_bytes(), b"\xff"].concat();
        assert!(from_slice::<Value>(&document).unwrap_err().is_syntax());
    }
}

#[test]
fn keys_and_paths_are_bounded() {
    let unusual = r#"{"a b":{"":{"1a":{"é_1":{"\u0061\"":{"\n":tru}}}}}}"#;
    let expected = r#"["a b"][""]["1a"].é_1["a\""]["\n"]"#;
    assert_eq!(fail::<Value>(unusual).path().unwrap().to_string(), expected);
    let error_at = |levels: usize| fail::<Value>(&format!("{}x", "[0,".repeat(levels)));
    let longest = error_at(32);
    let path = longest.path().unwrap();
    assert_eq!((path.segments().len(), path.is_truncated()), (32, false));
    let deeper = error_at(33);
    let path = deeper.path().unwrap();
    assert_eq!((path.segments().len(), path.is_truncated()), (32, true));
    assert_eq!(path.to_string(), "[1]".repeat(32) + "...");
    let long = format!("{{\"x{}\":tru}}", "é".repeat(10_000));
    let key = format!("x{}...", "é".repeat(31));
    let error = fail::<Value>(&long);
    assert_eq!(error.path().unwrap().segments(), [Segment::Key(key.clone())]);
    assert_eq!(error.to_string(), format!("[{:?}]: expected a value (line 1, column {})", key, 20_009));
}

#[derive(Serialize)]
struct Point<T> {
    x: T,
    y: T,
}

/// Fails after the first element.
struct Interrupted;

impl Serialize for Interrupted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut elements = serializer.serialize_seq(None)?;
        elements.serialize_element(&1)?;
        Err(serde::ser::Error::custom("interrupted"))
    }
}

#[test]
fn errors_of_encoding_have_a_path_but_no_position() {
    let points = BTreeMap::from([("points", [Point { x: 1.0, y: 2.0 }, Point { x: 1.0, y: f64::NAN }])]);
    let lists = [vec![BTreeMap::from([(vec![1], 1)])], vec![]];
    for codec in [Codec::strict(), Codec::compat(), Codec::fast()] {
        let nan = "points[1].y: NaN and infinity cannot be encoded as JSON";
        assert_eq!(codec.to_string(&points).unwrap_err().to_string(), nan);
        let mut buffer = b"[".to_vec();
        assert_eq!(codec.to_buf(&mut buffer, &points).unwrap_err().to_string(), nan);
        assert_eq!(buffer, b"[");
        let key = "[0][0]: map key is not a string, number, boolean or enum variant";
        assert_eq!(codec.to_string(&lists).unwrap_err().to_string(), key);
        assert_eq!(codec.to_string(&(1, Interrupted)).unwrap_err().to_string(), "[1]: interrupted");
        let error = codec.to_string(&f64::NAN).unwrap_err();
        assert_eq!((error.path(), error.line(), error.column(), error.offset()), (None, 0, 0, None));
        assert_eq!(error.classify(), Category::Data);
    }
}

#[test]
fn documents_of_a_stream_have_positions_of_their_own() {
    let mut decoder = Decoder::new(&b"[1]\n [\n true] [1 }"[..]);
    assert_eq!(decoder.decode::<Vec<u8>>().unwrap(), Some(vec![1]));
    let error = decoder.decode::<Vec<u8>>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "[0]: expected an unsigned 8-bit integer, found a boolean (line 2, column 2)"
    );
    assert_eq!(error.offset(), Some(8));
    let error = decoder.decode::<Vec<u8>>().unwrap_err();
    assert_eq!((error.line(), error.column(), error.offset()), (1, 4, Some(17)));
    let error = Decoder::new(&b"\n ]"[..]).decode::<Value>().unwrap_err();
    assert_eq!((error.line(), error.column(), error.offset()), (1, 1, Some(2)));
}

#[test]
fn lines_of_ndjson_are_counted() {
    let text = b"{\"a\":1}\r\n\n{\"a\":\n{\"a\":2}\n {\"a\":[]}\n\"12345678901234567890\"\n{\"a\":{}}";
    for step in 1..text.len() {
        let mut decoder = tightwire_json::LineDecoder::<BTreeMap<String, u8>>::new().max_line(20);
        let mut errors = Vec::new();
        for mut chunk in text.chunks(step) {
            while let Some(result) = decoder.next(&mut chunk) {
                errors.extend(result.err());
            }
        }
        errors.extend(decoder.finish().and_then(Result::err));
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "a: unexpected end of the document (line 3, column 6)",
                "a: expected an unsigned 8-bit integer, found an array (line 5, column 7)",
                "the line is longer than 20 bytes (line 6, column 21)",
                "a: expected an unsigned 8-bit integer, found an object (line 7, column 6)",
            ],
            "{step}"
        );
    }
}

#[test]
fn errors_convert_to_io_errors() {
    let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
    struct Failing(fn() -> io::Error);
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0())
        }
    }
    let error = tightwire_json::from_reader::<_, Value>(Failing(reset)).unwrap_err();
    assert_eq!((error.classify(), error.line(), error.path()), (Category::Io, 0, None));
    assert_eq!(error.io_error_kind(), Some(io::ErrorKind::ConnectionReset));
    let original = io::Error::from(error);
    assert_eq!(original.kind(), io::ErrorKind::ConnectionReset);
    assert!(original.get_ref().is_none(), "it is not wrapped");

    let tight = Codec::strict().with_limits(Limits::new().max_depth(1));
    for (error, kind) in [
        (fail::<Value>("[1"), io::ErrorKind::UnexpectedEof),
        (fail::<Value>("[1,]"), io::ErrorKind::InvalidData),
        (fail::<u8>("[]"), io::ErrorKind::InvalidData),
        (tight.from_str::<Value>("[[]]").unwrap_err(), io::ErrorKind::InvalidData),
        (to_string(&f64::NAN).unwrap_err(), io::ErrorKind::InvalidData),
    ] {
        assert_eq!(error.io_error_kind(), None);
        let message = error.to_string();
        let error = io::Error::from(error);
        assert_eq!((error.kind(), error.to_string()), (kind, message));
        assert!(error.get_ref().unwrap().is::<Error>());
    }
}

/// Any value without booleans.
struct Unbool;

impl<'de> Deserialize<'de> for Unbool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unbool {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no boolean")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while elements.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<String, Self>()?.is_some() {}
        Ok(self)
    }
}

fn unbool() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\"\\\\{}\\[\\],:\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..5).prop_map(Value::from),
            prop::collection::vec(("[a-c0/~ \"\\\\é:,{}\\[\\]\n]{0,3}", inner), 1..5)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Returns pointers to all values.
fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                pointers(element, &format!("{at}/{index}"), all);
            }
        }
        Value::Object(entries) => {
            for (key, value) in entries {
                pointers(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_path_leads_to_the_value_of_the_wrong_type(
        mut value in unbool(), place in any::<prop::sample::Index>(), pretty in any::<bool>()
    ) {
        let mut all = Vec::new();
        pointers(&value, "", &mut all);
        let replaced = place.get(&all);
        *value.pointer_mut(replaced).unwrap() = Value::Bool(true);
        let indent = if pretty { "  " } else { "" };
        let document = Codec::strict().to_vec_pretty(&value, indent).unwrap();
        let error = from_slice::<Unbool>(&document).err().unwrap();
        prop_assert_eq!(&pointer(error.path().map_or(&[][..], Path::segments)), replaced);
        prop_assert_eq!(value.pointer(&pointer(error.path().map_or(&[][..], Path::segments))), Some(&Value::Bool(true)));
        let offset = usize::try_from(error.offset().unwrap()).unwrap();
        prop_assert!(document[offset..].starts_with(b"true"));
        let line = document.split(|byte| *byte == b'\n').nth(error.line() - 1).unwrap();
        prop_assert!(line[error.column() - 1..].starts_with(b"true"));
    }

    #[test]
    fn malformed_documents_have_a_path_to_a_value_that_begins_before_the_error(document in support::mutated()) {
        let Err(error) = from_slice::<Value>(&document) else { return Ok(()) };
        let offset = usize::try_from(error.offset().unwrap()).unwrap();
        let before = &document[..offset];
        prop_assert_eq!(error.line(), before.iter().filter(|byte| **byte == b'\n').count() + 1);
        prop_assert_eq!(error.column(), before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1);
        if let Some(path) = error.path() {
            let opened = before.iter().filter(|byte| matches!(byte, b'{' | b'[')).count();
            prop_assert!(path.segments().len() <= opened);
        }
    }
}

#[test]
fn messages_name_the_cause() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only decoded")]
    struct Flattened {
        #[serde(flatten)]
        rest: BTreeMap<String, Box<RawValue>>,
    }
    for (document, message) in [
        ("[1,]", "comma before a closing bracket (line 1, column 4)"),
        ("[[1\n,\n ]]", "comma before a closing bracket (line 3, column 2)"),
        ("{\"a\": 1, }", "comma before a closing bracket (line 1, column 10)"),
        ("[,]", "expected a value (line 1, column 2)"),
        ("\u{feff}[]", "the document begins with a byte order mark (remove it) (line 1, column 1)"),
    ] {
        let stream = Decoder::new(document.as_bytes()).decode::<Value>().map(drop);
        for result in [
            from_str::<Value>(document).map(drop),
            from_str::<IgnoredAny>(document).map(drop),
            from_str::<Either>(document).map(drop),
            Codec::compat().with_written_numbers(true).from_str::<Value>(document).map(drop),
            Codec::strict().validate(document.as_bytes()),
            stream,
        ] {
            let error = result.unwrap_err();
            assert!(error.is_syntax() && error.to_string().ends_with(message), "{document}: {error}");
        }
    }
    let error = fail::<Flattened>("{\"x\":1}").to_string();
    assert!(error.contains("flattened field") && !error.contains("object"), "{error}");
    let error = fail::<u8>("300").to_string();
    assert_eq!(
        error,
        "expected an unsigned 8-bit integer, found a number that it cannot represent (line 1, column 1)"
    );
    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cause"))
        }
    }
    assert_eq!(tightwire_json::from_reader::<_, Value>(Failing).unwrap_err().to_string(), "the cause");
}
