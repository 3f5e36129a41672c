//! Every strict prefix of a message is reported as too short, by every decoder.
#![cfg(all(feature = "std", feature = "derive"))]

use proptest::prelude::*;
use tightwire_parco::{DecodeOwned, Decoder, Encode, decode_exact, to_vec};

use crate::support::checks::{assert_too_short, check_prefixes};
use crate::support::messages::{Borrowed, Material, View};

fn check<T: DecodeOwned + Encode>(value: &T) {
    let bytes = to_vec(value).unwrap();
    check_prefixes::<T>(&bytes);
    for len in 1..bytes.len() {
        assert_too_short(Decoder::new(&bytes[..len]).decode::<T>(), len, bytes.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn prefixes_are_reported_as_too_short(material in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut material = Material(&material);
        check(&material.everything());
        check(&material.node(4));
        check(&material.named(4));
        let owned = material.owned();
        check(&owned);
        let bytes = to_vec(&owned).unwrap();
        check_prefixes::<View<'_>>(&bytes);
    }
}

#[test]
fn prefixes_of_borrowed_values_are_reported_as_too_short() {
    let value = Borrowed {
        text: "text",
        bytes: b"bytes",
        cow: "cow".into(),
        names: vec!["a", "bc", ""],
        map: [("key", Some("value")), ("other", None)].into(),
        cows: vec![b"moo".into()],
    };
    let bytes = to_vec(&value).unwrap();
    assert_eq!(decode_exact::<Borrowed<'_>>(&bytes).unwrap(), value);
    check_prefixes::<Borrowed<'_>>(&bytes);
}

/// The number of missing bytes includes everything that the header determines.
#[test]
fn number_of_missing_bytes_is_reported() {
    for (bytes, missing) in [
        (&b""[..], 1),
        (b"\x85", 1),
        // Five strings need at least five headers.
        (b"\x05", 5),
        (b"\x05\x03ab", 2),
        (b"\x02\x03ab", 1),
        (b"\x02\x03abc", 1),
        (b"\x02\x03abc\x80", 1),
        (b"\x02\x03abc\x80\x01", 128),
    ] {
        let error = decode_exact::<Vec<String>>(bytes).unwrap_err();
        assert_eq!(error.missing(), Some(missing), "{bytes:?}");
    }
    assert_eq!(decode_exact::<[u32; 4]>(&[0; 5]).unwrap_err().missing(), Some(11));
}
