//! Codecs, outcomes and strategies for the tests.

use std::fmt::Debug;
use std::io::BufReader;

use proptest::prelude::*;
use tightwire_json::{ChunkDecoder, Codec, DocumentReader, ErrorDetails as _, Mode, Segment};

/// Returns a codec for every mode. `Mode::Canonical` decodes as `Mode::Strict` does, except for duplicate keys.
pub(crate) fn codecs() -> [Codec; 3] {
    [Mode::Strict, Mode::Compat, Mode::Fast].map(Codec::new)
}

/// Value, or kind and offset of the error.
pub(crate) type Outcome<T> = Result<T, (&'static str, Option<u64>)>;

/// Returns the value, or the kind and offset of the error.
pub(crate) fn outcome<T>(result: tightwire_json::Result<T>) -> Outcome<T> {
    result.map_err(|error| {
        let kinds = [
            (error.is_syntax(), "syntax"),
            (error.is_eof(), "eof"),
            (error.is_data(), "data"),
            (error.is_limit(), "limit"),
            (error.is_encode(), "encode"),
            (error.is_io(), "io"),
        ];
        let kind = kinds.iter().find(|(is_kind, _)| *is_kind).map_or("none", |(_, name)| name);
        (kind, error.offset())
    })
}

/// Returns all documents of an iterator. Bounded, so that a decoder that does not terminate fails the test instead of
/// hanging it.
fn bounded<T: Debug>(
    results: impl Iterator<Item = tightwire_json::Result<T>>,
    chunks: &[&[u8]],
) -> Vec<Outcome<T>> {
    let bound = chunks.concat().len() + 2;
    let outcomes: Vec<_> = results.take(bound).map(outcome).collect();
    assert!(outcomes.len() < bound, "the decoder does not terminate: {outcomes:?}");
    outcomes
}

/// Returns the documents in these chunks.
pub(crate) fn decode_chunks<D: ChunkDecoder>(mut decoder: D, chunks: &[&[u8]]) -> Vec<Outcome<D::Document>>
where
    D::Document: Debug,
{
    let mut rest = chunks.iter().copied();
    let mut chunk: &[u8] = b"";
    let mut ended = false;
    let results = std::iter::from_fn(move || {
        loop {
            if let Some(result) = decoder.next(&mut chunk) {
                return Some(result);
            }
            assert!(chunk.is_empty(), "a part of the chunk was not consumed");
            match rest.next() {
                Some(next) => chunk = next,
                None if std::mem::replace(&mut ended, true) => return None,
                None => return decoder.finish(),
            }
        }
    });
    bounded(results, chunks)
}

/// Returns the documents in `input`, after comparing chunk sizes, readers and streams.
#[track_caller]
pub(crate) fn decode_pieces<D: ChunkDecoder>(
    decoder: impl Fn() -> D,
    input: &[u8],
) -> Vec<Outcome<D::Document>>
where
    D::Document: Debug + PartialEq,
{
    let decoded = test_support::in_pieces(input, |chunks| decode_chunks(decoder(), chunks));
    let read = test_support::in_pieces(input, |chunks| {
        bounded(DocumentReader::new(BufReader::new(test_support::Pieces::new(chunks)), decoder()), chunks)
    });
    assert_eq!(read, decoded);
    #[cfg(feature = "stream")]
    {
        let streamed = test_support::in_pieces(input, |chunks| {
            let bytes: Vec<_> = chunks
                .iter()
                .map(|chunk| std::io::Result::Ok(bytes::Bytes::copy_from_slice(chunk)))
                .collect();
            let stream = tightwire_json::DocumentStream::new(futures_util::stream::iter(bytes), decoder());
            bounded(futures_executor::block_on_stream(stream), chunks)
        });
        assert_eq!(streamed, decoded);
    }
    decoded
}

/// Splits `bytes` into chunks of these lengths and the rest.
pub(crate) fn split<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    for len in lengths {
        let (chunk, rest) = bytes.split_at((*len).min(bytes.len()));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks.push(bytes);
    chunks
}

/// Returns a path as a JSON Pointer (RFC 6901).
pub(crate) fn pointer<K: AsRef<str>>(path: &[Segment<K>]) -> String {
    let token = |segment: &Segment<K>| match segment {
        Segment::Index(index) => format!("/{index}"),
        Segment::Key(key) => format!("/{}", key.as_ref().replace('~', "~0").replace('/', "~1")),
    };
    path.iter().map(token).collect()
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i8>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<u128>().prop_map(|number| number.to_string()),
        any::<f32>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,3})([.][0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
        Just("-0".to_owned()),
        Just("-0.0".to_owned()),
        Just("1e400".to_owned()),
    ]
}

fn string() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        6 => "[a-z]{1,20}",
        1 => "[^\"\\\\\\x00-\\x1f]{0,4}",
        1 => prop::sample::select(vec![
            "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\u2028", "\\ud800", "\\udc00x", "\\b",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..4).prop_map(|parts| format!("\"{}\"", parts.concat()))
}

fn space() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["", "", "", "", " ", "\n", "\t  ", "\r\n        "])
}

/// Documents of all kinds, some with duplicate keys or lone surrogates.
pub(crate) fn document() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned),
        number(),
        string(),
    ];
    let value = leaf.prop_recursive(5, 60, 6, |value| {
        let key = prop_oneof![
            3 => prop::sample::select(vec!["\"a\"", "\"b\"", "\"id\"", "\"name\"", "\"x\\u0079\"", "\"12\""])
                .prop_map(str::to_owned),
            1 => string(),
        ];
        prop_oneof![
            (prop::collection::vec((value.clone(), space()), 0..6), space()).prop_map(|(values, inner)| {
                let values: Vec<_> =
                    values.iter().map(|(value, space)| format!("{space}{value}{space}")).collect();
                format!("[{inner}{}]", values.join(","))
            }),
            (prop::collection::vec((key, value, space()), 0..6), space()).prop_map(|(entries, inner)| {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(key, value, space)| format!("{space}{key}{space}:{space}{value}{space}"))
                    .collect();
                format!("{{{inner}{}}}", entries.join(","))
            }),
        ]
    });
    (space(), value, space()).prop_map(|(before, value, behind)| format!("{before}{value}{behind}"))
}

/// Documents with up to two changed bytes; most are malformed.
pub(crate) fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<prop::sample::Index>(), 0_u8..4, any::<u8>(), any::<prop::sample::Index>());
    (document(), prop::collection::vec(change, 0..3)).prop_map(|(document, changes)| {
        let mut bytes = document.into_bytes();
        for (place, what, byte, structural) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            let byte = if byte < 128 { *structural.get(b"{}[]:,\"\\-0.eE+ tfn\x01\x80\xe2ud") } else { byte };
            match what {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        bytes
    })
}
