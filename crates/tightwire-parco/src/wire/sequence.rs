//! Slices, with a header that counts elements, and arrays, with a fixed number of elements.

use alloc::boxed::Box;
use alloc::collections::{BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::array;
use core::marker::PhantomData;
#[cfg(feature = "std")]
use std::collections::HashSet;

use super::{Get, Header, Put, StaticWire, Wire};
use crate::error::{Fault, Segment};
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// A slice: a header with the number of elements, then the elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice<H, E> {
    element: E,
    header: PhantomData<H>,
}

impl<H: Header, E: Wire> Slice<H, E> {
    /// Creates a slice type with elements of this wire type.
    pub fn of(_: H, element: E) -> Self {
        Self { element, header: PhantomData }
    }

    pub(crate) const fn element(&self) -> &E {
        &self.element
    }

    /// Reads and checks the number of elements.
    #[inline]
    pub(crate) fn count<I: Input>(&self, input: &mut I) -> Result<usize, Fault> {
        let count = H::length(input)?;
        input.check_elements(count, self.element.min_size())?;
        Ok(count)
    }

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
        H::put_length(count, writer)?;
        for (index, value) in values.enumerate() {
            if let Err(fault) = self.element.put(value, writer) {
                return Err(writer.locate(fault, Segment::Index(index)));
            }
        }
        Ok(())
    }

    #[inline]
    fn size_iter<'a, T: 'a>(
        &self,
        count: usize,
        values: impl Iterator<Item = &'a T>,
        levels: Levels,
    ) -> Result<usize, Fault>
    where
        E: Put<T>,
    {
        H::check(count)?;
        Ok(H::width(count as u64) + size_of_elements(&self.element, values, levels)?)
    }

    #[inline]
    fn get_each<'de, T>(&self, reader: &mut Reader<'_, 'de>, mut take: impl FnMut(T)) -> Result<(), Fault>
    where
        E: Get<'de, T>,
    {
        for index in 0..self.count_with_allocation::<T>(reader)? {
            match self.element.get(reader) {
                Ok(value) => take(value),
                Err(fault) => return Err(reader.locate(fault, Segment::Index(index))),
            }
        }
        Ok(())
    }
}

#[inline]
fn size_of_elements<'a, T: 'a, E: Put<T>>(
    element: &E,
    mut values: impl Iterator<Item = &'a T>,
    levels: Levels,
) -> Result<usize, Fault> {
    values.try_fold(0, |sum, value| Ok(sum + element.size(value, levels)?))
}

impl<H: Header, E: Wire> Wire for Slice<H, E> {
    #[inline]
    fn min_size(&self) -> usize {
        H::WIDTH
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        let count = self.count(input)?;
        self.element.walk_all(count, input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Slice {
            header: Box::new(H::NEW.schema(context)),
            element: Box::new(self.element.schema(context)),
        }
    }
}

impl<H: Header, E: StaticWire> StaticWire for Slice<H, E> {
    const NEW: Self = Self { element: E::NEW, header: PhantomData };
}

impl<T, H: Header, E: Put<T>> Put<[T]> for Slice<H, E> {
    #[inline]
    fn put(&self, values: &[T], writer: &mut Writer<'_>) -> Result<(), Fault> {
        H::put_length(values.len(), writer)?;
        self.element.put_all(values, writer)
    }

