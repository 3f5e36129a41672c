//! The attribute `format`, and the formats of serde types: values have the bytes that bincode and postcard write for them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4};
use std::num::{NonZero, Wrapping};
use std::ops::{Bound, Range, RangeInclusive};
use std::time::Duration;

use bincode1::Options as _;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_parco::serde as bridge;
use tightwire_parco::wire::{Be, Bincode1, Bincode2, Format, Postcard};
use tightwire_parco::{DecodeOwned, Encode, Error, Options, decode, decode_exact, encoded_len, to_vec};

/// Declares the same types in a format.
macro_rules! types {
    ($module:ident: $format:ty) => {
        mod $module {
            use super::*;

            #[derive(
                Clone,
                Debug,
                PartialEq,
                serde::Serialize,
                serde::Deserialize,
                bincode::Encode,
                bincode::Decode,
                tightwire_parco::Encode,
                tightwire_parco::Decode,
            )]
            #[parco(format = $format)]
            pub(super) struct Message {
                numbers: (u8, u16, u32, u64, u128, usize),
                signed: (i8, i16, i32, i64, i128, isize),
                floats: (f32, f64),
                flag: bool,
                letters: [char; 4],
                text: String,
                bytes: Vec<u8>,
                list: Vec<u32>,
                signed_list: Vec<i16>,
                words: Vec<String>,
                map: BTreeMap<u16, String>,
                none: Option<u16>,
                some: Option<Box<u16>>,
                fixed: [u16; 3],
                unit: (),
                nonzero: NonZero<u32>,
                wrapping: Wrapping<i32>,
                duration: Duration,
                range: Range<u32>,
                inclusive: RangeInclusive<i64>,
                bounds: (Bound<u16>, Bound<u16>, Bound<u16>),
                results: [Result<u16, String>; 2],
                addresses: (Ipv4Addr, Ipv6Addr, IpAddr, IpAddr, SocketAddrV4),
                nested: Vec<Nested>,
                kinds: [Kind; 4],
            }

            #[derive(
                Clone,
                Debug,
                PartialEq,
                serde::Serialize,
                serde::Deserialize,
                bincode::Encode,
                bincode::Decode,
                tightwire_parco::Encode,
                tightwire_parco::Decode,
            )]
            #[parco(format = $format)]
            struct Nested(i32, Option<String>);

            #[derive(
                Clone,
                Debug,
                PartialEq,
                serde::Serialize,
                serde::Deserialize,
                bincode::Encode,
                bincode::Decode,
                tightwire_parco::Encode,
                tightwire_parco::Decode,
            )]
            #[parco(format = $format)]
            enum Kind {
                Unit,
                Newtype(u64),
                Tuple(i16, char),
                Fields { text: String, inner: Box<Nested> },
            }

            /// A message whose numbers have about this size.
            pub(super) fn message(number: u128) -> Message {
                let signed = -(number as i128);
                let text = |len: usize| "é".repeat(len);
                Message {
                    numbers: (
                        number as u8,
                        number as u16,
                        number as u32,
                        number as u64,
                        number,
                        number as u32 as usize,
                    ),
                    signed: (
                        signed as i8,
                        signed as i16,
                        signed as i32,
                        signed as i64,
                        signed,
                        signed as i32 as isize,
                    ),
                    floats: (number as f32, -(number as f64)),
                    flag: number % 2 == 1,
                    letters: ['a', 'é', '€', '😀'],
                    text: text(number.min(300) as usize),
                    bytes: vec![number as u8; number.min(300) as usize],
                    list: vec![number as u32, 0, 250, 251, u32::MAX],
                    signed_list: vec![signed as i16, -1, 1, i16::MIN, i16::MAX],
                    words: vec![String::new(), text(63), text(64), text(125), text(126)],
                    map: BTreeMap::from([(number as u16, text(2)), (number as u16 ^ 0x101, String::new())]),
                    none: None,
                    some: Some(Box::new(number as u16)),
                    fixed: [number as u16, 1, 1000],
                    unit: (),
                    nonzero: NonZero::new(number as u32 | 1).unwrap(),
                    wrapping: Wrapping(signed as i32),
                    duration: Duration::new(number as u64, 999_999_999),
                    range: number as u32..7,
                    inclusive: signed as i64..=7,
                    bounds: (
                        Bound::Unbounded,
                        Bound::Included(number as u16),
                        Bound::Excluded(number as u16),
                    ),
                    results: [Ok(number as u16), Err(text(3))],
                    addresses: (
                        Ipv4Addr::new(192, 0, 2, 1),
                        Ipv6Addr::LOCALHOST,
                        IpAddr::V4(Ipv4Addr::LOCALHOST),
                        IpAddr::V6(Ipv6Addr::LOCALHOST),
                        SocketAddrV4::new(Ipv4Addr::LOCALHOST, number as u16),
                    ),
                    nested: vec![Nested(signed as i32, None), Nested(1, Some(text(1)))],
                    kinds: [
                        Kind::Unit,
                        Kind::Newtype(number as u64),
                        Kind::Tuple(signed as i16, 'ß'),
                        Kind::Fields { text: text(1), inner: Box::new(Nested(-300, None)) },
                    ],
                }
            }
        }
    };
}

