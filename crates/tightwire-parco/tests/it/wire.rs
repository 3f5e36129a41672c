//! Wire types: supported Rust types and rejected values. The bytes themselves are tested with the vectors.
#![cfg(all(feature = "std", feature = "derive"))]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use proptest::prelude::*;
use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{
    Array, Be, Blob, GoInt, GoUint, Header, I8, I16, I32, I64, Le, Map, Opt, Skip, Slice, SortedMap,
    StaticWire, Str, U8, U16, U32, U64, Wire,
};
use tightwire_parco::{Fault, Get, Input, Put, Segment, WireExt};

use crate::support::checks;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The fuzz target `parco_roundtrip` runs this check for longer.
    #[test]
    fn values_round_trip(material in prop::collection::vec(any::<u8>(), 0..700), cuts in prop::array::uniform3(any::<u8>())) {
        checks::check_round_trip(&material, &cuts);
    }

    /// Containers with the same elements have the same bytes in both directions.
    #[test]
    fn containers_have_equal_bytes(values in prop::collection::btree_set(any::<u32>(), 0..40)) {
        type ListWire = Slice<U16<Be>, U32<Le>>;
        let list: Vec<u32> = values.iter().copied().collect();
        let bytes = ListWire::NEW.to_vec(&list).unwrap();
        fn check<T>(bytes: &[u8], value: &T)
        where
            T: PartialEq + std::fmt::Debug,
            ListWire: Put<T> + for<'de> Get<'de, T>,
        {
            assert_eq!(ListWire::NEW.to_vec(value).unwrap(), bytes);
            assert_eq!(ListWire::NEW.encoded_len(value).unwrap(), bytes.len());
            assert_eq!(&ListWire::NEW.decode_exact::<T>(bytes).unwrap(), value);
        }
        check::<Vec<u32>>(&bytes, &list);
        check::<Box<[u32]>>(&bytes, &list.clone().into());
        check::<VecDeque<u32>>(&bytes, &list.iter().copied().collect());
        check::<BTreeSet<u32>>(&bytes, &values);
        // A deque whose contents wrap around the end of its buffer.
        let mut around: VecDeque<u32> = list.iter().copied().collect();
        for _ in 0..around.len() / 2 {
            let first = around.pop_front().unwrap();
            around.push_back(first);
        }
        let rotated: Vec<u32> = around.iter().copied().collect();
        prop_assert_eq!(ListWire::NEW.to_vec(&around).unwrap(), ListWire::NEW.to_vec(&rotated).unwrap());
        let set: HashSet<u32> = list.iter().copied().collect();
        prop_assert_eq!(ListWire::NEW.encoded_len(&set).unwrap(), bytes.len());
        let back: HashSet<u32> = ListWire::NEW.decode_exact(&ListWire::NEW.to_vec(&set).unwrap()).unwrap();
        prop_assert_eq!(back, set);
    }

    #[test]
    fn maps_have_equal_bytes(entries in prop::collection::btree_map("[a-z]{0,5}", any::<u16>(), 0..40)) {
        type MapWire = Map<U8, Str<U8>, U16<Be>>;
        let list: Vec<(String, u16)> = entries.clone().into_iter().collect();
        let bytes = MapWire::NEW.to_vec(&entries).unwrap();
        prop_assert_eq!(&MapWire::NEW.to_vec(&list).unwrap(), &bytes);
        prop_assert_eq!(&MapWire::NEW.to_vec(&list[..]).unwrap(), &bytes);
        let hashed: HashMap<String, u16> = MapWire::NEW.decode_exact(&bytes).unwrap();
        prop_assert_eq!(&SortedMap::<U8, Str<U8>, U16<Be>>::NEW.to_vec(&hashed).unwrap(), &bytes);
        // Any order yields the same map.
        let shuffled = MapWire::NEW.to_vec(&hashed).unwrap();
        prop_assert_eq!(shuffled.len(), bytes.len());
        prop_assert_eq!(MapWire::NEW.decode_exact::<BTreeMap<String, u16>>(&shuffled).unwrap(), entries);
        prop_assert_eq!(MapWire::NEW.decode_exact::<Vec<(String, u16)>>(&bytes).unwrap(), list);
    }
}

