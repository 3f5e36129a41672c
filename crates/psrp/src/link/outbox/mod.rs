//! Send queue of a session: messages per target, those that wait for the session key, packets without data, pending
//! acknowledgements, and paused targets.
//!
//! Targets send in round-robin order. Queueing and sending take constant time regardless of the number of targets and
//! messages: a target is in a ring (a round-robin queue) only while it can send.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

use super::lane::{LaneBuffer, OutgoingMessage};
use super::queue::SizedQueue;
use crate::error::{Error, Kind};
use crate::fragment::{Fragmenter, Priority};
use crate::outofproc::Packet;

/// Number of empty lanes retained so that their buffers can be reused.
const MAX_SPARE_LANES: usize = 4;

/// Bytes that a packet without data counts towards the limit.
const PACKET_OVERHEAD: usize = 64;

/// Minimum limit for messages of the protocol itself, in bytes.
const MIN_PROTOCOL_LIMIT: usize = 64 << 10;

/// Packet that a target must acknowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ack {
    Command,
    Data,
}

/// Which limit applies to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quota {
    /// Message of the application: the caller can retry when there is room.
    Application,
    /// Message required by the protocol, such as states, keys and acknowledgements. Allowed up to twice the limit.
    Protocol,
    /// Already counted when the message was deferred.
    Reserved,
}

#[derive(Default)]
struct Target {
    /// Pending messages, indexed by `Priority`. `None` if there are none.
    lanes: [Option<LaneBuffer>; 2],
    pending_ack: Option<Ack>,
    /// Whether nothing may be sent until a client connects.
    is_paused: bool,
    /// Messages that wait for the session key. They follow the pending messages.
    deferred: SizedQueue<OutgoingMessage>,
    /// Packets to send when all messages are sent and acknowledged.
    after: Vec<Packet<'static>>,
    is_in_ring: bool,
    is_in_urgent_ring: bool,
}

impl Target {
    fn has_messages(&self) -> bool {
        self.lanes.iter().any(Option::is_some)
    }

    fn has_prompt_response(&self) -> bool {
        self.lanes[Priority::PromptResponse as usize].is_some()
    }

    fn has_data(&self) -> bool {
        self.has_messages() || !self.deferred.is_empty()
    }

    /// Returns whether data or an acknowledgement is pending.
    fn is_busy(&self) -> bool {
        self.has_data() || self.pending_ack.is_some()
    }

    fn is_blocked(&self) -> bool {
        self.pending_ack.is_some() || self.is_paused
    }

    fn is_unused(&self) -> bool {
        !self.has_data()
            && !self.is_blocked()
            && self.after.is_empty()
            && !self.is_in_ring
            && !self.is_in_urgent_ring
    }
}

#[derive(Default)]
pub(crate) struct Outbox {
    /// Fragment size, and the object identifier of the next message of the session.
    fragmenter: Fragmenter,
    /// Whether a target must acknowledge each packet with data before the next one is sent.
    requires_ack: bool,
    targets: HashMap<Option<Uuid>, Target>,
    /// Targets with messages, the next one to send first.
    ring: VecDeque<Option<Uuid>>,
    /// Targets with responses to host calls, which go first.
    urgent_ring: VecDeque<Option<Uuid>>,
    /// Targets with deferred messages, in the order of the first one.
    deferred_order: VecDeque<Option<Uuid>>,
    packets: VecDeque<Packet<'static>>,
    /// All packets without data, including those that follow messages.
    packet_count: usize,
    spare: Vec<LaneBuffer>,
    is_paused: bool,
    pending: usize,
    max_pending: usize,
}

impl Outbox {
    pub(super) fn new(fragmenter: Fragmenter, requires_ack: bool, max_pending: usize) -> Self {
        Self { fragmenter, requires_ack, max_pending, ..Self::default() }
    }

