//! Evolve structs: a length, then the fields.

use std::collections::BTreeMap;
use std::io;

use tightwire_parco::schema::{Schema, Value, of};
use tightwire_parco::{
    Decode, Decoder, Encode, Error, Limits, Mode, Options, Segment, WireExt as _, decode_exact,
    encode_to_slice, encoded_len, to_vec,
};

use super::same;

/// The first version of a struct.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct Old {
    id: u8,
    flag: bool,
}

/// The third version: two fields were added, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct New {
    id: u8,
    flag: bool,
    #[parco(default_on_eof)]
    name: String,
    #[parco(default_on_eof)]
    inner: Old,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum Event<T> {
    #[parco(id = 1)]
    Tuple(T, u8),
    #[parco(id = 2)]
    Named { first: T, last: u8 },
}

/// A struct in every kind of type.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Places<T> {
    field: T,
    list: Vec<T>,
    map: BTreeMap<u8, T>,
    option: Option<Box<T>>,
    array: [T; 2],
    tuple: Event<T>,
    named: Event<T>,
    last: u8,
}

fn places<T: Clone>(value: &T) -> Places<T> {
    let value = || value.clone();
    Places {
        field: value(),
        list: vec![value(), value()],
        map: [(5, value())].into(),
        option: Some(Box::new(value())),
        array: [value(), value()],
        tuple: Event::Tuple(value(), 6),
        named: Event::Named { first: value(), last: 7 },
        last: 8,
    }
}

fn old() -> Old {
    Old { id: 1, flag: true }
}

fn new() -> New {
    New { id: 1, flag: true, name: "abc".into(), inner: Old { id: 2, flag: false } }
}

#[test]
fn length_precedes_the_fields() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(evolve)]
    struct Empty;
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(evolve)]
    struct Long(#[parco(blob)] Vec<u8>);

    same(&Empty, &[0]);
    same(&old(), &[2, 1, 1]);
    same(&new(), &[9, 1, 1, 3, b'a', b'b', b'c', 2, 2, 0]);
    same(&Some(old()), &[1, 2, 1, 1]);
    same(&Long(vec![7; 126]), &[&[127, 126][..], &[7; 126]].concat());
    same(&Long(vec![7; 127]), &[&[0x80, 1, 127][..], &[7; 127]].concat());
    same(&Long(vec![7; 20_000]), &[&[0xa3, 0x9c, 1, 0xa0, 0x9c, 1][..], &[7; 20_000]].concat());
    let mut slice = [0; 130];
    assert_eq!(encode_to_slice(&Long(vec![7; 127]), &mut slice).unwrap(), 130);
    assert_eq!(slice[..4], [0x80, 1, 127, 7]);
    // A slice that is too small for the message, but not for its fields.
    let mut slice = [0; 129];
    assert!(encode_to_slice(&Long(vec![7; 127]), &mut slice).unwrap_err().is_buffer_full());
}

#[test]
fn both_versions_decode_each_other_in_every_place() {
    let read: Places<New> = decode_exact(&to_vec(&places(&old())).unwrap()).unwrap();
    assert_eq!(read, places(&New { id: 1, flag: true, ..New::default() }));
    let read: Places<Old> = decode_exact(&to_vec(&places(&new())).unwrap()).unwrap();
    assert_eq!(read, places(&old()));
    // A version in between.
    assert_eq!(
        decode_exact::<New>(&[4, 1, 1, 1, b'x']).unwrap(),
        New { name: "x".into(), inner: Old::default(), ..new() }
    );
    // Missing fields are reset when a value is reused.
    let mut value = new();
    tightwire_parco::decode_into(&[2, 1, 1], &mut value).unwrap();
    assert_eq!(value, New { id: 1, flag: true, ..New::default() });
}

/// Derived and run-time wire types report the same error.
#[track_caller]
fn fails(bytes: &[u8]) -> Error {
    let error = decode_exact::<New>(bytes).unwrap_err();
    let dynamic = of::<New>().compile().unwrap().decode_exact::<Value>(bytes).unwrap_err();
    assert_eq!((dynamic.to_string(), dynamic.missing()), (error.to_string(), error.missing()));
    let mut stream = Decoder::new(bytes);
    assert!(stream.decode::<New>().is_err());
    error
}

