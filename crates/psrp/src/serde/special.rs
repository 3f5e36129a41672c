//! Field names that stand for parts of an object other than its members.

/// The type names, a list of strings.
pub(super) const TYPE_NAMES: &str = "$TypeNames";
/// The text form, a string.
pub(super) const TO_STRING: &str = "$ToString";
/// The wrapped value: a primitive, or the items or entries of a container.
pub(super) const VALUE: &str = "$Value";
