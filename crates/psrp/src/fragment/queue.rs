//! Send queue: pending messages, split into fragments on demand.

use std::collections::VecDeque;
use std::convert::Infallible;

use uuid::Uuid;

use super::{FragmentHeader, Fragmenter, Priority};

/// Number of empty lanes retained so that their buffers can be reused.
const MAX_SPARE_LANES: usize = 4;

/// Maximum capacity of a retained buffer in bytes.
const MAX_RETAINED_CAPACITY: usize = 256 * 1024;

/// Queue of messages to send. Splits them into payloads of the size that a transport sends at once.
///
/// Each combination of target and [`Priority`] is a lane. A payload contains fragments of one lane only, in order and
/// without gaps. Lanes take turns; lanes with [`Priority::PromptResponse`] go before all others.
///
/// ```
/// use psrp::fragment::{Fragmenter, Lane, Priority, SendQueue};
///
/// let mut queue = SendQueue::new(Fragmenter::new());
/// queue.push(None, Priority::Default, &[1; 50]);
/// queue.push(None, Priority::Default, &[2; 50]);
///
/// 100 bytes: the first message and its header of 21 bytes, then the header and 8 bytes of the second message.
/// let mut bytes = Vec::new();
/// assert_eq!(queue.next_payload(100, &mut bytes), Some(Lane { target: None, priority: Priority::Default }));
/// assert_eq!(bytes.len(), 100);
/// ```
pub struct SendQueue {
    fragmenter: Fragmenter,
    /// Lanes with pending messages, in the order of their turns.
    lanes: VecDeque<LaneBuffer>,
    spare: Vec<LaneBuffer>,
    pending: usize,
}

/// Target and stream of a payload returned by [`SendQueue::next_payload`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The pipeline, or `None` for the runspace pool.
    pub target: Option<Uuid>,
    /// Stream of the target.
    pub priority: Priority,
}

#[derive(Default)]
struct LaneBuffer {
    id: Lane,
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
    /// True if the next message must start a new payload.
    ends_payload: bool,
}

impl SendQueue {
    /// Creates an empty queue that splits messages with this fragmenter.
    pub const fn new(fragmenter: Fragmenter) -> Self {
        Self { fragmenter, lanes: VecDeque::new(), spare: Vec::new(), pending: 0 }
    }

    /// Returns the fragmenter.
    pub const fn fragmenter(&self) -> &Fragmenter {
        &self.fragmenter
    }

    /// Returns the fragmenter, to change it for the messages that follow.
    pub const fn fragmenter_mut(&mut self) -> &mut Fragmenter {
        &mut self.fragmenter
    }

    /// Queues a message for a pipeline, or for the runspace pool with `None`. Its object identifier is assigned now.
    pub fn push(&mut self, target: Option<Uuid>, priority: Priority, message: &[u8]) {
        let Ok(()) = self.push_with(target, priority, |buffer| {
            buffer.extend_from_slice(message);
            Ok::<_, Infallible>(())
        });
    }

    /// Queues the message that `write` appends to a buffer, which saves a copy. The buffer may already contain other
    /// messages, which `write` must not modify. If `write` fails, nothing is queued.
    ///
    /// # Errors
    ///
    /// Returns the error of `write`.
    ///
    /// # Panics
    ///
    /// Panics if `write` shortens the buffer.
    pub fn push_with<E>(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let id = Lane { target, priority };
        let existing = self.lanes.iter().position(|lane| lane.id == id);
        let mut new = match existing {
            Some(_) => None,
            None => Some(self.spare.pop().unwrap_or_default()),
        };
        let lane = match (existing, &mut new) {
            (Some(index), _) => &mut self.lanes[index],
            (None, new) => new.get_or_insert_default(),
        };
        let before = lane.bytes.len();
        let written = write(&mut lane.bytes);
        assert!(lane.bytes.len() >= before, "a message is appended");
        match &written {
            Ok(()) => {
                let left = lane.bytes.len() - before;
                let object_id = self.fragmenter.take_object_id();
                lane.messages.push_back(PendingMessage {
                    object_id,
                    next_fragment: 0,
                    left,
                    ends_payload: false,
                });
                self.pending += left;
                if let Some(mut lane) = new {
                    lane.id = id;
                    self.lanes.push_back(lane);
                }
            }
            Err(_) => {
                lane.bytes.truncate(before);
                if let Some(lane) = new {
                    self.recycle(lane);
                }
            }
        }
        written
    }

