//! Types with serde's traits.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{Debug, Display};
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU8;
use std::time::Duration;

use proptest::prelude::*;
use serde::de::{self, DeserializeOwned};
use serde::ser::{SerializeSeq as _, SerializeTuple as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use test_support::counting::usage;
use tightwire_parco::serde::{decode, decode_exact, decode_exact_as, encode, to_vec, to_vec_as};
use tightwire_parco::wire::Le;
use tightwire_parco::{Decode, DecodeOwned, DuplicateKeys, Encode, Error, Limits, Mode, Options, schema};

use crate::bridge::{self, Empty, Everything, Frame, Holder, Node, Pair, Wrapped};
use crate::support::messages::Material;

fn limited(limits: Limits) -> Options {
    Options::new().limits(limits)
}

/// Fails with this text.
#[track_caller]
fn fails<T>(result: Result<T, Error>, text: impl Display) -> Error {
    let Err(error) = result else { panic!("no error, instead of: {text}") };
    assert_eq!(error.to_string(), text.to_string());
    error
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The fuzz target `parco_serde` runs these checks for longer.
    #[test]
    fn values_have_the_same_bytes_as_derived_ones(material in prop::collection::vec(any::<u8>(), 0..700)) {
        bridge::check_round_trip(&material);
    }

    #[test]
    fn any_bytes_are_decoded_as_by_the_derived_decoder(
        input in prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..200),
        choice in prop::array::uniform5(any::<u8>()),
    ) {
        bridge::check_bytes(&input, choice);
    }

    /// Changed bytes of a valid message reach more of the decoder.
    #[test]
    fn changed_messages_are_decoded_as_by_the_derived_decoder(
        material in prop::collection::vec(any::<u8>(), 0..300),
        at: prop::sample::Index,
        byte: u8,
        choice in prop::array::uniform5(any::<u8>()),
    ) {
        let mut bytes = to_vec(&Everything::made_of(&mut Material(&material))).unwrap();
        bridge::check_bytes(&bytes, choice);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bridge::check_bytes(&bytes, choice);
    }
}

fn has_bytes<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: T, bytes: &[u8]) {
    assert_eq!(to_vec(&value).unwrap(), bytes);
    assert_eq!(decode_exact::<T>(bytes).unwrap(), value);
    let followed = [bytes, b"rest"].concat();
    assert_eq!(decode::<T>(&followed).unwrap(), (value, &b"rest"[..]));
}

fn has_derived_bytes<T>(value: T, bytes: &[u8])
where
    T: Serialize + DeserializeOwned + Encode + DecodeOwned + PartialEq + Debug,
{
    assert_eq!(tightwire_parco::to_vec(&value).unwrap(), bytes);
    has_bytes(value, bytes);
}

