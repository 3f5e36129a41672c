//! Any bytes as a message: what is read is written as it was, but for a byte order mark.
#![no_main]

use psrp::message::Message;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    if let Ok(message) = Message::decode(input) {
        let mut plain = Vec::new();
        message.encode(&mut plain);
        let mut marked = Vec::new();
        message.encode_with_bom(&mut marked);
        assert!(plain == input || marked == input);
        assert_eq!(Message::decode(&marked).unwrap(), message);
    }
});