    /// Returns the bytes of all messages, including deferred ones.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending
    }

    /// Returns the bytes of all messages of one target, including deferred ones.
    pub(crate) fn pending_bytes_of(&self, target: Option<Uuid>) -> usize {
        self.targets.get(&target).map_or(0, |target| {
            let pending = target.lanes.iter().flatten().map(LaneBuffer::pending_bytes).sum::<usize>();
            target.deferred.bytes() + pending
        })
    }

    /// Returns whether the message that creates a pipeline is not completely sent.
    pub(crate) fn has_unsent_start(&self, id: Uuid) -> bool {
        self.targets
            .get(&Some(id))
            .is_some_and(|target| target.lanes.iter().flatten().any(LaneBuffer::has_packet_end))
    }

    /// Fails if there is no room for a message of this size.
    pub(super) fn admit(&self, len: usize, quota: Quota) -> Result<(), Error> {
        let (taken, max) = match quota {
            Quota::Reserved => return Ok(()),
            Quota::Application => (self.pending, self.max_pending),
            Quota::Protocol => (
                self.pending.saturating_add(self.packet_count.saturating_mul(PACKET_OVERHEAD)),
                self.max_pending.saturating_mul(2).max(MIN_PROTOCOL_LIMIT),
            ),
        };
        if taken.saturating_add(len) > max {
            return Err(Error::with(Kind::Limit, "bytes of pending output"));
        }
        Ok(())
    }

    /// Fails if there is no room for a response packet.
    pub(crate) fn admit_packet(&self) -> Result<(), Error> {
        self.admit(PACKET_OVERHEAD, Quota::Protocol)
    }

    /// Queues the message that `write` appends. It must have been admitted.
    pub(super) fn push(&mut self, id: Option<Uuid>, priority: Priority, write: impl FnOnce(&mut Vec<u8>)) {
        let target = self.targets.entry(id).or_default();
        let lane =
            target.lanes[priority as usize].get_or_insert_with(|| self.spare.pop().unwrap_or_default());
        self.pending += lane.push(self.fragmenter.take_object_id(), write);
        self.schedule(id);
    }

    /// Ends the packet behind the last message of a stream.
    pub(super) fn end_packet(&mut self, id: Option<Uuid>, priority: Priority) {
        let target = self.targets.get_mut(&id);
        if let Some(lane) = target.and_then(|target| target.lanes[priority as usize].as_mut()) {
            lane.end_packet();
        }
    }

    /// Returns whether a stream has deferred messages, which a new one must not overtake.
    pub(crate) fn has_deferred(&self, id: Option<Uuid>, priority: Priority) -> bool {
        // Most sessions defer nothing: skips hashing the identifier.
        !self.deferred_order.is_empty()
            && self
                .targets
                .get(&id)
                .is_some_and(|target| target.deferred.iter().any(|deferred| deferred.priority == priority))
    }

    /// Queues a message that waits for the session key. It must have been admitted with this length.
    pub(super) fn push_deferred(&mut self, deferred: OutgoingMessage, len: usize) {
        let id = deferred.target;
        let target = self.targets.entry(id).or_default();
        if target.deferred.is_empty() {
            self.deferred_order.push_back(id);
        }
        target.deferred.push(deferred, len);
        self.pending += len;
    }

    /// Removes the next deferred message, to [`push`](Self::push) it. Call [`update`](Self::update) if it cannot be sent.
    pub(super) fn pop_deferred(&mut self) -> Option<OutgoingMessage> {
        let target = self.targets.get_mut(self.deferred_order.front()?)?;
        let (deferred, len) = target.deferred.pop()?;
        if target.deferred.is_empty() {
            self.deferred_order.pop_front();
        }
        self.pending -= len;
        Some(deferred)
    }

    /// Drops the deferred messages of a target that `is_kept` rejects, without an [`update`](Self::update).
    fn retain_deferred(&mut self, id: Option<Uuid>, is_kept: impl Fn(&OutgoingMessage) -> bool) {
        let Some(target) = self.targets.get_mut(&id).filter(|target| !target.deferred.is_empty()) else {
            return;
        };
        self.pending -= target.deferred.retain(is_kept);
        if target.deferred.is_empty() {
            self.deferred_order.retain(|other| *other != id);
        }
    }

    /// Drops the deferred messages of a target.
    pub(crate) fn discard_deferred(&mut self, id: Option<Uuid>) {
        self.retain_deferred(id, |_| false);
        self.update(id);
    }

    /// Drops all deferred messages.
    pub(crate) fn discard_all_deferred(&mut self) {
        for id in std::mem::take(&mut self.deferred_order) {
            self.discard_deferred(id);
        }
    }

    /// Queues a packet without data before the messages of its target, after the packets that were to follow these
    /// messages.
    pub(crate) fn queue_packet_before_data(&mut self, packet: Packet<'static>) {
        if let Some(target) = self.targets.get_mut(&packet.target()) {
            self.packets.extend(target.after.drain(..));
        }
        self.queue_packet(packet);
    }

    /// Queues a packet without data.
    pub(crate) fn queue_packet(&mut self, packet: Packet<'static>) {
        self.packet_count += 1;
        if let Packet::Command(id) = packet {
            self.targets.entry(id).or_default().pending_ack = Some(Ack::Command);
        }
        self.packets.push_back(packet);
    }

    /// Queues a packet without data behind the pending messages of its target and their acknowledgement.
    pub(crate) fn queue_packet_after_data(&mut self, packet: Packet<'static>) {
        self.packet_count += 1;
        match self.targets.get_mut(&packet.target()) {
            Some(target) if target.is_busy() => target.after.push(packet),
            _ => self.packets.push_back(packet),
        }
    }

    /// Adds a target to the rings it belongs to.
    fn schedule(&mut self, id: Option<Uuid>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        if target.is_blocked() || !target.has_messages() {
            return;
        }
        if !target.is_in_urgent_ring && target.has_prompt_response() {
            target.is_in_urgent_ring = true;
            self.urgent_ring.push_back(id);
        }
        if !target.is_in_ring {
            target.is_in_ring = true;
            self.ring.push_back(id);
        }
    }

    /// Called after messages of a target were removed or the target was unblocked. Adds the target to the rings if it
    /// can send, and queues the packets that were to follow its messages if it has none left.
    pub(super) fn update(&mut self, id: Option<Uuid>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        for lane in &mut target.lanes {
            if let Some(mut lane) = lane.take_if(|lane| lane.is_empty())
                && self.spare.len() < MAX_SPARE_LANES
                && lane.reset()
            {
                self.spare.push(lane);
            }
        }
        if !target.is_busy() {
            self.packets.extend(target.after.drain(..));
        }
        if target.is_unused() {
            self.targets.remove(&id);
        } else {
            self.schedule(id);
        }
    }

    /// Removes the next target that can send from its ring.
    fn next_target(&mut self) -> Option<Option<Uuid>> {
        loop {
            let (id, is_urgent) = match self.urgent_ring.pop_front() {
                Some(id) => (id, true),
                None => (self.ring.pop_front()?, false),
            };
            let Some(target) = self.targets.get_mut(&id) else { continue };
            if is_urgent {
                target.is_in_urgent_ring = false;
            } else {
                target.is_in_ring = false;
            }
            // A target that was emptied or blocked meanwhile is still in the ring.
            let has_messages = if is_urgent { target.has_prompt_response() } else { target.has_messages() };
            let can_send = has_messages && !target.is_blocked();
            if can_send {
                return Some(id);
            }
            self.update(id);
        }
    }

    pub(crate) fn poll<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        if self.is_paused {
            return None;
        }
        if let Some(packet) = self.packets.pop_front() {
            self.packet_count -= 1;
            return Some(packet);
        }
        buffer.clear();
        let id = self.next_target()?;
        let target = self.targets.get_mut(&id)?;
        let priority =
            if target.has_prompt_response() { Priority::PromptResponse } else { Priority::Default };
        let lane = target.lanes[priority as usize].as_mut()?;
        self.pending -= lane.take(max, self.fragmenter.max_fragment_size(), buffer);
        if self.requires_ack {
            target.pending_ack = Some(Ack::Data);
        }
        self.update(id);
        Some(Packet::Data { target: id, priority, data: buffer })
    }

    /// Records an acknowledgement. Ignored if none of this kind is pending.
    pub(crate) fn acknowledge(&mut self, id: Option<Uuid>, what: Ack) {
        if let Some(target) = self.targets.get_mut(&id)
            && target.pending_ack.take_if(|pending_ack| *pending_ack == what).is_some()
        {
            self.update(id);
        }
    }

    /// Pauses or resumes all sending.
    pub(crate) fn set_all_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Pauses or resumes the messages of a target.
    pub(crate) fn set_paused(&mut self, id: Option<Uuid>, is_paused: bool) {
        self.targets.entry(id).or_default().is_paused = is_paused;
        self.update(id);
    }

    /// Clears pending acknowledgements after a reconnect: they were lost with the previous connection.
    pub(super) fn clear_pending_acks(&mut self) {
        let ids: Vec<_> = self.targets.keys().copied().collect();
        for id in ids {
            if let Some(target) = self.targets.get_mut(&id) {
                target.pending_ack = None;
            }
            self.update(id);
        }
    }

    /// Drops the messages of a target. Packets that were to follow them are sent now.
    pub(crate) fn discard(&mut self, id: Option<Uuid>) {
        self.retain_deferred(id, |_| false);
        let Some(target) = self.targets.get_mut(&id) else { return };
        for lane in target.lanes.iter_mut().filter_map(Option::take) {
            self.pending -= lane.pending_bytes();
        }
        self.update(id);
    }

    /// Drops the input of a pipeline: its messages after the one that creates it, except responses to host calls.
    pub(crate) fn discard_input(&mut self, id: Option<Uuid>) {
        self.retain_deferred(id, |deferred| {
            deferred.priority == Priority::PromptResponse || deferred.message_type.starts_pipeline()
        });
        let target = self.targets.get_mut(&id);
        let lane = target.and_then(|target| target.lanes[Priority::Default as usize].as_mut());
        self.pending -= lane.map_or(0, LaneBuffer::discard_behind_packet_end);
        self.update(id);
    }

    /// Drops all state of a target except packets without data.
    pub(super) fn remove(&mut self, id: Option<Uuid>) {
        self.discard(id);
        if let Some(target) = self.targets.get_mut(&id) {
            target.pending_ack = None;
            target.is_paused = false;
        }
        self.update(id);
    }

    /// Drops all state of all targets except packets without data.
    pub(super) fn remove_all(&mut self) {
        self.deferred_order.clear();
        let ids: Vec<_> = self.targets.keys().copied().collect();
        for id in ids {
            self.remove(id);
        }
        self.is_paused = false;
    }

    /// Drops the queued packets without data.
    pub(crate) fn discard_packets(&mut self) {
        self.packet_count -= self.packets.len();
        self.packets.clear();
    }
}

#[cfg(test)]
mod tests;
