//! Common parts of the pools of client and server: pending calls, events and requests, and methods.

use std::collections::HashMap;

use uuid::Uuid;

use super::protocol_violation;
use super::queue::SizedQueue;
use crate::error::{Error, Kind};
use crate::host::HostMethod;
use crate::message::{
    Availability, GetAvailableRunspaces, InitRunspacePool, Payload, ResetRunspaceState, SetMaxRunspaces,
    SetMinRunspaces,
};

/// Pending calls by pipeline (`None` for the runspace pool) and call identifier.
pub(crate) struct HostCalls {
    calls: HashMap<(Option<Uuid>, i64), HostMethod>,
    max: usize,
}

impl HostCalls {
    pub(crate) fn new(max: usize) -> Self {
        Self { calls: HashMap::new(), max }
    }

    /// Fails if the maximum number of calls is pending.
    pub(crate) fn reserve(&self) -> Result<(), Error> {
        if self.calls.len() >= self.max {
            return Err(Error::with(Kind::Limit, "number of pending host calls"));
        }
        Ok(())
    }

    pub(crate) fn insert(
        &mut self,
        pipeline: Option<Uuid>,
        call_id: i64,
        method: HostMethod,
    ) -> Result<(), Error> {
        self.reserve()?;
        match self.calls.insert((pipeline, call_id), method) {
            Some(_) => Err(protocol_violation("two host calls with the same identifier")),
            None => Ok(()),
        }
    }

    pub(crate) fn method(&self, pipeline: Option<Uuid>, call_id: i64) -> Option<HostMethod> {
        self.calls.get(&(pipeline, call_id)).copied()
    }

    pub(crate) fn remove(&mut self, pipeline: Option<Uuid>, call_id: i64) -> Option<HostMethod> {
        self.calls.remove(&(pipeline, call_id))
    }

    /// Removes all calls of a pipeline.
    pub(crate) fn remove_pipeline(&mut self, pipeline: Uuid) {
        self.calls.retain(|(caller, _), _| *caller != Some(pipeline));
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
    }
}

/// Queue of events, limited by their decoded size.
pub(crate) struct EventQueue<E> {
    events: SizedQueue<E>,
    max_bytes: usize,
}

impl<E> EventQueue<E> {
    /// Bytes that an event counts in addition to its decoded size.
    const EVENT_OVERHEAD: usize = 64;

    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { events: SizedQueue::default(), max_bytes }
    }

    /// Fails if there is no room for an event of this decoded size.
    pub(crate) fn reserve(&self, size: usize) -> Result<(), Error> {
        if self.events.bytes().saturating_add(size).saturating_add(Self::EVENT_OVERHEAD) > self.max_bytes {
            return Err(Error::with(Kind::Limit, "bytes of pending events"));
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, event: E, len: usize) {
        self.events.push(event, len + Self::EVENT_OVERHEAD);
    }

    /// Returns the next event and the bytes it counted.
    pub(crate) fn pop_with_size(&mut self) -> Option<(E, usize)> {
        self.events.pop()
    }
}

/// Receive state of a pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Received {
    /// Fragment bytes so far.
    pub(crate) bytes: usize,
    /// A message was malformed or exceeded a limit: further input is dropped.
    pub(crate) has_failed: bool,
}

/// A request of a client about the runspaces of its pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolRequest {
    /// Change the minimum number of runspaces. The response is whether it was changed.
    SetMinRunspaces(i32),
    /// Change the maximum number of runspaces. The response is whether it was changed.
    SetMaxRunspaces(i32),
    /// Return the number of free runspaces.
    GetAvailableRunspaces,
    /// Reset the variables of the runspace. The response is whether they were reset.
    ResetRunspaceState,
}

