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

    /// Takes out those of a target.
    pub(super) fn take(&mut self, target: Option<Uuid>) -> impl Iterator<Item = Parked> {
        [Priority::Default, Priority::PromptResponse]
            .into_iter()
            .filter_map(move |priority| self.lanes.remove(&(target, priority)))
            .flatten()
    }

    /// Takes out the input of a pipeline.
    pub(super) fn take_input(&mut self, pipeline: Option<Uuid>) -> VecDeque<Parked> {
        let Some(lane) = self.lanes.get_mut(&(pipeline, Priority::Default)) else { return VecDeque::new() };
        let starts = lane.iter().take_while(|parked| parked.message_type == MessageType::CreatePipeline);
        lane.split_off(starts.count())
    }

    /// Takes out all.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Parked> {
        self.order.clear();
        self.lanes.drain().flat_map(|(_, lane)| lane)
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
