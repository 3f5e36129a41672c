//! What waits to be sent: messages of each target, packets without data, and for which target nothing may go now.
//!
//! Every step takes the same time however many targets and messages there are: a target is in a ring only while it has
//! something that may go.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

use crate::error::{Error, Kind};
use crate::fragment::{Fragmenter, Payload, Priority, SendQueue};
use crate::outofproc::Packet;

/// Emptied queues whose buffers are kept to be used again.
const SPARE: usize = 4;

/// What a packet without data counts towards the limit.
const EACH_PACKET: usize = 64;

/// The least that the protocol's own messages may take, whatever the limit is.
const LEAST: usize = 64 << 10;

/// Which acknowledgement a target waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    Command,
    Data,
}

/// Who a message is from, which decides how much may wait with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The application: it can wait until there is room.
    Application,
    /// The protocol: states, keys, answers that nobody can hold back. They may take as much again.
    Protocol,
    /// The size was counted when it was parked.
    Admitted,
}

#[derive(Default)]
struct Target {
    queue: Option<SendQueue>,
    awaited: Option<Awaited>,
    /// Whether nothing may go until there is a client for it.
    is_held: bool,
    /// Messages, and their bytes, that wait for the key.
    parked: usize,
    parked_bytes: usize,
    /// Packets that go when no message is left and the last one is acknowledged.
    after: Vec<Packet<'static>>,
    is_in_turns: bool,
    is_in_urgent: bool,
}

impl Target {
    fn has_data(&self) -> bool {
        self.queue.is_some() || self.parked > 0
    }

    /// Whether data are pending, or an acknowledgement is.
    fn is_busy(&self) -> bool {
        self.has_data() || self.awaited.is_some()
    }

    fn is_blocked(&self) -> bool {
        self.awaited.is_some() || self.is_held
    }

    fn is_vacant(&self) -> bool {
        !self.has_data()
            && !self.is_blocked()
            && self.after.is_empty()
            && !self.is_in_turns
            && !self.is_in_urgent
    }
}

pub(crate) struct Outbox {
    /// The size of fragments, and the number of the next message of the session.
    fragmenter: Fragmenter,
    /// Whether a target takes no more before it has acknowledged.
    waits: bool,
    targets: HashMap<Option<Uuid>, Target>,
    /// Targets with messages, in the order of their turns.
    turns: VecDeque<Option<Uuid>>,
    /// Those with answers to calls of the host, which go first.
    urgent: VecDeque<Option<Uuid>>,
    packets: VecDeque<Packet<'static>>,
    /// Packets without data, those that come after messages included.
    packet_count: usize,
    spare: Vec<SendQueue>,
    is_held: bool,
    pending: usize,
    max_pending: usize,
}

impl Outbox {
    pub(super) fn new(fragmenter: Fragmenter, waits: bool, max_pending: usize) -> Self {
        Self {
            fragmenter,
            waits,
            targets: HashMap::new(),
            turns: VecDeque::new(),
            urgent: VecDeque::new(),
            packets: VecDeque::new(),
            packet_count: 0,
            spare: Vec::new(),
            is_held: false,
            pending: 0,
            max_pending,
        }
    }

