//! Resource limits for untrusted input, and input that the Go library handles differently.
#![cfg(all(feature = "std", feature = "derive"))]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use tightwire_parco::wire::{
    Array, Be, Blob, Decoding, Le, LongText, Map, Message, Skip, Slice, SmallVarchar, StaticWire, Text, U8,
    U16, U32, U64, WireOf,
};
use tightwire_parco::{
    Decode, DecodeOwned, Decoder, DuplicateKeys, Encode, Entries, Error, Get, Limits, Mode, Options, Segment,
    Seq, WireExt, builder, decode_exact, decode_from_reader, decode_into, encode_to_slice, encode_to_writer,
    encoded_len, schema, to_vec,
};

use crate::support::checks;
use crate::support::messages::{Empty, Inner, Material, Named, Node, Record};
use test_support::counting::usage;

fn limited(limits: Limits) -> Options {
    Options::new().limits(limits)
}

/// Decodes from a slice and from a stream, which must fail in the same way.
fn fails<F, T>(wire: &F, options: Options, bytes: &[u8]) -> Error
where
    F: for<'de> Get<'de, T>,
{
    let Err(error) = wire.decode_with::<T>(options, bytes) else { panic!("it decodes") };
    let Err(streamed) = Decoder::with_options(bytes, options).decode_as::<F, T>(wire).map(|_| ()) else {
        panic!("it decodes from a stream")
    };
    assert_eq!(streamed.is_limit(), error.is_limit(), "{streamed}, {error}");
    assert_eq!(streamed.is_unexpected_end(), error.is_unexpected_end(), "{streamed}, {error}");
    error
}

/// A length or count that exceeds the four bytes after it does not cause allocations, for any collection. Go decodes
/// a count of ten million to as many structs without an error.
#[test]
fn forged_lengths_do_not_allocate() {
    fn check<F: for<'de> Get<'de, T>, T>(wire: F, width: usize, bytes: &[u8]) {
        let (used, error) = usage(|| wire.decode_with::<T>(Options::new(), bytes).err().unwrap());
        assert!(error.is_unexpected_end(), "{error}");
        assert_eq!(error.offset(), Some(width));
        assert!(used.bytes <= 512, "{used:?}");
        let (used, error) = usage(|| Decoder::new(bytes).decode_as::<F, T>(&wire).err().unwrap());
        assert!(error.is_unexpected_end(), "{error}");
        // The size of a chunk, and the error.
        assert!(used.bytes <= 17 << 10, "{used:?}");
    }
    let two = [&60_000_u16.to_le_bytes()[..], &[0; 4]].concat();
    let four = [&10_000_000_u32.to_be_bytes()[..], &[0; 4]].concat();
    let eight = [&(100_u64 << 20).to_le_bytes()[..], &[0; 4]].concat();
    type S2<E> = Slice<U16<Le>, E>;
    type S4<E> = Slice<U32<Be>, E>;
    check::<_, Vec<u8>>(S2::<U8>::NEW, 2, &two);
    check::<_, Vec<u64>>(S4::<U64<Le>>::NEW, 4, &four);
    check::<_, Vec<String>>(S4::<SmallVarchar>::NEW, 4, &four);
    check::<_, Vec<Vec<u8>>>(S4::<S2<U8>>::NEW, 4, &four);
    check::<_, Vec<[u64; 4]>>(S4::<Array<4, U64<Le>>>::NEW, 4, &four);
    check::<_, Vec<Option<[u64; 4]>>>(S4::<tightwire_parco::wire::Opt<Array<4, U64<Le>>>>::NEW, 4, &four);
    check::<_, Vec<()>>(S4::<Skip<1>>::NEW, 4, &four);
    check::<_, Vec<Inner>>(S4::<WireOf<Inner>>::NEW, 4, &four);
    check::<_, Vec<Record>>(S4::<WireOf<Record>>::NEW, 4, &four);
    check::<_, Vec<Inner>>(S4::<WireOf<Inner>>::NEW, 4, &four[..4]);
    check::<_, Box<[u16]>>(S4::<U16<Be>>::NEW, 4, &four);
    check::<_, VecDeque<u16>>(S4::<U16<Be>>::NEW, 4, &four);
    check::<_, BTreeSet<u16>>(S4::<U16<Be>>::NEW, 4, &four);
    check::<_, HashSet<u16>>(S4::<U16<Be>>::NEW, 4, &four);
    type M<K, V> = Map<U32<Be>, K, V>;
    check::<_, BTreeMap<u8, u8>>(M::<U8, U8>::NEW, 4, &four);
    check::<_, HashMap<u8, u8>>(M::<U8, U8>::NEW, 4, &four);
    check::<_, HashMap<String, u8>>(M::<SmallVarchar, U8>::NEW, 4, &four);
    check::<_, Vec<(u8, ())>>(M::<U8, Skip<0>>::NEW, 4, &four);
    check::<_, String>(LongText::<Le>::NEW, 8, &eight);
    check::<_, Box<str>>(Text::<Be>::NEW, 4, &four);
    check::<_, Rc<str>>(Text::<Be>::NEW, 4, &four);
    check::<_, Arc<[u8]>>(Text::<Be>::NEW, 4, &four);
    check::<_, Vec<u8>>(Blob::<U64<Le>>::NEW, 8, &eight);
}

