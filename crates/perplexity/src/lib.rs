//! Client for the Perplexity API.

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
    Answer, Call, Client, ClientBuilder, Connect, Download, Events, File, Json, Nothing, PathStyle, Proxy,
    Quota, RateLimits, Raw, Response, ResponseHead, RetryEvent, Timeouts,
};
#[cfg(feature = "client")]
pub use error::{ApiError, Error, Result, TimeoutPhase};
#[cfg(feature = "client")]
pub use pages::{Items, Page, Pages};
#[cfg(feature = "client")]
pub use retry::{BeyondCap, Jitter, Outcome, Repeat, RetryBudget, RetryPolicy};
#[cfg(feature = "client")]
pub use stream::{Accumulate, EventStream, Malformed, ResumingStream, StreamItem, TextStream, TokenUsage};
#[cfg(feature = "client")]
pub use wait::{Job, Wait};
