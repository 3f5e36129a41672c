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
