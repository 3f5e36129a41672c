//! Conversion between Rust types and PowerShell values with serde.
//!
//! [`to_value`](crate::to_value) and [`from_value`](crate::from_value) convert to and from [`Value`],
//! [`to_clixml`](crate::to_clixml) and [`from_clixml`](crate::from_clixml) to and from the bytes of a message.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(rename_all = "PascalCase")]
//! struct Service {
//!     name: String,
//!     dependencies: Vec<String>,
//!     exit_code: Option<i32>,
//! }
//!
//! let service = Service { name: "sshd".into(), dependencies: vec!["tcpip".into()], exit_code: None };
//! let value = psrp::to_value(&service)?;
//! assert_eq!(value["Name"], "sshd");
//!
//! // Unknown members are ignored, and the case of names does not matter.
//! let value = psrp::Object::custom([("NAME", "sshd"), ("Site", "here")]);
//! let error = psrp::from_value::<Service>(&value.into()).err().unwrap();
//! assert!(error.is_mismatch());
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! # How types are written
//!
//! | Rust | CLIXML |
//! |---|---|
//! | `bool`, `i8` to `u64`, `f32`, `f64` | element of the same width; `i128` and `u128` fail |
//! | `char` | `<C>`; characters above U+FFFF, which are two code units, become a string |
//! | strings | `<S>` |
//! | bytes (`serde_bytes`, [`element`]) | `<BA>`; a plain `Vec<u8>` is a list, because serde does not distinguish it
//! from other lists |
//! | `None`, `()`, unit structs | `<Nil />` |
//! | sequences, tuples, tuple structs | `ArrayList` with `<LST>` |
//! | maps | `Hashtable` with `<DCT>`; keys of any type except `None` |
//! | structs | `PSCustomObject`, with the fields as extended members in order |
//! | variant without data | its name as a string |
//! | variant with data | `PSCustomObject` with one member, named after the variant |
//! | [`Value`], [`Object`](crate::Object), [`PsString`](crate::PsString), and the types of [`value`](crate::value) |
//! unchanged |
//!
//! serde treats a struct with a `#[serde(flatten)]` field as a map, so it becomes a `Hashtable` unless it is wrapped in
//! a [`PropertyBag`].
//!
//! GUIDs, byte arrays and durations become their own elements with the attribute
//! [`#[serde(with = "psrp::serde::element")]`](element). For other elements without a serde type, use [`Value`] or a type
//! of [`value`](crate::value).
//!
//! A type with conversions of its own is converted by serde's attributes `into` and `try_from`, for example a .NET
//! enumeration:
//!
//! ```
//! use psrp::{Object, Value};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
//! #[serde(into = "Value", try_from = "Value")]
//! enum DayOfWeek {
//!     Sunday,
//!     Monday,
//! }
//!
//! impl From<DayOfWeek> for Value {
//!     fn from(day: DayOfWeek) -> Self {
//!         Object::enumeration("System.DayOfWeek", format!("{day:?}"), day as i32).into()
//!     }
//! }
//!
//! impl TryFrom<Value> for DayOfWeek {
//!     type Error = &'static str;
//!
//!     fn try_from(value: Value) -> Result<Self, Self::Error> {
//!         let known = |day: &Self| value.as_i32() == Some(*day as i32);
//!         [Self::Sunday, Self::Monday].into_iter().find(known).ok_or("no such day")
//!     }
//! }
//!
//! let value = psrp::to_value(&[DayOfWeek::Monday])?;
//! assert!(value.items().unwrap()[0].as_object().unwrap().is_a("System.DayOfWeek"));
//! assert_eq!(psrp::from_value::<Vec<DayOfWeek>>(&value)?, [DayOfWeek::Monday]);
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! # How types are read
//!
//! - Names of members and variants are compared ignoring the case of ASCII letters. Extended members have priority over
//!   adapted ones; unknown members are ignored.
//! - A dictionary with string keys can be read as a struct, and an object as a map of its members.
//! - Integer types accept integers of any width, and other numbers without fraction, if they fit. Floating-point types
//!   accept any number.
//! - A value wrapped by an object is read like the value itself: a string with added members is a string.
//! - An enumeration value is a number or a name, depending on the Rust type.
//! - String types also accept characters, GUIDs, versions, dates, time spans, decimal numbers, and objects with a text
//!   form. Text with a lone surrogate only fits [`PsString`](crate::PsString).
//! - Secure strings are only read by [`SecureString`](crate::value::SecureString), [`Value`] and
//!   [`Object`](crate::Object); other types get null or fail.
//! - References to objects are followed, within the [`Budget`].
//! - serde buffers values for `flatten`, untagged and internally tagged enums. In the buffered copy, [`Value`] and the
//!   types of [`value`](crate::value) are read from their plain form, and secure strings are lost.
//!
//! # Type names
//!
//! If the serde name of a struct contains a dot, it is the name of a .NET type. Base types follow after ` : `, and
//! `System.Object` is appended. Three field names stand for parts of the object: `$ToString` for its text form,
//! `$Value` for the wrapped value, and `$TypeNames` for its type names if the struct's name does not define them.
//! A field with `#[serde(with = "psrp::serde::adapted")]` is a property of the
//! .NET type.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(rename = "System.IO.FileInfo : System.IO.FileSystemInfo", rename_all = "PascalCase")]
//! struct File {
//!     #[serde(rename = "$ToString")]
//!     path: String,
//!     #[serde(with = "psrp::serde::adapted")]
//!     length: i64,
//! }
//!
//! let value = psrp::to_value(&File { path: "/a.txt".into(), length: 42 })?;
//! let object = value.as_object().unwrap();
//! assert!(object.is_a("System.IO.FileSystemInfo"));
//! assert_eq!(object.to_string_text().unwrap(), "/a.txt");
//! assert_eq!(object.adapted().get("Length"), Some(&psrp::Value::Int64(42)));
//! assert_eq!(psrp::from_value::<File>(&value)?.path, "/a.txt");
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! # JSON
//!
//! [`Value`] is `Serialize`: `serde_json::to_string(&value)` converts any value to JSON; [`Plain`] lists the
//! conversions. [`Value`] is also `Deserialize` from JSON: an object becomes a `PSCustomObject`, an array a list, and
//! an integer `Int32` if it fits, else `Int64` or `UInt64`.
//!
//! [`Value`]: crate::Value

pub mod adapted;
mod de;
pub mod element;
mod error;
pub(crate) mod functions;
mod kinds;
mod passthrough;
mod plain;
mod property_bag;
mod ser;
mod value_types;
mod view;

pub use self::functions::Budget;
pub use self::plain::{NumbersAsText, Plain, PlainNumbers};
pub use self::property_bag::PropertyBag;
