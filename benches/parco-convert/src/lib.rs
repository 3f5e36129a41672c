//! Converts files with records of bincode, postcard, borsh or rmp-serde to tightwire-parco.
//!
//! [`Record`] is an example: replace the module `record` by the types of the files. The migration guide of
//! tightwire-parco shows how.

mod convert;
mod record;
mod source;

pub use convert::{Summary, convert};
pub use record::{Event, Record};
pub use source::{Format, MAX_RECORD};
