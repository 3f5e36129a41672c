//! The wire format of the original for the published message, field by field without any care for speed.
//!
//! It is what the memory copy copies, and what peers that are set up for the same bytes are compared with.

use super::message::Message;

/// The message in the wire format, its map in the order of iteration.
pub fn parco(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in [&message.name, &message.text] {
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes.extend(message.number.to_le_bytes());
    // One header serves the slice and the map: a byte where the count fits.
    let wide = message.values.len() > usize::from(u8::MAX);
    let header = |bytes: &mut Vec<u8>, count: usize| {
        let count = (count as u16).to_le_bytes();
        bytes.extend(if wide { &count[..] } else { &count[..1] });
    };
    header(&mut bytes, message.values.len());
    bytes.extend(message.values.iter().flat_map(|value| value.to_le_bytes()));
    header(&mut bytes, message.map.len());
    for (key, &value) in &message.map {
        bytes.push(key.len() as u8);
        bytes.extend(key.as_bytes());
        bytes.push(value);
    }
    bytes.push(u8::from(message.flag));
    bytes.extend(message.float32.to_le_bytes());
    bytes.extend(message.float64.to_le_bytes());
    bytes
}

/// The smallest message of the vectors that all programs share, and its bytes. A single entry leaves no choice of order.
#[cfg(test)]
pub(super) fn vector() -> (Message, Vec<u8>) {
    let message = Message {
        name: "small size".to_owned(),
        text: "oh hi Mark".to_owned(),
        number: 42,
        values: vec![1, 2, 3],
        map: std::collections::HashMap::from([("0".to_owned(), 9)]),
        flag: true,
        float32: f32::MAX,
        float64: f64::MAX,
    };
    let bytes = [
        &b"\x0a\0small size\x0a\0oh hi Mark\x2a\0"[..],
        b"\x03\x01\0\x02\0\x03\0",
        b"\x01\x010\x09",
        b"\x01\xff\xff\x7f\x7f\xff\xff\xff\xff\xff\xff\xef\x7f",
    ];
    (message, bytes.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_gives_the_bytes_of_the_vector() {
        let (message, bytes) = vector();
        assert_eq!(bytes.len(), 50);
        assert_eq!(parco(&message), bytes);
    }
}
