//! JSONTestSuite, for every mode and entry point.

use std::fs;
use std::path::PathBuf;

use serde::de::IgnoredAny;
use tightwire_json::{Codec, RawValue, Value};

use crate::support;

pub(crate) fn cases() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/json-test-suite/test_parsing");
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
        })
        .collect();
    cases.sort();
    assert!(cases.len() >= 318, "the suite has 318 cases, found {}", cases.len());
    cases
}

/// Returns, per entry point, whether it accepts the document. All must agree.
fn accepted(codec: &Codec, document: &[u8]) -> Vec<(&'static str, bool)> {
    let mut decoder = tightwire_json::Decoder::with_codec(document, *codec);
    let mut stream = || -> tightwire_json::Result<bool> {
        Ok(decoder.decode::<IgnoredAny>()?.is_some() && decoder.decode::<IgnoredAny>()?.is_none())
    };
    let text = [b"\x1e", document, b"\n"].concat();
    let texts = tightwire_json::TextSequenceDecoder::<IgnoredAny>::with_codec(*codec);
    let texts: Vec<_> = tightwire_json::DocumentReader::new(&text[..], texts).collect();
    vec![
        ("text sequence", matches!(texts[..], [Ok(_)])),
        ("ignored", codec.from_slice::<IgnoredAny>(document).is_ok()),
        ("raw", codec.from_slice::<Box<RawValue>>(document).is_ok()),
        ("validate", codec.is_valid(document)),
        ("stream", stream().unwrap_or(false)),
    ]
}

#[test]
fn required_cases_are_accepted_or_rejected() {
    let mut deviations = Vec::new();
    for (name, document) in cases() {
        let expected = match name.as_bytes()[0] {
            b'y' => true,
            b'n' => false,
            _ => continue,
        };
        for codec in support::codecs() {
            let mut results = accepted(&codec, &document);
            results.push(("value", codec.from_slice::<Value>(&document).is_ok()));
            for (entry, is_accepted) in results {
                // A stream accepts several documents in a row.
                if is_accepted != expected && (expected || entry != "stream") {
                    deviations.push(format!("{name} {codec:?} {entry}: {is_accepted}"));
                }
            }
        }
    }
    assert!(deviations.is_empty(), "{}", deviations.join("\n"));
}

#[test]
fn all_entry_points_agree_on_optional_cases() {
    for (name, document) in cases() {
        if !name.starts_with("i_") {
            continue;
        }
        for codec in support::codecs() {
            let expected = codec.is_valid(&document);
            for (entry, is_accepted) in accepted(&codec, &document) {
                assert_eq!(is_accepted, expected, "{name} {codec:?} {entry}");
            }
        }
    }
}

#[test]
fn strict_and_fast_report_the_same_errors() {
    for (name, document) in cases() {
        let [strict, fast] = [Codec::strict(), Codec::fast()]
            .map(|codec| support::outcome(codec.from_slice::<Value>(&document)));
        assert_eq!(strict, fast, "{name}");
    }
}
