//! CLIXML conformance vectors, decoded and encoded.

use std::sync::Arc;

use psrp::clixml::{ReadOptions, Reader, WriteOptions, Writer};
use psrp::{Error, Value};

use crate::support::vectors::{self, KnownSecrets};

fn read(xml: &str) -> Result<Vec<Value>, Error> {
    let options = ReadOptions::new().cipher(Arc::new(KnownSecrets));
    Reader::with_options(xml.as_bytes(), options).map(|item| item.map(|(_, value)| value)).collect()
}

#[test]
fn decode_vectors_are_accepted_or_rejected() {
    let cases = vectors::decode_cases();
    assert_eq!(cases.len(), 126);
    for case in cases {
        let id = &case.id;
        let values = read(&case.xml);
        match (case.expect.as_str(), values) {
            ("accept", Ok(values)) => assert_eq!(Some(values), case.values, "{id}"),
            ("reject", Err(error)) => assert!(error.offset().is_some(), "{id}: {error}"),
            ("accept_bounded", Ok(values)) => assert_eq!(values.len(), 1, "{id}"),
            (expect, outcome) => panic!("{id} is to be {expect} and was {outcome:?}"),
        }
    }
}

#[test]
fn encodings_of_other_implementations_are_read() {
    for case in vectors::value_cases() {
        let values = read(&case.reference).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(values, [case.value], "{}", case.id);
    }
}

#[test]
fn values_are_written_like_powershell() {
    let mut writer = Writer::with_options(WriteOptions::new().cipher(Arc::new(KnownSecrets)));
    let cases = vectors::value_cases();
    assert_eq!(cases.len(), 178);
    for case in cases {
        let written = writer.write(&case.value).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(str::from_utf8(written), Ok(&*case.written()), "{}", case.id);
    }
}
