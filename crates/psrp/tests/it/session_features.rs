//! Features of a session of a client and a server in memory.

use psrp::client::{self, Event};
use psrp::fragment::Priority;
use psrp::host::{HostCall, HostRequest, HostResponse, HostResult};
use psrp::message::{
    Availability, Command, GetCommandMetadata, Payload, PipelineState, PowerShell, RunspacePoolState,
    UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord, InformationRecord};
use psrp::server;
use uuid::Uuid;

use crate::session::{Session, client_event, server_event, with_input};

fn message(record: &ErrorRecord) -> String {
    record.message().unwrap().to_string()
}

#[test]
fn command_metadata_has_no_input() {
    let mut session = Session::opened();
    let id = session.run(GetCommandMetadata::new(["Get-*"]));
    assert!(session.client_pipeline(id).send_input(1).unwrap_err().is_state());
    assert_eq!(session.server_log(), "a commands [\"Get-*\"]");
}

#[test]
fn old_peers_get_only_supported_requests() {
    let mut session = Session::of_versions(4, 0);
    assert!(session.client.reset_runspace_state().unwrap_err().is_state());
    assert!(session.client.invoke(GetCommandMetadata::new(["*"])).unwrap_err().is_unwritable());
    let two = PowerShell::script("1").statement().command(Command::script("2"));
    assert!(session.client.invoke(two).unwrap_err().is_unwritable());
    assert_eq!(session.client.pipelines().len(), 0);

    let mut session = Session::of_versions(0, 4);
    let id = session.run(PowerShell::script("1"));
    let record = Payload::InformationRecord(Box::new(InformationRecord::new("new")));
    assert!(session.server_pipeline(id).write_record(&record).unwrap_err().is_state());
    assert!(session.server_pipeline(id).write_record(&Payload::PublicKeyRequest).unwrap_err().is_state());
}

#[test]
fn pipelines_of_a_disconnected_pool_continue() {
    let mut session = Session::opened();
    let id = session.run(with_input("$input"));
    session.server_pipeline(id).host_call(&HostRequest::ReadLine).unwrap();
    session.exchange();
    session.client_events();
    session.client.disconnect().unwrap();
    session.server.disconnect().unwrap();
    assert_eq!(session.states(), [RunspacePoolState::Disconnected; 2]);
    assert_eq!(session.states_of(id), [PipelineState::Disconnected, PipelineState::Running]);

    let mut pipeline = session.client_pipeline(id);
    for result in [pipeline.send_input(1), pipeline.stop(), pipeline.close(), pipeline.reconnect()] {
        let error = result.unwrap_err();
        assert!(error.to_string().ends_with("the pool is Disconnected"), "{error}");
    }
    session.server_pipeline(id).write_output("meanwhile").unwrap();
    session.server.send_event(UserEvent::default()).unwrap();
    session.exchange();
    assert_eq!(session.client_log(), "");
    assert!(session.server.pending_bytes() > 0);

    session.client.reconnect().unwrap();
    session.server.reconnect().unwrap();
    assert_eq!(session.states_of(id), [PipelineState::Running; 2]);
    let call = HostCall::new(1, &HostRequest::ReadLine);
    let response = HostResponse::new(&call, &HostResult::Text("typed".into()));
    session.client.respond(Some(id), response).unwrap();
    session.client_pipeline(id).send_input(2).unwrap();
    session.exchange();
    let received = session.client_log();
    assert!(received.contains("event 0") && received.contains("a String(\"meanwhile\")"), "{received}");
    assert_eq!(session.server_log(), "a run $input | a Text(\"typed\") | a Input(Int32(2))");
    assert!(session.client.reconnect().unwrap_err().is_state());
    assert!(session.server.reconnect().unwrap_err().is_state());
}

