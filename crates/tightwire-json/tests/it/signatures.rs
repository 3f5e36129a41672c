//! A program for serde_json that calls every public function with the bounds, types and lifetimes of serde_json, compiled and
//! run with both crates.

use std::borrow::Borrow;

use tightwire_json::{Deserializer, Error, Map, Number, RawValue, Serializer, Value, json};

/// Defines the program, which returns the results of all calls.
macro_rules! program {
    ($name:ident, $json:ident) => {
        mod $name {
            use std::borrow::{Borrow, Cow};
            use std::error::Error as _;
            use std::fmt::{Debug, Display};
            use std::hash::Hash;
            use std::io;
            use std::iter::FusedIterator;
            use std::str::FromStr;

            use $json as serde_json;
            use serde::de::{DeserializeOwned, Deserializer as _, Error as _, IntoDeserializer};
            use serde::{Deserialize, Serialize};
            use serde_json::de::{IoRead, Read, SliceRead, StrRead};
            use serde_json::error::Category;
            use serde_json::map::{self, Entry, OccupiedEntry, VacantEntry};
            use serde_json::value::{Index, RawValue, to_raw_value};
            use serde_json::{Deserializer, Error, Map, Number, Result, Serializer, StreamDeserializer, Value, json};

            fn decode<'a, T: Deserialize<'a>>(text: &'a str) -> [Result<T>; 4] {
                [
                    serde_json::from_str(text),
                    serde_json::from_slice(text.as_bytes()),
                    serde_json::de::from_str(text),
                    serde_json::de::from_slice(text.as_bytes()),
                ]
            }

            fn read<R: io::Read, T: DeserializeOwned>(first: R, second: R) -> [Result<T>; 2] {
                [serde_json::from_reader::<R, T>(first), serde_json::de::from_reader(second)]
            }

            fn encode<T: ?Sized + Serialize>(value: &T) -> Vec<String> {
                let mut out = Vec::new();
                serde_json::to_writer::<&mut Vec<u8>, T>(&mut out, value).unwrap();
                serde_json::to_writer_pretty(&mut out, value).unwrap();
                serde_json::ser::to_writer(&mut out, value).unwrap();
                serde_json::ser::to_writer_pretty(&mut out, value).unwrap();
                let vecs: [Result<Vec<u8>>; 5] = [
                    Ok(out),
                    serde_json::to_vec(value),
                    serde_json::to_vec_pretty(value),
                    serde_json::ser::to_vec(value),
                    serde_json::ser::to_vec_pretty(value),
                ];
                let mut texts: Vec<String> = vecs.map(|text| String::from_utf8(text.unwrap()).unwrap()).into();
                texts.push(serde_json::to_string(value).unwrap());
                texts.push(serde_json::to_string_pretty(value).unwrap());
                texts.push(serde_json::ser::to_string(value).unwrap());
                texts.push(serde_json::ser::to_string_pretty(value).unwrap());
                texts
            }

            fn convert<T: Serialize, O: DeserializeOwned>(value: T) -> Result<O> {
                serde_json::value::from_value(serde_json::value::to_value(serde_json::to_value(value)?)?)
            }

            fn values<'de, R: Read<'de>, T: Deserialize<'de>>(read: R) -> (usize, Vec<T>) {
                let mut stream: StreamDeserializer<'de, R, T> = Deserializer::new(read).into_iter::<T>();
                let values = stream.by_ref().map_while(Result::ok).collect();
                (stream.byte_offset(), values)
            }

            fn first<'de, T: Deserialize<'de>>(text: &'de str) -> Option<Result<T>> {
                fn fused<I: FusedIterator>(mut iterator: I) -> Option<I::Item> {
                    iterator.next()
                }
                fused(StreamDeserializer::<'de, StrRead<'de>, T>::new(StrRead::new(text)))
            }

            fn one<'de, R: Read<'de>, T: Deserialize<'de>>(mut deserializer: Deserializer<R>) -> Result<T> {
                let value = T::deserialize(&mut deserializer)?;
                deserializer.end()?;
                Ok(value)
            }

            fn written<W: io::Write, T: ?Sized + Serialize>(compact: W, pretty: W, value: &T) -> Result<[W; 2]> {
                let (mut compact, mut pretty) = (Serializer::new(compact), Serializer::pretty(pretty));
                value.serialize(&mut compact)?;
                value.serialize(&mut pretty)?;
                Ok([compact.into_inner(), pretty.into_inner()])
            }

            fn scalars(value: &Value) -> String {
                let is = [
                    value.is_null(),
                    value.is_boolean(),
                    value.is_number(),
                    value.is_string(),
                    value.is_array(),
                    value.is_object(),
                    value.is_i64(),
                    value.is_u64(),
                    value.is_f64(),
                ];
                let number: Option<&Number> = value.as_number();
                let integers: (Option<i64>, Option<u64>) = (value.as_i64(), value.as_u64());
                let others: (Option<()>, Option<bool>, Option<f64>) = (value.as_null(), value.as_bool(), value.as_f64());
                let equal = (*value == 1_u8, 1_i64 == *value, value == 1.5_f32, *value == 1.5_f64, value == true);
                let text = String::from("x");
                let texts = (*value == *"x", value == "x", *value == text, *"x" == *value, "x" == *value);
                format!("{is:?} {number:?} {integers:?} {others:?} {equal:?} {texts:?} {value} {value:#} {value:?}")
            }

            fn parts<'v, I: Index>(value: &'v Value, index: I, pointer: &str) -> [Option<&'v Value>; 3] {
                let array: Option<&'v [Value]> = value.as_array().map(|array| &array[..]);
                let object: Option<&'v Map<String, Value>> = value.as_object();
                let of_text: Option<&'v str> = value.as_str();
                assert_eq!([array.is_some(), object.is_some(), of_text.is_some()].iter().filter(|is| **is).count(), 1);
                [value.get(index), value.pointer(pointer), array.and_then(|array| array.first())]
            }

            fn change<'v, I: Index + Copy>(value: &'v mut Value, index: I, pointer: &str) -> Option<&'v mut Value> {
                value[index] = json!([value[index].take(), 0]);
                *value.get_mut(index)? = json!({"b": value[index], "a": []});
                value.sort_all_objects();
                value[index]["a"].as_array_mut()?.push(Value::Null);
                let object: &mut Map<String, Value> = value[index].as_object_mut()?;
                object.sort_keys();
                value.pointer_mut(pointer)
            }

            fn from_parts<K: Into<String>, V: Into<Value>, T: Clone + Into<Value>>(key: K, value: V, element: T) -> [Value; 6] {
                [
                    [(key, value)].into_iter().collect(),
                    Value::from(&[element.clone()][..]),
                    Value::from([element.clone()]),
                    Value::from(vec![element.clone()]),
                    Value::from_iter([element.clone()]),
                    Some(element).into(),
                ]
            }

            fn look_up<'m, Q>(map: &'m mut Map<String, Value>, key: &Q) -> Option<&'m mut Value>
            where
                String: Borrow<Q>,
                Q: ?Sized + Ord + Eq + Hash,
            {
                let (key_of, value): (_, &Value) = map.get_key_value(key)?;
                assert!(key_of.len() < 100 && map.contains_key(key) && map.get(key) == Some(value));
                assert_eq!(&map[key], value);
                map[key] = json!([map[key].take()]);
                map.get_mut(key)
            }

            fn remove<Q>(map: &mut Map<String, Value>, key: &Q, entry: &Q) -> (Option<Value>, Option<Value>)
            where
                String: Borrow<Q>,
                Q: ?Sized + Ord + Eq + Hash,
            {
                let removed: Option<Value> = map.remove(key);
                (removed, map.remove_entry(entry).map(|(_, value)| value))
            }

            fn insert<S: Into<String>>(map: &mut Map<String, Value>, key: S) -> &mut Value {
                match map.entry(key) {
                    Entry::Vacant(entry) => vacant(entry),
                    Entry::Occupied(entry) => occupied(entry),
                }
            }

            fn vacant(entry: VacantEntry<'_>) -> &mut Value {
                assert!(!entry.key().is_empty());
                entry.insert(json!("new"))
            }

            fn occupied(mut entry: OccupiedEntry<'_>) -> &mut Value {
                assert!(!entry.key().is_empty() && !entry.get().is_null());
                entry.get_mut().take();
                let previous: Value = entry.insert(json!("old"));
                assert!(previous.is_null());
                entry.into_mut()
            }

            fn entry<F: FnOnce() -> Value, G: FnOnce(&mut Value)>(entry: Entry<'_>, default: F, change: G) -> &mut Value {
                entry.and_modify(change).or_insert_with(default)
            }

            fn iterators<'m>(map: &'m Map<String, Value>) -> String {
                fn ends<I: ExactSizeIterator + DoubleEndedIterator + FusedIterator + Clone + Debug>(iterator: I) -> usize
                where
                    I::Item: Debug,
                {
                    assert_eq!(iterator.clone().rev().count(), iterator.len());
                    format!("{:?}", iterator.collect::<Vec<_>>()).len()
                }
                let iterators: (map::Iter<'m>, map::Keys<'m>, map::Values<'m>) = (map.iter(), map.keys(), map.values());
                let of_reference: map::Iter<'m> = map.into_iter();
                let (owned, values): (map::IntoIter, map::IntoValues) = (map.clone().into_iter(), map.clone().into_values());
                let counts = (ends(iterators.0), ends(iterators.1), ends(iterators.2), ends(of_reference));
                format!("{counts:?} {} {}", owned.rev().count(), values.rev().map(|value| value.to_string()).collect::<String>())
            }

            fn changes<'m, F: FnMut(&mut Value)>(map: &'m mut Map<String, Value>, mut change: F) {
                let values: map::ValuesMut<'_> = map.values_mut();
                values.for_each(&mut change);
                let entries: map::IterMut<'_> = map.iter_mut();
                entries.for_each(|(_, value)| change(value));
                map.into_iter().for_each(|(_, value): (_, &'m mut Value)| change(value));
            }

            fn traits<T>(value: T, other: T) -> String
            where
                T: Clone + Eq + Hash + Debug + Display + FromStr<Err = Error> + Serialize + DeserializeOwned,
                for<'v> &'v T: serde::Deserializer<'v, Error = Error>,
                T: for<'v> serde::Deserializer<'v, Error = Error>,
            {
                let again = T::deserialize(&value).unwrap();
                assert!(T::deserialize(other).unwrap() == again && value.to_string().parse::<T>().unwrap() == again);
                assert!(T::from_str("\u{1}").unwrap_err().is_syntax());
                format!("{value:?} {}", value.clone())
            }

            fn numbers() -> String {
                let from: [Number; 12] = [
                    1_u8.into(),
                    1_u16.into(),
                    1_u32.into(),
                    1_u64.into(),
                    1_usize.into(),
                    (-1_i8).into(),
                    (-1_i16).into(),
                    (-1_i32).into(),
                    (-1_i64).into(),
                    (-1_isize).into(),
                    Number::from_i128(-1).unwrap(),
                    Number::from_u128(1).unwrap(),
                ];
                let float: Option<Number> = Number::from_f64(2.5);
                let mut text = traits(float.clone().unwrap(), "2.5".parse().unwrap());
                for number in from.iter().chain(&float) {
                    let is = (number.is_i64(), number.is_u64(), number.is_f64());
                    let short: (Option<i64>, Option<u64>, Option<f64>) = (number.as_i64(), number.as_u64(), number.as_f64());
                    let long: (Option<i128>, Option<u128>) = (number.as_i128(), number.as_u128());
                    text += &format!("{is:?} {short:?} {long:?} {number:?}");
                }
                assert!(Number::from_f64(f64::NAN).is_none());
                text
            }

            fn errors() -> String {
                let mut text = <Error as serde::ser::Error>::custom("encoding").to_string();
                let io = serde_json::from_reader::<_, Value>(io::BufReader::new(Fails)).unwrap_err();
                for error in [
                    serde_json::from_str::<Value>("{]").unwrap_err(),
                    serde_json::from_str::<Value>("[").unwrap_err(),
                    serde_json::from_str::<u8>("\"\"").unwrap_err(),
                    Error::custom("decoding"),
                    io,
                ] {
                    let category: Category = error.classify();
                    let kinds = (error.is_io(), error.is_syntax(), error.is_data(), error.is_eof());
                    let place: (usize, bool) = (error.line(), error.column() > 0);
                    let kind: Option<io::ErrorKind> = error.io_error_kind();
                    assert!(!error.to_string().is_empty() && !format!("{error:?}").is_empty());
                    text += &format!("{category:?} {kinds:?} {place:?} {kind:?} {}", error.source().is_some());
                    text += &format!("{:?}", io::Error::from(error).kind());
                }
                text
            }

            struct Fails;

            impl io::Read for Fails {
                fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                    Err(io::ErrorKind::TimedOut.into())
                }
            }

            fn raw<'a, T: ?Sized + Serialize>(value: &T, text: &'a str) -> String {
                let owned: Box<RawValue> = to_raw_value(value).unwrap();
                let borrowed: &'a RawValue = serde_json::from_str(text).unwrap();
                let json: &'a str = borrowed.get();
                let constants: [&'static RawValue; 3] = [RawValue::NULL, RawValue::TRUE, RawValue::FALSE];
                let parsed: Box<RawValue> = RawValue::from_string(format!(" {text}\n")).unwrap();
                assert!(RawValue::from_string("[".to_string()).is_err());
                let decoded = <&'a RawValue as IntoDeserializer<'a, Error>>::into_deserializer(borrowed);
                let decoded: &'a str = decoded.deserialize_any(Borrowed).unwrap();
                let default = Box::<RawValue>::default().to_owned();
                let plain: Box<str> = parsed.clone().into();
                assert_eq!(encode(&owned), encode(&*owned));
                format!("{owned:?} {parsed} {json} {constants:?} {decoded} {default} {plain}")
            }

            struct Borrowed;

            impl<'a> serde::de::Visitor<'a> for Borrowed {
                type Value = &'a str;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a string")
                }

                fn visit_borrowed_str<E>(self, text: &'a str) -> std::result::Result<&'a str, E> {
                    Ok(text)
                }
            }

            /// Key of the program.
            #[derive(Clone, Copy)]
            struct Id(u8);

            impl From<Id> for String {
                fn from(id: Id) -> Self {
                    format!("id {}", id.0)
                }
            }

            pub(super) fn results() -> Vec<String> {
                let document = r#"{"a": [1, "x", null], "b": {"c": 1.5}}"#;
                let mut value: Value = json!({"a": [1, "x", null], "b": {"c": 1.5}});
                let mut results = vec![
                    format!("{:?}", decode::<&str>("\"x\"").map(Result::unwrap)),
                    format!("{:?}", read::<&[u8], Value>(document.as_bytes(), b"1").map(Result::unwrap)),
                    format!("{:?}", encode("x")),
                    format!("{:?}", encode(&value)),
                    format!("{:?}", convert::<_, (u8, String)>((1, "x")).unwrap()),
                    format!("{:?}", values::<_, &str>(StrRead::new("\"a\" \"b\" 1"))),
                    format!("{:?}", values::<_, u8>(SliceRead::new(b"1 2 "))),
                    format!("{:?}", values::<_, u8>(IoRead::new(&b"1 2"[..]))),
                    format!("{:?}", values::<_, u8>(&mut StrRead::new("1 2"))),
                    format!("{:?}", first::<&str>("\"a\"").unwrap().unwrap()),
                    format!("{:?}", one::<_, &str>(Deserializer::from_str("\"a\"")).unwrap()),
                    format!("{:?}", one::<_, &[u8]>(Deserializer::from_slice(b"\"a\"")).unwrap()),
                    format!("{:?}", one::<_, u8>(Deserializer::from_reader(&mut &b"1"[..])).unwrap()),
                    format!("{:?}", written(Vec::new(), Vec::new(), "x").unwrap()),
                    format!("{:?}", parts(&value, "a", "/a/0")),
                    format!("{:?}", parts(&value, "a".to_string(), "/b")),
                    format!("{:?}", parts(&value["a"], 1, "")),
                    format!("{:?}", change(&mut value, "a", "/a/b/0")),
                    format!("{:?}", from_parts(Id(1), 1_u8, "x")),
                    format!("{:?}", from_parts('k', 1.5_f32, true)),
                    format!("{:?}", from_parts(Cow::Borrowed("k"), (), json!(null))),
                    numbers(),
                    errors(),
                    raw("x", "\"text\""),
                    format!("{:?} {:?}", Value::default(), <&Value>::default()),
                    format!("{:?}", 7.serialize(serde_json::value::Serializer).unwrap()),
                    traits(value.clone(), value.clone()),
                ];
                results.extend([json!(null), json!(true), json!(1), json!(-1), json!(1.5), json!("x"), json!([])].iter().map(scalars));
                let text: (Value, Value, Value) = ("x".into(), String::from("x").into(), Cow::Borrowed("x").into());
                assert!(text.0 == text.1 && text.1 == text.2);

                let mut map: Map<String, Value> = Map::with_capacity(3);
                assert!(map.is_empty() && Map::new() == Map::default());
                // The target of `into` is known.
                assert_eq!(map.insert("x".into(), 1.into()), None);
                assert_eq!(map.insert("x".to_owned(), json!({"deep": [{"er": null}]})), Some(json!(1)));
                map.extend([("y".to_string(), json!(2)), ("z".to_string(), json!(3))]);
                map.append(&mut Map::from_iter([(String::from("zz"), json!(4))]));
                results.push(format!("{:?}", look_up(&mut map, "x")));
                results.push(format!("{:?}", look_up(&mut map, &"x".to_string())));
                results.push(format!("{:?} {:?}", insert(&mut map, Id(2)).clone(), insert(&mut map, "x").clone()));
                results.push(entry(map.entry("y"), || json!(0), |value| *value = json!(9)).to_string());
                results.push(map.entry("zzz").or_insert(json!(5)).to_string());
                assert_eq!(map.entry("y").key(), "y");
                changes(&mut map, |value| *value = json!([value.take()]));
                map.sort_keys();
                results.push(iterators(&map));
                map.retain(|key, value| key != "zzz" && !value.is_null());
                results.push(traits_of_map(&map));
                results.push(format!("{:?} {}", remove(&mut map, "zz", "y"), map.len()));
                if let Entry::Occupied(entry) = map.entry("x") {
                    results.push(entry.remove().to_string());
                }
                if let Entry::Occupied(entry) = map.entry("z") {
                    results.push(entry.remove_entry().1.to_string());
                }
                results.push(format!("{map:?}"));
                map.clear();
                results.push(Value::from(map).to_string());
                results
            }

            fn traits_of_map(map: &Map<String, Value>) -> String {
                fn hashed<T: Hash + Eq + Clone + Debug + Serialize>(value: &T) -> String {
                    format!("{value:?} {:?}", encode(value))
                }
                let of_reference = <&Map<String, Value> as IntoDeserializer<'_, Error>>::into_deserializer(map);
                let owned = <Map<String, Value> as IntoDeserializer<'_, Error>>::into_deserializer(map.clone());
                let value = <Value as IntoDeserializer<'_, Error>>::into_deserializer(Value::Object(map.clone()));
                let trees = [Value::deserialize(of_reference), Value::deserialize(owned), Value::deserialize(value)];
                assert!(trees.iter().all(|tree| tree.as_ref().unwrap().as_object() == Some(map)));
                assert_eq!(Map::from_str("{\"a\": 1}").unwrap().len(), 1);
                hashed(map)
            }
        }
    };
}

