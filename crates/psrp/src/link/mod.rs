//! What both ends of a session share: messages out of and into fragments, transport actions, and the key.

mod key;

use std::collections::{HashMap, VecDeque};

use uuid::Uuid;

use crate::clixml::Writer;
use crate::error::{Error, Kind};
use crate::fragment::{Assembler, AssemblerOptions, Fragmenter, OutOfOrder, Priority, SendQueue};
use crate::message::{Destination, Message, MessageHeader, MessageType, Payload};
use crate::outofproc::Packet;
use crate::value::Value;

/// The error of an action that a state does not allow.
#[cold]
pub(crate) fn not_now(action: &str, of: &str, state: impl std::fmt::Display) -> Error {
    Error::with(Kind::State, format!("can't {action}: the {of} is {state}"))
}

#[cold]
pub(crate) fn violation(what: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Protocol, what)
}

/// A packet without data that is to be sent.
#[derive(Debug)]
struct Control {
    packet: Packet<'static>,
    /// Whether the data that wait for the target go first.
    after_data: bool,
}

/// A message that waits for the key, or for a message of the same target that does.
#[cfg_attr(not(feature = "crypto"), expect(dead_code, reason = "there is never a key to send it with"))]
struct Parked {
    target: Option<Uuid>,
    priority: Priority,
    message_type: MessageType,
    value: Option<Value>,
}

/// Which acknowledgement a target waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Command,
    Data,
}

pub(crate) struct Link {
    peer: Destination,
    pub(crate) pool_id: Uuid,
    writer: Writer,
    queue: SendQueue,
    control: VecDeque<Control>,
    parked: VecDeque<Parked>,
    awaited: HashMap<Option<Uuid>, Awaited>,
    assemblers: HashMap<(Option<Uuid>, Priority), Assembler>,
    assembling: AssemblerOptions,
    key: Key,
}

impl Link {
    pub(crate) fn new(
        peer: Destination,
        pool_id: Uuid,
        fragment_size: usize,
        max_object_size: usize,
        key: Key,
    ) -> Self {
        Self {
            peer,
            pool_id,
            writer: Writer::new(),
            queue: SendQueue::new(Fragmenter::new().fragment_size(fragment_size)),
            control: VecDeque::new(),
            parked: VecDeque::new(),
            awaited: HashMap::new(),
            assemblers: HashMap::new(),
            assembling: AssemblerOptions::new().max_object_size(max_object_size),
            key,
        }
    }

    /// Queues a message. If it holds a secure string and there is no key yet, it fails with [`Error::is_no_key`] and
    /// nothing is queued.
    pub(crate) fn send(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<&Value>,
    ) -> Result<(), Error> {
        let data = match value {
            Some(value) => self.writer.write(value)?,
            None => &[],
        };
        let header = MessageHeader {
            destination: self.peer,
            message_type,
            pool_id: self.pool_id,
            pipeline_id: target,
        };
        self.queue.push_with(target, priority, |buffer| {
            Message { header, data }.encode(buffer);
            Ok(())
        })
    }

    /// Queues a message on the stream that most of them have.
    pub(crate) fn send_payload(&mut self, target: Option<Uuid>, payload: &Payload) -> Result<(), Error> {
        self.send(target, Priority::Default, payload.message_type(), payload.to_value().as_ref())
    }

    /// Whether a message to this target would overtake one that waits for the key.
    pub(crate) fn is_parked(&self, target: Option<Uuid>, priority: Priority) -> bool {
        self.parked.iter().any(|parked| parked.target == target && parked.priority == priority)
    }

    /// Keeps a message until there is a key.
    pub(crate) fn park(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<Value>,
    ) {
        self.parked.push_back(Parked { target, priority, message_type, value });
    }

    /// Queues what waited for the key.
    #[cfg(feature = "crypto")]
    pub(crate) fn send_parked(&mut self) -> Result<(), Error> {
        while let Some(parked) = self.parked.pop_front() {
            self.send(parked.target, parked.priority, parked.message_type, parked.value.as_ref())?;
        }
        Ok(())
    }

    /// Queues a packet without data.
    pub(crate) fn act(&mut self, packet: Packet<'static>) {
        self.control.push_back(Control { packet, after_data: false });
    }

    /// The packet comes after the messages to its target that wait now.
    pub(crate) fn act_after_data(&mut self, packet: Packet<'static>) {
        self.control.push_back(Control { packet, after_data: true });
    }

    /// Whether a message to this target was not handed out entirely.
    pub(crate) fn has_data(&self, target: Option<Uuid>) -> bool {
        self.queue.lanes().any(|lane| lane.target == target)
            || self.parked.iter().any(|parked| parked.target == target)
    }

    pub(crate) fn pending_bytes(&self) -> usize {
        self.queue.pending_bytes()
    }

