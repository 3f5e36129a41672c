//! Rules for the fields of a request, with messages in English and Chinese and the wire form of what was rejected.
//!
//! Types describe their rules through `garde`, and [`validate`] reports them in the envelope's form. The functions
//! in [`rules`] are for `#[garde(custom(...))]`:
//!
//! ```
//! use garde::Validate;
//! use json::errno::Language;
//! use json::validation::{rules, validate};
//!
//! #[derive(Validate)]
//! struct NewUser {
//!     #[garde(custom(rules::username))]
//!     name: String,
//!     #[garde(rename("phone"), custom(rules::mobile))]
//!     phone_number: String,
//! }
//!
//! let user = NewUser { name: "ada_l".to_owned(), phone_number: "12".to_owned() };
//! let errors = validate(&user, Language::English).unwrap_err();
//! assert_eq!(
//!     json::to_string(&errors)?,
//!     r#"{"errors":[{"field":"phone","tag":"mobile","message":"phone must be a valid mobile phone number"}]}"#
//! );
//! # Ok::<(), json::Error>(())
//! ```
//!
//! `#[garde(rename("..."))]` gives a field its name on the wire. A type that checks itself implements
//! `garde::Validate` by hand and reports at the empty path: such an error has the field `global` and the tag
//! `custom`. [`validate_with`] does the same for a check that is a function.

mod check;
mod errors;
mod messages;
pub mod rules;

pub use check::{validate, validate_with};
pub use errors::{FieldError, ValidationErrors, ValidationSummary};
