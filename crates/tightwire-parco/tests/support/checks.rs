//! What holds for any bytes and any value.
//!
//! Property tests and fuzz targets share it. Users have `forms` beside this module.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::io::{self, Read};
use std::sync::OnceLock;

use tightwire_parco::schema::{self, Dynamic, Value};
use tightwire_parco::{
    Decode, DecodeOwned, Decoder, DuplicateKeys, Encode, Error, Limits, Mode, Options, WireExt,
};

use super::forms::{Borrowed, Everything, Frame, Inner, Material, Named, Node, Owned, View};
use test_support::counting::usage;

/// Gives its bytes in pieces of the sizes that `cuts` gives, over and over, with an interruption in front of each
/// piece of size zero.
pub struct Pieces<'a> {
    pub bytes: &'a [u8],
    pub cuts: &'a [u8],
    at: usize,
}

impl<'a> Pieces<'a> {
    pub fn new(bytes: &'a [u8], cuts: &'a [u8]) -> Self {
        Self { bytes, cuts: if cuts.is_empty() { &[1] } else { cuts }, at: 0 }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let cut = usize::from(self.cuts[self.at % self.cuts.len()]);
        self.at += 1;
        // One of two, so that cuts of nothing but zeros come to an end.
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

/// How many times the input's length decoding may ask for, over everything that it asks for: the largest value per
/// byte here is a hash table's slot, and collections grow by doubling.
const PER_BYTE: usize = 256;
/// What an error and the first growth of containers take.
const CONSTANT: usize = 16 << 10;
/// How deep messages may be nested; on each level a count can promise as many elements as bytes follow.
const LEVELS: usize = Limits::MAX_DEPTH as usize;
/// What a count is believed to promise at most.
const BELIEVED: usize = 64 << 10;

fn bounded<T>(input: &[u8], run: impl FnOnce() -> T) -> T {
    let (usage, value) = usage(run);
    let promised = LEVELS * (size_of::<Node>() * input.len()).min(BELIEVED);
    let most = PER_BYTE * input.len() + promised + CONSTANT;
    assert!(usage.bytes <= most, "{usage:?} for {} bytes", input.len());
    value
}

fn encoded<T: Encode>(value: &T) -> Vec<u8> {
    let bytes = tightwire_parco::to_vec(value).expect("what was decoded can be encoded");
    assert_eq!(tightwire_parco::encoded_len(value).expect("what was decoded can be encoded"), bytes.len());
    bytes
}

/// All options that decide what is accepted.
pub fn options() -> [Options; 3] {
    [Options::new(), Options::new().mode(Mode::Compat), Options::new().duplicate_keys(DuplicateKeys::Reject)]
}

/// Limits chosen by five bytes: small ones, those around the size of short inputs, and the defaults.
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

/// Limits below the defaults accept less, with an error of their own, and encoding keeps to the same depth.
fn check_limited<T: DecodeOwned + Encode>(input: &[u8], cuts: &[u8], limits: Limits) {
    let options = Options::new().limits(limits);
    let default = tightwire_parco::decode::<T>(input);
    let limited = bounded(input, || options.decode::<T>(input));
    let mut decoder = Decoder::with_options(Pieces::new(input, cuts), options);
    match (bounded(input, || decoder.decode::<T>()), &limited) {
        (Ok(Some(streamed)), Ok((value, _))) => assert_eq!(encoded(&streamed), encoded(value)),
        (Ok(None), _) => assert!(input.is_empty()),
        (Err(error), Err(_)) => in_input(&error, input),
        // The size of a message that is read from a stream is limited as well.
        (Err(error), Ok(_)) => assert!(error.is_limit(), "{error}"),
        (Ok(Some(_)), Err(error)) => panic!("the stream gives what the slice does not: {error}"),
    }
    match (limited, &default) {
        (Ok((value, rest)), Ok((accepted, other))) => {
            assert_eq!((encoded(&value), rest), (encoded(accepted), *other));
        }
        (Ok(_), Err(error)) => panic!("limits accept more: {error}"),
        (Err(error), Ok(_)) => assert!(error.is_limit(), "{error}"),
        (Err(error), Err(_)) => in_input(&error, input),
    }
    if let Ok((value, _)) = default {
        let bytes = encoded(&value);
        match options.to_vec(&value) {
            Ok(again) => assert_eq!(again, bytes),
            // What is too deep to write is too deep to read.
            Err(error) => {
                assert!(error.is_limit(), "{error}");
                assert!(options.decode_exact::<T>(&bytes).is_err_and(|error| error.is_limit()));
            }
        }
    }
}

/// Any bytes with these limits.
pub fn check_limits(input: &[u8], cuts: &[u8], limits: Limits) {
    check_limited::<Everything>(input, cuts, limits);
    check_limited::<Node>(input, cuts, limits);
    check_limited::<Named>(input, cuts, limits);
    check_limited::<Owned>(input, cuts, limits);
}

/// An error is in the input, and its text can be made.
fn in_input(error: &Error, input: &[u8]) {
    let offset = error.offset().expect("decoding knows where it is");
    assert!(offset <= input.len(), "{error}");
    if let Some(missing) = error.missing() {
        assert!(missing > 0, "{error}");
    }
    assert!(!error.to_string().is_empty());
}

/// The forms of the messages, made from their schemas.
struct Dynamics {
    everything: Dynamic,
    node: Dynamic,
    frame: Dynamic,
    named: Dynamic,
}

fn dynamics() -> &'static Dynamics {
    static DYNAMICS: OnceLock<Dynamics> = OnceLock::new();
    fn of<T: DecodeOwned>() -> Dynamic {
        schema::of_decoded::<T>().compile().expect("derived schemas are in order")
    }
    DYNAMICS.get_or_init(|| Dynamics {
        everything: of::<Everything>(),
        node: of::<Node>(),
        frame: of::<Frame>(),
        named: of::<Named>(),
    })
}

/// A form made from the schema accepts what the derived one accepts, and writes the same bytes.
///
/// The derived one knows of text and of limits of single fields, the other checks the names of zones and has a limit
/// of its own on nesting.
fn check_dynamic(
    form: &Dynamic,
    input: &[u8],
    cuts: &[u8],
    options: Options,
    derived: Result<(&[u8], usize), &Error>,
) {
    let explained = |error: &Error| error.is_invalid_utf8() || error.is_limit();
    match (derived, form.decode_with::<Value>(options, input)) {
        (Ok((bytes, left)), Ok((_, rest))) => {
            assert_eq!(rest.len(), left);
            let value = form.decode_exact::<Value>(bytes).expect("the derived form wrote it");
            assert_eq!(form.to_vec(&value).expect("it was decoded"), bytes);
            assert_eq!(form.encoded_len(&value).expect("it was decoded"), bytes.len());
            let mut stream = Decoder::with_options(Pieces::new(input, cuts), options);
            stream.decode_as::<_, Value>(form).expect("the slice can be decoded").expect("it is not empty");
            assert_eq!(stream.get_ref().bytes.len(), left);
        }
        (Ok(_), Err(error)) => assert!(explained(&error), "{error}"),
        (Err(error), Ok(_)) => assert!(explained(error), "{error}"),
        (Err(_), Err(error)) => in_input(&error, input),
    }
}

/// Decodes a value that owns in all ways that there are, which have to agree.
fn check_owned<T: DecodeOwned + Encode>(input: &[u8], cuts: &[u8], older: &mut T, dynamic: Option<&Dynamic>) {
    for options in options() {
        let from_slice =
            bounded(input, || options.decode::<T>(input).map(|(value, rest)| (value, rest.len())));
        let mut decoder = Decoder::with_options(Pieces::new(input, cuts), options);
        let from_stream = bounded(input, || decoder.decode::<T>());
        let left = decoder.get_ref().bytes.len();
        match (from_slice, from_stream) {
            (Ok((value, rest)), Ok(Some(streamed))) => {
                // The stream stands behind what it walked over.
                assert_eq!(left, rest);
                let again = encoded(&value);
                assert_eq!(encoded(&streamed), again);
                let value =
                    tightwire_parco::decode_exact::<T>(&again).expect("what was encoded can be decoded");
                assert_eq!(encoded(&value), again);
                let message = &input[..input.len() - rest];
                bounded(input, || options.decode_into(message, older)).expect("it was decoded before");
                assert_eq!(encoded(older), again);
                if let Some(form) = dynamic {
                    check_dynamic(form, input, cuts, options, Ok((&again, rest)));
                }
            }
            (Ok(_), Ok(None)) => assert!(input.is_empty()),
            (Err(error), Err(streamed)) => {
                in_input(&error, input);
                in_input(&streamed, input);
                // Whatever it is now, it is a value.
                let _ = options.decode_into(input, older);
                encoded(older);
                if let Some(form) = dynamic {
                    check_dynamic(form, input, cuts, options, Err(&error));
                }
            }
            (Err(error), Ok(None)) => assert!(error.is_unexpected_end() && input.is_empty(), "{error}"),
            (one, other) => {
                panic!("{:?} from the slice, {:?} from the stream", one.map(|_| ()), other.map(|_| ()));
            }
        }
    }
}

/// Decodes a value that borrows from a slice and from a stream.
fn check_borrowed(input: &[u8], cuts: &[u8]) {
    for options in options() {
        let mut decoder = Decoder::with_options(Pieces::new(input, cuts), options);
        match (bounded(input, || options.decode::<Borrowed<'_>>(input)), decoder.decode::<Borrowed<'_>>()) {
            (Ok((value, _)), Ok(Some(streamed))) => assert_eq!(value, streamed),
            (Err(error), Ok(None)) => assert!(error.is_unexpected_end() && input.is_empty(), "{error}"),
            (one, other) => assert!(one.is_err() && other.is_err()),
        }
    }
}

/// A view shows what the owned value has, and takes no memory.
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
                assert_eq!(view.to_string(), owned.to_string());
                continue;
            }
            (view, owned) => panic!("{view:?} in place, {owned:?} owned"),
        };
        assert_eq!(usage.count, 0);
        same(&view, &owned);
        if options == Options::new() {
            assert_eq!(encoded(&view), encoded(&owned));
        }
    }
}

