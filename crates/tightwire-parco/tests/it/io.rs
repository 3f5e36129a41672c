//! Messages on `std::io` streams: sizes of reads and writes, and where they stop.
#![cfg(all(feature = "std", feature = "derive"))]

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io::{self, BufReader, Read, Write};

use proptest::prelude::*;
use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{Array, Be, Le, Slice, StaticWire, Str, U8, U16, Wire};
use tightwire_parco::{
    Decode, Decoder, Encode, Encoder, Fault, Get, Input, Limits, Options, Reader, Segment, WireExt,
    decode_exact, decode_from_reader, encode_to_writer, to_vec,
};

use crate::support::checks::Chunks;
use crate::support::messages::{Borrowed, Inner, Material, Named, Node};

/// Records every write, accepts a limited number of bytes per write, and fails after a limited total.
struct Sink {
    writes: Vec<Vec<u8>>,
    at_once: usize,
    until: usize,
    interruptions: usize,
}

impl Sink {
    fn new() -> Self {
        Self { writes: Vec::new(), at_once: usize::MAX, until: usize::MAX, interruptions: 0 }
    }
}

impl Write for &mut Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.interruptions > 0 {
            self.interruptions -= 1;
            return Err(io::ErrorKind::Interrupted.into());
        }
        let written: usize = self.writes.iter().map(Vec::len).sum();
        if written >= self.until {
            return Err(io::Error::other("the disk is full"));
        }
        let len = bytes.len().min(self.at_once);
        self.writes.push(bytes[..len].to_vec());
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        panic!("when to flush is the caller's decision");
    }
}

fn inner(text: &str) -> Inner {
    Inner { number: 7, text: text.into(), flag: true }
}

const INNER: &[u8] = b"\0\0\0\x07\0\x03hey\x01";

#[test]
fn a_message_is_one_write() {
    let mut sink = Sink::new();
    encode_to_writer(&inner("hey"), &mut sink).unwrap();
    let mut encoder = Encoder::new(&mut sink);
    encoder.encode(&vec![inner("hey"); 2]).unwrap();
    encoder.encode_as(&Slice::<U8, U16<Be>>::NEW, &vec![1_u16, 2]).unwrap();
    encoder.encode("x").unwrap();
    let list = [&[2][..], INNER, INNER].concat();
    assert_eq!(sink.writes, [INNER, &list, &[2, 0, 1, 0, 2], b"\x01x"]);
}

#[test]
fn a_message_without_bytes_is_no_write() {
    let mut sink = Sink::new();
    sink.at_once = 0;
    encode_to_writer(&(), &mut sink).unwrap();
    encode_to_writer(&[(); 3], &mut sink).unwrap();
    assert!(sink.writes.is_empty());
}

#[test]
fn what_cannot_be_encoded_is_no_write() {
    let mut sink = Sink::new();
    let mut encoder = Encoder::new(&mut sink);
    let error = encoder.encode(&[inner("first"), inner(&"x".repeat(65_536))]).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(error.path(), [Segment::Index(1), Segment::Field("text")]);
    assert_eq!(error.offset(), Some(12 + 4));
    // The encoder can still be used.
    encoder.encode(&1_u8).unwrap();
    assert_eq!(sink.writes, [[1]]);
}

#[test]
fn short_and_interrupted_writes_are_continued() {
    let mut sink = Sink::new();
    (sink.at_once, sink.interruptions) = (3, 2);
    encode_to_writer(&inner("hey"), &mut sink).unwrap();
    assert_eq!(sink.writes.concat(), INNER);
    assert_eq!(sink.writes.len(), 4);
}

#[test]
fn write_errors_are_returned() {
    let mut sink = Sink::new();
    (sink.at_once, sink.until) = (3, 6);
    let error = encode_to_writer(&inner("hey"), &mut sink).unwrap_err();
    assert!(error.is_io());
    assert_eq!(error.offset(), None);
    assert_eq!(error.source().unwrap().to_string(), "the disk is full");
    assert!(!error.to_string().contains("disk"));

    let mut sink = Sink::new();
    sink.at_once = 0;
    let error = encode_to_writer(&1_u8, &mut sink).unwrap_err();
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::WriteZero);
}

