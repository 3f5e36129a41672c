//! Conversion between values and typed structs: objects with named members, enumerations, and errors with the path to
//! the member.

mod budget;
mod enums;
mod field;
mod mismatch;
mod object;

pub(crate) use budget::{CopyBudget, DEFAULT_COPY_BUDGET};
pub(crate) use enums::{enumeration, flag_names, flags, open_enum};
pub(crate) use field::Field;
pub(crate) use mismatch::Mismatch;
pub(crate) use object::{MemberReader, MemberWriter, object_struct};
