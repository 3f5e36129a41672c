//! The client's pool and what it can be told to do.

use std::collections::HashMap;
use std::fmt;

use uuid::Uuid;

use super::pipeline::{Entry, Pipeline, PipelineRequest};
use super::{Config, Event};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::host::{HostMethod, HostResponse};
use crate::link::{Events, Link, not_now};
use crate::message::{
    ApplicationPrivateData, ConnectRunspacePool, Destination, GetAvailableRunspaces, InitRunspacePool,
    MessageType, Payload, PipelineState, ResetRunspaceState, RunspacePoolState, SessionCapability,
    SetMaxRunspaces, SetMinRunspaces,
};
use crate::outofproc::Packet;
use crate::value::{Value, Version};

/// A runspace pool as its client sees it (MS-PSRP 3.1).
///
/// Every method that the state does not allow fails with [`Error::is_state`] and changes nothing.
pub struct RunspacePool {
    pub(super) link: Link,
    pub(super) state: RunspacePoolState,
    pub(super) capability: SessionCapability,
    pub(super) init: InitRunspacePool,
    pub(super) peer: Option<SessionCapability>,
    pub(super) private_data: Option<ApplicationPrivateData>,
    pub(super) pipelines: HashMap<Uuid, Entry>,
    pub(super) requests: HashMap<i64, Request>,
    next_call_id: i64,
    pub(super) host_calls: HashMap<(Option<Uuid>, i64), HostMethod>,
    pub(super) events: Events<Event>,
    max_pipelines: usize,
    pub(super) max_host_calls: usize,
}

/// A request that waits for its answer, and what the answer allows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Request {
    SetMin(i32),
    SetMax(i32),
    GetAvailable,
    Reset,
}

impl RunspacePool {
    /// A pool that is not opened yet.
    pub fn new(config: Config) -> Self {
        let Config { pool_id, fragment_size, max_object_size, key, .. } = config;
        Self {
            link: Link::new(Destination::Server, pool_id, fragment_size, max_object_size, key),
            state: RunspacePoolState::BeforeOpen,
            capability: config.capability,
            init: config.init,
            peer: None,
            private_data: None,
            pipelines: HashMap::new(),
            requests: HashMap::new(),
            next_call_id: 1,
            host_calls: HashMap::new(),
            events: Events::new(config.max_event_bytes),
            max_pipelines: config.max_pipelines,
            max_host_calls: config.max_host_calls,
        }
    }

    /// The identifier of the pool.
    pub fn id(&self) -> Uuid {
        self.link.pool_id
    }

    /// The state of the pool.
    pub fn state(&self) -> RunspacePoolState {
        self.state
    }

    /// The least number of runspaces, as far as the server has agreed to it.
    pub fn min_runspaces(&self) -> i32 {
        self.init.min_runspaces
    }

    /// The largest number of runspaces, as far as the server has agreed to it.
    pub fn max_runspaces(&self) -> i32 {
        self.init.max_runspaces
    }

    /// What the server has told about itself, if it has.
    pub fn peer(&self) -> Option<&SessionCapability> {
        self.peer.as_ref()
    }

    /// What the server's application has told, if it has.
    pub fn application_private_data(&self) -> Option<&ApplicationPrivateData> {
        self.private_data.as_ref()
    }

    /// Whether there is a session key.
    pub fn has_key(&self) -> bool {
        self.link.has_key()
    }

    /// Bytes of messages that wait to be sent. There is no limit: who sends much looks at this and waits.
    pub fn pending_bytes(&self) -> usize {
        self.link.pending_bytes()
    }

    fn require(&self, action: &str, states: &[RunspacePoolState]) -> Result<(), Error> {
        if states.contains(&self.state) { Ok(()) } else { Err(not_now(action, "pool", self.state)) }
    }

    pub(super) fn require_opened(&self, action: &str) -> Result<(), Error> {
        self.require(action, &[RunspacePoolState::Opened])
    }

    /// Opens the pool. Nothing happens if it is open.
    ///
    /// # Errors
    ///
    /// Fails in other states than before opening ([`Error::is_state`]), and if the arguments of the application can't
    /// be written: a secure string among them ([`Error::is_no_key`]), for there is no key yet.
    pub fn open(&mut self) -> Result<(), Error> {
        if self.state == RunspacePoolState::Opened {
            return Ok(());
        }
        self.require("open", &[RunspacePoolState::BeforeOpen])?;
        let init = Payload::InitRunspacePool(Box::new(self.init.clone()));
        let capability = Payload::SessionCapability(self.capability.clone());
        self.link.send_payload(None, &capability)?;
        if let Err(error) = self.link.send_payload(None, &init) {
            self.link.forget_all();
            return Err(error);
        }
        self.state = RunspacePoolState::Opening;
        Ok(())
    }

