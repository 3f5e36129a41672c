//! What derived structs look like on the wire, compared with bytes of the Go library.

use std::collections::HashMap;

use parco::{Decode, Encode};

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
    grades: HashMap<String, u8>,
    #[parco(header = u8, elem(small))]
    friends: Vec<String>,
    even_or_odd: bool,
    pet: Animal,
    #[parco(int)]
    pointer: Option<i64>,
    flags: [bool; 5],
    balance: f32,
    more_precise_balance: f64,
    created_at: i64,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Borrowed<'a> {
    #[parco(header = u8, elem(small))]
    names: Vec<&'a str>,
    body: &'a [u8],
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Generic<T> {
    #[parco(header = u32be)]
    all: Vec<T>,
    one: T,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum Frame {
    #[parco(id = 0)]
    Animal(Animal),
    #[parco(id = 1)]
    Flat {
        price: f32,
        #[parco(small)]
        address: String,
    },
    #[parco(id = 2)]
    Nothing,
}

#[test]
fn structs_and_enums_are_written_and_read() {
    let bytes = parco::to_vec(&Animal { specie: "cat".into(), age: 3 }).unwrap();
    assert_eq!(bytes, [3, b'c', b'a', b't', 3]);
    let generic = Generic { all: vec!["a".to_owned()], one: "b".to_owned() };
    let bytes = parco::to_vec(&generic).unwrap();
    assert_eq!(bytes, [0, 0, 0, 1, 1, 0, b'a', 1, 0, b'b']);
    assert_eq!(parco::decode_exact::<Generic<String>>(&bytes).unwrap(), generic);
    assert_eq!(parco::decode_exact::<Generic<&str>>(&bytes).unwrap().one, "b");
    let frame = Frame::Flat { price: 42.0, address: "Plaza mayor".into() };
    let bytes = parco::to_vec(&frame).unwrap();
    assert_eq!(bytes.len(), 17);
    assert_eq!(parco::decode_exact::<Frame>(&bytes).unwrap(), frame);
}
