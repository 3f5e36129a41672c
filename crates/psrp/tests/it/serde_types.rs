//! Rust types as values, in both directions.
#![cfg(feature = "serde")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use psrp::serde::PropertyBag;
use psrp::value::{
    ContainerKind, DateTime, DateTimeKind, Decimal, Progress, SecureString, TimeSpan, Version,
};
use psrp::{Object, PsString, Value, from_value, to_value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `rust` is serialized to `value` and deserialized from it.
#[track_caller]
fn both<T: Serialize + DeserializeOwned + PartialEq + Debug>(rust: T, value: impl Into<Value>) {
    let value = value.into();
    assert_eq!(to_value(&rust).unwrap(), value);
    assert_eq!(from_value::<T>(&value).unwrap(), rust);
}

#[test]
fn scalars_have_their_types() {
    both(-1_i8, Value::SByte(-1));
    both(200_u8, Value::Byte(200));
    both(-300_i16, Value::Int16(-300));
    both(60_000_u16, Value::UInt16(60_000));
    both(i32::MIN, Value::Int32(i32::MIN));
    both(u32::MAX, Value::UInt32(u32::MAX));
    both(i64::MIN, Value::Int64(i64::MIN));
    both(u64::MAX, Value::UInt64(u64::MAX));
    assert!(to_value(&1_i128).unwrap_err().is_unwritable());
    assert!(to_value(&1_u128).unwrap_err().is_unwritable());
    both(true, Value::Bool(true));
    both(1.5_f32, Value::Single(1.5));
    both(-0.0_f64, Value::Double(-0.0));
    both("text".to_owned(), Value::from("text"));
    both((), Value::Nil);
    both(None::<i32>, Value::Nil);
    both(Some(5), Value::Int32(5));
}

#[test]
fn a_char_is_a_unit_or_a_string() {
    both('a', Value::Char(97));
    both('\u{FFFF}', Value::Char(0xFFFF));
    both('\u{1F600}', Value::from("\u{1F600}"));
    assert_eq!(from_value::<char>(&Value::from("a")).unwrap(), 'a');
    assert!(from_value::<char>(&Value::from("ab")).unwrap_err().is_mismatch());
    assert!(from_value::<char>(&Value::Char(0xD800)).unwrap_err().is_mismatch());
}

#[test]
fn protocol_types_are_preserved() {
    both(Version::new(7, 4).with_build(6), Value::Version(Version::new(7, 4).with_build(6)));
    let time = DateTime::from_ticks(638_500_000_000_000_001, DateTimeKind::Local(-90)).unwrap();
    both(time, Value::DateTime(time));
    both(TimeSpan::from_ticks(-15), Value::TimeSpan(TimeSpan::from_ticks(-15)));
    let decimal = Decimal::new(true, 150, 2).unwrap();
    both(decimal, Value::Decimal(decimal));
    both(SecureString::new("secret"), Value::SecureString(SecureString::new("secret")));
    let mut record = Progress::new(1, "Copy", "half");
    record.percent_complete = 50;
    both(record.clone(), Value::from(record));
    let lone = PsString::from_utf16(&[0xD800, 97]);
    both(lone.clone(), Value::String(lone));
}

#[test]
fn values_are_preserved() {
    let object = Object::builder()
        .type_names(["A.B", "System.Object"])
        .to_string("text")
        .list(ContainerKind::Stack, [1, 2])
        .adapted("a", Value::Uri("x".into()))
        .extended("b", Value::Char(0xD800))
        .build();
    both(Value::from(object.clone()), Value::from(object.clone()));
    both(object.clone(), Value::from(object.clone()));
    // The same object, not an equal one.
    assert!(to_value(&object).unwrap().as_object().unwrap().ptr_eq(&object));
    let pair = to_value(&(&object, &object)).unwrap();
    let items = pair.items().unwrap();
    assert!(items[0].as_object().unwrap().ptr_eq(&items[1].as_object().unwrap()));
}

#[test]
fn sequences_are_lists() {
    both(vec![1, 2], Object::list([1, 2]));
    both((1, "a".to_owned(), true), Object::list([Value::from(1), "a".into(), true.into()]));
    both([1_u8, 2], Object::list([1_u8, 2]));
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair(i32, i32);
    both(Pair(1, 2), Object::list([1, 2]));
    let list = to_value(&[0_i32; 0]).unwrap();
    assert!(list.as_object().unwrap().is_a("System.Collections.ArrayList"));
}

#[test]
fn maps_are_hashtables_with_any_key() {
    both(BTreeMap::from([(1, "a".to_owned())]), Object::dictionary([(1, "a")]));
    both(BTreeMap::from([("k".to_owned(), 1)]), Object::dictionary([("k", 1)]));
    both(
        BTreeMap::from([((1, true), 'c')]),
        Object::dictionary([(Object::list([Value::from(1), true.into()]), Value::Char(99))]),
    );
    let error = to_value(&BTreeMap::from([(None::<i32>, 1)])).unwrap_err();
    assert!(error.is_unwritable());
    assert!(error.to_string().contains("[key 0]"), "{error}");
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Plain {
    first_name: String,
    age: Option<u8>,
}

#[test]
fn structs_are_custom_objects_in_field_order() {
    both(
        Plain { first_name: "x".into(), age: None },
        Object::custom([("FirstName", Value::from("x")), ("Age", Value::Nil)]),
    );
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Wrapper(Plain);
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Unit;
    both(Wrapper(Plain::default()), Object::custom([("FirstName", Value::from("")), ("Age", Value::Nil)]));
    both(Unit, Value::Nil);
    let value = to_value(&vec![Plain::default(); 2]).unwrap();
    let names =
        |index: usize| value.items().unwrap()[index].as_object().unwrap().type_names().unwrap().clone();
    assert_eq!(names(0).first().unwrap(), "System.Management.Automation.PSCustomObject");
    // One list in memory: a document contains it once.
    assert!(std::ptr::eq(names(0).as_slice(), names(1).as_slice()));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Nothing,
    Circle(f64),
    Line(i32, i32),
    Rect { width: i32, height: i32 },
}

#[test]
fn enum_variants_are_names_or_objects_with_one_member() {
    both(Shape::Nothing, "Nothing");
    both(Shape::Circle(1.5), Object::custom([("Circle", 1.5)]));
    both(Shape::Line(1, 2), Object::custom([("Line", Object::list([1, 2]))]));
    both(
        Shape::Rect { width: 1, height: 2 },
        Object::custom([("Rect", Object::custom([("width", 1), ("height", 2)]))]),
    );
    // Also as a dictionary such as `@{ circle = 1 }`.
    assert_eq!(from_value::<Shape>(&Object::dictionary([("circle", 1)]).into()).unwrap(), Shape::Circle(1.0));
    assert_eq!(from_value::<Shape>(&"NOTHING".into()).unwrap(), Shape::Nothing);
    assert_eq!(
        from_value::<Shape>(&Object::custom([("nothing", Value::Nil)]).into()).unwrap(),
        Shape::Nothing
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Elements {
    #[serde(with = "psrp::serde::element")]
    id: Uuid,
    #[serde(with = "psrp::serde::element")]
    other: Option<Uuid>,
    #[serde(with = "psrp::serde::element")]
    bytes: Vec<u8>,
    #[serde(with = "psrp::serde::element")]
    more: Option<Box<[u8]>>,
    #[serde(with = "psrp::serde::element")]
    span: Duration,
}

fn elements() -> Elements {
    Elements {
        id: Uuid::from_u128(1),
        other: None,
        bytes: vec![1, 2],
        more: Some([].into()),
        span: Duration::new(1, 500_000_100),
    }
}

#[test]
fn fields_can_be_elements() {
    both(
        elements(),
        Object::custom([
            ("id", Value::Guid(Uuid::from_u128(1))),
            ("other", Value::Nil),
            ("bytes", Value::from(vec![1, 2])),
            ("more", Value::from(vec![])),
            ("span", Value::TimeSpan(TimeSpan::from_ticks(15_000_001))),
        ]),
    );
}

#[test]
fn elements_have_a_plain_form() {
    let json = serde_json::to_value(elements()).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "id": "00000000-0000-0000-0000-000000000001",
            "other": null,
            "bytes": "AQI=",
            "more": "",
            "span": "PT1.5000001S",
        })
    );
    assert_eq!(serde_json::from_value::<Elements>(json).unwrap(), elements());
    let bytes =
        |bytes: Object| from_value::<Elements>(&Object::custom([("bytes", bytes)]).into()).unwrap_err();
    assert!(bytes(Object::list([256])).to_string().contains("bytes: expected bytes, found a list"));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "System.IO.FileInfo : System.IO.FileSystemInfo", rename_all = "PascalCase")]
