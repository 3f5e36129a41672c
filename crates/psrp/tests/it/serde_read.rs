//! Input accepted beyond what the serializer produces.
#![cfg(feature = "serde")]

use std::collections::{BTreeMap, HashMap};

use psrp::value::{Decimal, TimeSpan, Version};
use psrp::{Object, PsString, Value, from_value};
use serde::Deserialize;
use uuid::Uuid;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Process {
    id: u32,
    name: String,
}

fn process(value: impl Into<Value>) -> Process {
    from_value(&value.into()).unwrap()
}

fn expected() -> Process {
    Process { id: 7, name: "pwsh".into() }
}

#[test]
fn names_ignore_case_and_unknown_members_are_skipped() {
    let object = Object::builder()
        .type_names(["System.Diagnostics.Process"])
        .to_string("pwsh (7)")
        .adapted("ID", 7_i64)
        .adapted("nAME", "pwsh")
        .extended("Handles", Object::list(["unused"]))
        .build();
    assert_eq!(process(object), expected());
}

#[test]
fn one_member_or_entry_becomes_any_type() {
    let members =
        [("Name", Value::from("pwsh")), ("Ports", Object::list([22, 5985]).into()), ("User", Value::Nil)];
    for object in [Object::custom(members.clone()), Object::dictionary(members)] {
        let value = Value::from(object);
        assert_eq!(value.get_as::<String>("name").unwrap(), "pwsh");
        assert_eq!(value.get_as::<Vec<u16>>("ports").unwrap(), [22, 5985]);
        for none in ["User", "Missing"] {
            assert_eq!(value.get_as::<Option<String>>(none).unwrap(), None);
            let error = value.get_as::<String>(none).unwrap_err();
            assert!(error.is_mismatch() && error.to_string().contains(none), "{error}");
        }
        let error = value.get_as::<Vec<u8>>("Ports").unwrap_err().to_string();
        assert!(error.contains("Ports: [1]"), "{error}");
    }
}

#[test]
fn extended_members_hide_adapted_ones_and_the_last_of_a_name_counts() {
    let object = Object::builder()
        .adapted("Id", "not a number")
        .adapted("Name", "no")
        .adapted("name", "pwsh")
        .extended("id", 6)
        .extended("ID", 7)
        .build();
    assert_eq!(process(object.clone()), expected());
    // A map contains each of them once, too.
    let map: BTreeMap<String, Value> = from_value(&object.into()).unwrap();
    assert_eq!(map, BTreeMap::from([("ID".into(), 7.into()), ("name".into(), "pwsh".into())]));
}

#[test]
fn an_exact_name_wins_over_another_case() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Two {
        a: i32,
        #[serde(rename = "A")]
        upper: i32,
    }
    let value = Object::custom([("A", 1), ("a", 2)]).into();
    assert_eq!(from_value::<Two>(&value).unwrap(), Two { a: 2, upper: 1 });
}

#[test]
fn dictionaries_and_member_sets_are_structs_too() {
    assert_eq!(process(Object::dictionary([("id", Value::Byte(7)), ("NAME", "pwsh".into())])), expected());
    let set = [("Id", Value::from(7)), ("Name", "pwsh".into())].into_iter().collect();
    assert_eq!(process(Value::MemberSet(Box::new(set))), expected());
    // An object that only wraps another one.
    let inner = Object::custom([("Id", Value::from(7)), ("Name", "pwsh".into())]);
    assert_eq!(process(Object::builder().wrap(inner).build()), expected());
}

#[test]
fn structs_may_have_many_fields() {
    macro_rules! wide {
        ($($field:ident)*) => {
            #[derive(Debug, PartialEq, Deserialize)]
            struct Wide { $($field: i32,)* }
            const NAMES: &[&str] = &[$(stringify!($field)),*];
        };
    }
    wide! {
        a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6
        d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 g0 g1 g2 g3 g4 g5 g6 g7 g8 g9
    }
    let twice = NAMES.iter().map(|name| (*name, 1)).chain(NAMES.iter().map(|name| (*name, 2)));
    let wide: Wide = from_value(&Object::custom(twice).into()).unwrap();
    assert_eq!((wide.a0, wide.g3, wide.g4, wide.g9), (2, 2, 2, 2));
}

