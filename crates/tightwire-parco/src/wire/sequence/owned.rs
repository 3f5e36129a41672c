//! Slices and arrays of the types that allocate.

use alloc::collections::{BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::rc::Rc;
use alloc::sync::Arc;

use super::*;
use crate::error::ErrorKind;
use crate::read::KeyOrder;
use crate::wire::get_each;

impl<H: Header, E: Wire> Slice<H, E> {
    /// Reads and checks the number of elements, and counts the memory of that many values against the limit.
    #[inline]
    fn count_with_allocation<T>(&self, reader: &mut Reader<'_, '_>) -> Result<usize, Fault> {
        let count = self.count(reader)?;
        reader.count_allocation(count.saturating_mul(size_of::<T>()))?;
        Ok(count)
    }

    #[inline]
    fn put_iter<'a, T: 'a>(
        &self,
        count: usize,
        values: impl Iterator<Item = &'a T>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Fault>
    where
        E: Put<T>,
    {
        writer.check_elements(count, ElementSize::of(&self.element), size_of::<T>())?;
        H::put_length(count, writer)?;
        for (index, value) in values.enumerate() {
            self.element.put(value, writer).map_err(|fault| writer.locate(fault, Segment::Index(index)))?;
        }
        Ok(())
    }

    /// Encodes the elements of a set, and in the canonical mode sorts them by their bytes.
    #[inline]
    fn put_set<'a, T: 'a>(
        &self,
        count: usize,
        values: impl Iterator<Item = &'a T>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Fault>
    where
        E: Put<T>,
    {
        if !writer.is_canonical() {
            return self.put_iter(count, values, writer);
        }
        writer.check_elements(count, ElementSize::of(&self.element), size_of::<T>())?;
        H::put_length(count, writer)?;
        let mut elements = Vec::with_capacity(count);
        for (index, value) in values.enumerate() {
            let start = writer.position();
            self.element.put(value, writer).map_err(|fault| writer.locate(fault, Segment::Index(index)))?;
            elements.push(start..writer.position());
        }
        writer.sort_parts(&elements, Segment::Index)
    }

    /// Decodes the elements of a set and passes them to `insert`, which returns false for a duplicate.
    #[inline]
    fn get_set<'de, T>(
        &self,
        reader: &mut Reader<'_, 'de>,
        mut insert: impl FnMut(T) -> bool,
    ) -> Result<(), Fault>
    where
        E: Get<'de, T>,
    {
        let mut order = KeyOrder::new(reader);
        for index in 0..self.count_with_allocation::<T>(reader)? {
            let start = reader.rest();
            let mut result = match self.element.get(reader) {
                Ok(value) => order.check(start, reader).map(|()| insert(value)),
                Err(fault) => Err(fault),
            };
            if result == Ok(false) && reader.rejects_duplicates() {
                result = Err(reader.fail_at(start, Fault(ErrorKind::DuplicateKey)));
            }
            result.map_err(|fault| reader.locate(fault, Segment::Index(index)))?;
        }
        Ok(())
    }

    #[inline]
    fn get_each<'de, T>(&self, reader: &mut Reader<'_, 'de>, take: impl FnMut(T)) -> Result<(), Fault>
    where
        E: Get<'de, T>,
    {
        get_each(&self.element, self.count_with_allocation::<T>(reader)?, reader, take)
    }
}

contiguous! {
    [H: Header] Slice<H, E>: Vec<T>;
    [H: Header] Slice<H, E>: Box<[T]>;
    [H: Header] Slice<H, E>: Rc<[T]>;
    [H: Header] Slice<H, E>: Arc<[T]>;
    [const N: usize] Array<N, E>: Vec<T>;
}

macro_rules! iterable {
    ($put:ident: $([$($generic:ident),*] $type:ty;)*) => {$(
        impl<$($generic,)* H: Header, E: Put<T>> Put<$type> for Slice<H, E> {
            #[inline]
            fn put(&self, values: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                self.$put(values.len(), values.iter(), writer)
            }

            #[inline]
            fn size(&self, values: &$type, levels: Levels) -> Result<usize, Fault> {
                self.size_iter(values.len(), values.iter(), levels)
            }
        }
    )*};
}

iterable! { put_iter:
    [T] VecDeque<T>;
    [T] LinkedList<T>;
    [T] BinaryHeap<T>;
}

iterable! { put_set:
    [T] BTreeSet<T>;
}

/// Implements the traits for a set of hashed elements.
#[cfg(any(feature = "hashbrown", feature = "indexmap", feature = "std"))]
macro_rules! hash_set {
    ($type:ty) => {
        iterable! { put_set: [T, S] $type; }

        impl<T: Ord, S, H: Header, E: Put<T>> Put<$type> for SortedSlice<H, E> {
            fn put(&self, set: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                let mut values: Vec<&T> = set.iter().collect();
                values.sort_unstable();
                self.0.put_set(values.len(), values.into_iter(), writer)
            }

            fn size(&self, set: &$type, levels: Levels) -> Result<usize, Fault> {
                Put::size(&self.0, set, levels)
            }
        }

        impl<'de, T, S, H, E> Get<'de, $type> for Slice<H, E>
        where
            T: Eq + core::hash::Hash,
            S: core::hash::BuildHasher + Default,
            H: Header,
            E: Get<'de, T>,
        {
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$type, Fault> {
                let mut values = <$type>::default();
                self.get_set(reader, |value| values.insert(value))?;
                Ok(values)
            }
        }
    };
}

#[cfg(feature = "hashbrown")]
hash_set!(hashbrown::HashSet<T, S>);
#[cfg(feature = "indexmap")]
hash_set!(indexmap::IndexSet<T, S>);
#[cfg(feature = "std")]
hash_set!(std::collections::HashSet<T, S>);

impl<'de, T, H: Header, E: Get<'de, T>> Get<'de, Vec<T>> for Slice<H, E> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Vec<T>, Fault> {
        let count = self.count_with_allocation::<T>(reader)?;
        let mut values = match self.element.fixed_size() {
            // The caller has checked that all bytes are available.
            Some(_) => Vec::with_capacity(count),
            None => Vec::new(),
        };
        self.element.get_all(count, reader, &mut values)?;
        Ok(values)
    }

    #[inline]
    fn empty(&self) -> Option<Vec<T>> {
        Some(Vec::new())
    }

    fn get_part(&self, count: usize, reader: &mut Reader<'_, 'de>, list: &mut Vec<T>) -> Result<(), Fault> {
        reader.count_allocation(count.saturating_mul(size_of::<T>()))?;
        self.element.get_all(count, reader, list)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, values: &mut Vec<T>) -> Result<(), Fault> {
        let count = self.count_with_allocation::<T>(reader)?;
        // Existing elements are decoded in place, which reuses their allocations. For types without any it is a plain
        // overwrite.
        values.truncate(count);
        if core::mem::needs_drop::<T>() {
            for (index, value) in values.iter_mut().enumerate() {
                self.element
                    .get_into(reader, value)
                    .map_err(|fault| reader.locate(fault, Segment::Index(index)))?;
            }
        } else {
            values.clear();
        }
        self.element.get_all(count - values.len(), reader, values)
    }
}

