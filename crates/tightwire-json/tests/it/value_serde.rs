//! Trees as a source and target of serde, and numbers as written. Compared with serde_json.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};

use proptest::prelude::*;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer as _, IgnoredAny, IntoDeserializer, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};
use tightwire_json::de::{Deserializer, StrRead};
use tightwire_json::{
    Codec, Error, Limits, Map, Number, RawValue, Value, from_str, from_value, json, to_string, to_value,
};

use super::value::theirs;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    Newtype(i32),
    Tuple(u8, Option<String>),
    Struct { a: bool, b: Vec<Self> },
    Empty {},
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    Map(BTreeMap<String, Self>),
    List(Vec<Self>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    A { a: u8 },
    B(BTreeMap<String, f64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Name {
    A,
    B,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Id(u16);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    shape: Vec<Shape>,
    tagged: Tagged,
    by_number: BTreeMap<i8, bool>,
    by_bool: BTreeMap<bool, (u8, char)>,
    by_name: BTreeMap<Name, Option<f64>>,
    by_id: BTreeMap<Id, ()>,
    wide: i128,
    single: f32,
    #[serde(flatten)]
    rest: BTreeMap<String, Untagged>,
    value: Value,
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Unit),
        Just(Shape::Empty {}),
        any::<i32>().prop_map(Shape::Newtype),
        (any::<u8>(), any::<Option<String>>()).prop_map(|(number, text)| Shape::Tuple(number, text)),
    ];
    leaf.prop_recursive(3, 10, 3, |shape| {
        (any::<bool>(), prop::collection::vec(shape, 0..3)).prop_map(|(a, b)| Shape::Struct { a, b })
    })
}

fn everything() -> impl Strategy<Value = Everything> {
    let finite = || any::<f64>().prop_filter("finite", |number| number.is_finite());
    let tagged = prop_oneof![
        any::<u8>().prop_map(|a| Tagged::A { a }),
        prop::collection::btree_map("[a-c]", finite(), 0..3).prop_map(Tagged::B),
    ];
    let untagged = prop_oneof![
        any::<i64>().prop_map(Untagged::Number),
        any::<String>().prop_map(Untagged::Text),
        prop::collection::vec(any::<i64>().prop_map(Untagged::Number), 0..3).prop_map(Untagged::List),
    ];
    let maps = (
        any::<BTreeMap<i8, bool>>(),
        any::<BTreeMap<bool, (u8, char)>>(),
        prop::option::of(finite()).prop_map(|number| BTreeMap::from([(Name::B, number), (Name::A, None)])),
        any::<u16>().prop_map(|id| BTreeMap::from([(Id(id), ())])),
    );
    let numbers = (any::<i64>(), any::<f32>().prop_filter("finite", |number| number.is_finite()));
    let rest = prop::collection::btree_map("x[a-z]{0,3}", untagged, 0..3);
    let shapes = prop::collection::vec(shape(), 0..3);
    (shapes, tagged, maps, numbers, rest, theirs()).prop_map(|(shape, tagged, maps, numbers, rest, value)| {
        Everything {
            shape,
            tagged,
            by_number: maps.0,
            by_bool: maps.1,
            by_name: maps.2,
            by_id: maps.3,
            wide: numbers.0.into(),
            single: numbers.1,
            rest,
            value: to_value(value).unwrap(),
        }
    })
}