/// After an incomplete message no other one is written.
#[test]
fn an_encoder_that_failed_stays_failed() {
    let mut sink = Sink::new();
    (sink.at_once, sink.until) = (3, 6);
    let mut encoder = Encoder::new(&mut sink);
    assert!(encoder.encode(&inner("hey")).unwrap_err().is_io());
    encoder.get_mut().until = usize::MAX;
    assert!(encoder.encode(&1_u8).unwrap_err().is_io());
    assert_eq!(encode_to_writer("hey", io::sink()).unwrap(), 4);
}

/// Fails with a timeout before each byte.
struct Slow<'a> {
    bytes: &'a [u8],
    is_ready: bool,
}

impl Read for Slow<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.is_ready = !self.is_ready;
        if self.is_ready { Err(io::ErrorKind::WouldBlock.into()) } else { self.bytes.read(&mut target[..1]) }
    }
}

#[test]
fn a_decoder_resumes_after_timeouts() {
    let values = [inner("hey"), inner(""), inner(&"x".repeat(300))];
    let fingerprint = tightwire_parco::schema::fingerprint::<Inner>();
    let mut encoder = Encoder::new(Vec::new()).with_fingerprint(fingerprint);
    values.iter().for_each(|value| assert!(encoder.encode(value).is_ok()));
    let bytes = encoder.into_inner();
    let mut decoder = Decoder::new(Slow { bytes: &bytes, is_ready: false }).with_fingerprint(fingerprint);
    let (mut found, mut timeouts) = (Vec::new(), 0);
    loop {
        match decoder.decode::<Inner>() {
            Ok(Some(value)) => found.push(value),
            Ok(None) => break,
            Err(error) => {
                assert!(error.is_io(), "{error}");
                timeouts += 1;
            }
        }
    }
    assert_eq!((found, timeouts), (values.into(), bytes.len() + 1));
    // A stream that grows after its end.
    let mut decoder = Decoder::new(io::Cursor::new(bytes[8..11].to_vec()));
    assert!(decoder.decode::<Inner>().unwrap_err().is_unexpected_end());
    decoder.get_mut().get_mut().extend(&bytes[11..]);
    assert_eq!(decoder.decode::<Inner>().unwrap(), Some(inner("hey")));
}

/// The position in the stream is unknown after a message that is malformed.
#[test]
fn a_decoder_that_failed_stays_failed() {
    let stream = [&INNER[..9], &[2], INNER].concat();
    let mut decoder = Decoder::new(&stream[..]);
    let first = decoder.decode::<Inner>().unwrap_err();
    for _ in 0..3 {
        let again = decoder.decode::<Inner>().unwrap_err();
        assert!(again.is_invalid_bool());
        assert_eq!(again.offset(), first.offset());
    }
    // The end of a message with an invalid text is known.
    let stream = [&INNER[..7], &[0xff], &INNER[8..], INNER].concat();
    let mut decoder = Decoder::new(&stream[..]);
    assert!(decoder.decode::<Inner>().unwrap_err().is_invalid_utf8());
    assert!(decoder.decode::<Inner>().unwrap().is_some());
}

#[test]
fn errors_are_made_from_io_errors_and_texts() {
    fn read(fails: bool) -> Result<u8, tightwire_parco::Error> {
        if fails {
            Err(io::Error::from(io::ErrorKind::TimedOut))?;
        }
        Ok(1)
    }
    let error = read(true).unwrap_err();
    assert!(error.is_io() && read(false).is_ok());
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::TimedOut);
    // An error that was put into an I/O error is taken out again.
    let error = decode_exact::<u16>(&[1]).unwrap_err();
    let again = tightwire_parco::Error::from(io::Error::from(error));
    assert!(again.is_unexpected_end());
    let error = tightwire_parco::Error::custom("no such version");
    assert!(error.is_custom() && error.to_string().contains("no such version"));
}

