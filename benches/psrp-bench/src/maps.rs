//! The two rows of go-psrpcore that measure Go maps: read-only, shared by all processors.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::sync::RwLock;
use std::thread;

use uuid::Uuid;

/// A map from identifiers to their indexes, split into shards behind a lock each. One shard is a map behind a lock.
#[derive(Debug)]
pub struct ShardedMap {
    hasher: RandomState,
    shards: Vec<RwLock<HashMap<Uuid, usize>>>,
}

impl ShardedMap {
    /// Creates a map.
    pub fn new(keys: &[Uuid], shards: usize) -> Self {
        let map =
            Self { hasher: RandomState::new(), shards: (0..shards).map(|_| RwLock::default()).collect() };
        for (place, &key) in keys.iter().enumerate() {
            if let Ok(mut shard) = map.shard(&key).write() {
                shard.insert(key, place);
            }
        }
        map
    }

    /// Returns the shard of a key, which uses another hasher for its buckets.
    fn shard(&self, key: &Uuid) -> &RwLock<HashMap<Uuid, usize>> {
        let count = self.shards.len();
        &self.shards[if count == 1 { 0 } else { self.hasher.hash_one(key.as_u128()) as usize % count }]
    }

    fn get(&self, key: &Uuid) -> Option<usize> {
        self.shard(key).read().ok()?.get(key).copied()
    }

    /// Looks up `times` keys in turn on all processors. Returns 1 if all values are correct.
    pub fn look_up(&self, keys: &[Uuid], times: u64) -> u64 {
        let workers = thread::available_parallelism().map_or(1, |count| count.get() as u64);
        let look_up = |worker| {
            let times = (times / workers + u64::from(worker < times % workers)) as usize;
            (0..times).all(|turn| self.get(black_box(&keys[turn % keys.len()])) == Some(turn % keys.len()))
        };
        let is_right = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|each| scope.spawn(move || look_up(each))).collect();
            workers.into_iter().all(|worker| worker.join().unwrap_or(false))
        });
        u64::from(is_right)
    }
}