#[test]
fn numbers_are_converted_if_they_fit() {
    let decimal = |text: &str| Value::Decimal(text.parse::<Decimal>().unwrap());
    assert_eq!(from_value::<u8>(&Value::Int64(255)).unwrap(), 255);
    assert_eq!(from_value::<i64>(&Value::UInt64(5)).unwrap(), 5);
    assert_eq!(from_value::<i32>(&Value::Double(-3.0)).unwrap(), -3);
    assert_eq!(from_value::<u64>(&Value::Double(9_223_372_036_854_775_808.0)).unwrap(), 1 << 63);
    assert_eq!(from_value::<i16>(&decimal("12.00")).unwrap(), 12);
    assert_eq!(from_value::<i16>(&decimal("-15.00")).unwrap(), -15);
    assert_eq!(from_value::<i128>(&decimal("0.0000000000000000000000000000")).unwrap(), 0);
    assert_eq!(from_value::<i128>(&decimal("79228162514264337593543950335")).unwrap(), (1 << 96) - 1);
    assert_eq!(from_value::<f64>(&Value::Int32(3)).unwrap(), 3.0);
    assert_eq!(from_value::<f64>(&Value::Single(0.5)).unwrap(), 0.5);
    assert_eq!(from_value::<f64>(&decimal("1.5")).unwrap(), 1.5);
    assert_eq!(from_value::<f32>(&Value::Double(0.5)).unwrap(), 0.5);
    assert_eq!(from_value::<Decimal>(&Value::Int32(-3)).unwrap().to_string(), "-3");
    for (value, what) in [
        (Value::Int32(256), "too large"),
        (Value::Int32(-1), "negative"),
        (Value::Double(1.5), "a fraction"),
        (Value::Double(-0.0), "minus zero"),
        (Value::Double(f64::NAN), "no number"),
        (Value::Double(1e300), "too large"),
        (decimal("0.5"), "a fraction"),
        (decimal("79228162514264337593543950335"), "too large"),
        (Value::from("5"), "text"),
        (Value::Bool(true), "a boolean"),
        (Value::Char(53), "a character"),
        (Value::Nil, "nothing"),
    ] {
        assert!(from_value::<u8>(&value).unwrap_err().is_mismatch(), "{what}");
    }
}

#[test]
fn wrapped_primitives_are_read_as_primitives() {
    let wrapped = |value: Value| Value::from(Object::builder().wrap(value).extended("PSPath", "p").build());
    assert_eq!(from_value::<String>(&wrapped("x".into())).unwrap(), "x");
    assert_eq!(from_value::<i32>(&wrapped(5.into())).unwrap(), 5);
    assert!(from_value::<bool>(&wrapped(true.into())).unwrap());
    assert_eq!(from_value::<Version>(&wrapped(Version::new(1, 2).into())).unwrap(), Version::new(1, 2));
    assert_eq!(from_value::<Vec<u8>>(&wrapped(vec![1, 2].into())).unwrap(), [1, 2]);
    assert_eq!(from_value::<Vec<i32>>(&wrapped(Object::list([1]).into())).unwrap(), [1]);
    // The members are available to a map or struct.
    let map: HashMap<String, String> = from_value(&wrapped("x".into())).unwrap();
    assert_eq!(map["PSPath"], "p");
}

#[test]
fn enumerations_are_read_from_number_or_name() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum State {
        Running,
        Stopped,
    }
    let value = Value::from(Object::enumeration("System.State", "Stopped", 1));
    assert_eq!(from_value::<i64>(&value).unwrap(), 1);
    assert_eq!(from_value::<String>(&value).unwrap(), "Stopped");
    assert_eq!(from_value::<State>(&value).unwrap(), State::Stopped);
    assert_eq!(from_value::<serde_json::Value>(&value).unwrap(), "Stopped");
    assert_eq!(from_value::<State>(&"RUNNING".into()).unwrap(), State::Running);
}