/// Asserts that the conversion from a tree, owned and borrowed, equals that of serde_json.
fn same<T: DeserializeOwned + Debug>(theirs: &serde_json::Value) -> Result<(), TestCaseError> {
    let ours = to_value(theirs).unwrap();
    let expected = serde_json::from_value::<T>(theirs.clone()).map_err(|_| ());
    for actual in [T::deserialize(&ours), from_value(ours.clone())] {
        prop_assert!(actual.as_ref().err().is_none_or(Error::is_data));
        prop_assert_eq!(format!("{:?}", actual.map_err(|_| ())), format!("{:?}", expected), "{}", theirs);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn types_are_converted_as_by_serde_json(value in everything()) {
        let tree = to_value(&value).unwrap();
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::to_value(&tree).unwrap(), from_str::<serde_json::Value>(&text).unwrap());
        prop_assert_eq!(&Everything::deserialize(&tree).unwrap(), &value);
        prop_assert_eq!(&Everything::deserialize(tree.as_object().unwrap()).unwrap(), &value);
        prop_assert_eq!(from_value::<Everything>(tree).unwrap(), value);
    }

    #[test]
    fn trees_are_converted_as_by_serde_json(theirs in theirs()) {
        same::<serde_json::Value>(&theirs)?;
        same::<IgnoredAny>(&theirs)?;
        same::<Untagged>(&theirs)?;
        same::<Vec<Untagged>>(&theirs)?;
        same::<Option<bool>>(&theirs)?;
        same::<i8>(&theirs)?;
        same::<u128>(&theirs)?;
        same::<f64>(&theirs)?;
        same::<String>(&theirs)?;
        same::<char>(&theirs)?;
        same::<()>(&theirs)?;
        same::<(Option<i64>, serde_json::Value)>(&theirs)?;
        same::<BTreeMap<String, serde_json::Value>>(&theirs)?;
        same::<BTreeMap<u8, IgnoredAny>>(&theirs)?;
        same::<serde_bytes::ByteBuf>(&theirs)?;
        same::<Box<serde_json::value::RawValue>>(&theirs)?;
    }

    #[test]
    fn trees_are_read_from_other_deserializers(theirs in theirs()) {
        let ours = to_value(&theirs).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Value>(theirs.clone()).unwrap(), &ours);
        prop_assert_eq!(&from_value::<Value>(ours.clone()).unwrap(), &ours);
        prop_assert_eq!(&Value::deserialize(&ours).unwrap(), &ours);
    }

    #[test]
    fn written_numbers_keep_their_text(text in "-?(0|[1-9][0-9]{0,30})([.][0-9]{1,20})?([eE][+-]?[0-9]{1,2})?") {
        let number = Number::from_written(&text).unwrap();
        prop_assert_eq!(number.as_written(), Some(&text[..]));
        prop_assert_eq!(&number.to_string(), &text);
        let tree = json!({"a": [number]});
        let document = format!("{{\"a\":[{text}]}}");
        for codec in [Codec::strict(), Codec::compat(), Codec::fast()] {
            prop_assert_eq!(&codec.to_string(&tree).unwrap(), &document);
        }
        prop_assert_eq!(&tree.to_string(), &document);
        prop_assert_eq!(&to_value(&tree).unwrap(), &tree);
        prop_assert_eq!(&from_value::<Value>(tree.clone()).unwrap(), &tree);
        prop_assert_eq!(&HashMap::<String, Vec<Number>>::deserialize(&tree).unwrap()["a"][0], &number);
        let codec = Codec::strict().with_written_numbers(true);
        prop_assert_eq!(&codec.from_str::<Value>(&document).unwrap(), &tree);
        let mut deserializer = Deserializer::with_codec(StrRead::new(&document), codec);
        prop_assert_eq!(&Value::deserialize(&mut deserializer).unwrap(), &tree);
        // Other serializers and deserializers round as the decoder does.
        let decoded: Value = from_str(&document).unwrap();
        prop_assert_eq!(&serde_json::to_string(&tree).unwrap(), &decoded.to_string());
        prop_assert_eq!(Untagged::deserialize(&tree).ok(), Untagged::deserialize(&decoded).ok());
        prop_assert_eq!(number.as_f64(), decoded["a"][0].as_f64());
        prop_assert_eq!(number.as_i128(), text.parse().ok());
        prop_assert_eq!(number.as_u128(), text.parse().ok());
        prop_assert_eq!(number.as_i64(), text.parse().ok());
        prop_assert_eq!(from_value::<i128>(number.clone().into()).ok(), text.parse().ok());
        prop_assert_eq!(text.parse::<Number>().unwrap(), from_str(&text).unwrap());
        prop_assert_eq!(f64::deserialize(&number).unwrap(), f64::deserialize(number).unwrap());
    }
}

