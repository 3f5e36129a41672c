//! `Mode::Canonical`: RFC 8785.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::{Serialize, Serializer};
use serde_bytes::Bytes;
use test_support::optional;
use tightwire_json::{Codec, Value, from_str};

use crate::encode::Unchecked;
use crate::support::{self, outcome};

const CODEC: Codec = Codec::canonical();

#[test]
fn documents_of_the_rfc_are_canonicalized() {
    for (document, expected) in [
        // Sections 3.2.2 and 3.2.3.
        (
            r#"{
                "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                "literals": [null, true, false]
            }"#,
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
        ),
        // The order in section 3.2.3.
        (
            r#"{"\u20ac": 6, "\r": 1, "\ufb33": 8, "1": 2, "\ud83d\ude00": 7, "\u0080": 4, "\u00f6": 5, "</script>": 3}"#,
            "{\"\\r\":1,\"1\":2,\"</script>\":3,\"\u{80}\":4,\"ö\":5,\"€\":6,\"😀\":7,\"\u{fb33}\":8}",
        ),
        (
            r#" { "1" : {"f": {"f": "hi","F": 5} ,"\n": 56.0}, "10": { }, "": "empty", "a": { }, "111": [ {"e": -0} ] } "#,
            r#"{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"e":0}],"a":{}}"#,
        ),
        // Strings are not normalized, and only the required characters are escaped.
        ("\"A\\u030a \\u007f\\u2028\\b\\f\\t\\u001F<\"", "\"A\u{30a} \u{7f}\u{2028}\\b\\f\\t\\u001f<\""),
        // Numbers whose canonical text is an integer.
        ("[9223372036854775808.0, 9223372036854776000]", "[9223372036854776000,9223372036854776000]"),
        ("[1e20, 1e21, 100000000000000000000000]", "[100000000000000000000,1e+21,1e+23]"),
    ] {
        assert_eq!(CODEC.to_string(&Unchecked(document)).unwrap(), expected);
        assert_eq!(CODEC.to_string(&from_str::<Value>(document).unwrap()).unwrap(), expected);
        assert_eq!(CODEC.to_string(&Unchecked(expected)).unwrap(), expected);
    }
}

#[derive(Serialize)]
struct Fields<T> {
    b: T,
    #[serde(rename = "é")]
    accent: u8,
    #[serde(rename = "a\n")]
    escaped: (),
    a: Option<Box<Self>>,
}

#[derive(Serialize)]
enum Variant<T> {
    Named { z: T, y: u8 },
    Newtype(T),
}

