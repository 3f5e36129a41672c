//! Types of the standard library and of other crates: bytes, malformed input, limits.
#![cfg(feature = "schema-json")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZero, Wrapping};
use std::ops::{Bound, Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use tightwire_parco::schema::{self, Value};
use tightwire_parco::wire::{Be, StaticWire as _, U16, Varint};
use tightwire_parco::{
    Decode, DecodeOwned, Encode, Error, Limits, Options, Segment, WireExt as _, decode_exact, decode_into,
    to_vec,
};

use super::same;
use crate::support::checks::check_prefixes;

/// Checks the bytes of a value with every way to encode and decode, and with a run-time schema.
#[track_caller]
fn check<T: Encode + DecodeOwned + PartialEq + Debug>(value: T, bytes: &[u8]) {
    same(&value, bytes);
    let mut again: T = decode_exact(bytes).unwrap();
    decode_into(bytes, &mut again).unwrap();
    assert_eq!(again, value);
    check_prefixes::<T>(bytes);
    let dynamic = schema::of::<T>().compile().unwrap();
    let decoded: Value = dynamic.decode_exact(bytes).unwrap();
    assert_eq!(dynamic.to_vec(&decoded).unwrap(), bytes);
    assert_eq!(schema::of::<T>(), schema::of_decoded::<T>());
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Numbers {
    letter: char,
    small: NonZero<u8>,
    #[parco(be)]
    nonzero: NonZero<i16>,
    wrapping: Wrapping<u32>,
    #[parco(be)]
    size: usize,
    signed: isize,
    huge: u128,
    #[parco(be)]
    negative: i128,
    unit: PhantomData<*const u8>,
}

#[test]
fn numbers_have_their_width_and_order() {
    let numbers = Numbers {
        letter: 'é',
        small: NonZero::new(7).unwrap(),
        nonzero: NonZero::new(-2).unwrap(),
        wrapping: Wrapping(3),
        size: 4,
        signed: -1,
        huge: 0x0102 << 64 | 0x03,
        negative: -(1 << 100),
        unit: PhantomData,
    };
    let bytes = [
        &[0xe9, 0, 0, 0][..],
        &[7],
        &[0xff, 0xfe],
        &[3, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 4],
        &[0xff; 8],
        &numbers.huge.to_le_bytes(),
        &numbers.negative.to_be_bytes(),
    ];
    check(numbers, &bytes.concat());
    check(NonZero::new(i128::MIN).unwrap(), &i128::MIN.to_le_bytes());
    check(Wrapping(-1_i64), &[0xff; 8]);
    check(vec![1_u128, 2], &[&[2][..], &1_u128.to_le_bytes(), &2_u128.to_le_bytes()].concat());
    assert_ne!(schema::fingerprint::<u64>(), schema::fingerprint::<u128>());
}

#[test]
fn tuples_ranges_and_results_are_their_parts() {
    check((1_u8,), &[1]);
    check((1_u8, 2_u16), &[1, 2, 0]);
    check((1_u8, "a".to_owned(), Some((2_u8, false))), &[1, 1, b'a', 1, 2, 0]);
    check(
        (0_u8, 1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8, 9_u8, 10_u8, 11_u8),
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    );
    check(3_u8..7, &[3, 7]);
    check(Range { start: "a".to_owned(), end: String::new() }, &[1, b'a', 0]);
    check(-1_i16..=3, &[0xff, 0xff, 3, 0]);
    check(Bound::<u16>::Unbounded, &[0]);
    check(Bound::Included(1_u16), &[1, 1, 0]);
    check((Bound::Excluded("a".to_owned()), Bound::Unbounded::<u8>), &[2, 1, b'a', 0]);
    #[cfg(feature = "serde")]
    for bound in [Bound::Unbounded, Bound::Included(7_u8), Bound::Excluded(7)] {
        assert_eq!(tightwire_parco::serde::to_vec(&bound).unwrap(), to_vec(&bound).unwrap());
    }
    check(Ok::<u8, String>(5), &[0, 5]);
    check(Err::<u8, String>("a".into()), &[1, 1, b'a']);
    check(vec![(1_u8, true), (2, false)], &[2, 1, 1, 2, 0]);
    check(BTreeMap::from([((1_u8, 2_u8), (3_u8, ()))]), &[1, 1, 2, 3]);
    // The wire type of a tuple is a tuple.
    assert_eq!((U16::<Be>::NEW, Varint).to_vec(&(1_u16, 300_u64)).unwrap(), [0, 1, 0xac, 2]);
}

#[test]
fn times_are_seconds_and_nanoseconds() {
    check(Duration::new(1, 2), &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    check(Duration::MAX, &[&[0xff; 8][..], &999_999_999_u32.to_le_bytes()].concat());
    check(SystemTime::UNIX_EPOCH + Duration::from_nanos(1), &[1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn addresses_have_a_byte_for_the_version() {
    let (v4, v6) = (Ipv4Addr::new(192, 0, 2, 1), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));
    let octets = v6.octets();
    check(v4, &[192, 0, 2, 1]);
    check(v6, &octets);
    check(IpAddr::V4(v4), &[0, 192, 0, 2, 1]);
    check(IpAddr::V6(v6), &[&[1][..], &octets].concat());
    check(SocketAddrV4::new(v4, 0x102), &[192, 0, 2, 1, 2, 1]);
    let socket = SocketAddrV6::new(v6, 80, 3, 4);
    let bytes = [&octets[..], &[80, 0, 3, 0, 0, 0, 4, 0, 0, 0]].concat();
    check(socket, &bytes);
    check(SocketAddr::V6(socket), &[&[1][..], &bytes].concat());
    check(SocketAddr::new(IpAddr::V4(v4), 80), &[0, 192, 0, 2, 1, 80, 0]);
}

#[test]
fn containers_are_their_elements() {
    check(Box::new(1_u8), &[1]);
    check(Rc::new(1_u8), &[1]);
    check(Arc::new(1_u8), &[1]);
    check(Cow::<'static, u16>::Owned(1), &[1, 0]);
    check(Box::<str>::from("a"), &[1, b'a']);
    check(Rc::<str>::from("a"), &[1, b'a']);
    check(Arc::<str>::from("a"), &[1, b'a']);
    check(Box::<[u16]>::from([1, 2]), &[2, 1, 0, 2, 0]);
    check(Rc::<[u16]>::from([1, 2]), &[2, 1, 0, 2, 0]);
    check(Arc::<[String]>::from(["a".to_owned()]), &[1, 1, b'a']);
    check(VecDeque::from([1_u8, 2]), &[2, 1, 2]);
    check(LinkedList::from([1_u8, 2]), &[2, 1, 2]);
    check(BTreeSet::from([2_u8, 1]), &[2, 1, 2]);
    check(HashSet::from([2_u8]), &[1, 2]);
    check(HashMap::from([(2_u8, 'a')]), &[1, 2, b'a', 0, 0, 0]);
    check(PathBuf::from("a/b"), &[3, b'a', b'/', b'b']);
    let heap: BinaryHeap<u8> = decode_exact(&[3, 1, 5, 2]).unwrap();
    assert_eq!(heap.into_sorted_vec(), [1, 2, 5]);
    assert_eq!(to_vec(&BinaryHeap::from([7_u8])).unwrap(), [1, 7]);
    assert_eq!(decode_exact::<&Path>(b"\x01a").unwrap(), Path::new("a"));
    assert_eq!(to_vec(Path::new("a")).unwrap(), b"\x01a");
    assert_eq!(to_vec(&Path::new("a")).unwrap(), b"\x01a");
}

#[test]
fn types_of_other_crates() {
    #[cfg(feature = "uuid")]
    {
        let bytes: [u8; 16] = std::array::from_fn(|index| index as u8);
        check(uuid::Uuid::from_bytes(bytes), &bytes);
    }
    #[cfg(feature = "bytes")]
    {
        check(bytes::Bytes::from_static(b"ab"), &[2, b'a', b'b']);
        check(bytes::BytesMut::from(&b"ab"[..]), &[2, b'a', b'b']);
    }
    #[cfg(feature = "smallvec")]
    check(smallvec::SmallVec::<[u16; 1]>::from_slice(&[1, 2]), &[2, 1, 0, 2, 0]);
    #[cfg(feature = "indexmap")]
    {
        type State = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
        let map: indexmap::IndexMap<u8, u8, State> = [(2, 3), (1, 4)].into_iter().collect();
        check(map, &[2, 2, 3, 1, 4]);
        let set: indexmap::IndexSet<u8, State> = [2, 1].into_iter().collect();
        check(set, &[2, 2, 1]);
    }
    #[cfg(feature = "hashbrown")]
    {
        type State = std::hash::RandomState;
        check(hashbrown::HashMap::<u8, char, State>::from_iter([(2, 'a')]), &[1, 2, b'a', 0, 0, 0]);
        check(hashbrown::HashSet::<u8, State>::from_iter([2]), &[1, 2]);
    }
    #[cfg(feature = "compact_str")]
    check(compact_str::CompactString::from("ab"), &[2, b'a', b'b']);
    #[cfg(feature = "ordered-float")]
    {
        check(ordered_float::OrderedFloat(-1.5_f32), &(-1.5_f32).to_le_bytes());
        check(ordered_float::OrderedFloat(-1.5_f64), &(-1.5_f64).to_le_bytes());
        check(ordered_float::NotNan::new(1.5_f32).unwrap(), &1.5_f32.to_le_bytes());
        check(ordered_float::NotNan::new(1.5_f64).unwrap(), &1.5_f64.to_le_bytes());
        rejected::<ordered_float::NotNan<f32>>(&f32::NAN.to_le_bytes(), Error::is_invalid_value, 0);
        rejected::<ordered_float::NotNan<f64>>(&f64::NAN.to_le_bytes(), Error::is_invalid_value, 0);
    }
    #[cfg(feature = "glam")]
    {
        let bytes =
            |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        check(glam::Vec2::new(1.0, 2.0), &bytes(&[1.0, 2.0]));
        check(glam::Vec3A::new(1.0, 2.0, 3.0), &bytes(&[1.0, 2.0, 3.0]));
        check(glam::Quat::from_xyzw(1.0, 2.0, 3.0, 4.0), &bytes(&[1.0, 2.0, 3.0, 4.0]));
        check(glam::IVec2::new(-1, 2), &[0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0]);
        check(glam::DVec2::new(1.0, 2.0), &[1.0_f64.to_le_bytes(), 2.0_f64.to_le_bytes()].concat());
        let columns = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        check(glam::Mat2::from_cols_array(&[1.0, 2.0, 3.0, 4.0]), &bytes(&columns[..4]));
        check(glam::Affine2::from_cols_array(&columns), &bytes(&columns));
    }
    #[cfg(feature = "rust_decimal")]
    {
        // The sign and the scale, then the digits.
        let bytes = [0, 0, 2, 0x80, 0x39, 0x30, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        check(rust_decimal::Decimal::new(-12_345, 2), &bytes);
    }
}

/// The headers of default wire types have the capacity as a maximum. With other headers it is checked afterwards.
macro_rules! fixed_capacity {
    ($test:ident: $text:ty, |$letters:ident| $new_text:expr; $list:ty, |$numbers:ident| $new_list:expr;) => {
        #[test]
        fn $test() {
            #[derive(Debug, PartialEq, Encode, Decode)]
            struct Short {
                #[parco(small)]
                text: $text,
                #[parco(header = u16be)]
                list: $list,
                #[parco(blob)]
                blob: $list,
            }

            let ($letters, $numbers) = ("ab", &[1_u8, 2]);
            check::<$text>($new_text, b"\x02ab");
            check::<$list>($new_list, &[2, 1, 2]);
            let short = Short { text: $new_text, list: $new_list, blob: $new_list };
            check(short, &[2, b'a', b'b', 0, 2, 1, 2, 2, 1, 2]);
            for error in [
                decode_exact::<$text>(b"\x03abc").unwrap_err(),
                decode_exact::<$list>(&[3, 1, 2, 3]).unwrap_err(),
                decode_exact::<Short>(&[0, 0, 0, 3, 1, 2, 3]).unwrap_err(),
            ] {
                assert!(error.is_limit(), "{error}");
            }
            for (bytes, path) in [
                (&b"\x03abc"[..], &[Segment::Field("text")][..]),
                (&[0, 0, 3, 1, 2, 3][..], &[Segment::Field("list"), Segment::Index(2)][..]),
            ] {
                let error = decode_exact::<Short>(bytes).unwrap_err();
                assert!(error.is_invalid_length(), "{error}");
                assert_eq!(error.path(), path);
            }
        }
    };
}

#[cfg(feature = "arrayvec")]
fixed_capacity! {
    arrayvec_has_a_fixed_capacity:
    arrayvec::ArrayString<2>, |letters| letters.try_into().unwrap();
    arrayvec::ArrayVec<u8, 2>, |numbers| numbers[..].try_into().unwrap();
}

#[cfg(feature = "heapless")]
fixed_capacity! {
    heapless_has_a_fixed_capacity:
    heapless::String<2>, |letters| letters.try_into().unwrap();
    heapless::Vec<u8, 2>, |numbers| heapless::Vec::from_slice(numbers).unwrap();
}

/// The same date, time of day and duration for each crate.
#[test]
fn dates_are_the_same_for_all_crates() {
    let date = [0xe8, 7, 0, 0, 2, 29];
    let time = [23, 59, 58, 1, 0, 0, 0];
    let both = [&date[..], &time].concat();
    let duration = [&(-3_i64).to_le_bytes()[..], &(-5_i32).to_le_bytes()].concat();
    #[cfg(feature = "chrono")]
    {
        let day = chrono::NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
        let hour = chrono::NaiveTime::from_hms_nano_opt(23, 59, 58, 1).unwrap();
        check(day, &date);
        check(hour, &time);
        check(day.and_time(hour), &both);
        check(chrono::TimeDelta::seconds(-3) - chrono::TimeDelta::nanoseconds(5), &duration);
        let leap = chrono::NaiveTime::from_hms_nano_opt(23, 59, 59, 1_500_000_000).unwrap();
        check(leap, &[&[23, 59, 59][..], &1_500_000_000_u32.to_le_bytes()].concat());
        for wrong in [[i64::MAX, 0], [-1, 1], [0, 1_000_000_000]] {
            let bytes = [&wrong[0].to_le_bytes()[..], &(wrong[1] as i32).to_le_bytes()].concat();
            assert!(decode_exact::<chrono::TimeDelta>(&bytes).unwrap_err().is_invalid_value());
        }
        rejected::<chrono::NaiveDate>(&[0xe7, 7, 0, 0, 2, 29], Error::is_invalid_value, 0);
        rejected::<chrono::NaiveTime>(&[24, 0, 0, 0, 0, 0, 0], Error::is_invalid_value, 0);
        rejected::<chrono::NaiveDateTime>(
            &[&date[..], &[0, 60, 0, 0, 0, 0, 0]].concat(),
            Error::is_invalid_value,
            6,
        );
    }
    macro_rules! jiff {
        ($jiff:ident) => {{
            let (day, hour) = (::$jiff::civil::date(2024, 2, 29), ::$jiff::civil::time(23, 59, 58, 1));
            check(day, &date);
            check(hour, &time);
            check(::$jiff::civil::DateTime::from_parts(day, hour), &both);
            check(::$jiff::SignedDuration::new(-3, -5), &duration);
            rejected::<::$jiff::civil::Date>(&[0, 0, 1, 0, 2, 1], Error::is_invalid_value, 0);
            rejected::<::$jiff::civil::Time>(&[0, 0, 0, 0, 0xca, 0x9a, 0x3b], Error::is_invalid_value, 0);
            rejected::<::$jiff::SignedDuration>(
                &[1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
                Error::is_invalid_value,
                0,
            );
        }};
    }
    #[cfg(feature = "jiff")]
    jiff!(jiff1);
    #[cfg(feature = "jiff02")]
    jiff!(jiff);
    #[cfg(feature = "time")]
    {
        let day = time::Date::from_calendar_date(2024, time::Month::February, 29).unwrap();
        let hour = time::Time::from_hms_nano(23, 59, 58, 1).unwrap();
        check(day, &date);
        check(hour, &time);
        check(time::PrimitiveDateTime::new(day, hour), &both);
        check(time::Duration::new(-3, -5), &duration);
        rejected::<time::Date>(&[0xe8, 7, 0, 0, 13, 1], Error::is_invalid_value, 0);
        rejected::<time::Time>(&[0, 0, 60, 0, 0, 0, 0], Error::is_invalid_value, 0);
        rejected::<time::Duration>(
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0xca, 0x9a, 0x3b],
            Error::is_invalid_value,
            0,
        );
    }
}

/// Checks that decoding fails at this offset, also in an outer tuple.
#[track_caller]
fn rejected<T: DecodeOwned + Debug>(bytes: &[u8], is_expected: fn(&Error) -> bool, offset: usize) {
    let error = decode_exact::<T>(bytes).unwrap_err();
    assert!(is_expected(&error), "{error}");
    assert_eq!(error.offset(), Some(offset), "{error}");
    let error = decode_exact::<(bool, T)>(&[&[1], bytes].concat()).unwrap_err();
    assert!(is_expected(&error), "{error}");
    assert_eq!((error.offset(), &error.path()[0]), (Some(offset + 1), &Segment::Field("1")));
}

#[test]
fn malformed_values_are_rejected() {
    rejected::<char>(&0xd800_u32.to_le_bytes(), Error::is_invalid_value, 0);
    rejected::<char>(&0x11_0000_u32.to_le_bytes(), Error::is_invalid_value, 0);
    rejected::<NonZero<u8>>(&[0], Error::is_invalid_value, 0);
    rejected::<NonZero<u128>>(&[0; 16], Error::is_invalid_value, 0);
    rejected::<Vec<NonZero<i16>>>(&[2, 1, 0, 0, 0], Error::is_invalid_value, 3);
    rejected::<Duration>(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0xca, 0x9a, 0x3b], Error::is_invalid_value, 0);
    rejected::<Result<u8, u8>>(&[2, 0], Error::is_unknown_type, 0);
    rejected::<Bound<u8>>(&[3, 0], Error::is_unknown_type, 0);
    rejected::<IpAddr>(&[4, 1, 2, 3, 4], Error::is_unknown_type, 0);
    rejected::<SocketAddr>(&[9; 30], Error::is_unknown_type, 0);
    rejected::<PathBuf>(&[2, b'a', 0xff], Error::is_invalid_utf8, 1);
    rejected::<(u8, bool)>(&[1, 2], Error::is_invalid_bool, 1);
    rejected::<RangeInclusive<bool>>(&[1, 2], Error::is_invalid_bool, 1);
    rejected::<Vec<(u8, String)>>(&[0xff, 0xff, 3, 1], Error::is_unexpected_end, 3);
    #[cfg(target_pointer_width = "32")]
    rejected::<usize>(&[0xff; 8], Error::is_overflow, 0);
    #[cfg(feature = "rust_decimal")]
    for byte in [0, 1] {
        // Unused bits.
        let mut bytes = [0; 16];
        bytes[byte] = 1;
        rejected::<rust_decimal::Decimal>(&bytes, Error::is_invalid_value, 0);
    }
    #[cfg(feature = "rust_decimal")]
    rejected::<rust_decimal::Decimal>(
        &[0, 0, 29, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        Error::is_invalid_value,
        0,
    );
}

#[cfg(unix)]
#[test]
fn paths_that_are_not_utf8_are_rejected() {
    use std::os::unix::ffi::OsStrExt as _;

    let path = Path::new(std::ffi::OsStr::from_bytes(b"\xff")).to_owned();
    let error = to_vec(&(1_u8, path.clone())).unwrap_err();
    assert!(error.is_invalid_utf8());
    assert_eq!(error.path(), [Segment::Field("1")]);
    assert!(tightwire_parco::encoded_len(&path).unwrap_err().is_invalid_utf8());
}

/// Elements count with their size in memory, whatever the collection.
#[test]
fn collections_respect_the_limits() {
    fn check<T: DecodeOwned>(bytes: &[u8], memory: usize) {
        let limited = |limits| Options::new().limits(limits).decode_exact::<T>(bytes);
        assert!(limited(Limits::default().max_allocation(memory)).is_ok());
        assert!(limited(Limits::default().max_allocation(memory - 1)).is_err_and(|error| error.is_limit()));
        assert!(limited(Limits::default().max_elements(2).max_bytes(2)).is_ok());
        assert!(limited(Limits::default().max_elements(1).max_bytes(1)).is_err_and(|error| error.is_limit()));
    }
    let two = [2, 1, 0, 2, 0];
    check::<Vec<(u8, bool)>>(&[2, 1, 0, 2, 0], 4);
    check::<Rc<[u16]>>(&two, 4);
    check::<Arc<[u16]>>(&two, 4);
    check::<LinkedList<u16>>(&two, 4);
    check::<BinaryHeap<u16>>(&two, 4);
    check::<BTreeMap<u8, u8>>(&two, 4);
    check::<PathBuf>(&[2, b'a', b'b'], 2);
    #[cfg(feature = "bytes")]
    check::<bytes::Bytes>(&[2, b'a', b'b'], 2);
    #[cfg(feature = "bytes")]
    check::<bytes::BytesMut>(&[2, b'a', b'b'], 2);
    #[cfg(feature = "smallvec")]
    check::<smallvec::SmallVec<[u16; 4]>>(&two, 4);
    #[cfg(feature = "indexmap")]
    check::<indexmap::IndexMap<u8, u8, std::hash::RandomState>>(&two, 4);
    #[cfg(feature = "indexmap")]
    check::<indexmap::IndexSet<u16, std::hash::RandomState>>(&two, 4);

    // Values without bytes.
    let many = [0x81, 0x20];
    assert!(decode_exact::<Vec<(PhantomData<u8>, ())>>(&many).unwrap_err().is_limit());
}

/// A type that contains itself in a tuple and in a result. Tuples and results count as nested structs, as they do in a
/// run-time schema.
#[derive(Debug, PartialEq, Encode, Decode)]
struct Tree(Option<Box<(u8, Self)>>, Result<(), Box<Self>>);

#[test]
fn nested_tuples_and_results_have_a_depth() {
    let leaf = || Tree(None, Ok(()));
    check(Tree(Some(Box::new((7, leaf()))), Err(Box::new(leaf()))), &[1, 7, 0, 0, 1, 0, 0]);
    let chain = |len: u8| (0..len).fold(leaf(), |tree, at| Tree(Some(Box::new((at, tree))), Ok(())));
    let bytes = to_vec(&chain(31)).unwrap();
    assert_eq!(decode_exact::<Tree>(&bytes).unwrap(), chain(31));
    let dynamic = schema::of::<Tree>().compile().unwrap();
    dynamic.decode_exact::<Value>(&bytes).unwrap();
    assert!(to_vec(&chain(32)).unwrap_err().is_limit());
    assert!(tightwire_parco::encoded_len(&chain(32)).unwrap_err().is_limit());
    let deeper = Options::new().limits(Limits::default().max_depth(100));
    let bytes = deeper.to_vec(&chain(32)).unwrap();
    assert!(decode_exact::<Tree>(&bytes).unwrap_err().is_limit());
    assert!(dynamic.decode_exact::<Value>(&bytes).unwrap_err().is_limit());
}

/// `go` only changes headers.
#[test]
fn go_applies_inside_of_tuples_and_results() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    #[parco(go, be)]
    struct Go {
        tuple: (u16, String),
        result: Result<Vec<u16>, PathBuf>,
        #[parco(header = varint, elem(le))]
        list: Vec<(u16, u16)>,
    }
    let value = Go { tuple: (1, "a".into()), result: Ok(vec![2]), list: vec![(3, 4)] };
    check(value, &[0, 1, 0, 1, b'a', 0, 0, 1, 0, 2, 1, 3, 0, 4, 0]);
}

/// Cells, locks and atomics have the bytes of their value at the time of encoding.
#[test]
fn wrappers_have_the_bytes_of_their_value() {
    use std::cell::{Cell, RefCell};
    use std::cmp::Reverse;
    use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU16, AtomicUsize, Ordering};
    use std::sync::{Mutex, RwLock};

    #[derive(Debug, Encode, Decode)]
    #[parco(be)]
    struct Wrappers {
        cell: Cell<u16>,
        #[parco(small)]
        shared: RefCell<String>,
        lock: Mutex<Vec<u16>>,
        state: RwLock<Option<u8>>,
        flag: AtomicBool,
        count: AtomicU16,
        total: AtomicI64,
        size: AtomicUsize,
    }
    let value = Wrappers {
        cell: Cell::new(1),
        shared: RefCell::new("a".into()),
        lock: Mutex::new(vec![2]),
        state: RwLock::new(Some(3)),
        flag: AtomicBool::new(true),
        count: AtomicU16::new(4),
        total: AtomicI64::new(-1),
        size: AtomicUsize::new(5),
    };
    let bytes =
        [&[0, 1, 1, b'a', 1, 0, 2, 1, 3, 1, 0, 4][..], &[0xff; 8], &[0, 0, 0, 0, 0, 0, 0, 5]].concat();
    assert_eq!(to_vec(&value).unwrap(), bytes);
    assert_eq!(tightwire_parco::encoded_len(&value).unwrap(), bytes.len());
    let again: Wrappers = decode_exact(&bytes).unwrap();
    assert_eq!((again.cell.get(), again.count.load(Ordering::Relaxed)), (1, 4));
    assert_eq!((again.shared.into_inner().as_str(), again.lock.lock().unwrap().len()), ("a", 1));
    let borrowed = value.shared.borrow_mut();
    assert!(to_vec(&value).unwrap_err().is_invalid_value());
    drop(borrowed);
    check(Reverse(7_u8), &[7]);
    check(c"hey".to_owned(), b"\x03hey");
    assert!(decode_exact::<std::ffi::CString>(b"\x01\0").unwrap_err().is_invalid_value());
    check(
        (1_u8, 2_u8, 3_u8, 4_u8, 5_u8, 6_u8, 7_u8, 8_u8, 9_u8, 10_u8, 11_u8, 12_u8),
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    );
    type Wide = (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u16);
    let wide: Wide = decode_exact(&[1; 17]).unwrap();
    assert_eq!((wide.15, to_vec(&wide).unwrap()), (0x0101, vec![1; 17]));
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Mixed {
    tuple: (u8, String, Option<char>),
    numbers: (u128, i128, usize, isize),
    result: Result<Duration, Vec<Wrapping<u16>>>,
    range: Range<i64>,
    address: IpAddr,
    socket: SocketAddr,
    set: BTreeSet<(bool, char)>,
    list: Vec<(NonZero<u32>, Box<str>)>,
    path: PathBuf,
}

fn mixed() -> impl Strategy<Value = Mixed> {
    let nonzero = (1..u32::MAX).prop_map(|number| NonZero::new(number).unwrap());
    let text = any::<String>();
    (
        any::<((u8, String, Option<char>), (u128, i128, usize, isize))>(),
        (any::<Result<(u64, u32), Vec<u16>>>(), any::<Range<i64>>()),
        any::<(IpAddr, SocketAddr, BTreeSet<(bool, char)>)>(),
        prop::collection::vec((nonzero, text.prop_map(Into::into)), 0..4),
        text.prop_map(PathBuf::from),
    )
        .prop_map(|((tuple, numbers), (result, range), (address, socket, set), list, path)| Mixed {
            tuple,
            numbers,
            result: result
                .map(|(seconds, nanos)| Duration::new(seconds >> 1, nanos))
                .map_err(|list| list.into_iter().map(Wrapping).collect()),
            range,
            address,
            socket,
            set,
            list,
            path,
        })
}

proptest! {
    #[test]
    fn mixed_types_round_trip(value in mixed()) {
        let bytes = to_vec(&value).unwrap();
        check(value, &bytes);
    }

    /// Malformed input is a value or an error, from a slice and from a run-time schema alike.
    #[test]
    fn changed_bytes_are_a_value_or_an_error(value in mixed(), at: prop::sample::Index, byte: u8) {
        let mut bytes = to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let dynamic = schema::of::<Mixed>().compile().unwrap();
        if let Ok(value) = decode_exact::<Mixed>(&bytes) {
            // Sets are sorted, and duplicates are removed.
            prop_assert!(to_vec(&value).unwrap().len() <= bytes.len());
            prop_assert!(dynamic.decode_exact::<Value>(&bytes).is_ok());
        }
    }
}