types!(fixed: bincode1);
types!(variable: bincode2);
types!(fixed_be: Bincode1<Be>);
types!(variable_be: Bincode2<Be>);
types!(of_postcard: postcard);

/// Around each change of the width of an integer.
fn numbers() -> impl Iterator<Item = u128> {
    let powers = (0..127).map(|bits| 1_u128 << bits);
    let around = powers.flat_map(|power| [power - 1, power, power + 1]);
    around.chain([250, 251, 252, 253, 254, 255, u128::MAX >> 1])
}

/// Checks that a message has these bytes, in both directions, also as a serde type.
#[track_caller]
fn check<F, T>(value: &T, bytes: &[u8])
where
    F: Format,
    T: Debug + PartialEq + Encode + DecodeOwned + Serialize + DeserializeOwned,
{
    let options = Options::new();
    assert_eq!(bridge::to_vec_as::<F, T>(options, value).unwrap(), bytes);
    assert_eq!(bridge::decode_exact_as::<F, T>(options, bytes).unwrap(), *value);
    assert_eq!(bridge::decode_from_reader_as::<F, T>(options, bytes).unwrap(), *value);
    assert_eq!(to_vec(value).unwrap(), bytes);
    assert_eq!(encoded_len(value).unwrap(), bytes.len());
    assert_eq!(decode_exact::<T>(bytes).unwrap(), *value);
    let mut decoder = tightwire_parco::Decoder::new(bytes);
    assert_eq!(decoder.decode::<T>().unwrap().as_ref(), Some(value));
    let canonical = options.canonical();
    let sorted = canonical.to_vec(value).unwrap();
    assert_eq!(bridge::to_vec_as::<F, T>(canonical, value).unwrap(), sorted);
    assert_eq!(bridge::decode_exact_as::<F, T>(canonical, &sorted).unwrap(), *value);
    assert_eq!(canonical.decode_exact::<T>(&sorted).unwrap(), *value);
}

/// Checks that no prefix of a message is a message.
#[track_caller]
fn check_prefixes<F, T>(value: &T)
where
    F: Format,
    T: Debug + Encode + DecodeOwned + Serialize + DeserializeOwned,
{
    let bytes = to_vec(value).unwrap();
    for len in 0..bytes.len() {
        let prefix = &bytes[..len];
        for error in
            [decode::<T>(prefix).unwrap_err(), bridge::decode_as::<F, T>(Options::new(), prefix).unwrap_err()]
        {
            assert!(error.is_unexpected_end(), "{error}");
            assert!(error.offset().is_some_and(|offset| offset <= len), "{error}");
        }
    }
}

#[test]
fn bincode_with_fixed_integers() {
    let options = bincode1::DefaultOptions::new().with_fixint_encoding().with_big_endian();
    for number in numbers() {
        let value = fixed::message(number);
        let bytes = bincode1::serialize(&value).unwrap();
        check::<Bincode1, _>(&value, &bytes);
        assert_eq!(bincode::encode_to_vec(&value, bincode::config::legacy()).unwrap(), bytes);
        let value = fixed_be::message(number);
        let bytes = options.serialize(&value).unwrap();
        check::<Bincode1<Be>, _>(&value, &bytes);
        let config = bincode::config::legacy().with_big_endian();
        assert_eq!(bincode::encode_to_vec(&value, config).unwrap(), bytes);
    }
}