#[test]
fn each_type_has_its_bytes() {
    has_derived_bytes(true, &[1]);
    has_derived_bytes(0x1234_u16, &[0x34, 0x12]);
    has_derived_bytes(-2_i64, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    has_derived_bytes(1.5_f32, &[0, 0, 0xc0, 0x3f]);
    has_derived_bytes("h\u{e9}".to_owned(), &[3, b'h', 0xc3, 0xa9]);
    has_derived_bytes("x".repeat(300), &[&[0xac, 2][..], &[b'x'; 300]].concat());
    has_derived_bytes(vec![1_u8, 2], &[2, 1, 2]);
    has_derived_bytes(vec![1_u16, 2], &[2, 1, 0, 2, 0]);
    has_derived_bytes([1_u8, 2, 3], &[1, 2, 3]);
    has_derived_bytes(None::<u8>, &[0]);
    has_derived_bytes(Some(Some(7_u8)), &[1, 1, 7]);
    has_derived_bytes((), &[]);
    has_derived_bytes(Empty, &[]);
    has_derived_bytes(Wrapped("a".into()), &[1, b'a']);
    has_derived_bytes(Pair(1, vec![true]), &[1, 0, 1, 1]);
    has_derived_bytes(Frame::Nothing, &[0]);
    has_derived_bytes(Frame::Text("a".into()), &[1, 1, b'a']);
    has_derived_bytes(Frame::Pair(9, true), &[2, 9, 1]);
    has_derived_bytes(Frame::Named { left: 1, right: Some(false) }, &[3, 1, 0, 1, 0]);
    has_derived_bytes(BTreeMap::from([(1_u8, "a".to_owned()), (2, String::new())]), &[2, 1, 1, b'a', 2, 0]);
    has_derived_bytes(HashMap::from([("a".to_owned(), 1_u16)]), &[1, 1, b'a', 1, 0]);
    has_derived_bytes(Node { value: 1, children: Vec::new(), next: None }, &[1, 0, 0]);

    has_bytes((1_u8, "a".to_owned(), [true]), &[1, 1, b'a', 1]);
    has_bytes('\u{1f600}', &[0, 0xf6, 1, 0]);
    has_bytes(1_u128 << 64, &[0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    has_bytes(-1_i128, &[0xff; 16]);
    has_bytes(7_usize, &[7, 0, 0, 0, 0, 0, 0, 0]);
    has_bytes(-1_isize, &[0xff; 8]);
    has_bytes(NonZeroU8::new(3).unwrap(), &[3]);
    has_bytes(Duration::new(1, 2), &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    has_bytes(IpAddr::V4(Ipv4Addr::LOCALHOST), &[0, 127, 0, 0, 1]);
    has_bytes(1..3_u8, &[1, 3]);
    has_bytes(Err::<u8, bool>(true), &[1, 1]);
    has_bytes(Cow::Borrowed("a"), &[1, b'a']);

    /// A variant above 127 has an id of two bytes.
    struct Late;
    impl Serialize for Late {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_unit_variant("Late", 300, "Last")
        }
    }
    assert_eq!(to_vec(&Late).unwrap(), [0xac, 2]);
    let mut vec = b"before".to_vec();
    encode(&Late, &mut vec).unwrap();
    assert_eq!(vec, b"before\xac\x02");
}

/// Serializes and deserializes byte arrays, as `serde_bytes` does.
#[derive(Debug, PartialEq)]
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(!serializer.is_human_readable());
        serializer.serialize_bytes(self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        assert!(!deserializer.is_human_readable());
        Deserialize::deserialize(deserializer).map(Self)
    }
}

#[test]
fn strings_and_byte_arrays_are_borrowed() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
        #[serde(borrow)]
        bytes: Bytes<'a>,
        #[serde(borrow)]
        cow: Cow<'a, str>,
    }
    let value = Borrowed { text: "ab", bytes: Bytes(&[1, 2]), cow: "c".into() };
    let bytes = to_vec(&value).unwrap();
    assert_eq!(bytes, [2, b'a', b'b', 2, 1, 2, 1, b'c']);
    let nothing = limited(Limits::default().max_allocation(0));
    let (used, again) = usage(|| decode_exact_as::<Le, Borrowed<'_>>(nothing, &bytes).unwrap());
    assert_eq!((used.count, &again), (0, &value));
    assert!(matches!(again.cow, Cow::Borrowed(_)));
}

/// Collections that do not know their length are the same as others.
#[test]
fn collections_without_a_length_are_counted() {
    struct Seq(Vec<Vec<u8>>);
    impl Serialize for Seq {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter().map(Unknown).filter(|_| true))
        }
    }
    struct Unknown<'a>(&'a Vec<u8>);
    impl Serialize for Unknown<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter().filter(|_| true))
        }
    }
    struct Map(BTreeMap<u8, Wrapped>);
    impl Serialize for Map {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().filter(|_| true))
        }
    }
    for value in [vec![], vec![vec![], vec![1, 2], vec![3; 200]]] {
        assert_eq!(to_vec(&Seq(value.clone())).unwrap(), to_vec(&value).unwrap());
    }
    let map = BTreeMap::from([(1, Wrapped("a".into())), (2, Wrapped("b".into()))]);
    assert_eq!(to_vec(&Map(map.clone())).unwrap(), to_vec(&map).unwrap());
}