#[test]
fn text_is_read_from_other_values() {
    let id = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
    for (value, text) in [
        (Value::Guid(id), "00112233-4455-6677-8899-aabbccddeeff"),
        (Value::Version(Version::new(2, 3)), "2.3"),
        (Value::TimeSpan(TimeSpan::from_ticks(10_000_000)), "PT1S"),
        (Value::Decimal("1.50".parse().unwrap()), "1.50"),
        (Value::Uri("u".into()), "u"),
        (Value::ScriptBlock("s".into()), "s"),
        (Value::Char(97), "a"),
        (Object::builder().to_string("10.0.0.1").adapted("Family", 2).build().into(), "10.0.0.1"),
    ] {
        assert_eq!(from_value::<String>(&value).unwrap(), text);
    }
    for value in
        [Value::Int32(1), Value::Bool(true), Value::from(vec![1]), Value::Nil, Object::list(["a"]).into()]
    {
        assert!(from_value::<String>(&value).unwrap_err().is_mismatch(), "{value:?}");
    }
}

#[test]
fn protocol_types_are_read_from_text() {
    assert_eq!(from_value::<Version>(&"1.2".into()).unwrap(), Version::new(1, 2));
    assert_eq!(from_value::<TimeSpan>(&"PT1S".into()).unwrap(), TimeSpan::from_ticks(10_000_000));
    assert!(from_value::<Version>(&"x".into()).unwrap_err().is_mismatch());
}

#[test]
fn a_lone_surrogate_is_not_a_str() {
    let lone = PsString::from_utf16(&[97, 0xD800]);
    let error = from_value::<String>(&lone.clone().into()).unwrap_err();
    assert!(error.is_mismatch());
    assert!(error.to_string().contains("lone surrogate"), "{error}");
    assert_eq!(from_value::<PsString>(&lone.clone().into()).unwrap(), lone);
    assert_eq!(from_value::<serde_json::Value>(&lone.into()).unwrap(), "a\u{FFFD}");
}

#[test]
fn dictionaries_as_pairs_preserve_order_and_repeated_keys() {
    let value = Object::dictionary([("b", 1), ("a", 2), ("b", 3)]).into();
    let pairs: Vec<(String, i32)> = from_value(&value).unwrap();
    assert_eq!(pairs, [("b".into(), 1), ("a".into(), 2), ("b".into(), 3)]);
}

#[test]
fn sequence_lengths_must_match() {
    let value = Value::from(Object::list([1, 2, 3]));
    assert!(from_value::<(i32, i32)>(&value).unwrap_err().is_mismatch());
    assert!(from_value::<[i32; 4]>(&value).unwrap_err().is_mismatch());
    assert_eq!(from_value::<[i32; 3]>(&value).unwrap(), [1, 2, 3]);
}

#[test]
fn flattened_untagged_and_tagged_types_are_read() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        id: i32,
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(i32),
        Text(String),
    }
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        A { x: i32 },
    }
    let value = Object::custom([("id", Value::from(1)), ("other", "x".into())]).into();
    let outer: Outer = from_value(&value).unwrap();
    assert_eq!(outer, Outer { id: 1, rest: BTreeMap::from([("other".into(), "x".into())]) });
    assert_eq!(from_value::<Either>(&5.into()).unwrap(), Either::Number(5));
    assert_eq!(from_value::<Either>(&"x".into()).unwrap(), Either::Text("x".into()));
    let value = Object::custom([("kind", Value::from("A")), ("x", 1.into())]).into();
    assert_eq!(from_value::<Tagged>(&value).unwrap(), Tagged::A { x: 1 });
}

#[test]
fn references_to_an_enclosing_object_are_followed() {
    #[derive(Deserialize)]
    struct Child {
        parent: Parent,
    }
    #[derive(Deserialize)]
    struct Parent {
        name: String,
    }
    #[derive(Deserialize)]
    struct Root {
        child: Child,
    }
    let root = Object::new_cyclic(|me| {
        Object::builder()
            .extended("name", "root")
            .extended("child", Object::custom([("parent", Value::Cycle(me))]))
    });
    let read: Root = from_value(&root.clone().into()).unwrap();
    assert_eq!(read.child.parent.name, "root");

    // Outside of its object, the reference cannot be resolved.
    let child = root.get("child").unwrap().clone();
    drop(root);
    assert!(from_value::<Child>(&child).err().unwrap().is_mismatch());
}
