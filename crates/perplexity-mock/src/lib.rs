//! A server that speaks the Perplexity API, with scripted faults, for tests of clients.
//!
//! ```
//! use perplexity_mock::{Answer, Mock, Rule, Scenario};
//! use std::time::Duration;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let retried = Rule::new("/chat/completions")
//!     .answer(Answer::rate_limited(Duration::from_millis(20)).times(2))
//!     .answer(Answer::api());
//! let mock = Mock::start(Scenario::api().rule(retried)).await?;
//!
//! // A client is given `mock.url()`, and afterwards:
//! for request in mock.requests() {
//!     assert_eq!(request.path(), "/chat/completions");
//! }
//! # Ok::<(), perplexity_mock::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What there is
//!
//! - The built-in API: every endpoint, with state. Jobs advance from poll to poll, uploads can be listed and read,
//!   streams can be resumed. Answers depend on the requests alone: no clock, no chance.
//! - [`Rule`]s that answer in its place, in code or from [scenario files](Scenario::from_toml), and faults of the
//!   connection at a chosen byte: waits, stalls, resets, closes, a wrong `Content-Length`.
//! - [`Scenario::default`]: a set of named cases, which a request chooses with the header `x-mock-case`. The program
//!   `perplexity-mock` serves it.
//! - A record of the requests, and counts of requests and connections.
//!
//! # What is promised
//!
//! - Members, types and statuses of the API's answers are those that the API's clients were recorded with.
//! - The same requests in the same order get the same answers.
//! - A body past [`Config::max_body_bytes`] is refused, the record keeps [`Config::max_requests`] with at most
//!   [`Config::max_record_bytes`], and the API the newest 1,000 objects of each kind and 256 MiB of files.
//!
//! # What is not
//!
//! - HTTP/2, TLS and compression. No `Date` header is sent.
//! - The texts of the answers may change.

mod answer;
mod api;
mod error;
mod event;
mod fault;
mod file;
mod log;
mod pattern;
mod playback;
mod reply;
mod request;
mod rule;
mod scenario;
mod server;
mod service;
mod wire;

pub use answer::Answer;
pub use error::{Error, Result};
pub use event::Event;
pub use fault::{Effect, Position};
pub use log::Counts;
pub use request::Request;
pub use rule::Rule;
pub use scenario::{Auth, Scenario};
pub use server::{Config, Mock};