/// The error contains the path, and the message of the implementation.
#[test]
fn encoding_errors_name_the_value() {
    struct Failing;
    impl Serialize for Failing {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("not today"))
        }
    }
    #[derive(Serialize)]
    struct Outer<T> {
        number: u8,
        list: Vec<T>,
    }
    #[derive(Serialize)]
    struct Newtype<T>(T);
    #[derive(Serialize)]
    struct Tuple<T>(u8, T);
    #[derive(Serialize)]
    enum Choice<T> {
        New(T),
        Tuple(u8, T),
        Struct { value: T },
    }
    #[derive(Serialize)]
    struct Skipping {
        first: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        second: Option<u8>,
    }
    #[derive(Serialize)]
    enum SkippingVariant {
        One {
            #[serde(skip_serializing_if = "Option::is_none")]
            second: Option<u8>,
        },
    }
    struct Unknown<T>(T);
    impl<T: Serialize> Serialize for Unknown<T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(None)?;
            seq.serialize_element(&self.0)?;
            seq.end()
        }
    }
    /// Announces two elements.
    struct Miscounted(usize);
    impl Serialize for Miscounted {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut seq = serializer.serialize_seq(Some(2))?;
            (0..self.0).try_for_each(|_| seq.serialize_element(&7_u8))?;
            seq.end()
        }
    }

    let failed = "the `Serialize` implementation failed: not today";
    assert!(fails(to_vec(&Failing), format!("{failed} (byte 0)")).is_invalid_value());
    fails(to_vec(&Outer { number: 1, list: vec![Failing] }), format!("{failed} at .list[0] (byte 2)"));
    fails(to_vec(&Newtype(Failing)), format!("{failed} at .0 (byte 0)"));
    fails(to_vec(&Tuple(1, Failing)), format!("{failed} at .1 (byte 1)"));
    fails(to_vec(&(1_u8, [Failing])), format!("{failed} at [1][0] (byte 1)"));
    fails(to_vec(&Some(Choice::New(Failing))), format!("{failed} at .New (byte 2)"));
    fails(to_vec(&Choice::Tuple(1, Failing)), format!("{failed} at .Tuple.1 (byte 2)"));
    fails(to_vec(&Choice::Struct { value: Failing }), format!("{failed} at .Struct.value (byte 1)"));
    fails(to_vec(&BTreeMap::from([(1_u8, Failing)])), format!("{failed} at [value 0] (byte 2)"));
    fails(to_vec(&Unknown(Unknown(Newtype(Failing)))), format!("{failed} at [0][0].0 (byte 2)"));
    let error = fails(
        tightwire_parco::to_vec(&Holder { before: 1, value: Tuple(2, Failing), after: 3 }),
        format!("{failed} at .value.1 (byte 3)"),
    );
    assert_eq!(error.path().len(), 2);
    assert!(tightwire_parco::encoded_len(&Holder { before: 1, value: Failing, after: 3 }).is_err());

    let skipped = "a field is skipped, but a message contains every field";
    assert_eq!(to_vec(&Skipping { first: 1, second: Some(2) }).unwrap(), [1, 1, 2]);
    let result = to_vec(&Outer { number: 1, list: vec![Skipping { first: 1, second: None }] });
    assert!(fails(result, format!("{skipped} at .list[0].second (byte 3)")).is_unsupported());
    fails(to_vec(&SkippingVariant::One { second: None }), format!("{skipped} at .One.second (byte 1)"));

    assert_eq!(to_vec(&Miscounted(2)).unwrap(), [2, 7, 7]);
    for count in [0, 1, 3] {
        let error = fails(
            to_vec(&Newtype(Miscounted(count))),
            format!("wrong number of elements at .0 (byte {})", 1 + count),
        );
        assert!(error.is_invalid_length());
    }
    let mut vec = b"before".to_vec();
    assert!(encode(&Outer { number: 1, list: vec![Failing] }, &mut vec).is_err());
    assert_eq!(vec, b"before");
}

#[derive(Debug, Deserialize, Serialize)]
struct Record<T> {
    first: u8,
    value: T,
}

#[test]
fn decoding_errors_have_kind_path_and_offset() {
    let decode_record = |bytes: &[u8]| decode_exact::<Record<Vec<Frame>>>(bytes);
    let end = "the input ends inside a value";
    fails(decode_record(&[]), format!("{end} at .first (byte 0)"));
    fails(decode_record(&[1, 2, 0]), format!("{end} at .value[1] (byte 3)"));
    fails(decode_record(&[1, 1, 3, 1]), format!("{end} at .value[0].Named.left (byte 3)"));
    fails(decode_record(&[1, 1, 1, 5, b'a']), format!("{end} at .value[0].Text (byte 4)"));
    fails(decode_record(&[1, 0, 9]), "bytes follow the value (byte 2)");
    let error = fails(decode_record(&[1, 1, 4]), "unknown id or type at .value[0] (byte 2)");
    assert!(error.is_unknown_type());
    let id = [1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f];
    fails(decode_record(&id), "unknown id or type at .value[0] (byte 2)");
    let long = [1, 1, 0x80, 0];
    fails(decode_record(&long), "a varint is longer than necessary at .value[0] (byte 2)");
    decode_exact_as::<Le, Record<Vec<Frame>>>(Options::new().mode(Mode::Compat), &long).unwrap();
    let flag = [1, 1, 2, 0, 2];
    fails(decode_record(&flag), "a flag is neither 0 nor 1 at .value[0].Pair.1 (byte 4)");
    fails(decode_record(&[1, 1, 3, 0, 0, 3]), "a flag is neither 0 nor 1 at .value[0].Named.right (byte 5)");
    fails(decode_record(&[1, 1, 1, 1, 0xff]), "text is not UTF-8 at .value[0].Text (byte 4)");

    let invalid = "the bytes are not a valid value of the target type";
    let error =
        fails(decode_exact::<Record<char>>(&[1, 0, 0xd8, 0, 0]), format!("{invalid} at .value (byte 1)"));
    assert!(error.is_invalid_value());
    let zero = decode_exact::<Record<NonZeroU8>>(&[1, 0]);
    fails(zero, format!("{invalid}: expected a nonzero u8 at .value (byte 1)"));
    let result = decode_exact::<Record<Wrapped>>(&[1, 1, 0xff]);
    fails(result, "text is not UTF-8 at .value.0 (byte 2)");
    fails(decode_exact::<(u8, [bool; 2])>(&[1, 1, 3]), "a flag is neither 0 nor 1 at [1][1] (byte 2)");
    let map = decode_exact::<BTreeMap<bool, bool>>(&[2, 0, 0, 3, 0]);
    fails(map, "a flag is neither 0 nor 1 at [key 1] (byte 3)");
    let map = decode_exact::<BTreeMap<bool, bool>>(&[2, 0, 0, 1, 2]);
    fails(map, "a flag is neither 0 nor 1 at [value 1] (byte 4)");

    // The message of an implementation is part of the error.
    #[derive(Debug)]
    struct Even;
    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let number = u8::deserialize(deserializer)?;
            if number % 2 == 0 { Ok(Self) } else { Err(de::Error::custom("not even")) }
        }
    }
    let result = decode_exact::<Vec<Even>>(&[3, 2, 4, 5]);
    fails(result, format!("{invalid}: not even at [2] (byte 3)"));
    fails(decode_exact::<Even>(&[3]), format!("{invalid}: not even (byte 0)"));
    let held = tightwire_parco::decode_exact::<Holder<Even>>(&[9, 1, 3, 0, 0]);
    fails(held, format!("{invalid}: not even at .value (byte 2)"));
}