#[test]
fn numbers() {
    for text in
        ["", "-", "+1", "01", "1.", ".5", "1e", " 1", "1 ", "0x1", "NaN", "1,2", "1\n", "[1]", "\"1\""]
    {
        assert!(Number::from_written(text).is_err() && text.parse::<Number>().is_err(), "{text:?}");
    }
    for (text, position) in [("", (1, 1)), (" 1", (1, 1)), ("1 ", (1, 2)), ("1.x", (1, 3))] {
        let error = text.parse::<Number>().unwrap_err();
        assert_eq!((error.line(), error.column()), position, "{text:?}");
    }
    let number = |text| Number::from_written(text).unwrap();
    assert!(number("1.0") == number("1.0") && number("1.0") != number("1.00") && number("1") != 1.into());
    assert!("1e400".parse::<Number>().is_err() && number("1e400").as_f64().is_none());
    assert!(serde_json::to_string(&number("1e400")).unwrap_err().to_string().contains("range"));
    assert!(from_value::<f64>(number("1e400").into()).is_err() && from_value::<f32>(json!(1e300)).is_err());
    assert!(number("1.5").is_f64() && !number("1").is_f64() && number("1").is_u64() && number("-0").is_i64());
    assert_eq!(from_value::<(u8, f64)>(json!([number("-0"), number("-0")])).unwrap(), (0, -0.0));
    assert!(Value::from(number("7")) == 7 && Value::from(number("7.5")) == 7.5);
    assert_eq!(Number::from_i128(i128::MIN).unwrap().as_i128(), Some(i128::MIN));
    assert_eq!(Number::from_u128(7), Some(7_u8.into()));
    assert_eq!((Number::from_f64(f64::NAN), Number::from_f64(0.0)), (None, Number::from_f64(-0.0)));
    assert_eq!(format!("{:?}", Value::from(number("1.10"))), "Number(1.10)");
    assert_eq!(from_value::<i128>(to_value(i128::MAX).unwrap()).unwrap(), i128::MAX);
    // Numbers as keys, and within an internally tagged enum, whose fields serde stores before it writes them.
    assert_eq!(to_string(&BTreeMap::from([(Id(7), number("1.0"))])).unwrap(), r#"{"7":1.0}"#);
    #[derive(Serialize)]
    #[serde(tag = "kind")]
    enum Outer {
        Inner(Inner),
    }
    #[derive(Serialize)]
    enum Inner {
        Number { number: Number },
    }
    let outer = Outer::Inner(Inner::Number { number: number("1.0") });
    assert_eq!(
        to_string(&(outer, number("2.0"))).unwrap(),
        r#"[{"kind":"Inner","Number":{"number":1.0}},2.0]"#
    );
}

#[test]
fn written_numbers_keep_their_text_where_serde_stores_them() {
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Tagged(TaggedNumbers),
        Adjacent(Adjacent),
        Untagged { v: UntaggedNumbers },
        Flat(Flat),
    }
    #[derive(Serialize, Deserialize)]
    #[serde(tag = "t")]
    enum TaggedNumbers {
        A { v: Value, n: Option<Number> },
        B(Map<String, Value>),
        C(Inner),
    }
    #[derive(Serialize, Deserialize)]
    enum Inner {
        Struct { v: Value },
        Tuple(Number, Value),
    }
    #[derive(Serialize, Deserialize)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        Value(Value),
        Pair(Number, Vec<Number>),
    }
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum UntaggedNumbers {
        Small(u8),
        Float(f64),
        Text(String),
        Value(Value),
    }
    #[derive(Serialize, Deserialize)]
    struct Flat {
        id: u8,
        #[serde(flatten)]
        inner: Option<Inner>,
        #[serde(flatten)]
        rest: Map<String, Value>,
    }
    for number in [
        "1.10",
        "123456789012345678901234567890",
        "18446744073709551616",
        "-0",
        "1e400",
        "1E5",
        "100.0",
        "0.10",
        "7",
        "1.5",
    ] {
        for document in [
            r#"{"t":"A","v":[N,{"a":N}],"n":N}"#,
            r#"{"t":"B","v":N,"w":{"a":[N]}}"#,
            r#"{"t":"C","Struct":{"v":N}}"#,
            r#"{"t":"C","Tuple":[N,[N]]}"#,
            r#"{"t":"Value","c":{"a":N}}"#,
            r#"{"t":"Pair","c":[N,[N]]}"#,
            r#"{"v":N}"#,
            r#"{"id":1,"x":N,"y":[N]}"#,
            r#"{"id":1,"Struct":{"v":N},"y":[N]}"#,
            r#"{"id":1,"Tuple":[N,N],"y":[N]}"#,
        ] {
            let document = document.replace('N', number);
            let codec = Codec::strict().with_written_numbers(true);
            let stored: Stored =
                codec.from_str(&document).unwrap_or_else(|error| panic!("{document}: {error}"));
            assert_eq!(codec.to_string(&stored).unwrap(), document);
            assert_eq!(to_value(&stored).unwrap().to_string(), document);
            let tree: Value = codec.from_str(&document).unwrap();
            assert_eq!(codec.to_string(&from_value::<Stored>(tree.clone()).unwrap()).unwrap(), document);
            assert_eq!(codec.to_string(&Stored::deserialize(&tree).unwrap()).unwrap(), document);
            let mut erased = Deserializer::with_codec(StrRead::new(&document), codec);
            let mut erased = <dyn erased_serde::Deserializer<'_>>::erase(&mut erased);
            let tree: Value = erased_serde::deserialize(&mut erased).unwrap();
            assert_eq!(codec.to_string(&tree as &dyn erased_serde::Serialize).unwrap(), document);
        }
        let document = r#"{"id":1,"x":N,"y":[N]}"#.replace('N', number);
        let codec = Codec::compat().with_written_numbers(true);
        assert_eq!(codec.to_string(&codec.from_str::<Flat>(&document).unwrap()).unwrap(), document);
    }
    // A number that would lose digits is an error for other types.
    let codec = Codec::strict().with_written_numbers(true);
    let error = codec.from_str::<TaggedNumbers>(r#"{"t":"C","Struct":7,"x":1}"#).map(drop).unwrap_err();
    assert!(error.is_data());
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only decoded")]
    struct Price {
        #[serde(flatten)]
        rest: BTreeMap<String, f64>,
    }
    assert_eq!(codec.from_str::<Price>(r#"{"a": 1.5, "b": 2}"#).unwrap().rest.len(), 2);
    let error = codec.from_str::<Price>(r#"{"a": 1.50}"#).unwrap_err().to_string();
    assert!(error.contains("expected a number, found a number that is kept as written"), "{error}");
    let key = Number::from_written("1.10").unwrap();
    assert_eq!(to_string(&HashMap::from([(&key, 1)])).unwrap(), r#"{"1.10":1}"#);
}

#[test]
fn conversion_into_trees() {
    assert_eq!(to_value((5.55_f32, -1e-30_f32)).unwrap(), json!([5.55, -1e-30]));
    assert_eq!(to_value([f64::NAN, 1.0]).unwrap(), json!([null, 1.0]));
    assert_eq!(to_value(serde_bytes::Bytes::new(b"\x00\xff")).unwrap(), json!([0, 255]));
    let raw = RawValue::from_string("{\"b\": 1, \"a\": [1.50]}".to_owned()).unwrap();
    assert_eq!(to_value(&raw).unwrap(), json!({"b": 1, "a": [1.5]}));
    assert!(to_value(HashMap::from([((), 1)])).unwrap_err().is_encode());
    assert!(to_value(HashMap::from([(Some(1), 1)])).unwrap() == json!({"1": 1}));
    assert_eq!(to_value(BTreeMap::from([('é', 1)])).unwrap(), json!({"é": 1}));
    for value in [
        json!([[1]]),
        json!({"$serde_json::private::RawValue": "1"}),
        json!({"$tightwire_json::Number": "1"}),
    ] {
        assert_eq!(from_str::<Value>(&value.to_string()).unwrap(), value);
        assert!(from_str::<Number>(&value.to_string()).unwrap_err().is_data());
        assert!(from_value::<Number>(value).unwrap_err().is_data());
    }
}

#[test]
fn nested_values_are_converted_as_by_encoding_and_decoding() {
    /// Struct with a duplicate key.
    struct Duplicate;
    impl Serialize for Duplicate {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut fields = serializer.serialize_struct("Duplicate", 4)?;
            for (key, value) in [("a", "1"), ("a key of 23 or more bytes", "2"), ("b", "3"), ("a", "4")] {
                fields.serialize_field(key, value)?;
            }
            fields.end()
        }
    }
    /// Converts another value while it is converted.
    struct Nested;
    impl Serialize for Nested {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            to_value([Duplicate, Duplicate]).unwrap().serialize(serializer)
        }
    }
    let raw =
        RawValue::from_string("{\"b\": 1, \"a\": [1.50, \"text of 23 or more bytes\"]}".to_owned()).unwrap();
    let text = RawValue::from_string("\"text of 23 or more bytes\"".to_owned()).unwrap();
    let many: BTreeMap<_, _> = (0..40).map(|index| (index, [index])).collect();
    let texts: Vec<_> =
        (0..30).map(|len| "0123456789é0123456789012345678".chars().take(len).collect::<String>()).collect();
    let shapes = [
        Shape::Unit,
        Shape::Newtype(-1),
        Shape::Tuple(1, None),
        Shape::Struct { a: true, b: vec![Shape::Empty {}] },
        Shape::Empty {},
    ];
    let keys =
        (BTreeMap::from([(true, ())]), BTreeMap::from([(Some("k"), 1)]), BTreeMap::from([(Id(7), 'x')]));
    let value = ((raw, text), (many, texts), (shapes, keys), ([Duplicate, Duplicate], Nested), [[[0; 0]]]);
    let tree = to_value(&value).unwrap();
    assert_eq!(tree, from_str::<Value>(&to_string(&value).unwrap()).unwrap());
    let wide = to_value([i128::MIN, 1]).unwrap();
    assert_eq!(wide, json!([i128::MIN, 1]));

    let codec = Codec::strict().with_limits(Limits::new().max_depth(Limits::MAX_DEPTH));
    let deep = format!("{}1{}", "[{\"a\":".repeat(256), "}]".repeat(256));
    let deep = codec.from_str::<Value>(&deep).unwrap();
    assert_eq!(to_value(&deep).unwrap(), deep);

    // Parts outlive the tree, and can be changed.
    let (mut part, number) = (tree[2].clone(), wide[0].clone());
    drop((tree, wide));
    part[0][2]["Tuple"][0] = json!([number]);
    part[1][0]["new"] = json!("value");
    assert_eq!(part[0][2].to_string(), format!("{{\"Tuple\":[[{}],null]}}", i128::MIN));
    assert_eq!(part[1][0], json!({"true": null, "new": "value"}));
}

#[test]
fn errors_that_a_type_ignores_leave_no_trace() {
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut array = serializer.serialize_seq(None)?;
            array.serialize_element("first")?;
            Err(serde::ser::Error::custom("fails"))
        }
    }
    struct Ignores;
    impl Serialize for Ignores {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            map.serialize_key("replaced")?;
            map.serialize_entry("a", &1)?;
            assert!(map.serialize_entry("b", &Fails).is_err());
            map.serialize_entry("c", &2)?;
            map.serialize_key("without a value")?;
            map.end()
        }
    }
    assert!(to_value([Fails]).unwrap_err().is_encode());
    assert_eq!(to_value([Ignores]).unwrap(), json!([{"a": 1, "c": 2}]));
    let mut fields = tightwire_json::value::Serializer.serialize_struct("Struct", 2).unwrap();
    assert!(fields.serialize_field("a", &Fails).is_err());
    fields.serialize_field("b", &1).unwrap();
    assert_eq!(fields.end().unwrap(), json!({"b": 1}));
    let mut map = tightwire_json::value::Serializer.serialize_map(None).unwrap();
    assert!(map.serialize_value(&1).unwrap_err().is_encode());
}

