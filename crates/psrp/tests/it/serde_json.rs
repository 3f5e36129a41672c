//! Values to JSON and JSON to values.
#![cfg(feature = "serde")]

use psrp::serde::Plain;
use psrp::value::{ContainerKind, DateTime, Progress, SecureString, TimeSpan, Version};
use psrp::{Object, PsString, Value};
use serde_json::json;
use uuid::Uuid;

#[track_caller]
fn shows(value: impl Into<Value>, expected: serde_json::Value) {
    assert_eq!(serde_json::to_value(value.into()).unwrap(), expected);
}

#[test]
fn each_member_name_is_shown_once_in_order() {
    let object = Object::builder().adapted("A", 1).adapted("d", 2);
    let object = object.extended("a", 3).extended("b", 4).extended("c", 5).extended("B", 6);
    let text = serde_json::to_string(&Value::from(object.build())).unwrap();
    assert_eq!(text, r#"{"a":3,"c":5,"B":6,"d":2}"#);
}

#[test]
fn values_of_each_kind_become_json() {
    shows(Value::Nil, json!(null));
    shows(true, json!(true));
    shows(-5_i8, json!(-5));
    shows(u64::MAX, json!(u64::MAX));
    shows(1.5_f64, json!(1.5));
    shows(f64::INFINITY, json!(null));
    shows(Value::Decimal("1.50".parse().unwrap()), json!("1.50"));
    shows("x", json!("x"));
    shows(Value::Char(97), json!("a"));
    shows(Value::Char(0xD800), json!("\u{FFFD}"));
    shows(PsString::from_utf16(&[0xDC00]), json!("\u{FFFD}"));
    shows(Value::Uri("u".into()), json!("u"));
    shows(Value::Xml("<a/>".into()), json!("<a/>"));
    shows(Value::ScriptBlock("{}".into()), json!("{}"));
    shows(Uuid::nil(), json!("00000000-0000-0000-0000-000000000000"));
    shows(Version::new(7, 4), json!("7.4"));
    shows("2024-05-06T07:08:09Z".parse::<DateTime>().unwrap(), json!("2024-05-06T07:08:09Z"));
    shows(TimeSpan::from_ticks(15_000_000), json!("PT1.5S"));
    shows(vec![1, 2, 255], json!("AQL/"));
    shows(SecureString::new("secret"), json!(null));
    shows(SecureString::from_encrypted([1, 2]), json!(null));
    shows(
        Progress::new(1, "a", "s"),
        json!({
            "ActivityId": 1, "ParentActivityId": -1, "Activity": "a", "StatusDescription": "s",
            "CurrentOperation": null, "SecondsRemaining": -1, "PercentComplete": -1, "RecordType": "Processing",
        }),
    );
}

#[test]
fn objects_become_json() {
    shows(Object::list([1, 2]), json!([1, 2]));
    shows(Object::builder().list(ContainerKind::Queue, ["a"]).extended("Count", 1).build(), json!(["a"]));
    shows(
        Object::dictionary([
            (Value::from("a"), 1),
            (5.into(), 2),
            (true.into(), 3),
            (Value::Double(0.5), 4),
            (Uuid::nil().into(), 5),
        ]),
        json!({"a": 1, "5": 2, "true": 3, "0.5": 4, "00000000-0000-0000-0000-000000000000": 5}),
    );
    shows(
        Object::builder().adapted("Id", 1).adapted("Name", "x").extended("id", 2).build(),
        json!({"id": 2, "Name": "x"}),
    );
    shows(Object::enumeration("My.Color", "Red", 4), json!("Red"));
    let typed =
        |name: &str, text: &str| Object::builder().type_names([name]).to_string(text).adapted("x", 1).build();
    shows(typed("System.Text.RegularExpressions.Regex", "a.c"), json!("a.c"));
    shows(typed("System.Numerics.BigInteger", "-12"), json!("-12"));
    shows(typed("System.Numerics.BigInteger", "1e5"), json!({"x": 1}));
    shows(
        Object::dictionary([(Value::from(1), "int"), ("1".into(), "text")]),
        json!([{"Key": 1, "Value": "int"}, {"Key": "1", "Value": "text"}]),
    );
    shows(Object::builder().wrap(5).extended("x", 1).build(), json!(5));
    shows(Object::builder().to_string("text").build(), json!("text"));
    shows(Object::builder().build(), json!({}));
    let set = [("a", 1)].into_iter().collect();
    shows(Value::MemberSet(Box::new(set)), json!({"a": 1}));
}

#[test]
fn members_keep_their_order() {
    let object = Object::builder().adapted("z", 1).extended("y", 2).extended("a", 3).build();
    assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"y":2,"a":3,"z":1}"#);
}

#[test]
fn a_cycle_is_shown_as_text() {
    let node = Object::new_cyclic(|me| Object::builder().to_string("me").extended("Self", Value::Cycle(me)));
    shows(node, json!({"Self": "me"}));
}

#[test]
fn type_names_are_optional_in_json() {
    let list = Object::builder()
        .type_names(["List"])
        .list(ContainerKind::List, [Value::from(Object::enumeration("E", "A", 1)), 2.into()])
        .extended("Total", 2)
        .build();
    let value = Value::from(
        Object::builder().adapted("Items", list).extended("Map", Object::dictionary([("k", 1)])).build(),
    );
    assert_eq!(
        serde_json::to_value(Plain::new(&value).with_type_names()).unwrap(),
        json!({
            "Map": {"$TypeNames": ["System.Collections.Hashtable", "System.Object"], "$Value": {"k": 1}},
            "Items": {
                "$TypeNames": ["List"],
                "$Value": [
                    {
                        "$TypeNames": ["E", "System.Enum", "System.ValueType", "System.Object"],
                        "$ToString": "A",
                        "$Value": 1,
                    },
                    2,
                ],
                "Total": 2,
            },
        })
    );
}

#[test]
fn json_becomes_values() {
    let value: Value = serde_json::from_str(
        r#"{"n": null, "b": true, "i": 5, "l": 5000000000, "u": 18446744073709551615, "f": 1.5, "s": "x", "a": [1, "y"]}"#,
    )
    .unwrap();
    assert!(value.as_object().unwrap().is_a("System.Management.Automation.PSCustomObject"));
    assert_eq!(value["n"], Value::Nil);
    assert_eq!(value["b"], Value::Bool(true));
    assert_eq!(value["i"], Value::Int32(5));
    assert_eq!(value["l"], Value::Int64(5_000_000_000));
    assert_eq!(value["u"], Value::UInt64(u64::MAX));
    assert_eq!(value["f"], Value::Double(1.5));
    assert_eq!(value["s"], Value::from("x"));
    assert_eq!(value["a"], Value::from(Object::list([Value::from(1), "y".into()])));
}

#[test]
fn protocol_types_are_read_from_json() {
    assert_eq!(serde_json::from_str::<Version>(r#""7.4""#).unwrap(), Version::new(7, 4));
    assert_eq!(serde_json::from_str::<TimeSpan>(r#""PT1S""#).unwrap(), TimeSpan::from_ticks(10_000_000));
    assert_eq!(serde_json::from_str::<PsString>(r#""x""#).unwrap(), "x");
    assert_eq!(serde_json::from_str::<psrp::value::Decimal>("1.25").unwrap().to_string(), "1.25");
    let record = Progress::new(1, "a", "s");
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Progress>(&json).unwrap(), record);
    assert!(serde_json::from_str::<Version>("7").is_err());
}