#[test]
fn fields_of_structs_are_sorted_at_every_level() {
    let inner = Fields { b: HashMap::new(), accent: 1, escaped: (), a: None };
    let outer =
        Fields { b: HashMap::from([("y", 1), ("x", 2)]), accent: 3, escaped: (), a: Some(Box::new(inner)) };
    let fields = r#"{"a":{"a":null,"a\n":null,"b":{},"é":1},"a\n":null,"b":{"x":2,"y":1},"é":3}"#;
    assert_eq!(CODEC.to_string(&outer).unwrap(), fields);
    let variants = [Variant::Named { z: &outer, y: 1 }, Variant::Newtype(&outer)];
    let expected = format!(r#"[{{"Named":{{"y":1,"z":{fields}}}}},{{"Newtype":{fields}}}]"#);
    assert_eq!(CODEC.to_string(&variants).unwrap(), expected);
    let pretty = CODEC.to_vec_pretty(&Unchecked(r#"{"b":[1.0],"a":{}}"#), " ").unwrap();
    assert_eq!(pretty, b"{\n \"a\": {},\n \"b\": [\n  1\n ]\n}");
}

#[test]
fn numbers_are_written_as_by_ecmascript() {
    assert_eq!(
        CODEC.to_string(&(0.1_f32, -0.0_f32, 1e10_f32)).unwrap(),
        "[0.10000000149011612,0,10000000000]"
    );
    assert_eq!(
        CODEC.to_string(&[i64::from(u32::MAX), -(1 << 53)]).unwrap(),
        "[4294967295,-9007199254740992]"
    );
    assert_eq!(CODEC.to_string(&Bytes::new(&[0, 255])).unwrap(), "[0,255]");
    // Keys are strings.
    let keys = BTreeMap::from([(u64::MAX, 1.5), (9, 0.0)]);
    assert_eq!(CODEC.to_string(&keys).unwrap(), r#"{"18446744073709551615":1.5,"9":0}"#);
}

/// Map whose entries are serialized in this order.
struct Entries<T: 'static>(&'static [(T, u8)]);

impl<T: Serialize> Serialize for Entries<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[test]
fn values_without_canonical_form_are_errors() {
    #[derive(Serialize)]
    struct Twice {
        a: u8,
        #[serde(rename = "a")]
        b: u8,
    }
    #[derive(Serialize)]
    struct Flattened {
        id: u8,
        #[serde(flatten)]
        more: HashMap<&'static str, u8>,
    }
    fn check(value: &impl Serialize) {
        let mut buffer = b"before".to_vec();
        let result = CODEC.to_buf(&mut buffer, &[value]);
        assert_eq!(outcome(result), Err(("encode", None)), "{}", Codec::fast().to_string(value).unwrap());
        assert_eq!(buffer, b"before");
    }
    for integer in [(1_i128 << 53) + 1, -(1 << 53) - 1, i128::from(i64::MAX), i128::from(u64::MAX), i128::MIN]
    {
        check(&integer);
        if let Ok(integer) = i64::try_from(integer) {
            check(&integer);
        }
        if let Ok(integer) = u64::try_from(integer) {
            check(&integer);
            check(&Unchecked(&integer.to_string()));
        }
    }
    check(&Twice { a: 1, b: 2 });
    check(&Flattened { id: 1, more: HashMap::from([("id", 2)]) });
    check(&Entries(&[("a", 1), ("b", 2), ("a", 3)]));
    check(&Entries(&[("a", 1), ("a", 1)]));
    check(&Entries(&[("a\n", 1), ("a\n", 1)]));
    check(&Entries(&[(0.0, 1), (-0.0, 2)]));
    for raw in [
        r#"{"a":1,"a":1}"#,
        r#"[{"b":{"a":1,"b":2,"\u0061":1}}]"#,
        r#""\ud800""#,
        r#"{"\udc00":1}"#,
        r#"["\ud800\u0041"]"#,
        "1e400",
        "-9007199254740993",
        "",
        "1 2",
        "{bad",
        "\"\u{1}\"",
    ] {
        check(&Unchecked(raw));
    }
    assert!(CODEC.to_vec(&f64::NAN).unwrap_err().is_encode());
    assert!(CODEC.to_vec(&f32::INFINITY).unwrap_err().is_encode());
    // The same keys in different objects are no duplicates.
    let raw = r#"[{"a":{"a":[{"a":1}],"A":1}},{"a":1}]"#;
    assert_eq!(CODEC.to_string(&Unchecked(raw)).unwrap(), r#"[{"a":{"A":1,"a":[{"a":1}]}},{"a":1}]"#);
}

#[test]
fn decoding_rejects_duplicate_keys_by_default() {
    let text = r#" {"a":1, "\u0061":2}"#;
    assert_eq!(outcome(CODEC.from_str::<Value>(text)), Err(("syntax", Some(9))));
    assert!(!CODEC.is_valid(text.as_bytes()));
    let lenient = CODEC.with_duplicates(tightwire_json::Duplicates::Last);
    assert_eq!(lenient.from_str::<Value>(text).unwrap()["a"], 2);
    assert!(CODEC.from_str::<Value>(r#""\ud800""#).unwrap_err().is_syntax());
    assert_eq!(CODEC.from_str::<Value>(" 1.0 ").unwrap(), 1.0);
}

#[test]
fn deep_raw_values_are_sorted_without_recursion() {
    const LEVELS: usize = 100_000;
    let raw = r#"{"b":1,"a":"#.repeat(LEVELS) + "[]" + &"}".repeat(LEVELS);
    let expected = r#"{"a":"#.repeat(LEVELS) + "[]" + &r#","b":1}"#.repeat(LEVELS);
    assert!(CODEC.to_string(&Unchecked(&raw)).unwrap() == expected);
}

/// Value whose objects are serialized in this order.
#[derive(Debug, Clone)]
enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::Array(values) => values.serialize(serializer),
            Self::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// Returns the document that has the keys of each object sorted by their UTF-16 code units.
fn reference(tree: &Tree) -> String {
    match tree {
        Tree::Array(values) => format!("[{}]", values.iter().map(reference).collect::<Vec<_>>().join(",")),
        Tree::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| key.encode_utf16().collect::<Vec<_>>());
            let entries = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", serde_json::to_string(key).unwrap(), reference(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        // Other tests compare numbers with ECMAScript.
        leaf => CODEC.to_string(leaf).unwrap(),
    }
}

/// Returns the tree with the entries of all objects in reverse order.
fn reversed(tree: &Tree) -> Tree {
    match tree {
        Tree::Array(values) => Tree::Array(values.iter().map(reversed).collect()),
        Tree::Object(entries) => {
            Tree::Object(entries.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect())
        }
        leaf => leaf.clone(),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        "[\\x00-\\x7f]{0,5}",
        // Characters whose order differs between UTF-8 and UTF-16.
        "[a\"\\\\\n\u{7f}-\u{ff}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{1f600}\u{10ffff}]{0,3}",
        prop::sample::select(vec!["__proto__", "10", "9", "-1", "toString"]).prop_map(str::to_owned),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        any::<f64>().prop_map(Tree::Number),
        any::<i32>().prop_map(|value| Tree::Number(value.into())),
        text().prop_map(Tree::Text),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Array),
            prop::collection::hash_map(text(), inner, 0..6)
                .prop_map(|map| Tree::Object(map.into_iter().collect())),
        ]
    })
}

/// Returns whether two values are equal if all numbers are doubles.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_output_does_not_depend_on_the_order_of_iteration(tree in tree(), before in "[a-z]{0,3}") {
        let expected = reference(&tree);
        prop_assert_eq!(&CODEC.to_string(&tree).unwrap(), &expected);
        prop_assert_eq!(&CODEC.to_string(&reversed(&tree)).unwrap(), &expected);
        let raw = Codec::strict().to_string(&tree).unwrap();
        prop_assert_eq!(&CODEC.to_string(&Unchecked(&raw)).unwrap(), &expected);
        let mut buffer = before.clone().into_bytes();
        CODEC.to_buf(&mut buffer, &[&tree]).unwrap();
        prop_assert_eq!(String::from_utf8(buffer).unwrap(), format!("{before}[{expected}]"));
    }

    #[test]
    fn canonical_documents_are_a_fixed_point_and_have_the_same_value(document in support::document()) {
        let value = CODEC.from_str::<Value>(&document);
        let Ok(output) = CODEC.to_string(&Unchecked(&document)) else {
            prop_assert!(value.is_err() || CODEC.to_vec(&value.unwrap()).unwrap_err().is_encode());
            return Ok(());
        };
        let value = value.unwrap();
        prop_assert_eq!(&CODEC.to_string(&value).unwrap(), &output);
        let read = CODEC.from_str::<Value>(&output).unwrap();
        prop_assert!(same(&read, &value));
        prop_assert_eq!(&CODEC.to_string(&read).unwrap(), &output);
        prop_assert_eq!(&CODEC.to_string(&Unchecked(&output)).unwrap(), &output);
        let pretty = CODEC.to_vec_pretty(&value, "\t").unwrap();
        prop_assert_eq!(CODEC.from_slice::<Value>(&pretty).unwrap(), read);
    }

    #[test]
    fn integers_keep_their_value_or_are_errors(value: i128, shift in 0_u32..128) {
        let value = value >> shift;
        match CODEC.to_string(&value) {
            Ok(text) => {
                prop_assert_eq!(text.parse::<i128>().unwrap(), value);
                prop_assert_eq!(CODEC.to_string(&text.parse::<f64>().unwrap()).unwrap(), text);
            }
            Err(_) => prop_assert!(value.unsigned_abs() > 1 << 53),
        }
    }
}