/// Types that need the names or types of values in the message.
#[test]
fn types_of_self_describing_formats_are_rejected() {
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
    }
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        One { number: u8 },
    }
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(tag = "type", content = "content")]
    enum Adjacent {
        One { number: u8 },
    }
    #[derive(Debug, Serialize, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        record: Record<u8>,
    }
    #[derive(Debug)]
    struct Ignored;
    impl<'de> Deserialize<'de> for Ignored {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            de::IgnoredAny::deserialize(deserializer).map(|_| Self)
        }
    }
    fn check<T: DeserializeOwned + Debug>(bytes: &[u8], place: &str) {
        let text = "the type can only be decoded from a self-describing format (it calls `deserialize_any` or similar, \
                    as flattened, untagged and tagged types do)";
        assert!(fails(decode_exact::<T>(bytes), format!("{text}{place}")).is_unsupported());
    }
    let bytes = to_vec(&Record { first: 1, value: Untagged::Number(7) }).unwrap();
    check::<Record<Untagged>>(&bytes, " at .value (byte 1)");
    check::<Record<Tagged>>(&[1, 2], " at .value (byte 1)");
    check::<Vec<Flat>>(&[1, 1, 1, b'a', 1], " at [0][key 0] (byte 2)");
    check::<Record<serde_json::Value>>(&[1, 2], " at .value (byte 1)");
    check::<Ignored>(&[1, 2], " (byte 0)");
    check::<Record<Adjacent>>(&[1, 2], " at .value.type (byte 1)");
}

/// Types that can never be decoded are refused when they are encoded, if serde shows what they are.
#[test]
fn types_that_cannot_be_decoded_are_not_encoded() {
    #[derive(Serialize)]
    #[serde(tag = "type")]
    enum Tagged {
        Unit,
        One { number: u8 },
        New(Record<u8>),
        Map(BTreeMap<String, u8>),
    }
    #[derive(Serialize)]
    #[serde(tag = "type")]
    struct TaggedStruct {
        number: u8,
    }
    #[derive(Serialize)]
    #[serde(tag = "type", content = "content")]
    enum Adjacent {
        Unit,
        One { number: u8 },
    }
    #[derive(Serialize)]
    struct Flat<T> {
        #[serde(flatten)]
        inner: T,
    }
    #[derive(Serialize)]
    struct FlatMap {
        number: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    struct Short;
    impl Serialize for Short {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut tuple = serializer.serialize_tuple(2)?;
            tuple.serialize_element(&1_u8)?;
            tuple.end()
        }
    }
    fn check(value: impl Serialize) {
        let error = to_vec(&Record { first: 1, value }).unwrap_err();
        assert!(error.is_unsupported(), "{error}");
        assert!(error.to_string().contains(" at .value"), "{error}");
    }
    check(Tagged::Unit);
    check(Tagged::One { number: 1 });
    check(Tagged::New(Record { first: 1, value: 2 }));
    check(Tagged::Map(BTreeMap::from([("a".to_owned(), 1)])));
    check(TaggedStruct { number: 1 });
    check(Adjacent::Unit);
    check(Adjacent::One { number: 1 });
    check(Flat { inner: Record { first: 1, value: 2_u8 } });
    check(FlatMap { number: 1, rest: BTreeMap::new() });
    assert!(to_vec(&Short).unwrap_err().is_invalid_length());

    // Texts that are values are no names of variants.
    let map = HashMap::from([("key", "value")]);
    assert_eq!(decode_exact::<HashMap<&str, &str>>(&to_vec(&map).unwrap()).unwrap(), map);
    let record = Record { first: 1, value: Box::<str>::from("text") };
    assert_eq!(decode_exact::<Record<Box<str>>>(&to_vec(&record).unwrap()).unwrap().value, record.value);
}

