//! Replays the client side of a recorded conversation to the server's pool.

#![cfg(feature = "crypto")]

use std::collections::BTreeSet;

use psrp::crypto::SessionKey;
use psrp::fragment::{Assembler, Priority};
use psrp::message::{
    ApplicationPrivateData, Message, Payload, PipelineState, PrimitiveDictionary, RunspacePoolState,
    RunspacePoolStateInfo,
};
use psrp::outofproc::Packet;
use psrp::server::{Config, Event, Pipeline, PipelineEvent, PoolRequest, RunspacePool};
use psrp::value::{Object, Value, Version};
use uuid::Uuid;

use crate::conversation::{Comparison, expected_states, states, steps};
use crate::vectors_wire as vectors;

/// Returns the file's name of an event.
fn name(event: &Event) -> &'static str {
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

fn new_pool(file: &serde_json::Value) -> RunspacePool {
    let versions = Object::dictionary([
        ("PSRemotingProtocolVersion", Version::new(2, 3)),
        ("SerializationVersion", Version::new(1, 1).with_revision(0, 1)),
    ]);
    let entries = [("server", Value::from("vector")), ("PSVersionTable", Value::from(versions))];
    let key = vectors::hex(&file["session_key_hex"]).try_into().unwrap();
    RunspacePool::new(
        Config::new()
            .application_private_data(ApplicationPrivateData {
                data: Some(PrimitiveDictionary::new(entries)),
            })
            .session_key(SessionKey::from_bytes(key).unwrap()),
    )
}

