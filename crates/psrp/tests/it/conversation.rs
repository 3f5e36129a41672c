//! Replays a recorded conversation: the packets of one role to our pool of the opposite role, with and without faults.

#![cfg(feature = "crypto")]

use std::collections::{BTreeMap, BTreeSet};

use psrp::crypto::{ClientKey, SessionKey};
use psrp::fragment::{Assembler, Priority};
use psrp::message::{
    Message, MessageHeader, MessageType, Payload, PipelineState, RunspacePoolState, RunspacePoolStateInfo,
};
use psrp::outofproc::Packet;
use psrp::{Error, client, server};
use serde_json::Value as Json;
use uuid::Uuid;

use crate::powershell_recorded::{Step, decode, replay_client, replay_server};
use crate::session::{category, client_event, server_event};
use crate::vectors_wire as vectors;

const MAX_PACKET: usize = 32 * 1024;

const CLIENT: &str = "protocol 2.3 | data 2 | pool Opened | Accepted(true) | Count(3) | KeyExchanged | Running | \
    String(\"output 1\") | object System.Collections.ArrayList | Nil | \
    object System.Management.Automation.PSCustomObject | verbose verbose message | debug debug message | \
    warning warning message | information String(\"info\") | progress Copying 50 | error InvalidOperation | \
    call WriteLine2 | call ReadLine | call ReadLineAsSecureString | call PromptForChoice | Completed | Closed | \
    Running | Stopping | Stopped: OperationStopped | Closed | Accepted(true) | event 1 | pool Closed";

const SERVER: &str = "protocol 2.3 | opened 1..=1 | Request { call_id: 1, request: SetMaxRunspaces(3) } | \
    Request { call_id: 2, request: GetAvailableRunspaces } | KeyExchanged | run process { $_ }, secret p@ss\u{e9} | \
    Input(String(\"input 1\")) | Input(Object(Object { type_names: \
    TypeNames([\"System.Management.Automation.PSCustomObject\", \"System.Object\"]), \
    extended: {\"a\": Int32(1), \"b\": String(\"x\")} })) | EndOfInput | Text(\"typed text\") | secret s3cret | \
    Number(1) | Closed | run Start-Sleep, Int32(100) | Stop | Closed | \
    Request { call_id: 3, request: ResetRunspaceState } | Closed";

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
fn compare(assemblers: &mut [Assembler; 2], number: usize, packet: Packet<'_>, line: &str) -> usize {
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

/// Checks the number of events after a packet from the peer; packets without data have no expected events.
fn check_events(step: &Json, events: usize) {
    if let Some(names) = step["events_at_receiver"].as_array() {
        assert_eq!(events, names.len(), "step {}", step["n"]);
    }
}

fn load() -> (Json, Vec<Step>) {
    let file = vectors::load("conversation.json");
    let steps = file["steps"].as_array().unwrap().iter();
    let lines = steps.map(|step| (step["direction"] == "client->server", step["line"].as_str().unwrap()));
    let steps = decode(lines);
    (file, steps)
}

fn client_config(file: &Json) -> client::Config {
    let key = vectors::base64(&file["client_rsa_private_key_der_base64"]);
    client::Config::new().key_pair(ClientKey::from_pkcs8(&key).unwrap())
}

fn server_config(file: &Json) -> server::Config {
    let key = vectors::hex(&file["session_key_hex"]).try_into().unwrap();
    server::Config::new().session_key(SessionKey::from_bytes(key).unwrap())
}

#[test]
fn the_client_sends_the_recorded_packets() {
    let (file, steps) = load();
    let (mut compared, mut assemblers) = (0, Default::default());
    let (pool, events) = replay_client(&steps, steps.len(), client_config(&file), |index, pool, events| {
        let (number, step) = (index + 1, &file["steps"][index]);
        if step["direction"] == "client->server" {
            let max = if matches!(number, 15 | 17) { 1000 } else { MAX_PACKET };
            let mut buffer = Vec::new();
            let packet = pool.poll_transmit(max, &mut buffer).expect("a packet");
            compared += compare(&mut assemblers, number, packet, step["line"].as_str().unwrap());
            assert!(pool.poll_transmit(max, &mut buffer).is_none(), "step {number} has one packet");
        } else {
            check_events(step, events);
        }
        // The recorded client reports stopping and closing only after the server has confirmed.
        let state = if number == 49 { "Closing" } else { step["client_pool_state"].as_str().unwrap() };
        assert_eq!(pool.state().to_string(), state, "step {number}");
        let mut expected = expected_states(&step["client_pipelines"]);
        if number == 40 {
            expected.values_mut().for_each(|state| "Stopping".clone_into(state));
        }
        assert_eq!(states(pool.pipelines()), expected, "step {number}");
    });
    assert_eq!(compared, 14, "messages");
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (1, 3));
    let data = pool.application_private_data().unwrap().data.as_ref().unwrap();
    assert_eq!(data.get("server"), Some(&"vector".into()));
    let events = events.into_iter().map(|event| client_event(event, category).1).collect::<Vec<_>>();
    assert_eq!(events.join(" | "), CLIENT);
}

