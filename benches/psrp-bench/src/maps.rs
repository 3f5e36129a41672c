//! The two rows of the original that measure maps of its language: shared by all processors, and only read.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;
use std::sync::RwLock;
use std::thread;

use uuid::Uuid;

/// How many identifiers are in a map.
const COUNT: usize = 100;
/// How many maps the sharded one consists of.
const SHARDS: usize = 16;

/// A map that several threads read.
pub trait Shared: Sync {
    /// The value of an identifier.
    fn get(&self, key: &Uuid) -> Option<usize>;
}

/// One map behind one lock.
#[derive(Debug)]
pub struct Locked(RwLock<HashMap<Uuid, usize>>);

/// Several maps, each behind a lock.
#[derive(Debug)]
pub struct Sharded {
    hasher: RandomState,
    shards: Vec<Locked>,
}

impl Locked {
    /// A map from each identifier to its place.
    pub fn new(keys: &[Uuid]) -> Self {
        Self(RwLock::new(keys.iter().enumerate().map(|(place, &key)| (key, place)).collect()))
    }
}

impl Shared for Locked {
    fn get(&self, key: &Uuid) -> Option<usize> {
        self.0.read().ok()?.get(key).copied()
    }
}

impl Sharded {
    /// A map from each identifier to its place.
    pub fn new(keys: &[Uuid]) -> Self {
        let hasher = RandomState::new();
        let mut shards = vec![HashMap::new(); SHARDS];
        for (place, &key) in keys.iter().enumerate() {
            shards[shard(&hasher, &key)].insert(key, place);
        }
        Self { hasher, shards: shards.into_iter().map(|shard| Locked(RwLock::new(shard))).collect() }
    }
}

impl Shared for Sharded {
    fn get(&self, key: &Uuid) -> Option<usize> {
        self.shards[shard(&self.hasher, key)].get(key)
    }
}

fn shard(hasher: &RandomState, key: &Uuid) -> usize {
    let mut hasher = hasher.build_hasher();
    hasher.write(key.as_bytes());
    // The low bits: those of a map's own buckets come from another hasher.
    hasher.finish() as usize % SHARDS
}

/// The identifiers of a map.
pub fn keys() -> Vec<Uuid> {
    (0..COUNT).map(|_| Uuid::new_v4()).collect()
}

/// Looks up so many keys in turn on all processors at once; 1 where each has its value.
pub fn look_up(map: &impl Shared, keys: &[Uuid], times: u64) -> u64 {
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
    fn both_maps_have_all_keys() {
        let keys = keys();
        assert_eq!(look_up(&Locked::new(&keys), &keys, 1001), 1);
        assert_eq!(look_up(&Sharded::new(&keys), &keys, 1001), 1);
        assert_eq!(look_up(&Locked::new(&[]), &keys, 1), 0);
    }
}
