//! The form in which a service answers: one object around the data, the same for success and failure.
//!
//! ```
//! use tightwire_json::envelope::Response;
//! use tightwire_json::errno::codes;
//!
//! let found = Response::success("Ada").with_request_id("req-1").with_timestamp(1_703_001_234_567);
//! assert_eq!(
//!     tightwire_json::to_string(&found)?,
//!     r#"{"code":0,"http_code":200,"message":"success","data":"Ada","request_id":"req-1","timestamp":1703001234567}"#
//! );
//!
//! let missing = Response::error(codes::USER_NOT_FOUND);
//! assert_eq!(tightwire_json::to_string(&missing)?, r#"{"code":4001,"http_code":404,"message":"User not found"}"#);
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! [`Responder`] keeps what all answers to one request have in common: its id, its language, and whether answers
//! tell the time.

mod page;
mod responder;
mod response;

pub use page::PageData;
pub use responder::Responder;
pub use response::Response;
