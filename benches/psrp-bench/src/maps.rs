//! The two rows of go-psrpcore that measure Go maps: read-only, shared by all processors.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::sync::RwLock;
use std::thread;

use uuid::Uuid;

/// Number of identifiers in a map.
const COUNT: usize = 100;

/// A map split into shards, each behind a lock.
#[derive(Debug)]
pub struct ShardedMap {
    hasher: RandomState,
    shards: Vec<RwLock<HashMap<Uuid, usize>>>,
}

impl ShardedMap {
    /// Creates a map from each identifier to its index. One shard is a map behind a lock.
    pub fn new(keys: &[Uuid], shards: usize) -> Self {
        let hasher = RandomState::new();
        let mut maps = vec![HashMap::new(); shards];
        for (place, &key) in keys.iter().enumerate() {
            maps[shard(&hasher, &key, shards)].insert(key, place);
        }
        Self { hasher, shards: maps.into_iter().map(RwLock::new).collect() }
    }

    fn get(&self, key: &Uuid) -> Option<usize> {
        self.shards[shard(&self.hasher, key, self.shards.len())].read().ok()?.get(key).copied()
    }
}

/// Returns the shard of a key. The map of a shard uses another hasher for its buckets.
fn shard(hasher: &RandomState, key: &Uuid, shards: usize) -> usize {
    if shards == 1 { 0 } else { hasher.hash_one(key.as_u128()) as usize % shards }
}

/// Creates the identifiers of a map.
pub fn keys() -> Vec<Uuid> {
    (0..COUNT).map(|_| Uuid::new_v4()).collect()
}

/// Looks up `times` keys in turn on all processors. Returns 1 if all values are correct.
pub fn look_up(map: &ShardedMap, keys: &[Uuid], times: u64) -> u64 {
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
    fn maps_contain_all_keys() {
        let keys = keys();
        assert_eq!([1, 16].map(|shards| look_up(&ShardedMap::new(&keys, shards), &keys, 1001)), [1, 1]);
        assert_eq!(look_up(&ShardedMap::new(&[], 1), &keys, 1), 0);
    }
}
