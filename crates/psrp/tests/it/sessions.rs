//! A client and a server in memory.

#![cfg(feature = "crypto")]

use psrp::client::{self, PipelineEvent};
use psrp::host::{HostRequest, HostResponse, HostResult};
use psrp::message::{
    Availability, Command, CreatePipeline, GetCommandMetadata, PipelineState, PipelineStateInfo, PowerShell,
    RunspacePoolState, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord, InformationalRecord};
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
fn all_streams_arrive_in_order() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("Test"));
    let mut pipeline = session.server.pipeline(id).unwrap();
    pipeline.write_output("out").unwrap();
    pipeline.write_output(Value::Nil).unwrap();
    pipeline.write_error(ErrorRecord::new("bad", ErrorCategory::InvalidData)).unwrap();
    pipeline.write_debug(InformationalRecord::new("debug")).unwrap();
    pipeline.write_verbose(InformationalRecord::new("verbose")).unwrap();
    pipeline.write_warning(InformationalRecord::new("warning")).unwrap();
    pipeline.complete().unwrap();
    assert!(pipeline.write_output("late").unwrap_err().is_state());
    session.exchange();
    let events = session.pipeline_events(id);
    assert!(matches!(&events[0], PipelineEvent::State(info) if info.state == PipelineState::Running));
    assert_eq!(events[1..3], [PipelineEvent::Output("out".into()), PipelineEvent::Output(Value::Nil)]);
    assert!(matches!(&events[3], PipelineEvent::Error(record) if *record.message().unwrap() == "bad"));
    assert!(matches!(&events[4], PipelineEvent::Debug(_)));
    assert!(matches!(&events[5], PipelineEvent::Verbose(_)));
    assert!(matches!(&events[6], PipelineEvent::Warning(_)));
    assert!(matches!(&events[7], PipelineEvent::State(info) if info.state == PipelineState::Completed));
    assert_eq!(events.len(), 8);

    assert!(session.client.close().unwrap_err().is_state(), "there is a pipeline");
    session.client.pipeline(id).unwrap().close().unwrap();
    session.exchange();
    assert_eq!((session.client.pipelines().len(), session.server.pipelines().len()), (0, 0));
    session.client.close().unwrap();
    session.exchange();
    assert_eq!(session.client.state(), RunspacePoolState::Closed);
    assert_eq!(session.server.state(), RunspacePoolState::Closed);
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
fn the_server_requests_the_key() {
    let mut session = Session::opened_with_key();
    let id = session.run(PowerShell::script("Test"));
    let mut pipeline = session.server.pipeline(id).unwrap();
    pipeline.write_output(SecureString::new("secret")).unwrap();
    pipeline.write_output("after").unwrap();
    session.exchange();
    let events = session.pipeline_events(id);
    let [.., PipelineEvent::Output(first), PipelineEvent::Output(second)] = &events[..] else { panic!() };
    assert_eq!(secret(first).unwrap(), "secret");
    assert_eq!(second, &"after");
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
fn stopping_a_pipeline_leaves_others_running() {
    let mut session = Session::opened();
    let [first, second] = [session.run(PowerShell::script("1")), session.run(PowerShell::script("2"))];
    session.client.pipeline(first).unwrap().stop().unwrap();
    session.exchange();
    let stop = server::Event::Pipeline { id: first, event: server::PipelineEvent::Stop };
    assert!(session.server_events().contains(&stop));
    session.server.pipeline(first).unwrap().stop().unwrap();
    session.server.pipeline(second).unwrap().write_output(2).unwrap();
    session.exchange();
    let events = session.client_events();
    let output = PipelineEvent::Output(2.into());
    assert!(events.contains(&client::Event::Pipeline { id: second, event: output }));
    let states: Vec<_> = [first, second].map(|id| session.client.pipeline(id).unwrap().state()).into();
    assert_eq!(states, [PipelineState::Stopped, PipelineState::Running]);
    assert!(session.client.pipeline(first).unwrap().stop().unwrap_err().is_state());
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
fn pool_requests_are_responded_to() {
    let mut session = Session::opened();
    let set = session.client.set_max_runspaces(4).unwrap().unwrap();
    let refused = session.client.set_max_runspaces(9).unwrap().unwrap();
    let get = session.client.get_available_runspaces().unwrap();
    let reset = session.client.reset_runspace_state().unwrap();
    session.exchange();
    assert!(session.server.respond(get, Availability::Accepted(true)).unwrap_err().is_state());
    session.server.respond(set, Availability::Accepted(true)).unwrap();
    session.server.respond(refused, Availability::Accepted(false)).unwrap();
    session.server.respond(get, Availability::Count(4)).unwrap();
    session.server.respond(reset, Availability::Accepted(true)).unwrap();
    assert!(session.server.respond(reset, Availability::Accepted(true)).unwrap_err().is_state());
    let event = UserEvent { event_identifier: 7, ..UserEvent::default() };
    session.server.send_event(event.clone()).unwrap();
    session.exchange();
    assert_eq!((session.client.max_runspaces(), session.server.max_runspaces()), (4, 4));
    let events = session.client_events();
    assert_eq!(events.len(), 5);
    assert_eq!(events[4], client::Event::UserEvent(Box::new(event)));
}

#[test]
fn a_pipeline_lists_commands() {
    let mut session = Session::opened();
    let get = GetCommandMetadata::new(["Get-*"]);
    let id = session.client.invoke(get.clone()).unwrap();
    session.exchange();
    let start = server::PipelineEvent::Start(get.into());
    assert_eq!(session.server_events(), [server::Event::Pipeline { id, event: start }]);
}

#[test]
fn a_broken_pool_fails_its_pipelines() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("1"));
    session.server.set_broken(ErrorRecord::new("gone", ErrorCategory::ResourceUnavailable)).unwrap();
    session.exchange();
    assert_eq!(session.client.state(), RunspacePoolState::Broken);
    let events = session.pipeline_events(id);
    let Some(PipelineEvent::State(info)) = events.last() else { panic!("{events:?}") };
    assert_eq!(info.state, PipelineState::Failed);
    assert_eq!(info.error.as_ref().unwrap().message().unwrap(), &"gone");
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
