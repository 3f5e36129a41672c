//! Trees: access, comparison, formatting, conversion, and the macro. Compared with serde_json.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::panic::catch_unwind;

use proptest::prelude::*;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use tightwire_json::{Array, Error, JsonString, Map, Number, Value, from_str, json, to_string, to_value};

/// Trees of serde_json.
pub(crate) fn theirs() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let key = prop_oneof![4 => "[a-c]{1,2}", 1 => "[0-3~/é]{0,3}", 1 => "[a-z]{20,30}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-3_i8..3).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![0.0, -0.0, 1.0, 1e300, 0.1]).prop_map(Value::from),
        key.clone().prop_map(Value::from),
        "\\PC{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..8).prop_map(Value::from_iter),
        ]
    })
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the tree with all objects in reverse order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Array(array) => array.iter().map(reversed).collect(),
        Value::Object(map) => map.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect(),
        leaf => leaf.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn formatting_equals_that_of_serde_json(theirs in theirs()) {
        let ours = to_value(&theirs).unwrap();
        prop_assert_eq!(format!("{ours}"), format!("{theirs}"));
        prop_assert_eq!(format!("{ours:#}"), format!("{theirs:#}"));
        prop_assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        prop_assert_eq!(format!("{ours:#?}"), format!("{theirs:#?}"));
        prop_assert_eq!(&ours.to_string().parse::<Value>().unwrap(), &ours);
    }

    #[test]
    fn equality_and_hash_ignore_the_order_of_objects(one in theirs(), other in theirs()) {
        let (ours, different) = (to_value(&one).unwrap(), to_value(&other).unwrap());
        let mut reversed = reversed(&ours);
        prop_assert_eq!(&reversed, &ours);
        prop_assert_eq!(hash(&reversed), hash(&ours));
        prop_assert_eq!(ours == different, one == other);
        reversed.sort_all_objects();
        prop_assert_eq!(reversed.to_string(), one.to_string());
    }

    #[test]
    fn accessors_equal_those_of_serde_json(mut theirs in theirs(), pointer in "(/([a-c]{1,2}|[0-3]|-|01|\\+1|~[012]|é)?){0,4}|a") {
        let mut ours = to_value(&theirs).unwrap();
        let text = |value: Option<&Value>| value.map(ToString::to_string);
        prop_assert_eq!(text(ours.pointer(&pointer)), theirs.pointer(&pointer).map(ToString::to_string));
        for key in ["a", "b", "0"] {
            prop_assert_eq!(text(ours.get(key)), theirs.get(key).map(ToString::to_string));
            prop_assert_eq!(ours[key].to_string(), theirs[key].to_string());
        }
        prop_assert_eq!(ours[1].to_string(), theirs[1].to_string());
        macro_rules! same {
            ($($method:ident)*) => {
                $(prop_assert_eq!(ours.$method(), theirs.$method());)*
            };
        }
        same! {
            is_null is_boolean is_number is_string is_array is_object is_i64 is_u64 is_f64
            as_null as_bool as_i64 as_u64 as_f64 as_str
        }
        prop_assert_eq!(ours.as_array().map(|array| array.len()), theirs.as_array().map(Vec::len));
        prop_assert_eq!(ours.as_object().map(Map::len), theirs.as_object().map(serde_json::Map::len));
        let place = (ours.pointer_mut(&pointer), theirs.pointer_mut(&pointer));
        prop_assert_eq!(place.0.is_some(), place.1.is_some());
        if let (Some(ours), Some(theirs)) = place {
            prop_assert_eq!(ours.take().to_string(), theirs.take().to_string());
        }
        prop_assert_eq!(ours.to_string(), theirs.to_string());
    }

    #[test]
    fn merging_a_tree_into_itself_changes_only_nulls(theirs in theirs()) {
        let mut merged = to_value(&theirs).unwrap();
        tightwire_json::merge_patch(&mut merged, to_value(&theirs).unwrap());
        let mut twice = merged.clone();
        tightwire_json::merge_patch(&mut twice, to_value(&theirs).unwrap());
        prop_assert_eq!(twice.to_string(), merged.to_string());
    }
}

