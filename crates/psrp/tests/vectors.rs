//! The vectors of CLIXML.

mod support;

use std::sync::Arc;

use psrp::clixml::{WriteOptions, Writer};
use support::vectors::{KnownSecrets, value_cases};

#[test]
fn values_are_written_as_powershell_does() {
    let mut writer = Writer::with_options(WriteOptions::new().cipher(Arc::new(KnownSecrets)));
    let cases = value_cases();
    assert_eq!(cases.len(), 178);
    for case in cases {
        let written = writer.write(&case.value).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(str::from_utf8(written), Ok(&*case.reference), "{}", case.id);
    }
}
