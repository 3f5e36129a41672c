//! Properties of any input and any value.
//!
//! Shared by property tests and fuzz targets, which include `messages` next to this module.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::io::{self, Read};
use std::sync::OnceLock;

use tightwire_parco::schema::{self, Dynamic, Value};
use tightwire_parco::{
    Decode, DecodeOwned, Decoder, DuplicateKeys, Encode, Error, Limits, Mode, Options, WireExt, decode_exact,
    encode_to_slice, encoded_len, to_vec,
};

use super::builders::{outcome, owned};
use super::messages::{
    Borrowed, Everything, Frame, Inner, Material, Named, Node, Owned, Part, PartRef, Record, RecordRef, View,
};
use test_support::counting::usage;

/// A reader that returns its bytes in chunks of the sizes `cuts`, repeatedly, with an interruption before each chunk of
/// size zero.
pub struct Chunks<'a> {
    pub bytes: &'a [u8],
    pub cuts: &'a [u8],
    at: usize,
}

impl<'a> Chunks<'a> {
    pub fn new(bytes: &'a [u8], cuts: &'a [u8]) -> Self {
        Self { bytes, cuts: if cuts.is_empty() { &[1] } else { cuts }, at: 0 }
    }
}

impl Read for Chunks<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let cut = usize::from(self.cuts[self.at % self.cuts.len()]);
        self.at += 1;
        // Return at least every second time, so that `cuts` of only zeros come to an end.
        if cut == 0 && self.at % 2 == 1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = cut.max(1).min(target.len()).min(self.bytes.len());
        let (head, tail) = self.bytes.split_at(len);
        target[..len].copy_from_slice(head);
        self.bytes = tail;
        Ok(len)
    }
}

/// Maximum bytes allocated in total per input byte: the largest value per byte is a slot of a hash table, and
/// collections grow by doubling.
const PER_BYTE: usize = 256;
/// Bytes of an error and the initial size of containers.
const CONSTANT: usize = 16 << 10;
/// Maximum nesting depth; a count on each level can claim as many elements as bytes follow.
const LEVELS: usize = Limits::MAX_DEPTH as usize;
/// Maximum bytes that the decoder reserves for one element count before it reads the elements.
const MAX_RESERVED: usize = 64 << 10;

/// Runs code that decodes the input, and checks that the memory it allocates is proportional to the size.
pub fn bounded<T>(input: &[u8], run: impl FnOnce() -> T) -> T {
    let (usage, value) = usage(run);
    let promised = LEVELS * (size_of::<Node>() * input.len()).min(MAX_RESERVED);
    let most = PER_BYTE * input.len() + promised + CONSTANT;
    assert!(usage.bytes <= most, "{usage:?} for {} bytes", input.len());
    value
}

fn encoded<T: Encode>(value: &T) -> Vec<u8> {
    let bytes = to_vec(value).expect("decoded values can be encoded");
    assert_eq!(encoded_len(value).expect("decoded values can be encoded"), bytes.len());
    bytes
}

/// All options that affect which input is accepted.
pub fn options() -> [Options; 3] {
    [Options::new(), Options::new().mode(Mode::Compat), Options::new().duplicate_keys(DuplicateKeys::Reject)]
}

/// Limits chosen by five bytes: small ones, some around the size of short inputs, and the defaults.
pub fn limits(choice: [u8; 5]) -> Limits {
    const SIZES: [usize; 12] = [0, 1, 2, 3, 4, 8, 16, 50, 150, 300, 1000, 1 << 20];
    let [bytes, elements, zero_sized, allocation, depth] =
        choice.map(|byte| SIZES.get(usize::from(byte % 16)).copied());
    Limits::default()
        .max_bytes(bytes.unwrap_or(Limits::MAX_BYTES))
        .max_elements(elements.unwrap_or(Limits::MAX_ELEMENTS))
        .max_zero_sized(zero_sized.unwrap_or(Limits::MAX_ZERO_SIZED).min(Limits::MAX_ZERO_SIZED))
        .max_allocation(allocation.unwrap_or(Limits::MAX_ALLOCATION))
        .max_depth(depth.map_or(Limits::MAX_DEPTH, |levels| Limits::MAX_DEPTH.min(levels as u32)))
}

