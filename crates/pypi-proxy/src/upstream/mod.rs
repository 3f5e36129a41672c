//! HTTP client for upstream indexes.

mod budget;
mod client;
mod config;
mod metrics;
mod response;
mod url_policy;

pub use budget::Budget;
pub(crate) use budget::Reservation;
pub use client::Upstream;
pub(crate) use client::tls;
pub use config::Config;
pub(crate) use metrics::{Condition, Fault, RequestKind};
pub use response::{FileBody, PageBody, PageResponse, Validators};
