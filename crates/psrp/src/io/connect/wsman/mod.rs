//! PowerShell over WS-Management.
//!
//! `soap` writes request envelopes and `response` parses responses, with `xml` and `fault`; none of them does I/O.
//! `http` sends envelopes. For NTLM and Kerberos, `connection_pool` authenticates connections with `negotiate` and
//! `bindings`, and `encryption` has the format of encrypted messages. `session` has the operations of a service, and
//! `transport` maps packets to operations.

mod response;
#[cfg(feature = "negotiate")]
mod bindings;
#[cfg(feature = "negotiate")]
mod connection_pool;
mod config;
mod credentials;
mod fault;
mod http;
#[cfg(feature = "negotiate")]
mod negotiate;
mod messages;
#[cfg(feature = "negotiate")]
mod encryption;
mod session;
mod soap;
mod target;
mod transport;
mod xml;

pub use response::WsmanShell;
pub use config::Wsman;
pub use credentials::WsmanCredentials;
pub use fault::WsmanFault;
pub use transport::WsmanTransport;
