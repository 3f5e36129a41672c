//! Decoded data of all message types (MS-PSRP 2.2.2).

mod command;
mod dictionary;
mod host_info;
mod metadata;
mod pipeline;
mod pool;
mod session;
mod state;

pub use command::{Command, CommandParameter, MergeTarget, PipelineResultTypes};
pub use dictionary::{ApplicationPrivateData, PrimitiveDictionary};
pub use host_info::{HostDefaultData, HostInfo};
pub use metadata::{CommandMetadata, GetCommandMetadata, ParameterMetadata};
pub use pipeline::{CreatePipeline, PowerShell, RemoteStreamOptions};
pub use pool::{
    Availability, GetAvailableRunspaces, ResetRunspaceState, RunspaceAvailability, SetMaxRunspaces,
    SetMinRunspaces, UserEvent,
};
pub use session::{
    ApartmentState, ConnectRunspacePool, EncryptedSessionKey, InitRunspacePool, PublicKey, RunspaceLimits,
    SessionCapability, ThreadOptions,
};
pub use state::{PipelineState, PipelineStateInfo, RunspacePoolState, RunspacePoolStateInfo};
