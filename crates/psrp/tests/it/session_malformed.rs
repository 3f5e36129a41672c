//! Malformed messages: those of a pipeline fail only that pipeline, those of the pool break the pool.

use psrp::client::{Event, PipelineEvent};
use psrp::fragment::{Fragmenter, Priority};
use psrp::message::{Destination, MessageHeader, MessageType, PipelineState, RunspacePoolState};
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::server;
use uuid::Uuid;

use crate::session::{Session, with_input};

/// Data that is invalid for the message types below.
const MALFORMED: [&str; 7] =
    ["<S>", "<Foo/>", "<I32>x</I32>", "<Ref RefId='7'/>", "<Nil/><Nil/>", "<!DOCTYPE x>", "\u{1}"];

/// Returns the fragment of a message with this data.
fn message(
    to: Destination,
    message_type: MessageType,
    pool_id: Uuid,
    pipeline_id: Option<Uuid>,
    data: &str,
) -> Vec<u8> {
    let header = MessageHeader { destination: to, message_type, pool_id, pipeline_id };
    fragment(&[&header.to_bytes(), data.as_bytes()].concat())
}

/// Returns a fragment with these bytes.
fn fragment(bytes: &[u8]) -> Vec<u8> {
    let mut fragment = Vec::new();
    Fragmenter::new().encode(bytes, &mut fragment);
    fragment
}

/// Faults independent of the message type: in the data, the header, or the fragments.
fn faults(
    to: Destination,
    from: Destination,
    message_type: MessageType,
    pool: Uuid,
    id: Uuid,
) -> Vec<Vec<u8>> {
    let mut faults: Vec<_> =
        MALFORMED.iter().map(|data| message(to, message_type, pool, Some(id), data)).collect();
    faults.push(message(from, message_type, pool, Some(id), "<Nil/>"));
    faults.push(fragment(b"less than a header"));
    faults.push(vec![0; 40]);
    let mut out_of_order = message(to, message_type, pool, Some(id), "<Nil/>");
    out_of_order[16] = 2;
    faults.push(out_of_order);
    faults
}

fn assert_failed(error: Option<&ErrorRecord>) {
    assert_eq!(error.unwrap().category, ErrorCategory::ProtocolError);
}

/// Passes a message for the first of two pipelines to a client, and checks that only that pipeline fails.
fn assert_client_pipeline_fails(what: &str, bytes: impl Fn(Uuid, Uuid) -> Vec<u8>) {
    let mut session = Session::opened();
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    session.client_events();
    let bytes = bytes(session.client.id(), first);
    session.client.handle_input(Priority::Default, Some(first), &bytes).unwrap();
    let events = session.pipeline_events(first);
    let Some(PipelineEvent::State(info)) = events.last() else { panic!("{what}: {events:?}") };
    assert_eq!(info.state, PipelineState::Failed, "{what}");
    assert_failed(info.error.as_deref());
    // Its further messages are dropped, and the other pipeline continues.
    for id in [first, second] {
        session.server.pipeline(id).unwrap().write_output(1).unwrap();
        session.server.pipeline(id).unwrap().complete().unwrap();
    }
    session.exchange();
    let events = session.client_events();
    let of_second = |event: &Event| matches!(event, Event::Pipeline { id, .. } if *id == second);
    assert!(events.len() == 2 && events.iter().all(of_second), "{what}: {events:?}");
    assert_eq!(session.client_state(second), PipelineState::Completed);
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
    session.client.pipeline(first).unwrap().close().unwrap();
    session.exchange();
    assert_eq!(session.server.pipelines().len(), 1);
}

#[test]
fn a_client_fails_only_the_pipeline_of_a_malformed_message() {
    let (to, from) = (Destination::Client, Destination::Server);
    let faults = |message_type| move |pool, id| faults(to, from, message_type, pool, id);
    let count = faults(MessageType::PipelineOutput)(Uuid::nil(), Uuid::nil()).len();
    for message_type in [
        MessageType::PipelineOutput,
        MessageType::ErrorRecord,
        MessageType::PipelineState,
        MessageType::DebugRecord,
        MessageType::ProgressRecord,
        MessageType::InformationRecord,
        MessageType::PipelineHostCall,
    ] {
        for fault in 0..count {
            assert_client_pipeline_fails(&format!("{message_type:?} {fault}"), |pool, id| {
                faults(message_type)(pool, id).swap_remove(fault)
            });
        }
    }
    for (message_type, data) in [
        (MessageType::ErrorRecord, "<S>x</S>"),
        (MessageType::ProgressRecord, "<Obj/>"),
        (MessageType::PipelineState, "<Obj><MS><I32 N='PipelineState'>99</I32></MS></Obj>"),
        (MessageType::PipelineHostCall, "<Obj><MS><I64 N='ci'>1</I64></MS></Obj>"),
    ] {
        assert_client_pipeline_fails(data, |pool, id| message(to, message_type, pool, Some(id), data));
    }
    // Two calls with the same identifier.
    let call =
        "<Obj><MS><I64 N='ci'>1</I64><Obj N='mi'><I32>11</I32></Obj><Obj N='mp'><LST/></Obj></MS></Obj>";
    assert_client_pipeline_fails("two calls", |pool, id| {
        message(to, MessageType::PipelineHostCall, pool, Some(id), call).repeat(2)
    });
}