#[test]
fn forged_lengths_of_views_do_not_allocate() {
    let bytes = [&[0xe0, 0xd4, 0x03][..], &[0; 4]].concat();
    let (used, error) =
        usage(|| tightwire_parco::decode::<Seq<'_, SmallVarchar, &str>>(&bytes).map(|_| ()).unwrap_err());
    assert!(error.is_unexpected_end() && used.bytes <= 512, "{used:?}");
    let (used, error) =
        usage(|| tightwire_parco::decode::<Entries<'_, U8, U8, u8, u8>>(&bytes).map(|_| ()).unwrap_err());
    assert!(error.is_unexpected_end() && used.bytes <= 512, "{used:?}");
    assert_eq!((error.offset(), error.missing()), (Some(3), Some(119_996)));
}

/// The number of elements that are encoded without bytes is limited.
#[test]
fn elements_without_bytes_are_limited() {
    fn check<F: Get<'static, Vec<T>>, T>(wire: F) {
        let (values, _) = wire.decode::<Vec<T>>(&[0, 16, 0, 0]).unwrap();
        assert_eq!(values.len(), Limits::MAX_ZERO_SIZED);
        for bytes in [&[1, 16, 0, 0], &[0xff; 4]] {
            let (used, result) = usage(|| wire.decode::<Vec<T>>(bytes).map(|_| ()));
            let error = result.unwrap_err();
            assert!(error.is_limit() && error.offset() == Some(4), "{error}");
            assert!(used.bytes <= 512, "{used:?}");
        }
        let none = limited(Limits::default().max_zero_sized(0));
        assert!(wire.decode_with::<Vec<T>>(none, &[0; 4]).is_ok());
        assert!(wire.decode_with::<Vec<T>>(none, &[1, 0, 0, 0]).is_err_and(|error| error.is_limit()));
    }
    check::<_, Empty>(Slice::<U32<Le>, <Empty as tightwire_parco::DecodeAs<'_>>::Wire>::NEW);
    check::<_, ()>(Slice::<U32<Le>, Skip<0>>::NEW);
    check::<_, [u64; 0]>(Slice::<U32<Le>, Array<0, U64<Le>>>::NEW);
    check::<_, [(); 5]>(Slice::<U32<Le>, Array<5, Skip<0>>>::NEW);
    check::<_, ((), ())>(Map::<U32<Le>, Skip<0>, Skip<0>>::NEW);
}

/// Go's constants are the defaults, and limits are inclusive maximums.
#[test]
fn limits_are_inclusive() {
    let bytes = SmallForm::NEW.to_vec(&"x".repeat(10)).unwrap();
    assert!(SmallForm::NEW.decode_with::<String>(limited(Limits::default().max_bytes(10)), &bytes).is_ok());
    let error = fails::<_, String>(&SmallForm::NEW, limited(Limits::default().max_bytes(9)), &bytes);
    assert!(error.is_limit());
    assert_eq!((error.offset(), error.go_message()), (Some(2), Some("bytes overflow")));

    let list = Slice::<U16<Le>, U16<Le>>::NEW;
    let bytes = list.to_vec(&vec![1_u16; 10]).unwrap();
    assert!(list.decode_with::<Vec<u16>>(limited(Limits::default().max_elements(10)), &bytes).is_ok());
    assert!(fails::<_, Vec<u16>>(&list, limited(Limits::default().max_elements(9)), &bytes).is_limit());
    let map = Map::<U16<Le>, U8, U8>::NEW;
    assert!(map.decode_with::<HashMap<u8, u8>>(limited(Limits::default().max_elements(10)), &bytes).is_ok());
    assert!(fails::<_, HashMap<u8, u8>>(&map, limited(Limits::default().max_elements(9)), &bytes).is_limit());

    // The limits are checked before the input is.
    let options = limited(Limits::default().max_bytes(1000).max_elements(10));
    for (count, is_limit) in [(1000_u32, false), (1001, true)] {
        let bytes = count.to_le_bytes();
        assert_eq!(fails::<_, String>(&Text::<Le>::NEW, options, &bytes).is_limit(), is_limit);
        assert_eq!(fails::<_, Vec<u8>>(&Slice::<U32<Le>, U8>::NEW, options, &bytes).is_limit(), is_limit);
    }
}

/// A value that exceeds a limit cannot be encoded, and its message cannot be decoded. The text of both errors contains the
/// value, the limit and its setter.
#[test]
fn limits_hold_in_both_directions() {
    fn check<T: Encode + DecodeOwned>(value: T, limits: fn(usize) -> Limits, most: usize, text: &str) {
        let bytes = to_vec(&value).unwrap();
        let (enough, less) = (limited(limits(most)), limited(limits(most - 1)));
        assert_eq!(enough.to_vec(&value).unwrap(), bytes);
        assert!(enough.decode_exact::<T>(&bytes).is_ok(), "{text}");
        assert!(Decoder::with_options(&bytes[..], enough).decode::<T>().unwrap().is_some());
        let mut buffer = b"before".to_vec();
        for error in [
            less.to_vec(&value).unwrap_err(),
            less.encode(&value, &mut buffer).unwrap_err(),
            less.decode_exact::<T>(&bytes).map(|_| ()).unwrap_err(),
            Decoder::with_options(&bytes[..], less).decode::<T>().map(|_| ()).unwrap_err(),
        ] {
            assert!(error.is_limit());
            assert!(error.to_string().contains(text), "{error}: {text}");
        }
        assert_eq!(buffer, b"before");
    }
    let bytes: fn(usize) -> Limits = |most| Limits::new().max_bytes(most).max_elements(2);
    let elements: fn(usize) -> Limits = |most| Limits::new().max_elements(most).max_bytes(100);
    let zero_sized: fn(usize) -> Limits = |most| Limits::new().max_zero_sized(most);
    let text = "5 bytes of a string or blob, but at most 4 (set `Limits::max_bytes`)";
    check("hello".to_owned(), bytes, 5, text);
    check(vec![1_u8; 5], bytes, 5, text);
    check(vec![-1_i8; 5], bytes, 5, text);
    check(vec![[true]; 5], bytes, 5, text);
    check(VecDeque::from([1_u8; 5]), bytes, 5, text);
    check(BTreeSet::from([1_u8, 2, 3, 4, 5]), bytes, 5, text);
    check(Some(vec!["hello".to_owned()]), bytes, 5, text);
    let text = "5 elements, but at most 4 (set `Limits::max_elements`)";
    check(vec![1_u16; 5], elements, 5, text);
    check(vec![String::new(); 5], elements, 5, text);
    check(VecDeque::from([1_u16; 5]), elements, 5, text);
    check(HashMap::from([(1_u8, 1_u8), (2, 1), (3, 1), (4, 1), (5, 1)]), elements, 5, text);
    check(vec![vec![Some(1_u8); 5]; 2], elements, 5, text);
    let text = "5 elements without bytes, but at most 4 (set `Limits::max_zero_sized`)";
    check(vec![(); 5], zero_sized, 5, text);
    check(vec![[0_u64; 0]; 5], zero_sized, 5, text);
    check(BTreeMap::from([((), ())]), zero_sized, 1, "1 elements without bytes");
    check((1..6).map(|_| Empty {}).collect::<Vec<_>>(), zero_sized, 5, text);
    let allocation: fn(usize) -> Limits = |most| Limits::new().max_allocation(most);
    let text = "(set `Limits::max_allocation`)";
    check(vec![Some([0_u64; 100]); 2], allocation, 2 * size_of::<Option<[u64; 100]>>(), text);
    check(vec!["a".to_owned(), "bc".to_owned()], allocation, 2 * size_of::<String>() + 3, text);

    // The defaults fit large files, and the error of the default names it.
    let error = to_vec(&vec![(); 4097]).unwrap_err();
    assert!(error.to_string().contains("4097 elements without bytes, but at most 4096"), "{error}");
    let bytes = to_vec(&vec![7_u8; 10_000_001]).unwrap();
    assert_eq!(decode_exact::<Vec<u8>>(&bytes).unwrap().len(), 10_000_001);
    assert_eq!(decode_from_reader::<Vec<u8>>(&bytes[..]).unwrap().len(), 10_000_001);
}

type SmallForm = tightwire_parco::wire::Varchar<Le>;

/// All allocations of a message count together.
#[test]
fn allocation_limit_is_inclusive() {
    #[derive(Debug, Encode, Decode)]
    struct Both {
        text: String,
        numbers: Vec<u64>,
        names: Vec<String>,
    }
    let value = Both { text: "x".repeat(100), numbers: vec![1; 10], names: vec!["abc".into(); 4] };
    let bytes = to_vec(&value).unwrap();
    let needed = 100 + 10 * 8 + 4 * size_of::<String>() + 4 * 3;
    assert!(limited(Limits::default().max_allocation(needed)).decode_exact::<Both>(&bytes).is_ok());
    let error =
        limited(Limits::default().max_allocation(needed - 1)).decode_exact::<Both>(&bytes).unwrap_err();
    assert!(error.is_limit());
    assert_eq!(error.path(), [Segment::Field("names"), Segment::Index(3)]);
    let error = limited(Limits::default().max_allocation(99)).decode_exact::<Both>(&bytes).unwrap_err();
    assert_eq!((error.path(), error.offset()), (&[Segment::Field("text")][..], Some(1)));

    // Borrowed values do not count.
    let nothing = limited(Limits::default().max_allocation(0));
    assert_eq!(nothing.decode::<&str>(&bytes).unwrap().0.len(), 100);

    // A value that is large in memory but one byte when encoded counts with its size in memory.
    type Big = Vec<Option<[u64; 1000]>>;
    let bytes = [&[0x90, 0x4e][..], &[0; 10_000]].concat();
    let (used, result) =
        usage(|| limited(Limits::default().max_allocation(1 << 20)).decode_exact::<Big>(&bytes));
    assert!(result.unwrap_err().is_limit());
    assert!(used.bytes <= 512, "{used:?}");
}

#[test]
fn depth_limit_is_inclusive() {
    for through_children in [true, false] {
        for (depth, is_allowed) in [(1, true), (64, true), (65, false), (200, false)] {
            let chain = Node::chain(depth, through_children);
            let exactly = limited(Limits::default().max_depth(depth as u32));
            let bytes = exactly.to_vec(&chain).unwrap();
            assert_eq!(exactly.encoded_len(&chain).unwrap(), bytes.len());
            if is_allowed {
                assert_eq!(decode_exact::<Node>(&bytes).unwrap(), chain);
                assert_eq!(decode_from_reader::<Node>(&bytes[..]).unwrap(), chain);
            } else {
                let error = fails::<_, Node>(&WireOf::<Node>::NEW, Options::new(), &bytes);
                assert!(error.is_limit());
                let (steps, size) = if through_children { (2, 2) } else { (1, 3) };
                assert_eq!((error.path().len(), error.offset()), (64 * steps, Some(64 * size)));
            }
            assert_eq!(exactly.decode_exact::<Node>(&bytes).unwrap(), chain);
            let shallower = limited(Limits::default().max_depth(depth as u32 - 1));
            assert!(fails::<_, Node>(&WireOf::<Node>::NEW, shallower, &bytes).is_limit());
            assert!(shallower.to_vec(&chain).unwrap_err().is_limit());
            assert!(shallower.encoded_len(&chain).unwrap_err().is_limit());
        }
    }
}

/// Values that are too deep to be decoded cannot be encoded to any destination.
#[test]
fn encoding_and_decoding_have_the_same_depth_limit() {
    let chain = Node::chain(65, false);
    let fails = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(error.is_limit());
        assert!(
            error.to_string().starts_with(
                "structs are nested too deeply: 65 nested structs, but at most 64 (set `Limits::max_depth`) at .next.next"
            )
        );
        assert_eq!((error.path().len(), error.offset()), (64, Some(64 * 3)));
    };
    let mut vec = b"before".to_vec();
    fails(tightwire_parco::encode(&chain, &mut vec));
    assert_eq!(vec, b"before");
    fails(to_vec(&chain).map(|_| ()));
    fails(encode_to_slice(&chain, &mut [0; 1000]).map(|_| ()));
    fails(encode_to_writer(&chain, &mut vec).map(|_| ()));
    assert_eq!(vec, b"before");
    assert!(encoded_len(&chain).unwrap_err().is_limit());

    let deeper = limited(Limits::default().max_depth(65));
    let bytes = deeper.to_vec(&chain).unwrap();
    let mut encoder = tightwire_parco::Encoder::with_options(Vec::new(), deeper);
    encoder.encode(&chain).unwrap();
    assert_eq!(encoder.into_inner(), bytes);
    #[cfg(feature = "codec")]
    {
        use tokio_util::codec::{Encoder as _, LengthDelimitedCodec};
        let mut buffer = bytes::BytesMut::new();
        fails(tightwire_parco::encode_to_buf(&chain, &mut buffer));
        tightwire_parco::StreamCodec::<Node>::new().encode(&chain, &mut buffer).unwrap_err();
        tightwire_parco::FrameCodec::<Node>::new(LengthDelimitedCodec::new())
            .encode(&chain, &mut buffer)
            .unwrap_err();
        assert!(buffer.is_empty());
        tightwire_parco::StreamCodec::<Node>::with_options(deeper).encode(&chain, &mut buffer).unwrap();
        assert_eq!(buffer[..], bytes);
    }
}

/// Each kind of struct counts the same levels in both directions.
#[test]
fn every_kind_of_struct_counts_as_one_level() {
    fn check<T, F: tightwire_parco::Put<T> + for<'de> Get<'de, T>>(wire: &F, value: &T) {
        let unlimited = limited(Limits::default().max_depth(u32::MAX));
        let bytes = wire.to_vec_with(unlimited, value).unwrap();
        for depth in 0..12 {
            let options = limited(Limits::default().max_depth(depth));
            let written = wire.to_vec_with(options, value);
            let read = wire.decode_exact_with::<T>(options, &bytes);
            let streamed = Decoder::with_options(&bytes[..], options).decode_as::<F, T>(wire);
            assert_eq!(written.is_ok(), read.is_ok(), "at {depth}");
            assert_eq!(wire.encoded_len_with(options, value).is_ok(), read.is_ok(), "at {depth}");
            assert_eq!(streamed.is_ok(), read.is_ok(), "at {depth}");
            let errors = [written.err(), read.err()];
            assert!(errors.iter().flatten().all(Error::is_limit), "{errors:?}");
        }
    }
    check(&WireOf::<Node>::NEW, &Node::chain(7, true));
    check(&WireOf::<Node>::NEW, &Node::chain(7, false));
    check(&WireOf::<Named>::NEW, &Named::Other(vec![Named::Other(vec![Named::One(1)]), Named::One(2)]));
    check(&WireOf::<Vec<Inner>>::NEW, &vec![Inner::default()]);
    check(&WireOf::<BTreeMap<u8, Vec<Empty>>>::NEW, &BTreeMap::from([(1, vec![Empty {}])]));
    check(&WireOf::<[Option<Box<Empty>>; 2]>::NEW, &[None, Some(Box::new(Empty {}))]);
    let inner =
        builder::<Inner>().field(SmallVarchar::NEW, |inner| &inner.text, |inner, text| inner.text = text);
    check(&inner, &Inner::default());
    let outer = builder::<Node>().field(
        Slice::of(U8, WireOf::<Node>::NEW),
        |node| &node.children,
        |node, children| node.children = children,
    );
    check(&outer, &Node::chain(4, true));
    let dynamic = schema::of_decoded::<Named>().compile().unwrap();
    let bytes = to_vec(&Named::Other(vec![Named::Other(vec![Named::One(1)])])).unwrap();
    check::<schema::Value, _>(&dynamic, &dynamic.decode_exact(&bytes).unwrap());
}

/// Encoding a view copies its bytes, but fails if its structs would be nested too deeply.
#[test]
fn views_are_not_written_deeper_than_they_can_be_read() {
    #[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
    struct Tree<'a> {
        #[parco(header = u8)]
        children: Seq<'a, Message<Self, Decoding<'a>>, Self>,
    }
    #[derive(Debug, Encode, Decode)]
    struct Wrapped<'a>(Tree<'a>);
    let chain = |len: usize| [vec![1; len - 1], vec![0]].concat();
    let (most, less) = (chain(64), chain(63));
    let tree: Tree<'_> = decode_exact(&most).unwrap();
    assert_eq!(to_vec(&tree).unwrap(), most);
    assert!(decode_exact::<Wrapped<'_>>(&most).unwrap_err().is_limit());
    assert!(to_vec(&Wrapped(tree)).unwrap_err().is_limit());
    assert!(encoded_len(&Wrapped(tree)).unwrap_err().is_limit());
    let tree: Tree<'_> = decode_exact(&less).unwrap();
    assert_eq!(to_vec(&Wrapped(tree)).unwrap(), less);
    assert_eq!(encoded_len(&Wrapped(tree)).unwrap(), less.len());
    // A view inside a view was decoded with fewer remaining levels.
    let child = tree.children.get(0).unwrap();
    assert_eq!(to_vec(&Wrapped(child)).unwrap(), less[1..]);

    // The same for evolve structs, which start with their length.
    #[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
    #[parco(evolve)]
    struct Evolving<'a> {
        #[parco(header = u8)]
        children: Seq<'a, Message<Self, Decoding<'a>>, Self>,
    }
    #[derive(Debug, Encode, Decode)]
    struct Around<'a>(Evolving<'a>);
    let chain = |len: u8| [(1..len).rev().flat_map(|left| [2 * left + 1, 1]).collect(), vec![1, 0]].concat();
    let (most, less) = (chain(64), chain(63));
    let tree: Evolving<'_> = decode_exact(&most).unwrap();
    assert_eq!(to_vec(&tree).unwrap(), most);
    assert!(to_vec(&Around(tree)).unwrap_err().is_limit());
    assert!(encoded_len(&Around(tree)).unwrap_err().is_limit());
    let tree: Evolving<'_> = decode_exact(&less).unwrap();
    assert_eq!(to_vec(&Around(tree)).unwrap(), less);
}

