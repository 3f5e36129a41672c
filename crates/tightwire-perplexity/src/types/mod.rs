//! Request and response types of all endpoints, without I/O.
//!
//! ```
//! use tightwire_perplexity::types::responses::{Request, Response, WebFilters, WebSearch};
//!
//! let filters = WebFilters::default().search_domain_filter(["nasa.gov", "esa.int"]);
//! let request = Request::new("perplexity/sonar", "Why is the sky blue?")
//!     .instructions("Be brief.")
//!     .tools([WebSearch::new().filters(filters)]);
//! request.validate()?;
//! let body = tightwire_json::to_vec(&request)?;
//! assert!(body.starts_with(br#"{"input":"Why is the sky blue?","model":"perplexity/sonar""#));
//!
//! let response: Response = tightwire_json::from_str(
//!     r#"{"id": "r", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Scattering."}]}]}"#,
//! )?;
//! assert_eq!(response.output_text(), "Scattering.");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Guarantees
//!
//! - Unknown enum values, union tags and object fields never fail decoding. Values and tags are stored in the variants
//!   `Other` and `Unknown`. Unknown fields are stored, see [`Extra`].
//! - A missing or `null` field decodes to its default: `None`, an empty list, zero or the empty string.
//! - Integers may be written with a zero fraction (`7.0`).
//! - Decoding is single-pass. A union is buffered only if its tag is not the first field.
//! - `None` omits the field. To send `null` in a field, call the request's `null` method.
//!
//! Create a request with `new`, which takes the required fields, then chain the methods named like the optional fields.
//! `validate` checks the documented limits before the request is sent.
//!
//! # Limits
//!
//! Numbers in unknown fields and values are [`tightwire_json::Value`]s: integers beyond 64 bits become floats. Structs
//! may gain fields and enums may gain variants.

#[cfg(test)]
mod arbitrary;
mod common;
mod domains;
mod extra;
mod invalid;
#[cfg(all(test, feature = "client"))]
mod parity;
mod partial;
#[cfg(test)]
mod shape;
#[cfg(test)]
mod tests;
mod wire;

pub mod async_chat;
pub mod auth_tokens;
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

pub use common::{
    Deleted, NumberOrText, ObjectKind, Recency, SearchContextSize, SearchMode, Secret, TextOrList,
};
pub use domains::DomainFilter;
pub use extra::Extra;
pub use invalid::Invalid;

/// Returns a decoder without a size limit, for input whose size was already limited.
#[cfg(feature = "client")]
pub(crate) fn codec() -> tightwire_json::Codec {
    let limits = tightwire_json::Limits::new().max_document(usize::MAX);
    tightwire_json::Codec::standard().with_limits(limits).with_byte_order_mark(true)
}