/// Every header carries its maximum length, and one more is rejected without writing anything. Go writes 65,537
/// elements with a count of 1.
#[test]
fn lengths_above_the_header_maximum_are_rejected() {
    fn check<H: Header>(most: usize) {
        for len in [most, most + 1] {
            let fits = len == most;
            let text = "x".repeat(len);
            let mut buffer = b"before".to_vec();
            let string = Str::<H>::NEW.encode(&text, &mut buffer);
            let blob = Blob::<H>::NEW.encode(text.as_bytes(), &mut buffer);
            let slice = Slice::<H, Skip<0>>::NEW.encode_with(
                tightwire_parco::Options::new()
                    .limits(tightwire_parco::Limits::new().max_zero_sized(usize::MAX)),
                &vec![(); len],
                &mut buffer,
            );
            let deque = Slice::<H, U8>::NEW.encode(&VecDeque::from(vec![1_u8; len]), &mut buffer);
            let map = Map::<H, Skip<0>, U8>::NEW.encode(&vec![((), 1_u8); len], &mut buffer);
            let sizes = [
                Str::<H>::NEW.encoded_len(&text),
                Slice::<H, U16<Le>>::NEW.encoded_len(&vec![1_u16; len]),
                Map::<H, U8, U8>::NEW.encoded_len(&vec![(1_u8, 1_u8); len]),
            ];
            for result in
                [string, blob, slice, deque, map].into_iter().chain(sizes.map(|size| size.map(|_| ())))
            {
                match result {
                    Ok(()) => assert!(fits),
                    Err(error) => assert!(!fits && error.is_overflow(), "{error}"),
                }
            }
            let written = if fits { 5 * H::WIDTH + 4 * len } else { 0 };
            assert_eq!(buffer.len(), 6 + written);
            assert!(buffer.starts_with(b"before"));
        }
    }
    check::<U8>(255);
    check::<I8>(127);
    check::<U16<Le>>(65_535);
    check::<U16<Be>>(65_535);
    check::<I16<Le>>(32_767);
    check::<I16<Be>>(32_767);
    let error = Slice::<U16<Le>, U8>::NEW.to_vec(&vec![7_u8; 65_537]).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(error.offset(), Some(0));
    assert_eq!(error.go_message(), Some("bytes overflow"));
}

/// A three-byte header. Go only supports empty strings with such a header; this crate supports its full range.
#[derive(Clone, Copy, Debug, Default)]
struct U24;

impl Wire for U24 {
    fn fixed_size(&self) -> Option<usize> {
        Some(3)
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        input.skip(3)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Array::<3, U8>::NEW.schema(context)
    }
}

impl StaticWire for U24 {
    const NEW: Self = Self;
}

impl Header for U24 {
    const WIDTH: usize = 3;
    const MAX: u64 = (1 << 24) - 1;

    fn header(len: u64) -> [u8; 8] {
        len.to_le_bytes()
    }

    fn length<I: Input>(input: &mut I) -> Result<usize, Fault> {
        let [low, middle, high] = input.array()?;
        Ok(usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16)
    }
}

#[test]
fn custom_header_widths_are_supported() {
    let text = "x".repeat(70_000);
    let bytes = Str::<U24>::NEW.to_vec(&text).unwrap();
    assert_eq!(bytes[..4], [0x70, 0x11, 0x01, b'x']);
    assert_eq!(Str::<U24>::NEW.decode_exact::<&str>(&bytes).unwrap(), text);
    let wire = Map::<U24, Str<U24>, Slice<U24, U16<Be>>>::NEW;
    let map = BTreeMap::from([("a".to_owned(), vec![1_u16, 2]), (String::new(), Vec::new())]);
    let bytes = wire.to_vec(&map).unwrap();
    assert_eq!(bytes, b"\x02\0\0\0\0\0\0\0\0\x01\0\0a\x02\0\0\0\x01\0\x02");
    assert_eq!(wire.decode_exact::<BTreeMap<String, Vec<u16>>>(&bytes).unwrap(), map);
    let long = vec![(); 1 << 24];
    assert!(Slice::<U24, Skip<0>>::NEW.encoded_len(&long).unwrap_err().is_overflow());
    assert_eq!(
        Slice::<U24, Skip<0>>::NEW
            .to_vec_with(
                tightwire_parco::Options::new()
                    .limits(tightwire_parco::Limits::new().max_zero_sized(usize::MAX)),
                &long[1..]
            )
            .unwrap(),
        [0xff; 3]
    );
}

#[test]
fn arrays_require_their_exact_length() {
    let wire = Array::<3, U16<Le>>::NEW;
    for len in [0, 2, 4] {
        let mut buffer = b"before".to_vec();
        let error = wire.encode(&vec![1_u16; len], &mut buffer).unwrap_err();
        assert!(error.is_invalid_length());
        assert_eq!(error.go_message(), Some("invalid length"));
        assert!(wire.encoded_len(&vec![1_u16; len]).unwrap_err().is_invalid_length());
        assert_eq!(buffer, b"before");
    }
    assert_eq!(wire.to_vec(&vec![1_u16, 2, 3]).unwrap(), wire.to_vec(&[1_u16, 2, 3]).unwrap());
    let mut value = [9_u16; 3];
    wire.decode_into_with(tightwire_parco::Options::new(), &[1, 0, 2, 0, 3, 0], &mut value).unwrap();
    assert_eq!(value, [1, 2, 3]);
    assert_eq!(Array::<0, U64<Be>>::NEW.to_vec(&[0_u64; 0]).unwrap(), [0; 0]);
    let nested = Array::<2, Array<2, Str<U8>>>::NEW;
    let texts = [["a".to_owned(), "b".to_owned()], ["".to_owned(), "d".to_owned()]];
    let bytes = nested.to_vec(&texts).unwrap();
    assert_eq!(bytes, b"\x01a\x01b\0\x01d");
    assert_eq!(nested.decode_exact::<[[String; 2]; 2]>(&bytes).unwrap(), texts);
    let error = nested.decode_exact::<[[String; 2]; 2]>(&bytes[..6]).unwrap_err();
    assert_eq!(error.path(), [Segment::Index(1), Segment::Index(1)]);
}