impl PoolRequest {
    pub(crate) const fn payload(self, call_id: i64) -> Payload {
        match self {
            Self::SetMinRunspaces(count) => {
                Payload::SetMinRunspaces(SetMinRunspaces { min_runspaces: count, call_id })
            }
            Self::SetMaxRunspaces(count) => {
                Payload::SetMaxRunspaces(SetMaxRunspaces { max_runspaces: count, call_id })
            }
            Self::GetAvailableRunspaces => Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id }),
            Self::ResetRunspaceState => Payload::ResetRunspaceState(ResetRunspaceState { call_id }),
        }
    }

    /// Returns whether a response is of the kind of this request.
    pub(crate) const fn fits(self, availability: Availability) -> bool {
        matches!(self, Self::GetAvailableRunspaces) == matches!(availability, Availability::Count(_))
    }

    /// Makes the change of an accepted request.
    pub(crate) const fn apply(self, init: &mut InitRunspacePool) {
        match self {
            Self::SetMinRunspaces(count) => init.min_runspaces = count,
            Self::SetMaxRunspaces(count) => init.max_runspaces = count,
            Self::GetAvailableRunspaces | Self::ResetRunspaceState => {}
        }
    }
}

/// Implements the common methods for a pool whose fields have the same names and types in both roles.
macro_rules! pool_methods {
    ($pool:ident, $pipeline:ident) => {
        impl $pool {
            /// Returns the identifier of the pool, which the client chooses. At the server it is nil until the first
            /// message.
            pub fn id(&self) -> Uuid {
                self.link.pool_id
            }

            /// Returns the state of the pool.
            pub fn state(&self) -> RunspacePoolState {
                self.state
            }

            /// Returns the minimum number of runspaces agreed with the peer.
            pub fn min_runspaces(&self) -> i32 {
                self.init.min_runspaces
            }

            /// Returns the maximum number of runspaces agreed with the peer.
            pub fn max_runspaces(&self) -> i32 {
                self.init.max_runspaces
            }

            /// Returns the capabilities of the peer once they are received.
            pub fn peer(&self) -> Option<&SessionCapability> {
                self.peer.as_ref()
            }

            /// Returns whether secure strings can be sent: there is a session key, or the protocol is 2.4 or later and
            /// needs none.
            pub fn has_key(&self) -> bool {
                self.link.has_key()
            }

            /// Returns the bytes of all pending output, including messages that wait for the session key. The limit is
            /// [`SessionLimits::max_pending_bytes`].
            pub fn pending_bytes(&self) -> usize {
                self.link.outbox.pending_bytes()
            }

            /// Returns the bytes of pending output of one pipeline, or of the pool alone with `None`. Check it before
            /// sending more (backpressure).
            pub fn pending_bytes_of(&self, pipeline: Option<Uuid>) -> usize {
                self.link.outbox.pending_bytes_of(pipeline)
            }

            /// Returns the lower of both sides' protocol versions, or the version of this side while the peer's is
            /// unknown.
            pub(super) fn protocol(&self) -> Version {
                let own = self.capability.protocol_version;
                self.peer.as_ref().map_or(own, |peer| own.min(peer.protocol_version))
            }

            /// Processes fragments for a pipeline, or for the pool with `None`. Malformed fragments and message
            /// headers, and those that exceed a limit, fail the target pipeline or the pool.
            pub(super) fn receive(
                &mut self,
                priority: Priority,
                target: Option<Uuid>,
                mut bytes: &[u8],
            ) -> Result<(), Error> {
                if let Some(id) = target {
                    let Some(entry) = self.pipelines.get_mut(&id) else { return Ok(()) };
                    let received = &mut entry.received;
                    received.bytes = received.bytes.saturating_add(bytes.len());
                    if received.has_failed {
                        return Ok(());
                    }
                    if received.bytes > self.limits.max_data_per_command {
                        let error = Error::with(Kind::Limit, "bytes received for one pipeline");
                        self.fail_pipeline_input(id, &error);
                        return Ok(());
                    }
                }
                let mut assembler = self.link.inbox.take(target, priority);
                let result = loop {
                    match assembler.next(&mut bytes) {
                        Ok(Some(message)) => {
                            let message = match self.link.accept(message) {
                                Ok(message) => message,
                                Err(error) => break Err(error),
                            };
                            // Returns only errors that break the pool.
                            self.handle_message(message.as_ref()).map_err(|error| self.break_pool(error))?;
                            let is_over =
                                |id| self.pipelines.get(&id).is_none_or(|entry| entry.received.has_failed);
                            if target.is_some_and(is_over)
                                || matches!(self.state, RunspacePoolState::Closed | RunspacePoolState::Broken)
                            {
                                return Ok(());
                            }
                        }
                        Ok(None) => break self.link.inbox.put(target, priority, assembler),
                        Err(error) => break Err(error),
                    }
                };
                match (result, target) {
                    (Err(error), Some(id)) => {
                        self.fail_pipeline_input(id, &error);
                        Ok(())
                    }
                    (result, _) => result.map_err(|error| self.break_pool(error)),
                }
            }

            /// Fails a pipeline whose input cannot be decoded. Its further input is dropped.
            pub(super) fn fail_pipeline_input(&mut self, id: Uuid, error: &Error) {
                let Some(entry) = self.pipelines.get_mut(&id) else { return };
                entry.received.has_failed = true;
                let is_reported = entry.state == PipelineState::Failed;
                self.link.inbox.remove(Some(id));
                if !is_reported {
                    self.fail_pipeline(id, peer_error_record(error));
                }
            }

            pub(super) fn require_opened(&self, action: &str) -> Result<(), Error> {
                if self.state == RunspacePoolState::Opened {
                    return Ok(());
                }
                Err(invalid_state(action, "pool", self.state))
            }

            /// Decrypts the secure strings of a value.
            ///
            /// Only needed for strings received before the key whose total size exceeded
            /// [`SessionLimits::max_event_bytes`]. All others are decrypted automatically when they are received or
            /// when the key is exchanged.
            ///
            /// # Errors
            ///
            /// Fails if there is no key yet ([`Error::is_no_key`]) and if a string is not encrypted with it
            /// ([`Error::is_crypto`]).
            pub fn decrypt(&self, value: &Value) -> Result<(), Error> {
                self.link.decrypt(value)
            }

            /// Returns a handle to a pipeline.
            ///
            /// # Errors
            ///
            /// Fails if it does not exist ([`Error::is_state`]).
            pub fn pipeline(&mut self, id: Uuid) -> Result<$pipeline<'_>, Error> {
                if !self.pipelines.contains_key(&id) {
                    return Err(Error::with(Kind::State, "no such pipeline"));
                }
                Ok($pipeline { pool: self, id })
            }

            /// Returns all pipelines and their states in arbitrary order. A pipeline exists until the client has closed
            /// it and the server has confirmed.
            pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
                self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
            }

            /// Returns the next event, `None` if there are no more.
            pub fn poll_event(&mut self) -> Option<Event> {
                self.events.pop_with_size().map(|(event, _)| event)
            }

            /// Returns the next event and the bytes it counts towards [`SessionLimits::max_event_bytes`].
            #[cfg(feature = "tokio")]
            pub(crate) fn poll_sized_event(&mut self) -> Option<(Event, usize)> {
                self.events.pop_with_size()
            }
        }

        impl_debug! {
            /// Shows states, but no message content.
            $pool |this|
                id = this.id(), state = this.state, pipelines = this.pipelines.len(), has_key = this.has_key(),
                pending_bytes = this.pending_bytes()
        }

        impl $pipeline<'_> {
            pub(super) fn update(&mut self, change: impl FnOnce(&mut PipelineEntry)) {
                if let Some(entry) = self.pool.pipelines.get_mut(&self.id) {
                    change(entry);
                }
            }

            /// Returns the identifier of the pipeline.
            pub fn id(&self) -> Uuid {
                self.id
            }

            /// Returns the state of the pipeline.
            pub fn state(&self) -> PipelineState {
                // `pipeline` of the pool creates this only for an existing entry, and the pool stays borrowed.
                self.pool.pipelines[&self.id].state
            }

            /// Returns the bytes of pending output of this pipeline. Check it before sending more (backpressure).
            pub fn pending_bytes(&self) -> usize {
                self.pool.pending_bytes_of(Some(self.id))
            }
        }
    };
}

pub(crate) use pool_methods;