/// The calls of the module have the names and results of those of the crate.
#[test]
fn calls_have_the_same_names() {
    use tightwire_parco::serde::{decode_from_reader, encode_to_slice, encode_to_writer, encoded_len};

    let value = (7_u16, "text".to_owned(), vec![Some(1_i64), None], BTreeMap::from([(1_u8, 'x')]));
    let bytes = to_vec(&value).unwrap();
    assert_eq!(encoded_len(&value).unwrap(), bytes.len());
    let mut stream = Vec::new();
    assert_eq!(encode_to_writer(&value, &mut stream).unwrap(), bytes.len());
    assert_eq!(stream, bytes);
    let mut slice = vec![0; bytes.len() + 1];
    assert_eq!(encode_to_slice(&value, &mut slice).unwrap(), bytes.len());
    assert_eq!(slice[..bytes.len()], bytes);
    assert!(encode_to_slice(&value, &mut slice[..3]).unwrap_err().is_buffer_full());

    // Messages that follow each other.
    let stream = [&bytes[..], &bytes, &[0xff]].concat();
    let mut rest = &stream[..];
    for _ in 0..2 {
        assert_eq!(
            decode_from_reader::<(u16, String, Vec<Option<i64>>, BTreeMap<u8, char>)>(&mut rest).unwrap(),
            value
        );
    }
    assert_eq!(rest, [0xff]);
    for len in 0..bytes.len() {
        type Value = (u16, String, Vec<Option<i64>>, BTreeMap<u8, char>);
        let streamed = decode_from_reader::<Value>(&bytes[..len]).unwrap_err();
        let error = decode_exact::<Value>(&bytes[..len]).unwrap_err();
        assert!(streamed.is_unexpected_end(), "{streamed}");
        assert!(len == 0 || streamed.to_string() == error.to_string(), "{streamed}, {error}");
    }
    let invalid = decode_from_reader::<(u8, String)>(&[1, 1, 0xff][..]).unwrap_err();
    assert_eq!(invalid.to_string(), "text is not UTF-8 at [1] (byte 2)");
}

/// Types that do not read all elements do not shift the values after them.
#[test]
fn elements_that_are_not_read_are_an_error() {
    #[derive(Debug)]
    struct First;
    impl<'de> Deserialize<'de> for First {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> de::Visitor<'de> for Visitor {
                type Value = First;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an element")
                }

                fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<First, A::Error> {
                    seq.next_element::<u8>()?
                        .map(|_| First)
                        .ok_or_else(|| de::Error::invalid_length(0, &self))
                }
            }
            deserializer.deserialize_seq(Visitor)
        }
    }
    decode_exact::<(First, u8)>(&[1, 7, 8]).unwrap();
    let error = fails(decode_exact::<(First, u8)>(&[2, 7, 8, 9]), "wrong number of elements at [0] (byte 2)");
    assert!(error.is_invalid_length());
    fails(
        decode_exact::<(First, u8)>(&[0, 9]),
        "wrong number of elements: expected an element at [0] (byte 0)",
    );
}

#[test]
fn duplicate_keys_are_rejected_if_the_options_say_so() {
    type Map = HashMap<String, u8>;
    let bytes = [3, 1, b'a', 1, 1, b'b', 2, 1, b'a', 3];
    assert_eq!(decode_exact::<Map>(&bytes).unwrap(), HashMap::from([("a".into(), 3), ("b".into(), 2)]));
    let reject = Options::new().duplicate_keys(DuplicateKeys::Reject);
    let error = fails(
        decode_exact_as::<Le, Map>(reject, &bytes),
        "a map or set contains a key twice at [key 2] (byte 7)",
    );
    assert!(error.is_duplicate_key());
    decode_exact_as::<Le, Map>(reject, &[2, 1, b'a', 1, 1, b'b', 2]).unwrap();
}

#[test]
fn limits_are_inclusive() {
    fn check<T: Serialize + DeserializeOwned>(value: T, exact: Limits, less: Limits, path: &str) {
        let bytes = to_vec(&value).unwrap();
        assert!(decode_exact_as::<Le, T>(limited(exact), &bytes).is_ok());
        let Err(error) = decode_exact_as::<Le, T>(limited(less), &bytes) else {
            panic!("{less:?} accepts it")
        };
        assert!(error.is_limit(), "{error}");
        assert!(error.to_string().contains(path), "{error}");
        assert_eq!(to_vec_as::<Le, _>(limited(exact), &value).unwrap(), bytes);
    }
    let limits = Limits::default;
    check((1_u8, "x".repeat(10)), limits().max_bytes(10), limits().max_bytes(9), "[1] (byte 2)");
    check(
        vec![1_u8; 10],
        limits().max_elements(0).max_bytes(10),
        limits().max_elements(0).max_bytes(9),
        "(byte 1)",
    );
    check(vec![1_u16; 10], limits().max_elements(10), limits().max_elements(9), "10 elements, but at most 9");
    let map = BTreeMap::from([(1_u8, 1_u8), (2, 2)]);
    check(map, limits().max_elements(2), limits().max_elements(1), "(byte 3)");
    check(vec![(); 10], limits().max_zero_sized(10), limits().max_zero_sized(9), "(byte 1)");
    check(vec![Empty; 4096], limits(), limits().max_zero_sized(0), "(byte 2)");
    let value = ("x".repeat(100), vec![1_u64; 10], vec!["abc".to_owned(); 4]);
    let needed = 100 + 10 * 8 + 4 * size_of::<String>() + 4 * 3;
    check(value, limits().max_allocation(needed), limits().max_allocation(needed - 1), "[2][3] (byte");
    let many = [&[0x81, 0x20][..], &[]].concat();
    assert!(decode_exact::<Vec<()>>(&many).unwrap_err().is_limit());
    for error in [to_vec(&vec![(); 4097]).unwrap_err(), to_vec(&Some(vec![Empty; 4097])).unwrap_err()] {
        assert!(error.to_string().contains("4097 elements without bytes, but at most 4096"), "{error}");
    }
}

