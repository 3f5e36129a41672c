//! Connections to servers.

mod child;
#[cfg(any(unix, windows))]
mod socket;
#[cfg(feature = "ssh")]
mod ssh;
#[cfg(feature = "wsman")]
mod wsman;

pub use child::{Child, ChildTransport};
#[cfg(any(unix, windows))]
pub use socket::Socket;
#[cfg(feature = "ssh")]
pub use ssh::{Ssh, SshQuestion, SshTransport};
#[cfg(feature = "wsman")]
pub use wsman::{Wsman, WsmanBufferMode, WsmanCredentials, WsmanFault, WsmanShell, WsmanTransport};
