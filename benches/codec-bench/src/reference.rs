//! Unoptimized encoder of the published message in the format of the Go library.
//!
//! Its output is copied in the memory copy row, and compared with the peers that write the same format.

use super::message::Message;

/// Encodes the message, with the map in iteration order.
pub fn parco(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in [&message.name, &message.text] {
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes.extend(message.number.to_le_bytes());
    // The slice and the map have the same header width: one byte if the count fits.
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

/// Returns the smallest message of the shared vectors and its bytes. With a single map entry, the order is unique.
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
    fn reference_matches_the_vector() {
        let (message, bytes) = vector();
        assert_eq!(bytes.len(), 50);
        assert_eq!(parco(&message), bytes);
    }
}