#[test]
fn another_client_connects_to_a_pool() {
    let mut session = Session::with(client::Config::new().runspaces(1..=4), server::Config::new()).open();
    let id = session.run(PowerShell::script("long"));
    session.client.get_available_runspaces().unwrap();
    session.exchange();
    session.drop_events();

    // The first client disappears in the middle of a message.
    session.server_pipeline(id).write_output("x".repeat(1000)).unwrap();
    let mut buffer = Vec::new();
    let packet = session.server.poll_transmit(300, &mut buffer).unwrap();
    session.client.handle_packet(packet).unwrap();
    session.client.handle_end();
    let last = client_event(session.client_events().pop().unwrap(), message);
    assert_eq!(last.1, "pool Broken: the connection has ended within a message");
    session.server.disconnect().unwrap();
    session.server_pipeline(id).write_output("meanwhile").unwrap();

    // A client that connects to another pool leaves this one unchanged.
    session.client = client::ClientPool::new(client::Config::new().pool_id(Uuid::new_v4()));
    session.client.connect().unwrap();
    assert!(session.send_to_server().unwrap_err().is_protocol());
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert_eq!(session.server_pipeline(id).state(), PipelineState::Running);
    assert!(session.server.poll_transmit(300, &mut buffer).is_none());

    session.change_client(client::Config::new());
    assert_eq!(session.client.state(), RunspacePoolState::Connecting);
    session.exchange();
    assert_eq!(session.states(), [RunspacePoolState::Opened; 2]);
    assert_eq!(session.client.max_runspaces(), 4);
    assert!(session.client.application_private_data().is_some());
    let events = session.server_log();
    assert!(events.contains("connected"), "{events}");

    // The output of the pipeline waits for a client that connects to it.
    assert!(!session.server_pipeline(id).is_connected());
    assert!(session.server_pipeline(id).pending_bytes() > 0);
    session.drop_events();
    session.client.connect_pipeline(id).unwrap();
    session.server_pipeline(id).connect().unwrap();
    session.server_pipeline(id).complete().unwrap();
    session.exchange();
    // A message whose start was lost is skipped.
    assert_eq!(session.client_log(), "a String(\"meanwhile\") | a Completed");

    // Request identifiers start again.
    let call_id = session.client.get_available_runspaces().unwrap();
    session.exchange();
    session.server.respond(call_id, Availability::Count(4)).unwrap();
    session.exchange();
    assert_eq!(session.client_log(), "Count(4)");
}

#[test]
fn a_connection_lost_while_connecting_has_no_effect() {
    let mut session = Session::opened();
    session.server.disconnect().unwrap();
    session.change_client(client::Config::new());
    let mut buffer = Vec::new();
    // Only a part of the capabilities.
    let packet = session.client.poll_transmit(100, &mut buffer).unwrap();
    session.server.handle_packet(packet).unwrap();
    assert_eq!(session.server.state(), RunspacePoolState::Connecting);
    assert!(session.server.reconnect().unwrap_err().is_state());
    session.server.disconnect().unwrap();
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert!(session.server.peer().is_some());
    session.change_client(client::Config::new());
    session.exchange();
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
}

#[test]
fn the_client_is_notified_why_the_server_broke() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("1"));
    session.server_pipeline(id).write_output("lost").unwrap();
    session.drop_events();
    // Clients do not acknowledge.
    let error = session.server.handle_packet(Packet::DataAck(None)).unwrap_err();
    assert!(error.is_protocol());
    let events = session.server_events().into_iter().map(|event| server_event(event, message).1);
    assert_eq!(events.collect::<Vec<_>>(), ["Closed".to_owned(), format!("Broken: {error}")]);
    session.send_to_client().unwrap();
    assert_eq!(session.states(), [RunspacePoolState::Broken; 2]);
    let events = session.client_events().into_iter().map(|event| client_event(event, message).1);
    assert_eq!(events.collect::<Vec<_>>(), [format!("Failed: {error}"), format!("pool Broken: {error}")]);
    assert!(session.server.set_broken(ErrorRecord::new("again", ErrorCategory::CloseError)).is_ok());
    assert!(session.server.poll_transmit(300, &mut Vec::new()).is_none(), "the client knows");
}

#[test]
fn host_calls_are_responded_to_once() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("Test"));
    session.drop_events();
    let mut pipeline = session.server_pipeline(id);
    assert_eq!(pipeline.host_call(&HostRequest::WriteLine1).unwrap(), None);
    assert_eq!(pipeline.host_call(&HostRequest::ReadLine).unwrap(), Some(1));
    assert_eq!(session.server.host_call(&HostRequest::GetName).unwrap(), Some(2));
    session.exchange();
    let calls = session.client_events().into_iter().filter_map(|event| match event {
        Event::HostCall { call, .. } => Some(call),
        _ => None,
    });
    let calls = calls.collect::<Vec<_>>();
    assert_eq!(calls.len(), 3);
    for call in calls {
        let pipeline = (call.call_id != 2).then_some(id);
        let response = HostResponse::new(&call, &HostResult::Text(format!("{:?}", call.method).into()));
        if call.is_void() {
            assert!(session.client.respond(pipeline, response).unwrap_err().is_state());
        } else {
            session.client.respond(pipeline, response.clone()).unwrap();
            assert!(session.client.respond(pipeline, response).unwrap_err().is_state());
        }
    }
    session.exchange();
    let answers = session.server_log();
    let mut answers: Vec<_> = answers.split(" | ").collect();
    answers.sort_unstable();
    assert_eq!(answers, ["Text(\"GetName\")", "a Text(\"ReadLine\")"]);
}