/// Counts that claim the same bytes on every nesting level cause allocations on each level, but only up to a limit.
#[test]
fn nested_counts_allocate_up_to_a_limit() {
    let level = b"\x05other\xff\xff\x03";
    let bytes = [level.repeat(64), vec![0; 1 << 20]].concat();
    let (used, result) = usage(|| decode_exact::<Named>(&bytes));
    assert!(result.is_err());
    assert!(used.bytes <= 64 * (64 << 10) + (16 << 10), "{used:?}");
}

/// Leaving a struct restores its level.
#[test]
fn sibling_structs_do_not_add_levels() {
    let wide = Node { children: vec![Node::chain(63, true); 200], ..Node::default() };
    let bytes = to_vec(&wide).unwrap();
    assert_eq!(decode_exact::<Node>(&bytes).unwrap(), wide);
    let mut older = Node::chain(64, false);
    decode_into(&bytes, &mut older).unwrap();
    assert_eq!(older, wide);
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for nest in [&[0, 1][..], &[0, 0, 1], b"\x05other\x01"] {
        let bytes = nest.repeat((1 << 20) / nest.len());
        let (used, ()) = usage(|| {
            if nest.len() > 3 {
                assert!(fails::<_, Named>(&WireOf::<Named>::NEW, Options::new(), &bytes).is_limit());
            } else {
                assert!(fails::<_, Node>(&WireOf::<Node>::NEW, Options::new(), &bytes).is_limit());
                let mut older = Node::chain(64, true);
                assert!(decode_into(&bytes, &mut older).unwrap_err().is_limit());
            }
        });
        assert!(used.bytes < 128 << 10, "{used:?}");
    }
}

