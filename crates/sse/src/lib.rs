//! Server-sent events.
#![cfg_attr(not(feature = "std"), no_std)]
extern crate alloc;
#[cfg(feature = "reqwest")]
mod client;
mod config;
mod decoder;
mod encode;
mod error;
mod event;
mod line;
mod scan;
#[cfg(feature = "reqwest")]
pub use client::{Backoff, EventSource, EventSourceBuilder, Events, Jitter, Message, ReadyState};
pub use config::{Config, DEFAULT_MAX_EVENT_SIZE, Overflow};
pub use decoder::Decoder;
pub use encode::{Block, KEEP_ALIVE};
pub use error::{Error, Result};
pub use event::{DEFAULT_EVENT_TYPE, Event, EventRef, Item};

#[cfg(feature = "body")]
mod body;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "codec")]
mod codec;
#[cfg(any(feature = "compat-eventsource-stream", feature = "compat-go"))]
pub mod compat;
#[cfg(any(feature = "std", feature = "futures"))]
mod ending;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "std")]
mod reader;
#[cfg(feature = "futures")]
mod stream;

#[cfg(feature = "bytes")]
pub use self::bytes::{BytesDecoder, EventBytes};
#[cfg(feature = "body")]
pub use body::{DEFAULT_KEEP_ALIVE, SseBody, response_headers};
#[cfg(feature = "codec")]
pub use codec::SseCodec;
#[cfg(any(feature = "std", feature = "futures"))]
pub use ending::Ending;
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
