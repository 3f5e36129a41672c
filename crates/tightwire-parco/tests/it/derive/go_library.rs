//! Messages of the Go library, byte for byte.

use std::collections::{BTreeMap, HashMap};

use tightwire_parco::{Decode, Encode};

use crate::derive::support::{same, vector};

#[derive(Debug, Default, PartialEq, Encode, Decode)]
struct Animal {
    #[parco(small)]
    specie: String,
    age: u8,
}

#[derive(Debug, Default, PartialEq, Encode, Decode)]
struct Example {
    #[parco(small)]
    greet: String,
    life_sense: u8,
    #[parco(header = u8, key(small))]
    grades: BTreeMap<String, u8>,
    #[parco(header = u8, elem(small))]
    friends: Vec<String>,
    even_or_odd: bool,
    pet: Animal,
    #[parco(int)]
    pointer: Option<i64>,
    flags: [bool; 5],
    balance: f32,
    more_precise_balance: f64,
    #[parco(time)]
    created_at: i64,
}

#[test]
fn go_library_example_matches() {
    let (case, bytes) = vector("roundtrip", "struct-example");
    let example = Example {
        greet: "hey".into(),
        life_sense: 42,
        grades: BTreeMap::from([("math".into(), 5)]),
        friends: ["@boliri", "@danirod", "@enrigles", "@f3r"].map(Into::into).into(),
        even_or_odd: true,
        pet: Animal { specie: "cat".into(), age: 3 },
        pointer: Some(73),
        flags: [true, false, false, true, false],
        balance: 234.987,
        more_precise_balance: 1_234_243.567_8,
        created_at: case["value"]["CreatedAt"].as_str().unwrap().parse().unwrap(),
    };
    same(&example, &bytes);
    same(&Example::default(), &vector("roundtrip", "struct-example-zero").1);
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Point {
    x: i32,
    #[parco(be)]
    y: i32,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Padded {
    name: String,
    age: u8,
    #[parco(skip = 10)]
    pad: (),
    #[parco(be)]
    i: i16,
    #[parco(header = u8, blob)]
    b: Vec<u8>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct User {
    name: String,
    age: u8,
    email: Option<String>,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Empty {}

#[test]
fn small_structs_match_the_vectors() {
    same(&Animal { specie: "cat".into(), age: 3 }, &vector("roundtrip", "struct-animal").1);
    same(&Point { x: 1, y: -2 }, &vector("roundtrip", "struct-point-mixed").1);
    let padded = Padded { name: "Al".into(), age: 30, pad: (), i: -7, b: vec![9, 8] };
    same(&padded, &vector("roundtrip", "struct-padded").1);
    let mut user = User { name: "Al".into(), age: 30, email: Some("a@b.c".into()) };
    same(&user, &vector("roundtrip", "struct-userv2-some").1);
    user.email = None;
    same(&user, &vector("roundtrip", "struct-userv2-none").1);
    assert!(tightwire_parco::to_vec(&Empty {}).unwrap().is_empty());
    assert_eq!(tightwire_parco::decode_exact::<Empty>(&[]).unwrap(), Empty {});
}

/// The benchmarks' message with one-byte headers.
#[derive(Debug, PartialEq, Encode, Decode)]
struct Short {
    name: String,
    str: String,
    num: u16,
    #[parco(header = u8)]
    arr: Vec<u16>,
    #[parco(header = u8, key(small))]
    map: HashMap<String, u8>,
    bool: bool,
    float32: f32,
    float64: f64,
}

/// The same message with two-byte headers.
#[derive(Debug, PartialEq, Encode, Decode)]
struct Long {
    name: String,
    str: String,
    num: u16,
    arr: Vec<u16>,
    #[parco(key(small))]
    map: HashMap<String, u8>,
    bool: bool,
    float32: f32,
    float64: f64,
}

fn arr(count: u64) -> Vec<u16> {
    (0..count).map(|index| ((index * 2_654_435_761) >> 7) as u16).collect()
}

fn map(count: u64) -> HashMap<String, u8> {
    (0..count).map(|index| (index.to_string(), (7 * index) as u8)).collect()
}

/// Checks the bytes of the Go library, whose map has an arbitrary order.
fn bench<T: Encode + tightwire_parco::DecodeOwned + PartialEq + std::fmt::Debug>(value: &T, id: &str) {
    let (_, bytes) = vector("roundtrip", id);
    assert_eq!(&tightwire_parco::decode_exact::<T>(&bytes).unwrap(), value);
    let ours = tightwire_parco::to_vec(value).unwrap();
    assert_eq!(ours.len(), bytes.len());
    assert_eq!(&tightwire_parco::decode_exact::<T>(&ours).unwrap(), value);
}

#[test]
fn benchmark_messages_match_the_vectors() {
    let short = |name: &str, str: String, num, count| Short {
        name: name.into(),
        str,
        num,
        arr: arr(count),
        map: map(count),
        bool: true,
        float32: f32::MAX,
        float64: f64::MAX,
    };
    bench(&short("small size", "oh hi Mark".into(), 42, 10), "bench-full-small");
    bench(&short("medium size", "oh hi Mark! ".repeat(10), 42134, 100), "bench-full-medium");
    let large = Long {
        name: "large size".into(),
        str: "oh hi Mark! ".repeat(100),
        num: 65535,
        arr: arr(1000),
        map: map(1000),
        bool: true,
        float32: f32::MAX,
        float64: f64::MAX,
    };
    bench(&large, "bench-full-large");
}
