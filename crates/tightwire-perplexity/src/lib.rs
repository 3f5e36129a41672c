//! Client for the Perplexity API: typed requests and responses, streaming, retries.
//!
//! Use it instead of an OpenAI-compatible client such as async-openai to get the Agent API with its tools, sources and
//! costs, and all other endpoints: search, embeddings, files, batches and skills.
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn example() -> tightwire_perplexity::Result<()> {
//! use tightwire_perplexity::prelude::*;
//!
//! // Reads the API key from PERPLEXITY_API_KEY.
//! let client = Client::from_env()?;
//! let request = responses::Request::new("perplexity/sonar", "Why is the sky blue?").tools([WebSearch::new()]);
//!
//! let response = client.responses().create(&request).await?;
//! println!("{}", response.output_text());
//! for source in response.sources() {
//!     println!("- {}", source.url);
//! }
//!
//! let mut stream = client.responses().stream(&request).await?.text();
//! while let Some(text) = stream.next().await {
//!     print!("{}", text?);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Add it with `cargo add tightwire-perplexity`. A client needs a tokio runtime with its time and I/O drivers enabled;
//! programs without one use `blocking::Client` (feature `blocking`).
//!
//! # Overview
//!
//! - [`Client`] has a method per group of endpoints, see [`resources`]; [`Client::responses`] is the Agent API. They return
//!   a [`Call`]: await it, or first set headers, query parameters, extra body fields, timeouts and retries of this call.
//!   [`Client::request`] calls endpoints without a typed method.
//! - A call returns the decoded response; with [`Call::raw`] also status, headers and raw body; an [`EventStream`]; or
//!   a [`Download`]. [`Call::items`] reads all pages of a list, [`Call::wait`] polls a background job until it ends.
//! - `Responses::parse` (feature `schemars`) requests structured output and decodes it; [`types::DomainFilter`] limits a
//!   web search to domains; [`Call::on_upload`] and [`Wait::on_progress`] report the progress of an upload and of a job.
//! - [`Response::sources`] returns the pages that a response is based on, [`Response::citations`] those that its text cites,
//!   [`Response::function_calls`] the functions to run, and [`Response::to_input`] the items that continue a conversation.
//! - [`EventStream::accumulate`] combines a stream into one response and [`EventStream::text`] returns its text.
//!   [`EventStream::accumulating`] returns chunks, tool arguments and structured output while they arrive, then the
//!   response. [`EventStream::deltas_only`] skips repeated text, and [`EventStream::resuming`] reconnects after a lost
//!   connection.
//! - [`RetryPolicy`] and [`Timeouts`] configure retries and deadlines. [`ClientBuilder::service`] adds tower layers,
//!   for example rate and concurrency limits, or sends through another HTTP client such as hyper-util's.
//! - `blocking::Client` (feature `blocking`) has the same builder, calls and streams, without async.
//! - [`types`] contains all requests and responses. It does no I/O, and is all there is without the feature `client`.
//!   [`prelude`] has the client and the modules of the requests in one import.
//! - [`Client::chat`] and [`Client::async_chat`] are the endpoints of Sonar, which Perplexity ended on 2026-09-27
//!   ([`Error::is_retired`]). [`Request::from_chat`] converts their requests; the README has a table.
//!
//! # Features
//!
//! | feature | description |
//! | --- | --- |
//! | `client` (default) | [`Client`], on reqwest and tokio |
//! | `rustls` (default) | TLS with rustls and aws-lc-rs; https requires this or `rustls-no-provider` |
//! | `rustls-no-provider` | TLS with rustls and a crypto provider installed by the application |
//! | `gzip` (default) | compressed responses, including event streams; `brotli` and `zstd` of reqwest add these encodings |
//! | `http2` (default) | HTTP/2 if TLS negotiates it |
//! | `system-proxy` (default) | proxies of the environment or the platform settings |
//! | `tracing` (default) | a span per call with OpenTelemetry's `gen_ai` attributes |
//! | `blocking` | `blocking::Client`, for programs without an async runtime |
//! | `schemars` | `Responses::parse`: structured output with a schema derived from a Rust type |
//!
//! # Guarantees
//!
//! - Unknown fields, enum values and events never fail decoding.
//! - No error or debug output shows the API key. The client wipes its copy of the key from memory when it is dropped,
//!   but not the header created from it. Of the server's data, error texts contain only the error message (with the
//!   key redacted), the request ID, and field names.
//! - A call spawns no task. Dropping its future or stream cancels it, see [Cancellation](#cancellation).
//! - Calls are retried only before any part of the response was returned. The body is encoded once. A response of the Agent
//!   API, which is billed, is created once, unless [`RetryPolicy::repeat`] says otherwise.
//! - A stream that ends before the response is complete is an error, unless [`EventStream::allow_partial`] is set.
//! - Memory and delays are bounded: [`ClientBuilder::max_body_size`], [`EventStream::with_max_event_size`],
//!   [`RetryPolicy::max_retry_after`].
//!
//! # Cancellation
//!
//! | dropped value | effect |
//! | --- | --- |
//! | a [`Call`] before it is awaited | nothing was sent |
//! | the future of a call | the current attempt is aborted, no further one is sent |
//! | a stream, its iterator, or a [`Download`] | the connection is closed (HTTP/2: the stream is reset) |
//! | [`Items`] | the same for the page that is being requested |
//! | the future of a [`Wait`] | polling stops; the job continues |
//!
//! The server sees a closed connection or a reset at once. What it does then is up to the server: the call may still
//! have an effect, and a cost.
//!
//! # Limits
//!
//! - The attributes of spans (feature `tracing`, target `perplexity`) and the texts of errors may change.
//!
//! [`EventStream`]: stream::EventStream
//! [`EventStream::accumulate`]: stream::EventStream::accumulate
//! [`EventStream::allow_partial`]: stream::EventStream::allow_partial
//! [`EventStream::accumulating`]: stream::EventStream::accumulating
//! [`EventStream::deltas_only`]: stream::EventStream::deltas_only
//! [`EventStream::resuming`]: stream::EventStream::resuming
//! [`EventStream::text`]: stream::EventStream::text
//! [`EventStream::with_max_event_size`]: stream::EventStream::with_max_event_size
//! [`Items`]: pages::Items
//! [`RetryPolicy`]: retry::RetryPolicy
//! [`RetryPolicy::max_retry_after`]: retry::RetryPolicy::max_retry_after
//! [`RetryPolicy::repeat`]: retry::RetryPolicy::repeat
//! [`Request::from_chat`]: types::responses::Request::from_chat
//! [`Response::citations`]: types::responses::Response::citations
//! [`Response::function_calls`]: types::responses::Response::function_calls
//! [`Response::sources`]: types::responses::Response::sources
//! [`Response::to_input`]: types::responses::Response::to_input
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "client"),
    allow(rustdoc::broken_intra_doc_links, reason = "most links need the feature client")
)]

#[cfg(feature = "blocking")]
pub mod blocking;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "client")]
pub mod pages;
pub mod prelude;
#[cfg(feature = "client")]
pub mod resources;
#[cfg(feature = "client")]
pub mod retry;
#[cfg(feature = "client")]
pub mod stream;
pub mod types;
#[cfg(feature = "client")]
mod wait;

#[cfg(feature = "client")]
pub use client::{
    Call, Client, ClientBuilder, Connect, Download, Proxy, ReqwestService, Response, ResponseHead, Timeouts,
};
#[cfg(feature = "client")]
pub use error::{Error, Result, TimeoutPhase};
#[cfg(feature = "client")]
pub use wait::{Job, Wait};

/// Compiles the programs of README.md.
#[cfg(all(doctest, feature = "schemars"))]
#[doc = include_str!("../README.md")]
struct Readme;
