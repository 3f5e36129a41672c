//! What waits to be sent.

use std::collections::VecDeque;
use std::convert::Infallible;

use uuid::Uuid;

use super::{FragmentHeader, Fragmenter, Priority};

/// Emptied lanes whose buffers are kept to be used again.
const SPARE_LANES: usize = 4;

/// Buffers beyond this are not kept.
const RETAINED: usize = 256 * 1024;

/// Messages that wait to be sent, and the cutting of them into what a transport takes at a time.
///
/// Each target with each [`Priority`] is a lane of its own. A payload has fragments of one lane, in order and without a
/// gap. Lanes take turns, those with [`Priority::PromptResponse`] before all others.
///
/// ```
/// use psrp::fragment::{Fragmenter, Payload, Priority, SendQueue};
///
/// let mut queue = SendQueue::new(Fragmenter::new());
/// queue.push(None, Priority::Default, &[1; 50]);
/// queue.push(None, Priority::Default, &[2; 50]);
///
/// // At most 100 bytes: the first message with its header of 21 bytes, and 8 bytes of the second with theirs.
/// let mut bytes = Vec::new();
/// assert_eq!(queue.next_payload(100, &mut bytes), Some(Payload { target: None, priority: Priority::Default }));
/// assert_eq!(bytes.len(), 100);
/// ```
pub struct SendQueue {
    fragmenter: Fragmenter,
    /// No lane is empty. The order is whose turn it is.
    lanes: VecDeque<Lane>,
    spare: Vec<Lane>,
    pending: usize,
}

/// Where the bytes go that [`SendQueue::next_payload`] gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Payload {
    /// The pipeline, or `None` for the pool.
    pub target: Option<Uuid>,
    /// The stream of the target.
    pub priority: Priority,
}

#[derive(Default)]
struct Lane {
    payload: Payload,
    /// The bytes of all messages; those before `sent` are gone.
    bytes: Vec<u8>,
    sent: usize,
    messages: VecDeque<Queued>,
}

/// A message, or what is left of it.
struct Queued {
    object_id: u64,
    next_fragment: u64,
    left: usize,
    /// Whether the payload with its end has nothing behind it.
    ends_payload: bool,
}

impl SendQueue {
    /// An empty queue that cuts and numbers messages with this fragmenter.
    pub const fn new(fragmenter: Fragmenter) -> Self {
        Self { fragmenter, lanes: VecDeque::new(), spare: Vec::new(), pending: 0 }
    }

    /// What cuts and numbers the messages.
    pub const fn fragmenter(&self) -> &Fragmenter {
        &self.fragmenter
    }

    /// What cuts and numbers the messages, to change it for those that follow.
    pub const fn fragmenter_mut(&mut self) -> &mut Fragmenter {
        &mut self.fragmenter
    }

    /// Adds a message for a pipeline, or with `None` for the pool. Its number is taken now.
    pub fn push(&mut self, target: Option<Uuid>, priority: Priority, message: &[u8]) {
        let Ok(()) = self.push_with(target, priority, |buffer| {
            buffer.extend_from_slice(message);
            Ok::<_, Infallible>(())
        });
    }

