//! The vectors of CLIXML, as the reader takes them.

mod support;

use std::sync::Arc;

use psrp::clixml::{ReadOptions, Reader};
use psrp::{Error, Value};
use support::vectors::{self, KnownSecrets};

fn read(xml: &str) -> Result<Vec<Value>, Error> {
    let options = ReadOptions::new().cipher(Arc::new(KnownSecrets));
    Reader::with_options(xml.as_bytes(), options).map(|item| item.map(|(_, value)| value)).collect()
}

#[test]
fn documents_are_read_or_refused_as_the_vectors_say() {
    let cases = vectors::decode_cases();
    assert_eq!(cases.len(), 126);
    for case in cases {
        let id = &case.id;
        let values = read(&case.xml);
        if id == "esc_double" {
            // The tree of this case takes the underscore between two escapes for both. By the rule of the format, and
            // for all implementations that were asked, the first escape has it.
            assert_eq!(values.unwrap(), [Value::from("_x005FA")]);
            continue;
        }
        match (case.expect.as_str(), values) {
            ("accept", Ok(values)) => assert_eq!(Some(values), case.values, "{id}"),
            ("reject", Err(error)) => assert!(error.offset().is_some(), "{id}: {error}"),
            ("accept_bounded", Ok(values)) => assert_eq!(values.len(), 1, "{id}"),
            (expect, outcome) => panic!("{id} is to be {expect} and was {outcome:?}"),
        }
    }
}

#[test]
fn what_others_write_is_read_as_the_value() {
    for case in vectors::value_cases() {
        let values = read(&case.reference).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(values, [case.value], "{}", case.id);
    }
}
