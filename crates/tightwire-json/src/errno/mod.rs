//! Business error codes: a number that tells service, category and sequence, texts in two languages, and the
//! HTTP and gRPC status that goes with them.
//!
//! A code is `service * 100_000 + category * 1_000 + sequence`:
//!
//! ```
//! use tightwire_json::errno::{Category, Code, Errno, Language, codes};
//!
//! const USER_NOT_FOUND: Code = codes::USER_NOT_FOUND.code();
//! assert_eq!(USER_NOT_FOUND.get(), 4001);
//! assert_eq!(Code::new(2_011_001).parts(), (20, 11, 1));
//! assert_eq!(Code::new(2_011_001).known_category(), Some(Category::Timeout));
//!
//! let errno = codes::USER_NOT_FOUND.with_message("no user has the id 7");
//! assert_eq!(&errno, codes::USER_NOT_FOUND, "errors are equal when their codes are");
//! assert_eq!(errno.message(Language::English), "no user has the id 7");
//! assert_eq!(errno.to_string(), "errno 4001: no user has the id 7");
//! ```
//!
//! [`codes`] holds the predefined errors. A service adds its own through [`Definition`] and makes them known to
//! [`Registry::global`], where envelopes look up the HTTP status of a bare code.

mod category;
mod code;
pub mod codes;
mod definition;
mod error;
mod language;
mod registry;
mod status;

pub use category::Category;
pub use code::Code;
pub use definition::{Definition, DefinitionError};
pub use error::Errno;
pub use language::Language;
pub use registry::{Registry, services};
pub use status::GrpcStatus;
