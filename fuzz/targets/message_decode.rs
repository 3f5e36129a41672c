//! Decodes arbitrary bytes as a message with arbitrary limits. Encoding a decoded message must give the same bytes (except
//! for a byte order mark), and its payload must survive a round trip. The first bytes of the input choose the limits.
#![no_main]

use psrp::clixml::{Limits, ReadOptions, WriteOptions, Writer};
use psrp::message::{Message, Payload};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[size, decoded, depth, nodes], input)) = input.split_first_chunk() else { return };
    let Ok(message) = Message::decode(input) else { return };
    let mut plain = Vec::new();
    message.encode(&mut plain);
    let mut marked = Vec::new();
    message.encode_with_bom(&mut marked);
    assert!(plain == input || marked == input);
    assert_eq!(Message::decode(&marked).unwrap(), message);

    let message_type = message.header.message_type;
    // The largest number keeps the default.
    let limited = |limits: Limits, set: fn(Limits, usize) -> Limits, number: u8, unit: usize| {
        if number == u8::MAX { limits } else { set(limits, usize::from(number) * unit) }
    };
    let limits = limited(Limits::new(), Limits::max_size, size, 4);
    let limits = limited(limits, Limits::max_decoded_size, decoded, 64);
    let limits = limited(limits, Limits::max_depth, depth, 1);
    let limits = limited(limits, Limits::max_nodes, nodes, 1);
    let options = ReadOptions::new().limits(limits);
    let Ok(payload) = Payload::decode_with(message_type, message.data, options) else { return };
    assert_eq!(payload.message_type(), message_type);
    // References can make a value too deep to write, or refer to an enclosing object that no longer exists.
    let mut writer = Writer::with_options(WriteOptions::new().max_depth(Limits::MAX_DEPTH));
    let Ok(written) = payload.encode(&mut writer) else { return };
    let again = Payload::decode(message_type, written).expect("what was written can be read");
    assert_eq!(again, payload);
});