/// Compares a view with the owned value, element by element.
pub fn same(view: &View<'_>, owned: &Owned) {
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

/// Any bytes: nothing panics, memory follows the input, all ways of decoding agree, and what was decoded survives
/// encoding.
pub fn check_bytes(input: &[u8], cuts: &[u8]) {
    let dynamics = dynamics();
    check_owned(input, cuts, &mut Material(input).everything(), Some(&dynamics.everything));
    check_owned(input, cuts, &mut Material(input).node(2), Some(&dynamics.node));
    check_owned(input, cuts, &mut Frame::Nothing, Some(&dynamics.frame));
    check_owned(input, cuts, &mut Named::One(1), Some(&dynamics.named));
    // Its map keeps keys that come twice, which no form made from a schema does.
    check_owned(input, cuts, &mut Material(input).owned(), None);
    check_borrowed(input, cuts);
    check_view(input);
    let _ = tightwire_parco::decode_exact::<Vec<Node>>(input);
}

/// A value made of any bytes survives encoding, and what follows it in the input is left alone.
fn check_value<T: DecodeOwned + Encode>(value: &T, cuts: &[u8], older: &mut T, dynamic: Option<&Dynamic>) {
    let bytes = encoded(value);
    let mut slice = vec![0; bytes.len()];
    assert_eq!(tightwire_parco::encode_to_slice(value, &mut slice).expect("there is room"), bytes.len());
    assert_eq!(slice, bytes);
    check_owned(&bytes, cuts, older, dynamic);
    let decoded = tightwire_parco::decode_exact::<T>(&bytes).expect("what was encoded can be decoded");
    assert_eq!(encoded(&decoded), bytes);
    let followed = [bytes.as_slice(), &[1, 2, 3]].concat();
    let (_, rest) = tightwire_parco::decode::<T>(&followed).expect("what follows is not looked at");
    assert_eq!(rest, [1, 2, 3]);
    let mut stream = Decoder::new(Pieces::new(&followed, cuts));
    let decoded = stream.decode::<T>().expect("what was encoded can be decoded").expect("there is a message");
    assert_eq!(encoded(&decoded), bytes);
    assert_eq!(stream.into_inner().bytes, [1, 2, 3]);
}

/// Values made of any bytes survive encoding and decoding in every way.
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
    let view = tightwire_parco::decode_exact::<View<'_>>(&bytes).expect("the view has the same form");
    same(&view, &owned);
    assert_eq!(encoded(&view), bytes);
}

/// Every prefix of an encoded value is too short, whoever reads it.
pub fn check_prefixes<'de, T: Decode<'de>>(bytes: &'de [u8]) {
    for len in 0..bytes.len() {
        let Err(error) = tightwire_parco::decode::<T>(&bytes[..len]) else {
            panic!("{len} bytes are enough")
        };
        assert!(error.is_unexpected_end(), "{error}");
        let offset = error.offset().expect("decoding knows where it is");
        let missing = error.missing().expect("the end says what is missing");
        assert!(offset <= len, "{error}");
        // What is missing is missing: the message is not shorter than that.
        assert!(missing > 0 && len + missing <= bytes.len(), "{error}: {missing} after {len}");
    }
}