/// The last duplicate key wins as in Go, or duplicates are rejected.
#[test]
fn duplicate_keys_follow_the_options() {
    type MapWire = Map<U8, SmallVarchar, U8>;
    let bytes = b"\x03\x01a\x01\x01b\x02\x01a\x03";
    let hashed: HashMap<String, u8> = MapWire::NEW.decode_exact(bytes).unwrap();
    let sorted: BTreeMap<&str, u8> = MapWire::NEW.decode_exact(bytes).unwrap();
    assert_eq!((hashed["a"], sorted["a"], hashed.len(), sorted.len()), (3, 3, 2, 2));
    let strict = Options::new().duplicate_keys(DuplicateKeys::Reject);
    let mut older = hashed.clone();
    for error in [
        MapWire::NEW.decode_exact_with::<HashMap<String, u8>>(strict, bytes).unwrap_err(),
        MapWire::NEW.decode_exact_with::<BTreeMap<&str, u8>>(strict, bytes).unwrap_err(),
        MapWire::NEW.decode_into_with(strict, bytes, &mut older).unwrap_err(),
        Decoder::with_options(&bytes[..], strict)
            .decode_as::<_, HashMap<String, u8>>(&MapWire::NEW)
            .unwrap_err(),
    ] {
        assert!(error.is_duplicate_key());
        // The duplicate entry.
        assert_eq!((error.offset(), error.path()), (Some(7), &[Segment::Key(2)][..]));
    }
    // Targets that store all entries need no check.
    assert_eq!(MapWire::NEW.decode_exact_with::<Vec<(&str, u8)>>(strict, bytes).unwrap().len(), 3);
}

