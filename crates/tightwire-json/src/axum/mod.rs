//! JSON extractor and responses for axum 0.8. Every rejection is an [`Envelope`](crate::envelope::Envelope).
//!
//! ```
//! use axum::Router;
//! use axum::extract::DefaultBodyLimit;
//! use axum::routing::post;
//! use serde::Deserialize;
//! use tightwire_json::axum::{Json, RequestId};
//! use tightwire_json::envelope::Envelope;
//!
//! #[derive(Deserialize)]
//! struct Sum {
//!     left: i32,
//!     right: i32,
//! }
//!
//! async fn add(id: RequestId, Json(sum): Json<Sum>) -> Envelope<i64> {
//!     Envelope::success(i64::from(sum.left) + i64::from(sum.right)).with_request_id(id)
//! }
//!
//! let app: Router = Router::new()
//!     .route("/sums", post(add))
//!     // Bodies are limited to 2 MiB by default.
//!     .layer(DefaultBodyLimit::max(64 << 10));
//! ```
//!
//! Responses are encoded completely before the first byte is sent, so that an encoding error becomes a response with
//! status 500 instead of a truncated body. Requests and responses use the process-wide mode, see
//! [`config_fastest_mode`](crate::config_fastest_mode).

mod json;
mod response;
#[cfg(feature = "validation")]
mod valid;

pub use json::{DEFAULT_BODY_LIMIT, Json, JsonRejection};
pub use response::{MAX_REQUEST_ID, REQUEST_ID_HEADER, RequestId};
#[cfg(feature = "validation")]
pub use valid::{FieldError, FieldErrors, ValidJson, ValidJsonRejection};
