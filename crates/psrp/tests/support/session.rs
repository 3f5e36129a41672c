//! A client and a server in memory, brief descriptions of their events, and handmade messages.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::client::{self, PipelineRequest};
use psrp::clixml::Writer;
use psrp::fragment::{Fragmenter, Priority};
use psrp::host::{HostOutcome, HostResponse, HostResult};
use psrp::message::{
    CreatePipeline, Destination, Message, MessageHeader, MessageType, Payload, PipelineState, PowerShell,
    RunspacePoolState, SessionCapability,
};
use psrp::outofproc::Packet;
use psrp::record::ErrorRecord;
use psrp::value::{Value, Version};
use psrp::{Error, SessionLimits, server};
use uuid::Uuid;

pub struct Session {
    pub client: client::ClientPool,
    pub server: server::ServerPool,
    /// Pipelines in the order of their names: a, b, c.
    names: Vec<Uuid>,
}

/// Capabilities with protocol 2 and this minor version.
pub fn capability(minor: u32) -> SessionCapability {
    SessionCapability { protocol_version: Version::new(2, minor), ..SessionCapability::default() }
}

/// Protocol 2.3, the last one with a key for secure strings.
pub fn with_key() -> SessionCapability {
    capability(3)
}

/// A pipeline with one script that takes input.
pub fn with_input(script: &str) -> CreatePipeline {
    let mut create = CreatePipeline::new(PowerShell::script(script));
    create.no_input = false;
    create
}

/// The default limits, except for this change.
pub fn limits(change: impl FnOnce(&mut SessionLimits)) -> SessionLimits {
    let mut limits = SessionLimits::default();
    change(&mut limits);
    limits
}

impl Session {
    /// Creates a session that is not opened. Fragments are small, so that most messages have several.
    pub fn new() -> Self {
        Self::with(client::Config::new(), server::Config::new())
    }

    pub fn with(client: client::Config, server: server::Config) -> Self {
        Self {
            client: client::ClientPool::new(client.fragment_size(200)),
            server: server::ServerPool::new(server.fragment_size(200)),
            names: Vec::new(),
        }
    }

    /// An open session in which the client has limits.
    pub fn with_client_limits(change: impl FnOnce(&mut SessionLimits)) -> Self {
        Self::with(client::Config::new().limits(limits(change)), server::Config::new()).open()
    }

    /// An open session in which the server has limits.
    pub fn with_server_limits(change: impl FnOnce(&mut SessionLimits)) -> Self {
        Self::with(client::Config::new(), server::Config::new().limits(limits(change))).open()
    }

    pub fn opened() -> Self {
        Self::new().open()
    }

    /// An open session of a client and a server with these minor versions of protocol 2.
    pub fn of_versions(client: u32, server: u32) -> Self {
        let server = server::Config::new().capability(capability(server));
        Self::with(client::Config::new().capability(capability(client)), server).open()
    }

    /// Opens the session and discards the events of opening it.
    pub fn open(mut self) -> Self {
        self.client.open().unwrap();
        self.exchange();
        assert_eq!(self.states(), [RunspacePoolState::Opened; 2]);
        assert_eq!(self.client.id(), self.server.id());
        self.drop_events();
        self
    }

    /// Disconnects the server, and connects another client to its pool.
    pub fn reconnect(&mut self, config: client::Config) {
        self.server.disconnect().unwrap();
        self.change_client(config);
        self.exchange();
    }

    /// Replaces the client by another one of the same pool, which connects.
    pub fn change_client(&mut self, config: client::Config) {
        self.client = client::ClientPool::new(config.pool_id(self.server.id()).fragment_size(200));
        self.client.connect().unwrap();
    }

    /// Exchanges packets of at most 300 bytes until there are no more.
    pub fn exchange(&mut self) {
        let mut buffers = Default::default();
        while self.step(300, &mut buffers).is_some() {}
    }

