//! Wire types of tuples, ranges and their bounds, and of types with two alternatives.

use core::marker::PhantomData;
use core::ops::{Bound, Range, RangeInclusive};

#[cfg(feature = "alloc")]
use super::adjust::{multi, structure};
#[cfg(feature = "alloc")]
use super::dialect::tag_schema;
use super::dialect::{find_tag, put_tag, put_tagged, tag_width};
use super::prelude::*;
use super::{Le, Order, both};
use crate::read::{level, walk_level};

/// Implements the traits for a tuple of wire types, whose values are tuples: the parts in order, like a struct.
macro_rules! tuple {
    ($($wire:ident $type:ident $index:tt $name:literal),*) => {
        impl<$($wire: Wire),*> Wire for ($($wire,)*) {
            #[inline]
            fn min_size(&self) -> usize {
                0 $(+ self.$index.min_size())*
            }

            #[inline]
            fn fixed_size(&self) -> Option<usize> {
                let size = Some(0);
                $(let size = both(size, self.$index.fixed_size());)*
                size
            }

            #[inline]
            fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
                walk_level(input, |input| {
                    $(
                        self.$index.walk(input).map_err(|fault| input.locate(fault, Segment::Field($name)))?;
                    )*
                    Ok(())
                })
            }

            #[cfg(feature = "alloc")]
            fn schema(&self, context: &mut SchemaContext) -> Schema {
                context.enclosed("", |context| structure([$(($name, self.$index.schema(context))),*]))
            }
        }

        impl<$($wire: StaticWire),*> StaticWire for ($($wire,)*) {
            const NEW: Self = ($($wire::NEW,)*);
        }

        impl<$($type, $wire: Put<$type>),*> Put<($($type,)*)> for ($($wire,)*) {
            #[inline]
            fn put(&self, value: &($($type,)*), writer: &mut Writer<'_>) -> Result<(), Fault> {
                writer.level(|writer| {
                    $(
                        self.$index.put(&value.$index, writer).map_err(|fault| writer.locate(fault, Segment::Field($name)))?;
                    )*
                    Ok(())
                })
            }

            #[inline]
            fn size(&self, value: &($($type,)*), levels: Levels) -> Result<usize, Fault> {
                let levels = levels.deeper()?;
                Ok(0 $(+ self.$index.size(&value.$index, levels)?)*)
            }
        }

        impl<'de, $($type, $wire: Get<'de, $type>),*> Get<'de, ($($type,)*)> for ($($wire,)*) {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<($($type,)*), Fault> {
                level(reader, |reader| Ok(($(
                    match self.$index.get(reader) {
                        Ok(part) => part,
                        Err(fault) => return Err(reader.locate(fault, Segment::Field($name))),
                    },
                )*)))
            }

            #[inline]
            fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut ($($type,)*)) -> Result<(), Fault> {
                level(reader, |reader| {
                    $(
                        self.$index.get_into(reader, &mut value.$index).map_err(|fault| reader.locate(fault, Segment::Field($name)))?;
                    )*
                    Ok(())
                })
            }
        }
    };
}

for_tuples!(tuple);

/// Implements the traits for a range, which is encoded like a tuple of its start and end.
macro_rules! range {
    ($range:ident, |$value:ident| $start:expr, $end:expr; $new:expr) => {
        impl<T, A: Put<T>, B: Put<T>> Put<$range<T>> for (A, B) {
            #[inline]
            fn put(&self, $value: &$range<T>, writer: &mut Writer<'_>) -> Result<(), Fault> {
                writer.level(|writer| {
                    self.0.put($start, writer).map_err(|fault| writer.locate(fault, Segment::Field("0")))?;
                    self.1.put($end, writer).map_err(|fault| writer.locate(fault, Segment::Field("1")))
                })
            }

            #[inline]
            fn size(&self, $value: &$range<T>, levels: Levels) -> Result<usize, Fault> {
                let levels = levels.deeper()?;
                Ok(self.0.size($start, levels)? + self.1.size($end, levels)?)
            }
        }

        impl<'de, T, A: Get<'de, T>, B: Get<'de, T>> Get<'de, $range<T>> for (A, B) {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$range<T>, Fault> {
                Get::<(T, T)>::get(self, reader).map($new)
            }
        }
    };
}

range!(Range, |range| &range.start, &range.end; |(start, end)| start..end);
range!(RangeInclusive, |range| range.start(), range.end(); |(start, end)| start..=end);

