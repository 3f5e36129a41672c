//! Maps: a header with the number of entries, then the key and value of each.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
#[cfg(any(feature = "indexmap", feature = "std"))]
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;
#[cfg(feature = "std")]
use std::collections::HashMap;

use super::{Get, Header, Put, StaticWire, Wire};
use crate::error::{ErrorKind, Fault, Segment};
use crate::options::Levels;
use crate::read::{Input, Reader};
use crate::schema::{Schema, SchemaContext};
use crate::write::Writer;

/// A map: a header with the number of entries, then the entries in iteration order.
///
/// The format does not specify an order: the Go library writes entries in iteration order, and decoders accept any
/// order. Use [`SortedMap`] for reproducible bytes.
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
        input.check_elements(count, self.key.min_size() + self.value.min_size())?;
        Ok(count)
    }

    /// Reads and checks the number of entries, and counts the memory of that many entries against the limit.
    #[inline]
    fn count_with_allocation<A, B>(&self, reader: &mut Reader<'_, '_>) -> Result<usize, Fault> {
        let count = self.count(reader)?;
        reader.count_allocation(count.saturating_mul(size_of::<(A, B)>()))?;
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
        H::put_length(count, writer)?;
        // The index is computed from the iterator only for a fault, because a counter takes a register of the loop.
        while let Some((key, value)) = entries.next() {
            if let Err(fault) = self.key.put(key, writer) {
                return Err(writer.locate(fault, Segment::Key(count - 1 - entries.len())));
            }
            if let Err(fault) = self.value.put(value, writer) {
                return Err(writer.locate(fault, Segment::Value(count - 1 - entries.len())));
            }
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

    /// Decodes the entry at this index.
    #[inline(always)]
    pub(crate) fn get_entry<'de, A, B>(
        &self,
        index: usize,
        reader: &mut Reader<'_, 'de>,
    ) -> Result<(A, B), Fault>
    where
        K: Get<'de, A>,
        V: Get<'de, B>,
    {
        let key = match self.key.get(reader) {
            Ok(key) => key,
            Err(fault) => return Err(reader.locate(fault, Segment::Key(index))),
        };
        match self.value.get(reader) {
            Ok(value) => Ok((key, value)),
            Err(fault) => Err(reader.locate(fault, Segment::Value(index))),
        }
    }

    /// Decodes entries and passes them to `insert`, which returns false for a duplicate key. `spare` has old entries,
    /// whose allocations are reused.
    #[inline]
    fn get_entries<'de, A, B>(
        &self,
        count: usize,
        reader: &mut Reader<'_, 'de>,
        mut spare: Vec<(A, B)>,
        mut insert: impl FnMut(A, B) -> bool,
    ) -> Result<(), Fault>
    where
        K: Get<'de, A>,
        V: Get<'de, B>,
    {
        for index in 0..count {
            let start = reader.rest();
            let (key, value) = match spare.pop() {
                Some((mut key, mut value)) => {
                    if let Err(fault) = self.key.get_into(reader, &mut key) {
                        return Err(reader.locate(fault, Segment::Key(index)));
                    }
                    if let Err(fault) = self.value.get_into(reader, &mut value) {
                        return Err(reader.locate(fault, Segment::Value(index)));
                    }
                    (key, value)
                }
                None => self.get_entry(index, reader)?,
            };
            if !insert(key, value) && reader.rejects_duplicates() {
                let fault = reader.fail_at(start, Fault(ErrorKind::DuplicateKey));
                return Err(reader.locate(fault, Segment::Key(index)));
            }
        }
        Ok(())
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
            if let Err(fault) = self.key.walk(input) {
                return Err(input.locate(fault, Segment::Key(index)));
            }
            self.value.walk(input).map_err(|fault| input.locate(fault, Segment::Value(index)))
        })
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        Schema::Map {
            header: Box::new(H::NEW.schema(context)),
            key: Box::new(self.key.schema(context)),
            value: Box::new(self.value.schema(context)),
        }
    }
}

impl<H: Header, K: StaticWire, V: StaticWire> StaticWire for Map<H, K, V> {
    const NEW: Self = Self { key: K::NEW, value: V::NEW, header: PhantomData };
}

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
    [] BTreeMap<A, B>: |map| map.iter();
    [] [(A, B)]: |entries| entries.iter().map(|(key, value)| (key, value));
    [] Vec<(A, B)>: |entries| entries.iter().map(|(key, value)| (key, value));
}

#[cfg(feature = "indexmap")]
put! {
    [S] indexmap::IndexMap<A, B, S>: |map| map.iter();
}