    /// Ends the payload behind the last queued message of a lane: messages queued later start a new payload.
    pub(crate) fn end_payload(&mut self, target: Option<Uuid>, priority: Priority) {
        let id = Lane { target, priority };
        let lane = self.lanes.iter_mut().find(|lane| lane.id == id);
        if let Some(message) = lane.and_then(|lane| lane.messages.back_mut()) {
            message.ends_payload = true;
        }
    }

    /// Returns whether a message that ends its payload is pending.
    pub(crate) fn has_payload_end(&self) -> bool {
        self.lanes.iter().any(|lane| lane.messages.iter().any(|message| message.ends_payload))
    }

    /// Appends fragments of the next lane to `out`, at most `max` bytes, and returns the lane. Returns `None` if the
    /// queue is empty.
    ///
    /// `max` is at least [`Fragmenter::MIN_FRAGMENT_SIZE`]; lower values are raised to it. Allocates only if the buffer
    /// has to grow.
    pub fn next_payload(&mut self, max: usize, out: &mut Vec<u8>) -> Option<Lane> {
        self.next_payload_of(max, out, |_| true)
    }

    /// Like [`next_payload`](Self::next_payload), but only for lanes that pass a filter, such as those whose last
    /// payload was acknowledged.
    pub fn next_payload_of(
        &mut self,
        max: usize,
        out: &mut Vec<u8>,
        mut passes: impl FnMut(Lane) -> bool,
    ) -> Option<Lane> {
        let mut chosen = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            let urgent = lane.id.priority == Priority::PromptResponse;
            if (urgent || chosen.is_none()) && passes(lane.id) {
                chosen = Some(index);
                if urgent {
                    break;
                }
            }
        }
        let mut lane = self.lanes.remove(chosen?)?;
        let id = lane.id;
        self.pending -=
            lane.take(max.max(Fragmenter::MIN_FRAGMENT_SIZE), self.fragmenter.max_fragment_size(), out);
        if lane.messages.is_empty() {
            self.recycle(lane);
        } else {
            self.lanes.push_back(lane);
        }
        Some(id)
    }

    /// Drops the pending messages of a target, for example of a closed pipeline. A receiver with a partial message
    /// discards it when the next message starts.
    pub fn discard(&mut self, target: Option<Uuid>) {
        self.lanes.retain(|lane| {
            let stays = lane.id.target != target;
            if !stays {
                self.pending -= lane.bytes.len() - lane.sent;
            }
            stays
        });
    }

    /// Drops the messages of a lane that follow the last payload end, or all if there is none. Returns the number of
    /// bytes dropped.
    pub(crate) fn discard_behind_payload_end(&mut self, id: Lane) -> usize {
        let Some(index) = self.lanes.iter().position(|lane| lane.id == id) else { return 0 };
        let lane = &mut self.lanes[index];
        let kept = lane.messages.iter().rposition(|message| message.ends_payload).map_or(0, |last| last + 1);
        lane.messages.truncate(kept);
        let end = lane.sent + lane.messages.iter().map(|message| message.left).sum::<usize>();
        let dropped = lane.bytes.len() - end;
        lane.bytes.truncate(end);
        self.pending -= dropped;
        if kept == 0
            && let Some(lane) = self.lanes.remove(index)
        {
            self.recycle(lane);
        }
        dropped
    }

    /// Returns the lanes with pending messages, in the order of their turns.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.lanes.iter().map(|lane| lane.id)
    }

    /// Returns whether no message is pending.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// Returns the bytes of all pending messages without fragment headers. The queue itself has no limit.
    pub const fn pending_bytes(&self) -> usize {
        self.pending
    }

    fn recycle(&mut self, mut lane: LaneBuffer) {
        if self.spare.len() < MAX_SPARE_LANES && lane.bytes.capacity() <= MAX_RETAINED_CAPACITY {
            lane.bytes.clear();
            lane.sent = 0;
            self.spare.push(lane);
        }
    }
}

impl Default for SendQueue {
    fn default() -> Self {
        Self::new(Fragmenter::new())
    }
}

