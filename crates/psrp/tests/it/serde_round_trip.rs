//! Round trips of arbitrary data through values and documents.
#![cfg(feature = "serde")]

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use psrp::serde::Plain;
use psrp::value::{DateTime, DateTimeKind, Decimal, TimeSpan, Version};
use psrp::{PsString, Value, from_clixml, from_value, to_clixml, to_value};
use serde::{Deserialize, Serialize};

use crate::support;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "My.Record : My.Base", rename_all = "PascalCase")]
struct Record {
    #[serde(rename = "$ToString")]
    text: Option<String>,
    small: (i8, u8, i16, u16),
    large: (i32, u32, i64, u64),
    #[serde(with = "psrp::serde::adapted")]
    floats: (f32, f64),
    letter: char,
    flag: bool,
    name: String,
    #[serde(with = "psrp::serde::element")]
    bytes: Vec<u8>,
    scripts: Vec<String>,
    #[serde(with = "psrp::serde::adapted")]
    tree: Tree,
    map: BTreeMap<i64, Option<String>>,
    by_name: BTreeMap<String, Vec<u8>>,
    protocol_types: ProtocolTypes,
    typed: Typed,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Typed {
    #[serde(rename = "$TypeNames")]
    names: Vec<String>,
    #[serde(rename = "$Value")]
    map: BTreeMap<String, i32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Tree {
    Empty,
    Leaf(i32),
    Pair(Box<Self>, Box<Self>),
    Node { name: String, children: Vec<Self> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ProtocolTypes {
    text: PsString,
    version: Option<Version>,
    time: DateTime,
    span: TimeSpan,
    decimal: Decimal,
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![Just(Tree::Empty), any::<i32>().prop_map(Tree::Leaf)];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Tree::Pair(Box::new(a), Box::new(b))),
            (any::<String>(), vec(inner, 0..3)).prop_map(|(name, children)| Tree::Node { name, children }),
        ]
    })
}

fn protocol_types() -> impl Strategy<Value = ProtocolTypes> {
    (
        support::values::any_text(),
        option::of((0..9_u32, 0..9_u32)),
        0..=DateTime::MAX_TICKS,
        any::<i64>(),
        (any::<bool>(), any::<u64>(), 0..=Decimal::MAX_SCALE),
    )
        .prop_map(|(text, version, ticks, span, (negative, digits, scale))| ProtocolTypes {
            text,
            version: version.map(|(major, minor)| Version::new(major, minor)),
            time: DateTime::from_ticks(ticks, DateTimeKind::Utc).expect("in range"),
            span: TimeSpan::from_ticks(span),
            decimal: Decimal::new(negative, digits.into(), scale).expect("in range"),
        })
}

fn record() -> impl Strategy<Value = Record> {
    let floats =
        (any::<f32>(), any::<f64>()).prop_filter("equal to itself", |(a, b)| !a.is_nan() && !b.is_nan());
    let texts = (option::of(any::<String>()), any::<String>(), vec(any::<String>(), 0..3));
    (
        (any::<(i8, u8, i16, u16)>(), any::<(i32, u32, i64, u64)>(), floats, any::<char>(), any::<bool>()),
        texts,
        (vec(any::<u8>(), 0..9), tree(), protocol_types()),
        btree_map(any::<i64>(), option::of(any::<String>()), 0..3),
        btree_map(any::<String>(), vec(any::<u8>(), 0..3), 0..3),
        btree_map(any::<String>(), any::<i32>(), 0..3),
    )
        .prop_map(
            |(scalars, (text, name, scripts), (bytes, tree, protocol_types), map, by_name, typed)| Record {
                text,
                small: scalars.0,
                large: scalars.1,
                floats: scalars.2,
                letter: scalars.3,
                flag: scalars.4,
                name,
                bytes,
                scripts,
                tree,
                map,
                by_name,
                protocol_types,
                typed: Typed { names: vec!["My.Map".into(), "System.Object".into()], map: typed },
            },
        )
}

proptest! {
    #[test]
    fn types_survive_a_round_trip(record in record()) {
        let value = to_value(&record).unwrap();
        prop_assert_eq!(&from_value::<Record>(&value).unwrap(), &record);
        prop_assert_eq!(&from_clixml::<Record>(&to_clixml(&record).unwrap()).unwrap(), &record);
    }

    #[test]
    fn values_survive_a_round_trip(value in support::values::any_value()) {
        prop_assert_eq!(&to_value(&value).unwrap(), &value);
        prop_assert_eq!(&from_value::<Value>(&value).unwrap(), &value);
        prop_assert_eq!(&from_clixml::<Value>(&to_clixml(&value).unwrap()).unwrap(), &value);
    }

    #[test]
    fn any_value_has_a_plain_form(value in support::values::any_value()) {
        serde_json::to_string(&value).unwrap();
        serde_json::to_string(&Plain::new(&value).with_type_names()).unwrap();
    }

    /// Reading any value as some type terminates, and no error shows the value.
    #[test]
    fn any_value_is_read_or_rejected(value in support::values::any_value()) {
        let results = [
            from_value::<Record>(&value).map(drop),
            from_value::<Tree>(&value).map(drop),
            from_value::<ProtocolTypes>(&value).map(drop),
            from_value::<Vec<String>>(&value).map(drop),
            from_value::<BTreeMap<String, PsString>>(&value).map(drop),
            from_value::<Typed>(&value).map(drop),
        ];
        for error in results.into_iter().filter_map(Result::err) {
            prop_assert!(error.is_mismatch() || error.is_limit(), "{}", error);
        }
    }

    /// The plain form of plain data is unchanged.
    #[test]
    fn json_survives_a_round_trip(
        data in btree_map("[a-z$]{0,4}", vec(option::of(any::<i32>()), 0..3), 0..4)
    ) {
        let json = serde_json::to_value(&data).unwrap();
        let value: Value = serde_json::from_value(json.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&value).unwrap(), json);
        prop_assert_eq!(from_value::<BTreeMap<String, Vec<Option<i32>>>>(&value).unwrap(), data);
    }
}
