//! Recorded sessions between PowerShell's client and server (`tests/data/powershell`), with our state machine in place
//! of either.

use std::collections::HashMap;
use std::path::Path;

use psrp::client::{self, PipelineRequest};
use psrp::fragment::Assembler;
use psrp::message::{
    CommandMetadata, GetCommandMetadata, Message, MessageHeader, Payload, PipelineState, RunspacePoolState,
};
use psrp::outofproc::Packet;
use psrp::record::{CommandTypes, ErrorRecord};
use psrp::{Value, server};
use uuid::Uuid;

use crate::session::{client_event, server_event};

/// A packet of a session, and the messages that it completes.
pub(crate) struct Step {
    pub(crate) from_client: bool,
    pub(crate) line: String,
    messages: Vec<(MessageHeader, Payload)>,
}

/// Decodes the packets of a session, each with whether it is from the client.
pub(crate) fn decode<'a>(lines: impl Iterator<Item = (bool, &'a str)>) -> Vec<Step> {
    let mut assemblers = HashMap::new();
    let steps = lines.map(|(from_client, line)| {
        let mut messages = Vec::new();
        let mut buffer = Vec::new();
        if let Packet::Data { target, mut data, .. } = Packet::parse(line.as_bytes(), &mut buffer).unwrap() {
            let assembler: &mut Assembler = assemblers.entry((from_client, target)).or_default();
            while let Some(message) = assembler.next(&mut data).unwrap() {
                let message = Message::decode(message).unwrap();
                let payload = Payload::decode(message.header.message_type, message.data).unwrap();
                messages.push((message.header, payload));
            }
        }
        Step { from_client, line: line.to_owned(), messages }
    });
    steps.collect()
}

fn steps(name: &str) -> Vec<Step> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/powershell/{name}.txt"));
    let text = std::fs::read_to_string(file).unwrap();
    decode(text.lines().map(|line| line.split_once(' ').unwrap()).map(|(from, line)| (from == ">", line)))
}

/// Returns the names of all recorded sessions.
fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/powershell");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = files.filter_map(|file| Some(file.strip_suffix(".txt")?.to_owned())).collect();
    names.sort_unstable();
    names
}

/// Returns the messages of all sessions.
pub(crate) fn recorded_payloads() -> Vec<Payload> {
    let steps = names().into_iter().flat_map(|name| steps(&name));
    steps.flat_map(|step| step.messages).map(|(_, payload)| payload).collect()
}