/// Bytes after a value are an error or returned.
#[test]
fn trailing_bytes_are_rejected_or_returned() {
    let bytes = b"\x01a\xff\xff";
    let (text, rest) = tightwire_parco::decode::<&str>(bytes).unwrap();
    assert_eq!((text, rest), ("a", &[0xff, 0xff][..]));
    let mut older = String::from("older");
    for error in [
        decode_exact::<String>(bytes).unwrap_err(),
        decode_into(bytes, &mut older).unwrap_err(),
        Options::new().decode_exact::<&str>(bytes).unwrap_err(),
    ] {
        assert!(error.is_trailing_bytes());
        assert_eq!((error.offset(), error.path(), error.missing()), (Some(2), &[][..], None));
    }
    assert!(decode_exact::<()>(&[0]).unwrap_err().is_trailing_bytes());
}

/// Flags must be 0 or 1, unless decoding is as lenient as in Go.
#[test]
fn flags_follow_the_mode() {
    #[derive(Debug, PartialEq, Decode)]
    struct Flags {
        flag: bool,
        option: Option<u8>,
        list: Vec<bool>,
    }
    let lenient = Options::new().mode(Mode::Compat);
    let bytes = [2, 0xff, 2, 1, 0x80];
    let value: Flags = lenient.decode_exact(&bytes).unwrap();
    assert_eq!(value, Flags { flag: false, option: None, list: vec![true, false] });
    let wire = <Flags as tightwire_parco::DecodeAs<'_>>::Wire::NEW;
    for (bytes, offset, path) in [
        (&[2, 0, 0][..], 0, &[Segment::Field("flag")][..]),
        (&[1, 3, 0], 1, &[Segment::Field("option")]),
        (&[1, 1, 7, 2, 1, 0xff], 5, &[Segment::Field("list"), Segment::Index(1)]),
    ] {
        let error = wire.decode_exact::<Flags>(bytes).unwrap_err();
        assert!(error.is_invalid_bool());
        assert_eq!((error.offset(), error.path()), (Some(offset), path));
        let streamed = decode_from_reader::<Flags>(bytes).unwrap_err();
        assert_eq!(streamed.to_string(), error.to_string());
        assert!(lenient.decode_exact::<Flags>(bytes).is_ok());
    }
}

