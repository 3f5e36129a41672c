//! Decoded data of all message types (MS-PSRP 2.2.2).

mod command;
mod dictionary;
mod host_info;
mod key;
mod metadata;
mod pipeline;
mod pool;
mod session;
mod state;
mod user_event;

pub use command::{Command, CommandParameter, MergeTarget, PipelineResultTypes};
pub use dictionary::{ApplicationPrivateData, PrimitiveDictionary};
pub use host_info::{HostDefaultData, HostInfo};
pub use key::{EncryptedSessionKey, PublicKey};
pub use metadata::{CommandMetadata, GetCommandMetadata, ParameterMetadata};
pub use pipeline::{CreatePipeline, PowerShell, RemoteStreamOptions};
pub use pool::{
    Availability, GetAvailableRunspaces, ResetRunspaceState, RunspaceAvailability, SetMaxRunspaces,
    SetMinRunspaces,
};
pub use session::{
    ApartmentState, ConnectRunspacePool, InitRunspacePool, RunspaceLimits, SessionCapability, ThreadOptions,
};
pub use state::{PipelineState, PipelineStateInfo, RunspacePoolState, RunspacePoolStateInfo};
pub use user_event::UserEvent;