/// Code for serde_json, run with both crates.
#[test]
fn code_for_serde_json_has_the_same_result() {
    macro_rules! run {
        ($json:ident) => {{
            use $json::map::{Entry, Map};
            use $json::value::{self, Index, from_value, to_value};
            use $json::{Number, Value, json};

            fn count<I: Index>(value: &Value, index: I) -> usize {
                value.get(index).and_then(Value::as_array).map_or(0, |array| array.len())
            }

            fn leaves(value: &Value, out: &mut Vec<String>) {
                match value {
                    Value::Null => out.push(String::new()),
                    Value::Bool(value) => out.push(value.to_string()),
                    Value::Number(number) if number.is_f64() => out.push(number.to_string()),
                    Value::Number(number) => out.push(number.as_i64().unwrap_or(-1).to_string()),
                    Value::String(text) if text.is_empty() => out.push("empty".to_owned()),
                    Value::String(text) => out.push(text.to_uppercase()),
                    Value::Array(array) => array.iter().for_each(|value| leaves(value, out)),
                    Value::Object(map) => {
                        for (key, value) in map {
                            out.push(key.to_string());
                            leaves(value, out);
                        }
                    }
                }
            }

            let mut map: Map<String, Value> = Map::new();
            map.insert("a".to_string(), Value::from(1));
            map.insert(String::from("b"), json!([1.5, "x", null]));
            map.entry("c").or_insert_with(|| json!({})).as_object_mut().unwrap().insert("d".to_owned(), true.into());
            *map.entry("a".to_owned()).or_insert(Value::Null) = Value::Number(Number::from_f64(2.5).unwrap());
            if let Entry::Occupied(entry) = map.entry("b") {
                assert_eq!(entry.key(), "b");
            }
            let mut value = Value::Object(map.clone());
            if let Some(array) = value["b"].as_array_mut() {
                array.push("y".into());
                array.retain(|value| !value.is_null());
                array.extend(vec![json!(3), json!("")]);
            }
            let names: Vec<String> = map.keys().map(|key| key.to_string()).collect();
            let numbers = value["b"].as_array().into_iter().flatten().filter_map(Value::as_f64).sum::<f64>();
            let mut out = Vec::new();
            leaves(&value, &mut out);
            for (key, value) in map.iter_mut() {
                *value = Value::String(format!("{key}{value}").into());
            }
            let collected: Value = map.into_iter().filter(|(key, _)| key != "c").collect();
            let list = from_value::<Vec<String>>(to_value(&names).unwrap()).unwrap();
            let parsed: value::Value = "[1, {\"k\": \"v\"}]".parse().unwrap();
            let text = parsed[1]["k"].as_str().map(str::to_owned).unwrap_or_default();
            format!(
                "{value} {value:?} {names:?} {numbers} {out:?} {collected} {list:?} {text} {} {}",
                count(&value, "b") + count(&parsed, 0),
                parsed == json!([1, {"k": text}]),
            )
        }};
    }
    assert_eq!(run!(tightwire_json), run!(serde_json));
}

