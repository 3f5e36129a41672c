//! Replays a recorded conversation: the packets of one role to our pool of the opposite role.

#![cfg(feature = "crypto")]

use std::collections::{BTreeMap, BTreeSet};

use psrp::client::{self, RunspacePool};
use psrp::crypto::{ClientKey, SessionKey};
use psrp::fragment::{Assembler, Priority};
use psrp::host::{HostCall, HostRequest, HostResponse, HostResult};
use psrp::message::{
    ApplicationPrivateData, Availability, Command, CreatePipeline, HostInfo, InitRunspacePool, Message,
    MessageHeader, MessageType, Payload, PipelineState, PowerShell, PrimitiveDictionary, RemoteStreamOptions,
    RunspacePoolState, RunspacePoolStateInfo,
};
use psrp::outofproc::Packet;
use psrp::value::{Object, SecureString, Version};
use psrp::{Error, Value, server};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::session::with_key;
use crate::vectors_wire as vectors;

const MAX_PACKET: usize = 32 * 1024;

/// A packet, and the states after it.
struct Step<'a> {
    number: u64,
    from_client: bool,
    line: &'a str,
    json: &'a Json,
}

fn steps(conversation: &Json) -> Vec<Step<'_>> {
    let steps = conversation["steps"].as_array().expect("steps").iter().map(|json| Step {
        number: json["n"].as_u64().unwrap(),
        from_client: json["direction"] == "client->server",
        line: json["line"].as_str().unwrap(),
        json,
    });
    steps.collect()
}

/// Formats the states of pipelines as in the file.
fn states(pipelines: impl Iterator<Item = (Uuid, PipelineState)>) -> BTreeMap<String, String> {
    pipelines.map(|(id, state)| (id.to_string(), state.to_string())).collect()
}

fn expected_states(json: &Json) -> BTreeMap<String, String> {
    let states = json.as_object().expect("states").iter();
    states.map(|(id, state)| (id.clone(), state.as_str().unwrap().to_owned())).collect()
}

/// Compares a packet with that of the file: all bytes, except for messages with nested objects or object texts. The
/// recorded implementation writes `RefId` before `N` and the text last, PowerShell does not; the values of these
/// messages must be equal. Returns the number of messages.
fn compare(assemblers: &mut [Assembler; 2], number: u64, packet: Packet<'_>, line: &str) -> usize {
    let mut buffer = Vec::new();
    let expected = Packet::parse(line.as_bytes(), &mut buffer).expect("a packet");
    let (
        Packet::Data { priority, data: ours, .. },
        Packet::Data { priority: expected_priority, data: theirs, .. },
    ) = (packet, expected)
    else {
        assert_eq!(packet, expected, "step {number}");
        return 0;
    };
    assert_eq!(packet.target(), expected.target(), "step {number}");
    // The recorded server marks host calls as prompt responses, PowerShell's server marks nothing. The first message
    // has the number of the server as its destination.
    if theirs[21] == 2 {
        assert_eq!(priority, expected_priority, "step {number}");
    }
    assert_eq!(fragments(ours), fragments(theirs), "fragments of step {number}");
    let [our_assembler, their_assembler] = assemblers;
    let (ours, theirs) = (messages(our_assembler, ours), messages(their_assembler, theirs));
    assert_eq!(ours.len(), theirs.len(), "messages of step {number}");
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let [ours, theirs] = [ours, theirs].map(|bytes| Message::decode(bytes).unwrap());
        let pool_free = |header: MessageHeader| MessageHeader { pool_id: Uuid::nil(), ..header };
        assert_eq!(pool_free(ours.header), pool_free(theirs.header), "step {number}");
        let [our_text, their_text] = [ours, theirs].map(|message| str::from_utf8(message.data).unwrap());
        match theirs.header.message_type {
            // The padding is random.
            MessageType::EncryptedSessionKey => {}
            // The recorded server uses 32-bit identifiers.
            MessageType::RunspaceAvailability => {
                let text = our_text.replace("I64 N=\"S", "I32 N=\"S").replace("3</I64><I64", "3</I32><I64");
                assert_eq!(text, their_text, "step {number}");
            }
            message_type if their_text.contains("<Obj RefId=\"1\"") || their_text.contains("</ToString>") => {
                let [ours, theirs] =
                    [ours, theirs].map(|message| Payload::decode(message_type, message.data).unwrap());
                assert_eq!(ours, theirs, "step {number}");
            }
            _ => assert_eq!(our_text, their_text, "step {number}"),
        }
    }
    ours.len()
}

