//! The proxy as an HTTP service.

mod access;
mod body;
mod exposition;
mod health;
mod meter;
mod metrics;
mod process;
mod respond;
mod route;
mod server;
mod service;
mod status;

pub use body::Body;
pub use server::{Server, ServerConfig};
pub use service::{Config, Proxy};
