//! The proxy as an HTTP service.

mod access;
mod answer;
mod body;
mod coded;
mod exposition;
mod health;
mod http1;
mod meter;
mod metrics;
mod process;
mod refuse;
mod respond;
mod route;
mod server;
mod service;
mod status;
mod tls;

pub use body::Body;
#[doc(hidden)]
pub use http1::parse_head;
pub use server::{Server, ServerConfig};
pub use service::{Config, Proxy};
pub use tls::Tls;
