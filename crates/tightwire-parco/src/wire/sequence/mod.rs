//! Slices, with a header that counts elements, and arrays, with a fixed number of elements.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::array;
use core::marker::PhantomData;
use core::ops::Range;

use super::Header;
use super::prelude::*;

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
        input.check_elements(count, ElementSize::of(&self.element))?;
        Ok(count)
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

    fn walk_count<I: Input>(&self, input: &mut I) -> Result<usize, Fault> {
        self.count(input)
    }

    fn walk_part<I: Input>(&self, count: usize, input: &mut I) -> Result<(), Fault> {
        self.element.walk_all(count, input)
    }

    fn part_size(&self) -> ElementSize {
        ElementSize::of(&self.element)
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Slice { header: H::NEW.schema(context).into(), element: self.element.schema(context).into() }
    }
}

static_wire!([H: Header, E: StaticWire] Slice<H, E> = Self { element: E::NEW, header: PhantomData });

impl<T, H: Header, E: Put<T>> Put<[T]> for Slice<H, E> {
    #[inline]
    fn put(&self, values: &[T], writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.check_elements(values.len(), ElementSize::of(&self.element), size_of::<T>())?;
        H::put_length(values.len(), writer)?;
        self.element.put_all(values, writer)
    }

    #[inline]
    fn parts(&self, values: &[T]) -> Option<usize> {
        Some(values.len())
    }

    fn put_part(
        &self,
        values: &[T],
        part: Option<Range<usize>>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Fault> {
        match part {
            Some(part) => self.element.put_all(&values[part], writer),
            None => {
                let size = ElementSize::of(&self.element);
                writer.check_elements(values.len(), size, size_of::<T>())?;
                H::put_length(values.len(), writer)
            }
        }
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
            fn parts(&self, values: &$type) -> Option<usize> {
                Put::<[T]>::parts(self, values)
            }

            fn put_part(
                &self,
                values: &$type,
                part: Option<core::ops::Range<usize>>,
                writer: &mut Writer<'_>,
            ) -> Result<(), Fault> {
                Put::<[T]>::put_part(self, values, part, writer)
            }

            #[inline]
            fn size(&self, values: &$type, levels: Levels) -> Result<usize, Fault> {
                Put::<[T]>::size(self, values, levels)
            }
        }
    )*};
}

contiguous! {
    [H: Header] Slice<H, E>: &[T];
    [const N: usize] Array<N, E>: [T; N];
}

/// Implements the traits for vectors of fixed capacity. More elements fail with
/// [`Error::is_invalid_length`](crate::Error::is_invalid_length).
#[cfg(any(feature = "arrayvec", feature = "heapless"))]
macro_rules! fixed_capacity {
    ($type:ty: $push:ident) => {
        contiguous! { [const N: usize, H: Header] Slice<H, E>: $type; }

        impl<'de, T, const N: usize, H: Header, E: Get<'de, T>> Get<'de, $type> for Slice<H, E> {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$type, Fault> {
                let mut values = <$type>::new();
                for index in 0..self.count(reader)? {
                    let value = self.element.get(reader);
                    let pushed =
                        value.and_then(|value| values.$push(value).map_err(|_| Fault::INVALID_LENGTH));
                    pushed.map_err(|fault| reader.locate(fault, Segment::Index(index)))?;
                }
                Ok(values)
            }
        }
    };
}

#[cfg(feature = "arrayvec")]
fixed_capacity!(arrayvec::ArrayVec<T, N>: try_push);
#[cfg(feature = "heapless")]
fixed_capacity!(heapless::Vec<T, N>: push);

#[cfg(feature = "alloc")]
mod owned;

/// A [`Slice`] whose elements are encoded in ascending order, so that equal sets have equal bytes: the attribute `sorted` of a
/// `HashSet`.
///
/// Encoding collects and sorts references to all elements. Decoding accepts any order. With
/// [`Options::canonical`](crate::Options::canonical), the order is that of the encoded elements instead, as in every set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortedSlice<H, E>(Slice<H, E>);

impl<H: Header, E: Wire> SortedSlice<H, E> {
    /// Creates a slice type with elements of this wire type.
    pub fn of(header: H, element: E) -> Self {
        Self(Slice::of(header, element))
    }
}

same_wire!([H: Header, E: Wire] SortedSlice<H, E>: |slice| slice.0);

static_wire!([H: Header, E: StaticWire] SortedSlice<H, E> = Self(Slice::NEW));

same_get! { [H: Header, E: Wire] SortedSlice<H, E>, Slice<H, E> }

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

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Array { len: N as u64, element: self.0.schema(context).into() }
    }
}

static_wire!([const N: usize, E: StaticWire] Array<N, E> = Self(E::NEW));

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

    #[cfg(feature = "alloc")]
    fn get_boxed(&self, reader: &mut Reader<'_, 'de>) -> Result<Box<[T; N]>, Fault> {
        reader.expect(self.min_size())?;
        let mut values = Vec::with_capacity(N);
        self.0.get_all(N, reader, &mut values)?;
        values.into_boxed_slice().try_into().map_err(|_| Fault::INVALID_LENGTH)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, values: &mut [T; N]) -> Result<(), Fault> {
        for (index, value) in values.iter_mut().enumerate() {
            self.0.get_into(reader, value).map_err(|fault| reader.locate(fault, Segment::Index(index)))?;
        }
        Ok(())
    }
}
