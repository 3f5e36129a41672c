//! A client and a server in memory, and handmade messages.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::client::{self, PipelineEvent, PipelineRequest};
use psrp::clixml::Writer;
use psrp::fragment::Fragmenter;
use psrp::message::{
    CreatePipeline, Destination, Message, MessageHeader, Payload, PipelineState, PowerShell,
    RunspacePoolState, SessionCapability,
};
use psrp::value::Version;
use psrp::{SessionLimits, server};
use uuid::Uuid;

pub struct Session {
    pub client: client::RunspacePool,
    pub server: server::RunspacePool,
}

/// Protocol 2.3, the last one with a key for secure strings.
pub fn with_key() -> SessionCapability {
    SessionCapability { protocol_version: Version::new(2, 3), ..SessionCapability::default() }
}

/// A pipeline with one script that takes input.
pub fn with_input(script: &str) -> CreatePipeline {
    let mut create = CreatePipeline::new(PowerShell::script(script));
    create.no_input = false;
    create
}

impl Session {
    /// A session that is not opened. Fragments are small, so that most messages have several.
    pub fn new() -> Self {
        Self::with(client::Config::new(), server::Config::new())
    }

    pub fn with(client: client::Config, server: server::Config) -> Self {
        Self {
            client: client::RunspacePool::new(client.fragment_size(200)),
            server: server::RunspacePool::new(server.fragment_size(200)),
        }
    }

    /// An open session in which the client has limits.
    pub fn with_client_limits(limits: SessionLimits) -> Self {
        Self::with(client::Config::new().limits(limits), server::Config::new()).open()
    }

    /// An open session in which the server has limits.
    pub fn with_server_limits(limits: SessionLimits) -> Self {
        Self::with(client::Config::new(), server::Config::new().limits(limits)).open()
    }

    pub fn opened() -> Self {
        Self::new().open()
    }

    /// An open session with protocol 2.3.
    pub fn opened_with_key() -> Self {
        Self::with(client::Config::new().capability(with_key()), server::Config::new()).open()
    }

    /// Opens the session and removes the events of that.
    pub fn open(mut self) -> Self {
        self.client.open().unwrap();
        self.exchange();
        assert_eq!(self.client.state(), RunspacePoolState::Opened);
        assert_eq!(self.server.state(), RunspacePoolState::Opened);
        assert_eq!(self.client.id(), self.server.id());
        self.client_events();
        self.server_events();
        self
    }

    /// Exchanges packets of at most 300 bytes until there are no more.
    pub fn exchange(&mut self) {
        let mut buffer = Vec::new();
        loop {
            if let Some(packet) = self.client.poll_transmit(300, &mut buffer) {
                self.server.handle_packet(packet).unwrap();
            } else if let Some(packet) = self.server.poll_transmit(300, &mut buffer) {
                self.client.handle_packet(packet).unwrap();
            } else {
                return;
            }
        }
    }

    pub fn client_events(&mut self) -> Vec<client::Event> {
        std::iter::from_fn(|| self.client.poll_event()).collect()
    }

    pub fn server_events(&mut self) -> Vec<server::Event> {
        std::iter::from_fn(|| self.server.poll_event()).collect()
    }

    /// Creates a pipeline that runs on both sides.
    pub fn run(&mut self, request: impl Into<PipelineRequest>) -> Uuid {
        let id = self.client.invoke(request).unwrap();
        self.exchange();
        self.server.pipeline(id).unwrap().start().unwrap();
        self.exchange();
        id
    }

    /// Returns the events of one pipeline; others are dropped.
    pub fn pipeline_events(&mut self, of: Uuid) -> Vec<PipelineEvent> {
        let events = self.client_events().into_iter();
        events
            .filter_map(|event| match event {
                client::Event::Pipeline { id, event } if id == of => Some(event),
                _ => None,
            })
            .collect()
    }

    pub fn client_state(&mut self, id: Uuid) -> PipelineState {
        self.client.pipeline(id).unwrap().state()
    }

    pub fn server_state(&mut self, id: Uuid) -> PipelineState {
        self.server.pipeline(id).unwrap().state()
    }
}

/// Returns the fragment of a message that fits into one.
pub fn fragment(to: Destination, pool_id: Uuid, pipeline_id: Option<Uuid>, payload: &Payload) -> Vec<u8> {
    let mut writer = Writer::new();
    let header =
        MessageHeader { destination: to, message_type: payload.message_type(), pool_id, pipeline_id };
    let (mut message, mut fragment) = (Vec::new(), Vec::new());
    Message { header, data: payload.encode(&mut writer).unwrap() }.encode(&mut message);
    Fragmenter::new().encode(&message, &mut fragment);
    fragment
}