#[test]
fn the_server_sends_the_recorded_packets() {
    let (file, steps) = load();
    let (mut compared, mut assemblers) = (0, Default::default());
    let (mut pool, events) =
        replay_server(&steps, steps.len(), server_config(&file), |index, pool, events| {
            let (number, step) = (index + 1, &file["steps"][index]);
            if step["direction"] == "client->server" {
                check_events(step, events);
            } else {
                let (mut buffer, mut rest) = (Vec::new(), Vec::new());
                let packet = pool.poll_transmit(MAX_PACKET, &mut buffer).expect("a packet");
                let packet = if number == 50 { without_closing(packet, &mut rest) } else { packet };
                compared += compare(&mut assemblers, number, packet, step["line"].as_str().unwrap());
            }
            // The recorded server processes commands and closes when it acknowledges them.
            if !matches!(number, 13 | 33 | 35 | 43 | 49) {
                assert_eq!(pool.state().to_string(), step["server_pool_state"], "step {number}");
                assert_eq!(
                    states(pool.pipelines()),
                    expected_states(&step["server_pipelines"]),
                    "step {number}"
                );
            }
        });
    assert_eq!(compared, 28, "messages");
    assert!(pool.poll_transmit(MAX_PACKET, &mut Vec::new()).is_none());
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (1, 3));
    let events = events.into_iter().map(|event| server_event(event, category).1).collect::<Vec<_>>();
    assert_eq!(events.join(" | "), SERVER);
}

/// The pool of either side.
enum Pool {
    Client(client::ClientPool),
    Server(server::ServerPool),
}

/// Calls the same method of both kinds of pools.
macro_rules! both {
    ($pool:expr, $inner:ident => $result:expr) => {
        match $pool {
            Pool::Client($inner) => $result,
            Pool::Server($inner) => $result,
        }
    };
}

impl Pool {
    /// Returns the pool of the client or the server after this number of packets.
    fn after(file: &Json, steps: &[Step], is_client: bool, count: usize) -> Self {
        match is_client {
            true => Self::Client(replay_client(steps, count, client_config(file), |_, _, _| ()).0),
            false => Self::Server(replay_server(steps, count, server_config(file), |_, _, _| ()).0),
        }
    }

    fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        both!(self, pool => pool.handle_packet(packet))
    }

    fn state(&self) -> RunspacePoolState {
        both!(self, pool => pool.state())
    }

    /// Returns the pipelines that have not ended.
    fn pipelines(&self) -> BTreeSet<Uuid> {
        use PipelineState::{Completed, Failed, Stopped};

        let pipelines: Vec<_> = both!(self, pool => pool.pipelines().collect());
        let has_ended =
            |state| matches!(state, Completed | Stopped | Failed) && matches!(self, Self::Client(_));
        pipelines.into_iter().filter(|(_, state)| !has_ended(*state)).map(|(id, _)| id).collect()
    }

    /// Ends the connection. Returns the pipelines whose end is reported, and whether that of the pool is.
    fn end(&mut self) -> (BTreeSet<Uuid>, Vec<RunspacePoolState>) {
        let (mut pipelines, mut states) = (BTreeSet::new(), Vec::new());
        both!(self, pool => {
            while pool.poll_event().is_some() {}
            pool.handle_end();
            assert_eq!((pool.pipelines().len(), pool.pending_bytes()), (0, 0));
        });
        match self {
            Self::Client(pool) => {
                while let Some(event) = pool.poll_event() {
                    match event {
                        client::Event::Pipeline { id, .. } => assert!(pipelines.insert(id), "reported twice"),
                        client::Event::State(info) => states.push(info.state),
                        _ => {}
                    }
                }
            }
            Self::Server(pool) => {
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

#[test]
fn the_connection_can_end_after_any_packet() {
    let (file, steps) = load();
    for cut in 0..=steps.len() {
        for is_client in [true, false] {
            assert_end(Pool::after(&file, &steps, is_client, cut), &format!("after {cut} packets"));
        }
    }
    // Also within packets that contain messages.
    for (cut, step) in steps.iter().enumerate().filter(|(_, step)| !step.from_client) {
        let mut data = Vec::new();
        let packet = Packet::parse(step.line.as_bytes(), &mut data).unwrap();
        let Packet::Data { target, priority, data } = packet else { continue };
        let (mut pool, _) = replay_client(&steps, cut, client_config(&file), |_, _, _| ());
        pool.handle_packet(Packet::Data { target, priority, data: &data[..data.len() - 1] }).unwrap();
        while pool.poll_event().is_some() {}
        let before = pool.state();
        pool.handle_end();
        let last = std::iter::from_fn(|| pool.poll_event()).last();
        if before != RunspacePoolState::Closing {
            let Some(client::Event::State(info)) = last else { panic!("{last:?}") };
            let text = info.error.unwrap().message().unwrap().to_string();
            assert_eq!(text, "the connection has ended within a message", "after {cut} packets");
        }
    }
}

/// After any packet: the last packet of the peer repeated, the next one too early, one with a changed byte, and packets
/// that fit nowhere.
#[test]
fn faults_break_the_pool_or_have_no_effect() {
    let (file, steps) = load();
    let sides = [true, false].into_iter();
    for (is_client, place) in sides.flat_map(|side| (0..=steps.len()).map(move |place| (side, place))) {
        let check = |packet: Packet<'_>| {
            let mut pool = Pool::after(&file, &steps, is_client, place);
            let (what, before) = (format!("{packet:?} after {place} packets"), pool.state());
            match pool.handle_packet(packet) {
                Err(error) if error.is_state() => assert_eq!(pool.state(), before, "{what}: {error}"),
                Err(error) => assert_eq!(pool.state(), RunspacePoolState::Broken, "{what}: {error}"),
                Ok(()) => {}
            }
            assert_end(pool, &what);
        };
        let from_peer = |step: &&Step| step.from_client != is_client;
        let next = steps[place..].iter().find(from_peer);
        for step in steps[..place].iter().rev().find(from_peer).into_iter().chain(next) {
            check(Packet::parse(step.line.as_bytes(), &mut Vec::new()).unwrap());
        }
        if let Some(step) = next {
            let mut buffer = Vec::new();
            let packet = Packet::parse(step.line.as_bytes(), &mut buffer).unwrap();
            if let Packet::Data { target, priority, data } = packet {
                let mut data = data.to_vec();
                let index = place * 37 % data.len();
                data[index] ^= 1 << (place % 8);
                check(Packet::Data { target, priority, data: &data });
            }
        }
        let data = |target, data| Packet::Data { target, priority: Priority::PromptResponse, data };
        check(data(None, &[0; 40]));
        check(Packet::Command(None));
        let mut pool = Pool::after(&file, &steps, is_client, place);
        let [first, second] = [0, 1].map(|at: usize| file["pipelines"][at].as_str().unwrap().parse().ok());
        for target in [None, first, second, Some(Uuid::new_v4())] {
            for packet in [Packet::DataAck, Packet::CommandAck, Packet::SignalAck].map(|ack| ack(target)) {
                let _ = pool.handle_packet(packet);
            }
            let _ = pool.handle_packet(data(target, &[0xFF; 3]));
        }
        assert_end(pool, &format!("acknowledgements after {place} packets"));
    }
}
