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
//! status 500 instead of a truncated body.
//!
//! # Codec of a router
//!
//! [`Json`] and `ValidJson` decode with the [`Codec`](crate::Codec) in the extensions of the request, so that a router
//! sets limits and mode for all of its routes and every type of state. Without one, they use
//! [`Codec::standard`](crate::Codec::standard). Add the layer after the routes: axum applies a layer only to the routes
//! that exist already.
//!
//! A response is encoded by `IntoResponse`, which has no access to the request or the state, and therefore uses
//! `Codec::standard`. A handler that encodes with the codec of the router extracts it and calls
//! [`Json::into_response_with`] or [`Envelope::into_response_with`](crate::envelope::Envelope::into_response_with).
//! Rejections use `Codec::standard`, too: they contain only strings and numbers.
//!
//! ```
//! use axum::response::Response;
//! use axum::routing::post;
//! use axum::{Extension, Router};
//! use tightwire_json::axum::Json;
//! use tightwire_json::{Codec, Limits, Value};
//!
//! #[derive(Clone)]
//! struct AppState {
//!     codec: Codec,
//! }
//!
//! /// Decodes and encodes with the codec of the router.
//! async fn echo(codec: Codec, Json(value): Json<Value>) -> Response {
//!     Json(value).into_response_with(&codec)
//! }
//!
//! let state = AppState { codec: Codec::compat().with_limits(Limits::new().max_depth(16)) };
//! let app: Router =
//!     Router::new().route("/echo", post(echo)).layer(Extension(state.codec)).with_state(state);
//! ```

mod json;
mod response;
#[cfg(feature = "validation")]
mod valid;

pub use json::{DEFAULT_BODY_LIMIT, Json, JsonRejection};
pub use response::{MAX_REQUEST_ID, REQUEST_ID_HEADER, RequestId};
#[cfg(feature = "validation")]
pub use valid::{FieldError, FieldErrors, ValidJson, ValidJsonRejection};
