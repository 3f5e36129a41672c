//! How the types are read and written: one macro per kind of type, and what they stand on.

pub(crate) mod define;
pub(crate) mod member;
pub(crate) mod object;
pub(crate) mod open;
pub(crate) mod shape;
pub(crate) mod tagged;

pub(crate) use define::object;
pub(crate) use member::value_member;
pub(crate) use open::open_enum;
pub(crate) use shape::by_shape;
pub(crate) use tagged::tagged;