/// A message can claim any number of elements, on each level of nesting.
#[test]
fn forged_lengths_do_not_allocate() {
    fn check<T: DeserializeOwned>(bytes: &[u8], most: usize) {
        let (used, result) = usage(|| decode_exact::<T>(bytes).map(|_| ()));
        let error = result.unwrap_err();
        assert!(error.is_unexpected_end() || error.is_limit(), "{error}");
        assert!(used.bytes <= most, "{used:?} for {}", std::any::type_name::<T>());
    }
    // Ten million elements, 4 bytes of contents.
    let forged = [0x80, 0xad, 0xe2, 4, 0, 0, 0, 0];
    check::<Vec<u8>>(&forged, 512);
    check::<Vec<u64>>(&forged, 512);
    check::<Vec<[u64; 30]>>(&forged, 4096);
    check::<String>(&forged, 512);
    check::<Vec<String>>(&forged, 1024);
    check::<HashMap<u8, [u64; 30]>>(&forged, 8192);
    check::<BTreeMap<u8, u8>>(&forged, 1024);
    check::<Vec<()>>(&forged, 512);
    check::<Vec<Empty>>(&forged, 512);
    check::<HashMap<(), ()>>(&forged, 512);
    check::<Vec<u8>>(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], 512);

    // Each of the 31 nodes claims more children than there are bytes. All of them together reserve memory once.
    let nodes = [0, 0xff, 0xff, 3].repeat(31);
    let bytes = [&nodes[..], &[0; 60_000]].concat();
    check::<Node>(&bytes, 4 << 20);
}

/// Decoding of collections without bytes ends at the limit, for every claimed number of elements and every visitor.
#[test]
fn counts_of_elements_without_bytes_end() {
    #[derive(Debug)]
    struct Counter(usize);
    impl<'de> Deserialize<'de> for Counter {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> de::Visitor<'de> for Visitor {
                type Value = Counter;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("keys")
                }

                fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Counter, A::Error> {
                    let mut count = 0;
                    while map.next_key::<()>()?.is_some() {
                        count += 1;
                    }
                    Ok(Counter(count))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    assert_eq!(decode_exact::<Counter>(&[0x80, 0x20]).unwrap().0, 4096);
    assert!(decode_exact::<Counter>(&[0x80, 0xad, 0xe2, 4]).unwrap_err().is_limit());
}

/// A type that consists of itself in the container `$container`, which counts as a level.
macro_rules! recursive {
    ($name:ident, $container:ty, $wrap:expr, $end:expr) => {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(transparent)]
        struct $name($container);

        impl $name {
            fn nested(levels: usize) -> Self {
                let wrap: fn(Self) -> $container = $wrap;
                (1..levels).fold(Self($end), |inner, _| Self(wrap(inner)))
            }
        }
    };
}

recursive!(InSeq, Vec<InSeq>, |inner| vec![inner], Vec::new());
recursive!(InMap, BTreeMap<u8, InMap>, |inner| BTreeMap::from([(1, inner)]), BTreeMap::new());
recursive!(InTuple, (Vec<InTuple>, u8), |inner| (vec![inner], 1), (Vec::new(), 1));
recursive!(InOption, Option<Box<InOption>>, |inner| Some(Box::new(inner)), None);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum InEnum {
    More(Box<Self>),
    End,
}

/// Cannot be created, but could be decoded from an empty message.
#[derive(Debug, Deserialize)]
struct Endless {
    _inner: Box<Self>,
}