/// Decodes from a slice and from a stream, which must agree. Returns the value and the number of bytes left.
fn decode_both<T: DecodeOwned + Encode>(
    input: &[u8],
    cuts: &[u8],
    options: Options,
) -> Result<(T, usize), Error> {
    let from_slice = bounded(input, || options.decode::<T>(input).map(|(value, rest)| (value, rest.len())));
    let mut decoder = Decoder::with_options(Chunks::new(input, cuts), options);
    let from_stream = bounded(input, || decoder.decode::<T>());
    match (&from_slice, from_stream) {
        (Ok((value, rest)), Ok(Some(streamed))) => {
            // The stream is positioned after the message.
            assert_eq!(decoder.get_ref().bytes.len(), *rest);
            assert_eq!(encoded(&streamed), encoded(value));
        }
        (Ok(_), Ok(None)) => assert!(input.is_empty()),
        (Err(error), Ok(None)) => assert!(error.is_unexpected_end() && input.is_empty(), "{error}"),
        (Err(error), Err(streamed)) => {
            assert_offset_in_input(error, input);
            assert_offset_in_input(&streamed, input);
        }
        // The size of a message on a stream is limited as well.
        (Ok(_), Err(error)) => {
            assert!(error.is_limit() && !self::options().contains(&options), "{error}");
        }
        (Err(error), Ok(Some(_))) => panic!("the stream decodes what the slice rejects: {error}"),
    }
    from_slice
}

/// Limits below the defaults accept less, fail with a limit error, and hold for encoding as well.
fn check_limited<T: DecodeOwned + Encode>(input: &[u8], cuts: &[u8], limits: Limits) {
    let options = Options::new().limits(limits);
    let default = tightwire_parco::decode::<T>(input);
    match (decode_both::<T>(input, cuts, options), &default) {
        (Ok((value, rest)), Ok((accepted, other))) => {
            assert_eq!((encoded(&value), rest), (encoded(accepted), other.len()));
        }
        (Ok(_), Err(error)) => panic!("limits accept more: {error}"),
        (Err(error), Ok(_)) => assert!(error.is_limit(), "{error}"),
        (Err(_), Err(_)) => {}
    }
    if let Ok((value, _)) = default {
        let bytes = encoded(&value);
        match options.to_vec(&value) {
            // What is encoded can be decoded.
            Ok(again) => {
                assert_eq!(again, bytes);
                assert!(decode_both::<T>(&bytes, cuts, options).is_ok());
            }
            Err(error) => assert!(error.is_limit(), "{error}"),
        }
    }
}

/// Decodes any bytes with these limits.
pub fn check_limits(input: &[u8], cuts: &[u8], limits: Limits) {
    check_limited::<Everything>(input, cuts, limits);
    check_limited::<Node>(input, cuts, limits);
    check_limited::<Named>(input, cuts, limits);
    check_limited::<Owned>(input, cuts, limits);
}

/// The offset of an error is within the input, and it can be displayed.
fn assert_offset_in_input(error: &Error, input: &[u8]) {
    let offset = error.offset().expect("decoding errors have an offset");
    assert!(offset <= input.len(), "{error}");
    if let Some(missing) = error.missing() {
        assert!(missing > 0, "{error}");
    }
    assert!(!error.to_string().is_empty());
}

/// Run-time wire types of the messages, compiled from their schemas.
struct Dynamics {
    everything: Dynamic,
    node: Dynamic,
    frame: Dynamic,
    named: Dynamic,
}

fn dynamics() -> &'static Dynamics {
    static DYNAMICS: OnceLock<Dynamics> = OnceLock::new();
    fn of<T: DecodeOwned>() -> Dynamic {
        schema::of_decoded::<T>().compile().expect("derived schemas compile")
    }
    DYNAMICS.get_or_init(|| Dynamics {
        everything: of::<Everything>(),
        node: of::<Node>(),
        frame: of::<Frame>(),
        named: of::<Named>(),
    })
}

/// The run-time wire type accepts the same input as the derived one and writes the same bytes.
///
/// Exceptions: the derived wire type checks UTF-8, limits of single fields, values such as `char` and duplicates in sets; the run-time
/// wire type checks zone names and has its own nesting limit.
fn check_dynamic(
    wire: &Dynamic,
    input: &[u8],
    cuts: &[u8],
    options: Options,
    derived: Result<(&[u8], usize), &Error>,
) {
    let explained = |error: &Error| error.is_invalid_utf8() || error.is_limit();
    // Not for a varint, which both check.
    let is_invalid = |error: &Error| error.to_string().starts_with("the bytes are not a valid value");
    match (derived, wire.decode_with::<Value>(options, input)) {
        (Ok((bytes, left)), Ok((_, rest))) => {
            assert_eq!(rest.len(), left);
            let value = wire.decode_exact::<Value>(bytes).expect("the derived wire type wrote it");
            assert_eq!(wire.to_vec(&value).expect("it was decoded"), bytes);
            assert_eq!(wire.encoded_len(&value).expect("it was decoded"), bytes.len());
            let mut stream = Decoder::with_options(Chunks::new(input, cuts), options);
            stream
                .decode_as::<_, Value>(wire)
                .expect("the slice can be decoded")
                .expect("there is a message");
            assert_eq!(stream.get_ref().bytes.len(), left);
        }
        (Ok(_), Err(error)) => assert!(explained(&error), "{error}"),
        (Err(error), Ok(_)) => {
            assert!(explained(error) || is_invalid(error) || error.is_duplicate_key(), "{error}");
        }
        (Err(_), Err(error)) => assert_offset_in_input(&error, input),
    }
}