/// Strings must be UTF-8 only for targets that require it.
#[test]
fn utf8_is_checked_only_for_strings() {
    let bytes = b"\x02\0\x01\0a\x02\0\xc3(";
    type ListWire = Slice<U16<Le>, tightwire_parco::wire::Varchar<Le>>;
    for error in [
        ListWire::NEW.decode_exact::<Vec<String>>(bytes).unwrap_err(),
        ListWire::NEW.decode_exact::<Vec<&str>>(bytes).unwrap_err(),
        ListWire::NEW.decode_exact::<Vec<Box<str>>>(bytes).unwrap_err(),
        ListWire::NEW.decode_exact::<Vec<std::borrow::Cow<'_, str>>>(bytes).unwrap_err(),
        ListWire::NEW.decode_exact::<VecDeque<Arc<str>>>(bytes).unwrap_err(),
        ListWire::NEW.decode_into_with(Options::new(), bytes, &mut vec![String::new(); 2]).unwrap_err(),
        Decoder::new(&bytes[..]).decode_as::<_, Vec<String>>(&ListWire::NEW).unwrap_err(),
    ] {
        assert!(error.is_invalid_utf8());
        assert_eq!((error.offset(), error.path()), (Some(7), &[Segment::Index(1)][..]));
    }
    assert_eq!(ListWire::NEW.decode_exact::<Vec<&[u8]>>(bytes).unwrap()[1], b"\xc3(");
}

