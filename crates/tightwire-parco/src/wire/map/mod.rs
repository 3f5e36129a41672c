//! Maps: a header with the number of entries, then the key and value of each.

use core::marker::PhantomData;

use super::Header;
use super::prelude::*;
use crate::read::KeyOrder;

/// A map: a header with the number of entries, then the entries in iteration order.
///
/// The format does not specify an order: the Go library writes entries in iteration order, and decoders accept any
/// order. Use [`SortedMap`] or [`Options::canonical`](crate::Options::canonical) for reproducible bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Map<H, K, V> {
    key: K,
    value: V,
    header: PhantomData<H>,
}

impl<H: Header, K: Wire, V: Wire> Map<H, K, V> {
    /// Creates a map type with these key and value types.
    pub fn of(_: H, key: K, value: V) -> Self {
        Self { key, value, header: PhantomData }
    }

    /// Reads and checks the number of entries.
    #[inline]
    pub(crate) fn count<I: Input>(&self, input: &mut I) -> Result<usize, Fault> {
        let count = H::length(input)?;
        input.check_elements(count, ElementSize::of_entry(&self.key, &self.value))?;
        Ok(count)
    }

    #[inline]
    fn put_entries<'a, A: 'a, B: 'a>(
        &self,
        count: usize,
        mut entries: impl ExactSizeIterator<Item = (&'a A, &'a B)>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Fault>
    where
        K: Put<A>,
        V: Put<B>,
    {
        let size = ElementSize::of_entry(&self.key, &self.value);
        writer.check_elements(count, size, size_of::<(A, B)>())?;
        H::put_length(count, writer)?;
        #[cfg(feature = "alloc")]
        if writer.is_canonical() {
            return writer.detached(|writer| self.put_canonical(entries, writer));
        }
        // The index is computed from the iterator only for a fault, because a counter takes a register of the loop.
        while let Some((key, value)) = entries.next() {
            self.key
                .put(key, writer)
                .map_err(|fault| writer.locate(fault, Segment::Key(count - 1 - entries.len())))?;
            self.value
                .put(value, writer)
                .map_err(|fault| writer.locate(fault, Segment::Value(count - 1 - entries.len())))?;
        }
        Ok(())
    }

    #[inline]
    fn size_entries<'a, A: 'a, B: 'a>(
        &self,
        count: usize,
        mut entries: impl Iterator<Item = (&'a A, &'a B)>,
        levels: Levels,
    ) -> Result<usize, Fault>
    where
        K: Put<A>,
        V: Put<B>,
    {
        H::check(count)?;
        entries.try_fold(H::width(count as u64), |sum, (key, value)| {
            Ok(sum + self.key.size(key, levels)? + self.value.size(value, levels)?)
        })
    }

    /// Decodes the entry at this index and passes it to `take`. Returned as a pair, it would be moved byte by byte.
    #[inline(always)]
    pub(crate) fn get_entry<'de, A, B, T>(
        &self,
        index: usize,
        order: &mut KeyOrder<'de>,
        reader: &mut Reader<'_, 'de>,
        take: impl FnOnce(A, B) -> T,
    ) -> Result<T, Fault>
    where
        K: Get<'de, A>,
        V: Get<'de, B>,
    {
        let start = reader.rest();
        let key = match self.key.get(reader) {
            Ok(key) => key,
            Err(fault) => return Err(reader.locate(fault, Segment::Key(index))),
        };
        order.check(start, reader).map_err(|fault| reader.locate(fault, Segment::Key(index)))?;
        match self.value.get(reader) {
            Ok(value) => Ok(take(key, value)),
            Err(fault) => Err(reader.locate(fault, Segment::Value(index))),
        }
    }
}

impl<H: Header, K: Wire, V: Wire> Wire for Map<H, K, V> {
    #[inline]
    fn min_size(&self) -> usize {
        H::WIDTH
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        let count = self.count(input)?;
        let entry = self.key.min_size() + self.value.min_size();
        input.announce(count.wrapping_mul(entry));
        input.walk_parts(count, |input, index| {
            input.start(entry);
            self.key.walk(input).map_err(|fault| input.locate(fault, Segment::Key(index)))?;
            self.value.walk(input).map_err(|fault| input.locate(fault, Segment::Value(index)))
        })
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Map {
            header: H::NEW.schema(context).into(),
            key: self.key.schema(context).into(),
            value: self.value.schema(context).into(),
        }
    }
}

static_wire!([H: Header, K: StaticWire, V: StaticWire] Map<H, K, V> = Self { key: K::NEW, value: V::NEW, header: PhantomData });

macro_rules! put {
    ($([$($generic:ident),*] $type:ty: |$map:ident| $entries:expr;)*) => {$(
        impl<A, B, $($generic,)* H: Header, K: Put<A>, V: Put<B>> Put<$type> for Map<H, K, V> {
            #[inline]
            fn put(&self, $map: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                self.put_entries($map.len(), $entries, writer)
            }

            #[inline]
            fn size(&self, $map: &$type, levels: Levels) -> Result<usize, Fault> {
                self.size_entries($map.len(), $entries, levels)
            }
        }
    )*};
}

put! {
    [] [(A, B)]: |entries| entries.iter().map(|(key, value)| (key, value));
}

#[cfg(feature = "alloc")]
mod owned;

/// A [`Map`] whose entries are encoded in the order of their keys, so that equal maps have equal bytes.
///
/// Encoding collects and sorts references to all entries. A `BTreeMap` is already sorted, so [`Map`] is enough.
/// Decoding accepts any order. With [`Options::canonical`](crate::Options::canonical), the order is that of the encoded keys
/// instead, as in every map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortedMap<H, K, V>(Map<H, K, V>);

impl<H: Header, K: Wire, V: Wire> SortedMap<H, K, V> {
    /// Creates a map type with these key and value types.
    pub fn of(header: H, key: K, value: V) -> Self {
        Self(Map::of(header, key, value))
    }
}

same_wire!([H: Header, K: Wire, V: Wire] SortedMap<H, K, V>: |map| map.0);

static_wire!([H: Header, K: StaticWire, V: StaticWire] SortedMap<H, K, V> = Self(Map::NEW));

same_get! { [H: Header, K: Wire, V: Wire] SortedMap<H, K, V>, Map<H, K, V> }
