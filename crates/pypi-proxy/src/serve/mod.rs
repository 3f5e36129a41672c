//! The proxy as an HTTP service.
//!
//! A proxy of one index, which serves until the process ends:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use pypi_proxy::pages::{self, Pages};
//! use pypi_proxy::serve::{self, Proxy, Server, ServerConfig};
//! use pypi_proxy::store::{self, Store};
//! use pypi_proxy::upstream::{self, Upstream};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let index = Arc::new(Upstream::new(upstream::Config::new("https://packages.example.org/simple/")?)?);
//! let store = Store::open(store::Config::new("cache"))?;
//! let pages = Pages::new(vec![index.clone()], pages::Config::new().dir(store.pages_dir()));
//! let proxy = Proxy::new(vec![index], pages, store, serve::Config::new());
//! let listener = tokio::net::TcpListener::bind(("127.0.0.1", 5000)).await?;
//! Server::new(proxy, ServerConfig::new()).serve(listener, std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Proxy::answer`] answers the requests of any other HTTP server. [`Server::admin`] and [`Proxy::answer_in`] keep metrics,
//! status and purging apart from pages and files.

mod access;
mod answer;
mod body;
mod coded;
mod config;
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
pub use config::Config;
#[doc(hidden)]
pub use http1::parse_head;
pub use server::{Server, ServerConfig};
pub use service::{Proxy, Scope};
pub use tls::Tls;