#[test]
fn a_stop_follows_the_creation() {
    let mut session = Session::opened();
    let id = session.client.invoke(PowerShell::script("x; ".repeat(1000))).unwrap();
    session.client_pipeline(id).stop().unwrap();
    session.exchange();
    assert_eq!(session.server_log(), "a run x | a Stop");
}

#[test]
fn a_stop_drops_input_and_needs_no_state() {
    let mut session = Session::opened();
    let id = session.run(with_input("$input"));
    session.drop_events();
    let mut buffer = Vec::new();
    session.client_pipeline(id).send_input("x".repeat(1000)).unwrap();
    let packet = session.client.poll_transmit(300, &mut buffer).unwrap();
    assert!(matches!(packet, Packet::Data { .. }));
    session.client_pipeline(id).stop().unwrap();
    assert_eq!(session.client.pending_bytes(), 0);
    // The server may not acknowledge input that is not read.
    assert_eq!(session.client.poll_transmit(300, &mut buffer), Some(Packet::Signal(Some(id))));
    // The server acknowledges the signal without a state.
    session.client.handle_packet(Packet::SignalAck(Some(id))).unwrap();
    assert_eq!(session.client_pipeline(id).state(), PipelineState::Stopping);
    session.client_pipeline(id).end_without_state().unwrap();
    assert_eq!(session.client_log(), "a Stopped");
    assert!(session.client_pipeline(id).end_without_state().unwrap_err().is_state());
}

#[test]
fn a_close_waits_for_the_acknowledgement() {
    let mut session = Session::opened();
    let id = session.client.create_pipeline(PowerShell::script("1")).unwrap();
    let mut buffer = Vec::new();
    session.client_pipeline(id).close().unwrap();
    assert_eq!(session.client.poll_transmit(300, &mut buffer), Some(Packet::Command(Some(id))));
    assert_eq!(session.client.poll_transmit(300, &mut buffer), None);
    session.client.handle_packet(Packet::CommandAck(Some(id))).unwrap();
    assert_eq!(session.client.poll_transmit(300, &mut buffer), Some(Packet::Close(Some(id))));
}

#[test]
fn input_is_sent_in_a_separate_packet_from_the_creation() {
    let mut session = Session::opened();
    for (is_stopped, expected) in [(false, &[false, true, true][..]), (true, &[false, true, false])] {
        let id = session.client.invoke(with_input("$input")).unwrap();
        session.client_pipeline(id).end_input().unwrap();
        if is_stopped {
            session.client_pipeline(id).stop().unwrap();
        }
        let (mut buffer, mut are_data) = (Vec::new(), Vec::new());
        while let Some(packet) = session.client.poll_transmit(100_000, &mut buffer) {
            are_data.push(matches!(packet, Packet::Data { .. }));
            session.client.handle_packet(Packet::CommandAck(Some(id))).unwrap();
            session.client.handle_packet(Packet::DataAck(Some(id))).unwrap();
        }
        assert_eq!(are_data, expected);
    }
}

#[test]
fn servers_send_no_commands() {
    let mut session = Session::opened();
    assert!(session.client.handle_packet(Packet::Command(None)).unwrap_err().is_protocol());
    assert_eq!(session.client.state(), RunspacePoolState::Broken);
    assert!(session.client.close().unwrap_err().is_state());
}

#[test]
fn packets_of_unknown_pipelines_are_dropped() {
    let mut session = Session::opened();
    let target = Some(Uuid::new_v4());
    let packet = Packet::Data { target, priority: Priority::Default, data: b"anything" };
    session.client.handle_packet(packet).unwrap();
    session.server.handle_packet(packet).unwrap();
    assert_eq!(session.server.poll_transmit(300, &mut Vec::new()), Some(Packet::DataAck(target)));
}
