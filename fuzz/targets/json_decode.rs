//! Any bytes: decoding neither panics nor hangs, what was decoded survives encoding, and a part of a document ends as
//! a document that was cut off. The first byte chooses the mode.
#![no_main]

use json::{Codec, Mode, Value};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((choice, document)) = input.split_first() else { return };
    let codec = Codec::new([Mode::Strict, Mode::Compat, Mode::Fast][usize::from(choice % 3)]);
    let Ok(value) = codec.from_slice::<Value>(document) else {
        // Without an error the walk over the same bytes as a stream of documents must end as well.
        let mut documents = json::Decoder::with_codec(document, codec);
        while let Ok(Some(_)) = documents.decode::<Value>() {}
        return;
    };
    assert!(codec.is_valid(document));
    let again = codec.to_vec(&value).expect("what was decoded can be encoded");
    let value_again: Value = codec.from_slice(&again).expect("what was encoded can be decoded");
    // Go's form of 1.0 is 1, which is an integer when it comes back.
    if codec.mode() != Mode::Compat {
        assert_eq!(value_again, value);
    }
    assert_eq!(codec.to_vec(&value_again).expect("it was encoded before"), again);
    let pretty = codec.to_vec_pretty(&value, "  ").expect("what was decoded can be encoded");
    assert_eq!(codec.from_slice::<Value>(&pretty).expect("what was encoded can be decoded"), value_again);
});
