//! Marks of values for which serde has no method: raw values, and numbers with the text of the document.
//!
//! They are structs with one field and a reserved name, which starts with `$`, as that of no Rust type does.

use std::cell::Cell;

/// Struct name of a [`RawValue`](crate::RawValue).
pub(crate) const RAW_TOKEN: &str = "$tightwire_json::private::RawValue";

/// Struct name of the `RawValue` of serde_json.
const FOREIGN_RAW_TOKEN: &str = "$serde_json::private::RawValue";

/// Struct name of a written [`Number`](crate::Number), and of the newtype struct around it.
pub(crate) const NUMBER_TOKEN: &str = "$tightwire_json::Number";

/// Struct name of `serde_json::Number` if a program enables serde_json's feature `arbitrary_precision`.
const FOREIGN_NUMBER_TOKEN: &str = "$serde_json::private::Number";

/// Returns `name` if it is that of a raw value.
#[inline(always)]
pub(crate) fn raw_token(name: &'static str) -> Option<&'static str> {
    // The name is a constant at most call sites.
    (name.starts_with('$') && (name == RAW_TOKEN || name == FOREIGN_RAW_TOKEN)).then_some(name)
}

/// Returns whether `name` is that of a raw value or number.
#[inline(always)]
pub(crate) fn is_token(name: &'static str) -> bool {
    name.starts_with('$')
        && (raw_token(name).is_some() || matches!(name, NUMBER_TOKEN | FOREIGN_NUMBER_TOKEN))
}

/// Start of the bytes as which a written number is passed to visitors. They are not UTF-8, so that visitors of strings
/// reject them.
pub(crate) const NUMBER_BYTES: &[u8] = b"\xff$tightwire_json::Number";

thread_local! {
    /// Whether a written number is being serialized by a serializer of this crate.
    static AS_TEXT: Cell<bool> = const { Cell::new(false) };
}

/// Calls `serialize`, which serializes the content of a newtype struct with the name [`NUMBER_TOKEN`]. The number is
/// serialized as a struct of this name, with its text.
///
/// A `Serialize` implementation does not know its serializer, and other serializers expect a plain number. They ignore
/// the name of the newtype struct.
pub(crate) fn as_text<T>(serialize: impl FnOnce() -> T) -> T {
    AS_TEXT.set(true);
    let result = serialize();
    AS_TEXT.set(false);
    result
}

/// Returns whether [`as_text`] called the current serialization of a number.
pub(crate) fn is_as_text() -> bool {
    AS_TEXT.take()
}