/// Performs the application's actions that the recorded server's messages show.
fn act(pool: &mut RunspacePool, line: &str) {
    let mut buffer = Vec::new();
    let Packet::Data { data: mut bytes, .. } = Packet::parse(line.as_bytes(), &mut buffer).unwrap() else {
        return;
    };
    let mut assembler = Assembler::new();
    while let Some(message) = assembler.next(&mut bytes).unwrap() {
        let message = Message::decode(message).unwrap();
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

fn write(mut pipeline: Pipeline<'_>, payload: Payload) {
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

#[test]
fn the_server_sends_the_recorded_packets() {
    let file = vectors::load("conversation.json");
    let mut pool = new_pool(&file);
    let mut comparison = Comparison::default();
    let mut buffer = Vec::new();
    for step in steps(&file) {
        let number = step.number;
        if step.from_client {
            let mut data = Vec::new();
            let packet = Packet::parse(step.line.as_bytes(), &mut data).unwrap();
            pool.handle_packet(packet).unwrap();
            let events: Vec<Event> = std::iter::from_fn(|| pool.poll_event()).collect();
            if matches!(packet, Packet::Data { .. }) {
                let names: Vec<_> = events.iter().map(name).collect();
                assert_eq!(serde_json::json!(names), step.json["events_at_receiver"], "step {number}");
            }
        } else {
            act(&mut pool, step.line);
            let packet = pool.poll_transmit(32 * 1024, &mut buffer).expect("a packet");
            let mut rest = Vec::new();
            let packet = if number == 50 { without_closing(packet, &mut rest) } else { packet };
            comparison.check(number, packet, step.line);
        }
        // The recorded server processes commands and closes when it acknowledges them.
        if !matches!(number, 13 | 33 | 35 | 43 | 49) {
            assert_eq!(pool.state().to_string(), step.json["server_pool_state"], "step {number}");
            let expected = expected_states(&step.json["server_pipelines"]);
            assert_eq!(states(pool.pipelines()), expected, "step {number}");
        }
    }
    assert_eq!(comparison.compared, 28, "messages");
    assert!(pool.poll_transmit(32 * 1024, &mut buffer).is_none());
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (1, 3));
}

/// Returns the pool after this number of packets.
fn replay(file: &serde_json::Value, count: usize) -> RunspacePool {
    let mut pool = new_pool(file);
    let mut buffer = Vec::new();
    for step in steps(file).take(count) {
        if step.from_client {
            let mut data = Vec::new();
            pool.handle_packet(Packet::parse(step.line.as_bytes(), &mut data).unwrap()).unwrap();
        } else {
            act(&mut pool, step.line);
            pool.poll_transmit(32 * 1024, &mut buffer).expect("a packet");
        }
    }
    while pool.poll_event().is_some() {}
    pool
}

/// Ends the connection, and checks that everything ends and the application is notified once.
fn assert_end(mut pool: RunspacePool, what: &str) {
    use RunspacePoolState::{BeforeOpen, Broken, Closed};

    let before = pool.state();
    let pipelines: BTreeSet<_> = pool.pipelines().map(|(id, _)| id).collect();
    pool.handle_end();
    let expected = match before {
        BeforeOpen => Closed,
        Closed | Broken => before,
        _ => Broken,
    };
    assert_eq!(pool.state(), expected, "{what}");
    assert_eq!(pool.pipelines().len(), 0, "{what}");
    let (mut gone, mut ends) = (BTreeSet::new(), 0);
    while let Some(event) = pool.poll_event() {
        match event {
            Event::Pipeline { id, event: PipelineEvent::Closed } => {
                gone.insert(id);
            }
            Event::Closed | Event::Broken(_) => ends += 1,
            _ => {}
        }
    }
    assert_eq!((gone, ends), (pipelines, usize::from(before != expected)), "{what}");
    let error = pool.handle_packet(Packet::Close(None)).unwrap_err();
    assert!(error.is_state(), "{what}");
    pool.handle_end();
    assert!(pool.poll_event().is_none(), "{what}: once is enough");
}

#[test]
fn the_connection_can_end_after_any_packet() {
    let file = vectors::load("conversation.json");
    for cut in 0..=steps(&file).count() {
        assert_end(replay(&file, cut), &format!("after {cut} packets"));
    }
}

#[test]
fn faults_break_the_pool_or_have_no_effect() {
    let file = vectors::load("conversation.json");
    let all: Vec<_> = steps(&file).collect();
    for place in 0..=all.len() {
        let last = all[..place].iter().rev().find(|step| step.from_client).map(|step| (step.line, None));
        let next = all[place..].iter().find(|step| step.from_client);
        let faulty = [last, next.map(|step| (step.line, None)), next.map(|step| (step.line, Some(place)))];
        for (kind, (line, flip)) in
            faulty.into_iter().enumerate().filter_map(|(kind, fault)| Some((kind, fault?)))
        {
            let mut buffer = Vec::new();
            let mut packet = Packet::parse(line.as_bytes(), &mut buffer).unwrap();
            let mut changed = Vec::new();
            if let (Packet::Data { target, priority, data }, Some(flip)) = (packet, flip) {
                changed.extend_from_slice(data);
                let index = flip * 37 % changed.len();
                changed[index] ^= 1 << (flip % 8);
                packet = Packet::Data { target, priority, data: &changed };
            }
            check_unexpected_packet(
                replay(&file, place),
                packet,
                &format!("fault {kind} after {place} packets"),
            );
        }
        let garbage = Packet::Data { target: None, priority: Priority::Default, data: &[0; 40] };
        check_unexpected_packet(replay(&file, place), garbage, &format!("garbage after {place} packets"));
        check_unexpected_packet(
            replay(&file, place),
            Packet::Command(None),
            &format!("no pipeline after {place} packets"),
        );
        let unknown =
            Packet::Data { target: Some(Uuid::new_v4()), priority: Priority::Default, data: &[0; 40] };
        let mut pool = replay(&file, place);
        if !matches!(pool.state(), RunspacePoolState::Closed) {
            pool.handle_packet(unknown).unwrap();
        }
    }
}

/// Processes an unexpected packet, and checks that the pool is either broken and the client notified, or unaffected.
fn check_unexpected_packet(mut pool: RunspacePool, packet: Packet<'_>, what: &str) {
    let before = pool.state();
    match pool.handle_packet(packet) {
        Err(error) if error.is_state() => assert_eq!(pool.state(), before, "{what}: {error}"),
        Err(error) => {
            assert_eq!(pool.state(), RunspacePoolState::Broken, "{what}: {error}");
            let (mut buffer, mut assembler, mut told) = (Vec::new(), Assembler::new(), None);
            while let Some(packet) = pool.poll_transmit(32 * 1024, &mut buffer) {
                let Packet::Data { target: None, mut data, .. } = packet else { continue };
                let message = Message::decode(assembler.next(&mut data).unwrap().unwrap()).unwrap();
                told = Some(Payload::decode(message.header.message_type, message.data).unwrap());
            }
            let Some(Payload::RunspacePoolState(info)) = told else { panic!("{what}: {told:?}") };
            assert_eq!(info.state, RunspacePoolState::Broken, "{what}");
            assert_eq!(*info.error.unwrap().message().unwrap(), *error.to_string(), "{what}");
        }
        Ok(()) => {}
    }
    while pool.poll_event().is_some() {}
    assert_end(pool, what);
}