/// Reserved bytes are encoded as zeros, ignored when decoded, and need no memory.
#[test]
fn reserved_bytes_are_skipped() {
    assert_eq!(Skip::<5>::NEW.to_vec(&()).unwrap(), [0; 5]);
    assert_eq!(Skip::<0>::NEW.to_vec(&()).unwrap(), [0; 0]);
    Skip::<5>::NEW.decode_exact::<()>(&[1, 2, 3, 4, 5]).unwrap();
    let many = vec![7; 20_000];
    let (used, result) = test_support::counting::usage(|| Skip::<20_000>::NEW.decode_exact::<()>(&many));
    result.unwrap();
    assert_eq!(used.count, 0);
    assert_eq!(Skip::<20_000>::NEW.to_vec(&()).unwrap().len(), 20_000);
    assert_eq!(Skip::<20_000>::NEW.decode_exact::<()>(&many[1..]).unwrap_err().missing(), Some(1));
    let huge = Skip::<{ usize::MAX }>::NEW.decode_exact::<()>(&many).unwrap_err();
    assert_eq!(huge.missing(), Some(usize::MAX - 20_000));
}

#[test]
fn options_round_trip() {
    let wire = Opt::<Opt<Str<U8>>>::NEW;
    for (value, bytes) in [
        (None, &b"\0"[..]),
        (Some(None), b"\x01\0"),
        (Some(Some(String::new())), b"\x01\x01\0"),
        (Some(Some("a".to_owned())), b"\x01\x01\x01a"),
    ] {
        assert_eq!(wire.to_vec(&value).unwrap(), bytes);
        let mut other = Some(Some("older".to_owned()));
        wire.decode_into_with(tightwire_parco::Options::new(), bytes, &mut other).unwrap();
        assert_eq!(other, value);
        let mut none = None;
        wire.decode_into_with(tightwire_parco::Options::new(), bytes, &mut none).unwrap();
        assert_eq!(none, value);
    }
}

/// As values, signed numbers may be negative; as lengths, they may not.
#[test]
fn signed_numbers_are_values_but_not_negative_lengths() {
    assert_eq!(I32::<Be>::NEW.decode_exact::<i32>(&[0xff; 4]).unwrap(), -1);
    assert_eq!(GoInt::<Le>::NEW.decode_exact::<i64>(&[0xff; 8]).unwrap(), -1);
    assert_eq!(GoUint::<Le>::NEW.to_vec(&u64::MAX).unwrap(), [0xff; 8]);
    for (error, width) in [
        (Str::<I8>::NEW.decode_exact::<&[u8]>(&[0xff; 30]).unwrap_err(), 1),
        (Slice::<I16<Le>, U8>::NEW.decode_exact::<Vec<u8>>(&[0xff; 30]).unwrap_err(), 2),
        (Map::<I32<Be>, U8, U8>::NEW.decode_exact::<BTreeMap<u8, u8>>(&[0xff; 30]).unwrap_err(), 4),
        (Blob::<I64<Le>>::NEW.decode_exact::<Vec<u8>>(&[0xff; 30]).unwrap_err(), 8),
    ] {
        assert!(error.is_overflow(), "{width}: {error}");
        // The header is the invalid part.
        assert_eq!(error.offset(), Some(0), "{width}");
    }
}

/// Compares the validation of strings with that of the standard library.
fn check_utf8(bytes: &[u8]) {
    let encoded = Blob::<U32<Le>>::NEW.to_vec(bytes).unwrap();
    let wire = Str::<U32<Le>>::NEW;
    let expected = std::str::from_utf8(bytes).ok();
    assert_eq!(wire.decode_exact::<&str>(&encoded).ok(), expected);
    assert_eq!(wire.decode_exact::<String>(&encoded).ok().as_deref(), expected);
}

#[test]
fn every_byte_of_short_strings_is_checked() {
    for len in 0..40 {
        let mut bytes: Vec<u8> = (0..len).collect();
        check_utf8(&bytes);
        for at in 0..bytes.len() {
            for wrong in [0x80, 0xc3, 0xff] {
                let byte = std::mem::replace(&mut bytes[at], wrong);
                check_utf8(&bytes);
                bytes[at] = byte;
            }
        }
    }
}

proptest! {
    #[test]
    fn utf8_validation_matches_the_standard_library(bytes: Vec<u8>, text: String) {
        check_utf8(&bytes);
        check_utf8(text.as_bytes());
    }
}