impl LaneBuffer {
    /// Appends as many fragments as fit into `max` bytes. Returns the number of message bytes appended.
    fn take(&mut self, max: usize, fragment_size: usize, out: &mut Vec<u8>) -> usize {
        let mut space = max;
        let before = self.sent;
        out.reserve(max.min(self.bytes.len() - self.sent + self.messages.len() * FragmentHeader::LEN));
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
            if header.end && self.messages.pop_front().is_some_and(|message| message.ends_payload) {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Option<Uuid> = Some(Uuid::from_u128(1));
    const B: Option<Uuid> = Some(Uuid::from_u128(2));

    fn next(queue: &mut SendQueue, max: usize) -> Option<(Lane, Vec<u8>)> {
        let mut bytes = Vec::new();
        let lane = queue.next_payload(max, &mut bytes)?;
        Some((lane, bytes))
    }

    #[test]
    fn lanes_take_turns_and_prompt_responses_go_first() {
        let mut queue = SendQueue::default();
        queue.push(A, Priority::Default, &[1; 100]);
        queue.push(B, Priority::Default, &[2; 100]);
        queue.push(B, Priority::PromptResponse, &[3; 10]);
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue, 100))
            .map(|(lane, bytes)| (lane.target, lane.priority, bytes.len()))
            .collect();
        assert_eq!(
            order,
            [
                (B, Priority::PromptResponse, 31),
                (A, Priority::Default, 100),
                (B, Priority::Default, 100),
                (A, Priority::Default, 42),
                (B, Priority::Default, 42)
            ]
        );
        assert!(queue.is_empty());
        assert_eq!(queue.pending_bytes(), 0);
    }

    #[test]
    fn filtered_lanes_are_skipped() {
        let mut queue = SendQueue::default();
        queue.push(A, Priority::Default, b"a");
        queue.push(B, Priority::Default, b"b");
        let mut bytes = Vec::new();
        let lane = queue.next_payload_of(100, &mut bytes, |lane| lane.target == B).unwrap();
        assert_eq!((lane.target, bytes.last()), (B, Some(&b'b')));
        assert_eq!(queue.next_payload_of(100, &mut bytes, |lane| lane.target == B), None);
        queue.discard(A);
        assert!(queue.is_empty());
        assert_eq!(queue.pending_bytes(), 0);
    }

    #[test]
    fn a_failed_write_queues_nothing() {
        let mut queue = SendQueue::default();
        let failing = |buffer: &mut Vec<u8>| {
            buffer.push(1);
            Err("no key")
        };
        assert_eq!(queue.push_with(A, Priority::Default, failing), Err("no key"));
        assert!(queue.is_empty());
        queue.push(A, Priority::Default, b"a");
        assert_eq!(queue.push_with(A, Priority::Default, failing), Err("no key"));
        queue.push(A, Priority::Default, b"b");
        let (_, bytes) = next(&mut queue, 100).unwrap();
        assert_eq!((bytes.len(), bytes[21], bytes[43]), (44, b'a', b'b'));
        assert_eq!((bytes[7], bytes[29]), (1, 2), "no number was taken");
    }

    #[test]
    fn messages_behind_a_payload_end_start_a_new_payload() {
        let mut queue = SendQueue::default();
        for text in [&b"start"[..], b"input", b"end"] {
            queue.push(A, Priority::Default, text);
            if text == b"start" {
                queue.end_payload(A, Priority::Default);
            }
        }
        let mut sizes = Vec::new();
        while let Some((_, bytes)) = next(&mut queue, 24) {
            sizes.push((bytes.len(), queue.has_payload_end()));
        }
        assert_eq!(sizes, [(24, true), (23, false), (24, false), (23, false), (24, false)]);
        let lane = Lane { target: A, priority: Priority::Default };
        for count in 0..3 {
            queue.push(A, Priority::Default, b"start");
            queue.end_payload(A, Priority::Default);
            queue.push(A, Priority::Default, b"input");
            let taken = (0..count).filter_map(|_| next(&mut queue, 24)).count();
            assert_eq!((taken, queue.discard_behind_payload_end(lane)), (count, 5));
            assert_eq!(queue.pending_bytes(), [5, 2, 0][count]);
            assert_eq!(
                next(&mut queue, 1000).map(|(_, bytes)| bytes.len()),
                [Some(26), Some(23), None][count]
            );
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn the_smallest_payload_makes_progress() {
        let mut queue = SendQueue::default();
        queue.push(None, Priority::Default, b"abc");
        queue.push(None, Priority::Default, b"");
        let sizes: Vec<_> =
            std::iter::from_fn(|| next(&mut queue, 0)).map(|(_, bytes)| bytes.len()).collect();
        assert_eq!(sizes, [22, 22, 22, 21]);
    }
}
