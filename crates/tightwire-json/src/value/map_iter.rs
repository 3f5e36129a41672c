//! Iterators over objects.

use std::iter::{FusedIterator, Zip};
use std::{slice, vec};

use super::map::Key;
use super::{JsonString, Value};

macro_rules! iterators {
    ($(
        $(#[$attribute:meta])*
        $name:ident $(<$lifetime:lifetime>)? ($inner:ty) -> $item:ty, $entry:pat => $part:expr;
    )*) => {
        $(
            $(#[$attribute])*
            #[derive(Debug)]
            pub struct $name $(<$lifetime>)? (pub(super) $inner);

            impl $(<$lifetime>)? Iterator for $name $(<$lifetime>)? {
                type Item = $item;

                #[inline]
                fn next(&mut self) -> Option<$item> {
                    self.0.next().map(|$entry| $part)
                }

                fn size_hint(&self) -> (usize, Option<usize>) {
                    self.0.size_hint()
                }
            }

            impl $(<$lifetime>)? DoubleEndedIterator for $name $(<$lifetime>)? {
                fn next_back(&mut self) -> Option<$item> {
                    self.0.next_back().map(|$entry| $part)
                }
            }

            impl $(<$lifetime>)? ExactSizeIterator for $name $(<$lifetime>)? {}
            impl $(<$lifetime>)? FusedIterator for $name $(<$lifetime>)? {}
        )*
    };
}

iterators! {
    /// Entries of an object, from [`Map::iter`](super::Map::iter).
    #[derive(Clone)]
    Iter<'a>(Zip<slice::Iter<'a, Key>, slice::Iter<'a, Value>>) -> (&'a JsonString, &'a Value),
        (key, value) => (&key.text, value);
    /// Entries of an object, from [`Map::iter_mut`](super::Map::iter_mut).
    IterMut<'a>(Zip<slice::Iter<'a, Key>, slice::IterMut<'a, Value>>) -> (&'a JsonString, &'a mut Value),
        (key, value) => (&key.text, value);
    /// Owned entries of an object, from its `into_iter`.
    IntoIter(Zip<vec::IntoIter<Key>, vec::IntoIter<Value>>) -> (JsonString, Value),
        (key, value) => (key.text, value);
    /// Keys of an object, from [`Map::keys`](super::Map::keys).
    #[derive(Clone)]
    Keys<'a>(slice::Iter<'a, Key>) -> &'a JsonString, key => &key.text;
    /// Values of an object, from [`Map::values`](super::Map::values).
    #[derive(Clone)]
    Values<'a>(slice::Iter<'a, Value>) -> &'a Value, value => value;
    /// Values of an object, from [`Map::values_mut`](super::Map::values_mut).
    ValuesMut<'a>(slice::IterMut<'a, Value>) -> &'a mut Value, value => value;
    /// Owned values of an object, from [`Map::into_values`](super::Map::into_values).
    IntoValues(vec::IntoIter<Value>) -> Value, value => value;
}
