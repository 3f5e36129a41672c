//! Iterators over objects.

use std::iter::FusedIterator;
use std::{slice, vec};

use super::map::Entry;
use super::{JsonString, Value};

macro_rules! iterators {
    ($(
        $(#[$attribute:meta])*
        $name:ident $(<$lifetime:lifetime>)? ($inner:ty) -> $item:ty, $entry:ident => $part:expr;
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
    Iter<'a>(slice::Iter<'a, Entry>) -> (&'a JsonString, &'a Value), entry => (&entry.key, &entry.value);
    /// Entries of an object, from [`Map::iter_mut`](super::Map::iter_mut).
    IterMut<'a>(slice::IterMut<'a, Entry>) -> (&'a JsonString, &'a mut Value),
        entry => (&entry.key, &mut entry.value);
    /// Owned entries of an object, from its `into_iter`.
    IntoIter(vec::IntoIter<Entry>) -> (JsonString, Value), entry => entry.into();
    /// Keys of an object, from [`Map::keys`](super::Map::keys).
    #[derive(Clone)]
    Keys<'a>(slice::Iter<'a, Entry>) -> &'a JsonString, entry => &entry.key;
    /// Owned keys of an object, from [`Map::into_keys`](super::Map::into_keys).
    IntoKeys(vec::IntoIter<Entry>) -> JsonString, entry => entry.key;
    /// Values of an object, from [`Map::values`](super::Map::values).
    #[derive(Clone)]
    Values<'a>(slice::Iter<'a, Entry>) -> &'a Value, entry => &entry.value;
    /// Values of an object, from [`Map::values_mut`](super::Map::values_mut).
    ValuesMut<'a>(slice::IterMut<'a, Entry>) -> &'a mut Value, entry => &mut entry.value;
    /// Owned values of an object, from [`Map::into_values`](super::Map::into_values).
    IntoValues(vec::IntoIter<Entry>) -> Value, entry => entry.value;
}