/// Returns the output of `tests/node/canonical.js`, or `None` after a message if Node.js is missing.
fn node(operation: &str, input: String) -> Option<String> {
    let Some(program) = optional::program("node") else {
        optional::skip("node is not on the search path");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node/canonical.js");
    let output = optional::output_with_input(Command::new(program).arg(script).arg(operation), input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn documents_equal_those_of_node() {
    let mut runner = TestRunner::deterministic();
    let strategy = tree();
    let trees: Vec<_> = (0..4_000).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
    let input: String = trees.iter().map(|tree| Codec::strict().to_string(tree).unwrap() + "\n").collect();
    let Some(output) = node("documents", input.clone()) else { return };
    let theirs: Vec<_> = output.split_terminator('\n').collect();
    assert_eq!(theirs.len(), trees.len());
    for ((tree, line), theirs) in trees.iter().zip(input.lines()).zip(theirs) {
        assert_eq!(CODEC.to_string(tree).unwrap(), theirs);
        assert_eq!(CODEC.to_string(&Unchecked(line)).unwrap(), theirs);
    }
}

/// Returns finite doubles of all kinds, the same ones in every run.
fn doubles() -> impl Iterator<Item = f64> {
    // SplitMix64.
    let mut state = 0_u64;
    let mut random = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    };
    let near = |value: f64, distance: u64| f64::from_bits((value.to_bits() + distance).saturating_sub(2048));
    let doubles = (0_u32..8).cycle().map(move |kind| {
        let (bits, choice) = (random(), random());
        let (sign, choice) = (if choice & 1 == 0 { 1.0 } else { -1.0 }, choice >> 1);
        sign * match kind {
            0 => f64::from_bits(bits),
            // Integers of all lengths.
            1 => (bits >> (choice % 64)) as f64,
            // Short decimals, and numbers of up to 17 digits.
            2 => {
                let digits = bits % 10_u64.pow(1 + (choice % 17) as u32);
                format!("{digits}e-{}", choice / 17 % 30).parse().unwrap()
            }
            // Powers of ten and of two, and the doubles around them.
            3 => near(format!("1e{}", (choice % 632) as i32 - 323).parse().unwrap(), 2046 + bits % 5),
            4 => near(f64::from_bits((choice % 2047) << 52), 2046 + bits % 5),
            // Subnormal numbers.
            5 => f64::from_bits(bits >> 12 >> (choice % 52)),
            // Around the limits of the notations, and of exact integers.
            6 => near(
                [1e-7, 1e-6, 1e20, 1e21, 1e22, 9_007_199_254_740_992.0][(choice % 6) as usize],
                bits % 4096,
            ),
            // Sums of powers of two.
            _ => (bits >> (11 + choice % 53)) as f64 / (1_u64 << (choice / 53 % 64)) as f64,
        }
    });
    doubles.filter(|value| value.is_finite())
}

/// `TIGHTWIRE_NUMBERS` sets the number of doubles. Ten million take about 20 seconds:
///
/// `TIGHTWIRE_NUMBERS=10000000 cargo test --release -p tightwire-json --test it numbers_equal_those_of_node`
#[test]
fn numbers_equal_those_of_node() {
    let count = std::env::var("TIGHTWIRE_NUMBERS").map_or(200_000, |count| count.parse().unwrap());
    let mut doubles = doubles().take(count);
    let mut ours = Vec::new();
    loop {
        let part: Vec<_> = doubles.by_ref().take(200_000).collect();
        if part.is_empty() {
            return;
        }
        let input = part.iter().fold(String::new(), |mut input, value| {
            write!(input, "{:016x}", value.to_bits()).unwrap();
            input
        });
        let Some(output) = node("numbers", input) else { return };
        let theirs: Vec<_> = output.split_terminator('\n').collect();
        assert_eq!(theirs.len(), part.len());
        for (value, theirs) in part.into_iter().zip(theirs) {
            ours.clear();
            CODEC.to_buf(&mut ours, &value).unwrap();
            assert_eq!(std::str::from_utf8(&ours).unwrap(), theirs, "{value:e}");
        }
    }
}
