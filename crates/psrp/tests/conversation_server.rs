//! The server's pool in the place of the server of a recorded conversation.

#![cfg(feature = "crypto")]

use psrp::crypto::SessionKey;
use psrp::fragment::Assembler;
use psrp::message::{
    ApplicationPrivateData, Message, Payload, PipelineState, PrimitiveDictionary, RunspacePoolState,
    RunspacePoolStateInfo,
};
use psrp::outofproc::Packet;
use psrp::server::{Config, Event, Pipeline, PipelineEvent, RunspacePool};
use psrp::value::{Object, Value, Version};

#[path = "support/conversation.rs"]
mod conversation;
#[path = "support/vectors_wire.rs"]
mod vectors;

use conversation::{Comparison, expected_states, states, steps};

/// The name that the file has for an event.
fn name(event: &Event) -> &'static str {
    match event {
        Event::SessionCapability(_) => "SessionCapabilityEvent",
        Event::Opened(_) => "InitRunspacePoolEvent",
        Event::SetMaxRunspaces { .. } => "SetMaxRunspacesEvent",
        Event::GetAvailableRunspaces { .. } => "GetAvailableRunspacesEvent",
        Event::ResetRunspaceState { .. } => "ResetRunspaceStateEvent",
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

/// Tells the pool what its application did, as the messages of the recorded server show it.
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
                pool.answer(answer.call_id, answer.availability).unwrap();
            }
            (None, Payload::UserEvent(event)) => pool.send_event(*event).unwrap(),
            // The rest for the pool comes by itself.
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

/// The last data without the state before the last one, which PowerShell's servers announce and the recorded one does not.
fn without_closing<'b>(packet: Packet<'_>, buffer: &'b mut Vec<u8>) -> Packet<'b> {
    let Packet::Data { target, priority, mut data } = packet else { panic!("{packet:?}") };
    let mut assembler = Assembler::new();
    let message = Message::decode(assembler.next(&mut data).unwrap().unwrap()).unwrap();
    let payload = Payload::decode(message.header.message_type, message.data).unwrap();
    let state = RunspacePoolStateInfo::new(RunspacePoolState::Closing);
    assert_eq!(payload, Payload::RunspacePoolState(state));
    buffer.extend_from_slice(data);
    // The number of the message is that of one less.
    buffer[7] -= 1;
    Packet::Data { target, priority, data: buffer }
}

#[test]
fn says_what_the_recorded_server_said() {
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
        // The recorded server takes commands and closes to heart when it acknowledges them.
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
