//! A server that speaks the Perplexity API, with scripted faults, for tests of clients.
//!
//! ```
//! use tightwire_perplexity_mock::{Answer, Config, Mock, Rule, Scenario};
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use std::time::Duration;
//!
//! let retried = Rule::new("/v1/models")
//!     .answer(Answer::rate_limited(Duration::from_millis(20)).times(1))
//!     .answer(Answer::api());
//! let mock = Mock::start_blocking(Scenario::api().rule(retried), Config::default())?;
//!
//! // A client is given `mock.url()`. This one retries at once.
//! let request = "GET /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k\r\nConnection: close\r\n\r\n";
//! let mut statuses = Vec::new();
//! for _ in 0..2 {
//!     let mut stream = TcpStream::connect(mock.address())?;
//!     stream.write_all(request.as_bytes())?;
//!     let mut answer = String::new();
//!     stream.read_to_string(&mut answer)?;
//!     statuses.push(answer[9..12].to_owned());
//! }
//! assert_eq!(statuses, ["429", "200"]);
//! assert_eq!(mock.requests()[1].path(), "/v1/models");
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
//! - A body past [`Config::max_body_size`] is refused, the record keeps [`Config::max_requests`] with at most
//!   [`Config::max_record_bytes`], and the API the newest 1,000 objects of each kind with at most 256 MiB.
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