#[test]
fn conversion_from_trees() {
    let value = json!({"name": "Ada", "tags": ["a", "b"]});
    #[derive(Debug, PartialEq, Deserialize)]
    struct User<'a> {
        name: &'a str,
        #[serde(borrow)]
        tags: Vec<&'a str>,
    }
    assert_eq!(User::deserialize(&value).unwrap(), User { name: "Ada", tags: vec!["a", "b"] });
    let map = value.as_object().unwrap();
    assert_eq!(BTreeMap::<&str, IgnoredAny>::deserialize(map).unwrap().len(), 2);
    assert_eq!(Map::deserialize(map.into_deserializer()).unwrap(), *map);
    for (value, message) in [
        (json!({"Tuple": [1, null, 2]}), "an array with fewer elements"),
        (json!({"Newtype": "x"}), "Newtype: expected a 32-bit integer, found a string"),
        (json!({"Unit": 1, "Newtype": 1}), "expected an object with one entry"),
        (json!({"Unit": 1}), "Unit: expected null, found "),
        (json!("Newtype"), "variant"),
        (json!("Other"), "expected `Unit`, `Newtype`, `Tuple`, `Struct` or `Empty`, found another variant"),
        (json!(1), "expected a string or an object, found "),
    ] {
        let error = Shape::deserialize(&value).unwrap_err();
        assert!(error.is_data() && error.to_string().contains(message), "{error}");
        assert_eq!(from_value::<Shape>(value).unwrap_err().to_string(), error.to_string());
    }
    assert_eq!(from_value::<Shape>(json!({"Unit": null})).unwrap(), Shape::Unit);
}

