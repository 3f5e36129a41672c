//! Connections to servers.

mod child;
#[cfg(feature = "ssh")]
mod ssh;
mod stderr;

pub use child::{Child, ChildTransport};
#[cfg(feature = "ssh")]
pub use ssh::{Ssh, SshQuestion, SshTransport};
