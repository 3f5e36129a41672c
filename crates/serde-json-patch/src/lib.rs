//! The API of serde_json with the engine of tightwire-json.
//!
//! A program that depends on serde_json, also through other crates, uses this package instead if its manifest has a
//! `[patch]` section; see the README. The documentation of serde_json applies: the items, their traits, the features and
//! the texts of errors are the same. The README lists the few differences.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use serde_json::{Value, json};
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct User {
//!     id: u64,
//!     name: String,
//! }
//!
//! let user = User { id: 7, name: "Ada".to_owned() };
//! let document = serde_json::to_string(&user)?;
//! assert_eq!(document, r#"{"id":7,"name":"Ada"}"#);
//! assert_eq!(serde_json::from_str::<User>(&document)?, user);
//! assert_eq!(serde_json::from_str::<Value>(&document)?, json!({"id": 7, "name": "Ada"}));
//!
//! let error = serde_json::from_str::<User>(r#"{"id": "7"}"#).unwrap_err();
//! assert_eq!(error.to_string(), "invalid type: string \"7\", expected u64 at line 1 column 10");
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! | feature | effect |
//! | --- | --- |
//! | `std` | readers and writers; enabled by default |
//! | `alloc` | nothing: the engine needs the standard library |
//! | `preserve_order` | objects of trees keep the order of their entries |
//! | `arbitrary_precision` | numbers of trees keep all digits |
//! | `raw_value` | `RawValue`: a part of a document as text |
//! | `float_roundtrip` | a number out of the range of `f32` is an error; rounding is always exact |
//! | `unbounded_depth` | `Deserializer::disable_recursion_limit` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(missing_debug_implementations, reason = "serde_json has none for these types")]

#[cfg(not(any(feature = "std", feature = "alloc")))]
compile_error!("serde_json needs the feature `std` or `alloc`");

#[macro_use]
mod macros;

pub mod de;
mod diagnose;
pub mod error;
pub mod map;
mod number;
mod private;
#[cfg(feature = "raw_value")]
mod raw;
mod read;
#[cfg(feature = "std")]
pub mod ser;
#[cfg(not(feature = "std"))]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "it is public with the feature `std`")]
mod ser;
pub mod value;

#[doc(hidden)]
pub mod __private {
    pub use std::vec;
    pub use std::vec::Vec;
}

#[cfg(feature = "std")]
#[doc(inline)]
pub use crate::de::from_reader;
#[doc(inline)]
pub use crate::de::{Deserializer, StreamDeserializer, from_slice, from_str};
#[doc(inline)]
pub use crate::error::{Error, Result};
#[cfg(feature = "std")]
#[doc(inline)]
pub use crate::ser::{Serializer, to_writer, to_writer_pretty};
#[doc(inline)]
pub use crate::ser::{to_string, to_string_pretty, to_vec, to_vec_pretty};
#[doc(inline)]
pub use crate::value::{Map, Number, Value, from_value, to_value};
