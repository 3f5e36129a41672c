//! Attributes with which tightwire-parco reads and writes the bytes of other formats.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::num::NonZero;
use std::time::Duration;

/// Declares a type for a format in which lengths have the type `$header` and ids of variants `$id`.
macro_rules! message {
    ($module:ident, $header:ident, $id:ident, { $($(#[$attribute:meta])* $number:ident: $type:ty = $value:expr,)* }) => {
        mod $module {
            use super::*;

            #[derive(Debug, PartialEq)]
            #[derive(serde::Serialize, serde::Deserialize)]
            #[derive(bincode::Encode, bincode::Decode)]
            #[derive(borsh::BorshSerialize, borsh::BorshDeserialize)]
            #[derive(tightwire_parco::Encode, tightwire_parco::Decode)]
            pub(super) struct Message {
                $($(#[$attribute])* $number: $type,)*
                small: u8,
                signed: i8,
                flag: bool,
                single: f32,
                double: f64,
                fixed: [u8; 3],
                boxed: Box<u8>,
                unit: (),
                tuple: (u8, bool),
                none: Option<u8>,
                #[parco(header = $header)]
                some: Option<String>,
                #[parco(header = $header)]
                text: String,
                #[parco(header = $header)]
                bytes: Vec<u8>,
                #[parco(header = $header, elem(header = $header))]
                words: Vec<String>,
                #[parco(header = $header, key(header = $header), value(header = $header))]
                map: BTreeMap<String, Vec<u8>>,
                #[parco(header = $header)]
                nested: Vec<Nested>,
                kinds: [Kind; 3],
            }

            #[derive(Debug, PartialEq)]
            #[derive(serde::Serialize, serde::Deserialize)]
            #[derive(bincode::Encode, bincode::Decode)]
            #[derive(borsh::BorshSerialize, borsh::BorshDeserialize)]
            #[derive(tightwire_parco::Encode, tightwire_parco::Decode)]
            struct Nested(bool, #[parco(header = $header)] String);

            #[derive(Debug, PartialEq)]
            #[derive(serde::Serialize, serde::Deserialize)]
            #[derive(bincode::Encode, bincode::Decode)]
            #[derive(borsh::BorshSerialize, borsh::BorshDeserialize)]
            #[derive(tightwire_parco::Encode, tightwire_parco::Decode)]
            #[parco(id = $id)]
            enum Kind {
                Unit,
                Tuple(u8, bool),
                Fields {
                    #[parco(header = $header)]
                    text: String,
                },
            }

            pub(super) fn value() -> Message {
                Message {
                    $($number: $value,)*
                    small: 200,
                    signed: -2,
                    flag: true,
                    single: 0.5,
                    double: -1e100,
                    fixed: [1, 2, 3],
                    boxed: Box::new(9),
                    unit: (),
                    tuple: (1, true),
                    none: None,
                    some: Some("some".into()),
                    text: "ü".repeat(300),
                    bytes: vec![0xff; 130],
                    words: vec![String::new(), "b".into()],
                    map: BTreeMap::from([("a".into(), vec![]), ("b".into(), vec![1])]),
                    nested: vec![Nested(false, "x".into()), Nested(true, String::new())],
                    kinds: [Kind::Unit, Kind::Tuple(7, true), Kind::Fields { text: "y".into() }],
                }
            }
        }
    };
}

message!(fixed_u64, u64, u32, {
    a: u16 = 1, b: u32 = 2, c: u64 = 1 << 40, d: i16 = -1, e: i32 = -2, f: i64 = i64::MIN,
    g: u128 = 1 << 100, h: i128 = -3, i: usize = 5, j: isize = -6, k: NonZero<u16> = NonZero::new(7).unwrap(),
});
message!(fixed_u32, u32, u8, {
    a: u16 = 1, b: u32 = 2, c: u64 = 1 << 40, d: i16 = -1, e: i32 = -2, f: i64 = i64::MIN,
    g: u128 = 1 << 100, h: i128 = -3, i: usize = 5, j: isize = -6, k: NonZero<u16> = NonZero::new(7).unwrap(),
});
message!(varint, varint, varint, {
    #[parco(with = tightwire_parco::wire::Varint)]
    number: u64 = 1 << 40,
});

/// Checks that tightwire-parco writes the bytes and reads them.
#[track_caller]
fn check<T>(value: &T, bytes: &[u8])
where
    T: Debug + PartialEq + tightwire_parco::Encode + tightwire_parco::DecodeOwned,
{
    assert_eq!(tightwire_parco::to_vec(value).unwrap(), bytes);
    assert_eq!(tightwire_parco::decode_exact::<T>(bytes).unwrap(), *value);
}

#[test]
fn bincode_with_fixed_integers() {
    let value = fixed_u64::value();
    check(&value, &bincode1::serialize(&value).unwrap());
    check(&value, &bincode::encode_to_vec(&value, bincode::config::legacy()).unwrap());
    let fixed = bincode::config::standard().with_fixed_int_encoding();
    check(&value, &bincode::encode_to_vec(&value, fixed).unwrap());
}

#[test]
fn durations_of_bincode() {
    let value = Duration::new(70_000, 999_999_999);
    check(&value, &bincode1::serialize(&value).unwrap());
    check(&value, &bincode::encode_to_vec(value, bincode::config::legacy()).unwrap());
}

#[test]
fn big_endian_bincode() {
    #[derive(Debug, PartialEq, serde::Serialize, tightwire_parco::Encode, tightwire_parco::Decode)]
    #[parco(be)]
    struct Message {
        number: u32,
        #[parco(header = u64)]
        text: String,
    }
    use bincode1::Options;
    let value = Message { number: 7, text: "x".into() };
    let options = bincode1::DefaultOptions::new().with_fixint_encoding().with_big_endian();
    check(&value, &options.serialize(&value).unwrap());
}

#[test]
fn borsh() {
    let value = fixed_u32::value();
    check(&value, &borsh::to_vec(&value).unwrap());
}

#[test]
fn hash_maps_of_borsh_are_sorted() {
    #[derive(Debug, PartialEq, borsh::BorshSerialize, tightwire_parco::Encode, tightwire_parco::Decode)]
    struct Message {
        #[parco(sorted, header = u32, key(header = u32))]
        map: HashMap<String, u16>,
    }
    let value = Message { map: (0..50).map(|number| (number.to_string(), number)).collect() };
    check(&value, &borsh::to_vec(&value).unwrap());
}

#[test]
fn postcard_without_signed_and_narrow_integers() {
    let value = varint::value();
    check(&value, &postcard::to_stdvec(&value).unwrap());
}
