//! Macros that define the wire types, and their decoding and encoding support.

pub(crate) mod define;
pub(crate) mod field;
pub(crate) mod object;
pub(crate) mod open_enum;
pub(crate) mod tagged;
pub(crate) mod untagged;

pub(crate) use define::object;
pub(crate) use field::field_value;
pub(crate) use open_enum::open_enum;
pub(crate) use tagged::tagged;
pub(crate) use untagged::untagged;