/// Returns identifiers and flags of the fragments.
fn fragments(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut headers = Vec::new();
    while !bytes.is_empty() {
        headers.push(&bytes[..17]);
        let len = u32::from_be_bytes(bytes[17..21].try_into().unwrap()) as usize;
        bytes = &bytes[21 + len..];
    }
    headers
}

fn messages(assembler: &mut Assembler, mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some(message) = assembler.next(&mut bytes).unwrap() {
        messages.push(message.to_vec());
    }
    messages
}

/// Returns the file's name of an event of the client.
fn client_event(event: &client::Event) -> &'static str {
    use client::{Event, PipelineEvent};

    match event {
        Event::SessionCapability(_) => "SessionCapabilityEvent",
        Event::ApplicationPrivateData(_) => "ApplicationPrivateDataEvent",
        Event::State(_) => "RunspacePoolStateEvent",
        Event::KeyExchanged => "EncryptedSessionKeyEvent",
        Event::RequestCompleted { availability: Availability::Accepted(_), .. } => {
            "SetRunspaceAvailabilityEvent"
        }
        Event::RequestCompleted { availability: Availability::Count(_), .. } => {
            "GetRunspaceAvailabilityEvent"
        }
        Event::UserEvent(_) => "UserEventEvent",
        Event::HostCall { pipeline: Some(_), .. } => "PipelineHostCallEvent",
        Event::Pipeline { event, .. } => match event {
            PipelineEvent::Output(_) => "PipelineOutputEvent",
            PipelineEvent::Error(_) => "ErrorRecordEvent",
            PipelineEvent::Debug(_) => "DebugRecordEvent",
            PipelineEvent::Verbose(_) => "VerboseRecordEvent",
            PipelineEvent::Warning(_) => "WarningRecordEvent",
            PipelineEvent::Progress(_) => "ProgressRecordEvent",
            PipelineEvent::Information(_) => "InformationRecordEvent",
            PipelineEvent::State(_) => "PipelineStateEvent",
            _ => "other",
        },
        _ => "other",
    }
}

fn pipelines(file: &Json) -> [Uuid; 2] {
    [0, 1].map(|at: usize| file["pipelines"][at].as_str().unwrap().parse().unwrap())
}

fn client_pool(file: &Json) -> RunspacePool {
    let host_info = HostInfo { is_host_raw_ui_null: true, ..HostInfo::lines() };
    let init = InitRunspacePool {
        host_info,
        application_arguments: Some(PrimitiveDictionary::new([("client", "vector")])),
        ..InitRunspacePool::default()
    };
    let key = vectors::base64(&file["client_rsa_private_key_der_base64"]);
    let id = file["runspace_pool_id"].as_str().unwrap().parse().unwrap();
    RunspacePool::new(
        client::Config::new()
            .capability(with_key())
            .pool_id(id)
            .init(init)
            .key_pair(ClientKey::from_pkcs8(&key).unwrap()),
    )
}

fn first_pipeline() -> CreatePipeline {
    let script = Command::script("process { $_ }").parameter("Password", SecureString::new("p@ss\u{e9}"));
    let mut create = CreatePipeline::new(PowerShell::new().command(script));
    create.no_input = false;
    create.remote_stream_options = RemoteStreamOptions::ALL;
    create
}

fn second_pipeline() -> CreatePipeline {
    let mut create =
        CreatePipeline::new(PowerShell::new().command(Command::new("Start-Sleep").parameter("Seconds", 100)));
    create.remote_stream_options = RemoteStreamOptions::NONE;
    create
}

fn answer(pool: &mut RunspacePool, pipeline: Uuid, calls: &[HostCall], result: HostResult) {
    pool.respond(Some(pipeline), HostResponse::new(calls.last().unwrap(), &result)).unwrap();
}

