//! Arrays of trees.

use std::ops::{Deref, DerefMut};

use super::Value;
use super::memory::{Counted, INNER, Inner};

/// Array of a [`Value`]. Dereferences to a slice.
///
/// [`to_mut`](Self::to_mut) gives access to all methods of `Vec`.
///
/// # Examples
/// ```
/// use tightwire_json::{Array, json};
///
/// let mut array = Array::from([1, 2]);
/// array.push(json!("a"));
/// array.to_mut().dedup();
/// assert_eq!(array, [json!(1), json!(2), json!("a")]);
/// ```
#[derive(Clone, Default)]
#[repr(transparent)]
pub struct Array(Repr);

// The layout is defined, so that the decoder can write it.
#[derive(Default)]
#[repr(u8)]
enum Repr {
    #[default]
    Empty = 0,
    /// Behind a pointer, because [`Value`] has no room for a capacity.
    #[expect(clippy::box_collection, reason = "a `Vec` has 24 bytes")]
    Owned(Box<Vec<Value>>) = 2,
    /// Array of a decoded document.
    Shared(Counted<Array>) = 3,
    /// Array inside of another container of a decoded document.
    #[allow(dead_code, reason = "the decoder writes it as words")]
    Inner(Inner<Array>) = INNER,
}

impl Clone for Repr {
    fn clone(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Owned(items) => Self::Owned(items.clone()),
            Self::Shared(items) => Self::Shared(items.clone()),
            Self::Inner(items) => Self::Shared(items.counted()),
        }
    }
}

impl Array {
    /// Returns an empty array.
    pub const fn new() -> Self {
        Self(Repr::Empty)
    }

    /// Returns the elements.
    #[inline]
    pub fn as_slice(&self) -> &[Value] {
        match &self.0 {
            Repr::Empty => &[],
            Repr::Owned(items) => items,
            Repr::Shared(items) => items.inner().items(),
            Repr::Inner(items) => items.items(),
        }
    }

    /// Returns the elements as a vector that can be changed. The first call for an array of a decoded document copies
    /// its elements, but not their elements.
    pub fn to_mut(&mut self) -> &mut Vec<Value> {
        if !matches!(self.0, Repr::Owned(_)) {
            self.0 = Repr::Owned(Box::new(self.as_slice().to_vec()));
        }
        match &mut self.0 {
            Repr::Owned(items) => items,
            _ => unreachable!("the array is owned"),
        }
    }

    /// Returns the elements of an array of a [`Builder`](super::memory::Builder), `None` for an empty one.
    pub(super) fn into_inner(self) -> Option<Inner<Self>> {
        match self.0 {
            Repr::Inner(items) => Some(items),
            _ => None,
        }
    }
}

impl From<Counted<Self>> for Array {
    fn from(items: Counted<Self>) -> Self {
        Self(Repr::Shared(items))
    }
}

impl Deref for Array {
    type Target = [Value];

    #[inline]
    fn deref(&self) -> &[Value] {
        self.as_slice()
    }
}

impl DerefMut for Array {
    fn deref_mut(&mut self) -> &mut [Value] {
        self.to_mut()
    }
}

impl From<Vec<Value>> for Array {
    fn from(items: Vec<Value>) -> Self {
        Self(Repr::Owned(Box::new(items)))
    }
}

impl From<Array> for Vec<Value> {
    fn from(mut array: Array) -> Self {
        std::mem::take(array.to_mut())
    }
}
