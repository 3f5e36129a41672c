//! Messages deferred until the session key is available.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;
use zeroize::Zeroizing;

use super::lane::Lane;
use crate::crypto::Cipher;
use crate::error::Error;
use crate::fragment::Priority;
use crate::message::MessageType;
use crate::value::Value;

/// A message that needs the key, or that follows such a message on the same stream.
pub(crate) struct DeferredMessage {
    pub(crate) target: Option<Uuid>,
    pub(crate) priority: Priority,
    pub(crate) message_type: MessageType,
    pub(crate) value: Option<Value>,
    /// Size of the message in bytes.
    pub(super) len: usize,
}

/// Deferred messages; those of a stream are in order.
#[derive(Default)]
pub(super) struct DeferredQueue {
    lanes: HashMap<Lane, VecDeque<DeferredMessage>>,
    /// Lanes in the order of their first message. May contain lanes that were removed.
    order: VecDeque<Lane>,
}

impl DeferredQueue {
    /// Returns whether a lane has deferred messages, which a new one must not overtake.
    pub(super) fn has(&self, lane: Lane) -> bool {
        self.lanes.get(&lane).is_some_and(|lane| !lane.is_empty())
    }

    pub(super) fn push(&mut self, deferred: DeferredMessage) {
        let lane = Lane { target: deferred.target, priority: deferred.priority };
        self.lanes
            .entry(lane)
            .or_insert_with(|| {
                self.order.push_back(lane);
                VecDeque::new()
            })
            .push_back(deferred);
    }

    /// Removes and returns the next message. Messages of one lane come out consecutively.
    pub(super) fn pop(&mut self) -> Option<DeferredMessage> {
        while let Some(lane) = self.order.front() {
            if let Some(deferred) = self.lanes.get_mut(lane).and_then(VecDeque::pop_front) {
                return Some(deferred);
            }
            self.lanes.remove(lane);
            self.order.pop_front();
        }
        None
    }

    /// Removes the messages of a target.
    pub(super) fn take(&mut self, target: Option<Uuid>) -> impl Iterator<Item = DeferredMessage> {
        [Priority::Default, Priority::PromptResponse]
            .into_iter()
            .filter_map(move |priority| self.lanes.remove(&Lane { target, priority }))
            .flatten()
    }

    /// Removes the input of a pipeline, but not the message that creates it.
    pub(super) fn take_input(&mut self, pipeline: Option<Uuid>) -> VecDeque<DeferredMessage> {
        let lane = Lane { target: pipeline, priority: Priority::Default };
        let Some(lane) = self.lanes.get_mut(&lane) else { return VecDeque::new() };
        let creates = lane.iter().take_while(|deferred| deferred.message_type == MessageType::CreatePipeline);
        lane.split_off(creates.count())
    }

    /// Removes all messages.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = DeferredMessage> {
        self.order.clear();
        self.lanes.drain().flat_map(|(_, lane)| lane)
    }
}

/// Cipher used to determine the size of a message before the key is available, and whether it can be written at all.
pub(super) struct PlaceholderCipher;

impl Cipher for PlaceholderCipher {
    /// Returns as many bytes as the session cipher does with its padding.
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(vec![0; (utf16le.len() / 16 + 1) * 16])
    }

    fn decrypt(&self, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        Err(Error::no_key())
    }
}
