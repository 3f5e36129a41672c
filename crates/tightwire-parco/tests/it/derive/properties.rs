//! Every value survives a round trip, and changed bytes are handled.

use std::collections::{BTreeMap, HashMap};

use proptest::collection::{btree_map, hash_map, vec};
use proptest::option;
use proptest::prelude::*;
use tightwire_parco::wire::{Blob, U8};
use tightwire_parco::{Decode, Encode, Options};

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(id = u16be, view)]
enum Part {
    #[parco(id = 1)]
    Nothing,
    #[parco(id = 2)]
    Number(i32),
    #[parco(id = 770)]
    Text {
        #[parco(small)]
        text: String,
        #[parco(max = 4)]
        more: Vec<u16>,
    },
}

/// Every attribute that affects the bytes.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(be, view)]
struct All {
    #[parco(small)]
    small: String,
    #[parco(header = i32le)]
    header: String,
    #[parco(le)]
    little: u64,
    #[parco(header = u8, elem(header = u8, elem(le)))]
    lists: Vec<Vec<i16>>,
    #[parco(header = u8, key(small), value(header = u8))]
    map: BTreeMap<String, Vec<u8>>,
    #[parco(sorted)]
    sorted: HashMap<u16, bool>,
    #[parco(inner(small))]
    inner: Option<String>,
    #[parco(blob)]
    blob: Vec<u8>,
    #[parco(skip = 3)]
    reserved: (),
    #[parco(int)]
    int: i64,
    #[parco(uint)]
    uint: Option<u64>,
    #[parco(with = Blob<U8>)]
    with: Vec<u8>,
    #[parco(max = 5)]
    max: String,
    #[parco(ignore)]
    ignored: u8,
    #[parco(header = u8)]
    parts: Vec<Part>,
    floats: [f64; 2],
    #[parco(time)]
    at: i64,
    #[parco(inner(time))]
    until: Option<i64>,
    last: Box<Option<Tag>>,
}

/// A newtype, encoded as its content.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(view)]
struct Tag(u8);

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::Nothing),
        any::<i32>().prop_map(Part::Number),
        ("[a-z]{0,9}", vec(any::<u16>(), 0..=4)).prop_map(|(text, more)| Part::Text { text, more }),
    ]
}

prop_compose! {
    fn all()(
        (small, header, inner, max) in (".{0,9}", ".{0,40}", option::of(".{0,3}"), "[a-z]{0,5}"),
        (little, int, uint) in (any::<u64>(), any::<i64>(), option::of(any::<u64>())),
        lists in vec(vec(any::<i16>(), 0..5), 0..5),
        map in btree_map(".{0,3}", vec(any::<u8>(), 0..5), 0..5),
        sorted in hash_map(any::<u16>(), any::<bool>(), 0..9),
        (blob, with) in (vec(any::<u8>(), 0..40), vec(any::<u8>(), 0..40)),
        parts in vec(part(), 0..5),
        floats in [-1e9..1e9, -1.0..1.0],
        (at, until) in (any::<i64>(), option::of(any::<i64>())),
        last in option::of(any::<u8>()),
    ) -> All {
        All {
            small, header, little, lists, map, sorted, inner, blob, reserved: (), int, uint, with, max, ignored: 0,
            parts, floats, at, until, last: Box::new(last.map(Tag)),
        }
    }
}

proptest! {
    #[test]
    fn values_round_trip(value in all(), mut older in all()) {
        let bytes = tightwire_parco::to_vec(&value).unwrap();
        prop_assert_eq!(tightwire_parco::encoded_len(&value).unwrap(), bytes.len());
        prop_assert_eq!(&tightwire_parco::decode_exact::<All>(&bytes).unwrap(), &value);
        tightwire_parco::decode_into(&bytes, &mut older).unwrap();
        prop_assert_eq!(&older, &value);
        let mut stream = &bytes[..];
        prop_assert_eq!(&tightwire_parco::decode_from_reader::<All>(&mut stream).unwrap(), &value);
        prop_assert!(stream.is_empty());
    }

    #[test]
    fn prefixes_are_reported_as_too_short(value in all(), older in all(), cut in any::<prop::sample::Index>()) {
        let bytes = tightwire_parco::to_vec(&value).unwrap();
        let short = &bytes[..cut.index(bytes.len())];
        prop_assert!(tightwire_parco::decode_exact::<All>(short).unwrap_err().is_unexpected_end());
        let mut older = older;
        prop_assert!(tightwire_parco::decode_into(short, &mut older).unwrap_err().is_unexpected_end());
        prop_assert!(tightwire_parco::decode_from_reader::<All>(short).unwrap_err().is_unexpected_end());
    }

    #[test]
    fn changed_bytes_are_handled_equally_by_all_decoders(value in all(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = tightwire_parco::to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // The changed bytes may be invalid or another message; decoding ends in either case, and all decoders agree.
        let whole = Options::new().decode_exact::<All>(&bytes);
        let view = Options::new().decode_exact::<AllView<'_>>(&bytes);
        prop_assert_eq!(view.map_err(|error| error.to_string()).err(), whole.as_ref().map_err(ToString::to_string).err());
        let mut stream = &bytes[..];
        let streamed = tightwire_parco::decode_from_reader::<All>(&mut stream);
        match whole {
            Ok(value) => prop_assert_eq!(streamed.unwrap(), value),
            Err(error) if error.is_trailing_bytes() => prop_assert!(streamed.is_ok() && !stream.is_empty()),
            Err(_) => prop_assert!(streamed.is_err()),
        }
    }
}
