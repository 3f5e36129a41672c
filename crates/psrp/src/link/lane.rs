//! Messages of one stream: pending ones, split into fragments on demand, and partial ones.

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;
use zeroize::Zeroizing;

use crate::crypto::Cipher;
use crate::error::{Error, Kind};
use crate::fragment::{Assembler, AssemblerOptions, FragmentHeader, Fragmenter, OutOfOrder, Priority};
use crate::message::{MessageType, Payload};
use crate::value::Value;

/// Maximum capacity of a reused buffer in bytes.
const MAX_RETAINED_CAPACITY: usize = 256 * 1024;

/// A stream of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    /// The pipeline, or `None` for the runspace pool.
    pub(crate) target: Option<Uuid>,
    pub(crate) priority: Priority,
}

/// Pending messages of one stream of a target.
#[derive(Default)]
pub(super) struct LaneBuffer {
    /// Concatenated messages. The first `sent` bytes were sent.
    bytes: Vec<u8>,
    sent: usize,
    messages: VecDeque<PendingMessage>,
}

/// A message that is not completely sent.
struct PendingMessage {
    object_id: u64,
    next_fragment: u64,
    left: usize,
    /// Whether the next message must start a new packet.
    ends_packet: bool,
}

impl LaneBuffer {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the bytes of all pending messages without fragment headers.
    pub(super) fn pending_bytes(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Queues the message that `write` appends. Returns its length in bytes.
    pub(super) fn push(&mut self, object_id: u64, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let before = self.bytes.len();
        write(&mut self.bytes);
        let left = self.bytes.len() - before;
        self.messages.push_back(PendingMessage { object_id, next_fragment: 0, left, ends_packet: false });
        left
    }

    /// Ends the packet behind the last message: messages queued later start a new packet.
    pub(super) fn end_packet(&mut self) {
        if let Some(message) = self.messages.back_mut() {
            message.ends_packet = true;
        }
    }

    /// Returns whether a message that ends its packet is pending.
    pub(super) fn has_packet_end(&self) -> bool {
        self.messages.iter().any(|message| message.ends_packet)
    }

    /// Appends as many fragments as fit into `max` bytes, but at least the smallest fragment. Returns the number of message
    /// bytes appended.
    pub(super) fn take(&mut self, max: usize, fragment_size: usize, out: &mut Vec<u8>) -> usize {
        let mut space = max.max(Fragmenter::MIN_FRAGMENT_SIZE);
        let before = self.sent;
        out.reserve(space.min(self.bytes.len() - self.sent + self.messages.len() * FragmentHeader::LEN));
        while let Some(message) = self.messages.front_mut() {
            let fits = space.min(fragment_size).saturating_sub(FragmentHeader::LEN);
            if fits == 0 && (message.left > 0 || space < FragmentHeader::LEN) {
                break;
            }
            let len = message.left.min(fits);
            message.left -= len;
            let header = FragmentHeader {
                object_id: message.object_id,
                fragment_id: message.next_fragment,
                start: message.next_fragment == 0,
                end: message.left == 0,
                // Does not truncate: the fragment size is at most `u32::MAX`.
                blob_len: len as u32,
            };
            message.next_fragment += 1;
            header.put(&self.bytes[self.sent..self.sent + len], out);
            self.sent += len;
            space -= FragmentHeader::LEN + len;
            if header.end && self.messages.pop_front().is_some_and(|message| message.ends_packet) {
                break;
            }
        }
        let taken = self.sent - before;
        // Compacting only when at most half is left moves each byte once on average.
        if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        taken
    }

    /// Drops the messages behind the last packet end, or all if there is none. Returns the number of bytes dropped.
    pub(super) fn discard_behind_packet_end(&mut self) -> usize {
        let count = self.messages.iter().rposition(|message| message.ends_packet).map_or(0, |last| last + 1);
        self.messages.truncate(count);
        let end = self.sent + self.messages.iter().map(|message| message.left).sum::<usize>();
        let dropped = self.bytes.len() - end;
        self.bytes.truncate(end);
        dropped
    }

    /// Clears an empty lane, so that its buffer can be reused. Returns false if the buffer is too large for that.
    pub(super) fn reset(&mut self) -> bool {
        self.bytes.clear();
        self.sent = 0;
        self.bytes.capacity() <= MAX_RETAINED_CAPACITY
    }
}

/// A message to send. It is deferred if it needs the key, or follows such a message on the same stream.
pub(crate) struct OutgoingMessage {
    pub(crate) target: Option<Uuid>,
    pub(crate) priority: Priority,
    pub(crate) message_type: MessageType,
    pub(crate) value: Option<Value>,
}

impl OutgoingMessage {
    pub(crate) fn new(target: Option<Uuid>, priority: Priority, payload: &Payload) -> Self {
        Self { target, priority, message_type: payload.message_type(), value: payload.to_value() }
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

/// Assemblers of all streams with a partial message, with a limit of their total size.
pub(crate) struct Inbox {
    assemblers: HashMap<Lane, Assembler>,
    options: AssemblerOptions,
    partial: usize,
    max_partial: usize,
}

impl Inbox {
    pub(super) fn new(max_object_size: usize, max_partial: usize) -> Self {
        Self {
            assemblers: HashMap::new(),
            options: AssemblerOptions::new().max_object_size(max_object_size),
            partial: 0,
            max_partial,
        }
    }

    /// Removes the assembler of a stream, or creates one. Return it with [`Inbox::put`].
    pub(crate) fn take(&mut self, target: Option<Uuid>, priority: Priority) -> Assembler {
        // Most messages arrive as a whole: skips hashing the identifier.
        let existing = match self.assemblers.is_empty() {
            true => None,
            false => self.assemblers.remove(&Lane { target, priority }),
        };
        match existing {
            Some(assembler) => {
                self.partial -= assembler.buffered_bytes();
                assembler
            }
            None => Assembler::with_options(self.options),
        }
    }

    /// Stores an assembler that has buffered input. Fails if all partial messages together exceed the limit.
    pub(crate) fn put(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        assembler: Assembler,
    ) -> Result<(), Error> {
        if assembler.is_idle() {
            return Ok(());
        }
        self.partial += assembler.buffered_bytes();
        self.assemblers.insert(Lane { target, priority }, assembler);
        if self.partial > self.max_partial {
            return Err(Error::with(Kind::Limit, "bytes of partial messages"));
        }
        Ok(())
    }

    /// Returns whether any message is partially received.
    pub(crate) fn is_pending(&self) -> bool {
        !self.assemblers.is_empty()
    }

    /// Skips fragments out of order from now on: after a reconnect, the rest of a message may arrive whose start was
    /// lost.
    pub(crate) fn skip_out_of_order(&mut self) {
        self.options = self.options.out_of_order(OutOfOrder::Skip);
        self.clear();
    }

    pub(crate) fn remove(&mut self, target: Option<Uuid>) {
        for priority in [Priority::Default, Priority::PromptResponse] {
            self.take(target, priority);
        }
    }

    pub(super) fn clear(&mut self) {
        self.assemblers.clear();
        self.partial = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(lane: &mut LaneBuffer, message: &[u8]) {
        assert_eq!(lane.push(1, |buffer| buffer.extend_from_slice(message)), message.len());
    }

    fn take(lane: &mut LaneBuffer, max: usize) -> usize {
        let mut packet = Vec::new();
        lane.take(max, Fragmenter::DEFAULT_FRAGMENT_SIZE, &mut packet);
        packet.len()
    }

    #[test]
    fn messages_behind_a_packet_end_start_a_new_packet() {
        let mut lane = LaneBuffer::default();
        push(&mut lane, b"start");
        lane.end_packet();
        push(&mut lane, b"input");
        push(&mut lane, b"end");
        let mut sizes = Vec::new();
        while !lane.is_empty() {
            sizes.push((take(&mut lane, 24), lane.has_packet_end()));
        }
        assert_eq!(sizes, [(24, true), (23, false), (24, false), (23, false), (24, false)]);
        for count in 0..3 {
            push(&mut lane, b"start");
            lane.end_packet();
            push(&mut lane, b"input");
            for _ in 0..count {
                take(&mut lane, 24);
            }
            assert_eq!(lane.discard_behind_packet_end(), 5);
            assert_eq!(lane.pending_bytes(), [5, 2, 0][count]);
            assert_eq!(take(&mut lane, 1000), [26, 23, 0][count]);
        }
        assert!(lane.is_empty() && lane.reset());
    }

    #[test]
    fn the_smallest_packet_makes_progress() {
        let mut lane = LaneBuffer::default();
        push(&mut lane, b"abc");
        push(&mut lane, b"");
        assert_eq!([0; 5].map(|max| take(&mut lane, max)), [22, 22, 22, 21, 0]);
    }
}
