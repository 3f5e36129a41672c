//! The canonical mode: equal maps and sets have equal bytes, and decoders refuse any other bytes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::hash::RandomState;

use proptest::prelude::*;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use tightwire_parco::schema::{self, Value};
use tightwire_parco::serde as bridge;
use tightwire_parco::wire::{Le, Map, StaticWire as _, U8};
use tightwire_parco::{
    Decode, DecodeOwned, Decoder, DuplicateKeys, Encode, Encoder, Entries, Error, Options, Segment, Seq,
    WireExt as _, decode_exact, to_vec,
};

type IndexMap<K, V> = indexmap::IndexMap<K, V, RandomState>;
type IndexSet<T> = indexmap::IndexSet<T, RandomState>;

const CANONICAL: Options = Options::new().canonical();

/// In the order of their bytes.
const KEYS: [u16; 4] = [256, 1, 513, 2];
const SET: [u8; 9] = [4, 0, 1, 1, 0, 1, 2, 2, 0];
const MAP: [u8; 13] = [4, 0, 1, 10, 1, 0, 11, 1, 2, 12, 2, 0, 13];

/// Creates a collection of the keys, in ascending order.
fn set<T: FromIterator<u16>>() -> T {
    BTreeSet::from(KEYS).into_iter().collect()
}

fn map<T: FromIterator<(u16, u8)>>() -> T {
    BTreeMap::from_iter(KEYS.into_iter().zip(10..)).into_iter().collect()
}

#[track_caller]
fn same<T: Encode + DecodeOwned + PartialEq + Debug>(value: &T, bytes: &[u8]) {
    assert_eq!(CANONICAL.to_vec(value).unwrap(), bytes);
    assert_eq!(CANONICAL.encoded_len(value).unwrap(), bytes.len());
    let mut decoded: T = CANONICAL.decode_exact(bytes).unwrap();
    assert_eq!(&decoded, value);
    CANONICAL.decode_into(bytes, &mut decoded).unwrap();
    assert_eq!(&decoded, value);
    let mut stream = Vec::new();
    Encoder::with_options(&mut stream, CANONICAL).encode(value).unwrap();
    assert_eq!(stream, bytes);
    assert_eq!(Decoder::with_options(bytes, CANONICAL).decode::<T>().unwrap().as_ref(), Some(value));
}

#[test]
fn all_types_have_the_same_order() {
    same(&set::<BTreeSet<_>>(), &SET);
    same(&set::<HashSet<_>>(), &SET);
    same(&set::<IndexSet<_>>(), &SET);
    same(&map::<BTreeMap<_, _>>(), &MAP);
    same(&map::<HashMap<_, _>>(), &MAP);
    same(&map::<IndexMap<_, _>>(), &MAP);
    same(&BTreeSet::<u8>::new(), &[0]);
    same(&BTreeMap::<u8, u8>::new(), &[0]);
    // Sequences keep their order.
    same(&vec![2_u8, 1, 1], &[3, 2, 1, 1]);
    // The length of a string precedes it, so that short strings are first.
    same(&BTreeSet::from(["ab".to_owned(), "b".to_owned(), String::new()]), b"\x03\x00\x01b\x02ab");
}

