//! `Mode::Compat` against Go's `encoding/json`, byte for byte.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::{Serialize, Serializer};
use test_support::optional;
use tightwire_json::{Codec, RawValue};

/// Number of generated values, in addition to the hand-written ones.
const GENERATED: usize = 4_000;

/// Value that Rust and Go can both build.
#[derive(Debug, Clone)]
enum Value {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Double(f64),
    Float(f32),
    Text(String),
    Bytes(Vec<u8>),
    Raw(String),
    Array(Vec<Self>),
    /// Serialized in the random order of a hash map.
    Map(BTreeMap<String, Self>),
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Signed(value) => serializer.serialize_i64(*value),
            Self::Unsigned(value) => serializer.serialize_u64(*value),
            Self::Double(value) => serializer.serialize_f64(*value),
            Self::Float(value) => serializer.serialize_f32(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Bytes(value) => serializer.serialize_bytes(value),
            Self::Raw(value) => RawValue::from_string(value.clone()).unwrap().serialize(serializer),
            Self::Array(values) => values.serialize(serializer),
            Self::Map(values) => values.iter().collect::<HashMap<_, _>>().serialize(serializer),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Returns the value in the notation that `tests/go/main.go` parses.
fn words(value: &Value) -> String {
    match value {
        Value::Null => "n".to_owned(),
        Value::Bool(true) => "t".to_owned(),
        Value::Bool(false) => "f".to_owned(),
        Value::Signed(value) => format!("i {value}"),
        Value::Unsigned(value) => format!("u {value}"),
        Value::Double(value) => format!("d {:x}", value.to_bits()),
        Value::Float(value) => format!("e {:x}", value.to_bits()),
        Value::Text(value) => format!("s {}", hex(value.as_bytes())),
        Value::Bytes(value) => format!("b {}", hex(value)),
        Value::Raw(value) => format!("r {}", hex(value.as_bytes())),
        Value::Array(values) => values.iter().fold(format!("a {}", values.len()), |mut text, value| {
            write!(text, " {}", words(value)).unwrap();
            text
        }),
        Value::Map(values) => values.iter().fold(format!("m {}", values.len()), |mut text, (key, value)| {
            write!(text, " {} {}", hex(key.as_bytes()), words(value)).unwrap();
            text
        }),
    }
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-30_i32..30, 1_u64..100_000).prop_map(|(exponent, digits)| digits as f64 * 10_f64.powi(exponent)),
        any::<i32>().prop_map(f64::from),
    ]
    .prop_filter("finite", |value| value.is_finite())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,40}",
        "\\PC{0,10}",
        "[\\x00-\\x7f<>&\u{2028}\u{2029}\u{2027}\u{e9}\u{1f600}\"\\\\]{0,40}"
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let raw = prop::sample::select(vec![
        "{ \"b\" : \"<\\n>\" , \"a\":[1 , 2.50]}",
        " [ ] ",
        "\"\u{2028}\\u003c&\"",
        "1E+3",
        "[{}, \"a b\\\"<\"]",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Signed),
        any::<u64>().prop_map(Value::Unsigned),
        double().prop_map(Value::Double),
        any::<f32>().prop_filter("finite", |value| value.is_finite()).prop_map(Value::Float),
        text().prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Value::Bytes),
        raw.prop_map(|raw| Value::Raw(raw.to_owned())),
    ];
    leaf.prop_recursive(3, 30, 8, |value| {
        prop_oneof![
            prop::collection::vec(value.clone(), 0..8).prop_map(Value::Array),
            prop::collection::btree_map(text(), value, 0..8).prop_map(Value::Map),
        ]
    })
}

/// Returns edge cases of the formatting rules.
fn edge_cases() -> Vec<Value> {
    let doubles = [
        0.0,
        -0.0,
        1.0,
        100.0,
        1e-6,
        1e-6_f64.next_down(),
        1e-7,
        1e-9,
        1e-10,
        1e-100,
        1e20,
        1e21,
        1.5e21,
        1e22,
        1e100,
        5e-324,
        f64::MAX,
        f64::MIN,
        f64::EPSILON,
        123_456_789.125,
        0.1 + 0.2,
        9_007_199_254_740_993.0,
    ];
    let floats = [0.0, -0.0, 1e-6, 9.999_999e-7, 1e-7, 1e20, 1e21, 3.4e38, 1e-45, 16_777_216.0, 0.1];
    let mut values: Vec<_> = doubles.into_iter().map(Value::Double).collect();
    values.extend(floats.into_iter().map(Value::Float));
    values.extend(
        (0..=0x20_u8)
            .chain([0x22, 0x26, 0x3c, 0x3e, 0x5c, 0x7f])
            .map(|byte| Value::Text(format!("a{}b", char::from(byte)))),
    );
    let keys = ["b", "a", "10", "9", "<", "\u{e9}", "\u{1f600}", "\u{ffff}", "", "a\n", "a\"", "A", "\n"];
    values.push(Value::Map(keys.into_iter().map(|key| (key.to_owned(), Value::Null)).collect()));
    values
}

#[test]
fn compat_output_equals_that_of_go() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/go");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gocompat");
    let Some(program) = optional::go_program(&source, ".", program) else { return };
    let mut runner = TestRunner::deterministic();
    let strategy = value();
    let mut values = edge_cases();
    values.extend((0..GENERATED).map(|_| strategy.new_tree(&mut runner).unwrap().current()));

    let lines: String = values.iter().map(|value| words(value) + "\n").collect();
    let output = optional::output_with_input(&mut Command::new(program), lines);
    assert!(output.status.success());

    let theirs: Vec<_> = output.stdout.split(|byte| *byte == b'\n').collect();
    assert_eq!(theirs.len(), values.len() + 1);
    for (value, theirs) in values.iter().zip(theirs) {
        let ours = Codec::compat().to_vec(value).unwrap();
        assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(theirs), "{value:?}");
    }
}

#[test]
fn line_breaks_in_base64_are_ignored() {
    for text in ["aGVsbG8=", "aGVs\\nbG8=", "\\r\\na\\nGVsbG8\\r\\n=\\n"] {
        let bytes = Codec::compat().from_str::<serde_bytes::ByteBuf>(&format!("\"{text}\"")).unwrap();
        assert_eq!(bytes, b"hello");
    }
    assert!(Codec::compat().from_str::<serde_bytes::ByteBuf>("\"aGVs bG8=\"").unwrap_err().is_data());
}
