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
//! metrics, status page and purging from pages and files. [`Server::handle`] replaces the proxy while the server runs.

mod access;
mod body;
mod encoded;
mod exposition;
mod file;
mod health;
mod http1;
mod listener;
mod locate;
mod message;
mod metrics;
mod request_metrics;
mod respond;
mod route;
mod server;
mod service;
mod status;
mod stored;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::guard::Guard;

pub use body::ResponseBody;
pub use listener::Listener;
pub use server::{Server, ServerConfig, ServerHandle, Tls};
pub(crate) use service::check_index_name;
pub use service::{Proxy, Scope};

#[cfg(fuzzing)]
pub use http1::parse_head;
#[cfg(fuzzing)]
pub use route::file_name_of_path;

/// Configuration of a [`Proxy`].
#[derive(Clone, Default)]
pub struct Config {
    /// Redirects the client to the upstream if no byte of the file arrived within this time. The download continues in
    /// the background. Zero redirects every request for a file that is not stored. Never redirects to an index with
    /// credentials. Default: never.
    pub redirect_after: Option<Duration>,
    /// Requires this token as `Authorization: Bearer` to purge the cache. Default: none, so that only the listener of
    /// [`Server::admin`] allows it.
    pub admin_token: Option<String>,
    /// Sends all files as `application/octet-stream`. Default: off, the content type depends on the file format.
    pub binary_type: bool,
    /// Time for which clients may reuse a page without a request. Default: 0, they revalidate it.
    pub page_max_age: Duration,
    /// Authenticates clients and limits their requests. `/livez` and `/readyz` stay public. Endpoints that require the
    /// admin token need no other login. Default: no authentication, no limits.
    pub guard: Option<Arc<Guard>>,
}

/// Omits the token.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("redirect_after", &self.redirect_after)
            .field("has_admin_token", &self.admin_token.is_some())
            .field("binary_type", &self.binary_type)
            .field("page_max_age", &self.page_max_age)
            .field("guard", &self.guard)
            .finish()
    }
}
