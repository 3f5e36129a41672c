//! Messages: the header, and what each type of message carries.
//!
//! A [`Message`] is a header and data; a [`Payload`] is what the data mean.

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
