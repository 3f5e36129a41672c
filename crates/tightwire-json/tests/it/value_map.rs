//! Objects, compared with a vector of entries and with the object of serde_json.

use proptest::prelude::*;
use tightwire_json::map::{Entry, Map};
use tightwire_json::{JsonString, Value, from_str, json, to_string};

#[derive(Debug, Clone)]
enum Change {
    Insert(String, i32),
    ShiftInsert(prop::sample::Index, String, i32),
    Set(String, i32),
    Remove(String),
    ShiftRemove(String),
    OrInsert(String, i32),
    RemoveEntry(String, bool),
    Retain(i32),
    Append(Vec<(String, i32)>),
    Sort,
}

fn change() -> impl Strategy<Value = Change> {
    // Enough keys for an index.
    let key = || {
        (0_u8..40).prop_map(|key| {
            if key % 7 == 0 { format!("a key of many more bytes {key}") } else { key.to_string() }
        })
    };
    prop_oneof![
        12 => (key(), any::<i32>()).prop_map(|(key, value)| Change::Insert(key, value)),
        1 => (any::<prop::sample::Index>(), key(), any::<i32>())
            .prop_map(|(index, key, value)| Change::ShiftInsert(index, key, value)),
        1 => (key(), any::<i32>()).prop_map(|(key, value)| Change::Set(key, value)),
        4 => key().prop_map(Change::Remove),
        1 => key().prop_map(Change::ShiftRemove),
        2 => (key(), any::<i32>()).prop_map(|(key, value)| Change::OrInsert(key, value)),
        2 => (key(), any::<bool>()).prop_map(|(key, shift)| Change::RemoveEntry(key, shift)),
        1 => (2..5).prop_map(Change::Retain),
        1 => prop::collection::vec((key(), any::<i32>()), 0..20).prop_map(Change::Append),
        1 => Just(Change::Sort),
    ]
}

