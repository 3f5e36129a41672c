//! Arrays of trees.

use std::ops::{Deref, DerefMut};

use super::Value;

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
pub struct Array(Repr);

#[derive(Clone)]
enum Repr {
    /// Behind a pointer, because [`Value`] has no room for a capacity.
    #[expect(clippy::box_collection, reason = "a `Vec` has 24 bytes")]
    Owned(Box<Vec<Value>>),
}

impl Default for Repr {
    fn default() -> Self {
        Self::Owned(Box::default())
    }
}

impl Array {
    /// Returns an empty array.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the elements.
    #[inline]
    pub fn as_slice(&self) -> &[Value] {
        match &self.0 {
            Repr::Owned(items) => items,
        }
    }

    /// Returns the elements as a vector that can be changed.
    pub fn to_mut(&mut self) -> &mut Vec<Value> {
        match &mut self.0 {
            Repr::Owned(items) => items,
        }
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

impl<T: Into<Value>> From<Vec<T>> for Array {
    fn from(items: Vec<T>) -> Self {
        Self(Repr::Owned(Box::new(items.into_iter().map(Into::into).collect())))
    }
}

impl From<Array> for Vec<Value> {
    fn from(mut array: Array) -> Self {
        std::mem::take(array.to_mut())
    }
}
