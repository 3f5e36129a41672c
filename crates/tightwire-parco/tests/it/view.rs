//! Views of collections.
#![cfg(all(feature = "std", feature = "derive"))]

use proptest::prelude::*;
use tightwire_parco::wire::{
    Array, Be, Blob, Bool, Decoding, F32, F64, GoInt, GoUint, I8, I16, I32, I64, Le, Map, Message, Opt,
    Order, Skip, Slice, SmallVarchar, StaticWire, Text, TimeUtc, U8, U16, U32, U64, Varchar, Varint,
};
use tightwire_parco::{
    Decode, Encode, Entries, Get, Mode, Options, Put, Segment, Seq, WireExt, decode_exact, encoded_len,
    to_vec,
};

use crate::support::messages::{Inner, InnerRef};
use test_support::counting::allocations;

/// The view has the same elements as the vector, for every element type.
fn check<E, T>(values: Vec<T>)
where
    E: StaticWire + Put<T> + for<'de> Get<'de, T>,
    T: PartialEq + std::fmt::Debug,
{
    let wire = Slice::<U16<Le>, E>::NEW;
    let bytes = wire.to_vec(&values).unwrap();
    let view: Seq<'_, E, T> = wire.decode_exact(&bytes).unwrap();
    assert_eq!((view.len(), view.is_empty()), (values.len(), values.is_empty()));
    assert!(view.iter().eq(wire.decode_exact::<Vec<T>>(&bytes).unwrap()));
    assert!(view.iter().eq(values.iter().map(|value| form_of(&E::NEW, value))));
    for (index, value) in values.iter().enumerate() {
        assert_eq!(view.get(index).as_ref(), Some(value));
    }
    assert_eq!(view.get(values.len()), None);
    let mut iter = view.into_iter();
    assert_eq!(iter.len(), values.len());
    assert_eq!(iter.by_ref().count(), values.len());
    assert!(iter.next().is_none() && iter.next().is_none());
    assert_eq!(wire.to_vec(&view).unwrap(), bytes);
    assert_eq!(wire.encoded_len(&view).unwrap(), bytes.len());
    assert_eq!(format!("{view:?}"), format!("{values:?}"));
}

