//! What the API remembers between requests.

use std::collections::{BTreeMap, VecDeque};

use super::async_chat::Job;
use super::batches::Batch;
use super::files::File;
use super::responses::Run;
use super::skills::Skill;

/// How many objects of one kind are kept. The oldest make room.
const MAX_OBJECTS: usize = 1_000;

/// The time of the first request. Time goes on by a second per request, so that answers do not depend on a clock.
const EPOCH: u64 = 1_700_000_000;

#[derive(Debug, Default)]
pub(crate) struct State {
    serial: u64,
    issued: BTreeMap<&'static str, u64>,
    pub(crate) jobs: Store<Job>,
    pub(crate) runs: Store<Run>,
    pub(crate) sessions: Store<()>,
    pub(crate) files: Store<File>,
    pub(crate) batches: Store<Batch>,
    pub(crate) skills: Store<Skill>,
}

impl State {
    /// Begins a request and gives it its number, counted from 1.
    pub(crate) fn begin(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Seconds since 1970, on the API's own clock.
    pub(crate) fn now(&self) -> u64 {
        EPOCH + self.serial - 1
    }

    /// The next identifier with this prefix: `file_1`, `file_2`.
    pub(crate) fn id(&mut self, prefix: &'static str) -> String {
        let number = self.issued.entry(prefix).or_default();
        *number += 1;
        format!("{prefix}{number}")
    }
}

/// Objects by identifier, in the order of their creation.
#[derive(Debug)]
pub(crate) struct Store<T> {
    objects: VecDeque<(String, T)>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Self { objects: VecDeque::new() }
    }
}

impl<T> Store<T> {
    pub(crate) fn insert(&mut self, id: String, object: T) {
        if self.objects.len() == MAX_OBJECTS {
            self.objects.pop_front();
        }
        self.objects.push_back((id, object));
    }

    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.objects.iter().find(|(known, _)| known == id).map(|(_, object)| object)
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.objects.iter_mut().find(|(known, _)| known == id).map(|(_, object)| object)
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        let index = self.objects.iter().position(|(known, _)| known == id)?;
        self.objects.remove(index).map(|(_, object)| object)
    }

    pub(crate) fn remove_oldest(&mut self) -> Option<T> {
        self.objects.pop_front().map(|(_, object)| object)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.objects.iter().map(|(_, object)| object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_objects_make_room() {
        let mut store = Store::default();
        for number in 0..=MAX_OBJECTS {
            store.insert(number.to_string(), number);
        }
        assert_eq!(store.get("0"), None);
        assert_eq!(store.get("1"), Some(&1));
        assert_eq!(store.values().count(), MAX_OBJECTS);
        assert_eq!(store.remove("1"), Some(1));
        assert_eq!(store.remove("1"), None);
    }
}
