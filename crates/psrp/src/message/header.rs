//! The 40 bytes in front of the data of a message.

use uuid::Uuid;

use super::MessageType;
use crate::error::{Error, Kind};

/// Some writers put it in front of the data; readers ignore it.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Who a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// The side that opened the pool.
    Client,
    /// The side that runs it.
    Server,
}

impl Destination {
    const fn id(self) -> u32 {
        match self {
            Self::Client => 1,
            Self::Server => 2,
        }
    }
}

/// The header of a message (MS-PSRP 2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageHeader {
    /// Who the message is for.
    pub destination: Destination,
    /// What it is about.
    pub message_type: MessageType,
    /// The runspace pool, all zero as long as a server does not know it.
    pub pool_id: Uuid,
    /// The pipeline, or `None`, which is all zero on the wire, for the pool itself.
    pub pipeline_id: Option<Uuid>,
}

impl MessageHeader {
    /// How many bytes a header takes.
    pub const LEN: usize = 40;

    /// The header as bytes: numbers and the first three parts of identifiers are little-endian.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.destination.id().to_le_bytes());
        bytes[4..8].copy_from_slice(&self.message_type.id().to_le_bytes());
        bytes[8..24].copy_from_slice(&self.pool_id.to_bytes_le());
        bytes[24..].copy_from_slice(&self.pipeline_id.unwrap_or_default().to_bytes_le());
        bytes
    }

    /// Reads a header.
    ///
    /// # Errors
    ///
    /// Fails if the destination is neither client nor server ([`Error::is_invalid_header`]). Unknown types are kept.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let destination = match u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) {
            1 => Destination::Client,
            2 => Destination::Server,
            _ => return Err(Error::with(Kind::InvalidHeader, "destination of a message").or_offset(0)),
        };
        let id = |at: usize| {
            let mut id = [0; 16];
            id.copy_from_slice(&bytes[at..at + 16]);
            Uuid::from_bytes_le(id)
        };
        let pipeline_id = id(24);
        Ok(Self {
            destination,
            message_type: MessageType::from_id(u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])),
            pool_id: id(8),
            pipeline_id: (!pipeline_id.is_nil()).then_some(pipeline_id),
        })
    }
}

/// A message as it travels in fragments: a header, and data that is CLIXML or empty.
///
/// ```
/// use psrp::message::{Destination, Message, MessageHeader, MessageType};
///
/// let header = MessageHeader {
///     destination: Destination::Server,
///     message_type: MessageType::PipelineInput,
///     pool_id: uuid::Uuid::new_v4(),
///     pipeline_id: Some(uuid::Uuid::new_v4()),
/// };
/// let mut bytes = Vec::new();
/// Message { header, data: b"<I32>5</I32>" }.encode(&mut bytes);
/// assert_eq!(Message::decode(&bytes)?, Message { header, data: b"<I32>5</I32>" });
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message<'a> {
    /// Who it is for and what it is about.
    pub header: MessageHeader,
    /// One element of CLIXML in UTF-8; empty for [`MessageType::EndOfPipelineInput`], and for the output of `$null`.
    pub data: &'a [u8],
}

impl<'a> Message<'a> {
    /// Splits a message into header and data, without a byte order mark if there is one.
    ///
    /// # Errors
    ///
    /// Fails if there are less than 40 bytes ([`Error::is_unexpected_end`]) or if the destination is neither client nor
    /// server ([`Error::is_invalid_header`]).
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Error> {
        let Some((header, data)) = bytes.split_first_chunk() else {
            return Err(Error::with(Kind::UnexpectedEnd, "header of a message").or_offset(bytes.len() as u64));
        };
        Ok(Self { header: MessageHeader::from_bytes(header)?, data: data.strip_prefix(BOM).unwrap_or(data) })
    }

    /// Appends the message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(MessageHeader::LEN + self.data.len());
        out.extend_from_slice(&self.header.to_bytes());
        out.extend_from_slice(self.data);
    }

    /// Appends the message with a byte order mark in front of its data, the way PowerShell writes it. It reads both.
    pub fn encode_with_bom(&self, out: &mut Vec<u8>) {
        out.reserve(MessageHeader::LEN + BOM.len() + self.data.len());
        out.extend_from_slice(&self.header.to_bytes());
        out.extend_from_slice(BOM);
        out.extend_from_slice(self.data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: MessageHeader = MessageHeader {
        destination: Destination::Client,
        message_type: MessageType::PipelineOutput,
        pool_id: Uuid::from_u128(0x00112233_4455_6677_8899_aabbccddeeff),
        pipeline_id: None,
    };

    #[test]
    fn identifiers_have_the_byte_order_of_net() {
        let bytes = HEADER.to_bytes();
        assert_eq!(&bytes[..8], [1, 0, 0, 0, 4, 0x10, 4, 0]);
        assert_eq!(&bytes[8..24], b"\x33\x22\x11\x00\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff");
        assert_eq!(&bytes[24..], [0; 16]);
        assert_eq!(MessageHeader::from_bytes(&bytes).unwrap(), HEADER);
    }

    #[test]
    fn every_shorter_input_is_refused() {
        let bytes = HEADER.to_bytes();
        for end in 0..bytes.len() {
            let error = Message::decode(&bytes[..end]).unwrap_err();
            assert!(error.is_unexpected_end());
            assert_eq!(error.offset(), Some(end as u64));
        }
        assert_eq!(Message::decode(&bytes).unwrap().data, b"");
    }

    #[test]
    fn other_destinations_are_refused() {
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
        assert_eq!(Message::decode(&bytes).unwrap().data, BOM);
    }
}