/// Visitor that returns the name of the called method.
struct Method;

macro_rules! methods {
    ($($method:ident($type:ty))*) => {
        impl Visitor<'_> for Method {
            type Value = &'static str;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            $(
                fn $method<E>(self, _: $type) -> Result<&'static str, E> {
                    Ok(stringify!($method))
                }
            )*
        }
    };
}

methods! {
    visit_u64(u64) visit_i64(i64) visit_u128(u128) visit_i128(i128) visit_f32(f32) visit_f64(f64)
}

#[test]
fn numbers_call_the_same_methods_of_a_visitor() {
    for (ours, theirs) in [(json!(1), 1.into()), (json!(-1), (-1).into()), (json!(1.5), 1.5.into())] {
        let theirs: serde_json::Value = theirs;
        macro_rules! compare {
            ($($method:ident)*) => {
                $(assert_eq!((&ours).$method(Method).unwrap(), (&theirs).$method(Method).unwrap(), "{ours}");)*
            };
        }
        compare! {
            deserialize_any deserialize_i8 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u64
            deserialize_u128 deserialize_f64
        }
        if !ours.is_f64() {
            compare!(deserialize_f32);
        }
    }
}

#[test]
fn length_hints_are_limited() {
    struct Endless(usize);
    impl Iterator for Endless {
        type Item = u8;

        fn next(&mut self) -> Option<u8> {
            self.0 = self.0.checked_sub(1)?;
            Some(1)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, Some(usize::MAX))
        }
    }
    let elements = SeqDeserializer::<_, Error>::new(Endless(2));
    assert_eq!(Value::deserialize(elements).unwrap(), json!([1, 1]));
    let entries = MapDeserializer::<_, Error>::new(Endless(2).map(|value| ("a", value)));
    assert_eq!(Value::deserialize(entries).unwrap(), json!({"a": 1}));
}

