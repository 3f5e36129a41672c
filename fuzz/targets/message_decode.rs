//! Any bytes as a message: what is read is written as it was, but for a byte order mark; and what its data mean survives
//! writing.
#![no_main]

use psrp::clixml::{Limits, WriteOptions, Writer};
use psrp::message::{Message, Payload};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok(message) = Message::decode(input) else { return };
    let mut plain = Vec::new();
    message.encode(&mut plain);
    let mut marked = Vec::new();
    message.encode_with_bom(&mut marked);
    assert!(plain == input || marked == input);
    assert_eq!(Message::decode(&marked).unwrap(), message);

    let message_type = message.header.message_type;
    let Ok(payload) = Payload::decode(message_type, message.data) else { return };
    assert_eq!(payload.message_type(), message_type);
    // Values that only references make too deep, and those that refer to what is gone, can't be written.
    let mut writer = Writer::with_options(WriteOptions::new().max_depth(Limits::MAX_DEPTH));
    let Ok(written) = payload.encode(&mut writer) else { return };
    let again = Payload::decode(message_type, written).expect("what was written can be read");
    assert_eq!(again, payload);
});
