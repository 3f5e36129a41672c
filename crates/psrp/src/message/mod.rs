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

mod header;
mod host_info;
mod metadata;
mod payload;
mod pipeline;
mod pool;
mod session;

pub use header::{Destination, Message, MessageHeader, MessageType};
pub use host_info::{HostDefaultData, HostInfo};
pub use metadata::{CommandMetadata, GetCommandMetadata, ParameterMetadata};
pub use payload::Payload;
pub use pipeline::{
    Command, CommandParameter, CreatePipeline, MergeTarget, PipelineResultTypes, PowerShell,
    RemoteStreamOptions,
};
pub use pool::{
    Availability, GetAvailableRunspaces, PipelineState, PipelineStateInfo, ResetRunspaceState,
    RunspaceAvailability, RunspacePoolState, RunspacePoolStateInfo, SetMaxRunspaces, SetMinRunspaces,
    UserEvent,
};
pub use session::{
    ApartmentState, ApplicationPrivateData, ConnectRunspacePool, EncryptedSessionKey, InitRunspacePool,
    PrimitiveDictionary, PublicKey, RunspaceLimits, SessionCapability, ThreadOptions,
};