/// Encodes and decodes a value.
fn form_of<E: Put<T> + for<'de> Get<'de, T>, T>(wire: &E, value: &T) -> T {
    wire.decode_exact(&wire.to_vec(value).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn views_of_numbers_match(bits in prop::collection::vec(any::<u64>(), 0..50)) {
        fn both<O: Order>(bits: &[u64]) {
            check::<U16<O>, u16>(bits.iter().map(|bits| *bits as u16).collect());
            check::<I16<O>, i16>(bits.iter().map(|bits| *bits as i16).collect());
            check::<U32<O>, u32>(bits.iter().map(|bits| *bits as u32).collect());
            check::<I32<O>, i32>(bits.iter().map(|bits| *bits as i32).collect());
            check::<U64<O>, u64>(bits.to_vec());
            check::<I64<O>, i64>(bits.iter().map(|bits| *bits as i64).collect());
            check::<GoInt<O>, i64>(bits.iter().map(|bits| *bits as i64).collect());
            check::<GoUint<O>, u64>(bits.to_vec());
            // NaN is not equal to itself; its bits are compared elsewhere.
            check::<F32<O>, f32>(bits.iter().map(|bits| *bits as f32).collect());
            check::<F64<O>, f64>(bits.iter().map(|bits| *bits as f64).collect());
        }
        both::<Le>(&bits);
        both::<Be>(&bits);
        check::<U8, u8>(bits.iter().map(|bits| *bits as u8).collect());
        check::<I8, i8>(bits.iter().map(|bits| *bits as i8).collect());
        check::<Bool, bool>(bits.iter().map(|bits| bits % 2 == 1).collect());
        check::<TimeUtc, i64>(bits.iter().map(|bits| *bits as i64).collect());
        check::<Array<2, U16<Be>>, [u16; 2]>(bits.iter().map(|bits| [*bits as u16, 7]).collect());
        check::<Opt<U32<Be>>, Option<u32>>(
            bits.iter().map(|bits| (bits % 2 == 1).then_some(*bits as u32)).collect(),
        );
        check::<Skip<3>, ()>(vec![(); bits.len()]);
        check::<Skip<0>, ()>(vec![(); bits.len()]);
    }

    #[test]
    fn views_of_strings_match(texts in prop::collection::vec("[a-z\u{e9}\u{1f600}]{0,20}", 0..20)) {
        check::<SmallVarchar, String>(texts.clone());
        check::<Text<Be>, Box<str>>(texts.iter().map(|text| text.as_str().into()).collect());
        check::<Blob<U16<Le>>, Vec<u8>>(texts.iter().map(|text| text.as_bytes().into()).collect());
        check::<Slice<U8, SmallVarchar>, Vec<String>>(vec![texts.clone(), Vec::new(), texts.clone()]);
        check::<Map<U8, Varchar<Le>, U8>, Vec<(String, u8)>>(vec![
            texts.iter().cloned().zip(0..).collect(),
            Vec::new(),
        ]);
    }
}

#[test]
fn nested_seqs_allocate_nothing() {
    type Row<'a> = Seq<'a, SmallVarchar, &'a str>;
    let rows = vec![vec!["a", "b"], vec![], vec!["c"]];
    let wire = Slice::<U8, Slice<U8, SmallVarchar>>::NEW;
    let bytes = wire.to_vec(&rows).unwrap();
    let (count, ()) = allocations(|| {
        let view: Seq<'_, Slice<U8, SmallVarchar>, Row<'_>> = wire.decode_exact(&bytes).unwrap();
        assert_eq!(view.len(), 3);
        assert!(view.iter().flatten().eq(["a", "b", "c"]));
        assert_eq!(view.get(2).unwrap().get(0), Some("c"));
        assert!(view.get(3).is_none());
    });
    assert_eq!(count, 0);
}

/// Errors that iteration could encounter are detected when the view is decoded, with their location.
#[test]
fn invalid_elements_are_rejected_when_decoding() {
    fn rejected<'de, T: Decode<'de>>(bytes: &'de [u8]) -> String {
        decode_exact::<T>(bytes).err().unwrap().to_string()
    }
    type Flags<'a> = Entries<'a, SmallVarchar, Bool, &'a str, bool>;
    let texts = b"\x03\x01a\x02\xc3\x28\x01b";
    assert_eq!(rejected::<Seq<'_, SmallVarchar, &str>>(texts), "text is not UTF-8 at [1] (byte 4)");
    // Targets that accept any bytes accept these.
    let blobs: Seq<'_, SmallVarchar, &[u8]> = decode_exact(texts).unwrap();
    assert_eq!(blobs.get(1), Some(&b"\xc3\x28"[..]));

    let error = rejected::<Seq<'_, Bool, bool>>(&[3, 1, 0, 2]);
    assert_eq!(error, "a flag is neither 0 nor 1 at [2] (byte 3)");
    let error = rejected::<Flags<'_>>(b"\x02\x01a\x01\x01b\x09");
    assert_eq!(error, "a flag is neither 0 nor 1 at [value 1] (byte 6)");
    let error = rejected::<Flags<'_>>(b"\x01\x01\xff\x01");
    assert_eq!(error, "text is not UTF-8 at [key 0] (byte 2)");

    let error = decode_exact::<Seq<'_, U32<Le>, u32>>(&[2, 1, 2, 3, 4, 5]).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!((error.offset(), error.missing()), (Some(1), Some(3)));
}

#[test]
fn entries_preserve_wire_order_and_duplicates() {
    let bytes = b"\x03\x01a\x01\x01b\x02\x01a\x03";
    let view: Entries<'_, SmallVarchar, U8, &str, u8> = decode_exact(bytes).unwrap();
    assert_eq!(view.len(), 3);
    assert!(view.iter().eq([("a", 1), ("b", 2), ("a", 3)]));
    assert!(view.into_iter().eq(view));
    // As in a map, the last one wins.
    assert_eq!((view.get("a"), view.get("b"), view.get("c")), (Some(3), Some(2), None));
    assert_eq!(format!("{view:?}"), r#"{"a": 1, "b": 2, "a": 3}"#);
    let wire = Map::<Varint, SmallVarchar, U8>::NEW;
    assert_eq!(wire.to_vec(&view).unwrap(), bytes);
    let owned: Entries<'_, SmallVarchar, U8, String, u8> = decode_exact(bytes).unwrap();
    assert_eq!(owned.get("b"), Some(2));
    let empty: Entries<'_, SmallVarchar, U8, &str, u8> = Entries::default();
    assert!(empty.is_empty() && empty != view && empty.get("a").is_none());
}

/// Views decoded leniently return the same lenient values, and cannot be encoded as if they were valid.
#[test]
fn lenient_views_cannot_be_encoded() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Lenient<'a> {
        flags: Seq<'a, Bool, bool>,
        options: Seq<'a, Opt<U8>, Option<u8>>,
    }
    let bytes = [3, 1, 7, 0, 2, 9, 1, 5];
    assert!(decode_exact::<Lenient<'_>>(&bytes).unwrap_err().is_invalid_bool());
    let options = Options::new().mode(Mode::Compat);
    let view: Lenient<'_> = options.decode_exact(&bytes).unwrap();
    assert!(view.flags.iter().eq([true, false, false]));
    assert!(view.options.iter().eq([None, Some(5)]));
    assert_eq!(view.flags.get(1), Some(false));
    let mut vec = vec![1];
    let error = tightwire_parco::encode(&view, &mut vec).unwrap_err();
    assert!(error.is_invalid_value());
    assert_eq!(error.path(), [Segment::Field("flags")]);
    assert_eq!(vec, [1]);
    assert!(encoded_len(&view).unwrap_err().is_invalid_value());
    // Values copied from it can be encoded.
    assert_eq!(to_vec(&view.flags.iter().collect::<Vec<_>>()).unwrap(), [3, 1, 0, 0]);
}

#[test]
fn view_can_be_encoded_with_another_header() {
    let bytes = to_vec(&vec![7_u8; 300]).unwrap();
    let view: Seq<'_, U8, u8> = decode_exact(&bytes).unwrap();
    assert_eq!(Slice::<U32<Be>, U8>::NEW.to_vec(&view).unwrap()[..5], [0, 0, 1, 44, 7]);
    let narrow = Slice::<U8, U8>::NEW;
    assert!(narrow.to_vec(&view).unwrap_err().is_overflow());
    assert!(narrow.encoded_len(&view).unwrap_err().is_overflow());
}

#[test]
fn views_of_structs_have_their_fields() {
    let all: Vec<Inner> =
        (0..4).map(|number| Inner { number, text: "x".repeat(number as usize), flag: true }).collect();
    let bytes = to_vec(&all).unwrap();
    let view: Seq<'_, Message<InnerRef<'_>, Decoding<'_>>, InnerRef<'_>> = decode_exact(&bytes).unwrap();
    assert!(view.iter().map(|inner| (inner.number, inner.text.len())).eq([(0, 0), (1, 1), (2, 2), (3, 3)]));
    assert_eq!(view.get(3).unwrap().text, "xxx");
    assert_eq!(view, view.clone());
}

/// A recursive struct as a view: nothing is allocated, and the depth limit applies to every level.
#[test]
fn recursive_views_respect_the_depth_limit() {
    #[derive(Clone, Copy, Debug, Decode)]
    struct Tree<'a> {
        value: u8,
        #[parco(header = u8)]
        children: Seq<'a, Message<Self, Decoding<'a>>, Self>,
    }
    fn depth(tree: &Tree<'_>) -> usize {
        assert_eq!(tree.value, 1);
        1 + tree.children.iter().map(|child| depth(&child)).max().unwrap_or(0)
    }
    let chain = |len: usize| [[1, 1].repeat(len - 1), vec![1, 0]].concat();
    let bytes = chain(12);
    assert_eq!(depth(&decode_exact(&bytes).unwrap()), 12);
    assert!(decode_exact::<Tree<'_>>(&chain(64)).is_ok());
    let error = decode_exact::<Tree<'_>>(&chain(65)).unwrap_err();
    assert!(error.is_limit());
}
