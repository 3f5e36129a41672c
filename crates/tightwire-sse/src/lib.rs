//! Server-sent events (SSE): a decoder that follows the WHATWG standard, an encoder, and a reconnecting client.
//!
//! Use it instead of `eventsource-stream`, `reqwest-eventsource` or a hand-written parser to read the responses of LLM
//! APIs and other event streams, and to send them from a server.
//!
//! With the features `reqwest` and `json`, a `reqwest` response becomes a stream of events. An error has the status, the
//! headers and the body of a response that is not an event stream:
//!
//! ```
//! # #[cfg(all(feature = "json", feature = "reqwest"))]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use futures_util::TryStreamExt;
//! use tightwire_sse::ResponseExt;
//!
//! let response = reqwest::Client::new()
//!     .post("https://api.example.org/v1/chat/completions")
//!     .body(r#"{"model": "m", "stream": true, "messages": []}"#)
//!     .send()
//!     .await?;
//! let mut events = response.events();
//! while let Some(event) = events.try_next().await? {
//!     if event.is_done() {
//!         break;
//!     }
//!     println!("{}: {}", event.event_type(), event.data());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Add it with `cargo add tightwire-sse --features reqwest,json`.
//!
//! A request becomes a client that reconnects:
//!
//! ```
//! # #[cfg(feature = "reqwest")]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use futures_util::TryStreamExt;
//! use tightwire_sse::RequestBuilderExt;
//!
//! let mut source = reqwest::Client::new().get("https://example.org/prices").event_source()?;
//! let mut events = source.events();
//! while let Some(event) = events.try_next().await? {
//!     println!("{}: {}", event.event_type(), event.data());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Without any feature, [`Decoder`] decodes chunks from any source, and [`SseEvent`] encodes events:
//!
//! ```
//! use tightwire_sse::{Decoder, SseEvent};
//!
//! let mut wire = Vec::new();
//! SseEvent::new().event("token").data("Hello").encode(&mut wire)?;
//!
//! let mut decoder = Decoder::new();
//! let mut chunk = wire.as_slice();
//! let event = decoder.next(&mut chunk)?.expect("the chunk has one event");
//! assert_eq!((event.event_type(), event.data()), ("token", "Hello"));
//! # Ok::<(), tightwire_sse::Error>(())
//! ```
//!
//! # Overview
//!
//! | input | use | feature |
//! | --- | --- | --- |
//! | `reqwest::Response` | [`ResponseExt::events`] | `reqwest` |
//! | `reqwest::RequestBuilder`, with reconnection | [`RequestBuilderExt::event_source`] | `reqwest` |
//! | URL or request, with reconnection and options | [`EventSource`] | `reqwest` |
//! | `Stream` of chunks, such as the body of a response | [`EventStreamExt::sse`] | `futures` |
//! | MCP server over Streamable HTTP | [`EventSourceBuilder::send_mcp`], [`McpSession`] | `reqwest` |
//! | `std::io::Read` | [`Reader`] | `std` (default) |
//! | `tokio::io::AsyncRead` | [`SseCodec`] | `codec` |
//! | chunks of `Bytes`, sharing their memory | [`BytesDecoder`] | `bytes` |
//! | chunks from any source | [`Decoder`] | none |
//!
//! | other features | adds |
//! | --- | --- |
//! | `json` | `.json::<T>()` on events, readers and streams, and `[DONE]` handling |
//! | `body` | [`SseBody`]: HTTP body that encodes a stream of [`SseEvent`]s and sends keep-alive comments |
//! | `replay` | [`ReplayChannel`]: sends events to many connections, which resume with `Last-Event-ID` |
//! | `compat-eventsource-stream` | [`compat`]: the names and types of eventsource-stream |
//! | `compat-reqwest-eventsource` | [`compat`]: the names and types of reqwest-eventsource |
//!
//! Without `std`, the crate only requires `alloc`.
//!
//! # Limits
//!
//! An event may have up to 16 MiB, see [`Config::max_event_size`]. A larger one is an error, and decoding continues
//! with the next event. The decoder has no other limit: memory is bounded by the size of one event, time is linear in
//! the length of the input. [`EventSourceBuilder`] has the limits and timeouts of the client. A `ReplayBuffer`
//! has up to 1024 events and 4 MiB by default.
//!
//! # Guarantees
//!
//! - The events are those of the WHATWG HTML standard, section 9.2 "Server-sent events", and do not depend on the
//!   chunks. A line that ends with CR is complete without waiting for an LF.
//! - Every other input is accepted: unknown fields are ignored and invalid UTF-8 is replaced.
//! - An event that is in one chunk and has one data line is decoded without allocation.
//! - Events before an error are returned before it.
//!
//! The standard drops an incomplete event at the end of the input: [`Ending::Strict`] and [`Decoder::finish`]. By
//! default, adapters that do not reconnect return it. The wording of errors and the sizes of reused buffers are not part of the API.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

/// Compiles the programs of README.md.
#[cfg(all(doctest, feature = "reqwest"))]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "body")]
mod body;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "reqwest")]
mod client;
#[cfg(feature = "codec")]
mod codec;
#[cfg(feature = "compat-eventsource-stream")]
pub mod compat {
    //! Drop-in replacements for other event-stream crates.

    pub mod eventsource_stream;
    #[cfg(feature = "compat-reqwest-eventsource")]
    pub mod reqwest_eventsource;
}
mod config;
mod decoder;
mod encode;
mod error;
mod event;
#[cfg(feature = "json")]
mod json;
mod line;
#[cfg(feature = "std")]
mod reader;
#[cfg(feature = "replay")]
mod replay;
mod scan;
#[cfg(feature = "futures")]
mod stream;

#[cfg(feature = "bytes")]
pub use self::bytes::{BytesDecoder, EventBytes};
#[cfg(feature = "body")]
pub use body::{DEFAULT_KEEP_ALIVE, DEFAULT_SHUTDOWN_EVENTS, SseBody, response_headers};
#[cfg(feature = "reqwest")]
pub use client::{
    Backoff, EventSource, EventSourceBuilder, Events, IdleTimer, Jitter, McpReply, McpSession, Message,
    ReadyState, RequestBuilderExt, ResponseEvents, ResponseExt, retry_after, without_urls,
};
#[cfg(feature = "codec")]
pub use codec::SseCodec;
#[cfg(any(feature = "std", feature = "futures"))]
pub use config::Ending;
pub use config::{Config, DEFAULT_MAX_EVENT_SIZE, Overflow};
pub use decoder::Decoder;
pub use encode::{KEEP_ALIVE, SseEvent};
pub use error::{Error, Result};
pub use event::{DEFAULT_EVENT_TYPE, Event, EventBuilder, EventRef, Item};
#[cfg(all(feature = "json", feature = "std"))]
pub use json::JsonReader;
#[cfg(all(feature = "json", feature = "futures"))]
pub use json::{JsonStream, JsonStreamExt};
#[cfg(feature = "std")]
pub use reader::{DEFAULT_BUFFER_SIZE, Reader};
#[cfg(feature = "replay")]
pub use replay::{
    DEFAULT_REPLAY_BYTES, DEFAULT_REPLAY_EVENTS, ReplayBuffer, ReplayChannel, ReplayPosition, Subscription,
};
#[cfg(all(feature = "bytes", feature = "futures"))]
pub use stream::EventBytesStream;
#[cfg(feature = "futures")]
pub use stream::{EventStream, EventStreamExt, ItemStream, OwnedItem};