    /// Bytes of all messages, those that wait for the key included.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending
    }

    /// Bytes of the messages for one target.
    pub(crate) fn pending_bytes_of(&self, target: Option<Uuid>) -> usize {
        self.targets.get(&target).map_or(0, |target| {
            target.parked_bytes + target.queue.as_ref().map_or(0, SendQueue::pending_bytes)
        })
    }

    /// Whether the message that starts a pipeline was not handed out entirely.
    pub(crate) fn has_unsent_start(&self, id: Uuid) -> bool {
        let queue = self.targets.get(&Some(id)).and_then(|target| target.queue.as_ref());
        queue.is_some_and(SendQueue::has_payload_end)
    }

    /// Whether there is room for a message of so many bytes.
    pub(super) fn admit(&self, len: usize, sender: Sender) -> Result<(), Error> {
        let (taken, max) = match sender {
            Sender::Admitted => return Ok(()),
            Sender::Application => (self.pending, self.max_pending),
            Sender::Protocol => (
                self.pending.saturating_add(self.packet_count.saturating_mul(EACH_PACKET)),
                self.max_pending.saturating_mul(2).max(LEAST),
            ),
        };
        if taken.saturating_add(len) > max {
            return Err(Error::with(Kind::Limit, "bytes that wait to be sent"));
        }
        Ok(())
    }

    /// Whether there is room for the answer to a packet.
    pub(crate) fn admit_packet(&self) -> Result<(), Error> {
        self.admit(EACH_PACKET, Sender::Protocol)
    }

    /// Appends what a function writes, a message that was admitted.
    pub(super) fn push(&mut self, id: Option<Uuid>, priority: Priority, write: impl FnOnce(&mut Vec<u8>)) {
        let target = self.targets.entry(id).or_default();
        let queue = target.queue.get_or_insert_with(|| {
            let spare = self.spare.pop();
            spare.unwrap_or_else(|| SendQueue::new(self.fragmenter.clone()))
        });
        let before = queue.pending_bytes();
        queue.fragmenter_mut().set_next_object_id(self.fragmenter.next_object_id());
        let Ok(()) = queue.push_with(id, priority, |buffer| {
            write(buffer);
            Ok::<_, std::convert::Infallible>(())
        });
        self.fragmenter.set_next_object_id(queue.fragmenter().next_object_id());
        self.pending += queue.pending_bytes() - before;
        self.enter(id);
    }

    /// Gives the last message of a stream a packet that ends with it.
    pub(super) fn end_payload(&mut self, id: Option<Uuid>, priority: Priority) {
        if let Some(queue) = self.targets.get_mut(&id).and_then(|target| target.queue.as_mut()) {
            queue.end_payload(id, priority);
        }
    }

    /// Counts a message that waits for the key.
    pub(super) fn park(&mut self, id: Option<Uuid>, len: usize) {
        let target = self.targets.entry(id).or_default();
        target.parked += 1;
        target.parked_bytes += len;
        self.pending += len;
    }

    /// A message waits for the key no more; it was pushed before this if it goes.
    pub(super) fn unpark(&mut self, id: Option<Uuid>, len: usize) {
        if let Some(target) = self.targets.get_mut(&id) {
            target.parked -= 1;
            target.parked_bytes -= len;
            self.pending -= len;
            self.settle(id);
        }
    }

    /// Queues a packet without data ahead of the messages of its target, with those that were to follow them.
    pub(crate) fn act_before_data(&mut self, packet: Packet<'static>) {
        if let Some(target) = self.targets.get_mut(&packet.target()) {
            self.packets.extend(target.after.drain(..));
        }
        self.act(packet);
    }

    /// Queues a packet without data.
    pub(crate) fn act(&mut self, packet: Packet<'static>) {
        self.packet_count += 1;
        if let Packet::Command(id) = packet {
            self.targets.entry(id).or_default().awaited = Some(Awaited::Command);
        }
        self.packets.push_back(packet);
    }

    /// Queues a packet without data behind the pending messages of its target and their acknowledgement.
    pub(crate) fn act_after_data(&mut self, packet: Packet<'static>) {
        self.packet_count += 1;
        match self.targets.get_mut(&packet.target()) {
            Some(target) if target.is_busy() => target.after.push(packet),
            _ => self.packets.push_back(packet),
        }
    }

    /// Puts a target into the rings where it belongs.
    fn enter(&mut self, id: Option<Uuid>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        let Some(queue) = target.queue.as_ref().filter(|_| !target.is_blocked()) else { return };
        // There are two lanes at most.
        if !target.is_in_urgent && queue.lanes().any(|lane| lane.priority == Priority::PromptResponse) {
            target.is_in_urgent = true;
            self.urgent.push_back(id);
        }
        if !target.is_in_turns {
            target.is_in_turns = true;
            self.turns.push_back(id);
        }
    }

    /// What has to happen after a target lost messages or may go on.
    fn settle(&mut self, id: Option<Uuid>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        if let Some(queue) = target.queue.take_if(|queue| queue.is_empty())
            && self.spare.len() < SPARE
        {
            self.spare.push(queue);
        }
        if !target.is_busy() {
            self.packets.extend(target.after.drain(..));
        }
        if target.is_vacant() {
            self.targets.remove(&id);
        } else {
            self.enter(id);
        }
    }

    /// The target whose turn it is, out of its ring.
    fn next_target(&mut self) -> Option<Option<Uuid>> {
        loop {
            let (id, is_urgent) = match self.urgent.pop_front() {
                Some(id) => (id, true),
                None => (self.turns.pop_front()?, false),
            };
            let Some(target) = self.targets.get_mut(&id) else { continue };
            if is_urgent {
                target.is_in_urgent = false;
            } else {
                target.is_in_turns = false;
            }
            // What was dropped or blocked meanwhile left its place in the ring behind.
            let may_go = !target.is_blocked()
                && target.queue.as_ref().is_some_and(|queue| {
                    !is_urgent || queue.lanes().any(|lane| lane.priority == Priority::PromptResponse)
                });
            if may_go {
                return Some(id);
            }
            self.settle(id);
        }
    }

    pub(super) fn poll<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        if self.is_held {
            return None;
        }
        if let Some(packet) = self.packets.pop_front() {
            self.packet_count -= 1;
            return Some(packet);
        }
        buffer.clear();
        let id = self.next_target()?;
        let target = self.targets.get_mut(&id)?;
        let queue = target.queue.as_mut()?;
        let before = queue.pending_bytes();
        let payload = queue.next_payload(max, buffer)?;
        self.pending -= before - queue.pending_bytes();
        if self.waits {
            target.awaited = Some(Awaited::Data);
        }
        self.settle(id);
        Some(Packet::Data { target: id, priority: payload.priority, data: buffer })
    }

    /// The target has acknowledged. Nothing happens if it was not asked to.
    pub(crate) fn acknowledged(&mut self, id: Option<Uuid>, what: Awaited) {
        if let Some(target) = self.targets.get_mut(&id)
            && target.awaited.take_if(|awaited| *awaited == what).is_some()
        {
            self.settle(id);
        }
    }

    /// Holds everything back, or lets it go.
    pub(crate) fn hold_all(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// Holds back the messages for a target, or lets them go.
    pub(crate) fn hold(&mut self, id: Option<Uuid>, is_held: bool) {
        self.targets.entry(id).or_default().is_held = is_held;
        self.settle(id);
    }

    /// After a new connection nobody acknowledges what went over the one before.
    pub(super) fn forget_awaited(&mut self) {
        let ids: Vec<_> = self.targets.keys().copied().collect();
        for id in ids {
            if let Some(target) = self.targets.get_mut(&id) {
                target.awaited = None;
            }
            self.settle(id);
        }
    }

    /// Drops the messages for a target, but for those that wait for the key. What was to come after them comes now.
    pub(super) fn discard(&mut self, id: Option<Uuid>) {
        let Some(target) = self.targets.get_mut(&id) else { return };
        self.pending -= target.queue.take().map_or(0, |queue| queue.pending_bytes());
        self.settle(id);
    }

    /// Drops the messages behind the one that starts a pipeline, but for those that wait for the key, and answers to calls
    /// of the host.
    pub(super) fn discard_input(&mut self, id: Option<Uuid>) {
        let lane = Payload { target: id, priority: Priority::Default };
        let queue = self.targets.get_mut(&id).and_then(|target| target.queue.as_mut());
        self.pending -= queue.map_or(0, |queue| queue.discard_behind_payload_end(lane));
        self.settle(id);
    }

    /// Drops everything that is known of a target, packets without data aside.
    pub(super) fn forget(&mut self, id: Option<Uuid>) {
        self.discard(id);
        if let Some(target) = self.targets.get_mut(&id) {
            target.awaited = None;
            target.is_held = false;
        }
        self.settle(id);
    }

    /// The same for all targets.
    pub(super) fn forget_all(&mut self) {
        let ids: Vec<_> = self.targets.keys().copied().collect();
        for id in ids {
            self.forget(id);
        }
        self.is_held = false;
    }

    /// Drops the packets without data too.
    pub(crate) fn forget_packets(&mut self) {
        self.packet_count -= self.packets.len();
        self.packets.clear();
    }
}

#[cfg(test)]
mod tests;