/// RFC 7396, appendix A.
#[test]
fn merge_patches() {
    for (target, patch, expected) in [
        (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
        (json!({"a": "b"}), json!({"a": null}), json!({})),
        (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
        (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
        (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
        (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
        (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
        (json!({"a": "b"}), json!(["c"]), json!(["c"])),
        (json!({"a": "foo"}), json!(null), json!(null)),
        (json!({"a": "foo"}), json!("bar"), json!("bar")),
        (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
        (json!([1, 2]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
    ] {
        let mut merged = target.clone();
        tightwire_json::merge_patch(&mut merged, patch.clone());
        // The text has the order as well.
        assert_eq!(merged.to_string(), expected.to_string(), "{target} {patch}");
    }
}

#[test]
fn macro_has_the_syntax_of_serde_json() {
    const KEY: &str = "constant";
    let (text, number, list) = (String::from("text"), 7, vec![1, 2]);
    let keys = ["first", "second"];
    macro_rules! same {
        ($($json:tt)+) => {
            let ours = json!($($json)+);
            assert_eq!(ours, to_value(serde_json::json!($($json)+)).unwrap());
        };
    }
    same!(null);
    same!(true);
    same!(-1.5);
    same!("a");
    same!([]);
    same!({});
    same!(text);
    same!([null, true, [], {}, [null], {"a": null}, -1, 1 + 2, text, &list, list.len(), list[1], Some(1), None::<u8>]);
    same!([1, 2, 3,]);
    same!([null,]);
    same!([[1,],]);
    same!({"a": null, "b": [1, {"c": false}], "d": {"e": {}}, "f": number - 1, "g": text.len(),});
    same!({keys[0]: 1, keys[1]: 2, KEY: 3, text.clone(): 4, ("a".to_owned() + "b"): 5, (if number > 1 { "x" } else { "y" }): 6});
    same!({"a": if number > 1 { "x" } else { "y" }, "b": (1, "z"), "d": -number, "e": &keys[..1]});
    assert_eq!(text, "text");
    // serde_json does not accept this.
    assert_eq!(json!({"a": [1, 2].len()}), json!({"a": 2}));
    assert_eq!(json!({"b": 1, "a": [2], "b": 3}).to_string(), r#"{"b":3,"a":[2]}"#);
    assert!(catch_unwind(|| json!(std::collections::BTreeMap::from([((), 1)]))).is_err());
}

#[test]
fn missing_keys_are_null_and_are_inserted() {
    let mut value = Value::Null;
    value["a"]["b"] = json!([1, 2]);
    value["a"]["b"][1] = 3.into();
    value[&String::from("c")] = true.into();
    value[JsonString::from("c")] = false.into();
    assert_eq!(value, json!({"a": {"b": [1, 3]}, "c": false}));
    assert!(value["x"]["y"][7].is_null());
    assert_eq!(value.get_mut("c").map(Value::take), Some(false.into()));
    for index in [
        |value: &mut Value| drop(value["a"]["b"][2].take()),
        |value: &mut Value| drop(value["a"][0].take()),
        |value: &mut Value| drop(value["a"]["b"]["c"].take()),
    ] {
        let mut value = value.clone();
        assert!(catch_unwind(move || index(&mut value)).is_err());
    }
}

#[test]
fn conversions_and_comparisons() {
    for (value, expected) in [
        (Value::from(-1_i8), "-1"),
        (Value::from(u64::MAX), "18446744073709551615"),
        (Value::from(u128::MAX), "340282366920938463463374607431768211455"),
        (Value::from(i128::MIN), "-170141183460469231731687303715884105728"),
        (Value::from(0.5_f32), "0.5"),
        (Value::from(1.0), "1.0"),
        (Value::from(f64::NAN), "null"),
        (Value::from(f32::INFINITY), "null"),
        (Value::from(true), "true"),
        (Value::from("a"), "\"a\""),
        (Value::from(String::from("a")), "\"a\""),
        (Value::from(Cow::Borrowed("a")), "\"a\""),
        (Value::from(JsonString::from('é')), "\"é\""),
        (Value::from(Number::from(1)), "1"),
        (Value::from(Map::new()), "{}"),
        (Value::from(vec!["a", "b"]), r#"["a","b"]"#),
        (Value::from([1, 2]), "[1,2]"),
        (Value::from(&[1.5][..]), "[1.5]"),
        (Value::from(Some("a")), "\"a\""),
        (Value::from(None::<u8>), "null"),
        (Value::from(()), "null"),
        (Value::from(Array::new()), "[]"),
        ([1, 2].into_iter().collect(), "[1,2]"),
        ([("a", 1), ("b", 2), ("a", 3)].into_iter().collect(), r#"{"a":3,"b":2}"#),
        (Value::default(), "null"),
    ] {
        assert_eq!(value.to_string(), expected);
    }

    let text = Value::from("a");
    assert!(
        equal(&text, "a") && equal(&text, &"a") && equal(&text, &String::from("a")) && !equal(&text, "b")
    );
    assert!(equal(&text, &JsonString::from("a")) && !equal(&text, &1) && !equal(&text, &true));
    let (one, max, wide) = (Value::from(1), Value::from(u64::MAX), Value::from(u128::MAX));
    assert!(equal(&one, &1_u8) && equal(&one, &1_i64) && equal(&one, &1.0) && !equal(&one, &-1));
    assert!(
        equal(&max, &u64::MAX) && !equal(&max, &-1) && equal(&wide, &u128::MAX) && !equal(&wide, &u64::MAX)
    );
    let (tenth, large) = (Value::from(0.1), Value::from(1e300));
    assert!(
        equal(&tenth, &0.1) && equal(&tenth, &0.1_f32) && !equal(&large, &1e30_f32) && !equal(&tenth, &0)
    );
    assert!(equal(&Value::Bool(false), &false) && !equal(&Value::Null, &false));
    assert!(&one == 1 && &mut one.clone() == 1);
}

/// Compares in both directions.
fn equal<A: PartialEq<B> + ?Sized, B: PartialEq<A> + ?Sized>(one: &A, other: &B) -> bool {
    let equal = one == other;
    assert_eq!(other == one, equal);
    equal
}

#[test]
fn strings() {
    for text in ["", "short", "exactly 22 bytes of it", "a string that is longer than 22 bytes", "é\u{0}"] {
        let string = JsonString::from(text);
        let copies: [JsonString; 9] = [
            (&string).into(),
            JsonString::deserialize(IntoDeserializer::<Error>::into_deserializer(string.clone())).unwrap(),
            text.to_owned().into(),
            (&text.to_owned()).into(),
            Box::<str>::from(text).into(),
            Cow::Borrowed(text).into(),
            text.parse().unwrap(),
            text.chars().collect(),
            from_str(&to_string(text).unwrap()).unwrap(),
        ];
        for copy in copies {
            assert_eq!(copy, string);
            assert_eq!(hash(&copy), hash(&text));
        }
        assert!(equal(&string, text) && equal(&string, &text) && equal(&string, &text.to_owned()));
        assert!(equal(&string, &Cow::Borrowed(text)) && !equal(&string, "other"));
        assert_eq!(
            (string.len(), string.as_bytes(), AsRef::<[u8]>::as_ref(&string)),
            (text.len(), text.as_bytes(), text.as_bytes())
        );
        assert_eq!(
            (format!("{string:>3}"), format!("{string:?}")),
            (format!("{text:>3}"), format!("{text:?}"))
        );
        assert_eq!(
            (String::from(string.clone()), &*Box::<str>::from(string.clone())),
            (text.to_owned(), text)
        );
        assert_eq!((Cow::from(&string), Cow::from(string.clone())), (text.into(), text.into()));
        let borrowed = <&str>::deserialize(IntoDeserializer::<Error>::into_deserializer(&string));
        assert_eq!((borrowed.unwrap(), String::from(&string)), (text, text.to_owned()));
        assert_eq!(to_string(&string).unwrap(), to_string(text).unwrap());
        assert_eq!(string.cmp(&"m".into()), text.cmp("m"));
    }
}

#[test]
fn arrays() {
    let mut array = Array::with_capacity(3);
    array.push(json!(1));
    array.extend([json!("a"), json!(null)]);
    array.insert(1, true.into());
    array[0] = 2.into();
    assert_eq!(array, [json!(2), json!(true), json!("a"), json!(null)]);
    assert_eq!(
        (array.pop(), array.remove(0), array.swap_remove(0)),
        (Some(Value::Null), json!(2), json!(true))
    );
    array.append(&mut Array::from([1, 2, 3, 4]));
    // The target of `into` is known.
    assert_eq!(Value::Array(vec!["a".into(), 1.into()].into()), json!(["a", 1]));
    array.extend_from_slice(&[json!(5)]);
    array.retain(|value| *value != 2);
    assert_eq!(array.drain(..2).collect::<Vec<_>>(), [json!("a"), json!(1)]);
    assert!(array == vec![3, 4, 5] && array == [3, 4, 5] && array == [3, 4, 5][..] && array != [3, 4]);
    assert!(equal(&array, &array.to_vec()) && equal(&array, &array[..]) && !equal(&array, &[Value::Null]));
    for value in &mut array {
        *value = (value.as_i64().unwrap() * 10).into();
    }
    array.truncate(2);
    assert_eq!((&array).into_iter().chain(&array.clone()).filter_map(Value::as_u64).sum::<u64>(), 140);
    assert_eq!(
        (format!("{array:?}"), to_string(&array).unwrap()),
        ("[Number(30), Number(40)]".into(), "[30,40]".into())
    );
    assert_eq!(from_str::<Array>("[30,40]").unwrap(), array);
    assert_eq!(hash(&array), hash(&array.to_vec()));
    assert_eq!(array.clone().into_iter().collect::<Array>(), Vec::from(array.clone()));
    array.clear();
    assert!(array.is_empty() && from_str::<Array>("{}").unwrap_err().is_data());
}
