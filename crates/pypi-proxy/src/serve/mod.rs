//! The proxy as an HTTP service.

mod access;
mod body;
mod respond;
mod route;
mod server;
mod service;

pub use body::Body;
pub use server::{Server, ServerConfig};
pub use service::{Config, Proxy};
