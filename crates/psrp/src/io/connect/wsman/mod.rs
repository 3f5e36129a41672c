//! PowerShell over WS-Management.
//!
//! `soap` writes request envelopes and `response` parses responses, with `xml` and `fault`; none of them does I/O.
//! `http` sends envelopes. For NTLM and Kerberos, `connection_pool` authenticates connections with `negotiate` and
//! `bindings`, and `encryption` has the format of encrypted messages. `session` has the operations of a service, and
//! `transport` maps packets to operations.

#[cfg(feature = "negotiate")]
mod bindings;
mod config;
#[cfg(feature = "negotiate")]
mod connection_pool;
mod credentials;
#[cfg(feature = "negotiate")]
mod encryption;
mod fault;
mod http;
mod messages;
#[cfg(feature = "negotiate")]
mod negotiate;
mod response;
mod session;
mod soap;
mod target;
mod transport;
mod xml;

pub use config::Wsman;
pub use credentials::WsmanCredentials;
pub use fault::WsmanFault;
pub use response::WsmanShell;
pub use transport::WsmanTransport;
