//! Rules for the fields of a request, with messages in English and Chinese and the wire form of what was rejected.
//!
//! Types describe their rules through `garde`, and [`validate_input`] reports them in the envelope's form. The functions
//! in [`rules`] are for `#[garde(custom(...))]`:
//!
//! ```
//! use garde::Validate;
//! use tightwire_json::errno::Language;
//! use tightwire_json::validation::{rules, validate_input};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, Validate)]
//! #[serde(rename_all = "camelCase")]
//! struct NewUser {
//!     #[garde(custom(rules::username))]
//!     name: String,
//!     #[garde(custom(rules::mobile))]
//!     phone_number: String,
//! }
//!
//! let user = NewUser { name: "ada_l".to_owned(), phone_number: "12".to_owned() };
//! let errors = validate_input(&user, Language::English).unwrap_err();
//! assert_eq!(
//!     tightwire_json::to_string(&errors)?,
//!     r#"{"errors":[{"field":"phoneNumber","tag":"mobile","message":"phoneNumber must be a valid mobile phone number"}]}"#
//! );
//! # Ok::<(), tightwire_json::Error>(())
//! ```
//!
//! A type that checks itself implements `garde::Validate` by hand and reports at the empty path: such an error has
//! the field `global` and the tag `custom`. [`validate_with`] does the same for a check that is a function.

mod check;
mod errors;
mod fields;
mod messages;
pub mod rules;

pub use check::{validate, validate_input, validate_with};
pub use errors::{FieldError, ValidationErrors, ValidationSummary};
