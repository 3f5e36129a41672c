//! Conversion between values and typed structs: objects with named members, enumerations, and errors with the path to
//! the member.

mod enums;
mod field;
mod object;

pub(crate) use enums::{enumeration, enumeration_number, flag_names, flags, open_enum};
pub(crate) use field::{CopyBudget, DEFAULT_COPY_BUDGET, Field};
pub(crate) use object::{MemberReader, MemberWriter, object_struct};
