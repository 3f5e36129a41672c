//! Comparison with serde_json itself: values, errors with their positions, and consumed bytes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::io::{self, Read as _, Write};

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_bytes::ByteBuf;

/// Everything that a deserializer passes to a visitor.
#[derive(Debug)]
#[expect(dead_code, reason = "only printed")]
enum Any {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(u64),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyVisitor;

        impl<'de> Visitor<'de> for AnyVisitor {
            type Value = Any;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_unit<E>(self) -> Result<Any, E> {
                Ok(Any::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Any, E> {
                Ok(Any::Bool(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Any, E> {
                Ok(Any::Unsigned(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Any, E> {
                Ok(Any::Signed(value))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Any, E> {
                Ok(Any::Float(value.to_bits()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Any, E> {
                Ok(Any::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Any, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = access.next_element()? {
                    elements.push(element);
                }
                Ok(Any::Array(elements))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Any, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    entries.push(entry);
                }
                Ok(Any::Object(entries))
            }
        }

        deserializer.deserialize_any(AnyVisitor)
    }
}

#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only printed")]
struct Record {
    id: u64,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    tags: Vec<char>,
    #[serde(default)]
    place: (i8, f32),
    #[serde(default)]
    unit: (),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only printed")]
enum Shape {
    Empty,
    Circle(f64),
    Line(i32, i32),
    Rectangle { width: u8, height: u8 },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[expect(dead_code, reason = "only printed")]
enum Tagged {
    A { x: f32 },
    B { y: Box<Shape> },
}

/// Defines a function that decodes a document in all ways, and describes the results.
macro_rules! outcomes {
    ($name:ident, $json:ident) => {
        fn $name<T: DeserializeOwned + Debug>(document: &[u8]) -> Vec<String> {
            fn text<T: Debug>(result: Result<T, $json::Error>) -> String {
                match result {
                    Ok(value) => format!("{value:?}"),
                    Err(error) => format!("{error} {error:?} {:?}", error.classify()),
                }
            }

            let mut outcomes = vec![
                format!("from_slice {}", text($json::from_slice::<T>(document))),
                format!("from_reader {}", text($json::from_reader::<_, T>(document))),
            ];
            if let Ok(document) = str::from_utf8(document) {
                outcomes.push(format!("from_str {}", text($json::from_str::<T>(document))));
            }
            let mut reader = document;
            let result = T::deserialize(&mut $json::Deserializer::from_reader(&mut reader));
            // After an error, the number of consumed bytes is unspecified.
            let rest = if result.is_ok() { reader.len() } else { 0 };
            outcomes.push(format!("deserialize {} {rest}", text(result)));
            let mut slices = $json::Deserializer::from_slice(document).into_iter::<T>();
            let mut readers = $json::Deserializer::from_reader(document).into_iter::<T>();
            for _ in 0..2 {
                let next = slices.next().map(text);
                // Behind an error, the offset is unspecified.
                let offset = next.as_ref().map(|_| slices.byte_offset());
                outcomes.push(format!("slice stream {next:?} {offset:?}"));
                let next = readers.next().map(text);
                outcomes.push(format!("reader stream {next:?} {}", readers.byte_offset()));
            }
            outcomes
        }
    };
}

outcomes!(ours, serde_json);
outcomes!(theirs, original);

fn compare<T: DeserializeOwned + Debug>(document: &[u8]) {
    let name = std::any::type_name::<T>();
    assert_eq!(ours::<T>(document), theirs::<T>(document), "{name} from {}", document.escape_ascii());
}

/// Compares the results of types that accept many documents.
fn compare_any(document: &[u8]) {
    compare::<Any>(document);
    compare::<IgnoredAny>(document);
    compare::<Record>(document);
    compare::<Shape>(document);
    compare::<ByteBuf>(document);
    compare::<BTreeMap<i32, bool>>(document);
}

fn compare_all(document: &[u8]) {
    compare_any(document);
    compare::<Tagged>(document);
    compare::<Option<bool>>(document);
    compare::<()>(document);
    compare::<u8>(document);
    compare::<i64>(document);
    compare::<u128>(document);
    compare::<i128>(document);
    compare::<f32>(document);
    compare::<f64>(document);
    compare::<char>(document);
    compare::<String>(document);
    compare::<Vec<Option<f64>>>(document);
    compare::<(u8, Shape)>(document);
    compare::<BTreeMap<String, IgnoredAny>>(document);
    compare::<BTreeMap<bool, u128>>(document);
}

const DOCUMENTS: &[&str] = &[
    "",
    " ",
    "null",
    " true ",
    "false false",
    "0",
    "-0",
    "-1",
    "255 256",
    "18446744073709551616",
    "-9223372036854775809",
    "340282366920938463463374607431768211456",
    "1.5e3",
    "-0.0",
    "3.4028236e38",
    "1e400",
    "1e400\n",
    "[1e400, 1e400]",
    "-1e-400",
    "12e99999999999",
    "12e9999999999 ",
    "0.1e-99999999999",
    "123456789012345678901234567890.5",
    "\"\"",
    "\"a\"",
    "\"\u{e9}\u{20ac}\u{1f600} text of more than sixteen bytes\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\ud83d\\n\"",
    "\"\\ud83d\\u0041\"",
    "\"\\ude00\"",
    "\"\\u12g4\"",
    "\"line\nbreak\"",
    "[]",
    "[1, 2.5, null]",
    "[\n [1 ,2],\n [ ] ]",
    "[1,]",
    "[,1]",
    "[1}",
    "[1 2]",
    "{}",
    "{\"id\": 7, \"name\": \"Ada\", \"tags\": [\"x\", \"\u{e9}\"], \"place\": [1, 2.5], \"unit\": null, \"more\": {\"a\": [1]}}",
    "{\"id\": 7, \"id\": 8}",
    "{\"id\": \"7\"}",
    "{\"name\": null}",
    "[7, \"Ada\", [\"x\"], [1, 2], null]",
    "[7, \"Ada\", [\"x\"], [1, 2], null, 1]",
    "\"Empty\"",
    "\"Circle\"",
    "{\"Circle\": 1.5}",
    "{\"Line\": [1, -2]}",
    "{\"Line\": [1, -2, 3]}",
    "{\"Line\": [1]}",
    "{\"Rectangle\": {\"width\": 1, \"height\": 2}}",
    "{\"Rectangle\": {\"width\": 1, \"depth\": 2}}",
    "{\"Empty\": null}",
    "{\"Empty\": null, \"Circle\": 1}",
    "{\"Unknown\": 1}",
    "{\"type\": \"a\", \"x\": 1.1}",
    "{\"y\": {\"Circle\": 1}, \"type\": \"b\"}",
    "{\"1\": true, \"-2\": false}",
    "{\"1\": true, \"x\": false}",
    "{\"1 \": true}",
    "{\"true\": 1, \"false\": 340282366920938463463374607431768211455}",
    "{\"trua\": 1}",
    "{\"other\": 1}",
    "{\"a\" 1}",
    "{\"a\": 1,}",
    "{1: 2}",
    "{\"a\": [true, {\"b\": \"\\ud800\"}, \"c\"]}",
    "[1]x",
    "1 2 3",
    "1\"a\"[true]{}null",
    "truefalse",
    "nul",
    "nulx",
    "+1",
    "01",
    "1.",
    "1.e1",
    "1e+",
    "-",
    "--1",
    "'a'",
    "\u{feff}1",
];

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn results_are_equal() {
    for document in DOCUMENTS {
        compare_all(document.as_bytes());
    }
    for depth in [126, 127, 128, 129, 200] {
        let open = "[".repeat(depth);
        compare_all(open.as_bytes());
        compare_all(format!("{open}{}", "]".repeat(depth)).as_bytes());
        compare_all("{\"a\":".repeat(depth).as_bytes());
    }
    for bytes in [
        &b"\"\xce\xf8\""[..],
        b"\"a\\n\xff\"",
        b"[\"\xc3\"]",
        b"{\"\xff\": 1}",
        b"\xff",
        b"\"\xe2\x82",
        b"\"\\u\xff\"",
    ] {
        compare_all(bytes);
    }
}

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn results_of_damaged_documents_are_equal() {
    for document in DOCUMENTS {
        let document = document.as_bytes();
        for at in 0..document.len() {
            compare_any(&document[..at]);
            for byte in *b"\"\\,}[1 \n\xff" {
                let mut damaged = document.to_vec();
                damaged[at] = byte;
                compare_any(&damaged);
            }
        }
    }
}

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn parsed_numbers_are_equal() {
    fn text(result: Result<impl ToString, impl ToString>) -> String {
        result.map_or_else(|error| error.to_string(), |number| number.to_string())
    }

    for number in [
        "",
        "-",
        "0",
        "-0",
        "00",
        "-01",
        "0.5",
        "1.",
        "0.",
        "-1.5e3",
        "1E5",
        "1e",
        "1e+",
        "1e-5",
        "x",
        "-x",
        "0x",
        "1.x",
        "0.x",
        "1ex",
        "1e-x",
        "1e400",
        "12e99999999999",
        "18446744073709551616",
        "null",
    ] {
        for rest in ["", " ", "0", "x", "0x", "\u{e9}"] {
            let number = format!("{number}{rest}");
            let (ours, theirs) = (number.parse::<serde_json::Number>(), number.parse::<original::Number>());
            assert_eq!(text(ours), text(theirs), "{number}");
        }
    }
}

/// Asserts that a value is encoded equally, or not at all for the same reason.
fn compare_encoding<T: Serialize + ?Sized>(value: &T) {
    macro_rules! outcomes {
        ($json:ident) => {{
            let text =
                |result: Result<String, $json::Error>| result.unwrap_or_else(|error| error.to_string());
            let (mut written, mut pretty) = (Vec::new(), Vec::new());
            let result = $json::to_writer(&mut written, value).map(|()| String::new());
            let pretty_result = $json::to_writer_pretty(&mut pretty, value).map(|()| String::new());
            [
                text($json::to_string(value)),
                text($json::to_string_pretty(value)),
                text(result),
                String::from_utf8(written).unwrap(),
                text(pretty_result),
                String::from_utf8(pretty).unwrap(),
                text($json::to_value(value).map(|value| value.to_string())),
            ]
        }};
    }
    assert_eq!(outcomes!(serde_json), outcomes!(original));
}

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn encodings_are_equal() {
    #[derive(Serialize)]
    enum Kind {
        Unit,
        Newtype(f32),
        Tuple(u8, Option<i8>),
        Struct { a: &'static str, b: [u8; 0] },
        EmptyStruct {},
    }

    struct Keys<K>(Vec<K>);

    impl<K: Serialize> Serialize for Keys<K> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|key| (key, ())))
        }
    }

    for value in [0.0, -0.0, 1.5, 1e21, 1e-7, 0.1, f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY] {
        compare_encoding(&value);
        compare_encoding(&(value as f32));
    }
    for value in [0, 1, 9, 10, 99_999_999, 100_000_000, u64::MAX] {
        compare_encoding(&value);
        compare_encoding(&value.cast_signed());
        compare_encoding(&(i128::from(value) * i128::from(i64::MIN)));
        compare_encoding(&(u128::from(value) * u128::from(value)));
        compare_encoding(&BTreeMap::from([(value, value.cast_signed())]));
    }
    for text in ["", "a", "\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}\u{e9}\u{2028}", &"long ".repeat(20)] {
        compare_encoding(text);
        compare_encoding(&BTreeMap::from([(text, Some(text)), ("none", None)]));
        compare_encoding(&format_args!("{text} and {text}"));
        compare_encoding(&text.chars().collect::<Vec<_>>());
    }
    compare_encoding(&[
        Kind::Unit,
        Kind::Newtype(0.1),
        Kind::Tuple(1, None),
        Kind::Struct { a: "x\n", b: [] },
        Kind::EmptyStruct {},
    ]);
    compare_encoding(&(
        Vec::<()>::new(),
        BTreeMap::<char, ()>::new(),
        ((), [[true]]),
        serde_bytes::Bytes::new(b"ab"),
    ));
    compare_encoding(&BTreeMap::from([(true, 1), (false, 2)]));
    compare_encoding(&BTreeMap::from([([1], 1)]));
    compare_encoding(&BTreeMap::from([(Some('x'), 1)]));
    compare_encoding(&BTreeMap::from([((), 1)]));
    compare_encoding(&Keys(vec![1.5, f32::NAN]));
    compare_encoding(&Keys(vec![1.5, f64::NAN]));
}

/// Reader that returns up to `size` bytes at once, after an interruption.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
    is_interrupted: bool,
}

impl io::Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.is_interrupted = !self.is_interrupted;
        if self.is_interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = self.size.min(out.len());
        self.rest.read(&mut out[..len])
    }
}

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn results_do_not_depend_on_the_pieces_of_a_reader() {
    fn text<T: Debug>(result: Result<T, impl ToString>) -> String {
        result.map_or_else(|error| error.to_string(), |value| format!("{value:?}"))
    }

    fn compare<T: DeserializeOwned + Debug>(document: &[u8], size: usize) {
        let pieces = || Pieces { rest: document, size, is_interrupted: false };
        let ours = text(serde_json::from_reader::<_, T>(pieces()));
        let theirs = text(original::from_reader::<_, T>(pieces()));
        assert_eq!(ours, theirs, "pieces of {size} bytes");
        let mut ours = serde_json::Deserializer::from_reader(pieces()).into_iter::<T>();
        let mut theirs = original::Deserializer::from_reader(pieces()).into_iter::<T>();
        for _ in 0..2 {
            assert_eq!(ours.next().map(text), theirs.next().map(text), "pieces of {size} bytes");
            assert_eq!(ours.byte_offset(), theirs.byte_offset(), "pieces of {size} bytes");
        }
    }

    for document in DOCUMENTS {
        for size in 1..8 {
            compare::<Any>(document.as_bytes(), size);
        }
    }
    // Longer than several blocks.
    let elements = "{\"key\\n\": [12345, -1.5e3, true, \"\u{e9}\", null], \"more\": {}}, ".repeat(400);
    let (space, text) = (" \n".repeat(20_000), "\u{e9} text".repeat(5000));
    for end in ["1]", "01]", "tru]", "\"\\x\"]", "\"a", "1]]"] {
        let document = format!("[{elements}{space}\"{text}\", {elements}\n{end}");
        for size in [7, 5000, usize::MAX] {
            compare::<Any>(document.as_bytes(), size);
            compare::<IgnoredAny>(document.as_bytes(), size);
        }
        let raw = serde_json::from_reader::<_, Box<serde_json::value::RawValue>>(document.as_bytes());
        if let Ok(raw) = raw {
            assert_eq!(raw.get(), document);
        }
    }
}

struct Failed;

impl io::Read for Failed {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::TimedOut.into())
    }
}

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn errors_of_readers_have_equal_positions() {
    fn compare<T: DeserializeOwned + Debug>(document: &str) {
        let reader = || document.as_bytes().chain(Failed);
        let ours = serde_json::from_reader::<_, T>(reader()).unwrap_err();
        let theirs = original::from_reader::<_, T>(reader()).unwrap_err();
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{document}");
        assert_eq!(ours.io_error_kind(), theirs.io_error_kind());
    }

    for document in [
        "",
        " ",
        "1",
        "-",
        "nul",
        "\"a",
        "[",
        "[1",
        "[nul",
        "[1,",
        "{\"id\"",
        "{\"id\":",
        "{\"id\": \"",
        "{\"id\": 1",
    ] {
        compare::<Any>(document);
        compare::<IgnoredAny>(document);
        compare::<bool>(document);
        compare::<u8>(document);
        compare::<Vec<bool>>(document);
        compare::<Record>(document);
        compare::<Shape>(document);
        compare::<Option<String>>(document);
    }
}

#[test]
#[cfg_attr(feature = "arbitrary_precision", ignore = "the original is built without it")]
fn failed_writers_receive_equal_bytes() {
    let value = (vec!["text"; 5000], BTreeMap::from([([1], 1)]));
    for len in [0, 1, 100, 8192, 20_000, 50_000] {
        macro_rules! outcome {
            ($json:ident) => {{
                let mut out = vec![0; len];
                let mut writer = &mut out[..];
                let result = $json::to_writer(&mut writer, &value).map_err(|error| error.to_string());
                (result, writer.len(), out)
            }};
        }
        assert_eq!(outcome!(serde_json), outcome!(original));
    }
}

/// Defines a formatter that records the calls of its methods.
macro_rules! recorder {
    ($name:ident, $json:ident) => {
        struct $name<'a>(&'a RefCell<Vec<String>>);

        impl $name<'_> {
            fn call(&self, call: impl Into<String>) -> io::Result<()> {
                self.0.borrow_mut().push(call.into());
                Ok(())
            }
        }

        recorder! {
            @formatter $name, $json;
            write_null() write_bool(bool) write_i8(i8) write_i16(i16) write_i32(i32) write_i64(i64) write_i128(i128)
            write_u8(u8) write_u16(u16) write_u32(u32) write_u64(u64) write_u128(u128) write_f32(f32) write_f64(f64)
            write_number_str(&str) begin_string() end_string() write_string_fragment(&str) begin_array() end_array()
            begin_array_value(bool) end_array_value() begin_object() end_object() begin_object_key(bool)
            end_object_key() begin_object_value() end_object_value() write_raw_fragment(&str)
        }
    };
    (@formatter $name:ident, $json:ident; $($method:ident($($type:ty)?))*) => {
        impl $json::ser::Formatter for $name<'_> {
            $(recorder!(@method $method $($type)?);)*

            fn write_char_escape<W: ?Sized + Write>(
                &mut self,
                _writer: &mut W,
                char_escape: $json::ser::CharEscape,
            ) -> io::Result<()> {
                use $json::ser::CharEscape as E;
                self.call(match char_escape {
                    E::Quote => "quote".to_owned(),
                    E::ReverseSolidus => "reverse solidus".to_owned(),
                    E::Solidus => "solidus".to_owned(),
                    E::Backspace => "backspace".to_owned(),
                    E::FormFeed => "form feed".to_owned(),
                    E::LineFeed => "line feed".to_owned(),
                    E::CarriageReturn => "carriage return".to_owned(),
                    E::Tab => "tab".to_owned(),
                    E::AsciiControl(byte) => format!("control {byte}"),
                })
            }
        }
    };
    (@method $method:ident) => {
        fn $method<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
            self.call(stringify!($method))
        }
    };
    (@method $method:ident $type:ty) => {
        fn $method<W: ?Sized + Write>(&mut self, _writer: &mut W, value: $type) -> io::Result<()> {
            self.call(format!("{} {value:?}", stringify!($method)))
        }
    };
}

recorder!(OurCalls, serde_json);
recorder!(TheirCalls, original);

#[test]
fn formatters_are_called_equally() {
    fn compare<T: Serialize + ?Sized>(value: &T) {
        let (ours, theirs) = (RefCell::default(), RefCell::default());
        value.serialize(&mut serde_json::Serializer::with_formatter(Vec::new(), OurCalls(&ours))).unwrap();
        value.serialize(&mut original::Serializer::with_formatter(Vec::new(), TheirCalls(&theirs))).unwrap();
        assert_eq!(ours, theirs);
    }

    #[derive(Serialize)]
    enum Kind {
        Tuple(u8, f32),
        Struct { a: Option<char>, b: [(); 0] },
        Newtype(&'static str),
    }

    compare(&[
        Kind::Tuple(1, 0.5),
        Kind::Struct { a: Some('"'), b: [] },
        Kind::Newtype("a\"\\\n\u{1}\u{e9}b\t"),
    ]);
    compare(&(true, None::<()>, "", f64::NAN, -1.5, i128::MIN, serde_bytes::Bytes::new(b"ab")));
    compare(&BTreeMap::from([(1, "x"), (-2, "")]));
    compare(&BTreeMap::from([(true, ()), (false, ())]));
    compare(&BTreeMap::from([("key\r", Vec::<u8>::new())]));
    compare(&format_args!("{} and {:?}", "a\u{8}", "b\u{c}"));
}
