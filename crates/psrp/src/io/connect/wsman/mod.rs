//! Sessions over WS-Management.
//!
//! `soap` and `answer` write and read envelopes, `xml` and `fault` what is inside of these; none does I/O. `http` carries
//! them, with `channel`, `negotiate` and `seal` for what Windows authenticates and encrypts by itself. `session` has the
//! operations, and `transport` makes packets of them.

mod answer;
#[cfg(feature = "negotiate")]
mod channel;
mod config;
mod fault;
mod http;
#[cfg(feature = "negotiate")]
mod negotiate;
mod opening;
#[cfg(feature = "negotiate")]
mod seal;
mod session;
mod soap;
mod target;
mod transport;
mod xml;

pub use answer::WsmanShell;
pub use config::{Wsman, WsmanCredentials};
pub use fault::WsmanFault;
pub use transport::WsmanTransport;