/// Decodes an owned value in every way and compares the results.
fn check_owned<T: DecodeOwned + Encode>(input: &[u8], cuts: &[u8], older: &mut T, dynamic: Option<&Dynamic>) {
    for options in options() {
        match decode_both::<T>(input, cuts, options) {
            Ok((value, rest)) => {
                let again = encoded(&value);
                let value = decode_exact::<T>(&again).expect("encoded bytes can be decoded");
                assert_eq!(encoded(&value), again);
                let message = &input[..input.len() - rest];
                bounded(input, || options.decode_into(message, older)).expect("it was decoded before");
                assert_eq!(encoded(older), again);
                if let Some(wire) = dynamic {
                    check_dynamic(wire, input, cuts, options, Ok((&again, rest)));
                }
            }
            Err(error) => {
                // The contents are unspecified but valid.
                let _ = options.decode_into(input, older);
                encoded(older);
                if let Some(wire) = dynamic {
                    check_dynamic(wire, input, cuts, options, Err(&error));
                }
            }
        }
    }
}

/// The builder schema and the derived codec decode the same value or report the same error, and write the same bytes.
fn check_builder(input: &[u8]) {
    let builder = owned();
    for options in options() {
        let built = builder.decode_with::<Owned>(options, input);
        if let Ok((value, _)) = &built {
            assert_eq!(builder.to_vec(value).expect("decoded values can be encoded"), encoded(value));
        }
        assert_eq!(outcome(built), outcome(options.decode(input)));
    }
}

