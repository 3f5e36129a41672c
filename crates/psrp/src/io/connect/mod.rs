//! Connections to servers.

mod child;
mod stderr;
#[cfg(feature = "wsman")]
mod wsman;

pub use child::{Child, ChildTransport};
#[cfg(feature = "wsman")]
pub use wsman::{Wsman, WsmanCredentials, WsmanFault, WsmanShell, WsmanTransport};
