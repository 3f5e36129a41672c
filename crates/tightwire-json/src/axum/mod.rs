//! Extractors and responses for axum services that answer in envelopes.
//!
//! ```
//! use axum::Router;
//! use axum::extract::DefaultBodyLimit;
//! use axum::routing::post;
//! use tightwire_json::axum::{Envelope, Json, RequestContext, not_found};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Sum {
//!     left: i32,
//!     right: i32,
//! }
//!
//! async fn add(context: RequestContext, Json(sum): Json<Sum>) -> Envelope<i64> {
//!     Envelope(context.responder().ok(i64::from(sum.left) + i64::from(sum.right)))
//! }
//!
//! let app: Router = Router::new()
//!     .route("/sums", post(add))
//!     .fallback(not_found)
//!     // Bodies are limited to 2 MiB unless a layer says otherwise.
//!     .layer(DefaultBodyLimit::max(64 << 10));
//! ```
//!
//! Answers are encoded before anything is sent, so a value that cannot be encoded becomes an internal error
//! instead of a broken body. Requests and answers use the mode that the process has chosen; see
//! [`config_fastest_mode`](crate::config_fastest_mode).

mod context;
mod envelope;
mod json;
mod media_type;
mod rejection;
#[cfg(feature = "validation")]
mod valid;

pub use context::{MAX_REQUEST_ID, REQUEST_ID_HEADER, RequestContext};
pub use envelope::{Envelope, not_found};
pub use json::{DEFAULT_BODY_LIMIT, Json};
pub use rejection::JsonRejection;
#[cfg(feature = "validation")]
pub use valid::{ValidJson, ValidJsonRejection};