#[test]
fn large_arrays_in_boxes_do_not_need_the_stack() {
    const SIZE: usize = 3 << 20;
    #[derive(Debug, Encode, Decode)]
    struct Large {
        boxed: Box<[u8; SIZE]>,
        shared: std::sync::Arc<[u16; SIZE]>,
        counted: std::rc::Rc<[u8; SIZE]>,
    }
    let check = || {
        let bytes = vec![7; 4 * SIZE];
        let value: Large = decode_exact(&bytes).unwrap();
        assert_eq!((value.boxed[SIZE - 1], value.shared[SIZE - 1], value.counted[0]), (7, 0x0707, 7));
        assert_eq!(to_vec(&value).unwrap(), bytes);
        assert!(decode_exact::<Box<[u8; SIZE]>>(&bytes[1..SIZE]).unwrap_err().is_unexpected_end());
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(check).unwrap().join().unwrap();
}

/// Panics if a read goes beyond the end of the message, which proves that nothing is read ahead.
struct Exact<'a>(&'a [u8]);

impl Read for Exact<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        assert!(!target.is_empty() && target.len() <= self.0.len(), "{} of {}", target.len(), self.0.len());
        self.0.read(target)
    }
}

#[test]
fn not_a_byte_more_is_read() {
    assert_eq!(decode_from_reader::<Inner>(Exact(INNER)).unwrap(), inner("hey"));
    let long = "x".repeat(60_000);
    let bytes = to_vec(&vec![inner(&long), inner("")]).unwrap();
    let decoded: Vec<Inner> = decode_from_reader(Exact(&bytes)).unwrap();
    assert_eq!(decoded, [inner(&long), inner("")]);
    let chain = Node::chain(40, true);
    assert_eq!(decode_from_reader::<Node>(Exact(&to_vec(&chain).unwrap())).unwrap(), chain);
}

#[test]
fn consecutive_messages_are_decoded() {
    let mut bytes = Vec::new();
    tightwire_parco::encode(&inner("hey"), &mut bytes).unwrap();
    tightwire_parco::encode(&0x0102_u16, &mut bytes).unwrap();
    tightwire_parco::encode(&vec!["a", ""], &mut bytes).unwrap();
    bytes.extend([9, 1, 2]);
    for cuts in [&[1_u8][..], &[255], &[3, 0, 2], &[0]] {
        let mut decoder = Decoder::new(Chunks::new(&bytes, cuts));
        assert_eq!(decoder.decode::<Inner>().unwrap(), Some(inner("hey")));
        assert_eq!(decoder.decode::<u16>().unwrap(), Some(0x0102));
        assert_eq!(decoder.decode::<Vec<&str>>().unwrap().unwrap(), ["a", ""]);
        assert_eq!(decoder.get_ref().bytes, [9, 1, 2]);
        // Bytes read through `get_mut` are not part of a message.
        let mut byte = [0];
        decoder.get_mut().read_exact(&mut byte).or_else(|_| decoder.get_mut().read_exact(&mut byte)).unwrap();
        assert_eq!(decoder.decode_as(&U16::<Be>::NEW).unwrap(), Some(0x0102_u16));
        assert_eq!(decoder.decode::<u8>().unwrap(), None);
        assert_eq!(decoder.decode::<Inner>().unwrap(), None);
    }
}