#[test]
fn entries_of_a_map_wire_are_sorted() {
    let wire = Map::<U8, U8, U8>::NEW;
    let entries = vec![(3_u8, 30_u8), (1, 10), (2, 20)];
    let bytes = [3, 1, 10, 2, 20, 3, 30];
    assert_eq!(wire.to_vec_with(CANONICAL, &entries).unwrap(), bytes);
    assert_eq!(wire.to_vec_with(CANONICAL, &entries[..]).unwrap(), bytes);
    let decoded: Vec<(u8, u8)> = wire.decode_exact_with(CANONICAL, &bytes).unwrap();
    assert_eq!(decoded, [(1, 10), (2, 20), (3, 30)]);
    // Values that a decoder would refuse are not encoded.
    let error = wire.to_vec_with(CANONICAL, &vec![(2_u8, 1_u8), (1, 2), (2, 3)]).unwrap_err();
    assert!(error.is_duplicate_key());
    assert_eq!(error.path(), [Segment::Key(2)]);
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[parco(evolve)]
struct Tag {
    text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct Nested<M> {
    map: M,
    after: Tag,
}

/// The lengths of evolve structs have one or two bytes, and are keys and values of maps.
#[test]
fn lengths_inside_of_maps_are_final() {
    let tag = |letter: char, len: usize| Tag { text: letter.to_string().repeat(len) };
    let entries = [300, 2, 130, 126, 127].map(|len| {
        let tags = [tag('x', len), tag('y', 1), tag('x', 1)];
        (tag('k', len), Nested { map: HashSet::from(tags), after: tag('z', len) })
    });
    let after = tag('w', 200);
    let hashed = Nested { map: HashMap::from(entries.clone()), after: after.clone() };
    let indexed = Nested { map: entries.into_iter().rev().collect::<IndexMap<_, _>>(), after };
    let bytes = CANONICAL.to_vec(&hashed).unwrap();
    same(&hashed, &bytes);
    same(&indexed, &bytes);
    assert_eq!(decode_exact::<Nested<HashMap<Tag, Nested<HashSet<Tag>>>>>(&bytes).unwrap(), hashed);
    assert_eq!(to_vec(&hashed).unwrap().len(), bytes.len());
}

#[track_caller]
fn refused<T: DecodeOwned>(bytes: &[u8], offset: usize, segment: Segment) {
    let kind = |error: &Error| (error.is_duplicate_key(), error.is_not_canonical());
    let mut errors: Vec<Error> = Vec::new();
    errors.extend(CANONICAL.decode_exact::<T>(bytes).err());
    errors.extend(Decoder::with_options(bytes, CANONICAL).decode::<T>().err());
    assert_eq!(errors.len(), 2, "it is decoded");
    let is_duplicate = matches!(bytes, [_, 1, 1] | [_, 1, _, 1, _]);
    for error in errors {
        assert_eq!(kind(&error), (is_duplicate, !is_duplicate), "{error}");
        assert_eq!((error.offset(), error.path()), (Some(offset), &[segment.clone()][..]));
    }
}

#[test]
fn duplicates_and_another_order_are_refused() {
    for (bytes, offset, index) in [(&[2, 1, 1][..], 2, 1), (&[2, 2, 1][..], 2, 1), (&[3, 1, 2, 0][..], 3, 2)]
    {
        refused::<BTreeSet<u8>>(bytes, offset, Segment::Index(index));
        refused::<HashSet<u8>>(bytes, offset, Segment::Index(index));
        refused::<IndexSet<u8>>(bytes, offset, Segment::Index(index));
    }
    for bytes in [[2, 1, 7, 1, 8], [2, 2, 7, 1, 8]] {
        refused::<BTreeMap<u8, u8>>(&bytes, 3, Segment::Key(1));
        refused::<HashMap<u8, u8>>(&bytes, 3, Segment::Key(1));
        refused::<IndexMap<u8, u8>>(&bytes, 3, Segment::Key(1));
        let error = bridge::decode_exact_as::<Le, HashMap<u8, u8>>(CANONICAL, &bytes).unwrap_err();
        assert!(error.is_duplicate_key() || error.is_not_canonical());
        assert_eq!((error.offset(), error.path()), (Some(3), &[Segment::Key(1)][..]));
        let dynamic = schema::of::<BTreeMap<u8, u8>>().compile().unwrap();
        let error = dynamic.decode_exact_with::<Value>(CANONICAL, &bytes).unwrap_err();
        assert!(error.is_duplicate_key() || error.is_not_canonical());
        assert_eq!((error.offset(), error.path()), (Some(3), &[Segment::Key(1)][..]));
    }
    let mut older = HashMap::from([(1_u8, String::from("a"))]);
    assert!(CANONICAL.decode_into(&[2, 2, 0, 1, 0], &mut older).unwrap_err().is_not_canonical());
}

/// Without the canonical mode, only duplicates can be refused.
#[test]
fn duplicates_in_sets_follow_the_options() {
    let reject = Options::new().duplicate_keys(DuplicateKeys::Reject);
    for bytes in [[3, 2, 1, 2], [3, 1, 1, 2]] {
        let (hashed, sorted) = (decode_exact::<HashSet<u8>>(&bytes), decode_exact::<BTreeSet<u8>>(&bytes));
        assert_eq!((hashed.unwrap().len(), sorted.unwrap().len()), (2, 2));
        assert!(reject.decode_exact::<HashSet<u8>>(&bytes).unwrap_err().is_duplicate_key());
        assert!(reject.decode_exact::<IndexSet<u8>>(&bytes).unwrap_err().is_duplicate_key());
        let error = reject.decode_exact::<BTreeSet<u8>>(&bytes).unwrap_err();
        assert!(error.is_duplicate_key());
        assert_eq!(error.path().len(), 1);
    }
    assert_eq!(reject.decode_exact::<BTreeSet<u8>>(&[2, 2, 1]).unwrap().len(), 2);
}

#[derive(Clone, Copy, Debug, Encode, Decode)]
struct View<'a> {
    entries: Entries<'a, U8, U8, u8, u8>,
    elements: Seq<'a, U8, u8>,
}

#[test]
fn views_are_canonical_if_they_were_decoded_so() {
    let bytes = [2, 1, 7, 2, 8, 2, 9, 3];
    let view: View<'_> = CANONICAL.decode_exact(&bytes).unwrap();
    assert_eq!(CANONICAL.to_vec(&view).unwrap(), bytes);
    assert_eq!(to_vec(&view).unwrap(), bytes);
    let view: View<'_> = decode_exact(&bytes).unwrap();
    assert!(CANONICAL.to_vec(&view).unwrap_err().is_not_canonical());
    assert!(CANONICAL.decode_exact::<View<'_>>(&[2, 2, 8, 1, 7, 0]).unwrap_err().is_not_canonical());
    let empty = View { entries: Entries::default(), elements: Seq::default() };
    assert_eq!(CANONICAL.to_vec(&empty).unwrap(), [0, 0]);
}

#[test]
fn run_time_schemas_sort_maps() {
    let dynamic = schema::of::<BTreeMap<u16, u8>>().compile().unwrap();
    let entries: Vec<(u16, u8)> = map();
    let value = Value::Map(entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect());
    assert_eq!(dynamic.to_vec_with(CANONICAL, &value).unwrap(), MAP);
    let decoded: Value = dynamic.decode_exact_with(CANONICAL, &MAP).unwrap();
    assert_eq!(dynamic.to_vec(&decoded).unwrap(), MAP);
}

/// A map that does not know its length.
struct Unknown(u8);

impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for key in (0..self.0).rev() {
            map.serialize_entry(&key, "value")?;
        }
        map.end()
    }
}

