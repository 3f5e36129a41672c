//! Allocations of encoding and decoding.
#![cfg(all(feature = "std", feature = "derive"))]

use std::collections::HashMap;
use std::io;

use tightwire_parco::wire::{Array, Le, StaticWire as _, Str, U8, U16, Varchar, Varint};
use tightwire_parco::{
    Decode, Decoder, Encode, Encoder, Entries, Limits, Options, Seq, WireExt as _, decode_exact,
    decode_from_reader, decode_into, encode_to_slice, encoded_len, to_vec,
};

use crate::support::messages::{Material, Node};
use test_support::counting::{allocations, usage};

/// The message of the published benchmarks.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Message<Text, Values, Entries> {
    name: Text,
    text: Text,
    number: u16,
    values: Values,
    map: Entries,
    flag: bool,
    single: f32,
    double: f64,
}

type Bench = Message<String, Vec<u16>, HashMap<String, u8>>;
type Borrowed<'a> = Message<&'a str, Vec<u16>, HashMap<&'a str, u8>>;
type View<'a> = Message<&'a str, Seq<'a, U16<Le>, u16>, Entries<'a, Str<Varint>, U8, &'a str, u8>>;

const SIZES: [usize; 3] = [10, 100, 1000];

fn bench(size: usize) -> Bench {
    Bench {
        name: "a name".into(),
        text: "some text that is a bit longer than sixteen bytes".into(),
        number: 7,
        values: (0..size).map(|value| value as u16).collect(),
        map: (0..size).map(|key| (key.to_string(), key as u8)).collect(),
        flag: true,
        single: 0.5,
        double: -1.25,
    }
}

#[test]
fn short_messages_are_allocated_once_with_their_size() {
    for size in [10, 100] {
        let message = bench(size);
        let (used, vec) = usage(|| to_vec(&message).unwrap());
        assert_eq!((used.count, used.bytes), (1, vec.len()));
    }
}

/// A buffer of exactly the message's size suffices, although headers are written as eight bytes.
#[test]
fn encoding_to_a_buffer_with_capacity_allocates_nothing() {
    for size in SIZES {
        let message = bench(size);
        let expected = to_vec(&message).unwrap();
        let (count, len) = allocations(|| encoded_len(&message).unwrap());
        assert_eq!((count, len), (0, expected.len()));
        let mut buffer = Vec::with_capacity(len);
        for _ in 0..3 {
            buffer.clear();
            let (count, result) = allocations(|| tightwire_parco::encode(&message, &mut buffer));
            result.unwrap();
            assert_eq!((count, &buffer), (0, &expected));
        }
        let mut slice = vec![0; len + 8];
        let (count, written) = allocations(|| encode_to_slice(&message, &mut slice).unwrap());
        assert_eq!((count, &slice[..written]), (0, &expected[..]));
        let mut encoder = Encoder::new(io::sink());
        encoder.encode(&message).unwrap();
        let (count, result) = allocations(|| encoder.encode(&message));
        result.unwrap();
        assert_eq!(count, 0);
        #[cfg(feature = "bytes")]
        {
            let mut buffer = bytes::BytesMut::with_capacity(len + 8);
            let (count, result) = allocations(|| tightwire_parco::encode_to_buf(&message, &mut buffer));
            result.unwrap();
            assert_eq!(count, 0);
        }
    }
}

/// A growable buffer is grown once, to the size of the message.
#[cfg(feature = "bytes")]
#[test]
fn bytes_buffers_without_capacity_reserve_once() {
    fn check<B: tightwire_parco::Reserve>(mut buffer: B, message: &Bench) {
        let len = encoded_len(message).unwrap();
        let (used, result) = usage(|| tightwire_parco::encode_to_buf(message, &mut buffer));
        result.unwrap();
        assert_eq!(used.count, 1, "{used:?}");
        assert!(used.bytes <= len + 64, "{used:?} for {len} bytes");
    }
    for size in SIZES {
        let message = bench(size);
        check(bytes::BytesMut::new(), &message);
        check(Vec::new(), &message);
        check(bytes::BufMut::limit(bytes::BytesMut::new(), 1 << 20), &message);
        // Only the existing contents of the buffer are moved.
        check(bytes::BytesMut::from(&b"x"[..]), &message);
    }
}

#[cfg(feature = "codec")]
#[test]
fn codecs_encode_in_place() {
    use tokio_util::codec::{Encoder as _, LengthDelimitedCodec};

    let message = bench(1000);
    let len = encoded_len(&message).unwrap();
    let mut buffer = bytes::BytesMut::new();
    let mut codec = tightwire_parco::StreamCodec::<Bench>::new();
    let (used, result) = usage(|| codec.encode(&message, &mut buffer));
    result.unwrap();
    assert!(used.count == 1 && used.bytes <= len + 64, "{used:?} for {len} bytes");
    let mut codec = tightwire_parco::FrameCodec::<Bench>::new(LengthDelimitedCodec::new());
    let mut buffer = bytes::BytesMut::new();
    let (used, result) = usage(|| codec.encode(&message, &mut buffer));
    result.unwrap();
    // One allocation for the message and one for its copy in the frame.
    assert!(used.bytes <= 2 * len + 256, "{used:?} for {len} bytes");
}

