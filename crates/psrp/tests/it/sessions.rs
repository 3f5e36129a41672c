//! A client and a server in memory.

#![cfg(feature = "crypto")]

use psrp::client::{self, PipelineEvent};
use psrp::host::{HostRequest, HostResponse, HostResult};
use psrp::message::{
    Command, CreatePipeline, PipelineState, PipelineStateInfo, PowerShell, RunspacePoolState,
};
use psrp::outofproc::Packet;
use psrp::server;
use psrp::value::{SecureString, Value};
use uuid::Uuid;

use crate::session::{Session, with_input};

fn secret(value: &Value) -> Option<String> {
    match value {
        Value::SecureString(text) => text.reveal().map(|text| text.to_string()),
        _ => panic!("no secure string"),
    }
}

#[test]
fn secure_strings_start_the_key_exchange() {
    let mut session = Session::opened_with_key();
    let command = Command::new("Test").parameter("Secret", SecureString::new("to the server"));
    let mut create = CreatePipeline::new(PowerShell::new().command(command));
    create.no_input = false;
    let id = session.client.invoke(create).unwrap();
    // This message must not overtake the deferred one.
    session.client.pipeline(id).unwrap().send_input(1).unwrap();
    session.exchange();
    assert!(session.client.has_key() && session.server.has_key());
    let events = session.server_events();
    let [
        server::Event::KeyExchanged,
        server::Event::Pipeline { event: server::PipelineEvent::Start(start), .. },
        server::Event::Pipeline { event: server::PipelineEvent::Input(input), .. },
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    let client::PipelineRequest::Run(create) = start else { panic!() };
    let argument = &create.power_shell.statements().next().unwrap()[0].parameters[0].value;
    assert_eq!(secret(argument).unwrap(), "to the server");
    assert_eq!(input, &Value::from(1));

    let mut pipeline = session.server.pipeline(id).unwrap();
    pipeline.start().unwrap();
    pipeline.write_output(SecureString::new("to the client")).unwrap();
    session.exchange();
    let events = session.pipeline_events(id);
    let Some(PipelineEvent::Output(value)) = events.last() else { panic!("{events:?}") };
    assert_eq!(secret(value).unwrap(), "to the client");
}

#[test]
fn host_calls_are_responded_to_once() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("Test"));
    let mut pipeline = session.server.pipeline(id).unwrap();
    assert_eq!(pipeline.host_call(&HostRequest::WriteLine1).unwrap(), None);
    assert_eq!(pipeline.host_call(&HostRequest::ReadLine).unwrap(), Some(1));
    assert_eq!(session.server.host_call(&HostRequest::GetName).unwrap(), Some(2));
    session.exchange();
    for event in session.client_events() {
        let client::Event::HostCall { pipeline, call } = event else { continue };
        let response = HostResponse::new(&call, &HostResult::Text("answer".into()));
        if call.is_void() {
            assert!(session.client.respond(pipeline, response).unwrap_err().is_state());
        } else {
            session.client.respond(pipeline, response.clone()).unwrap();
            assert!(session.client.respond(pipeline, response).unwrap_err().is_state());
        }
    }
    session.exchange();
    let mut answers = Vec::new();
    for event in session.server_events() {
        if let server::Event::HostResponse { pipeline, response } = event {
            assert_eq!(response.result().unwrap(), HostResult::Text("answer".into()));
            answers.push((pipeline, response.call_id));
        }
    }
    answers.sort();
    assert_eq!(answers, [(None, 2), (Some(id), 1)]);
}

#[test]
fn a_stop_follows_the_creation() {
    let mut session = Session::opened();
    let id = session.client.invoke(PowerShell::script("x".repeat(1000))).unwrap();
    session.client.pipeline(id).unwrap().stop().unwrap();
    session.exchange();
    let events = session.server_events();
    let [
        server::Event::Pipeline { event: server::PipelineEvent::Start(_), .. },
        server::Event::Pipeline { event: server::PipelineEvent::Stop, .. },
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
}

#[test]
fn a_stop_drops_input_and_needs_no_state() {
    let mut session = Session::opened();
    let create = with_input("$input");
    let id = session.run(create);
    session.server_events();
    let mut buffer = Vec::new();
    let mut pipeline = session.client.pipeline(id).unwrap();
    pipeline.send_input("x".repeat(1000)).unwrap();
    let packet = session.client.poll_transmit(300, &mut buffer).unwrap();
    assert!(matches!(packet, Packet::Data { .. }));
    session.client.pipeline(id).unwrap().stop().unwrap();
    assert_eq!(session.client.pending_bytes(), 0);
    // The server may not acknowledge input that is not read.
    assert_eq!(session.client.poll_transmit(300, &mut buffer), Some(Packet::Signal(Some(id))));
    // The server acknowledges the signal without a state.
    session.client.handle_packet(Packet::SignalAck(Some(id))).unwrap();
    assert_eq!(session.client_state(id), PipelineState::Stopping);
    session.client.pipeline(id).unwrap().end_without_state().unwrap();
    let stopped = PipelineEvent::State(PipelineStateInfo::new(PipelineState::Stopped));
    assert_eq!(session.pipeline_events(id).last(), Some(&stopped));
    assert!(session.client.pipeline(id).unwrap().end_without_state().unwrap_err().is_state());
}

#[test]
fn a_close_waits_for_the_acknowledgement() {
    let mut session = Session::opened();
    let id = session.client.create_pipeline(PowerShell::script("1")).unwrap();
    let mut buffer = Vec::new();
    session.client.pipeline(id).unwrap().close().unwrap();
    assert_eq!(session.client.poll_transmit(300, &mut buffer), Some(Packet::Command(Some(id))));
    assert_eq!(session.client.poll_transmit(300, &mut buffer), None);
    session.client.handle_packet(Packet::CommandAck(Some(id))).unwrap();
    assert_eq!(session.client.poll_transmit(300, &mut buffer), Some(Packet::Close(Some(id))));
}

#[test]
fn input_is_sent_in_a_separate_packet_from_the_creation() {
    let mut session = Session::opened();
    let create = with_input("$input");
    for (is_stopped, expected) in [(false, &[false, true, true][..]), (true, &[false, true, false])] {
        let id = session.client.invoke(create.clone()).unwrap();
        session.client.pipeline(id).unwrap().end_input().unwrap();
        if is_stopped {
            session.client.pipeline(id).unwrap().stop().unwrap();
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
fn clients_do_not_acknowledge() {
    let mut session = Session::opened();
    assert!(session.server.handle_packet(Packet::DataAck(None)).unwrap_err().is_protocol());
    assert_eq!(session.server.state(), RunspacePoolState::Broken);
    assert!(session.client.handle_packet(Packet::Command(None)).unwrap_err().is_protocol());
    assert_eq!(session.client.state(), RunspacePoolState::Broken);
    assert!(session.client.close().unwrap_err().is_state());
}

#[test]
fn packets_of_unknown_pipelines_are_dropped() {
    let mut session = Session::opened();
    let target = Some(Uuid::new_v4());
    let packet = Packet::Data { target, priority: psrp::fragment::Priority::Default, data: b"anything" };
    session.client.handle_packet(packet).unwrap();
    session.server.handle_packet(packet).unwrap();
    let mut buffer = Vec::new();
    assert_eq!(session.server.poll_transmit(300, &mut buffer), Some(Packet::DataAck(target)));
}
