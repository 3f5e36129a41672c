//! Malformed messages: those of a pipeline fail only that pipeline, those of the pool break the pool.

use psrp::fragment::{Fragmenter, Priority};
use psrp::message::{Destination, MessageType, PipelineState, RunspacePoolState};
use uuid::Uuid;

use crate::session::{Session, fragments, with_input};

/// Data that is invalid for the message types below.
const MALFORMED: [&str; 7] =
    ["<S>", "<Foo/>", "<I32>x</I32>", "<Ref RefId='7'/>", "<Nil/><Nil/>", "<!DOCTYPE x>", "\u{1}"];

/// Returns fragments with a fault that is independent of the message type: in the data, the header, or the fragments.
fn faults(to: Destination, message_type: MessageType, pool: Uuid, id: Uuid) -> Vec<Vec<u8>> {
    let message = |to, data: &str| fragments(to, message_type, pool, Some(id), data.as_bytes());
    let from = if to == Destination::Client { Destination::Server } else { Destination::Client };
    let mut too_short = Vec::new();
    Fragmenter::new().encode(b"less than a header", &mut too_short);
    let mut out_of_order = message(to, "<Nil/>");
    out_of_order[16] = 2;
    let malformed = MALFORMED.iter().map(|data| message(to, data));
    malformed.chain([message(from, "<Nil/>"), too_short, vec![0; 40], out_of_order]).collect()
}

/// Passes fragments for the first of two pipelines to a client, and checks that only that pipeline fails.
fn assert_client_pipeline_fails(what: &str, bytes: impl Fn(Uuid, Uuid) -> Vec<u8>) {
    let mut session = Session::opened();
    let [first, second] = session.run_two();
    let bytes = bytes(session.client.id(), first);
    session.client.handle_input(Priority::Default, Some(first), &bytes).unwrap();
    let log = session.client_log();
    assert!(log.ends_with("a Failed: ProtocolError"), "{what}: {log}");
    // Its further messages are dropped, and the other pipeline continues.
    for id in [first, second] {
        session.server_pipeline(id).write_output(1).unwrap();
        session.server_pipeline(id).complete().unwrap();
    }
    session.exchange();
    assert_eq!(session.client_log(), "b Int32(1) | b Completed", "{what}");
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
    session.close(first);
}

#[test]
fn a_client_fails_only_the_pipeline_of_a_malformed_message() {
    let to = Destination::Client;
    for message_type in [
        MessageType::PipelineOutput,
        MessageType::ErrorRecord,
        MessageType::PipelineState,
        MessageType::DebugRecord,
        MessageType::ProgressRecord,
        MessageType::InformationRecord,
        MessageType::PipelineHostCall,
    ] {
        for fault in 0..faults(to, message_type, Uuid::nil(), Uuid::nil()).len() {
            assert_client_pipeline_fails(&format!("{message_type:?} {fault}"), |pool, id| {
                faults(to, message_type, pool, id).swap_remove(fault)
            });
        }
    }
    let call =
        "<Obj><MS><I64 N='ci'>1</I64><Obj N='mi'><I32>11</I32></Obj><Obj N='mp'><LST/></Obj></MS></Obj>";
    for (message_type, data, count) in [
        (MessageType::ErrorRecord, "<S>x</S>", 1),
        (MessageType::ProgressRecord, "<Obj/>", 1),
        (MessageType::PipelineState, "<Obj><MS><I32 N='PipelineState'>99</I32></MS></Obj>", 1),
        (MessageType::PipelineHostCall, "<Obj><MS><I64 N='ci'>1</I64></MS></Obj>", 1),
        // Two calls with the same identifier.
        (MessageType::PipelineHostCall, call, 2),
    ] {
        assert_client_pipeline_fails(data, |pool, id| {
            fragments(to, message_type, pool, Some(id), data.as_bytes()).repeat(count)
        });
    }
}

/// Passes fragments for the first of two started pipelines, or for a third one that is not started, to a server.
fn assert_server_pipeline_fails(what: &str, is_started: bool, bytes: impl Fn(Uuid, Uuid) -> Vec<u8>) {
    let mut session = Session::opened();
    let [started, other] = session.run_two();
    let created = session.client.create_pipeline(with_input("$input")).unwrap();
    session.exchange();
    session.drop_events();
    let (id, name) = if is_started { (started, 'a') } else { (created, 'c') };
    let bytes = bytes(session.client.id(), id);
    session.server.handle_input(Priority::Default, Some(id), &bytes).unwrap();
    assert_eq!(session.server_log(), format!("{name} Failed: ProtocolError"), "{what}");
    session.exchange();
    let [of_client, of_server] = session.states_of(id);
    assert_eq!(of_server, PipelineState::Failed, "{what}");
    assert!(!is_started || of_client == PipelineState::Failed, "the client was not notified: {what}");
    session.server.handle_input(Priority::Default, Some(id), &bytes).unwrap();
    session.client_pipeline(other).send_input(1).unwrap();
    session.exchange();
    assert_eq!(session.server_log(), "b Input(Int32(1))", "{what}");
    assert_eq!(session.server.state(), RunspacePoolState::Opened);
}

#[test]
fn a_server_fails_only_the_pipeline_of_a_malformed_message() {
    let to = Destination::Server;
    for (message_type, is_started, data) in [
        (MessageType::CreatePipeline, false, "<Obj><MS/></Obj>"),
        (MessageType::GetCommandMetadata, false, "<Obj/>"),
        (MessageType::PipelineInput, true, "<Nil/><Nil/>"),
        (MessageType::PipelineHostResponse, true, "<Obj/>"),
    ] {
        for fault in 0..faults(to, message_type, Uuid::nil(), Uuid::nil()).len() {
            assert_server_pipeline_fails(&format!("{message_type:?} {fault}"), is_started, |pool, id| {
                faults(to, message_type, pool, id).swap_remove(fault)
            });
        }
        assert_server_pipeline_fails(data, is_started, |pool, id| {
            fragments(to, message_type, pool, Some(id), data.as_bytes())
        });
    }
}

/// This includes messages that name a pipeline or arrive with its fragments.
#[test]
fn a_malformed_message_of_the_pool_breaks_it() {
    for (target, names) in [(false, false), (false, true), (true, false), (true, true)] {
        for data in MALFORMED {
            let mut session = Session::opened();
            let id = session.run(with_input("$input"));
            let (pool, target) = (session.client.id(), target.then_some(id));
            let message =
                |to, message_type| fragments(to, message_type, pool, names.then_some(id), data.as_bytes());
            let state = message(Destination::Client, MessageType::RunspacePoolState);
            session.client.handle_input(Priority::Default, target, &state).unwrap_err();
            let set = message(Destination::Server, MessageType::SetMaxRunspaces);
            session.server.handle_input(Priority::Default, target, &set).unwrap_err();
            assert_eq!(session.states(), [RunspacePoolState::Broken; 2]);
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
        fragments(Destination::Server, MessageType::PipelineInput, session.client.id(), Some(id), b"<S>");
    session.server.handle_input(Priority::Default, None, &bytes).unwrap_err();
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert_eq!(session.server_pipeline(id).state(), PipelineState::Running);
}
