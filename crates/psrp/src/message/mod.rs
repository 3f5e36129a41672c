//! Messages: the header (MS-PSRP 2.2.1), and the payload of each message type (MS-PSRP 2.2.2).
//!
//! A [`Message`] is a header and bytes; a [`Payload`] is the decoded data, one Rust type per message type. When
//! decoding, members may be in any order and case, members with a sensible default may be missing, and enumerations may
//! be objects or numbers. Encoded messages have the names, types and order of PowerShell's own client.
//!
//! ```
//! use psrp::clixml::Writer;
//! use psrp::message::{
//!     Command, CreatePipeline, Destination, Message, MessageHeader, Payload, PowerShell,
//! };
//! use uuid::Uuid;
//!
//! let shell = PowerShell::new().command(Command::new("Get-Process").parameter("Name", "pwsh"));
//! let payload = Payload::CreatePipeline(Box::new(CreatePipeline::new(shell)));
//! let header = MessageHeader {
//!     destination: Destination::Server,
//!     message_type: payload.message_type(),
//!     pool_id: Uuid::new_v4(),
//!     pipeline_id: Some(Uuid::new_v4()),
//! };
//! let mut writer = Writer::new();
//! let mut bytes = Vec::new();
//! Message { header, data: payload.encode(&mut writer)? }.encode(&mut bytes);
//!
//! let message = Message::decode(&bytes)?;
//! assert_eq!(Payload::decode(message.header.message_type, message.data)?, payload);
//! # Ok::<(), psrp::Error>(())
//! ```

mod body;
mod header;
mod message_type;
mod payload;

pub use body::{
    ApartmentState, ApplicationPrivateData, Availability, Command, CommandMetadata, CommandParameter,
    ConnectRunspacePool, CreatePipeline, EncryptedSessionKey, GetAvailableRunspaces, GetCommandMetadata,
    HostDefaultData, HostInfo, InitRunspacePool, MergeTarget, ParameterMetadata, PipelineResultTypes,
    PipelineState, PipelineStateInfo, PowerShell, PrimitiveDictionary, PublicKey, RemoteStreamOptions,
    ResetRunspaceState, RunspaceAvailability, RunspaceLimits, RunspacePoolState, RunspacePoolStateInfo,
    SessionCapability, SetMaxRunspaces, SetMinRunspaces, ThreadOptions, UserEvent,
};
pub use header::{Destination, Message, MessageHeader};
pub use message_type::MessageType;
pub use payload::Payload;