#[test]
fn values_borrow_from_the_decoder() {
    let value = Borrowed { text: "text", bytes: b"bytes", names: vec!["a", "b"], ..Borrowed::default() };
    let bytes = to_vec(&value).unwrap();
    let twice = [bytes.as_slice(), &bytes].concat();
    let mut decoder = Decoder::new(Chunks::new(&twice, &[5]));
    for _ in 0..2 {
        assert_eq!(decoder.decode::<Borrowed<'_>>().unwrap().unwrap(), value);
    }
    assert_eq!(decoder.decode::<Borrowed<'_>>().unwrap(), None);
}

/// The end of the stream is an error inside a message, but not between messages.
#[test]
fn end_of_stream_inside_a_message_is_reported() {
    for len in 1..INNER.len() {
        let mut decoder = Decoder::new(Chunks::new(&INNER[..len], &[2, 0]));
        let error = decoder.decode::<Inner>().unwrap_err();
        assert!(error.is_unexpected_end());
        let slice = decode_exact::<Inner>(&INNER[..len]).unwrap_err();
        assert_eq!((error.offset(), error.missing()), (slice.offset(), slice.missing()), "{len}");
        assert_eq!(error.path(), slice.path());
    }
    let error = decode_from_reader::<Inner>(io::empty()).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!(error.offset(), Some(0));
    // Long enough for several reads.
    let long = Slice::<U16<Le>, U8>::NEW.to_vec(&vec![3_u8; 40_000]).unwrap();
    let error = decode_from_reader::<Vec<u8>>(&to_vec(&long).unwrap()[..30_000]).unwrap_err();
    assert!(error.is_unexpected_end());
    let error = Decoder::new(&long[..30_000]).decode_as::<_, &[u8]>(&Str::<U16<Le>>::NEW).unwrap_err();
    assert_eq!((error.offset(), error.missing()), (Some(2), Some(10_002)));
}

#[test]
fn read_errors_are_the_source() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::ConnectionReset, "the line is dead"))
        }
    }
    for head in [&b""[..], &INNER[..3], &INNER[..6], &INNER[..8]] {
        let error = decode_from_reader::<Inner>(head.chain(Broken)).unwrap_err();
        assert!(error.is_io());
        assert_eq!(error.source().unwrap().to_string(), "the line is dead");
        let error = io::Error::from(error);
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert!(error.downcast::<tightwire_parco::Error>().unwrap().is_io());
    }
}

#[test]
fn stream_errors_have_the_same_offset_as_slice_errors() {
    let bad_flag = [&INNER[..9], &[2]].concat();
    let bad_text = [&INNER[..7], &[0xff], &INNER[8..]].concat();
    for (bytes, offset, field) in [(&bad_flag, 9, "flag"), (&bad_text, 6, "text")] {
        let error = decode_from_reader::<Inner>(&bytes[..]).unwrap_err();
        let slice = decode_exact::<Inner>(bytes).unwrap_err();
        assert_eq!(error.to_string(), slice.to_string());
        assert_eq!((error.offset(), error.path()), (Some(offset), &[Segment::Field(field)][..]));
    }
}

#[test]
fn limits_apply_before_allocation() {
    let options = Options::new().limits(Limits::default().max_allocation(1000));
    let bytes = to_vec(&"x".repeat(999)).unwrap();
    let error = Decoder::with_options(&bytes[..], options).decode::<String>().unwrap_err();
    assert!(error.is_limit());
    let fits = to_vec(&"x".repeat(998)).unwrap();
    assert!(Decoder::with_options(&fits[..], options).decode::<String>().unwrap().is_some());

    let options = Options::new().limits(Limits::default().max_bytes(3));
    let mut stream: &[u8] = &[4, 1, 2, 3, 4];
    let error = Decoder::with_options(&mut stream, options).decode::<&[u8]>().unwrap_err();
    assert!(error.is_limit());
    assert_eq!(error.offset(), Some(1));
    // The contents after the header were not read.
    assert_eq!(stream, [1, 2, 3, 4]);
}