/// Performs the application's actions before this step.
fn act_as_client(pool: &mut RunspacePool, number: u64, pipelines: [Uuid; 2], calls: &[HostCall]) {
    let [first, second] = pipelines;
    match number {
        1 => pool.open().unwrap(),
        4 => assert_eq!(pool.set_max_runspaces(3).unwrap(), Some(1)),
        7 => assert_eq!(pool.get_available_runspaces().unwrap(), 2),
        10 => pool.exchange_key().unwrap(),
        13 => pool.create_pipeline_with_id(first, first_pipeline()).unwrap(),
        15 => pool.pipeline(first).unwrap().start().unwrap(),
        17 => {}
        20 => {
            let mut pipeline = pool.pipeline(first).unwrap();
            pipeline.send_input("input 1").unwrap();
            let object = Object::builder()
                .type_names(["System.Management.Automation.PSCustomObject", "System.Object"])
                .extended("a", 1)
                .extended("b", "x")
                .build();
            pipeline.send_input(object).unwrap();
            pipeline.end_input().unwrap();
        }
        24 => answer(pool, first, calls, HostResult::Text("typed text".into())),
        27 => {
            assert_eq!(calls.last().unwrap().request().unwrap(), HostRequest::ReadLineAsSecureString);
            answer(pool, first, calls, HostResult::Secure(SecureString::new("s3cret")));
        }
        30 => answer(pool, first, calls, HostResult::Number(1)),
        33 => pool.pipeline(first).unwrap().close().unwrap(),
        35 => pool.create_pipeline_with_id(second, second_pipeline()).unwrap(),
        37 => pool.pipeline(second).unwrap().start().unwrap(),
        40 => pool.pipeline(second).unwrap().stop().unwrap(),
        43 => pool.pipeline(second).unwrap().close().unwrap(),
        45 => assert_eq!(pool.reset_runspace_state().unwrap(), 3),
        49 => pool.close().unwrap(),
        other => panic!("step {other} is the client's"),
    }
}

/// Lets the client play this number of steps, and compares its packets, events and states with the file. Returns the
/// number of compared messages, too.
fn play_client(file: &Json, count: usize) -> (RunspacePool, usize) {
    let pipelines = pipelines(file);
    let (mut pool, mut compared, mut assemblers) = (client_pool(file), 0, Default::default());
    let (mut buffer, mut calls) = (Vec::new(), Vec::new());
    for step in steps(file).into_iter().take(count) {
        let number = step.number;
        if step.from_client {
            act_as_client(&mut pool, number, pipelines, &calls);
            let max = if matches!(number, 15 | 17) { 1000 } else { MAX_PACKET };
            let packet = pool.poll_transmit(max, &mut buffer).expect("a packet");
            compared += compare(&mut assemblers, number, packet, step.line);
            assert!(pool.poll_transmit(max, &mut buffer).is_none(), "step {number} has one packet");
        } else {
            let packet = Packet::parse(step.line.as_bytes(), &mut buffer).unwrap();
            pool.handle_packet(packet).unwrap();
            let mut names = Vec::new();
            while let Some(event) = pool.poll_event() {
                names.push(client_event(&event));
                if let client::Event::HostCall { call, .. } = event {
                    calls.push(call);
                }
            }
            if matches!(packet, Packet::Data { .. }) {
                assert_eq!(serde_json::json!(names), step.json["events_at_receiver"], "step {number}");
            }
        }
        // The recorded client reports stopping and closing only after the server has confirmed.
        let state = if number == 49 { "Closing" } else { step.json["client_pool_state"].as_str().unwrap() };
        assert_eq!(pool.state().to_string(), state, "step {number}");
        let mut expected = expected_states(&step.json["client_pipelines"]);
        if number == 40 {
            expected.insert(pipelines[1].to_string(), "Stopping".to_owned());
        }
        assert_eq!(states(pool.pipelines()), expected, "step {number}");
    }
    (pool, compared)
}

/// Returns the file's name of an event of the server.
fn server_event(event: &server::Event) -> &'static str {
    use server::{Event, PipelineEvent, PoolRequest};

    match event {
        Event::SessionCapability(_) => "SessionCapabilityEvent",
        Event::Opened(_) => "InitRunspacePoolEvent",
        Event::Request { request: PoolRequest::SetMaxRunspaces(_), .. } => "SetMaxRunspacesEvent",
        Event::Request { request: PoolRequest::GetAvailableRunspaces, .. } => "GetAvailableRunspacesEvent",
        Event::Request { request: PoolRequest::ResetRunspaceState, .. } => "ResetRunspaceStateEvent",
        Event::KeyExchanged => "PublicKeyEvent",
        Event::HostResponse { pipeline: Some(_), .. } => "PipelineHostResponseEvent",
        Event::Pipeline { event: PipelineEvent::Start(_), .. } => "CreatePipelineEvent",
        Event::Pipeline { event: PipelineEvent::Input(_), .. } => "PipelineInputEvent",
        Event::Pipeline { event: PipelineEvent::EndOfInput, .. } => "EndOfPipelineInputEvent",
        _ => "other",
    }
}

