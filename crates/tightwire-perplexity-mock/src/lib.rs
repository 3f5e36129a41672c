//! Mock server of the Perplexity API with fault injection, for client tests.
//!
//! ```
//! use tightwire_perplexity_mock::{MockResponse, Config, Mock, Rule, Scenario};
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use std::time::Duration;
//!
//! let retried = Rule::new("/v1/models")
//!     .respond(MockResponse::rate_limited(Duration::from_millis(20)).times(1))
//!     .respond(MockResponse::api());
//! let mock = Mock::start_blocking(Scenario::api().rule(retried), Config::default())?;
//!
//! // Point the client at `mock.url()`. This one retries at once.
//! let request = "GET /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer pplx-0123456789abcdef0123456789abcdef\r\nConnection: close\r\n\r\n";
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
//! # Overview
//!
//! - The built-in API implements every endpoint: jobs advance with each poll, uploads can be listed and
//!   downloaded, streams can be resumed. Responses depend only on the requests, not on a clock or
//!   random numbers.
//! - [`Rule`]s override it, in code or in [scenario files](Scenario::from_toml), and inject connection faults
//!   at a given byte: delays, stalls, resets, closes, a wrong `Content-Length`.
//! - [`Scenario::default`] defines named cases that a request selects with the header `x-mock-case`. The
//!   program `perplexity-mock` serves it.
//! - Requests are recorded; requests and connections are counted.
//!
//! # Guarantees
//!
//! - Fields, types and statuses of the responses match the recorded traffic of the official SDKs.
//! - The same requests in the same order get the same responses.
//! - Memory is bounded: request bodies above [`Config::max_body_size`] are rejected, the record holds at most
//!   [`Config::max_requests`] requests and [`Config::max_record_bytes`] bytes, and the API stores the newest
//!   1,000 objects of each type, at most 256 MiB.
//!
//! # Limits
//!
//! - No HTTP/2, TLS or compression, and no `Date` header.
//! - Response texts may change between versions.

/// Compiles the program of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod api;
mod error;
mod event;
mod file;
mod log;
mod mock_response;
mod playback;
mod request;
mod rule;
mod scenario;
mod server;
mod service;
mod socket;

pub use error::{Error, Result};
pub use event::Event;
pub use log::Counts;
pub use mock_response::{Effect, MockResponse, Position};
pub use request::Request;
pub use rule::Rule;
pub use scenario::{Auth, Scenario};
pub use server::{Config, Mock};