#[derive(Debug, Deserialize)]
struct EndlessNewtype(#[expect(dead_code, reason = "it is never decoded")] Box<Self>);

/// Encoding and decoding fail at the same level of every container.
#[test]
fn every_container_counts_as_a_level() {
    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(make: impl Fn(usize) -> T, levels: usize) {
        let value = make(levels);
        let unlimited = limited(Limits::default().max_depth(10_000));
        let bytes = to_vec_as::<Le, _>(unlimited, &value).unwrap();
        let mut accepted = None;
        for depth in 0..300 {
            let options = limited(Limits::default().max_depth(depth));
            let written = to_vec_as::<Le, _>(options, &value);
            let read = decode_exact_as::<Le, T>(options, &bytes);
            assert_eq!(written.is_ok(), read.is_ok(), "at {depth}");
            match read {
                Ok(read) => {
                    assert_eq!(read, value);
                    accepted.get_or_insert(depth);
                }
                Err(error) => assert!(error.is_limit() && written.unwrap_err().is_limit(), "{error}"),
            }
        }
        assert!(accepted.is_some_and(|depth| depth as usize + 1 >= levels), "{accepted:?}");
        // The default limit protects the stack in both directions.
        let deep = make(1000);
        assert!(to_vec(&deep).unwrap_err().is_limit());
        let bytes = to_vec_as::<Le, _>(unlimited, &deep).unwrap();
        assert!(decode_exact::<T>(&bytes).unwrap_err().is_limit());
    }
    check(InSeq::nested, 100);
    check(InMap::nested, 100);
    check(InTuple::nested, 100);
    check(InOption::nested, 100);
    check(|levels| (1..levels).fold(InEnum::End, |inner, _| InEnum::More(Box::new(inner))), 100);
    assert!(decode_exact::<Endless>(&[]).unwrap_err().is_limit());
    assert!(decode_exact::<EndlessNewtype>(&[]).unwrap_err().is_limit());
    // Long runs of the byte that opens a container.
    assert!(decode_exact::<InSeq>(&[1; 100_000]).unwrap_err().is_limit());
    assert!(decode_exact::<InOption>(&[1; 100_000]).unwrap_err().is_limit());
    assert!(decode_exact::<InEnum>(&[0; 100_000]).unwrap_err().is_limit());
}

/// The attribute encodes the value behind its length.
#[test]
fn serde_types_are_fields_of_derived_messages() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Mixed<'a> {
        number: u16,
        #[parco(serde)]
        tuple: (u8, char),
        #[parco(serde)]
        text: Cow<'a, str>,
        #[parco(serde)]
        unit: (),
        #[parco(serde)]
        list: Vec<Duration>,
        #[parco(default_on_eof, serde)]
        late: Option<u8>,
    }
    let value = Mixed {
        number: 1,
        tuple: (2, 'a'),
        text: "b".into(),
        unit: (),
        list: vec![Duration::from_secs(3)],
        late: Some(4),
    };
    let bytes = tightwire_parco::to_vec(&value).unwrap();
    let list = [&[13, 1, 3][..], &[0; 11]].concat();
    assert_eq!(bytes, [&[1, 0, 5, 2, b'a', 0, 0, 0, 2, 1, b'b', 0][..], &list, &[2, 1, 4]].concat());
    assert_eq!(tightwire_parco::encoded_len(&value).unwrap(), bytes.len());
    assert_eq!(tightwire_parco::decode_exact::<Mixed<'_>>(&bytes).unwrap(), value);
    let early = tightwire_parco::decode_exact::<Mixed<'_>>(&bytes[..bytes.len() - 3]).unwrap();
    assert_eq!(early.late, None);

    let schema = schema::of::<Holder<String>>();
    assert_eq!(schema.canonical(), "(u8 bytes(varint) u16le)");
    assert_eq!(schema.fingerprint(), schema::of::<Holder<Duration>>().fingerprint());
}

#[test]
fn lengths_of_serde_fields_are_checked() {
    type Message = Holder<Vec<u16>>;
    let decode = |bytes: &[u8]| {
        let mut stream = tightwire_parco::Decoder::new(bytes);
        let streamed = stream.decode::<Message>().map(Option::unwrap);
        let decoded = tightwire_parco::decode_exact::<Message>(bytes);
        assert_eq!(streamed.is_ok(), decoded.is_ok());
        decoded
    };
    let value = Holder { before: 1, value: vec![7_u16], after: 0x0302 };
    assert_eq!(decode(&[1, 3, 1, 7, 0, 2, 3]).unwrap(), value);
    assert!(
        fails(decode(&[1, 4, 1, 7, 0, 0, 2, 3]), "bytes follow the value at .value (byte 5)")
            .is_trailing_bytes()
    );
    let text = "the bytes are not a valid value of the target type at .value (byte 2)";
    assert!(fails(decode(&[1, 2, 1, 7, 0, 2, 3]), text).is_invalid_value());
    let error = fails(decode(&[1, 9, 1, 7, 0, 2, 3]), "the input ends inside a value at .value (byte 2)");
    assert_eq!(error.missing(), Some(4));
}

/// Levels of the message and of its serde fields are counted together, in both directions.
#[test]
fn serde_fields_count_the_levels_of_the_message() {
    let value = Holder { before: 1, value: InSeq::nested(10), after: 2 };
    let bytes = tightwire_parco::to_vec(&value).unwrap();
    for depth in 0..20 {
        let options = limited(Limits::default().max_depth(depth));
        let is_enough = depth >= 12;
        assert_eq!(options.to_vec(&value).is_ok(), is_enough, "at {depth}");
        assert_eq!(options.encoded_len(&value).is_ok(), is_enough, "at {depth}");
        assert_eq!(options.decode_exact::<Holder<InSeq>>(&bytes).is_ok(), is_enough, "at {depth}");
    }
}