#[test]
fn buffered_streams_are_supported() {
    let all: Vec<Inner> = (0..500).map(|index| inner(&"y".repeat(index))).collect();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(io::BufWriter::new(&mut bytes));
    all.iter().for_each(|message| assert!(encoder.encode(message).is_ok()));
    encoder.get_mut().flush().unwrap();
    drop(encoder.into_inner());
    let mut decoder = Decoder::new(BufReader::with_capacity(100, &bytes[..]));
    for message in &all {
        assert_eq!(decoder.decode::<Inner>().unwrap().as_ref(), Some(message));
    }
    assert_eq!(decoder.decode::<Inner>().unwrap(), None);
}

/// A message with every kind of part, most of them of variable size.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Parts {
    number: u32,
    names: Vec<String>,
    pairs: BTreeMap<String, Option<u16>>,
    nodes: Vec<Inner>,
    array: [String; 2],
    numbers: Vec<u16>,
    boxed: Option<Box<Self>>,
    flag: bool,
    #[parco(default_on_eof)]
    last: Option<String>,
}

impl Parts {
    fn new(count: usize) -> Self {
        let text = |index: usize| "x".repeat(index % 7 * (index % 3));
        Self {
            number: 7,
            names: (0..count).map(text).collect(),
            pairs: (0..count).map(|index| (index.to_string(), (index % 2 == 0).then_some(3))).collect(),
            nodes: (0..count).map(|index| inner(&text(index))).collect(),
            array: [text(count), text(count + 1)],
            numbers: (0..count as u16).collect(),
            boxed: (count > 1).then(|| Box::new(Self::new(count / 2))),
            flag: true,
            last: Some(text(count)),
        }
    }
}

/// Counts reads, and returns at most a number of bytes for each.
struct Counting<'a> {
    bytes: &'a [u8],
    at_once: usize,
    reads: usize,
}

impl Read for Counting<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        assert!(!target.is_empty() && target.len() <= self.bytes.len(), "reads beyond the message");
        self.reads += 1;
        let len = target.len().min(self.at_once);
        self.bytes.read(&mut target[..len])
    }
}

#[test]
fn reads_are_few_and_stop_at_the_end() {
    for count in [0, 1, 2, 10, 300, 4000] {
        let value = Parts::new(count);
        let bytes = to_vec(&value).unwrap();
        for at_once in [1, 2, 100, usize::MAX] {
            let mut stream = Counting { bytes: &bytes, at_once, reads: 0 };
            assert_eq!(decode_from_reader::<Parts>(&mut stream).unwrap(), value);
            let most = bytes.len() / at_once + 60 * (count + 2).ilog2() as usize;
            assert!(stream.reads <= most, "{} of {count} in pieces of {at_once}", stream.reads);
        }
    }
}

/// Returns no bytes across a position. The first read at the position is interrupted, or fails.
struct Split<'a> {
    before: &'a [u8],
    after: &'a [u8],
    at_split: Option<io::ErrorKind>,
}

impl Read for Split<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if !self.before.is_empty() {
            return self.before.read(target);
        }
        match self.at_split.take() {
            Some(kind) => Err(kind.into()),
            None => self.after.read(target),
        }
    }
}

/// Messages below, at and above the size that is buffered without an allocation, and of several chunks.
fn messages_of_all_sizes() -> impl Iterator<Item = Parts> {
    let texts = (200..300).step_by(7).chain(250..260).chain([9000, 20_000]);
    let with_text = texts.map(|len| Parts { names: vec!["x".repeat(len)], ..Parts::default() });
    [0, 1, 2, 4, 40].map(Parts::new).into_iter().chain(with_text)
}

#[test]
fn a_message_may_be_split_anywhere() {
    for value in messages_of_all_sizes() {
        let bytes = to_vec(&value).unwrap();
        let stream = [&bytes[..], b"rest"].concat();
        for at in (0..=bytes.len()).step_by(bytes.len().div_ceil(1000)) {
            let (before, after) = stream.split_at(at);
            let mut split = Split { before, after, at_split: Some(io::ErrorKind::Interrupted) };
            assert_eq!(decode_from_reader::<Parts>(&mut split).unwrap(), value, "{at}");
            assert_eq!([split.before, split.after].concat(), b"rest", "{at} of {}", bytes.len());
        }
    }
}