#[test]
fn a_struct_that_ends_inside_a_field_is_malformed() {
    for (bytes, path, offset) in [
        // Before a required field.
        (&[0][..], "id", 1),
        (&[1, 1], "flag", 2),
        // Inside a string, and inside its length.
        (&[5, 1, 1, 3, b'a', b'b'], "name", 4),
        (&[3, 1, 1, 0x80], "name", 3),
        // An inner struct that is longer than the outer one, although the input is long enough.
        (&[5, 1, 1, 0, 2, 9, 0], "inner", 5),
    ] {
        let error = fails(bytes);
        assert!(error.is_invalid_value() && !error.is_unexpected_end(), "{error}");
        assert!(error.missing().is_none());
        assert_eq!((error.path(), error.offset()), (&[Segment::Field(path)][..], Some(offset)), "{bytes:?}");
    }
    // The same with bytes after the struct.
    let error = decode_exact::<Places<New>>(&[1, 1, 1, 1, 1, 1, 1, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the length of a struct ends inside or before a required field at .field.flag (byte 2)"
    );
}

#[test]
fn a_length_beyond_the_input_is_truncation() {
    for (bytes, missing) in
        [(&[9, 1, 1][..], 7), (&[0xff, 0xff, 0xff, 0xff, 0x0f, 1], 0xffff_fffe), (&[0x80], 1), (&[], 1)]
    {
        let error = fails_or_ends(bytes);
        assert!(error.is_unexpected_end(), "{error}");
        assert_eq!(error.missing(), Some(missing));
    }
    // Not the shortest form.
    assert!(fails(&[0x82, 0, 1, 1]).is_invalid_value());
    let lenient = Options::new().mode(Mode::Compat);
    assert_eq!(lenient.decode_exact::<Old>(&[0x82, 0, 1, 1]).unwrap(), old());
}

fn fails_or_ends(bytes: &[u8]) -> Error {
    if bytes.is_empty() { decode_exact::<New>(bytes).unwrap_err() } else { fails(bytes) }
}

/// Errors behind an evolve struct have the offset in the whole message.
#[test]
fn offsets_count_from_the_start_of_the_message() {
    let bytes = to_vec(&places(&new())).unwrap();
    for len in 0..bytes.len() {
        let error = decode_exact::<Places<New>>(&bytes[..len]).unwrap_err();
        assert!(error.is_unexpected_end(), "{error}");
        assert!(error.missing().unwrap() <= bytes.len() - len);
        assert!(error.offset().unwrap() <= len);
    }
    let mut damaged = bytes;
    // The flag of the second element of the list.
    damaged[23] = 9;
    let error = decode_exact::<Places<New>>(&damaged).unwrap_err();
    assert_eq!(error.to_string(), "a flag is neither 0 nor 1 at .list[1].flag (byte 23)");
}

#[test]
fn limits_apply_inside_of_evolve_structs() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(evolve)]
    struct Chain {
        #[parco(default_on_eof)]
        next: Option<Box<Self>>,
    }
    let chain =
        |len: usize| (1..len).fold(Chain { next: None }, |next, _| Chain { next: Some(Box::new(next)) });
    let depth = |levels| Options::new().limits(Limits::default().max_depth(levels));
    for levels in [1, 2, 64] {
        let bytes = depth(levels).to_vec(&chain(levels as usize)).unwrap();
        assert_eq!(depth(levels).decode_exact::<Chain>(&bytes).unwrap(), chain(levels as usize));
        assert!(depth(levels - 1).decode_exact::<Chain>(&bytes).unwrap_err().is_limit());
        assert!(depth(levels - 1).to_vec(&chain(levels as usize)).unwrap_err().is_limit());
        let mut stream = Decoder::with_options(&*bytes, depth(levels - 1));
        assert!(stream.decode::<Chain>().unwrap_err().is_limit());
    }
    assert_eq!(encoded_len(&chain(64)).unwrap(), to_vec(&chain(64)).unwrap().len());

    let small = Options::new().limits(Limits::default().max_bytes(2));
    assert!(small.decode_exact::<New>(&to_vec(&new()).unwrap()).unwrap_err().is_limit());
    // A stream does not read a struct that is larger than a message may be.
    let small = Options::new().limits(Limits::default().max_allocation(100));
    let endless = io::Read::chain(&[0xff, 0xff, 0x03][..], io::repeat(0));
    assert!(Decoder::with_options(endless, small).decode::<New>().unwrap_err().is_limit());
}

#[test]
fn schemas_know_required_fields() {
    let Schema::Named { name, inner } = of::<New>() else { panic!("another schema") };
    let Schema::Evolve { required, fields } = *inner else { panic!("another schema") };
    assert_eq!(name, "New");
    assert_eq!((required, fields.len()), (2, 4));
    assert_eq!(of::<Places<Old>>().canonical().matches("evolve(u8 bool)").count(), 9);
    let wire = of::<New>().compile().unwrap();
    // A message of the second version is encoded to the same bytes again.
    let bytes = [4, 1, 1, 1, b'x'];
    let value = wire.decode_exact::<Value>(&bytes).unwrap();
    assert_eq!(value.as_struct().unwrap().len(), 3);
    assert_eq!(wire.to_vec(&value).unwrap(), bytes);
    assert!(wire.to_vec(&Value::Struct(vec![1u8.into()])).unwrap_err().is_unknown_type());
    // An optional field can contain the struct itself.
    let fields = vec![("id".into(), of::<u8>()), ("next".into(), Schema::Recursive(1))];
    let list = Schema::Evolve { required: 1, fields }.compile().unwrap();
    let bytes = [5, 1, 3, 2, 1, 3];
    let value = list.decode_exact::<Value>(&bytes).unwrap();
    assert_eq!(list.to_vec(&value).unwrap(), bytes);
    assert_eq!(list.schema().canonical(), "@evolve(u8 ^1)");
    let wrong = Schema::Evolve { required: 1, fields: Vec::new() };
    assert!(wrong.compile().unwrap_err().is_invalid());
}
