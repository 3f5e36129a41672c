//! Numbers of trees.

/// JSON number: an integer of 64 bits, a finite `f64`, or the text of the document.
#[derive(Clone, PartialEq)]
#[repr(transparent)]
pub struct Number(pub(super) Repr);

/// Representation with 16 bytes. The layout is defined, so that the decoder can write it with stores of eight bytes.
#[derive(Clone, PartialEq)]
#[repr(u8)]
pub(super) enum Repr {
    Unsigned(u64) = Kind::Unsigned as u8,
    /// Negative integer.
    Signed(i64) = Kind::Signed as u8,
    /// Finite.
    Float(f64) = Kind::Float as u8,
    /// Number as written in the document. Behind two pointers, because [`Value`](super::Value) has no room for the
    /// length.
    Written(Box<Box<str>>),
}

/// Tags of [`Repr`].
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Unsigned = 0,
    Signed = 1,
    Float = 2,
}
