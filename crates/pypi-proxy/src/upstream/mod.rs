//! Indexes that the proxy asks.

mod answer;
mod budget;
mod client;
mod config;
mod meter;
mod place;

pub use answer::{Answer, Body, PageBody, Validators};
pub use budget::Budget;
pub(crate) use budget::Share;
pub use client::Upstream;
pub use config::Config;
pub(crate) use meter::{Asked, Condition, Fault};
