//! Streams in chunks of any size: same messages, same errors, and work that is linear in the input.
#![cfg(all(feature = "codec", feature = "derive"))]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;

use bytes::BytesMut;
use test_support::{Pieces, in_pieces, limits};
use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{SmallVarchar, StaticWire, Wire};
use tightwire_parco::{
    Decode, DecodeOwned, Encode, Fault, FrameCodec, Get, Input, Limits, Options, Put, Reader, StreamCodec,
    encoded_len, to_vec,
};
use tightwire_parco::{Levels, Writer};
use tokio_util::codec::{Decoder, LengthDelimitedCodec};

use crate::support::messages::{Inner, Material, Named, Node};

thread_local! {
    static WALKED: Cell<usize> = const { Cell::new(0) };
}

/// A short string that counts how often it is walked over, and rejects one value.
#[derive(Clone, Copy, Debug)]
struct Counted;

impl Wire for Counted {
    fn min_size(&self) -> usize {
        1
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        WALKED.set(WALKED.get() + 1);
        SmallVarchar::NEW.walk(input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        SmallVarchar::NEW.schema(context)
    }
}

impl StaticWire for Counted {
    const NEW: Self = Self;
}

impl Put<String> for Counted {
    fn put(&self, value: &String, writer: &mut Writer<'_>) -> Result<(), Fault> {
        SmallVarchar::NEW.put(value, writer)
    }