fn server_pool(file: &Json) -> server::RunspacePool {
    let versions = Object::dictionary([
        ("PSRemotingProtocolVersion", Version::new(2, 3)),
        ("SerializationVersion", Version::new(1, 1).with_revision(0, 1)),
    ]);
    let entries = [("server", Value::from("vector")), ("PSVersionTable", Value::from(versions))];
    let key = vectors::hex(&file["session_key_hex"]).try_into().unwrap();
    server::RunspacePool::new(
        server::Config::new()
            .application_private_data(ApplicationPrivateData {
                data: Some(PrimitiveDictionary::new(entries)),
            })
            .session_key(SessionKey::from_bytes(key).unwrap()),
    )
}

/// Performs the application's actions that the recorded server's messages show.
fn act_as_server(pool: &mut server::RunspacePool, line: &str) {
    let mut buffer = Vec::new();
    let Packet::Data { data, .. } = Packet::parse(line.as_bytes(), &mut buffer).unwrap() else { return };
    for message in messages(&mut Assembler::new(), data) {
        let message = Message::decode(&message).unwrap();
        let payload = Payload::decode(message.header.message_type, message.data).unwrap();
        match (message.header.pipeline_id, payload) {
            (None, Payload::RunspaceAvailability(answer)) => {
                pool.respond(answer.call_id, answer.availability).unwrap();
            }
            (None, Payload::UserEvent(event)) => pool.send_event(*event).unwrap(),
            // The pool sends its other messages itself.
            (None, _) => {}
            (Some(id), payload) => write(pool.pipeline(id).unwrap(), payload),
        }
    }
}

fn write(mut pipeline: server::Pipeline<'_>, payload: Payload) {
    match payload {
        Payload::PipelineOutput(value) => pipeline.write_output(value).unwrap(),
        Payload::ErrorRecord(record) => pipeline.write_error(*record).unwrap(),
        Payload::DebugRecord(record) => pipeline.write_debug(*record).unwrap(),
        Payload::VerboseRecord(record) => pipeline.write_verbose(*record).unwrap(),
        Payload::WarningRecord(record) => pipeline.write_warning(*record).unwrap(),
        Payload::ProgressRecord(record) => pipeline.write_progress(*record).unwrap(),
        Payload::InformationRecord(record) => pipeline.write_information(*record).unwrap(),
        Payload::PipelineHostCall(call) => {
            let number = pipeline.host_call(&call.request().unwrap()).unwrap();
            assert_eq!(number, (!call.is_void()).then_some(call.call_id));
        }
        Payload::PipelineState(info) => match info.state {
            PipelineState::Running => pipeline.start().unwrap(),
            PipelineState::Stopping => pipeline.begin_stop().unwrap(),
            PipelineState::Stopped => pipeline.stop().unwrap(),
            PipelineState::Completed => pipeline.complete().unwrap(),
            other => panic!("state {other}"),
        },
        other => panic!("message {:?}", other.message_type()),
    }
}

/// Removes the Closing state from the last data packet: PowerShell's servers send it, the recorded one does not.
fn without_closing<'b>(packet: Packet<'_>, buffer: &'b mut Vec<u8>) -> Packet<'b> {
    let Packet::Data { target, priority, mut data } = packet else { panic!("{packet:?}") };
    let mut assembler = Assembler::new();
    let message = Message::decode(assembler.next(&mut data).unwrap().unwrap()).unwrap();
    let payload = Payload::decode(message.header.message_type, message.data).unwrap();
    let state = RunspacePoolStateInfo::new(RunspacePoolState::Closing);
    assert_eq!(payload, Payload::RunspacePoolState(state));
    buffer.extend_from_slice(data);
    // The object identifier becomes one less.
    buffer[7] -= 1;
    Packet::Data { target, priority, data: buffer }
}

