//! The types of all requests and answers, usable without any I/O.
//!
//! ```
//! use tightwire_perplexity::types::chat::{Completion, Message, Request};
//!
//! let request = Request::new("sonar", [Message::system("Be brief."), Message::user("Why is the sky blue?")])
//!     .temperature(0.2)
//!     .search_domain_filter(["nasa.gov", "-example.com"]);
//! request.validate()?;
//! let body = tightwire_json::to_vec(&request)?;
//! assert!(body.starts_with(br#"{"messages":[{"role":"system","content":"Be brief."}"#));
//!
//! let answer: Completion = tightwire_json::from_str(
//!     r#"{"id": "c", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Scattering."}}]}"#,
//! )?;
//! assert_eq!(answer.text(), Some("Scattering."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! - An unknown value of an enum, an unknown tag of a union, and an unknown member never fail decoding. Values and tags
//!   are kept, in the variants `Other` and `Unknown`. Members are kept with the feature `extra`, see [`Extra`].
//! - A member that is missing or `null` decodes to its default: `None`, an empty list, zero, or the empty text.
//! - Integers may be written with a fraction of zero.
//! - Values are read in one pass; a union buffers only if its tag does not come first.
//! - `None` means that a member is left out. Where `null` means something else the field is a [`Nullable`]; elsewhere
//!   the method `null` of a request writes one.
//!
//! Requests are made by `new` with what is required and by methods named like the fields. `validate` tells before the
//! first byte is sent what the server would refuse.
//!
//! # What is not
//!
//! Numbers inside of unknown members and values are those of [`tightwire_json::Value`]: integers beyond 64 bits become floats.
//! The structs may get further fields, the enums further variants.

#[cfg(test)]
mod arbitrary;
mod common;
mod extra;
mod invalid;
mod nullable;
mod secret;
#[cfg(test)]
mod tests;
mod wire;

pub mod async_chat;
pub mod batches;
pub mod browser;
pub mod chat;
pub mod decisions;
pub mod embeddings;
pub mod files;
pub mod models;
pub mod responses;
pub mod search;
pub mod skills;

pub use common::{Deleted, NumberOrText, ObjectKind, Recency, SearchContextSize, SearchMode, TextOrList};
pub use extra::{Extra, Iter, Members};
pub use invalid::Invalid;
pub use nullable::Nullable;
pub use secret::Secret;