macro_rules! from_vec {
    ($([$($bound:ident)?] $type:ty;)*) => {$(
        impl<'de, T $(: $bound)?, H: Header, E: Get<'de, T>> Get<'de, $type> for Slice<H, E> {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$type, Fault> {
                Get::<Vec<T>>::get(self, reader).map(Into::into)
            }
        }
    )*};
}

from_vec! {
    [] VecDeque<T>;
    [] Box<[T]>;
    [] Rc<[T]>;
    [] Arc<[T]>;
    [Ord] BinaryHeap<T>;
}

impl<'de, T, H: Header, E: Get<'de, T>> Get<'de, LinkedList<T>> for Slice<H, E> {
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<LinkedList<T>, Fault> {
        let mut values = LinkedList::new();
        self.get_each(reader, |value| values.push_back(value))?;
        Ok(values)
    }
}

impl<'de, T: Ord, H: Header, E: Get<'de, T>> Get<'de, BTreeSet<T>> for Slice<H, E> {
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<BTreeSet<T>, Fault> {
        let mut values = BTreeSet::new();
        self.get_set(reader, |value| values.insert(value))?;
        Ok(values)
    }
}

#[cfg(feature = "smallvec")]
put_as! {
    [A: smallvec::Array, H: Header, E: Put<A::Item>] smallvec::SmallVec<A>, Slice<H, E>: |slice, values|
        values.as_slice(), slice;
}

#[cfg(feature = "smallvec")]
impl<'de, A: smallvec::Array, H: Header, E: Get<'de, A::Item>> Get<'de, smallvec::SmallVec<A>>
    for Slice<H, E>
{
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<smallvec::SmallVec<A>, Fault> {
        let mut values = smallvec::SmallVec::new();
        self.get_each(reader, |value| values.push(value))?;
        Ok(values)
    }
}

impl<'de, T, const N: usize, E: Get<'de, T>> Get<'de, Vec<T>> for Array<N, E> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Vec<T>, Fault> {
        reader.expect(self.min_size())?;
        reader.count_allocation(N.saturating_mul(size_of::<T>()))?;
        let mut values = Vec::new();
        self.0.get_all(N, reader, &mut values)?;
        Ok(values)
    }
}
