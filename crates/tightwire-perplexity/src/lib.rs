//! Client for the Perplexity API: typed requests and answers, streams, retries.
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn example() -> tightwire_perplexity::Result<()> {
//! use tightwire_perplexity::Client;
//! use tightwire_perplexity::types::chat::Request;
//!
//! // The key is in the environment, as PERPLEXITY_API_KEY.
//! let client = Client::from_env()?;
//! let request = Request::new("sonar", "Why is the sky blue?");
//!
//! let answer = client.chat().create(&request).await?;
//! println!("{}", answer.text().unwrap_or_default());
//!
//! let mut stream = client.chat().stream(&request).await?;
//! while let Some(part) = stream.next().await {
//!     print!("{}", part?.delta().unwrap_or_default());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What there is
//!
//! - [`types`]: all requests and answers, without any I/O. They are all there is without the feature `client`.
//! - [`Client`], and [`resources`] with the endpoints. A request becomes a [`Call`]: await it, or set headers, query,
//!   further members of the body, time limits and retries of this one call before.
//! - What a call gives: the answer; with [`Call::raw`] also status, headers and bytes; an [`EventStream`]; a
//!   [`Download`]. [`Call::items`] follows the pages of a list, [`Call::wait`] asks until a job has ended.
//! - [`EventStream::accumulate`] puts a streamed answer together, [`EventStream::text`] gives its text,
//!   [`deltas_only`](EventStream::deltas_only) passes over what parts repeat, [`resuming`](EventStream::resuming)
//!   survives lost connections.
//! - [`Client::request`] for endpoints that have no method.
//! - [`RetryPolicy`] and [`Timeouts`]; [`ClientBuilder::service`] for layers of tower between client and network, such
//!   as limits of rate and concurrency; [`RateLimits`], which answers and errors have, for what the server tells about
//!   its own.
//! - `blocking::Client` (feature `blocking`) for programs without a runtime.
//!
//! # Features
//!
//! | feature | what it brings |
//! | --- | --- |
//! | `client` (default) | [`Client`] and all that does I/O, on reqwest and tokio |
//! | `rustls` (default) | TLS by rustls with aws-lc-rs; https needs this or the next one |
//! | `rustls-no-provider` | TLS by rustls with a provider of cryptography that the program installs |
//! | `gzip` (default), `brotli`, `zstd` | compressed answers, event streams included |
//! | `http2` (default) | HTTP/2 where TLS negotiates it |
//! | `system-proxy` (default) | proxies of the environment or the settings of the platform |
//! | `tracing` (default) | a span per call with the names of OpenTelemetry's `gen_ai` conventions |
//! | `blocking` | `blocking::Client`, for programs without a runtime |
//! | `extra` | members of answers that have no field are kept, see [`types::Extra`] |
//!
//! # What is promised
//!
//! - Unknown members, values and events never fail decoding.
//! - No error and no debug output shows the key. The client's copy of it is wiped from memory when the client goes
//!   away, the header that was made of it is not. Of what a server sends, the text of an error has the message of a
//!   error_response or of a failure within a stream, from which the key is taken out, the request id, and names of members.
//! - A call starts no task. Dropping its future or its stream cancels it.
//! - Calls are repeated only before anything of their answer was handed out, and the body is encoded once.
//! - A stream that ends before the answer is complete is an error, unless [`EventStream::allow_partial`] is chosen.
//! - Bodies and events have a limit ([`ClientBuilder::max_body_size`], [`EventStream::with_max_event_size`]), and so
//!   have waits that a server asks for ([`RetryPolicy::max_retry_after`]).
//!
//! # What is not
//!
//! - A future that is dropped between attempts may have had an effect on the server.
//! - Traces (feature `tracing`, target `perplexity`) and the texts of errors may change.
//! - A client needs a tokio runtime with its time and I/O drivers.
#![cfg_attr(
    not(feature = "client"),
    allow(rustdoc::broken_intra_doc_links, reason = "most of what the page describes needs the client")
)]

#[cfg(feature = "blocking")]
pub mod blocking;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "client")]
mod pages;
#[cfg(feature = "client")]
pub mod resources;
#[cfg(feature = "client")]
mod retry;
#[cfg(feature = "client")]
mod stream;
pub mod types;
#[cfg(feature = "client")]
mod wait;

#[cfg(feature = "client")]
pub use client::{
    ResponseType, Call, Client, ClientBuilder, Connect, Download, Events, File, Json, Discard, PathStyle, Proxy,
    Quota, RateLimits, Raw, Response, ResponseHead, RetryEvent, Timeouts, Undecoded,
};
#[cfg(feature = "client")]
pub use error::{ApiError, Error, Result, TimeoutPhase};
#[cfg(feature = "client")]
pub use pages::{Items, Page, Pages};
#[cfg(feature = "client")]
pub use retry::{LongRetryAfter, Jitter, Outcome, Repeat, RetryBudget, RetryPolicy};
#[cfg(feature = "client")]
pub use stream::{Accumulate, EventStream, Malformed, ResumingStream, StreamItem, TextStream, TokenUsage};
#[cfg(feature = "client")]
pub use wait::{Job, Wait};
