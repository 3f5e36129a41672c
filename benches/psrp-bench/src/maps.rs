//! The two rows of go-psrpcore that measure Go maps: read-only, shared by all processors.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;
use std::sync::RwLock;
use std::thread;

use uuid::Uuid;

/// Number of identifiers in a map.
const COUNT: usize = 100;
/// Number of shards of the sharded map.
const SHARDS: usize = 16;

/// A map read by several threads.
pub trait SharedMap: Sync {
    /// Returns the value of an identifier.
    fn get(&self, key: &Uuid) -> Option<usize>;
}

/// A map behind a lock.
#[derive(Debug)]
pub struct LockedMap(RwLock<HashMap<Uuid, usize>>);

/// A map split into shards, each behind a lock.
#[derive(Debug)]
pub struct ShardedMap {
    hasher: RandomState,
    shards: Vec<LockedMap>,
}

impl LockedMap {
    /// Creates a map from each identifier to its index.
    pub fn new(keys: &[Uuid]) -> Self {
        Self(RwLock::new(keys.iter().enumerate().map(|(place, &key)| (key, place)).collect()))
    }
}

impl SharedMap for LockedMap {
    fn get(&self, key: &Uuid) -> Option<usize> {
        self.0.read().ok()?.get(key).copied()
    }
}

impl ShardedMap {
    /// Creates a map from each identifier to its index.
    pub fn new(keys: &[Uuid]) -> Self {
        let hasher = RandomState::new();
        let mut shards = vec![HashMap::new(); SHARDS];
        for (place, &key) in keys.iter().enumerate() {
            shards[shard(&hasher, &key)].insert(key, place);
        }
        Self { hasher, shards: shards.into_iter().map(|shard| LockedMap(RwLock::new(shard))).collect() }
    }
}

impl SharedMap for ShardedMap {
    fn get(&self, key: &Uuid) -> Option<usize> {
        self.shards[shard(&self.hasher, key)].get(key)
    }
}

fn shard(hasher: &RandomState, key: &Uuid) -> usize {
    let mut hasher = hasher.build_hasher();
    hasher.write(key.as_bytes());
    // The hash map of a shard uses another hasher for its buckets.
    hasher.finish() as usize % SHARDS
}

/// Creates the identifiers of a map.
pub fn keys() -> Vec<Uuid> {
    (0..COUNT).map(|_| Uuid::new_v4()).collect()
}

/// Looks up `times` keys in turn on all processors. Returns 1 if all values are correct.
pub fn look_up(map: &impl SharedMap, keys: &[Uuid], times: u64) -> u64 {
    let workers = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let is_right = thread::scope(|scope| {
        let share = |worker| times / workers + u64::from(worker < times % workers);
        let worker = |times: u64| {
            (0..times as usize)
                .all(|turn| map.get(black_box(&keys[turn % keys.len()])) == Some(turn % keys.len()))
        };
        let workers: Vec<_> = (0..workers).map(|each| scope.spawn(move || worker(share(each)))).collect();
        workers.into_iter().all(|worker| worker.join().unwrap_or(false))
    });
    u64::from(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_maps_contain_all_keys() {
        let keys = keys();
        assert_eq!(look_up(&LockedMap::new(&keys), &keys, 1001), 1);
        assert_eq!(look_up(&ShardedMap::new(&keys), &keys, 1001), 1);
        assert_eq!(look_up(&LockedMap::new(&[]), &keys, 1), 0);
    }
}
