//! Arrays of trees.

use std::ops::{Deref, DerefMut};

use super::Value;
use super::memory::Repr;

/// Array of a [`Value`]. Dereferences to a slice.
///
/// [`to_mut`](Self::to_mut) gives access to all methods of `Vec`.
///
/// # Examples
///
/// ```
/// use tightwire_json::{Array, json};
///
/// let mut array = Array::from([1, 2]);
/// array.push(json!("a"));
/// array.to_mut().dedup();
/// assert_eq!(array, [json!(1), json!(2), json!("a")]);
/// ```
#[derive(Clone)]
#[repr(transparent)]
pub struct Array(pub(super) Repr<Vec<Value>, Self>);

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
}

impl Default for Array {
    fn default() -> Self {
        Self::new()
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