/// Tuples that announce a length are not checked, because no length is encoded.
#[test]
fn tuples_have_no_header() {
    struct Triple;
    impl Serialize for Triple {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut tuple = serializer.serialize_tuple(3)?;
            (1..=3_u8).try_for_each(|number| tuple.serialize_element(&number))?;
            tuple.end()
        }
    }
    assert_eq!(to_vec(&Triple).unwrap(), [1, 2, 3]);
}

#[test]
fn decoding_allocates_what_the_value_needs() {
    let value: Vec<(u16, u64)> = (0..1000).map(|number| (number, 1)).collect();
    let bytes = to_vec(&value).unwrap();
    let (used, decoded) = usage(|| decode_exact::<Vec<(u16, u64)>>(&bytes).unwrap());
    assert_eq!((used.count, decoded), (1, value));
    let (used, error) = usage(|| decode_exact::<Vec<u32>>(&[2, 0]).unwrap_err());
    assert!(error.is_unexpected_end() && used.count <= 4, "{used:?}");
}

#[cfg(feature = "codec")]
mod codec {
    use std::io;

    use futures_util::{SinkExt as _, StreamExt as _};
    use tightwire_parco::serde::SerdeCodec;
    use tightwire_parco::{FrameCodec, Limits};
    use tokio_util::codec::{Framed, FramedRead, LengthDelimitedCodec};

    use super::{Frame, InSeq, Node, limited};

    fn error_of(error: &io::Error) -> &tightwire_parco::Error {
        error.get_ref().unwrap().downcast_ref().unwrap()
    }

    #[tokio::test]
    async fn peers_exchange_messages() {
        let (one, other) = tokio::io::duplex(7);
        let mut client = Framed::new(one, SerdeCodec::<Frame, Node>::new());
        // The frames are those of derived types.
        let mut server = Framed::new(other, FrameCodec::<Node>::new(LengthDelimitedCodec::new()));
        let node = Node { value: 7, children: Vec::new(), next: None };
        let sending = async {
            client.send(&node).await.unwrap();
            client.send(node.clone()).await.unwrap();
            client
        };
        let receiving = async {
            assert_eq!(server.next().await.unwrap().unwrap(), node);
            assert_eq!(server.next().await.unwrap().unwrap(), node);
            server
        };
        let (mut client, server) = tokio::join!(sending, receiving);
        let mut server = Framed::new(server.into_inner(), SerdeCodec::<Node, Frame>::new());
        let frame = Frame::Text("hey".into());
        let sending = async {
            server.send(&frame).await.unwrap();
            drop(server);
        };
        let receiving = async {
            assert_eq!(client.next().await.unwrap().unwrap(), frame);
            assert!(client.next().await.is_none());
        };
        tokio::join!(sending, receiving);
    }

    /// A stream continues after a bad frame, and after the `None` that tokio-util returns after an error.
    #[tokio::test]
    async fn bad_messages_are_skipped() {
        let bytes = b"\0\0\0\x04\x03he\xff\0\0\0\x04\x03hey\0\0\0\x05\x03hey!";
        let mut stream = FramedRead::new(&bytes[..], SerdeCodec::<String>::default());
        assert!(error_of(&stream.next().await.unwrap().unwrap_err()).is_invalid_utf8());
        assert!(stream.next().await.is_none());
        assert_eq!(stream.next().await.unwrap().unwrap(), "hey");
        assert!(error_of(&stream.next().await.unwrap().unwrap_err()).is_trailing_bytes());
    }

    #[tokio::test]
    async fn options_and_frames_are_respected() {
        let frames =
            LengthDelimitedCodec::builder().length_field_type::<u8>().max_frame_length(12).new_codec();
        let options = limited(Limits::default().max_depth(9));
        let mut writer =
            Framed::new(Vec::new(), SerdeCodec::<(), InSeq>::with_options(frames.clone(), options));
        writer.send(InSeq::nested(9)).await.unwrap();
        let error = writer.send(InSeq::nested(10)).await.unwrap_err();
        assert!(error_of(&error).is_limit());
        let written = writer.into_inner();
        assert_eq!(written, [9, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
        let mut reader = FramedRead::new(&written[..], SerdeCodec::<InSeq>::with_options(frames, options));
        assert_eq!(reader.next().await.unwrap().unwrap(), InSeq::nested(9));
        let less = limited(Limits::default().max_depth(8));
        let frames = LengthDelimitedCodec::builder().length_field_type::<u8>().new_codec();
        let mut reader = FramedRead::new(&written[..], SerdeCodec::<InSeq>::with_options(frames, less));
        assert!(error_of(&reader.next().await.unwrap().unwrap_err()).is_limit());
    }
}