#[test]
fn serde_sorts_maps() {
    assert_eq!(bridge::to_vec_as::<Le, _>(CANONICAL, &map::<HashMap<u16, u8>>()).unwrap(), MAP);
    let decoded: HashMap<u16, u8> = bridge::decode_exact_as::<Le, _>(CANONICAL, &MAP).unwrap();
    assert_eq!(decoded, map());
    for len in [0, 1, 127, 128, 200] {
        let known: BTreeMap<u8, String> = (0..len).map(|key| (key, "value".into())).collect();
        let bytes = CANONICAL.to_vec(&known).unwrap();
        assert_eq!(bridge::to_vec_as::<Le, _>(CANONICAL, &Unknown(len)).unwrap(), bytes);
        assert_eq!(bridge::to_vec_as::<Le, _>(CANONICAL, &[Unknown(len)][..]).unwrap()[1..], bytes);
    }
}

fn collect<M, S>(entries: &[(String, Vec<u32>)]) -> M
where
    M: FromIterator<(String, S)>,
    S: FromIterator<u32>,
{
    entries.iter().map(|(key, set)| (key.clone(), set.iter().copied().collect())).collect()
}

proptest! {
    #[test]
    fn insertion_order_and_type_do_not_matter(entries: Vec<(String, Vec<u32>)>) {
        // A list in which a key repeats is another map when it is reversed.
        let mut entries = entries;
        entries.sort();
        entries.dedup_by(|one, other| one.0 == other.0);
        let sorted: BTreeMap<String, BTreeSet<u32>> = collect(&entries);
        let bytes = CANONICAL.to_vec(&sorted).unwrap();
        entries.reverse();
        let hashed: HashMap<String, HashSet<u32>> = collect(&entries);
        let indexed: IndexMap<String, IndexSet<u32>> = collect(&entries);
        prop_assert_eq!(&CANONICAL.to_vec(&hashed).unwrap(), &bytes);
        prop_assert_eq!(&CANONICAL.to_vec(&indexed).unwrap(), &bytes);
        let decoded: HashMap<String, HashSet<u32>> = CANONICAL.decode_exact(&bytes).unwrap();
        prop_assert_eq!(decoded, hashed);
    }

    /// All bytes that are accepted are those that are encoded.
    #[test]
    fn accepted_bytes_are_canonical(bytes: Vec<u8>) {
        if let Ok((value, rest)) = CANONICAL.decode::<HashMap<u8, BTreeSet<u8>>>(&bytes) {
            let again = CANONICAL.to_vec(&value).unwrap();
            prop_assert_eq!(&again[..], &bytes[..bytes.len() - rest.len()]);
        }
    }
}
