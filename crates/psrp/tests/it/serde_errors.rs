//! Errors name the path and the expected type, but never the value. Malicious values end in an error.
#![cfg(feature = "serde")]

use std::collections::BTreeMap;
use std::error::Error as _;

use psrp::serde::{Budget, Plain};
use psrp::value::SecureString;
use psrp::{Object, Value, from_value, to_value};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code, reason = "read for the errors alone")]
struct Order {
    lines: Vec<Line>,
    notes: Option<BTreeMap<String, i32>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
#[allow(dead_code, reason = "read for the errors alone")]
struct Line {
    count: u8,
}

fn error(value: impl Into<Value>) -> String {
    let error = from_value::<Order>(&value.into()).unwrap_err();
    assert!(error.is_mismatch());
    error.to_string()
}

#[test]
fn error_paths_start_at_the_root() {
    let order = |count: Value| {
        let lines = [Object::custom([("Count", Value::from(1))]), Object::custom([("COUNT", count)])];
        Object::custom([("Lines", Object::list(lines))])
    };
    assert_eq!(
        error(order("hunter2".into())),
        "the value is not of the expected shape: Lines[1].Count: expected u8, found a string"
    );
    assert_eq!(
        error(order(4096.into())),
        "the value is not of the expected shape: Lines[1].Count: expected u8, found an integer with an invalid value"
    );
    assert!(
        error(Object::custom([("Lines", Object::list([Object::custom([("x", 1)])]))]))
            .contains("Lines[0]: the member Count is missing")
    );
    let notes = Object::dictionary([("a", Value::from(1)), ("hunter2", "x".into())]);
    let order = Object::custom([("Lines", Object::list([0; 0])), ("Notes", notes)]);
    assert!(error(order).contains("Notes[value 1]: expected i32, found a string"));
}

#[test]
fn serialization_errors_have_a_path() {
    #[derive(Serialize)]
    struct Outer {
        items: Vec<BTreeMap<i32, u128>>,
    }
    let error = to_value(&Outer { items: vec![BTreeMap::new(), BTreeMap::from([(1, 5)])] }).unwrap_err();
    assert!(error.is_unwritable());
    assert!(error.to_string().contains("items[1][value 0]: a 128-bit integer"), "{error}");
}

#[test]
fn errors_of_custom_types_are_the_source() {
    let error = from_value::<std::net::IpAddr>(&"no address".into()).unwrap_err();
    assert!(error.is_mismatch());
    assert!(error.source().unwrap().to_string().contains("address"));
    assert!(!format!("{error} {error:?}").contains("address"), "{error:?}");
}

#[test]
fn error_texts_never_contain_values() {
    #[derive(Debug, Deserialize)]
    enum Choice {
        Yes,
    }
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "read for the errors alone")]
    struct Strict {
        a: i32,
    }
    let secret = "hunter2";
    let values = [
        Value::from(secret),
        Object::list([secret]).into(),
        Object::custom([(secret, secret)]).into(),
        Object::dictionary([(secret, secret)]).into(),
        Object::enumeration(secret, secret, 1).into(),
        SecureString::new(secret).into(),
    ];
    for value in values {
        let errors = [
            from_value::<i32>(&value).err(),
            from_value::<Vec<bool>>(&value).err(),
            from_value::<Choice>(&value).err(),
            from_value::<Strict>(&value).err(),
            from_value::<BTreeMap<i32, i32>>(&value).err(),
            from_value::<char>(&value).err(),
        ];
        for error in errors.into_iter().flatten() {
            assert!(!format!("{error} {error:?}").contains(secret), "{error:?}");
        }
    }
    assert!(matches!(from_value::<Choice>(&"yes".into()), Ok(Choice::Yes)));
}