/// Passes a message for the first of three pipelines, not started, or for the second, started, to a server.
fn assert_server_pipeline_fails(what: &str, is_started: bool, bytes: impl Fn(Uuid, Uuid) -> Vec<u8>) {
    let mut session = Session::opened();
    let [started, other] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    let created = session.client.create_pipeline(with_input("$input")).unwrap();
    session.exchange();
    session.client_events();
    session.server_events();
    let id = if is_started { started } else { created };
    let bytes = bytes(session.client.id(), id);
    session.server.handle_input(Priority::Default, Some(id), &bytes).unwrap();
    let events = session.server_events();
    let [server::Event::Pipeline { id: failed, event: server::PipelineEvent::Failed(reason) }] = &events[..]
    else {
        panic!("{what}: {events:?}");
    };
    assert_eq!(*failed, id, "{what}");
    assert_failed(Some(reason));
    session.exchange();
    assert_eq!(session.server_state(id), PipelineState::Failed, "{what}");
    if is_started {
        // The client was notified.
        assert_eq!(session.client_state(id), PipelineState::Failed, "{what}");
    }
    session.server.handle_input(Priority::Default, Some(id), &bytes).unwrap();
    session.client.pipeline(other).unwrap().send_input(1).unwrap();
    session.exchange();
    let events = session.server_events();
    let is_input = |event: &server::Event| matches!(event, server::Event::Pipeline { id, event: server::PipelineEvent::Input(_) } if *id == other);
    assert!(events.len() == 1 && is_input(&events[0]), "{what}: {events:?}");
    assert_eq!(session.server.state(), RunspacePoolState::Opened);
}

#[test]
fn a_server_fails_only_the_pipeline_of_a_malformed_message() {
    let (to, from) = (Destination::Server, Destination::Client);
    let faults = |message_type| move |pool, id| faults(to, from, message_type, pool, id);
    let count = faults(MessageType::PipelineInput)(Uuid::nil(), Uuid::nil()).len();
    for (message_type, is_started) in [
        (MessageType::CreatePipeline, false),
        (MessageType::GetCommandMetadata, false),
        (MessageType::PipelineInput, true),
        (MessageType::PipelineHostResponse, true),
    ] {
        for fault in 0..count {
            assert_server_pipeline_fails(&format!("{message_type:?} {fault}"), is_started, |pool, id| {
                faults(message_type)(pool, id).swap_remove(fault)
            });
        }
    }
    for (message_type, is_started, data) in [
        (MessageType::CreatePipeline, false, "<Obj><MS/></Obj>"),
        (MessageType::PipelineHostResponse, true, "<Obj/>"),
    ] {
        assert_server_pipeline_fails(data, is_started, |pool, id| {
            message(to, message_type, pool, Some(id), data)
        });
    }
}

/// Also if they name a pipeline or arrive with its fragments.
#[test]
fn a_malformed_message_of_the_pool_breaks_it() {
    for (target, names) in [(false, false), (false, true), (true, false), (true, true)] {
        for data in MALFORMED {
            let mut session = Session::opened();
            let id = session.run(with_input("$input"));
            let (pool, target) = (session.client.id(), target.then_some(id));
            let names = names.then_some(id);
            let bytes = message(Destination::Client, MessageType::RunspacePoolState, pool, names, data);
            session.client.handle_input(Priority::Default, target, &bytes).unwrap_err();
            assert_eq!(session.client.state(), RunspacePoolState::Broken);
            let bytes = message(Destination::Server, MessageType::SetMaxRunspaces, pool, names, data);
            session.server.handle_input(Priority::Default, target, &bytes).unwrap_err();
            assert_eq!(session.server.state(), RunspacePoolState::Broken);
        }
    }
}

/// A connecting client cannot fail the pipelines of the previous one.
#[test]
fn a_connecting_client_cannot_fail_pipelines() {
    let mut session = Session::opened();
    let id = session.run(with_input("$input"));
    session.server.disconnect().unwrap();
    let bytes =
        message(Destination::Server, MessageType::PipelineInput, session.client.id(), Some(id), "<S>");
    session.server.handle_input(Priority::Default, None, &bytes).unwrap_err();
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert_eq!(session.server_state(id), PipelineState::Running);
}
