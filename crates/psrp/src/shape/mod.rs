//! Between values and the typed forms of what they hold: named members in a known order, enumerations, and errors that
//! tell the place.

mod bag;
mod budget;
mod field;
mod mismatch;
mod open;

pub(crate) use bag::{Reader, Writer, bag};
pub(crate) use budget::{Budget, DEFAULT_MAX_SIZE};
pub(crate) use field::Field;
pub(crate) use mismatch::Mismatch;
pub(crate) use open::{enumeration, flag_names, flags, open_enum};
