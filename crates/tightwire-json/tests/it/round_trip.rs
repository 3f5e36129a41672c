//! Generated values of every type of serde's data model round-trip in every mode and backend.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use crate::support::codecs;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct UnitStruct;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Newtype(Box<Any>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TupleStruct(Box<Any>, u8);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Struct {
    later: Vec<Any>,
    #[serde(rename = "a \"quoted\" <name>")]
    earlier: Option<Box<Any>>,
}

/// Struct that serde serializes as a map because of the flattened field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Flattened {
    own: Box<Any>,
    #[serde(flatten)]
    flattened: Plain,
}

/// serde buffers flattened fields in a type that supports neither 128-bit integers nor keys other than strings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Plain {
    number: i64,
    list: Vec<u64>,
    text: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Key {
    First,
    #[serde(rename = "the \n second")]
    Second,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Any {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F32(f32),
    F64(f64),
    Char(char),
    String(String),
    Bytes(ByteBuf),
    Option(Option<Box<Self>>),
    Unit(()),
    UnitStruct(UnitStruct),
    UnitVariant,
    NewtypeStruct(Newtype),
    Sequence(Vec<Self>),
    Tuple(Box<(Self, bool, Self)>),
    TupleStruct(TupleStruct),
    TupleVariant(Box<Self>, String),
    TextKeys(BTreeMap<String, Self>),
    BoolKeys(BTreeMap<bool, Self>),
    CharKeys(BTreeMap<char, Self>),
    SmallKeys(BTreeMap<i8, Self>),
    LargeKeys(BTreeMap<u128, Self>),
    VariantKeys(BTreeMap<Key, Self>),
    Struct(Struct),
    StructVariant { b: Box<Self>, a: u64 },
    Flattened(Flattened),
}

fn leaf() -> impl Strategy<Value = Any> {
    prop_oneof![
        any::<bool>().prop_map(Any::Bool),
        any::<i8>().prop_map(Any::I8),
        any::<i16>().prop_map(Any::I16),
        any::<i32>().prop_map(Any::I32),
        any::<i64>().prop_map(Any::I64),
        any::<i128>().prop_map(Any::I128),
        any::<u8>().prop_map(Any::U8),
        any::<u16>().prop_map(Any::U16),
        any::<u32>().prop_map(Any::U32),
        any::<u64>().prop_map(Any::U64),
        any::<u128>().prop_map(Any::U128),
        // JSON has neither infinities nor NaN.
        any::<f32>().prop_filter("finite", |number| number.is_finite()).prop_map(Any::F32),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Any::F64),
        any::<char>().prop_map(Any::Char),
        any::<String>().prop_map(Any::String),
        any::<Vec<u8>>().prop_map(|bytes| Any::Bytes(ByteBuf::from(bytes))),
        Just(Any::Option(None)),
        Just(Any::Unit(())),
        Just(Any::UnitStruct(UnitStruct)),
        Just(Any::UnitVariant),
    ]
}

fn value() -> impl Strategy<Value = Any> {
    leaf().prop_recursive(5, 40, 5, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let list = || prop::collection::vec(inner.clone(), 0..5);
        let structure =
            (list(), prop::option::of(boxed())).prop_map(|(later, earlier)| Struct { later, earlier });
        let plain = any::<(i64, Vec<u64>, Option<String>)>().prop_map(|(number, list, text)| Plain {
            number,
            list,
            text,
        });
        prop_oneof![
            boxed().prop_map(|value| Any::Option(Some(value))),
            boxed().prop_map(|value| Any::NewtypeStruct(Newtype(value))),
            list().prop_map(Any::Sequence),
            (inner.clone(), any::<bool>(), inner.clone()).prop_map(|tuple| Any::Tuple(Box::new(tuple))),
            (boxed(), any::<u8>()).prop_map(|(value, number)| Any::TupleStruct(TupleStruct(value, number))),
            (boxed(), any::<String>()).prop_map(|(value, text)| Any::TupleVariant(value, text)),
            prop::collection::btree_map(any::<String>(), inner.clone(), 0..5).prop_map(Any::TextKeys),
            prop::collection::btree_map(any::<bool>(), inner.clone(), 0..3).prop_map(Any::BoolKeys),
            prop::collection::btree_map(any::<char>(), inner.clone(), 0..5).prop_map(Any::CharKeys),
            prop::collection::btree_map(any::<i8>(), inner.clone(), 0..5).prop_map(Any::SmallKeys),
            prop::collection::btree_map(any::<u128>(), inner.clone(), 0..5).prop_map(Any::LargeKeys),
            prop::collection::btree_map(
                prop::sample::select(vec![Key::First, Key::Second]),
                inner.clone(),
                0..3
            )
            .prop_map(Any::VariantKeys),
            structure.prop_map(Any::Struct),
            (boxed(), any::<u64>()).prop_map(|(b, a)| Any::StructVariant { b, a }),
            (boxed(), plain).prop_map(|(own, flattened)| Any::Flattened(Flattened { own, flattened })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_type_round_trips(value in value()) {
        // `Debug` distinguishes -0 from 0, `==` does not.
        let expected = format!("{value:?}");
        for codec in codecs() {
            for document in [codec.to_vec(&value).unwrap(), codec.to_vec_pretty(&value, "\t").unwrap()] {
                let text = String::from_utf8_lossy(&document).into_owned();
                let mut decoder = tightwire_json::Decoder::with_codec(document.as_slice(), codec);
                let streamed = decoder.decode::<Any>().map(Option::unwrap);
                for decoded in [codec.from_slice::<Any>(&document), streamed] {
                    let decoded = decoded.map(|decoded| format!("{decoded:?}"));
                    prop_assert_eq!(decoded.as_ref().ok(), Some(&expected), "{:?} {} {:?}", codec, text, decoded);
                }
            }
        }
    }
}