#[test]
fn decoding_borrowed_values_allocates_only_containers() {
    for size in SIZES {
        let message = bench(size);
        let bytes = to_vec(&message).unwrap();
        let (count, read) = allocations(|| decode_exact::<Borrowed<'_>>(&bytes).unwrap());
        // The vector and the hash table.
        assert_eq!(count, 2);
        assert_eq!((read.name, read.text, read.number), (&*message.name, &*message.text, message.number));
        assert_eq!((read.values, read.map.len()), (message.values, size));
        assert_eq!((read.flag, read.single, read.double), (true, 0.5, -1.25));
        let (count, read) = allocations(|| decode_exact::<Bench>(&bytes).unwrap());
        // Two strings, and one per key.
        assert_eq!((count, read.map.len()), (4 + size, size));
    }
}

#[test]
fn views_allocate_nothing() {
    for size in SIZES {
        let message = bench(size);
        let bytes = to_vec(&message).unwrap();
        let (count, ()) = allocations(|| {
            let view: View<'_> = decode_exact(&bytes).unwrap();
            assert_eq!((view.name, view.text, view.number), (&*message.name, &*message.text, 7));
            assert!(view.values.iter().eq(message.values.iter().copied()));
            assert!(view.map.iter().all(|(key, value)| message.map.get(key) == Some(&value)));
            assert_eq!((view.flag, view.single, view.double), (true, 0.5, -1.25));
        });
        assert_eq!(count, 0);
        let view: View<'_> = decode_exact(&bytes).unwrap();
        assert_eq!(to_vec(&view).unwrap(), bytes);
    }
}

#[test]
fn decode_into_reuses_allocations() {
    for size in SIZES {
        let message = bench(size);
        let bytes = to_vec(&message).unwrap();
        let mut value: Bench = decode_exact(&bytes).unwrap();
        let (used, result) = usage(|| decode_into(&bytes, &mut value));
        result.unwrap();
        assert_eq!(value, message);
        // The map's entries move to a vector and back. Keys reuse the allocations of other keys, some of which have to
        // grow.
        let longer_keys = size.saturating_sub(10);
        assert!((1..=1 + longer_keys).contains(&used.count), "{used:?} for {size}");
    }
    let names = vec!["a name".to_owned(), "another".to_owned()];
    let bytes = to_vec(&names).unwrap();
    let mut value = names.clone();
    let (count, result) = allocations(|| decode_into(&bytes, &mut value));
    result.unwrap();
    assert_eq!((count, value), (0, names));
}

#[test]
fn short_messages_of_streams_are_buffered_without_allocation() {
    let message = bench(10);
    let bytes = to_vec(&message).unwrap();
    let (expected, _) = allocations(|| decode_exact::<Bench>(&bytes).unwrap());
    let (count, read) = allocations(|| decode_from_reader::<Bench>(&bytes[..]).unwrap());
    assert_eq!((count, read), (expected, message));
    let twice = bytes.repeat(2);
    let mut decoder = Decoder::new(&twice[..]);
    for _ in 0..2 {
        let (count, read) =
            allocations(|| decoder.decode::<Borrowed<'_>>().unwrap().map(|read| read.map.len()));
        // The vector and the hash table.
        assert_eq!((count, read), (2, Some(10)));
    }
}

#[test]
fn decoder_reuses_its_buffer() {
    let bytes = to_vec(&bench(100)).unwrap();
    let twice = [bytes.as_slice(), &bytes].concat();
    let mut decoder = Decoder::new(&twice[..]);
    decoder.decode::<Borrowed<'_>>().unwrap().unwrap();
    let (count, read) = allocations(|| decoder.decode::<Borrowed<'_>>().unwrap().map(|read| read.map.len()));
    assert_eq!((count, read), (2, Some(100)));
}

/// An error is one allocation, and its path another one that grows with the depth.
#[test]
fn errors_allocate_a_bounded_amount() {
    let (count, result) = allocations(|| decode_exact::<u32>(&[1]));
    assert!(result.unwrap_err().is_unexpected_end());
    assert_eq!(count, 1);
    let bytes = to_vec(&bench(1000)).unwrap();
    for len in [0, 3, 70, bytes.len() - 1] {
        let (count, result) = allocations(|| decode_exact::<View<'_>>(&bytes[..len]).map(|_| ()));
        assert!(result.unwrap_err().is_unexpected_end());
        assert!(count <= 2, "{count}");
    }
    let deeper = Options::new().limits(Limits::default().max_depth(65));
    let deep = deeper.to_vec(&Node::chain(65, true)).unwrap();
    let (used, result) = usage(|| decode_exact::<Node>(&deep));
    assert!(result.unwrap_err().is_limit());
    assert!(used.count <= 64 + 10 && used.bytes < 32 << 10, "{used:?}");
    let wire = Array::<1, Varchar>::NEW;
    let mut buffer = Vec::with_capacity(100);
    let (count, result) = allocations(|| wire.encode(&["x".repeat(65_536)], &mut buffer));
    assert!(result.unwrap_err().is_overflow());
    // The string itself, the error and its path.
    assert_eq!(count, 3);
}

#[test]
fn encoding_every_wire_type_to_a_buffer_allocates_only_to_sort_and_for_long_evolve_structs() {
    let material: Vec<u8> = (0..=255).cycle().take(2000).collect();
    let value = Material(&material).everything();
    let mut buffer = Vec::with_capacity(64 << 10);
    let (count, result) = allocations(|| tightwire_parco::encode(&value, &mut buffer));
    result.unwrap();
    // Two maps are sorted, and the lengths of evolve structs inside of others are collected.
    assert!(count <= 4, "{count}");
}
