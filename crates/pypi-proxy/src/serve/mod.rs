//! HTTP service of the proxy.
//!
//! A proxy of one index that runs until the process ends:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use pypi_proxy::page_cache::{self, PageCache};
//! use pypi_proxy::serve::{self, Proxy, Server, ServerConfig};
//! use pypi_proxy::store::{self, Store};
//! use pypi_proxy::upstream::{self, Upstream};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let index = Arc::new(Upstream::new(upstream::Config::new("https://packages.example.org/simple/")?)?);
//! let store = Store::open(store::Config::new("cache"))?;
//! let config = page_cache::Config { dir: Some(store.pages_dir()), ..Default::default() };
//! let pages = PageCache::new(vec![index.clone()], config);
//! let proxy = Proxy::new(vec![index], pages, store, serve::Config::default());
//! let listener = tokio::net::TcpListener::bind(("127.0.0.1", 5000)).await?;
//! Server::new(proxy, ServerConfig::default()).serve(listener, std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Proxy::handle`] responds to requests of any other HTTP server. [`Server::admin`] and [`Proxy::handle_in`] separate
//! metrics, status page and purging from pages and files.

mod access;
mod body;
mod config;
mod encoded;
mod exposition;
mod health;
mod http1;
mod message;
mod metrics;
mod process;
mod reject;
mod request_metrics;
mod respond;
mod route;
mod server;
mod service;
mod state;
mod status;
mod target;
mod tls;

pub use body::ResponseBody;
pub use config::Config;
#[doc(hidden)]
pub use http1::parse_head;
pub use server::{Server, ServerConfig};
pub use service::{Proxy, Scope};
pub use tls::Tls;