    /// Passes on one packet of at most `max` bytes, and returns it.
    pub fn step<'b>(&mut self, max: usize, buffers: &'b mut [Vec<u8>; 2]) -> Option<Packet<'b>> {
        let [of_client, of_server] = buffers;
        if let Some(packet) = self.client.poll_transmit(max, of_client) {
            self.server.handle_packet(packet).unwrap();
            return Some(packet);
        }
        let packet = self.server.poll_transmit(max, of_server)?;
        self.client.handle_packet(packet).unwrap();
        Some(packet)
    }

    /// Passes packets of the client to the server until one is rejected.
    pub fn send_to_server(&mut self) -> Result<(), Error> {
        let mut buffer = Vec::new();
        while let Some(packet) = self.client.poll_transmit(300, &mut buffer) {
            self.server.handle_packet(packet)?;
            self.send_to_client().unwrap();
        }
        Ok(())
    }

    /// Passes packets of the server to the client until one is rejected.
    pub fn send_to_client(&mut self) -> Result<(), Error> {
        let mut buffer = Vec::new();
        while let Some(packet) = self.server.poll_transmit(300, &mut buffer) {
            self.client.handle_packet(packet)?;
        }
        Ok(())
    }

    /// Passes a message to the client, as the only message in fragments of this target.
    pub fn client_receives(&mut self, target: Option<Uuid>, payload: &Payload) -> Result<(), Error> {
        let bytes = fragment(Destination::Client, self.client.id(), target, payload);
        self.client.handle_input(Priority::Default, target, &bytes)
    }

    pub fn server_receives(&mut self, target: Option<Uuid>, payload: &Payload) -> Result<(), Error> {
        let bytes = fragment(Destination::Server, self.client.id(), target, payload);
        self.server.handle_input(Priority::Default, target, &bytes)
    }

    pub fn client_events(&mut self) -> Vec<client::Event> {
        std::iter::from_fn(|| self.client.poll_event()).collect()
    }

    pub fn server_events(&mut self) -> Vec<server::Event> {
        std::iter::from_fn(|| self.server.poll_event()).collect()
    }

    pub fn drop_events(&mut self) {
        self.client_events();
        self.server_events();
    }

    /// Describes the events of the client. Errors have their category.
    pub fn client_log(&mut self) -> String {
        let events = self.client_events();
        self.log(events.into_iter().map(|event| client_event(event, category)))
    }

    pub fn server_log(&mut self) -> String {
        let events = self.server_events();
        self.log(events.into_iter().map(|event| server_event(event, category)))
    }

    fn log(&mut self, events: impl Iterator<Item = (Option<Uuid>, String)>) -> String {
        let described = events.map(|(id, text)| match id {
            Some(id) => format!("{} {text}", self.name(id)),
            None => text,
        });
        described.collect::<Vec<_>>().join(" | ")
    }

    /// Returns the name of a pipeline: a letter.
    fn name(&mut self, id: Uuid) -> char {
        let at = self.names.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.names.push(id);
            self.names.len() - 1
        });
        char::from(b'a' + u8::try_from(at).unwrap())
    }

    /// Returns the output of a pipeline; other events are dropped.
    pub fn outputs(&mut self, of: Uuid) -> Vec<Value> {
        let outputs = self.client_events().into_iter().filter_map(|event| match event {
            client::Event::Pipeline { id, event: client::PipelineEvent::Output(value) } if id == of => {
                Some(value)
            }
            _ => None,
        });
        outputs.collect()
    }

    /// Creates a pipeline that runs on both sides.
    pub fn run(&mut self, request: impl Into<PipelineRequest>) -> Uuid {
        let id = self.client.invoke(request).unwrap();
        self.names.push(id);
        self.exchange();
        self.server_pipeline(id).start().unwrap();
        self.exchange();
        id
    }

    /// Creates two pipelines that run and take input, and removes all events.
    pub fn run_two(&mut self) -> [Uuid; 2] {
        let ids = [self.run(with_input("$input")), self.run(with_input("$input"))];
        self.drop_events();
        ids
    }

    pub fn client_pipeline(&mut self, id: Uuid) -> client::ClientPipeline<'_> {
        self.client.pipeline(id).unwrap()
    }

    pub fn server_pipeline(&mut self, id: Uuid) -> server::ServerPipeline<'_> {
        self.server.pipeline(id).unwrap()
    }

    /// Closes a pipeline, and removes it on both sides.
    pub fn close(&mut self, id: Uuid) {
        self.client_pipeline(id).close().unwrap();
        self.exchange();
        assert!(self.client.pipelines().chain(self.server.pipelines()).all(|(other, _)| other != id));
    }

    /// Returns the states of the pool at the client and the server.
    pub fn states(&self) -> [RunspacePoolState; 2] {
        [self.client.state(), self.server.state()]
    }

    /// Returns the states of a pipeline at the client and the server.
    pub fn states_of(&mut self, id: Uuid) -> [PipelineState; 2] {
        [self.client_pipeline(id).state(), self.server_pipeline(id).state()]
    }
}

pub fn category(record: &ErrorRecord) -> String {
    record.category.to_string()
}

/// Describes a value: the text of secrets, the types of objects, and the length of long texts.
pub fn short(value: &Value) -> String {
    match value {
        Value::SecureString(secret) => match secret.reveal() {
            Some(text) => format!("secret {}", *text),
            None => "unknown secret".to_owned(),
        },
        Value::Object(object) => match object.type_names() {
            Some(names) => format!("object {}", names.first().unwrap()),
            None => "object".to_owned(),
        },
        value => match value.as_str() {
            Some(text) if text.len() > 100 => format!("text of {}", text.len()),
            _ => format!("{value:?}"),
        },
    }
}

fn outcome(response: &HostResponse, reason: fn(&ErrorRecord) -> String) -> String {
    if let HostOutcome::Error(record) = &response.outcome {
        return format!("error {}", reason(record));
    }
    match response.result().unwrap() {
        HostResult::Secure(secret) => short(&secret.into()),
        HostResult::Credential(login) => format!("{} {}", login.user_name, short(&login.password.into())),
        other => format!("{other:?}"),
    }
}