    #[inline]
    fn size(&self, values: &[T], levels: Levels) -> Result<usize, Fault> {
        self.size_iter(values.len(), values.iter(), levels)
    }
}

macro_rules! contiguous {
    ($([$($generics:tt)*] $wire:ty: $type:ty;)*) => {$(
        impl<T, $($generics)*, E: Put<T>> Put<$type> for $wire {
            #[inline]
            fn put(&self, values: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                Put::<[T]>::put(self, values, writer)
            }

            #[inline]
            fn size(&self, values: &$type, levels: Levels) -> Result<usize, Fault> {
                Put::<[T]>::size(self, values, levels)
            }
        }
    )*};
}

contiguous! {
    [H: Header] Slice<H, E>: Vec<T>;
    [H: Header] Slice<H, E>: Box<[T]>;
    [H: Header] Slice<H, E>: Rc<[T]>;
    [H: Header] Slice<H, E>: Arc<[T]>;
    [H: Header] Slice<H, E>: &[T];
    [const N: usize] Array<N, E>: Vec<T>;
    [const N: usize] Array<N, E>: [T; N];
}

macro_rules! iterable {
    ($([$($generic:ident),*] $type:ty;)*) => {$(
        impl<$($generic,)* H: Header, E: Put<T>> Put<$type> for Slice<H, E> {
            #[inline]
            fn put(&self, values: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                self.put_iter(values.len(), values.iter(), writer)
            }

            #[inline]
            fn size(&self, values: &$type, levels: Levels) -> Result<usize, Fault> {
                self.size_iter(values.len(), values.iter(), levels)
            }
        }
    )*};
}

iterable! {
    [T] VecDeque<T>;
    [T] BTreeSet<T>;
    [T] LinkedList<T>;
    [T] BinaryHeap<T>;
}

#[cfg(feature = "indexmap")]
iterable! {
    [T, S] indexmap::IndexSet<T, S>;
}

#[cfg(feature = "std")]
iterable! {
    [T, S] HashSet<T, S>;
}

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
    fn get_into(&self, reader: &mut Reader<'_, 'de>, values: &mut Vec<T>) -> Result<(), Fault> {
        let count = self.count_with_allocation::<T>(reader)?;
        // Existing elements are decoded in place, which reuses their allocations. For types without any it is a plain
        // overwrite.
        values.truncate(count);
        if core::mem::needs_drop::<T>() {
            for (index, value) in values.iter_mut().enumerate() {
                if let Err(fault) = self.element.get_into(reader, value) {
                    return Err(reader.locate(fault, Segment::Index(index)));
                }
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
        self.get_each(reader, |value| values.extend([value]))?;
        Ok(values)
    }
}

#[cfg(feature = "std")]
impl<'de, T, S, H, E> Get<'de, HashSet<T, S>> for Slice<H, E>
where
    T: Eq + core::hash::Hash,
    S: core::hash::BuildHasher + Default,
    H: Header,
    E: Get<'de, T>,
{
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<HashSet<T, S>, Fault> {
        let mut values = HashSet::default();
        self.get_each(reader, |value| values.extend([value]))?;
        Ok(values)
    }
}

#[cfg(feature = "indexmap")]
impl<'de, T, S, H, E> Get<'de, indexmap::IndexSet<T, S>> for Slice<H, E>
where
    T: Eq + core::hash::Hash,
    S: core::hash::BuildHasher + Default,
    H: Header,
    E: Get<'de, T>,
{
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<indexmap::IndexSet<T, S>, Fault> {
        let mut values = indexmap::IndexSet::default();
        self.get_each(reader, |value| values.extend([value]))?;
        Ok(values)
    }
}

#[cfg(feature = "smallvec")]
impl<A: smallvec::Array, H: Header, E: Put<A::Item>> Put<smallvec::SmallVec<A>> for Slice<H, E> {
    #[inline]
    fn put(&self, values: &smallvec::SmallVec<A>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        Put::<[A::Item]>::put(self, values, writer)
    }

    #[inline]
    fn size(&self, values: &smallvec::SmallVec<A>, levels: Levels) -> Result<usize, Fault> {
        Put::<[A::Item]>::size(self, values, levels)
    }
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

/// Exactly `N` elements, without a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Array<const N: usize, E>(pub E);

impl<const N: usize, E: Wire> Wire for Array<N, E> {
    #[inline]
    fn min_size(&self) -> usize {
        N * self.0.min_size()
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        self.0.fixed_size().map(|size| N * size)
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.0.walk_all(N, input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Array { len: N as u64, element: Box::new(self.0.schema(context)) }
    }
}

impl<const N: usize, E: StaticWire> StaticWire for Array<N, E> {
    const NEW: Self = Self(E::NEW);
}

/// Fails with [`Error::is_invalid_length`](crate::Error::is_invalid_length) unless there are `N` elements.
impl<T, const N: usize, E: Put<T>> Put<[T]> for Array<N, E> {
    #[inline]
    fn put(&self, values: &[T], writer: &mut Writer<'_>) -> Result<(), Fault> {
        if values.len() != N {
            return Err(Fault::INVALID_LENGTH);
        }
        self.0.put_all(values, writer)
    }

    #[inline]
    fn size(&self, values: &[T], levels: Levels) -> Result<usize, Fault> {
        if values.len() != N {
            return Err(Fault::INVALID_LENGTH);
        }
        size_of_elements(&self.0, values.iter(), levels)
    }
}

impl<'de, T, const N: usize, E: Get<'de, T>> Get<'de, [T; N]> for Array<N, E> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<[T; N], Fault> {
        reader.expect(self.min_size())?;
        let mut outcome = Ok(());
        let values = array::from_fn::<_, N, _>(|index| {
            outcome.ok()?;
            self.0
                .get(reader)
                .map_err(|fault| outcome = Err(reader.locate(fault, Segment::Index(index))))
                .ok()
        });
        outcome?;
        Ok(values.map(|value| value.unwrap_or_else(|| unreachable!("all are there without a fault"))))
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, values: &mut [T; N]) -> Result<(), Fault> {
        for (index, value) in values.iter_mut().enumerate() {
            if let Err(fault) = self.0.get_into(reader, value) {
                return Err(reader.locate(fault, Segment::Index(index)));
            }
        }
        Ok(())
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