    /// Adds the message that a function appends to a buffer, which saves a copy. There may be other messages in front
    /// of it, which the function leaves alone. If it fails nothing is added.
    ///
    /// # Errors
    ///
    /// Fails with the error of the function.
    ///
    /// # Panics
    ///
    /// Panics if the function makes the buffer shorter.
    pub fn push_with<E>(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let payload = Payload { target, priority };
        let known = self.lanes.iter().position(|lane| lane.payload == payload);
        let mut new = match known {
            Some(_) => None,
            None => Some(self.spare.pop().unwrap_or_default()),
        };
        let lane = match (known, &mut new) {
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
                lane.messages.push_back(Queued { object_id, next_fragment: 0, left, ends_payload: false });
                self.pending += left;
                if let Some(mut lane) = new {
                    lane.payload = payload;
                    self.lanes.push_back(lane);
                }
            }
            Err(_) => {
                lane.bytes.truncate(before);
                if let Some(lane) = new {
                    self.keep(lane);
                }
            }
        }
        written
    }

    /// Keeps the messages that follow the last one of a lane out of its payload.
    pub(crate) fn end_payload(&mut self, target: Option<Uuid>, priority: Priority) {
        let payload = Payload { target, priority };
        let lane = self.lanes.iter_mut().find(|lane| lane.payload == payload);
        if let Some(message) = lane.and_then(|lane| lane.messages.back_mut()) {
            message.ends_payload = true;
        }
    }

    /// Whether a message that ends its payload is pending.
    pub(crate) fn has_payload_end(&self) -> bool {
        self.lanes.iter().any(|lane| lane.messages.iter().any(|message| message.ends_payload))
    }

    /// Appends fragments of the lane whose turn it is, at most `max` bytes, and tells where they go. `None` if nothing
    /// waits.
    ///
    /// A limit below [`Fragmenter::MIN_FRAGMENT_SIZE`] counts as that. Allocates only if the buffer has to grow.
    pub fn next_payload(&mut self, max: usize, out: &mut Vec<u8>) -> Option<Payload> {
        self.next_payload_of(max, out, |_| true)
    }

    /// The same among the lanes that a function lets pass, such as those whose last payload was acknowledged.
    pub fn next_payload_of(
        &mut self,
        max: usize,
        out: &mut Vec<u8>,
        mut passes: impl FnMut(Payload) -> bool,
    ) -> Option<Payload> {
        let mut chosen = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            let urgent = lane.payload.priority == Priority::PromptResponse;
            if (urgent || chosen.is_none()) && passes(lane.payload) {
                chosen = Some(index);
                if urgent {
                    break;
                }
            }
        }
        let mut lane = self.lanes.remove(chosen?)?;
        let payload = lane.payload;
        self.pending -=
            lane.take(max.max(Fragmenter::MIN_FRAGMENT_SIZE), self.fragmenter.max_fragment_size(), out);
        if lane.messages.is_empty() {
            self.keep(lane);
        } else {
            self.lanes.push_back(lane);
        }
        Some(payload)
    }

    /// Drops what waits for a target, such as a pipeline that was closed. A receiver that has a part of a message drops
    /// it when the next one starts.
    pub fn discard(&mut self, target: Option<Uuid>) {
        self.lanes.retain(|lane| {
            let stays = lane.payload.target != target;
            if !stays {
                self.pending -= lane.bytes.len() - lane.sent;
            }
            stays
        });
    }

    /// Drops the messages of a lane behind the last one that ends its payload, or all. Tells how many bytes they had.
    pub(crate) fn discard_behind_payload_end(&mut self, payload: Payload) -> usize {
        let Some(index) = self.lanes.iter().position(|lane| lane.payload == payload) else { return 0 };
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
            self.keep(lane);
        }
        dropped
    }

    /// The lanes with something to send, in the order of their turns.
    pub fn lanes(&self) -> impl Iterator<Item = Payload> {
        self.lanes.iter().map(|lane| lane.payload)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// How many bytes of messages wait, headers of fragments not included. The queue has no limit of its own.
    pub const fn pending_bytes(&self) -> usize {
        self.pending
    }

    fn keep(&mut self, mut lane: Lane) {
        if self.spare.len() < SPARE_LANES && lane.bytes.capacity() <= RETAINED {
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

impl Lane {
    /// Appends as many fragments as fit, and tells how many bytes of messages they have.
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
                // Not cut off: the size of a fragment is below `u32::MAX`.
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
        // Moves each byte once on average, as it happens when there are at most as many left as were sent.
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

    fn next(queue: &mut SendQueue, max: usize) -> Option<(Payload, Vec<u8>)> {
        let mut bytes = Vec::new();
        let payload = queue.next_payload(max, &mut bytes)?;
        Some((payload, bytes))
    }

    #[test]
    fn lanes_take_turns_and_answers_go_first() {
        let mut queue = SendQueue::default();
        queue.push(A, Priority::Default, &[1; 100]);
        queue.push(B, Priority::Default, &[2; 100]);
        queue.push(B, Priority::PromptResponse, &[3; 10]);
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue, 100))
            .map(|(payload, bytes)| (payload.target, payload.priority, bytes.len()))
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
    fn a_lane_that_waits_is_passed_over() {
        let mut queue = SendQueue::default();
        queue.push(A, Priority::Default, b"a");
        queue.push(B, Priority::Default, b"b");
        let mut bytes = Vec::new();
        let payload = queue.next_payload_of(100, &mut bytes, |lane| lane.target == B).unwrap();
        assert_eq!((payload.target, bytes.last()), (B, Some(&b'b')));
        assert_eq!(queue.next_payload_of(100, &mut bytes, |lane| lane.target == B), None);
        queue.discard(A);
        assert!(queue.is_empty());
        assert_eq!(queue.pending_bytes(), 0);
    }

    #[test]
    fn a_message_that_fails_leaves_nothing() {
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
    fn a_payload_ends_where_it_should() {
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
        let lane = Payload { target: A, priority: Priority::Default };
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
    fn the_least_payload_makes_progress() {
        let mut queue = SendQueue::default();
        queue.push(None, Priority::Default, b"abc");
        queue.push(None, Priority::Default, b"");
        let sizes: Vec<_> =
            std::iter::from_fn(|| next(&mut queue, 0)).map(|(_, bytes)| bytes.len()).collect();
        assert_eq!(sizes, [22, 22, 22, 21]);
    }
}