    fn size(&self, value: &String, levels: Levels) -> Result<usize, Fault> {
        SmallVarchar::NEW.size(value, levels)
    }
}

impl Get<'_, String> for Counted {
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<String, Fault> {
        let text: String = SmallVarchar::NEW.get(reader)?;
        if text == "refused" { Err(Fault::INVALID_VALUE) } else { Ok(text) }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Item {
    #[parco(with = Counted)]
    text: String,
}

/// Two lists: the first is complete and skipped when decoding of the second resumes.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Lists {
    items: Vec<Item>,
    nested: Vec<Vec<Item>>,
    map: BTreeMap<u16, Item>,
    last: Vec<Item>,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Tree {
    item: Item,
    left: Option<Box<Self>>,
    right: Option<Box<Self>>,
}

impl Tree {
    fn balanced(levels: usize) -> Self {
        let child = || (levels > 1).then(|| Box::new(Self::balanced(levels - 1)));
        Self { item: item(), left: child(), right: child() }
    }
}

fn item() -> Item {
    Item { text: "text".to_owned() }
}

/// Returns the number of values walked over until a message in chunks of this size is complete.
fn walked<T: DecodeOwned + Encode + PartialEq + std::fmt::Debug>(message: &T, piece: usize) -> usize {
    let bytes = to_vec(message).unwrap();
    let mut codec = StreamCodec::<T>::new();
    let mut buffer = BytesMut::new();
    let before = WALKED.get();
    let mut decoded = None;
    for piece in bytes.chunks(piece) {
        assert_eq!(decoded, None, "the message is complete too early");
        buffer.extend_from_slice(piece);
        decoded = codec.decode(&mut buffer).unwrap();
    }
    assert_eq!(decoded.as_ref(), Some(message));
    WALKED.get() - before
}

#[test]
fn decoding_in_chunks_is_linear_in_message_size() {
    type Make = fn(usize) -> Lists;
    let kinds: [Make; 4] = [
        |count| Lists { items: vec![item(); count], ..Lists::default() },
        |count| Lists { nested: vec![vec![item(); 10]; count / 10], ..Lists::default() },
        |count| Lists { map: (0..count as u16).map(|key| (key, item())).collect(), ..Lists::default() },
        |count| Lists { items: vec![item(); count / 2], last: vec![item(); count / 2], ..Lists::default() },
    ];
    for make in kinds {
        for piece in [1, 7, 1460] {
            let (small, large) = (walked(&make(1000), piece), walked(&make(4000), piece));
            // Each value is walked over once, and the last value of each chunk once more.
            let pieces = |count| encoded_len(&make(count)).unwrap() / piece;
            assert!(small <= 1000 + 2 * pieces(1000), "{small} in pieces of {piece}");
            assert!(10 * large <= 44 * small, "{small} and {large} in pieces of {piece}");
        }
    }
}

/// When more input arrives, complete structs are not walked over again at any nesting depth; only the incomplete
/// structs that enclose the next byte are.
#[test]
fn decoding_trees_in_chunks_is_bounded_by_depth() {
    for levels in [4, 8, 11] {
        let tree = Tree::balanced(levels);
        let len = encoded_len(&tree).unwrap();
        let count = walked(&tree, 1);
        assert!(count <= len * (levels + 1), "{count} for {len} bytes in {levels} levels");
    }
}

/// Records a message or an error as text. Returns false at the end and for an error.
fn record<T: std::fmt::Debug>(found: &mut Vec<String>, result: &io::Result<Option<T>>) -> bool {
    match result {
        Ok(None) => return false,
        Ok(Some(message)) => found.push(format!("{message:?}")),
        Err(error) => found.push(format!("{:?}: {error}", error.kind())),
    }
    result.is_ok()
}

/// Passes the chunks to a codec, up to the end of the stream or the first error.
fn framed<C: Decoder<Error = io::Error>>(mut codec: C, pieces: &[&[u8]]) -> Vec<String>
where
    C::Item: std::fmt::Debug,
{
    let mut buffer = BytesMut::new();
    let mut found = Vec::new();
    for (index, piece) in pieces.iter().chain([&&b""[..]]).enumerate() {
        buffer.extend_from_slice(piece);
        loop {
            let at_end = index == pieces.len();
            let result = if at_end { codec.decode_eof(&mut buffer) } else { codec.decode(&mut buffer) };
            let goes_on = record(&mut found, &result);
            if let Err(first) = result {
                // Errors are final: decoding the same bytes again returns no message.
                let again = codec.decode_eof(&mut buffer).map(|_| ()).unwrap_err();
                assert!(again.kind() == first.kind() || again.kind() == io::ErrorKind::Other, "{again}");
                return found;
            }
            if !goes_on {
                break;
            }
        }
    }
    found
}

fn read<T: DecodeOwned + std::fmt::Debug>(options: Options, pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = tightwire_parco::Decoder::with_options(Pieces::new(pieces), options);
    let mut found = Vec::new();
    while record(&mut found, &decoder.decode::<T>().map_err(Into::into)) {}
    found
}

/// Complete and truncated streams of these messages, with limits around the size of a message.
fn check<T: DecodeOwned + Encode + std::fmt::Debug>(messages: &[T]) {
    let sizes: Vec<usize> = messages.iter().map(|message| encoded_len(message).unwrap()).collect();
    let largest = sizes.iter().copied().max().unwrap();
    let mut stream = Vec::new();
    messages.iter().for_each(|message| tightwire_parco::encode(message, &mut stream).unwrap());
    let whole: Vec<String> = messages.iter().map(|message| format!("{message:?}")).collect();
    assert_eq!(in_pieces(&stream, |pieces| framed(StreamCodec::<T>::new(), pieces)), whole);

    for end in [stream.len(), stream.len() - 1, stream.len() / 2, 1] {
        let input = &stream[..end];
        let all = limits(largest).map(|limit| Limits::default().max_allocation(limit));
        let all = all.chain(limits(largest).map(|limit| Limits::default().max_bytes(limit)));
        let all = all.chain([1, 2].map(|levels| Limits::default().max_depth(levels)));
        for limits in all.chain([Limits::default()]) {
            let options = Options::new().limits(limits);
            let codec = in_pieces(input, |pieces| framed(StreamCodec::<T>::with_options(options), pieces));
            let reader = in_pieces(input, |pieces| read::<T>(options, pieces));
            // At the end of the stream the codec decodes the rest as a slice, which reports the count without its
            // elements instead of the truncated element.
            if end == stream.len() {
                assert_eq!(codec, reader, "{limits:?}");
            }
            if limits == Limits::default() {
                let complete = sizes
                    .iter()
                    .scan(0, |sum, size| {
                        *sum += size;
                        Some(*sum)
                    })
                    .filter(|sum| *sum <= end)
                    .count();
                assert_eq!(codec[..complete], whole[..complete]);
                let is_between = sizes[..complete].iter().sum::<usize>() == end;
                assert_eq!(codec.len(), complete + usize::from(!is_between), "{codec:?}");
            }
        }
    }

    let frames = |most: usize| {
        let frames = LengthDelimitedCodec::builder().max_frame_length(most).new_codec();
        FrameCodec::<T>::new(frames)
    };
    let mut stream = BytesMut::new();
    for message in messages {
        tokio_util::codec::Encoder::encode(&mut frames(usize::MAX >> 1), message, &mut stream).unwrap();
    }
    assert_eq!(in_pieces(&stream, |pieces| framed(frames(largest), pieces)), whole);
    for end in [stream.len(), stream.len() - 1, 5, 3] {
        for limit in limits(largest) {
            in_pieces(&stream[..end], |pieces| framed(frames(limit), pieces));
        }
    }
}

#[test]
fn chunk_size_does_not_change_messages() {
    let material: Vec<u8> = (0..=255).cycle().take(3000).collect();
    let mut source = Material(&material);
    check::<Node>(&[source.node(4), source.node(1), Node::chain(9, true), Node::chain(5, false)]);
    check::<Named>(&[source.named(4), source.named(6), Named::Other(vec![Named::One(1); 40])]);
    check(&["x".repeat(20_000), String::new(), "y".repeat(3)]);
    check(&[vec![vec!["a".to_owned(); 300]; 3], vec![vec![String::new(); 4], Vec::new()]]);
    check(&[Tree::balanced(7), Tree::default()]);
    check(&[Lists {
        items: vec![item(); 30],
        nested: vec![vec![item(); 3]; 9],
        map: BTreeMap::from([(1, item()), (7, item())]),
        last: vec![item()],
    }]);
    check(&[Inner { number: 7, text: "hey".into(), flag: true }, Inner::default()]);
}

/// Malformed messages fail at the same offset, in chunks of any size.
#[test]
fn chunk_size_does_not_change_errors() {
    #[derive(Debug, Encode, Decode)]
    struct Flags {
        items: Vec<Item>,
        flags: Vec<bool>,
    }
    let good = Flags { items: vec![item(); 2000], flags: vec![true; 300] };
    let mut input = to_vec(&good).unwrap();
    let bad = input.len() - 17;
    input[bad] = 9;
    let codec = in_pieces(&input, |pieces| framed(StreamCodec::<Flags>::new(), pieces));
    assert_eq!(codec, in_pieces(&input, |pieces| read::<Flags>(Options::new(), pieces)));
    assert_eq!(codec.len(), 1);
    assert!(
        codec[0].ends_with(&format!("a flag is neither 0 nor 1 at .flags[283] (byte {bad})")),
        "{codec:?}"
    );
}

/// A value rejected by the caller's wire type is rejected for every chunk size, and each time it is decoded.
#[test]
fn rejected_values_stay_rejected() {
    let messages = [item(), Item { text: "refused".to_owned() }, item()];
    let mut input = Vec::new();
    messages.iter().for_each(|message| tightwire_parco::encode(message, &mut input).unwrap());
    let codec = in_pieces(&input, |pieces| framed(StreamCodec::<Item>::new(), pieces));
    assert_eq!(codec, in_pieces(&input, |pieces| read::<Item>(Options::new(), pieces)));
    assert_eq!(codec.len(), 2);
    assert!(codec[1].contains("the bytes are not a valid value of the target type at .text"), "{codec:?}");

    let mut codec = StreamCodec::<Item>::new();
    let mut buffer = BytesMut::from(&input[5..]);
    for _ in 0..3 {
        codec.decode(&mut buffer).unwrap_err();
        codec.decode_eof(&mut buffer).unwrap_err();
    }
    assert_eq!(buffer[..], input[5..]);
}

/// A message of zero bytes could be repeated endlessly, so any bytes after it are an error.
#[test]
fn messages_without_bytes_are_not_repeated() {
    let trailing = |result: io::Result<Option<()>>| {
        let error = result.unwrap_err();
        assert!(
            error.get_ref().unwrap().downcast_ref::<tightwire_parco::Error>().unwrap().is_trailing_bytes()
        );
    };
    let mut codec = StreamCodec::<()>::new();
    let mut buffer = BytesMut::new();
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    assert!(codec.decode_eof(&mut buffer).unwrap().is_none());
    buffer.extend_from_slice(b"x");
    trailing(codec.decode(&mut buffer));
    trailing(codec.decode_eof(&mut buffer));
}

/// A caller may replace an incomplete message; decoding then starts again.
#[test]
fn decoding_restarts_with_a_new_buffer() {
    let (long, short) = (vec![item(); 50], vec![item(); 2]);
    let bytes = to_vec(&long).unwrap();
    let mut codec = StreamCodec::<Vec<Item>>::new();
    let mut buffer = BytesMut::from(&bytes[..100]);
    assert!(codec.decode(&mut buffer).unwrap().is_none());
    let mut buffer = BytesMut::from(&to_vec(&short).unwrap()[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), short);
}
