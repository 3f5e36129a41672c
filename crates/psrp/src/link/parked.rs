//! Messages that wait for the session key.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;
use zeroize::Zeroizing;

use crate::crypto::Cipher;
use crate::error::Error;
use crate::fragment::Priority;
use crate::message::MessageType;
use crate::value::Value;

/// A message that waits for the key, or for a message of the same target that does.
pub(crate) struct Parked {
    pub(crate) target: Option<Uuid>,
    pub(crate) priority: Priority,
    pub(crate) message_type: MessageType,
    pub(crate) value: Option<Value>,
    /// Bytes of the message.
    pub(super) len: usize,
}

type Lane = (Option<Uuid>, Priority);

/// All of them, each stream of a target in order.
#[derive(Default)]
pub(super) struct Waiting {
    lanes: HashMap<Lane, VecDeque<Parked>>,
    /// The lanes in the order of their first messages; also some that are gone.
    order: VecDeque<Lane>,
}

impl Waiting {
    /// Whether a message to this target would overtake one of these.
    pub(super) fn has(&self, lane: Lane) -> bool {
        self.lanes.get(&lane).is_some_and(|lane| !lane.is_empty())
    }

    pub(super) fn push(&mut self, parked: Parked) {
        let lane = (parked.target, parked.priority);
        self.lanes
            .entry(lane)
            .or_insert_with(|| {
                self.order.push_back(lane);
                VecDeque::new()
            })
            .push_back(parked);
    }

    /// The next one; those of a lane come one after the other.
    pub(super) fn pop(&mut self) -> Option<Parked> {
        while let Some(lane) = self.order.front() {
            if let Some(parked) = self.lanes.get_mut(lane).and_then(VecDeque::pop_front) {
                return Some(parked);
            }
            self.lanes.remove(lane);
            self.order.pop_front();
        }
        None
    }

    pub(super) fn discard(&mut self, target: Option<Uuid>) {
        for priority in [Priority::Default, Priority::PromptResponse] {
            self.lanes.remove(&(target, priority));
        }
    }

    /// Takes out those of a target, or with `None` all.
    pub(super) fn take(&mut self, of: Option<Option<Uuid>>) -> Vec<Parked> {
        let is_meant = |(target, _): &Lane| of.is_none_or(|of| of == *target);
        self.lanes.extract_if(|lane, _| is_meant(lane)).flat_map(|(_, lane)| lane).collect()
    }

    pub(super) fn clear(&mut self) {
        self.lanes.clear();
        self.order.clear();
    }
}

/// Has the place of the key while it is looked how large a message will be and whether it can be written at all.
pub(super) struct StandIn;

impl Cipher for StandIn {
    /// As many bytes as the padding of the session's cipher leads to.
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(vec![0; (utf16le.len() / 16 + 1) * 16])
    }

    fn decrypt(&self, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        Err(Error::no_key())
    }
}