/// Lets the server play this number of steps, and compares its packets, events and states with the file. Returns the
/// number of compared messages, too.
fn play_server(file: &Json, count: usize) -> (server::RunspacePool, usize) {
    let (mut pool, mut compared, mut assemblers) = (server_pool(file), 0, Default::default());
    let mut buffer = Vec::new();
    for step in steps(file).into_iter().take(count) {
        let number = step.number;
        if step.from_client {
            let packet = Packet::parse(step.line.as_bytes(), &mut buffer).unwrap();
            pool.handle_packet(packet).unwrap();
            let names: Vec<_> =
                std::iter::from_fn(|| pool.poll_event()).map(|event| server_event(&event)).collect();
            if matches!(packet, Packet::Data { .. }) {
                assert_eq!(serde_json::json!(names), step.json["events_at_receiver"], "step {number}");
            }
        } else {
            act_as_server(&mut pool, step.line);
            let packet = pool.poll_transmit(MAX_PACKET, &mut buffer).expect("a packet");
            let mut rest = Vec::new();
            let packet = if number == 50 { without_closing(packet, &mut rest) } else { packet };
            compared += compare(&mut assemblers, number, packet, step.line);
        }
        // The recorded server processes commands and closes when it acknowledges them.
        if !matches!(number, 13 | 33 | 35 | 43 | 49) {
            assert_eq!(pool.state().to_string(), step.json["server_pool_state"], "step {number}");
            let expected = expected_states(&step.json["server_pipelines"]);
            assert_eq!(states(pool.pipelines()), expected, "step {number}");
        }
    }
    while pool.poll_event().is_some() {}
    (pool, compared)
}

#[test]
fn both_sides_send_the_recorded_packets() {
    let file = vectors::load("conversation.json");
    let (pool, compared) = play_client(&file, usize::MAX);
    assert_eq!(compared, 14, "messages");
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (1, 3));
    let data = pool.application_private_data().unwrap().data.as_ref().unwrap();
    assert_eq!(data.get("server"), Some(&Value::from("vector")));
    let (mut pool, compared) = play_server(&file, usize::MAX);
    assert_eq!(compared, 28, "messages");
    assert!(pool.poll_transmit(MAX_PACKET, &mut Vec::new()).is_none());
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (1, 3));
}

/// The pool of either side.
enum Pool {
    Client(RunspacePool),
    Server(server::RunspacePool),
}

impl Pool {
    /// Returns the pool of the client or the server after this number of packets.
    fn after(file: &Json, is_client: bool, count: usize) -> Self {
        match is_client {
            true => Self::Client(play_client(file, count).0),
            false => Self::Server(play_server(file, count).0),
        }
    }

    fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        match self {
            Self::Client(pool) => pool.handle_packet(packet),
            Self::Server(pool) => pool.handle_packet(packet),
        }
    }

    fn state(&self) -> RunspacePoolState {
        match self {
            Self::Client(pool) => pool.state(),
            Self::Server(pool) => pool.state(),
        }
    }

    fn pipelines(&self) -> BTreeSet<Uuid> {
        match self {
            Self::Client(pool) => {
                let is_over = |state| {
                    matches!(state, PipelineState::Completed | PipelineState::Stopped | PipelineState::Failed)
                };
                pool.pipelines().filter(|(_, state)| !is_over(*state)).map(|(id, _)| id).collect()
            }
            Self::Server(pool) => pool.pipelines().map(|(id, _)| id).collect(),
        }
    }

    /// Ends the connection. Returns the pipelines whose end is reported, and whether that of the pool is.
    fn end(&mut self) -> (BTreeSet<Uuid>, Vec<RunspacePoolState>) {
        let (mut pipelines, mut states) = (BTreeSet::new(), Vec::new());
        match self {
            Self::Client(pool) => {
                while pool.poll_event().is_some() {}
                pool.handle_end();
                assert_eq!((pool.pipelines().len(), pool.pending_bytes()), (0, 0));
                while let Some(event) = pool.poll_event() {
                    match event {
                        client::Event::Pipeline { id, .. } => assert!(pipelines.insert(id), "reported twice"),
                        client::Event::State(info) => states.push(info.state),
                        _ => {}
                    }
                }
            }
            Self::Server(pool) => {
                while pool.poll_event().is_some() {}
                pool.handle_end();
                assert_eq!(pool.pipelines().len(), 0);
                while let Some(event) = pool.poll_event() {
                    match event {
                        server::Event::Pipeline { id, .. } => assert!(pipelines.insert(id), "reported twice"),
                        server::Event::Closed => states.push(RunspacePoolState::Closed),
                        server::Event::Broken(_) => states.push(RunspacePoolState::Broken),
                        _ => {}
                    }
                }
            }
        }
        (pipelines, states)
    }
}

