//! Message headers, 40 bytes before the data.

use std::fmt;

use uuid::Uuid;

use super::MessageType;
use crate::error::{Error, Kind};

/// Byte order mark that some writers put before the data; readers ignore it.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The recipient of a message (MS-PSRP 2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// The peer that opened the pool.
    Client,
    /// The peer that runs the pool.
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
    /// The recipient.
    pub destination: Destination,
    /// The message type.
    pub message_type: MessageType,
    /// The runspace pool; all zero while the server does not know it.
    pub pool_id: Uuid,
    /// The pipeline, or `None` (all zero on the wire) for messages of the pool itself.
    pub pipeline_id: Option<Uuid>,
}

impl MessageHeader {
    /// Length of a header in bytes.
    pub const LEN: usize = 40;

    /// Encodes the header. Numbers and the first three parts of GUIDs are little-endian.
    #[inline]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let [pool_start, pool_end] = to_words(self.pool_id);
        let [pipeline_start, pipeline_end] = to_words(self.pipeline_id.unwrap_or_default());
        let start = u64::from(self.destination.id()) | u64::from(self.message_type.id()) << 32;
        // Whole words in order stay in registers until they are stored.
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&start.to_le_bytes());
        bytes[8..16].copy_from_slice(&pool_start.to_le_bytes());
        bytes[16..24].copy_from_slice(&pool_end.to_le_bytes());
        bytes[24..32].copy_from_slice(&pipeline_start.to_le_bytes());
        bytes[32..].copy_from_slice(&pipeline_end.to_le_bytes());
        bytes
    }

    /// Decodes a header. Unknown message types are preserved.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_invalid_header`] if the destination is neither client nor server.
    #[inline]
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        let start = word(0);
        let destination = match start as u32 {
            1 => Destination::Client,
            2 => Destination::Server,
            _ => return Err(Error::with(Kind::InvalidHeader, "destination of a message").or_offset(0)),
        };
        let pipeline_id = from_words(word(24), word(32));
        Ok(Self {
            destination,
            message_type: MessageType::from_id((start >> 32) as u32),
            pool_id: from_words(word(8), word(16)),
            pipeline_id: (!pipeline_id.is_nil()).then_some(pipeline_id),
        })
    }
}

/// Converts a GUID to .NET's byte order, as two little-endian words.
fn to_words(id: Uuid) -> [u64; 2] {
    let (start, end) = id.as_u64_pair();
    [swap_parts(start).rotate_left(32), end.swap_bytes()]
}

fn from_words(start: u64, end: u64) -> Uuid {
    Uuid::from_u64_pair(swap_parts(start.rotate_left(32)), end.swap_bytes())
}

/// Swaps the second and third part of the GUID in the first word.
const fn swap_parts(word: u64) -> u64 {
    word & 0xFFFF_FFFF_0000_0000 | (word as u32).rotate_left(16) as u64
}

/// A message (MS-PSRP 2.2.1): a header, and data that is CLIXML or empty. Messages are sent in fragments.
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
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Message<'a> {
    /// Recipient, type, pool and pipeline.
    pub header: MessageHeader,
    /// One CLIXML element in UTF-8. Empty for [`MessageType::EndOfPipelineInput`] and for the output `$null`.
    pub data: &'a [u8],
}

impl<'a> Message<'a> {
    /// Splits a message into header and data. A byte order mark before the data is removed.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_unexpected_end`] for less than 40 bytes, and with [`Error::is_invalid_header`] if the
    /// destination is neither client nor server.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Error> {
        let Some((header, data)) = bytes.split_first_chunk() else {
            return Err(Error::with(Kind::UnexpectedEnd, "header of a message").or_offset(bytes.len() as u64));
        };
        Ok(Self { header: MessageHeader::from_bytes(header)?, data: data.strip_prefix(BOM).unwrap_or(data) })
    }

    /// Appends the encoded message.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.reserve(MessageHeader::LEN + self.data.len());
        out.extend_from_slice(&self.header.to_bytes());
        out.extend_from_slice(self.data);
    }

    /// Appends the encoded message with a byte order mark before the data, like PowerShell writes it. It reads both.
    pub fn encode_with_bom(&self, out: &mut Vec<u8>) {
        out.reserve(MessageHeader::LEN + BOM.len() + self.data.len());
        out.extend_from_slice(&self.header.to_bytes());
        out.extend_from_slice(BOM);
        out.extend_from_slice(self.data);
    }
}

/// Shows the length of the data, but not the data, which may be secret.
impl fmt::Debug for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("header", &self.header).field("len", &self.data.len()).finish()
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
        assert_eq!(Message::decode(&bytes).unwrap().data, BOM);
    }
}