#[test]
fn bincode_with_variable_integers() {
    let options = bincode1::DefaultOptions::new();
    for number in numbers() {
        let value = variable::message(number);
        let bytes = bincode::encode_to_vec(&value, bincode::config::standard()).unwrap();
        check::<Bincode2, _>(&value, &bytes);
        assert_eq!(options.serialize(&value).unwrap(), bytes);
        let value = variable_be::message(number);
        let bytes = bincode::encode_to_vec(&value, bincode::config::standard().with_big_endian()).unwrap();
        check::<Bincode2<Be>, _>(&value, &bytes);
        assert_eq!(options.with_big_endian().serialize(&value).unwrap(), bytes);
    }
}

#[test]
fn postcard_messages() {
    for number in numbers() {
        let value = of_postcard::message(number);
        check::<Postcard, _>(&value, &postcard::to_stdvec(&value).unwrap());
    }
}

#[test]
fn truncated_messages() {
    check_prefixes::<Bincode1, _>(&fixed::message(300));
    check_prefixes::<Bincode1<Be>, _>(&fixed_be::message(300));
    check_prefixes::<Bincode2, _>(&variable::message(300));
    check_prefixes::<Bincode2<Be>, _>(&variable_be::message(300));
    check_prefixes::<Postcard, _>(&of_postcard::message(300));
}

/// A sequence that does not know its length can be encoded in none of these formats.
#[test]
fn unknown_lengths_are_refused() {
    struct Unknown;

    impl Serialize for Unknown {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq([1_u8, 2].iter().filter(|number| **number > 1))
        }
    }

    assert!(bincode1::serialize(&Unknown).is_err());
    assert!(postcard::to_stdvec(&Unknown).is_err());
    assert_eq!(bridge::to_vec(&Unknown).unwrap(), [1, 2]);
    assert!(bridge::to_vec_as::<Bincode1, _>(Options::new(), &Unknown).unwrap_err().is_invalid_length());
    assert!(bridge::to_vec_as::<Bincode2, _>(Options::new(), &Unknown).unwrap_err().is_invalid_length());
    assert!(bridge::to_vec_as::<Postcard, _>(Options::new(), &Unknown).unwrap_err().is_invalid_length());
}

/// Lengths of one, three and five bytes.
#[test]
fn lengths() {
    #[derive(Debug, PartialEq, bincode::Encode, tightwire_parco::Encode, tightwire_parco::Decode)]
    #[parco(format = bincode2)]
    struct Text(String);

    for len in [0, 127, 128, 250, 251, 252, 65_535, 65_536, 1 << 20] {
        let value = Text("x".repeat(len));
        let bytes = bincode::encode_to_vec(&value, bincode::config::standard()).unwrap();
        assert_eq!(to_vec(&value).unwrap(), bytes);
        assert_eq!(encoded_len(&value).unwrap(), bytes.len());
        assert_eq!(decode_exact::<Text>(&bytes).unwrap(), value);
    }
}

#[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
#[parco(format = bincode2)]
struct Variable {
    short: u16,
    signed: i8,
    wide: u128,
}

#[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
#[parco(format = postcard)]
struct Leb(u16, u128);

/// Numbers that are too large, and forms that are longer than necessary, which the lenient mode accepts as the libraries do.
#[test]
fn malformed_integers() {
    let compat = Options::new().mode(tightwire_parco::Mode::Compat);
    fn rejected<T: Debug + DecodeOwned>(bytes: &[u8], is_expected: fn(&Error) -> bool) {
        let error = decode_exact::<T>(bytes).unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert_eq!(error.offset(), Some(0), "{error}");
    }
    rejected::<Variable>(&[252, 0, 0, 1, 0, 0, 0], Error::is_overflow);
    rejected::<Variable>(&[255, 0, 0, 0], Error::is_invalid_value);
    rejected::<Leb>(&[0x80, 0x80, 4, 0], Error::is_overflow);
    let longer: [(&[u8], &[u8]); 2] =
        [(&[251, 7, 0, 1, 2], &[7, 1, 2]), (&[252, 251, 0, 0, 0, 1, 2], &[251, 251, 0, 1, 2])];
    for (long, short) in longer {
        rejected::<Variable>(long, Error::is_invalid_value);
        let value: Variable = compat.decode_exact(long).unwrap();
        assert_eq!(to_vec(&value).unwrap(), short);
    }
    rejected::<Leb>(&[0x81, 0, 1], Error::is_invalid_value);
    assert_eq!(compat.decode_exact::<Leb>(&[0x81, 0, 1]).unwrap(), Leb(1, 1));
}