/// Errors contain the location but no bytes of the input.
#[test]
fn errors_do_not_contain_the_input() {
    let secret = b"\x06secre\xff";
    let error = decode_exact::<String>(secret).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secre"));
    assert_eq!(error.to_string(), "text is not UTF-8 (byte 1)");
}

/// If all fields of a message may be missing, the end of the stream is the end, not an endless sequence of messages.
#[test]
fn empty_stream_yields_at_most_one_message() {
    #[derive(Debug, PartialEq, Encode, Decode)]
    struct Late {
        #[parco(default_on_eof)]
        added: Option<u8>,
        #[parco(default_on_eof)]
        later: u16,
    }
    let mut decoder = Decoder::new(&[1, 7][..]);
    assert_eq!(decoder.decode::<Late>().unwrap(), Some(Late { added: Some(7), later: 0 }));
    assert_eq!(decoder.decode::<Late>().unwrap(), None);
    assert_eq!(decoder.decode::<Late>().unwrap(), None);
}

/// A message of zero bytes is returned once at the end of the stream, and bytes that follow are not lost.
#[test]
fn messages_without_bytes_are_decoded_once_at_the_end() {
    let mut decoder = Decoder::new(&[][..]);
    assert_eq!(decoder.decode::<()>().unwrap(), Some(()));
    assert_eq!(decoder.decode::<()>().unwrap(), None);
    assert_eq!(decoder.decode::<Empty>().unwrap(), None);
    assert_eq!(decoder.decode::<[(); 3]>().unwrap(), None);
    let mut decoder = Decoder::new(&[7][..]);
    assert_eq!(decoder.decode::<u8>().unwrap(), Some(7));
    assert_eq!(decoder.decode::<u8>().unwrap(), None);
    assert_eq!(decoder.decode::<()>().unwrap(), None);

    let mut encoder = tightwire_parco::Encoder::new(Vec::new());
    encoder.encode(&()).unwrap();
    encoder.encode(&0x0201_u16).unwrap();
    encoder.encode(&Empty {}).unwrap();
    let bytes = encoder.into_inner();
    let mut decoder = Decoder::new(&bytes[..]);
    assert_eq!(decoder.decode::<()>().unwrap(), Some(()));
    assert_eq!(*decoder.get_ref(), &bytes[..]);
    assert_eq!(decoder.decode::<Empty>().unwrap(), Some(Empty {}));
    assert_eq!(decoder.decode::<u16>().unwrap(), Some(0x0201));
    assert_eq!(decoder.decode::<Empty>().unwrap(), Some(Empty {}));
    assert_eq!(decoder.decode::<Empty>().unwrap(), None);
    assert_eq!(decoder.decode::<u16>().unwrap(), None);

    // No byte is read after a single message.
    let mut stream = &[7_u8][..];
    decode_from_reader::<()>(&mut stream).unwrap();
    assert_eq!(stream, [7]);
    decode_from_reader::<()>(std::io::empty()).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Lower limits accept less and change nothing else.
    #[test]
    fn any_limits_are_respected(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        material in prop::collection::vec(any::<u8>(), 0..300),
        choice in prop::array::uniform5(any::<u8>()),
    ) {
        let limits = checks::limits(choice);
        checks::check_limits(&bytes, &choice, limits);
        let mut source = Material(&material);
        checks::check_limits(&to_vec(&source.everything()).unwrap(), &choice, limits);
        checks::check_limits(&to_vec(&source.node(5)).unwrap(), &choice, limits);
        checks::check_limits(&to_vec(&source.named(5)).unwrap(), &choice, limits);
    }

    /// The fuzz target `parco_decode` runs this check for longer.
    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..300), cuts in prop::array::uniform3(any::<u8>())) {
        checks::check_bytes(&bytes, &cuts);
    }

    /// Messages with a few changed bytes reach deeper into the decoder than random bytes.
    #[test]
    fn changed_messages_are_handled(
        material in prop::collection::vec(any::<u8>(), 0..600),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<u8>()), 0..4),
        which in 0..5_u8,
        cuts in prop::array::uniform3(any::<u8>()),
    ) {
        let mut source = Material(&material);
        let mut bytes = match which {
            0 | 1 => to_vec(&source.everything()),
            2 => to_vec(&source.node(5)),
            3 => to_vec(&source.owned()),
            _ => to_vec(&source.named(5)),
        }
        .unwrap();
        for (at, what, byte) in changes {
            let at = at.index(bytes.len());
            match what {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at.max(1)),
            }
        }
        checks::check_bytes(&bytes, &cuts);
    }
}
