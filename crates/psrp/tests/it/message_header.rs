//! Headers of messages.

use psrp::message::{Destination, Message, MessageHeader, MessageType};
use uuid::Uuid;

const HEADER: MessageHeader = MessageHeader {
    destination: Destination::Client,
    message_type: MessageType::PipelineOutput,
    pool_id: Uuid::from_u128(0x00112233_4455_6677_8899_aabbccddeeff),
    pipeline_id: None,
};

#[test]
fn truncated_headers_are_rejected() {
    let bytes = HEADER.to_bytes();
    for end in 0..bytes.len() {
        let error = Message::decode(&bytes[..end]).unwrap_err();
        assert!(error.is_unexpected_end());
        assert_eq!(error.offset(), Some(end as u64));
    }
    assert_eq!(Message::decode(&bytes).unwrap().data, b"");
}

#[test]
fn unknown_destinations_are_rejected() {
    for destination in [0, 3, 4, 0x0100_0000] {
        let mut bytes = HEADER.to_bytes();
        bytes[..4].copy_from_slice(&u32::to_le_bytes(destination));
        assert!(MessageHeader::from_bytes(&bytes).unwrap_err().is_invalid_header());
    }
}

#[test]
fn one_byte_order_mark_is_removed() {
    let mut bytes = Vec::new();
    Message { header: HEADER, data: b"<Nil />" }.encode_with_bom(&mut bytes);
    assert_eq!(Message::decode(&bytes).unwrap().data, b"<Nil />");
    bytes.truncate(40);
    bytes.extend(b"\xEF\xBB\xBF\xEF\xBB\xBF");
    assert_eq!(Message::decode(&bytes).unwrap().data, b"\xEF\xBB\xBF");
}

#[test]
fn numbers_and_names_agree() {
    assert_eq!(MessageType::ALL.len(), 31);
    for &kind in MessageType::ALL {
        assert_eq!(MessageType::from_id(kind.id()), kind);
    }
}

#[test]
fn types_of_other_implementations_are_unknown() {
    // Declared but never sent (close, stop), or sent by only one implementation (signal, disconnect).
    for id in [0x0001_0003, 0x0004_1012, 0x0004_1001, 0x0001_000C, 0, u32::MAX] {
        assert_eq!(MessageType::from_id(id), MessageType::Other(id));
        assert_eq!(MessageType::from_id(id).id(), id);
    }
}