/// Decodes a borrowed value from a slice and from a stream.
fn check_borrowed(input: &[u8], cuts: &[u8]) {
    for options in options() {
        let mut decoder = Decoder::with_options(Chunks::new(input, cuts), options);
        match (bounded(input, || options.decode::<Borrowed<'_>>(input)), decoder.decode::<Borrowed<'_>>()) {
            (Ok((value, _)), Ok(Some(streamed))) => assert_eq!(value, streamed),
            (Err(error), Ok(None)) => assert!(error.is_unexpected_end() && input.is_empty(), "{error}"),
            (one, other) => assert!(one.is_err() && other.is_err()),
        }
    }
}

/// A view has the contents of the owned value, and allocates nothing.
pub fn check_view(input: &[u8]) {
    for options in options() {
        let (usage, view) = usage(|| options.decode::<View<'_>>(input));
        let owned = options.decode::<Owned>(input);
        let (view, owned) = match (view, owned) {
            (Ok((view, rest)), Ok((owned, other))) => {
                assert_eq!(rest, other);
                (view, owned)
            }
            (Err(view), Err(owned)) => {
                assert_eq!((view.offset(), view.path()), (owned.offset(), owned.path()));
                // A view needs no memory, so a length that only memory limits exceeds the input.
                let is_memory = owned.is_limit() && view.is_unexpected_end();
                assert!(is_memory || view.to_string() == owned.to_string(), "{view} in place, {owned} owned");
                continue;
            }
            (view, owned) => panic!("{view:?} in place, {owned:?} owned"),
        };
        assert_eq!(usage.count, 0);
        assert_view_eq(&view, &owned);
        if options == Options::new() {
            // The bytes of a view also contain the fields that an evolve struct of a newer version has.
            let again = encoded(&view);
            let again = decode_exact::<Owned>(&again).expect("the owned value has the same wire type");
            assert_eq!(encoded(&again), encoded(&owned));
        }
    }
}

fn record(view: RecordRef<'_>) -> Record {
    fn part(view: PartRef<'_>) -> Part {
        Part { number: view.number, parts: view.parts.iter().map(part).collect() }
    }
    Record {
        id: view.id,
        notes: view.notes.iter().map(str::to_owned).collect(),
        parts: view.parts.iter().map(part).collect(),
        rank: view.rank,
    }
}

/// Compares a view with the owned value, element by element.
pub fn assert_view_eq(view: &View<'_>, owned: &Owned) {
    assert_eq!(view.text, owned.text);
    assert!(view.numbers.iter().eq(owned.numbers.iter().copied()));
    assert!(view.doubles.iter().map(f64::to_bits).eq(owned.doubles.iter().map(|number| number.to_bits())));
    assert!(view.flags.iter().eq(owned.flags.iter().copied()));
    assert!(view.names.iter().eq(owned.names.iter()));
    assert_eq!(view.nested.len(), owned.nested.len());
    for (view, owned) in view.nested.iter().zip(&owned.nested) {
        assert!(view.iter().eq(owned.iter()));
    }
    assert!(view.options.iter().eq(owned.options.iter().copied()));
    assert!(view.map.iter().eq(owned.map.iter().map(|(key, value)| (key.as_str(), *value))));
    for (key, _) in &owned.map {
        let last = owned.map.iter().rfind(|(other, _)| other == key).map(|(_, value)| *value);
        assert_eq!(view.map.get(key.as_str()), last);
    }
    let inner = view.inner.iter().map(|inner| Inner {
        number: inner.number,
        text: inner.text.to_owned(),
        flag: inner.flag,
    });
    assert!(inner.eq(owned.inner.iter().cloned()));
    assert!(view.records.iter().map(record).eq(owned.records.iter().cloned()));
    for index in 0..=owned.numbers.len() {
        assert_eq!(view.numbers.get(index), owned.numbers.get(index).copied());
    }
    for index in 0..=owned.names.len() {
        assert_eq!(view.names.get(index), owned.names.get(index).map(String::as_str));
    }
    for index in 0..=owned.options.len() {
        assert_eq!(view.options.get(index), owned.options.get(index).copied());
    }
}

/// Any bytes: nothing panics, memory is proportional to the input, all decoders agree, and decoded values survive a
/// round trip.
pub fn check_bytes(input: &[u8], cuts: &[u8]) {
    let dynamics = dynamics();
    check_owned(input, cuts, &mut Material(input).everything(), Some(&dynamics.everything));
    check_owned(input, cuts, &mut Material(input).node(2), Some(&dynamics.node));
    check_owned(input, cuts, &mut Frame::Nothing, Some(&dynamics.frame));
    check_owned(input, cuts, &mut Named::One(1), Some(&dynamics.named));
    // Its map preserves duplicate keys, which the run-time wire type does not.
    check_owned(input, cuts, &mut Material(input).owned(), None);
    check_builder(input);
    check_borrowed(input, cuts);
    check_view(input);
    let _ = decode_exact::<Vec<Node>>(input);
}

/// A value made of any bytes survives a round trip, and the bytes after it in the input are not consumed.
fn check_value<T: DecodeOwned + Encode>(value: &T, cuts: &[u8], older: &mut T, dynamic: Option<&Dynamic>) {
    let bytes = encoded(value);
    let mut slice = vec![0; bytes.len()];
    assert_eq!(encode_to_slice(value, &mut slice).expect("there is room"), bytes.len());
    assert_eq!(slice, bytes);
    check_owned(&bytes, cuts, older, dynamic);
    let decoded = decode_exact::<T>(&bytes).expect("encoded bytes can be decoded");
    assert_eq!(encoded(&decoded), bytes);
    let followed = [bytes.as_slice(), &[1, 2, 3]].concat();
    let (_, rest) = tightwire_parco::decode::<T>(&followed).expect("trailing bytes are ignored");
    assert_eq!(rest, [1, 2, 3]);
    let mut stream = Decoder::new(Chunks::new(&followed, cuts));
    let decoded = stream.decode::<T>().expect("encoded bytes can be decoded").expect("there is a message");
    assert_eq!(encoded(&decoded), bytes);
    assert_eq!(stream.into_inner().bytes, [1, 2, 3]);
}

/// Values made of any bytes survive round trips through every encoder and decoder.
pub fn check_round_trip(input: &[u8], cuts: &[u8]) {
    let mut material = Material(input);
    let value = material.everything();
    let node = material.node(6);
    let owned = material.owned();
    let named = material.named(8);
    let dynamics = dynamics();
    check_value(&value, cuts, &mut material.everything(), Some(&dynamics.everything));
    check_value(&node, cuts, &mut material.node(4), Some(&dynamics.node));
    check_value(&named, cuts, &mut Named::Other(Vec::new()), Some(&dynamics.named));
    check_value(&owned, cuts, &mut Owned::default(), None);
    let bytes = encoded(&owned);
    check_view(&bytes);
    let view = decode_exact::<View<'_>>(&bytes).expect("the view has the same wire type");
    assert_view_eq(&view, &owned);
    assert_eq!(encoded(&view), bytes);
}

/// Every prefix of an encoded value is reported as too short.
pub fn check_prefixes<'de, T: Decode<'de>>(bytes: &'de [u8]) {
    for len in 0..bytes.len() {
        assert_too_short(tightwire_parco::decode::<T>(&bytes[..len]), len, bytes.len());
    }
}

/// At least the reported number of bytes is missing.
pub fn assert_too_short<T>(result: Result<T, Error>, len: usize, complete: usize) {
    let Err(error) = result else { panic!("{len} bytes are enough") };
    assert!(error.is_unexpected_end(), "{error}");
    assert!(error.offset().is_some_and(|offset| offset <= len), "{error}");
    let missing = error.missing().expect("the error has a number of missing bytes");
    assert!(missing > 0 && len + missing <= complete, "{error}: {missing} after {len}");
}
