//! Maps of the types that allocate.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
#[cfg(any(feature = "hashbrown", feature = "indexmap", feature = "std"))]
use core::hash::{BuildHasher, Hash};

use super::*;
use crate::error::ErrorKind;

impl<H: Header, K: Wire, V: Wire> Map<H, K, V> {
    /// Reads and checks the number of entries, and counts the memory of that many entries against the limit.
    #[inline]
    fn count_with_allocation<A, B>(&self, reader: &mut Reader<'_, '_>) -> Result<usize, Fault> {
        let count = self.count(reader)?;
        reader.count_allocation(count.saturating_mul(size_of::<(A, B)>()))?;
        Ok(count)
    }

    /// Encodes entries, and then sorts them by the bytes of their keys.
    #[cold]
    pub(super) fn put_canonical<'a, A: 'a, B: 'a>(
        &self,
        entries: impl Iterator<Item = (&'a A, &'a B)>,
        writer: &mut Writer<'_>,
    ) -> Result<(), Fault>
    where
        K: Put<A>,
        V: Put<B>,
    {
        let mut keys = Vec::new();
        for (index, (key, value)) in entries.enumerate() {
            let start = writer.position();
            self.key.put(key, writer).map_err(|fault| writer.locate(fault, Segment::Key(index)))?;
            keys.push(start..writer.position());
            self.value.put(value, writer).map_err(|fault| writer.locate(fault, Segment::Value(index)))?;
        }
        writer.sort_parts(&keys, Segment::Key)
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
        let mut order = KeyOrder::new(reader);
        for index in 0..count {
            let start = reader.rest();
            let is_new = match spare.pop() {
                Some((mut key, mut value)) => {
                    let read = self.key.get_into(reader, &mut key);
                    read.and_then(|()| order.check(start, reader))
                        .map_err(|fault| reader.locate(fault, Segment::Key(index)))?;
                    self.value
                        .get_into(reader, &mut value)
                        .map_err(|fault| reader.locate(fault, Segment::Value(index)))?;
                    insert(key, value)
                }
                None => self.get_entry(index, &mut order, reader, &mut insert)?,
            };
            if !is_new && reader.rejects_duplicates() {
                let fault = reader.fail_at(start, Fault(ErrorKind::DuplicateKey));
                return Err(reader.locate(fault, Segment::Key(index)));
            }
        }
        Ok(())
    }
}

put! {
    [] BTreeMap<A, B>: |map| map.iter();
    [] Vec<(A, B)>: |entries| entries.iter().map(|(key, value)| (key, value));
}

impl<'de, A, B, H: Header, K: Get<'de, A>, V: Get<'de, B>> Get<'de, Vec<(A, B)>> for Map<H, K, V> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Vec<(A, B)>, Fault> {
        let count = self.count_with_allocation::<A, B>(reader)?;
        let mut entries = Vec::with_capacity(count);
        let mut order = KeyOrder::new(reader);
        for index in 0..count {
            self.get_entry(index, &mut order, reader, |key, value| entries.push((key, value)))?;
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

/// Implements the traits for a map of hashed keys.
#[cfg(any(feature = "hashbrown", feature = "indexmap", feature = "std"))]
macro_rules! hash_map {
    ($type:ty $(, $all:expr)?) => {
        put! {
            [S] $type: |map| map.iter();
        }

        impl<'de, A, B, S, H, K, V> Get<'de, $type> for Map<H, K, V>
        where
            A: Eq + Hash,
            S: BuildHasher + Default,
            H: Header,
            K: Get<'de, A>,
            V: Get<'de, B>,
        {
            #[inline]
            fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<$type, Fault> {
                let count = self.count_with_allocation::<A, B>(reader)?;
                let mut map = <$type>::with_capacity_and_hasher(count, S::default());
                self.get_entries(count, reader, Vec::new(), |key, value| map.insert(key, value).is_none())?;
                Ok(map)
            }

            /// Reuses the table and the allocations of keys and values, which are moved to a temporary vector.
            fn get_into(&self, reader: &mut Reader<'_, 'de>, map: &mut $type) -> Result<(), Fault> {
                let count = self.count_with_allocation::<A, B>(reader)?;
                let mut spare: Vec<(A, B)> = Vec::new();
                if core::mem::needs_drop::<(A, B)>() {
                    spare.extend(map.drain($($all)?).take(count));
                }
                map.clear();
                map.reserve(count);
                self.get_entries(count, reader, spare, |key, value| map.insert(key, value).is_none())
            }
        }

        impl<A: Ord, B, S, H: Header, K: Put<A>, V: Put<B>> Put<$type> for SortedMap<H, K, V> {
            fn put(&self, map: &$type, writer: &mut Writer<'_>) -> Result<(), Fault> {
                let mut entries: Vec<(&A, &B)> = map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                self.0.put_entries(entries.len(), entries.into_iter(), writer)
            }

            fn size(&self, map: &$type, levels: Levels) -> Result<usize, Fault> {
                Put::size(&self.0, map, levels)
            }
        }
    };
}

#[cfg(feature = "hashbrown")]
hash_map!(hashbrown::HashMap<A, B, S>);
#[cfg(feature = "indexmap")]
hash_map!(indexmap::IndexMap<A, B, S>, ..);
#[cfg(feature = "std")]
hash_map!(std::collections::HashMap<A, B, S>);
