//! Message headers, 40 bytes before the data, and message types.

use std::fmt;

use uuid::Uuid;

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
    /// Recipient: client or server.
    pub destination: Destination,
    /// Type of the data after the header.
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

macro_rules! message_types {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// The type of a message (MS-PSRP 2.2.1). Unknown types are preserved as numbers. Numbers in parentheses are
        /// sections of MS-PSRP.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MessageType {
            $($(#[$doc])* $name,)*
            /// An unknown type; values from [`MessageType::from_id`] use it only for unknown numbers.
            Other(u32),
        }

        impl MessageType {
            /// All known types in ascending order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the type with this number.
            pub const fn from_id(id: u32) -> Self {
                match id {
                    $($id => Self::$name,)*
                    _ => Self::Other(id),
                }
            }

            /// Returns the number of the type.
            pub const fn id(self) -> u32 {
                match self {
                    $(Self::$name => $id,)*
                    Self::Other(id) => id,
                }
            }
        }
    };
}

impl MessageType {
    /// Returns whether the message starts the pipeline that it is sent to.
    pub(crate) const fn starts_pipeline(self) -> bool {
        matches!(self, Self::CreatePipeline | Self::GetCommandMetadata)
    }
}

message_types! {
    /// Client and server: versions and capabilities (2.2.2.1). The first message.
    SessionCapability = 0x0001_0002,
    /// Client: opens a pool (2.2.2.2).
    InitRunspacePool = 0x0001_0004,
    /// Client: public key to encrypt the session key (2.2.2.3).
    PublicKey = 0x0001_0005,
    /// Server: session key, encrypted with the public key (2.2.2.4).
    EncryptedSessionKey = 0x0001_0006,
    /// Server: requests the public key (2.2.2.5). Not sent since protocol 2.2.
    PublicKeyRequest = 0x0001_0007,
    /// Client: connects to a disconnected pool (2.2.2.29). Since protocol 2.2.
    ConnectRunspacePool = 0x0001_0008,
    /// Client: sets the maximum number of runspaces (2.2.2.6).
    SetMaxRunspaces = 0x0002_1002,
    /// Client: sets the minimum number of runspaces (2.2.2.7).
    SetMinRunspaces = 0x0002_1003,
    /// Server: response to the four requests of a pool (2.2.2.8).
    RunspaceAvailability = 0x0002_1004,
    /// Server: state of the pool (2.2.2.9).
    RunspacePoolState = 0x0002_1005,
    /// Client: starts a pipeline (2.2.2.10).
    CreatePipeline = 0x0002_1006,
    /// Client: requests the number of available runspaces (2.2.2.11).
    GetAvailableRunspaces = 0x0002_1007,
    /// Server: event of the remote session (2.2.2.12).
    UserEvent = 0x0002_1008,
    /// Server: application data, including the version table (2.2.2.13).
    ApplicationPrivateData = 0x0002_1009,
    /// Client: starts a pipeline that lists commands (2.2.2.14). Since protocol 2.1.
    GetCommandMetadata = 0x0002_100A,
    /// Server: number of runspaces of a pool that a client connected to (2.2.2.30). Since protocol 2.2.
    RunspacePoolInitData = 0x0002_100B,
    /// Client: resets the runspace of the pool (2.2.2.31). Since protocol 2.3.
    ResetRunspaceState = 0x0002_100C,
    /// Server: calls a method of the client's host on behalf of the pool (2.2.2.15).
    RunspacePoolHostCall = 0x0002_1100,
    /// Client: response to a call of the pool (2.2.2.16).
    RunspacePoolHostResponse = 0x0002_1101,
    /// Client: input object of a pipeline (2.2.2.17).
    PipelineInput = 0x0004_1002,
    /// Client: end of the input of a pipeline (2.2.2.18). Has no data.
    EndOfPipelineInput = 0x0004_1003,
    /// Server: output object of a pipeline (2.2.2.19).
    PipelineOutput = 0x0004_1004,
    /// Server: error record (2.2.2.20).
    ErrorRecord = 0x0004_1005,
    /// Server: state of a pipeline (2.2.2.21).
    PipelineState = 0x0004_1006,
    /// Server: debug record (2.2.2.22).
    DebugRecord = 0x0004_1007,
    /// Server: verbose record (2.2.2.23).
    VerboseRecord = 0x0004_1008,
    /// Server: warning record (2.2.2.24).
    WarningRecord = 0x0004_1009,
    /// Server: progress record (2.2.2.25).
    ProgressRecord = 0x0004_1010,
    /// Server: information record (2.2.2.26). Since protocol 2.3.
    InformationRecord = 0x0004_1011,
    /// Server: calls a method of the client's host on behalf of a pipeline (2.2.2.27).
    PipelineHostCall = 0x0004_1100,
    /// Client: response to a call of a pipeline (2.2.2.28).
    PipelineHostResponse = 0x0004_1101,
}