/// Lets a client perform the actions that the recorded client's messages show, up to packet `count`. Calls `check` after
/// each packet with its index and the number of events. Returns the pool and all events.
pub(crate) fn replay_client(
    steps: &[Step],
    count: usize,
    mut config: client::Config,
    mut check: impl FnMut(usize, &mut client::ClientPool, usize),
) -> (client::ClientPool, Vec<client::Event>) {
    let mut requests: HashMap<Option<Uuid>, PipelineRequest> = HashMap::new();
    let messages = steps.iter().filter(|step| step.from_client).flat_map(|step| &step.messages);
    for (header, payload) in messages {
        match payload {
            Payload::SessionCapability(capability) => config = config.capability(capability.clone()),
            Payload::InitRunspacePool(init) => config = config.pool_id(header.pool_id).init((**init).clone()),
            Payload::CreatePipeline(create) => {
                requests.insert(header.pipeline_id, (**create).clone().into());
            }
            Payload::GetCommandMetadata(get) => {
                requests.insert(header.pipeline_id, (**get).clone().into());
            }
            _ => {}
        }
    }
    let mut pool = client::ClientPool::new(config);
    pool.open().unwrap();
    let (mut events, mut buffer) = (Vec::new(), Vec::new());
    for (index, step) in steps[..count].iter().enumerate() {
        let packet = Packet::parse(step.line.as_bytes(), &mut buffer).unwrap();
        let before = events.len();
        match packet {
            _ if !step.from_client => {
                pool.handle_packet(packet).unwrap();
                events.extend(std::iter::from_fn(|| pool.poll_event()));
            }
            Packet::Command(Some(id)) => {
                pool.create_pipeline_with_id(id, requests.remove(&Some(id)).unwrap()).unwrap()
            }
            Packet::Data { target: Some(id), .. } => {
                let mut pipeline = pool.pipeline(id).unwrap();
                if pipeline.state() == PipelineState::NotStarted {
                    pipeline.start().unwrap();
                }
            }
            Packet::Signal(Some(id)) => pool.pipeline(id).unwrap().stop().unwrap(),
            Packet::Close(Some(id)) => pool.pipeline(id).unwrap().close().unwrap(),
            Packet::Close(None) => pool.close().unwrap(),
            _ => {}
        }
        for (header, payload) in step.messages.iter().filter(|_| step.from_client) {
            let id = header.pipeline_id;
            let mut pipeline = id.and_then(|id| pool.pipeline(id).ok());
            match (payload.clone(), &mut pipeline) {
                (Payload::PipelineInput(value), Some(pipeline)) => pipeline.send_input(value).unwrap(),
                (Payload::EndOfPipelineInput, Some(pipeline)) => pipeline.end_input().unwrap(),
                (
                    Payload::PipelineHostResponse(response) | Payload::RunspacePoolHostResponse(response),
                    _,
                ) => {
                    pool.respond(id, response).unwrap();
                }
                (Payload::SetMaxRunspaces(set), _) => {
                    assert_eq!(pool.set_max_runspaces(set.max_runspaces).unwrap(), Some(set.call_id));
                }
                (Payload::SetMinRunspaces(set), _) => {
                    assert_eq!(pool.set_min_runspaces(set.min_runspaces).unwrap(), Some(set.call_id));
                }
                (Payload::GetAvailableRunspaces(get), _) => {
                    assert_eq!(pool.get_available_runspaces().unwrap(), get.call_id);
                }
                (Payload::ResetRunspaceState(reset), _) => {
                    assert_eq!(pool.reset_runspace_state().unwrap(), reset.call_id);
                }
                #[cfg(feature = "crypto")]
                (Payload::PublicKey(_), _) => pool.exchange_key().unwrap(),
                (
                    Payload::SessionCapability(_)
                    | Payload::InitRunspacePool(_)
                    | Payload::CreatePipeline(_)
                    | Payload::GetCommandMetadata(_),
                    _,
                ) => {}
                (payload, _) => panic!("{payload:?}"),
            }
        }
        check(index, &mut pool, events.len() - before);
        // PowerShell's server reports a failed startup script twice.
        if pool.state() == RunspacePoolState::Broken {
            break;
        }
    }
    (pool, events)
}

/// Lets a server perform the actions that the recorded server's messages show, like [`replay_client`].
pub(crate) fn replay_server(
    steps: &[Step],
    count: usize,
    mut config: server::Config,
    mut check: impl FnMut(usize, &mut server::ServerPool, usize),
) -> (server::ServerPool, Vec<server::Event>) {
    let mut reports_start = false;
    for (_, payload) in steps.iter().flat_map(|step| &step.messages) {
        reports_start |=
            matches!(payload, Payload::PipelineState(info) if info.state == PipelineState::Running);
        if let Payload::ApplicationPrivateData(data) = payload {
            config = config.application_private_data(data.clone());
        }
    }
    let mut pool = server::ServerPool::new(config);
    let (mut events, mut buffer) = (Vec::new(), Vec::new());
    for (index, step) in steps[..count].iter().enumerate() {
        let before = events.len();
        if step.from_client {
            pool.handle_packet(Packet::parse(step.line.as_bytes(), &mut buffer).unwrap()).unwrap();
            while let Some(event) = pool.poll_event() {
                if let server::Event::Pipeline { id, event: server::PipelineEvent::Start(_) } = &event
                    && !reports_start
                {
                    pool.pipeline(*id).unwrap().start().unwrap();
                }
                events.push(event);
            }
        }
        for (header, payload) in step.messages.iter().filter(|_| !step.from_client) {
            let mut pipeline = header.pipeline_id.and_then(|id| pool.pipeline(id).ok());
            match (payload.clone(), &mut pipeline) {
                (Payload::RunspaceAvailability(answer), _) => {
                    pool.respond(answer.call_id, answer.availability).unwrap()
                }
                (Payload::UserEvent(event), _) => pool.send_event(*event).unwrap(),
                (payload, Some(pipeline)) => write(pipeline, payload),
                // The pool sends its other messages itself.
                _ => {}
            }
        }
        check(index, &mut pool, events.len() - before);
    }
    (pool, events)
}