program!(ours, tightwire_json);
program!(theirs, serde_json);

#[test]
fn every_public_function_has_the_bounds_and_results_of_serde_json() {
    for (ours, theirs) in ours::results().iter().zip(theirs::results()) {
        assert_eq!(*ours, theirs);
    }
}

#[test]
fn maps_are_searched_without_a_conversion_of_the_key() {
    /// Text with comparisons of its own.
    #[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Name(String);
    impl Borrow<Name> for String {
        fn borrow(&self) -> &Name {
            unreachable!("keys are not converted")
        }
    }
    for count in [3, 100] {
        let mut map: Map<_, _> = (0..count).map(|key| (format!("é{key}"), json!(key))).collect();
        assert_eq!(map.get(&Name("é0".to_owned())), Some(&json!(0)));
        assert!(!map.contains_key(&Name(String::new())));
        let key = map.keys().next().unwrap().clone();
        assert!(map.contains_key(&key) && map.contains_key(key.as_str()));
        assert_eq!(map.remove(&Name("é1".to_owned())), Some(json!(1)));
    }
    let constants: [&'static Value; 3] = [&json!(true), &json!(false), &json!(null)];
    assert_eq!(constants, [&Value::Bool(true), &Value::Bool(false), &Value::Null]);
}

/// Names of methods that serde_json's types do not have, also of private ones of this crate.
#[test]
fn methods_of_a_program_are_called() {
    macro_rules! extension {
        ($($name:ident)*) => {
            trait Extension: Sized {
                $(fn $name(&self) -> &'static str {
                    stringify!($name)
                })*
            }

            impl Extension for Value {}
            impl Extension for Map<String, Value> {}
            impl Extension for Number {}
            impl Extension for Error {}
            impl Extension for Box<RawValue> {}
            impl<R> Extension for Deserializer<R> {}
            impl<W> Extension for Serializer<W> {}

            fn check(names: [&str; 7]) {
                assert_eq!(names, [names[0]; 7]);
            }

            $(check([
                json!([]).$name(),
                Map::new().$name(),
                Number::from(1).$name(),
                tightwire_json::from_str::<u8>("").unwrap_err().$name(),
                RawValue::NULL.to_owned().$name(),
                Deserializer::from_str("").$name(),
                Serializer::new(Vec::new()).$name(),
            ]);)*
        };
    }
    extension! {
        as_bytes as_i8 as_text as_usize at change code codec depth diff entry_of filter find flatten inner
        keep kind limit location map merge merge_patch message moved_by offset parts path position query read reader remaining
        search select set slot span state to_vec type_name unexpected value walk with_position writer
    }
}