fn failed(state: String, record: Option<Box<ErrorRecord>>, reason: fn(&ErrorRecord) -> String) -> String {
    match record {
        Some(record) => format!("{state}: {}", reason(&record)),
        None => state,
    }
}

/// Describes an event of a pipeline at the client briefly.
pub fn pipeline_event(event: client::PipelineEvent, reason: fn(&ErrorRecord) -> String) -> String {
    use client::PipelineEvent as Event;

    match event {
        Event::Output(value) => short(&value),
        Event::Error(record) => format!("error {}", reason(&record)),
        Event::Warning(record) => format!("warning {}", record.message),
        Event::Verbose(record) => format!("verbose {}", record.message),
        Event::Debug(record) => format!("debug {}", record.message),
        Event::Information(record) => format!("information {}", short(&record.message_data)),
        Event::Progress(record) => format!("progress {} {}", record.activity, record.percent_complete),
        Event::State(info) => failed(info.state.to_string(), info.error, reason),
        other => format!("{other:?}"),
    }
}

/// Describes an event of a client briefly, and returns its pipeline.
pub fn client_event(event: client::Event, reason: fn(&ErrorRecord) -> String) -> (Option<Uuid>, String) {
    use client::Event;

    match event {
        Event::SessionCapability(capability) => (None, format!("protocol {}", capability.protocol_version)),
        Event::ApplicationPrivateData(data) => (None, format!("data {}", data.data.unwrap().iter().count())),
        Event::State(info) => (None, failed(format!("pool {}", info.state), info.error, reason)),
        Event::RunspaceLimits(limits) => {
            (None, format!("limits {}..={}", limits.min_runspaces, limits.max_runspaces))
        }
        Event::RequestCompleted { availability, .. } => (None, format!("{availability:?}")),
        Event::UserEvent(event) => (None, format!("event {}", event.event_identifier)),
        Event::HostCall { pipeline, call } => (pipeline, format!("call {:?}", call.method)),
        Event::ResponseFailed { pipeline, call_id, reason: record } => {
            (pipeline, format!("response {call_id} failed: {}", reason(&record)))
        }
        Event::Pipeline { id, event } => (Some(id), pipeline_event(event, reason)),
        other => (None, format!("{other:?}")),
    }
}

/// Describes an event of a server briefly, and returns its pipeline.
pub fn server_event(event: server::Event, reason: fn(&ErrorRecord) -> String) -> (Option<Uuid>, String) {
    use server::{Event, PipelineEvent};

    match event {
        Event::SessionCapability(capability) => (None, format!("protocol {}", capability.protocol_version)),
        Event::Opened(init) => (None, format!("opened {}..={}", init.min_runspaces, init.max_runspaces)),
        Event::Connected(_) => (None, "connected".to_owned()),
        Event::HostResponse { pipeline, response } => (pipeline, outcome(&response, reason)),
        Event::NotSent { message_type, reason: record } => {
            (None, format!("{message_type:?} not sent: {}", reason(&record)))
        }
        Event::Broken(record) => (None, format!("Broken: {}", reason(&record))),
        Event::Pipeline { id, event } => {
            let text = match event {
                PipelineEvent::Start(PipelineRequest::Run(create)) => {
                    let command = create.power_shell.statements().flatten().next().unwrap();
                    let script = command.text.to_string();
                    let arguments = command.parameters.iter();
                    let arguments = arguments.map(|parameter| format!(", {}", short(&parameter.value)));
                    let arguments = arguments.collect::<String>();
                    format!("run {}{arguments}", script.split([';', '(']).next().unwrap())
                }
                PipelineEvent::Start(PipelineRequest::GetCommandMetadata(get)) => {
                    format!("commands {:?}", get.names)
                }
                PipelineEvent::Failed(record) => format!("Failed: {}", reason(&record)),
                other => format!("{other:?}"),
            };
            (Some(id), text)
        }
        other => (None, format!("{other:?}")),
    }
}

/// Returns the fragment of a message that fits into one.
pub fn fragment(to: Destination, pool_id: Uuid, pipeline_id: Option<Uuid>, payload: &Payload) -> Vec<u8> {
    let mut writer = Writer::new();
    let data = payload.encode(&mut writer).unwrap();
    fragments(to, payload.message_type(), pool_id, pipeline_id, data)
}

/// Returns the fragments of a message with this data.
pub fn fragments(
    destination: Destination,
    message_type: MessageType,
    pool_id: Uuid,
    pipeline_id: Option<Uuid>,
    data: &[u8],
) -> Vec<u8> {
    let header = MessageHeader { destination, message_type, pool_id, pipeline_id };
    let (mut message, mut fragments) = (Vec::new(), Vec::new());
    Message { header, data }.encode(&mut message);
    Fragmenter::new().encode(&message, &mut fragments);
    fragments
}
