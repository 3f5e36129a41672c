//! Messages: the header (MS-PSRP 2.2.1), and what each type of message carries (MS-PSRP 2.2.2).
//!
//! A [`Message`] is a header and data; a [`Payload`] is what the data mean, one type for each type of message. Members
//! may come in any order and case, those that have a sensible default may be missing, and enumerations may be objects
//! or plain numbers. What is written has the names, types and order that PowerShell's own client uses.
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
pub use message_type::{Layer, MessageType};
pub use payload::Payload;