#[cfg(feature = "serde-json")]
proptest! {
    #[test]
    fn serde_json_trees_are_converted_in_both_directions(theirs in theirs()) {
        let ours = Value::from(theirs.clone());
        prop_assert_eq!(&ours, &to_value(&theirs).unwrap());
        prop_assert_eq!(serde_json::Value::from(ours), theirs);
    }
}

#[cfg(feature = "serde-json")]
#[test]
fn serde_json_numbers_are_rounded() {
    let number = |text| Number::from_written(text).unwrap();
    for (text, expected) in
        [("1.50", "1.5"), ("12345678901234567890123", "1.2345678901234568e+22"), ("-7", "-7")]
    {
        assert_eq!(serde_json::Number::try_from(number(text)).unwrap().to_string(), expected);
    }
    assert!(serde_json::Number::try_from(number("1e400")).is_err());
    assert_eq!(serde_json::Value::from(Value::from(number("1e400"))), serde_json::Value::Null);
}

#[cfg(feature = "schemars")]
#[test]
fn schemas_are_those_of_the_types_of_serde_json() {
    /// Fields with a documentation, because an inlined schema becomes part of that of its field.
    #[derive(schemars::JsonSchema)]
    #[schemars(rename = "Fields")]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Fields<V, M, A, N, S, R: ?Sized> {
        /// Any value.
        value: V,
        /// Object.
        map: Option<M>,
        array: A,
        number: Vec<N>,
        text: S,
        raw: Box<R>,
    }

    type Ours = Fields<
        Value,
        Map<String, Value>,
        tightwire_json::Array,
        Number,
        tightwire_json::JsonString,
        RawValue,
    >;
    type Theirs = Fields<
        serde_json::Value,
        serde_json::Map<String, serde_json::Value>,
        Vec<serde_json::Value>,
        serde_json::Number,
        String,
        serde_json::Value,
    >;
    assert_eq!(schemars::schema_for!(Ours), schemars::schema_for!(Theirs));
    assert_eq!(schemars::schema_for!(Map), schemars::schema_for!(BTreeMap<String, serde_json::Value>));
}
