//! Server-sent events: a decoder and an encoder without I/O, and adaptors for the places where bytes come from.
//!
//! ```
//! use tightwire_sse::{Block, Decoder};
//!
//! let mut wire = Vec::new();
//! Block::new().event("token").data("Hello").encode(&mut wire)?;
//! Block::new().data("[DONE]").encode(&mut wire)?;
//!
//! let mut decoder = Decoder::new();
//! let mut chunk = wire.as_slice();
//! let mut seen = Vec::new();
//! while let Some(event) = decoder.next(&mut chunk)? {
//!     seen.push(format!("{}: {}", event.event_type(), event.data()));
//! }
//! assert_eq!(seen, ["token: Hello", "message: [DONE]"]);
//! # Ok::<(), tightwire_sse::Error>(())
//! ```
//!
//! # Where to start
//!
//! | the bytes come from | use | feature |
//! | --- | --- | --- |
//! | anywhere, in chunks | [`Decoder`] | none |
//! | `std::io::Read` | [`Reader`] | `std` (default) |
//! | a `Stream` of chunks | [`EventStreamExt::sse`] | `futures` |
//! | `Bytes`, and events share them | [`BytesDecoder`] | `bytes` |
//! | `tokio::io::AsyncRead` | [`SseCodec`] | `codec` |
//! | a URL, with reconnection | [`EventSource`] | `reqwest` |
//!
//! A server writes [`Block`]s, by itself or through [`SseBody`] (feature `body`). The feature `json` adds
//! `.json::<T>()` to events, readers and streams. [`compat`] has the names of other implementations (features
//! `compat-eventsource-stream` and `compat-go`). Without `std` the crate needs nothing but `alloc`.
//!
//! # What is promised
//!
//! - The events are those of the WHATWG HTML standard, section 9.2 "Server-sent events", for every input and however
//!   it is cut into chunks. A line that ends with CR is not held back to see whether LF follows.
//! - Every input is accepted. Time is linear in its length, memory bounded by [`Config::max_event_size`]; only a
//!   block past that limit is an error, and decoding goes on after it.
//! - Decoding allocates nothing for blocks that lie in one chunk and have one data line.
//! - Nothing that was received whole is lost when an error is reported.
//!
//! # What is not
//!
//! - The standard drops a block that the end of input cuts off, and so does this crate unless asked to be lenient,
//!   as by [`Decoder::finish_lenient`].
//! - The wording of errors, and the sizes of buffers that are kept, may change.
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "body")]
mod body;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "reqwest")]
mod client;
#[cfg(feature = "codec")]
mod codec;
#[cfg(any(feature = "compat-eventsource-stream", feature = "compat-go"))]
pub mod compat;
mod config;
mod decoder;
mod encode;
#[cfg(any(feature = "std", feature = "futures"))]
mod ending;
mod error;
mod event;
#[cfg(feature = "json")]
mod json;
mod line;
#[cfg(feature = "std")]
mod reader;
mod scan;
#[cfg(feature = "futures")]
mod stream;
#[cfg(feature = "reqwest")]
#[doc(hidden)]
pub mod shared {
    //! What other clients of this workspace need as well. It may change with every version.

    pub use crate::client::{Silence, without_urls};
}

#[cfg(feature = "bytes")]
pub use self::bytes::{BytesDecoder, EventBytes};
#[cfg(feature = "body")]
pub use body::{DEFAULT_KEEP_ALIVE, SseBody, response_headers};
#[cfg(feature = "reqwest")]
pub use client::{Backoff, EventSource, EventSourceBuilder, Events, Jitter, Message, ReadyState};
#[cfg(feature = "codec")]
pub use codec::SseCodec;
pub use config::{Config, DEFAULT_MAX_EVENT_SIZE, Overflow};
pub use decoder::Decoder;
pub use encode::{Block, KEEP_ALIVE};
#[cfg(any(feature = "std", feature = "futures"))]
pub use ending::Ending;
pub use error::{Error, Result};
pub use event::{DEFAULT_EVENT_TYPE, Event, EventRef, Item};
#[cfg(all(feature = "json", feature = "std"))]
pub use json::JsonReader;
#[cfg(all(feature = "json", feature = "futures"))]
pub use json::{JsonStream, JsonStreamExt};
#[cfg(feature = "std")]
pub use reader::{DEFAULT_BUFFER_SIZE, Reader};
#[cfg(all(feature = "bytes", feature = "futures"))]
pub use stream::EventBytesStream;
#[cfg(feature = "futures")]
pub use stream::{EventStream, EventStreamExt, ItemStream, OwnedItem};