    /// Connects to a pool that exists and has no client, the one with this identifier.
    ///
    /// # Errors
    ///
    /// Fails in other states than before opening and disconnected ([`Error::is_state`]).
    pub fn connect(&mut self) -> Result<(), Error> {
        self.require("connect", &[RunspacePoolState::BeforeOpen, RunspacePoolState::Disconnected])?;
        self.link.send_payload(None, &Payload::SessionCapability(self.capability.clone()))?;
        self.link.send_payload(None, &Payload::ConnectRunspacePool(ConnectRunspacePool::default()))?;
        self.link.tolerate_lost_fragments();
        self.state = RunspacePoolState::Connecting;
        Ok(())
    }

    /// Tells the pool that the transport has disconnected from it. It goes on without a client, and so do its
    /// pipelines.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn disconnect(&mut self) -> Result<(), Error> {
        self.require_opened("disconnect")?;
        self.state = RunspacePoolState::Disconnected;
        for entry in self.pipelines.values_mut() {
            if matches!(entry.state, PipelineState::Running | PipelineState::Stopping) {
                entry.before_disconnect = Some(entry.state);
                entry.state = PipelineState::Disconnected;
            }
        }
        Ok(())
    }

    /// Tells the pool that the transport has connected again, as the same client.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not disconnected ([`Error::is_state`]).
    pub fn reconnect(&mut self) -> Result<(), Error> {
        self.require("reconnect", &[RunspacePoolState::Disconnected])?;
        self.state = RunspacePoolState::Opened;
        self.link.tolerate_lost_fragments();
        self.resume_pipelines();
        Ok(())
    }

    /// Pipelines go on where they were when the pool was disconnected.
    pub(super) fn resume_pipelines(&mut self) {
        for entry in self.pipelines.values_mut() {
            if let Some(state) = entry.before_disconnect.take() {
                entry.state = state;
            }
        }
    }

    /// Starts the exchange of the session key, which else happens when a secure string is sent or received. Nothing
    /// happens if it has started.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]), without the feature `crypto` ([`Error::is_no_key`]), or if
    /// the system has no randomness ([`Error::is_crypto`]).
    pub fn exchange_key(&mut self) -> Result<(), Error> {
        self.require_opened("exchange the key")?;
        if self.link.is_key_requested() { Ok(()) } else { self.link.send_public_key() }
    }

    /// Decrypts the secure strings of a value that came before the key did; later ones are decrypted already.
    ///
    /// # Errors
    ///
    /// Fails if there is no key yet ([`Error::is_no_key`]) and if a string is not encrypted with it
    /// ([`Error::is_crypto`]).
    pub fn decrypt(&self, value: &Value) -> Result<(), Error> {
        self.link.decrypt(value)
    }

    /// Changes the least number of runspaces: at once before opening, else when the server agrees. The number of the
    /// request, `None` if nothing is to be asked.
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and for a number below 1 or above the largest
    /// ([`Error::is_state`]).
    pub fn set_min_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        const ACTION: &str = "set the least number of runspaces";
        self.require(ACTION, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if count < 1 || count > self.init.max_runspaces {
            return Err(Error::with(Kind::State, "can't set a number of runspaces outside of the limits"));
        }
        if count == self.init.min_runspaces {
            return Ok(None);
        }
        if self.state == RunspacePoolState::BeforeOpen {
            self.init.min_runspaces = count;
            return Ok(None);
        }
        let message = |call_id| Payload::SetMinRunspaces(SetMinRunspaces { min_runspaces: count, call_id });
        self.request(Request::SetMin(count), message).map(Some)
    }

    /// Changes the largest number of runspaces; otherwise as [`set_min_runspaces`](Self::set_min_runspaces).
    ///
    /// # Errors
    ///
    /// Fails if the pool is neither open nor before opening, and for a number below the least one
    /// ([`Error::is_state`]).
    pub fn set_max_runspaces(&mut self, count: i32) -> Result<Option<i64>, Error> {
        const ACTION: &str = "set the largest number of runspaces";
        self.require(ACTION, &[RunspacePoolState::BeforeOpen, RunspacePoolState::Opened])?;
        if count < self.init.min_runspaces.max(1) {
            return Err(Error::with(Kind::State, "can't set a number of runspaces outside of the limits"));
        }
        if count == self.init.max_runspaces {
            return Ok(None);
        }
        if self.state == RunspacePoolState::BeforeOpen {
            self.init.max_runspaces = count;
            return Ok(None);
        }
        let message = |call_id| Payload::SetMaxRunspaces(SetMaxRunspaces { max_runspaces: count, call_id });
        self.request(Request::SetMax(count), message).map(Some)
    }

    /// Asks how many runspaces are free. The number of the request, which [`Event::Answer`] repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]).
    pub fn get_available_runspaces(&mut self) -> Result<i64, Error> {
        self.require_opened("ask for free runspaces")?;
        let message = |call_id| Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id });
        self.request(Request::GetAvailable, message)
    }

    /// Resets the variables of the runspace. The number of the request, which [`Event::Answer`] repeats.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open, or if the server's protocol is older than 2.3 ([`Error::is_state`]).
    pub fn reset_runspace_state(&mut self) -> Result<i64, Error> {
        self.require_opened("reset the runspace")?;
        if self.peer_version() < Version::new(2, 3) {
            return Err(Error::with(Kind::State, "runspaces can be reset since protocol 2.3"));
        }
        let message = |call_id| Payload::ResetRunspaceState(ResetRunspaceState { call_id });
        self.request(Request::Reset, message)
    }

    fn request(&mut self, request: Request, message: impl FnOnce(i64) -> Payload) -> Result<i64, Error> {
        let call_id = self.next_call_id;
        self.link.send_payload(None, &message(call_id))?;
        self.next_call_id += 1;
        self.requests.insert(call_id, request);
        Ok(call_id)
    }

    /// The protocol of the server, as far as it is known.
    pub(super) fn peer_version(&self) -> Version {
        self.peer.as_ref().map_or(SessionCapability::PROTOCOL, |peer| peer.protocol_version)
    }

    /// Answers a call of the host, for a pipeline or with `None` for the pool.
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open or if no such call waits for an answer ([`Error::is_state`]), and if the answer
    /// can't be written; the call waits on then.
    pub fn respond(&mut self, pipeline: Option<Uuid>, response: HostResponse) -> Result<(), Error> {
        self.require_opened("answer a call of the host")?;
        let call = (pipeline, response.call_id);
        if self.host_calls.get(&call) != Some(&response.method) {
            return Err(Error::with(Kind::State, "can't answer a call of the host that does not wait"));
        }
        let payload = match pipeline {
            None => Payload::RunspacePoolHostResponse(response),
            Some(_) => Payload::PipelineHostResponse(response),
        };
        self.send(pipeline, Priority::PromptResponse, payload.message_type(), payload.to_value())?;
        self.host_calls.remove(&call);
        Ok(())
    }

    /// Sends a message now, or when there is a key if it needs one.
    pub(super) fn send(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        message_type: MessageType,
        value: Option<Value>,
    ) -> Result<(), Error> {
        if self.link.is_parked(target, priority) {
            self.link.park(target, priority, message_type, value);
            return Ok(());
        }
        match self.link.send(target, priority, message_type, value.as_ref()) {
            Err(error) if error.is_no_key() && self.state == RunspacePoolState::Opened => {
                self.exchange_key()?;
                self.link.park(target, priority, message_type, value);
                Ok(())
            }
            result => result,
        }
    }

    /// Creates a pipeline: the server is told that there is one. It runs when it is [started](Pipeline::start).
    ///
    /// # Errors
    ///
    /// Fails if the pool is not open ([`Error::is_state`]) and if there are too many pipelines ([`Error::is_limit`]).
    pub fn create_pipeline(&mut self, request: impl Into<PipelineRequest>) -> Result<Uuid, Error> {
        let id = Uuid::new_v4();
        self.create_pipeline_with_id(id, request)?;
        Ok(id)
    }

    /// The same with an identifier of the caller's.
    ///
    /// # Errors
    ///
    /// As [`create_pipeline`](Self::create_pipeline), and if there is a pipeline with this identifier or if it is nil
    /// ([`Error::is_state`]).
    pub fn create_pipeline_with_id(
        &mut self,
        id: Uuid,
        request: impl Into<PipelineRequest>,
    ) -> Result<(), Error> {
        self.require_opened("create a pipeline")?;
        self.insert(id, Entry::new(Some(request.into()), PipelineState::NotStarted))?;
        self.link.act(Packet::Command(Some(id)));
        Ok(())
    }

    /// Takes over a pipeline that runs at the server, such as one of a pool that was connected to.
    ///
    /// # Errors
    ///
    /// As [`create_pipeline_with_id`](Self::create_pipeline_with_id).
    pub fn connect_pipeline(&mut self, id: Uuid) -> Result<(), Error> {
        self.require_opened("connect to a pipeline")?;
        self.insert(id, Entry::new(None, PipelineState::Running))
    }

    fn insert(&mut self, id: Uuid, entry: Entry) -> Result<(), Error> {
        if id.is_nil() || self.pipelines.contains_key(&id) {
            return Err(Error::with(
                Kind::State,
                "can't use the identifier of a pipeline twice, or a nil one",
            ));
        }
        if self.pipelines.len() >= self.max_pipelines {
            return Err(Error::with(Kind::Limit, "number of pipelines"));
        }
        self.pipelines.insert(id, entry);
        Ok(())
    }

    /// Creates and starts a pipeline.
    ///
    /// # Errors
    ///
    /// As [`create_pipeline`](Self::create_pipeline) and [`Pipeline::start`]; there is no pipeline then.
    pub fn invoke(&mut self, request: impl Into<PipelineRequest>) -> Result<Uuid, Error> {
        let request = request.into();
        request.check(self.peer_version())?;
        let id = self.create_pipeline(request)?;
        let mut pipeline = self.pipeline(id)?;
        match pipeline.start() {
            Ok(()) => Ok(id),
            Err(error) => {
                pipeline.close()?;
                Err(error)
            }
        }
    }

    /// A pipeline, to do something with it.
    ///
    /// # Errors
    ///
    /// Fails if there is none with this identifier ([`Error::is_state`]).
    pub fn pipeline(&mut self, id: Uuid) -> Result<Pipeline<'_>, Error> {
        if !self.pipelines.contains_key(&id) {
            return Err(Error::with(Kind::State, "there is no such pipeline"));
        }
        Ok(Pipeline { pool: self, id })
    }

    /// The pipelines and their states, in no order. One is there until the server has closed it.
    pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
        self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
    }

    /// Closes the pool. Nothing happens if it is closed or being closed.
    ///
    /// # Errors
    ///
    /// Fails if it was never open, if it broke, and while there are pipelines ([`Error::is_state`]).
    pub fn close(&mut self) -> Result<(), Error> {
        use RunspacePoolState::{Closed, Closing, Opened};

        self.require("close", &[Opened, Closing, Closed])?;
        if !self.pipelines.is_empty() {
            return Err(Error::with(Kind::State, "can't close: the pool has pipelines"));
        }
        if self.state == Opened {
            self.state = Closing;
            self.link.act_after_data(Packet::Close(None));
        }
        Ok(())
    }

    /// The next packet for the server. Data, which take at most `max` bytes before any encoding, are put into the
    /// buffer, whose content is lost.
    ///
    /// Nothing more comes for a target until its last data or command were acknowledged, which a transport without
    /// acknowledgements does by itself: it hands in [`Packet::DataAck`] or [`Packet::CommandAck`] when it has sent.
    pub fn poll_transmit<'b>(&mut self, max: usize, buffer: &'b mut Vec<u8>) -> Option<Packet<'b>> {
        let packet = self.link.poll_transmit(max, buffer)?;
        if let Packet::Data { target: Some(id), .. } = packet
            && !self.link.has_data(Some(id))
            && let Some(entry) = self.pipelines.get_mut(&id)
        {
            entry.is_created = true;
        }
        Some(packet)
    }

    /// The next event, `None` if there are no more.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// The next event with the bytes that it counts in [`Config::max_event_bytes`].
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_sized_event(&mut self) -> Option<(Event, usize)> {
        self.events.pop_sized()
    }
}

/// Shows states, not what is sent.
impl fmt::Debug for RunspacePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunspacePool")
            .field("id", &self.id())
            .field("state", &self.state)
            .field("pipelines", &self.pipelines.len())
            .field("has_key", &self.has_key())
            .field("pending_bytes", &self.pending_bytes())
            .finish_non_exhaustive()
    }
}