#[test]
fn an_error_in_any_read_is_returned() {
    for value in messages_of_all_sizes() {
        let bytes = to_vec(&value).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len().div_ceil(1000)) {
            let (before, after) = bytes.split_at(at);
            let split = Split { before, after, at_split: Some(io::ErrorKind::TimedOut) };
            let error = decode_from_reader::<Parts>(split).unwrap_err();
            assert_eq!(io::Error::from(error).kind(), io::ErrorKind::TimedOut, "{at} of {}", bytes.len());
            match decode_from_reader::<Parts>(before) {
                Err(error) => assert!(error.is_unexpected_end(), "{at} of {}", bytes.len()),
                // The message may end before `last`.
                Ok(_) => assert_eq!(at, bytes.len() - to_vec(&value.last).unwrap().len()),
            }
        }
    }
}

/// `marker` has no bytes, so the byte that is read to detect the end belongs to `number`.
#[derive(Debug, PartialEq, Encode, Decode)]
struct EmptyOptional {
    list: [Marked; 2],
    number: u16,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Marked {
    #[parco(default_on_eof)]
    marker: (),
}

#[test]
fn bytes_that_are_read_to_detect_the_end_are_part_of_the_message() {
    let decoded: EmptyOptional = decode_from_reader(Exact(&[1, 2])).unwrap();
    assert_eq!(decoded, EmptyOptional { list: [(); 2].map(|marker| Marked { marker }), number: 0x0201 });
}

/// A wire type that states a larger minimum than the one it is made of.
#[derive(Clone, Copy, Debug)]
struct NonEmpty;

type Names = Slice<U8, Str<U8>>;

impl Wire for NonEmpty {
    fn min_size(&self) -> usize {
        2
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        Names::NEW.walk(input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Names::NEW.schema(context)
    }
}

impl<'de> Get<'de, Vec<String>> for NonEmpty {
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Vec<String>, Fault> {
        Names::NEW.get(reader)
    }
}

#[test]
fn larger_minimum_sizes_cause_no_further_reads() {
    for names in [&[""][..], &["a", ""], &["", "", "abc"]] {
        let bytes = Names::NEW.to_vec(names).unwrap();
        let wire = Array::<3, NonEmpty>(NonEmpty);
        let stream = bytes.repeat(3);
        let decoded: [Vec<String>; 3] = Decoder::new(Exact(&stream)).decode_as(&wire).unwrap().unwrap();
        assert!(decoded.iter().all(|found| found == names));
    }
}

proptest! {
    /// The reads of a stream end with the message, for any message and any split of the stream.
    #[test]
    fn any_message_is_read_to_its_end(material: Vec<u8>, count in 0..20_usize, rest: Vec<u8>) {
        let mut source = Material(&material);
        let value = (0..3).map(|_| source.node(3)).collect::<Vec<_>>();
        let bytes = to_vec(&value).unwrap();
        prop_assert_eq!(decode_from_reader::<Vec<Node>>(Exact(&bytes)).unwrap(), value.clone());
        let named: Vec<_> = (0..count).map(|index| source.named(index % 5)).collect();
        let list = to_vec(&named).unwrap();
        prop_assert_eq!(decode_from_reader::<Vec<Named>>(Exact(&list)).unwrap(), named.clone());
        let parts = Parts::new(count);
        let all = [bytes, list, to_vec(&parts).unwrap(), rest.clone()].concat();
        let mut decoder = Decoder::new(Chunks::new(&all, &material));
        prop_assert_eq!(decoder.decode::<Vec<Node>>().unwrap(), Some(value));
        prop_assert_eq!(decoder.decode::<Vec<Named>>().unwrap(), Some(named));
        prop_assert_eq!(decoder.decode::<Parts>().unwrap(), Some(parts));
        prop_assert_eq!(decoder.get_ref().bytes, &rest[..]);
    }
}
