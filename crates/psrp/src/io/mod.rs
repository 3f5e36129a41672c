//! Sessions over anything that carries bytes, on tokio: what the state machines of [`client`](crate::client) and
//! [`server`](crate::server) need to talk to real peers. Servers are in [`serve`].

mod client;
mod connect;
mod host;
mod hosts;
mod lines;
pub mod serve;
mod transport;

pub use client::{Options, Output, Pipeline, PipelineHandle, PoolEvent, PoolEvents, RunspacePool};
#[cfg(any(unix, windows))]
pub use connect::Socket;
pub use connect::{Child, ChildTransport};
#[cfg(feature = "ssh")]
pub use connect::{Ssh, SshQuestion, SshTransport};
#[cfg(feature = "wsman")]
pub use connect::{Wsman, WsmanCredentials, WsmanFault, WsmanShell, WsmanTransport};
pub use host::{Host, HostFuture};
#[cfg(feature = "console")]
pub use hosts::{ConsoleHost, ConsoleOptions};
pub use hosts::{NullHost, ScriptedCall, ScriptedHost};
pub use lines::Lines;
pub use transport::{Connect, Transport};