/// One of two values: a byte, then a value of the wire type `A` if the byte is 0, or `B` if it is 1. In the formats of other
/// libraries, a [`U32`](super::U32) takes the place of the byte.
///
/// It is the wire type of `Result`. Other bytes fail with [`Error::is_unknown_type`](crate::Error::is_unknown_type), as
/// the unknown ids of an enum do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Either<A, B, O = Le>(A, B, PhantomData<O>);

impl<A: Wire, B: Wire, O: Order> Wire for Either<A, B, O> {
    /// The size of the tag, because the values may contain the type itself.
    #[inline]
    fn min_size(&self) -> usize {
        tag_width::<O>()
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        walk_level(input, |input| match find_tag::<O, _>(2, input)? {
            0 => self.0.walk(input),
            _ => self.1.walk(input),
        })
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        let header = tag_schema::<O>(context);
        context.enclosed("", |context| {
            multi(header, [("0", "Ok", self.0.schema(context)), ("1", "Err", self.1.schema(context))])
        })
    }
}

static_wire!([A: StaticWire, B: StaticWire, O: Order] Either<A, B, O> = Self(A::NEW, B::NEW, PhantomData));

impl<T, E, A: Put<T>, B: Put<E>, O: Order> Put<Result<T, E>> for Either<A, B, O> {
    #[inline]
    fn put(&self, value: &Result<T, E>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.level(|writer| match value {
            Ok(value) => put_tagged::<O, _, _>(0, &self.0, value, writer),
            Err(value) => put_tagged::<O, _, _>(1, &self.1, value, writer),
        })
    }

    #[inline]
    fn size(&self, value: &Result<T, E>, levels: Levels) -> Result<usize, Fault> {
        let levels = levels.deeper()?;
        Ok(tag_width::<O>()
            + match value {
                Ok(value) => self.0.size(value, levels)?,
                Err(value) => self.1.size(value, levels)?,
            })
    }
}

impl<'de, T, E, A: Get<'de, T>, B: Get<'de, E>, O: Order> Get<'de, Result<T, E>> for Either<A, B, O> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Result<T, E>, Fault> {
        level(reader, |reader| match find_tag::<O, _>(2, reader)? {
            0 => self.0.get(reader).map(Ok),
            _ => self.1.get(reader).map(Err),
        })
    }
}

/// An end of a range: the byte 0 if there is none, or a value of the wire type `W` after the byte 1 if it is included, or 2 if it
/// is excluded. In the formats of other libraries, a [`U32`](super::U32) takes the place of the byte.
///
/// It is the wire type of `Bound`. Other bytes fail with [`Error::is_unknown_type`](crate::Error::is_unknown_type).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeBound<W, O = Le>(W, PhantomData<O>);

impl<W: Wire, O: Order> Wire for RangeBound<W, O> {
    #[inline]
    fn min_size(&self) -> usize {
        tag_width::<O>()
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        walk_level(input, |input| match find_tag::<O, _>(3, input)? {
            0 => Ok(()),
            _ => self.0.walk(input),
        })
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        let header = tag_schema::<O>(context);
        context.enclosed("", |context| {
            let unbounded = context.enclosed("", |_| structure([]));
            let (included, excluded) = (self.0.schema(context), self.0.schema(context));
            multi(
                header,
                [("0", "Unbounded", unbounded), ("1", "Included", included), ("2", "Excluded", excluded)],
            )
        })
    }
}

static_wire!([W: StaticWire, O: Order] RangeBound<W, O> = Self(W::NEW, PhantomData));

impl<T, W: Put<T>, O: Order> Put<Bound<T>> for RangeBound<W, O> {
    #[inline]
    fn put(&self, bound: &Bound<T>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        writer.level(|writer| match bound {
            Bound::Unbounded => put_tag::<O>(0, writer),
            Bound::Included(value) => put_tagged::<O, _, _>(1, &self.0, value, writer),
            Bound::Excluded(value) => put_tagged::<O, _, _>(2, &self.0, value, writer),
        })
    }

    #[inline]
    fn size(&self, bound: &Bound<T>, levels: Levels) -> Result<usize, Fault> {
        let levels = levels.deeper()?;
        match bound {
            Bound::Unbounded => Ok(tag_width::<O>()),
            Bound::Included(value) | Bound::Excluded(value) => {
                Ok(tag_width::<O>() + self.0.size(value, levels)?)
            }
        }
    }
}

impl<'de, T, W: Get<'de, T>, O: Order> Get<'de, Bound<T>> for RangeBound<W, O> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Bound<T>, Fault> {
        level(reader, |reader| match find_tag::<O, _>(3, reader)? {
            0 => Ok(Bound::Unbounded),
            1 => self.0.get(reader).map(Bound::Included),
            _ => self.0.get(reader).map(Bound::Excluded),
        })
    }
}