    pub(crate) fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        let ready = |control: &Control| !control.after_data || !self.has_data(control.packet.target());
        if let Some(Control { packet, .. }) =
            self.control.iter().position(ready).and_then(|index| self.control.remove(index))
        {
            if let Packet::Command(target) = packet {
                self.awaited.insert(target, Awaited::Command);
            }
            return Some(packet);
        }
        buffer.clear();
        let awaited = &self.awaited;
        let payload = self.queue.next_payload_of(max, buffer, |lane| !awaited.contains_key(&lane.target))?;
        // The client waits for an acknowledgement before it sends more to a target, the server does not.
        if self.peer == Destination::Server {
            self.awaited.insert(payload.target, Awaited::Data);
        }
        Some(Packet::Data { target: payload.target, priority: payload.priority, data: buffer })
    }

    pub(crate) fn data_acknowledged(&mut self, target: Option<Uuid>) {
        if self.awaited.get(&target) == Some(&Awaited::Data) {
            self.awaited.remove(&target);
        }
    }

    pub(crate) fn command_acknowledged(&mut self, target: Option<Uuid>) {
        if self.awaited.get(&target) == Some(&Awaited::Command) {
            self.awaited.remove(&target);
        }
    }

    /// Takes the assembler of a stream out, to be given back by [`Link::put_assembler`].
    pub(crate) fn take_assembler(&mut self, target: Option<Uuid>, priority: Priority) -> Assembler {
        self.assemblers
            .remove(&(target, priority))
            .unwrap_or_else(|| Assembler::with_options(self.assembling))
    }

    pub(crate) fn put_assembler(&mut self, target: Option<Uuid>, priority: Priority, assembler: Assembler) {
        self.assemblers.insert((target, priority), assembler);
    }

    /// After a reconnect the rest of a message whose start is lost may arrive.
    pub(crate) fn tolerate_lost_fragments(&mut self) {
        self.assembling = self.assembling.out_of_order(OutOfOrder::Skip);
        self.assemblers.clear();
    }

    /// Drops what waits for a target, and what was received from it in part.
    pub(crate) fn forget(&mut self, target: Option<Uuid>) {
        self.queue.discard(target);
        self.parked.retain(|parked| parked.target != target);
        self.awaited.remove(&target);
        self.assemblers.retain(|(own, _), _| *own != target);
    }

    /// Drops what waits for a target.
    pub(crate) fn discard_output(&mut self, target: Option<Uuid>) {
        self.queue.discard(target);
        self.parked.retain(|parked| parked.target != target);
    }

    /// Drops everything that waits or was received in part, transport actions aside.
    pub(crate) fn forget_all(&mut self) {
        let targets: Vec<_> = self.queue.lanes().map(|lane| lane.target).collect();
        for target in targets {
            self.queue.discard(target);
        }
        self.parked.clear();
        self.awaited.clear();
        self.assemblers.clear();
    }

    /// Splits a message and checks that it is for this side of this pool. `None` if it is for another pool.
    pub(crate) fn accept<'m>(&self, message: &'m [u8]) -> Result<Option<Message<'m>>, Error> {
        let message = Message::decode(message)?;
        if message.header.destination == self.peer {
            return Err(violation("a message that is for the side that sent it"));
        }
        let id = message.header.pool_id;
        let is_other = !id.is_nil() && !self.pool_id.is_nil() && id != self.pool_id;
        Ok((!is_other).then_some(message))
    }

    /// What a message means, its secure strings decrypted if there is a key. The second is whether it has some that a
    /// key is missing for.
    pub(crate) fn decode(&self, message: &Message<'_>) -> Result<(Payload, bool), Error> {
        let payload = Payload::decode(message.header.message_type, message.data)?;
        // Text can't contain this: it is escaped.
        let is_secret = memchr::memmem::find(message.data, b"<SS").is_some();
        if !is_secret {
            return Ok((payload, false));
        }
        let Some(cipher) = self.key.cipher() else { return Ok((payload, true)) };
        if let Some(value) = payload.to_value() {
            // The strings of the payload are clones of these, which share what was decrypted. One that can't be
            // decrypted stays as it is; whoever wants its text gets none.
            let _ = value.decrypt(&*cipher);
        }
        Ok((payload, false))
    }
}

pub(crate) use key::Key;

/// Events that wait, with a limit of the bytes of their messages.
#[derive(Debug)]
pub(crate) struct Events<E> {
    queue: VecDeque<(E, usize)>,
    bytes: usize,
    max_bytes: usize,
}

impl<E> Events<E> {
    /// What an event counts besides the bytes of its message.
    const EACH: usize = 64;

    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { queue: VecDeque::new(), bytes: 0, max_bytes }
    }

    /// Whether there is room for the event of a message with so many bytes.
    pub(crate) fn reserve(&self, len: usize) -> Result<(), Error> {
        if self.bytes.saturating_add(len).saturating_add(Self::EACH) > self.max_bytes {
            return Err(Error::with(Kind::Limit, "bytes of events that wait"));
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, event: E, len: usize) {
        self.bytes += len + Self::EACH;
        self.queue.push_back((event, len));
    }

    pub(crate) fn pop(&mut self) -> Option<E> {
        self.pop_sized().map(|(event, _)| event)
    }

    /// The event with what it counts.
    pub(crate) fn pop_sized(&mut self) -> Option<(E, usize)> {
        let (event, len) = self.queue.pop_front()?;
        let size = len + Self::EACH;
        self.bytes -= size;
        Some((event, size))
    }
}
