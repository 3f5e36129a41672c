//! Parses text in random chunks with random limits. Every chunking must have the same result, which must be that of the
//! strict decoder unless a limit is exceeded. The first bytes of the input set the limits and the chunk sizes.
#![no_main]

use tightwire_json::partial::Parser;
use tightwire_json::{Codec, ErrorDetails as _, Limits, Value};

/// Value, or kind (syntax, EOF, data, limit) and offset of the error.
type Outcome = Result<String, (bool, bool, bool, bool, Option<u64>)>;

fn outcome(result: tightwire_json::Result<Value>) -> Outcome {
    // `Debug` distinguishes -0 from 0, `==` does not.
    result.map(|value| format!("{value:?}")).map_err(|error| {
        (error.is_syntax(), error.is_eof(), error.is_data(), error.is_limit(), error.offset())
    })
}

/// Pushes the text in chunks of the given sizes, repeated, and queries the parser after each.
fn parse(text: &str, sizes: &[u8], limits: Limits) -> tightwire_json::Result<Value> {
    let mut parser = Parser::with_limits(limits);
    let mut rest = text.as_bytes();
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, next) = rest.split_at(usize::from(*size).clamp(1, rest.len()));
        match str::from_utf8(chunk) {
            Ok(text) if size % 2 == 0 => parser.push(text)?,
            _ => parser.push_bytes(chunk)?,
        }
        let incomplete = parser.incomplete();
        assert_eq!(incomplete.is_some() && parser.value().is_some(), parser.value().is_some() && !parser.is_final(""));
        assert!(incomplete.is_none_or(|incomplete| incomplete.path.len() <= Limits::MAX_DEPTH));
        rest = next;
    }
    parser.finish()
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[depth, size, string, ref sizes @ ..], document)) = input.split_first_chunk::<7>() else { return };
    let document = String::from_utf8_lossy(document);
    // 255 means no limit.
    let limit = |number: u8, unit: usize| if number == u8::MAX { usize::MAX } else { usize::from(number) * unit };
    let limits = Limits::new().max_depth(limit(depth, 1)).max_document(limit(size, 4)).max_string(limit(string, 1));

    let parsed = outcome(parse(&document, sizes, limits));
    assert_eq!(outcome(parse(&document, &[u8::MAX], limits)), parsed);
    assert_eq!(outcome(parse(&document, &[1], limits)), parsed);
    let strict = outcome(Codec::strict().with_limits(limits).from_str(&document));
    // The parser stops at the first error of the text, before it knows the size of the document or of a string.
    let is_limit = |outcome: &Outcome| matches!(outcome, Err((_, _, _, true, _)));
    assert!(parsed == strict || parsed.is_err() && (is_limit(&parsed) || is_limit(&strict)), "{parsed:?} {strict:?}");
});