/// Ends the connection, and checks that everything ends and the application is notified once.
fn assert_end(mut pool: Pool, what: &str) {
    use RunspacePoolState::{BeforeOpen, Broken, Closed, Closing};

    let (before, live) = (pool.state(), pool.pipelines());
    let (ended, states) = pool.end();
    let expected = match (before, &pool) {
        (Closed | Broken, _) | (BeforeOpen, Pool::Client(_)) => before,
        (Closing | BeforeOpen, _) => Closed,
        _ => Broken,
    };
    assert_eq!(pool.state(), expected, "{what}");
    assert_eq!(states, Vec::from_iter((expected != before).then_some(expected)), "{what}");
    assert!(live.is_subset(&ended), "{what}");
    assert_eq!(pool.end(), (BTreeSet::new(), Vec::new()), "{what}: once is enough");
    if expected == Broken {
        let packet = Packet::Data { target: None, priority: Priority::Default, data: b"x" };
        assert!(pool.handle_packet(packet).unwrap_err().is_state(), "{what}");
    }
}

/// Processes an unexpected packet, and checks that the pool is either broken or unaffected.
fn check_fault(mut pool: Pool, packet: Packet<'_>, what: &str) {
    let before = pool.state();
    match pool.handle_packet(packet) {
        Err(error) if error.is_state() => assert_eq!(pool.state(), before, "{what}: {error}"),
        Err(error) => assert_eq!(pool.state(), RunspacePoolState::Broken, "{what}: {error}"),
        Ok(()) => {}
    }
    assert_end(pool, what);
}

#[test]
fn the_connection_can_end_after_any_packet() {
    let file = vectors::load("conversation.json");
    for cut in 0..=steps(&file).len() {
        for is_client in [true, false] {
            assert_end(Pool::after(&file, is_client, cut), &format!("after {cut} packets"));
        }
    }
    // Also within packets that contain messages.
    for (cut, step) in steps(&file).iter().enumerate().filter(|(_, step)| !step.from_client) {
        let mut data = Vec::new();
        let Packet::Data { target, priority, data } = Packet::parse(step.line.as_bytes(), &mut data).unwrap()
        else {
            continue;
        };
        let (mut pool, _) = play_client(&file, cut);
        pool.handle_packet(Packet::Data { target, priority, data: &data[..data.len() - 1] }).unwrap();
        while pool.poll_event().is_some() {}
        let before = pool.state();
        pool.handle_end();
        let last = std::iter::from_fn(|| pool.poll_event()).last();
        if before != RunspacePoolState::Closing {
            let Some(client::Event::State(info)) = last else { panic!("{last:?}") };
            let text = info.error.unwrap().message().unwrap().to_string();
            assert_eq!(text, "the connection has ended within a message", "packet {}", step.number);
        }
    }
}

/// After any packet: the last packet of the peer repeated, the next one too early, one with a changed byte, and packets
/// that fit nowhere.
#[test]
fn faults_break_the_pool_or_have_no_effect() {
    let file = vectors::load("conversation.json");
    let all = steps(&file);
    for (is_client, place) in
        [true, false].into_iter().flat_map(|side| (0..=all.len()).map(move |place| (side, place)))
    {
        let from_peer = |step: &&Step<'_>| step.from_client != is_client;
        let last = all[..place].iter().rev().find(from_peer).map(|step| (step.line, None));
        let next = all[place..].iter().find(from_peer);
        let faulty = [last, next.map(|step| (step.line, None)), next.map(|step| (step.line, Some(place)))];
        for (line, flip) in faulty.into_iter().flatten() {
            let (mut buffer, mut changed) = (Vec::new(), Vec::new());
            let mut packet = Packet::parse(line.as_bytes(), &mut buffer).unwrap();
            if let (Packet::Data { target, priority, data }, Some(flip)) = (packet, flip) {
                changed.extend_from_slice(data);
                let index = flip * 37 % changed.len();
                changed[index] ^= 1 << (flip % 8);
                packet = Packet::Data { target, priority, data: &changed };
            }
            check_fault(
                Pool::after(&file, is_client, place),
                packet,
                &format!("{line} after {place} packets"),
            );
        }
        let data = |target, data| Packet::Data { target, priority: Priority::PromptResponse, data };
        for packet in [data(None, &[0; 40]), Packet::Command(None)] {
            check_fault(
                Pool::after(&file, is_client, place),
                packet,
                &format!("{packet:?} after {place} packets"),
            );
        }
        let mut pool = Pool::after(&file, is_client, place);
        let [first, second] = pipelines(&file).map(Some);
        for target in [None, first, second, Some(Uuid::new_v4())] {
            let acknowledgements =
                [Packet::DataAck, Packet::CommandAck, Packet::SignalAck].map(|ack| ack(target));
            for packet in acknowledgements.into_iter().chain([data(target, &[0xFF; 3])]) {
                let _ = pool.handle_packet(packet);
            }
        }
        assert_end(pool, &format!("acknowledgements after {place} packets"));
    }
}