#[cfg(feature = "std")]
put! {
    [S] HashMap<A, B, S>: |map| map.iter();
}

impl<'de, A, B, H: Header, K: Get<'de, A>, V: Get<'de, B>> Get<'de, Vec<(A, B)>> for Map<H, K, V> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Vec<(A, B)>, Fault> {
        let count = self.count_with_allocation::<A, B>(reader)?;
        let mut entries = Vec::with_capacity(count);
        for index in 0..count {
            entries.push(self.get_entry(index, reader)?);
        }
        Ok(entries)
    }
}

impl<'de, A: Ord, B, H: Header, K: Get<'de, A>, V: Get<'de, B>> Get<'de, BTreeMap<A, B>> for Map<H, K, V> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<BTreeMap<A, B>, Fault> {
        let count = self.count_with_allocation::<A, B>(reader)?;
        let mut map = BTreeMap::new();
        self.get_entries(count, reader, Vec::new(), |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }
}

#[cfg(feature = "indexmap")]
impl<'de, A, B, S, H, K, V> Get<'de, indexmap::IndexMap<A, B, S>> for Map<H, K, V>
where
    A: Eq + Hash,
    S: BuildHasher + Default,
    H: Header,
    K: Get<'de, A>,
    V: Get<'de, B>,
{
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<indexmap::IndexMap<A, B, S>, Fault> {
        let count = self.count_with_allocation::<A, B>(reader)?;
        let mut map = indexmap::IndexMap::default();
        self.get_entries(count, reader, Vec::new(), |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }
}

#[cfg(feature = "std")]
impl<'de, A, B, S, H, K, V> Get<'de, HashMap<A, B, S>> for Map<H, K, V>
where
    A: Eq + Hash,
    S: BuildHasher + Default,
    H: Header,
    K: Get<'de, A>,
    V: Get<'de, B>,
{
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<HashMap<A, B, S>, Fault> {
        let count = self.count_with_allocation::<A, B>(reader)?;
        let mut map = HashMap::with_capacity_and_hasher(count, S::default());
        self.get_entries(count, reader, Vec::new(), |key, value| map.insert(key, value).is_none())?;
        Ok(map)
    }

    /// Reuses the table and the allocations of keys and values, which are moved to a temporary vector.
    fn get_into(&self, reader: &mut Reader<'_, 'de>, map: &mut HashMap<A, B, S>) -> Result<(), Fault> {
        let count = self.count_with_allocation::<A, B>(reader)?;
        let mut spare: Vec<(A, B)> = Vec::new();
        if core::mem::needs_drop::<(A, B)>() {
            spare.extend(map.drain().take(count));
        }
        map.clear();
        map.reserve(count);
        self.get_entries(count, reader, spare, |key, value| map.insert(key, value).is_none())
    }
}

/// A [`Map`] whose entries are encoded in the order of their keys, so that equal maps have equal bytes.
///
/// Encoding collects and sorts references to all entries. A `BTreeMap` is already sorted, so [`Map`] is enough.
/// Decoding accepts any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortedMap<H, K, V>(Map<H, K, V>);

impl<H: Header, K: Wire, V: Wire> SortedMap<H, K, V> {
    /// Creates a map type with these key and value types.
    pub fn of(header: H, key: K, value: V) -> Self {
        Self(Map::of(header, key, value))
    }
}

same_wire!([H: Header, K: Wire, V: Wire] SortedMap<H, K, V>: |map| map.0);

impl<H: Header, K: StaticWire, V: StaticWire> StaticWire for SortedMap<H, K, V> {
    const NEW: Self = Self(Map::NEW);
}

#[cfg(feature = "std")]
impl<A: Ord, B, S, H: Header, K: Put<A>, V: Put<B>> Put<HashMap<A, B, S>> for SortedMap<H, K, V> {
    fn put(&self, map: &HashMap<A, B, S>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let mut entries: Vec<(&A, &B)> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        self.0.put_entries(entries.len(), entries.into_iter(), writer)
    }

    fn size(&self, map: &HashMap<A, B, S>, levels: Levels) -> Result<usize, Fault> {
        Put::size(&self.0, map, levels)
    }
}

impl<'de, T, H: Header, K: Wire, V: Wire> Get<'de, T> for SortedMap<H, K, V>
where
    Map<H, K, V>: Get<'de, T>,
{
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<T, Fault> {
        self.0.get(reader)
    }

    #[inline]
    fn get_into(&self, reader: &mut Reader<'_, 'de>, value: &mut T) -> Result<(), Fault> {
        self.0.get_into(reader, value)
    }
}