#[test]
fn secure_strings_are_not_serialized_as_text() {
    #[derive(Serialize, Deserialize)]
    struct Login {
        password: SecureString,
    }
    let login = Login { password: SecureString::new("hunter2") };
    assert_eq!(serde_json::to_string(&login).unwrap(), r#"{"password":null}"#);
    let value = to_value(&login).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"password":null}"#);
    assert_eq!(
        serde_json::to_string(&Plain::new(&value).with_type_names()).unwrap().matches("hunter2").count(),
        0
    );
    assert_eq!(from_value::<serde_json::Value>(&value).unwrap().to_string(), r#"{"password":null}"#);
    assert!(from_value::<BTreeMap<String, String>>(&value).unwrap_err().is_mismatch());
    assert!(from_value::<BTreeMap<String, Vec<u8>>>(&value).unwrap_err().is_mismatch());
    let back: Login = from_value(&value).unwrap();
    assert_eq!(back.password.reveal().unwrap().as_str(), "hunter2");
    // A configuration file may contain the text.
    let login: Login = serde_json::from_str(r#"{"password":"hunter2"}"#).unwrap();
    assert_eq!(login.password.reveal().unwrap().as_str(), "hunter2");
}

fn doubled(levels: u32) -> Value {
    let mut value = Value::from(Object::list(["x"]));
    for _ in 0..levels {
        value = Object::list([value.clone(), value]).into();
    }
    value
}

#[test]
fn doubled_references_exceed_the_budget() {
    let value = doubled(60);
    let budget = Budget::new().max_values(100_000);
    assert!(budget.from_value::<serde_json::Value>(&value).unwrap_err().is_limit());
    let error = serde_json::to_string(&Plain::new(&value).budget(budget)).unwrap_err();
    assert!(error.to_string().contains("budget"), "{error}");
    // Skipping a value, or keeping it as a `Value`, needs no budget.
    assert_eq!(budget.from_value::<Value>(&value).unwrap(), value);
    assert!(budget.from_value::<IgnoredAny>(&value).is_ok());
    assert!(budget.from_value::<serde_json::Value>(&doubled(10)).is_ok());
}

#[test]
fn long_text_costs_more_than_short_text() {
    let text = Object::custom([("t", "x".repeat(64_000))]);
    let value = Value::from(Object::list(vec![text; 1000]));
    let budget = Budget::new().max_values(10_000);
    assert!(budget.from_value::<Vec<BTreeMap<String, String>>>(&value).unwrap_err().is_limit());
    assert!(serde_json::to_string(&Plain::new(&value).budget(budget)).is_err());
}

#[test]
fn cycles_exceed_the_depth() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "read for the errors alone")]
    struct Node {
        me: Option<Box<Self>>,
    }
    let node = Value::from(Object::new_cyclic(|me| Object::builder().extended("me", Value::Cycle(me))));
    assert!(from_value::<Node>(&node).unwrap_err().is_limit());
    assert!(Budget::new().max_depth(7).from_value::<serde_json::Value>(&node).unwrap_err().is_limit());
    // As plain data, the inner object is shown as its text.
    assert_eq!(serde_json::to_string(&node).unwrap(), r#"{"me":null}"#);

    // An object that wraps a reference to itself.
    let knot = Value::from(Object::new_cyclic(|me| Object::builder().wrap(Value::Cycle(me))));
    assert!(from_value::<serde_json::Value>(&knot).unwrap_err().is_limit());
    assert!(from_value::<Vec<i32>>(&knot).is_err());
    assert!(from_value::<i32>(&knot).is_err());
    assert!(from_value::<Node>(&knot).is_err());
    assert!(from_value::<String>(&knot).is_err());
    assert_eq!(serde_json::to_string(&knot).unwrap(), "null");
}

#[test]
fn a_panic_leaves_no_state_behind() {
    struct Panics;
    impl Serialize for Panics {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("on purpose")
        }
    }
    let bag = psrp::serde::PropertyBag(Panics);
    assert!(std::panic::catch_unwind(|| to_value(&bag).is_ok()).is_err());
    assert_eq!(serde_json::to_string(&Value::from(5)).unwrap(), "5");
}