fn write(pipeline: &mut server::ServerPipeline<'_>, payload: Payload) {
    match payload {
        Payload::PipelineOutput(value) => pipeline.write_output(value).unwrap(),
        Payload::PipelineHostCall(call) => {
            let number = pipeline.host_call(&call.request().unwrap()).unwrap();
            assert_eq!(number, (!call.is_void()).then_some(call.call_id));
        }
        Payload::PipelineState(info) => match info.state {
            PipelineState::Running => pipeline.start().unwrap(),
            PipelineState::Stopping => pipeline.begin_stop().unwrap(),
            PipelineState::Stopped => pipeline.stop().unwrap(),
            PipelineState::Completed => pipeline.complete().unwrap(),
            _ => pipeline.fail(*info.error.unwrap()).unwrap(),
        },
        record => pipeline.write_record(&record).unwrap(),
    }
}

/// Returns the client's events of a session.
fn events_of_client(name: &str) -> Vec<client::Event> {
    let drain = |_, pool: &mut client::ClientPool, _| {
        while pool.poll_transmit(32 * 1024, &mut Vec::new()).is_some() {}
    };
    let steps = steps(name);
    replay_client(&steps, steps.len(), client::Config::new(), drain).1
}

#[test]
fn recorded_sessions_produce_the_recorded_events() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/powershell");
    let expected = std::fs::read_to_string(folder.join("events.list")).unwrap();
    let seen = names().into_iter().map(|name| {
        let message = |record: &ErrorRecord| record.message().unwrap().to_string();
        let client = events_of_client(&name).into_iter().map(|event| client_event(event, message).1);
        let drain = |_, pool: &mut server::ServerPool, _| {
            while pool.poll_transmit(32 * 1024, &mut Vec::new()).is_some() {}
        };
        let steps = steps(&name);
        let (_, server) = replay_server(&steps, steps.len(), server::Config::new(), drain);
        let server = server.into_iter().map(|event| server_event(event, message).1);
        let [client, server] =
            [client.collect::<Vec<_>>(), server.collect()].map(|events| events.join(" | "));
        format!("{name}\n  client: {client}\n  server: {server}\n")
    });
    let seen = seen.collect::<String>();
    assert_eq!(seen, expected, "{seen}");
}

#[test]
fn recorded_commands_are_read() {
    let mut outputs = events_of_client("metadata").into_iter().filter_map(|event| match event {
        client::Event::Pipeline { event: client::PipelineEvent::Output(value), .. } => Some(value),
        _ => None,
    });
    assert_eq!(GetCommandMetadata::count(&outputs.next().unwrap()).unwrap(), 1);
    let command = CommandMetadata::from_value(&outputs.next().unwrap()).unwrap();
    assert_eq!((command.name.to_string(), command.parameters.len()), ("Where-Object".to_owned(), 47));
    assert_eq!(command.command_type, CommandTypes::CMDLET);
    let equal = command.parameters.iter().find(|parameter| parameter.name == "EQ").unwrap();
    assert!(equal.is_switch && equal.aliases == ["IEQ"], "{equal:?}");
    assert!(outputs.next().is_none());
    assert!(GetCommandMetadata::count(&Value::Nil).unwrap_err().is_mismatch());
}
