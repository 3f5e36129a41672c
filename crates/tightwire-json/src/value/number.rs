//! Numbers of trees.

/// JSON number: an integer of 64 bits, a finite `f64`, or the text of the document.
#[derive(Clone, PartialEq)]
pub struct Number(pub(super) Repr);

/// Representation with 16 bytes.
#[derive(Clone, PartialEq)]
pub(super) enum Repr {
    Unsigned(u64),
    /// Negative integer.
    Signed(i64),
    /// Finite.
    Float(f64),
    /// Number as written in the document. Behind two pointers, because [`Value`](super::Value) has no room for the
    /// length.
    Written(Box<Box<str>>),
}
