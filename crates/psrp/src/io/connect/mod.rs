//! Connections to servers.

mod child;
#[cfg(any(unix, windows))]
mod socket;
mod stderr;

pub use child::{Child, ChildTransport};
#[cfg(any(unix, windows))]
pub use socket::Socket;
