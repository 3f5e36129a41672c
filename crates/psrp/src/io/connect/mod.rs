//! Connections to servers.

mod child;
#[cfg(any(unix, windows))]
mod socket;
mod stderr;
#[cfg(feature = "wsman")]
mod wsman;

pub use child::{Child, ChildTransport};
#[cfg(any(unix, windows))]
pub use socket::Socket;
#[cfg(feature = "wsman")]
pub use wsman::{Wsman, WsmanCredentials, WsmanFault, WsmanShell, WsmanTransport};