/// Sets a value as `Map::insert` does.
fn insert(model: &mut Vec<(String, i32)>, key: String, value: i32) -> Option<i32> {
    match model.iter_mut().find(|entry| entry.0 == key) {
        Some(entry) => Some(std::mem::replace(&mut entry.1, value)),
        None => {
            model.push((key, value));
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changes_equal_those_of_a_vector(changes in prop::collection::vec(change(), 0..120)) {
        let mut map = Map::new();
        let mut model: Vec<(String, i32)> = Vec::new();
        for change in changes {
            let find = |key: &str| model.iter().position(|entry| entry.0 == key);
            match change {
                Change::Insert(key, value) => {
                    let expected = insert(&mut model, key.clone(), value).map(Value::from);
                    prop_assert_eq!(map.insert(key, value.into()), expected);
                }
                Change::ShiftInsert(index, key, value) => {
                    let previous = find(&key).map(|position| model.remove(position).1);
                    let index = index.index(model.len() + 1);
                    model.insert(index, (key.clone(), value));
                    prop_assert_eq!(map.shift_insert(index, key, value.into()), previous.map(Value::from));
                }
                Change::Set(key, value) => {
                    prop_assert_eq!(map.get_mut(&key).is_some(), find(&key).is_some());
                    if let Some(position) = find(&key) {
                        model[position].1 = value;
                        map[&key] = value.into();
                    }
                }
                Change::Remove(key) => {
                    let expected = find(&key).map(|position| model.swap_remove(position));
                    let expected = expected.map(|(key, value)| (key.into(), value.into()));
                    prop_assert_eq!(map.remove_entry(&key), expected);
                }
                Change::ShiftRemove(key) => {
                    let expected = find(&key).map(|position| model.remove(position).1.into());
                    prop_assert_eq!(map.shift_remove(&key), expected);
                }
                Change::OrInsert(key, value) => {
                    let expected = match find(&key) {
                        Some(position) => {
                            model[position].1 /= 2;
                            model[position].1
                        }
                        None => {
                            insert(&mut model, key.clone(), value);
                            value
                        }
                    };
                    let halve = |value: &mut Value| *value = (value.as_i64().unwrap() / 2).into();
                    prop_assert_eq!(map.entry(&key).key().clone(), &*key);
                    prop_assert_eq!(&*map.entry(key).and_modify(halve).or_insert(value.into()), &Value::from(expected));
                }
                Change::RemoveEntry(key, shift) => match (map.entry(&*key), find(&key)) {
                    (Entry::Vacant(entry), None) => prop_assert_eq!(entry.key(), &key),
                    (Entry::Occupied(mut entry), Some(position)) => {
                        prop_assert_eq!(entry.insert(7.into()), model[position].1);
                        prop_assert_eq!(entry.get(), &Value::from(7));
                        match shift {
                            true => drop((entry.shift_remove(), model.remove(position))),
                            false => drop((entry.remove(), model.swap_remove(position))),
                        }
                    }
                    (entry, position) => prop_assert!(false, "{:?} {:?}", entry, position),
                },
                Change::Retain(divisor) => {
                    map.retain(|_, value| value.as_i64().unwrap() % i64::from(divisor) != 0);
                    model.retain(|entry| entry.1 % divisor != 0);
                }
                Change::Append(entries) => {
                    let mut other: Map =
                        entries.iter().map(|(key, value)| (key, Value::from(*value))).collect();
                    map.append(&mut other);
                    prop_assert!(other.is_empty());
                    for (key, value) in entries {
                        insert(&mut model, key, value);
                    }
                }
                Change::Sort => {
                    map.sort_keys();
                    model.sort();
                }
            }
            prop_assert_eq!(map.len(), model.len());
            prop_assert!(map.iter().map(|(key, value)| (key.as_str(), value.as_i64().unwrap() as i32)).eq(
                model.iter().map(|(key, value)| (key.as_str(), *value))
            ));
            for key in 0..40 {
                let key = key.to_string();
                let expected = model.iter().find(|entry| entry.0 == key).map(|entry| Value::from(entry.1));
                prop_assert_eq!(map.get(&key), expected.as_ref());
                prop_assert_eq!(map.contains_key(&*key), expected.is_some());
            }
        }
        let theirs: serde_json::Map<_, _> = model.into_iter().map(|(key, value)| (key, value.into())).collect();
        prop_assert_eq!(serde_json::to_value(&map).unwrap(), serde_json::Value::Object(theirs));
        prop_assert_eq!(&from_str::<Map>(&to_string(&map).unwrap()).unwrap(), &map);
    }
}

#[test]
fn iterators() {
    let entries = [("b", 1), ("a", 2), ("c", 3)];
    let mut map: Map<String, Value> = entries.map(|(key, value)| (key, value.into())).into_iter().collect();
    assert!(map.keys().eq(["b", "a", "c"]) && map.keys().rev().eq(["c", "a", "b"]));
    assert!(map.values().eq([1, 2, 3].map(Value::from).iter()) && map.values().len() == 3);
    for value in map.values_mut() {
        *value = json!([value.take()]);
    }
    for (key, value) in &mut map {
        *value = json!({key.as_str(): value.take()});
    }
    assert_eq!(to_string(&map).unwrap(), r#"{"b":{"b":[1]},"a":{"a":[2]},"c":{"c":[3]}}"#);
    assert_eq!(map["a"]["a"][0], 2);
    assert_eq!(map.get_key_value("c"), Some((&JsonString::from("c"), &json!({"c": [3]}))));
    assert_eq!(map.clone().into_iter().map(|(key, _)| String::from(key)).collect::<String>(), "bac");
    assert_eq!(map.clone().into_values().next_back(), Some(json!({"c": [3]})));
    assert_eq!(map.clone().into_iter().map(|(key, _)| key).collect::<Vec<_>>(), ["b", "a", "c"]);
    assert_eq!(format!("{:?}", map.iter().next()), r#"Some(("b", Object {"b": Array [Number(1)]}))"#);
    map.clear();
    assert_eq!((map.len(), format!("{map:?}"), "{}".parse::<Map>().unwrap() == map), (0, "{}".into(), true));
    assert!(std::panic::catch_unwind(|| map["a"].is_null()).is_err());
}

/// Takes minutes if the time is quadratic.
#[test]
fn many_keys_are_inserted_and_removed_in_linear_time() {
    const COUNT: usize = 200_000;
    let mut value = json!({});
    for key in 0..COUNT {
        value[key.to_string()] = key.into();
    }
    let map = value.as_object_mut().unwrap();
    assert_eq!(map.len(), COUNT);
    let keys: Vec<_> = map.keys().step_by(2).cloned().collect();
    for key in &keys {
        assert!(map.remove(key).is_some());
    }
    assert_eq!(map.len(), COUNT / 2);
    tightwire_json::merge_patch(&mut value, (0..COUNT).map(|key| (key.to_string(), Value::Null)).collect());
    assert_eq!(value, json!({}));
}
