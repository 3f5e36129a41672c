//! JSON extractors, responses and response envelopes for axum 0.8, with the decoder and encoder of [`tightwire_json`].
//!
//! Use it instead of `axum::Json` if rejections must have a body in JSON with the path of the faulty field, or if a router
//! needs limits for request bodies beyond their size. Every rejection is an [`Envelope`].
//!
//! ```
//! use axum::Router;
//! use axum::extract::DefaultBodyLimit;
//! use axum::routing::post;
//! use serde::Deserialize;
//! use tightwire_axum::{Envelope, Json, RequestId};
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
//! Add it with `cargo add tightwire-axum`. The feature `validation` adds `ValidJson`, which validates the body with garde.
//!
//! Responses are encoded completely before the first byte is sent, so that an encoding error becomes a response with
//! status 500 instead of a truncated body.
//!
//! # Codec of a router
//!
//! [`Json`] and `ValidJson` decode with the [`Codec`](tightwire_json::Codec) in the extensions of the request, so that a
//! router sets limits and mode for all of its routes and every type of state. Without one, they use
//! [`Codec::standard`](tightwire_json::Codec::standard). Add the layer after the routes: axum applies a layer only to the
//! routes that exist already.
//!
//! A response is encoded by `IntoResponse`, which has no access to the request or the state, and therefore uses
//! `Codec::standard`. A handler that encodes with the codec of the router extracts a [`RouterCodec`] and calls
//! [`Json::into_response_with`] or [`Envelope::into_response_with`]. Rejections use `Codec::standard`, too: they contain
//! only strings and numbers.
//!
//! ```
//! use axum::response::Response;
//! use axum::routing::post;
//! use axum::{Extension, Router};
//! use tightwire_axum::{Json, RouterCodec};
//! use tightwire_json::{Codec, Limits, Value};
//!
//! /// Decodes and encodes with the codec of the router.
//! async fn echo(RouterCodec(codec): RouterCodec, Json(value): Json<Value>) -> Response {
//!     Json(value).into_response_with(&codec)
//! }
//!
//! let codec = Codec::compat().with_limits(Limits::new().max_depth(16));
//! let app: Router = Router::new().route("/echo", post(echo)).layer(Extension(codec));
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod envelope;
mod json;
mod response;
#[cfg(feature = "validation")]
mod valid;

pub use envelope::{Envelope, Page};
pub use json::{DEFAULT_BODY_LIMIT, Json, JsonRejection};
pub use response::{MAX_REQUEST_ID, REQUEST_ID_HEADER, RequestId, RouterCodec};
#[cfg(feature = "validation")]
pub use valid::{FieldError, FieldErrors, ValidJson, ValidJsonRejection};
