//! The bridge to serde: any type that is `Serialize` as a value or document, any that is `Deserialize` from one.
//!
//! [`to_value`](crate::to_value) and [`from_value`](crate::from_value) go between Rust types and [`Value`],
//! [`to_clixml`](crate::to_clixml) and [`from_clixml`](crate::from_clixml) between Rust types and the bytes of a message.
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
//! // Members of other names are passed over, and case does not matter.
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
//! | `bool`, `i8` to `u64`, `f32`, `f64` | the element of the same width; `i128` and `u128` are refused |
//! | `char` | `<C>`; a character above U+FFFF, which is two of .NET's, is a string |
//! | strings | `<S>` |
//! | bytes (`serde_bytes`, [`bytes`]) | `<BA>`; `Vec<u8>` alone is a list, for serde sees no difference |
//! | `None`, `()`, unit structs | `<Nil />` |
//! | sequences, tuples, tuple structs | `ArrayList` with `<LST>` |
//! | maps | `Hashtable` with `<DCT>`; keys of any type but `None` |
//! | structs | `PSCustomObject`, fields as extended members in their order |
//! | a variant without data | its name as a string; see [`Enumeration`] for those of .NET |
//! | a variant with data | `PSCustomObject` with one member, named after the variant |
//! | [`Value`], [`Object`](crate::Object), [`PsString`](crate::PsString), and the types of [`value`](crate::value) | what they are |
//!
//! A struct with a `#[serde(flatten)]` field is a map for serde, and so a `Hashtable` here, unless it is in a [`Bag`].
//!
//! Elements that serde has no type for are the types of [`value`](crate::value), or other types with an attribute on the
//! field: `#[serde(with = "psrp::serde::guid")]`, [`uri`], [`xml`], [`script_block`], [`bytes`], [`char_unit`],
//! [`duration`], [`enumeration`]. Those that hold one value also take `Option` and `Vec` of it.
//!
//! # How types are read
//!
//! - Names of members and variants are compared without regard to the case of ASCII letters. An extended member comes
//!   before an adapted one; members that the type does not know are passed over.
//! - A dictionary is read as a struct where its keys are strings, and an object as a map of its members.
//! - An integer type takes an integer of any width, and any other number without fraction, that fits. A floating-point
//!   type takes any number.
//! - What an object wraps is read as if it were there itself: a string with added members is a string.
//! - A value of an enumeration is a number or a name, whichever is asked for.
//! - A string type also takes a character, GUID, version, date, span of time and decimal number, and an object with a text
//!   form. Text with a lone surrogate fits [`PsString`](crate::PsString) alone.
//! - A secure string is read by [`SecureString`](crate::value::SecureString), [`Value`] and [`Object`](crate::Object)
//!   alone; anything else finds null or fails.
//! - References to objects that were read before are followed, as far as the [`Budget`] goes.
//! - serde keeps a copy of its own for `flatten`, untagged and internally tagged enums. In it, [`Value`] and the types
//!   of [`value`](crate::value) are what their plain form is read as, and secure strings are lost.
//!
//! # Type names
//!
//! A struct whose name for serde has a dot is of that .NET type. Base types follow after ` : `, and `System.Object` is
//! added. Three names of fields stand for parts of the object: `$ToString` is its text form, `$Value` what it wraps, and
//! `$TypeNames` its type names where the type itself does not tell them. [`Typed`] has the latter for any type.
//! A field with `#[serde(with = "psrp::serde::adapted")]` is a property of the .NET type.
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
//! [`Value`] is `Serialize`: `serde_json::to_string(&value)` shows any object as JSON. [`Plain`] tells what becomes of
//! which value. The other way, [`Value`] is `Deserialize` from JSON: an object becomes a `PSCustomObject`, an array a list,
//! an integer `Int32` where it fits, else `Int64` or `UInt64`.
//!
//! [`Value`]: crate::Value

pub mod adapted;
mod bag;
mod budget;
mod de;
mod enum_type;
pub mod enumeration;
mod fault;
mod fields;
pub(crate) mod functions;
mod given;
mod hand;
mod kinds;
mod plain;
mod ser;
mod special;
mod typed;

pub use self::bag::Bag;
pub use self::budget::Budget;
pub use self::enum_type::Enumeration;
pub use self::fields::{Carried, bytes, char_unit, duration, guid, script_block, uri, xml};
pub use self::plain::Plain;
pub use self::typed::Typed;