struct File {
    #[serde(rename = "$ToString")]
    path: String,
    #[serde(with = "psrp::serde::adapted")]
    length: i64,
    #[serde(with = "psrp::serde::adapted")]
    parent: Option<Box<Self>>,
    note: String,
}

#[test]
fn a_struct_can_have_a_dotnet_type() {
    let file = |path: &str, parent| File { path: path.into(), length: 1, parent, note: "n".into() };
    let names = ["System.IO.FileInfo", "System.IO.FileSystemInfo", "System.Object"];
    let parent = Object::builder()
        .type_names(names)
        .to_string("/")
        .adapted("Length", 1_i64)
        .adapted("Parent", Value::Nil)
        .extended("Note", "n")
        .build();
    let value = Object::builder()
        .type_names(names)
        .to_string("/a")
        .adapted("Length", 1_i64)
        .adapted("Parent", parent)
        .extended("Note", "n")
        .build();
    both(file("/a", Some(Box::new(file("/", None)))), value);
}

#[test]
fn the_root_type_is_appended_if_missing() {
    #[derive(Serialize)]
    #[serde(rename = "A.B : C.D")]
    struct WithoutRoot {}

    #[derive(Serialize)]
    #[serde(rename = "A.B : System.Object")]
    struct WithRoot {}

    #[derive(Serialize)]
    #[serde(rename = "System.Object")]
    struct Root {}

    let names = |value: Value| {
        let names = value.as_object().unwrap().type_names().unwrap().clone();
        names.as_slice().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(to_value(&WithoutRoot {}).unwrap()), ["A.B", "C.D", "System.Object"]);
    assert_eq!(names(to_value(&WithRoot {}).unwrap()), ["A.B", "System.Object"]);
    assert_eq!(names(to_value(&Root {}).unwrap()), ["System.Object"]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    #[serde(rename = "$Value")]
    text: String,
    #[serde(rename = "PSPath", default)]
    path: Option<String>,
}

#[test]
fn a_struct_can_wrap_a_value_or_container() {
    both(
        Line { text: "x".into(), path: Some("p".into()) },
        Object::builder().wrap("x").extended("PSPath", "p").build(),
    );
    // Without members, the value is a plain string.
    assert_eq!(from_value::<Line>(&"x".into()).unwrap(), Line { text: "x".into(), path: None });

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Items {
        #[serde(rename = "$Value")]
        items: Vec<i32>,
        total: i32,
    }
    let names = ["System.Collections.ArrayList", "System.Object"];
    let list = Object::builder().type_names(names).list(ContainerKind::List, [1, 2]);
    both(Items { items: vec![1, 2], total: 3 }, list.extended("total", 3).build());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Named {
    #[serde(rename = "$TypeNames")]
    names: Vec<String>,
    id: i32,
}

#[test]
fn type_names_can_be_a_field() {
    both(
        Named { names: vec!["A".into(), "B".into()], id: 1 },
        Object::builder().type_names(["A", "B"]).extended("id", 1).build(),
    );
    #[derive(Serialize)]
    struct Wrong {
        #[serde(rename = "$TypeNames")]
        names: Vec<i32>,
    }
    let error = to_value(&Wrong { names: vec![1] }).unwrap_err();
    assert!(error.is_unwritable());
    assert!(error.to_string().contains("$TypeNames"), "{error}");
}

#[test]
fn property_bags_are_objects() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Row {
        id: i32,
        #[serde(flatten)]
        more: BTreeMap<String, i32>,
    }
    let row = || Row { id: 1, more: BTreeMap::from([("x".into(), 2)]) };
    both(PropertyBag(row()), Object::custom([("id", 1), ("x", 2)]));
    both(row(), Object::dictionary([("id", 1), ("x", 2)]));
    assert!(to_value(&PropertyBag(BTreeMap::from([(1, 2)]))).unwrap_err().is_unwritable());
    assert_eq!(serde_json::to_string(&PropertyBag(row())).unwrap(), r#"{"id":1,"x":2}"#);
}
