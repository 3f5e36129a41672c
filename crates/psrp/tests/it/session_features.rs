//! Features of a session of a client and a server in memory.

use psrp::client::{self, Event, PipelineEvent};
use psrp::fragment::Priority;
use psrp::host::{HostCall, HostRequest, HostResponse, HostResult};
use psrp::message::{
    ApplicationPrivateData, Availability, Command, CreatePipeline, GetCommandMetadata, InitRunspacePool,
    Payload, PipelineState, PipelineStateInfo, PowerShell, PrimitiveDictionary, RunspacePoolState, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord, InformationRecord};
use psrp::server::{self, PoolRequest};
use psrp::value::Object;
use uuid::Uuid;

use crate::session::{Session, with_input};

const BROKEN: [RunspacePoolState; 2] = [RunspacePoolState::Broken; 2];
const DISCONNECTED: [RunspacePoolState; 2] = [RunspacePoolState::Disconnected; 2];

impl Session {
    /// Returns the host calls among the events of the client.
    fn calls(&mut self) -> Vec<HostCall> {
        let calls = self.client_events().into_iter().filter_map(|event| match event {
            Event::HostCall { call, .. } => Some(call),
            _ => None,
        });
        calls.collect()
    }
}

#[test]
fn a_failed_startup_script_breaks_the_pool() {
    let mut session = Session::new();
    session.client.open().unwrap();
    let error = ErrorRecord::new("startup says no", ErrorCategory::OperationStopped);
    let info = PipelineStateInfo { state: PipelineState::Failed, error: Some(Box::new(error)) };
    let payload = Payload::PipelineState(info);
    session.client_receives(None, &payload).unwrap();
    assert_eq!(session.client_log(), "pool Broken: OperationStopped");

    // In an open pool, the state of an unknown pipeline is a violation.
    assert!(Session::opened().client_receives(None, &payload).unwrap_err().is_protocol());
}

#[test]
fn nested_pipelines_run() {
    let mut session = Session::opened();
    let outer = session.run(PowerShell::script("Wait-Debugger"));
    session.drop_events();
    let call = session.server_pipeline(outer).host_call(&HostRequest::EnterNestedPrompt).unwrap();
    assert_eq!(call, None, "nothing is answered");
    session.exchange();
    assert_eq!(session.client_log(), "a call EnterNestedPrompt");

    let mut shell = PowerShell::script("$x");
    shell.is_nested = true;
    let inner = session.client.invoke(CreatePipeline::new(shell)).unwrap();
    session.exchange();
    let events = session.server_events();
    let [server::Event::Pipeline { id, event: server::PipelineEvent::Start(start) }] = &events[..] else {
        panic!("{events:?}")
    };
    let client::PipelineRequest::Run(create) = start else { panic!("{start:?}") };
    assert!(create.is_nested && create.power_shell.is_nested);
    assert_eq!(*id, inner);
    let mut pipeline = session.server_pipeline(inner);
    pipeline.start().unwrap();
    pipeline.write_output("inner").unwrap();
    pipeline.complete().unwrap();
    session.server_pipeline(outer).host_call(&HostRequest::ExitNestedPrompt).unwrap();
    session.server_pipeline(outer).complete().unwrap();
    session.exchange();
    assert_eq!(session.outputs(inner), ["inner"]);
    for id in [inner, outer] {
        assert_eq!(session.states_of(id), [PipelineState::Completed; 2]);
        session.close(id);
    }
}

#[test]
fn command_metadata_has_no_input() {
    let mut session = Session::opened();
    let id = session.run(GetCommandMetadata::new(["Get-*"]));
    assert!(session.client_pipeline(id).send_input(1).unwrap_err().is_state());
    assert_eq!(session.server_log(), "a commands [\"Get-*\"]");
}

#[test]
fn applications_exchange_private_data() {
    let application_arguments = Some(PrimitiveDictionary::new([("from", "client")]));
    let init = InitRunspacePool { application_arguments, ..InitRunspacePool::default() };
    let data = ApplicationPrivateData { data: Some(PrimitiveDictionary::new([("from", "server")])) };
    let server = server::Config::new().application_private_data(data.clone());
    let mut session = Session::with(client::Config::new().init(init.clone()), server);
    session.client.open().unwrap();
    session.exchange();
    assert!(session.server_events().contains(&server::Event::Opened(Box::new(init))));
    assert!(session.client_events().contains(&Event::ApplicationPrivateData(data.clone())));
    assert_eq!(session.client.application_private_data(), Some(&data));
    let event = UserEvent {
        event_identifier: 3,
        source_identifier: Some("timer".into()),
        message_data: Object::custom([("tick", 1)]).into(),
        ..UserEvent::default()
    };
    session.server.send_event(event.clone()).unwrap();
    session.exchange();
    assert_eq!(session.client_events(), [Event::UserEvent(Box::new(event))]);
}

#[test]
fn runspace_counts_change_when_accepted() {
    let mut session = Session::new();
    // Before opening, no request is needed.
    assert_eq!(session.client.set_max_runspaces(5).unwrap(), None);
    assert_eq!(session.client.set_min_runspaces(2).unwrap(), None);
    assert!(session.client.set_min_runspaces(6).unwrap_err().is_state());
    assert!(session.client.get_available_runspaces().unwrap_err().is_state());
    let mut session = session.open();
    assert_eq!((session.server.min_runspaces(), session.server.max_runspaces()), (2, 5));

    assert_eq!(session.client.set_max_runspaces(5).unwrap(), None, "that is what it is");
    let min = session.client.set_min_runspaces(3).unwrap().unwrap();
    let refused = session.client.set_max_runspaces(9).unwrap().unwrap();
    let available = session.client.get_available_runspaces().unwrap();
    let reset = session.client.reset_runspace_state().unwrap();
    session.exchange();
    let request = |call_id, request| server::Event::Request { call_id, request };
    let expected = [
        request(min, PoolRequest::SetMinRunspaces(3)),
        request(refused, PoolRequest::SetMaxRunspaces(9)),
        request(available, PoolRequest::GetAvailableRunspaces),
        request(reset, PoolRequest::ResetRunspaceState),
    ];
    assert_eq!(session.server_events(), expected);
    // In any order.
    let answers = [
        (reset, Availability::Accepted(true)),
        (available, Availability::Count(5)),
        (refused, Availability::Accepted(false)),
        (min, Availability::Accepted(true)),
    ];
    for (call_id, availability) in answers {
        session.server.respond(call_id, availability).unwrap();
    }
    session.exchange();
    let expected = answers.map(|(call_id, availability)| Event::RequestCompleted { call_id, availability });
    assert_eq!(session.client_events(), expected);
    assert_eq!((session.client.min_runspaces(), session.client.max_runspaces()), (3, 5));
    assert_eq!((session.server.min_runspaces(), session.server.max_runspaces()), (3, 5));
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
    let record = InformationRecord::new("new");
    assert!(session.server_pipeline(id).write_information(record).unwrap_err().is_state());
}

#[test]
fn pipelines_of_a_disconnected_pool_continue() {
    let mut session = Session::opened();
    let id = session.run(with_input("$input"));
    session.server_pipeline(id).host_call(&HostRequest::ReadLine).unwrap();
    session.exchange();
    let calls = session.calls();
    session.client.disconnect().unwrap();
    session.server.disconnect().unwrap();
    assert_eq!(session.states(), DISCONNECTED);
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
    let response = HostResponse::new(&calls[0], &HostResult::Text("typed".into()));
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
fn requests_of_a_previous_connection_are_cancelled() {
    let mut session = Session::opened();
    let requests =
        [session.client.get_available_runspaces().unwrap(), session.client.reset_runspace_state().unwrap()];
    session.exchange();
    session.client.disconnect().unwrap();
    session.server.disconnect().unwrap();
    session.client.connect().unwrap();
    let forgotten = requests.map(|call_id| Event::RequestCancelled { call_id });
    assert_eq!(session.client_events(), forgotten);
    session.exchange();
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
    assert!(session.server.respond(requests[0], Availability::Count(1)).is_err());
    let call_id = session.client.get_available_runspaces().unwrap();
    session.exchange();
    session.drop_events();
    session.server.respond(call_id, Availability::Count(1)).unwrap();
    session.exchange();
    let completed = Event::RequestCompleted { call_id, availability: Availability::Count(1) };
    assert_eq!(session.client_events(), [completed]);
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
    assert!(session.server.poll_transmit(300, &mut buffer).is_some());
    session.server.disconnect().unwrap();
    session.server_pipeline(id).write_output("meanwhile").unwrap();

    // A client that connects to another pool leaves this one unchanged.
    session.client = client::RunspacePool::new(client::Config::new().pool_id(Uuid::new_v4()));
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
    let events = session.server_events();
    let [server::Event::Pipeline { event: server::PipelineEvent::Closed, .. }, server::Event::Broken(reason)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(*reason.message().unwrap(), *error.to_string());
    session.send_to_client().unwrap();
    assert_eq!(session.states(), BROKEN);
    let events = session.client_events();
    let [Event::Pipeline { event: PipelineEvent::State(pipeline), .. }, Event::State(pool)] = &events[..]
    else {
        panic!("{events:?}")
    };
    for record in [&pipeline.error, &pool.error] {
        assert_eq!(*record.as_ref().unwrap().message().unwrap(), *error.to_string());
    }
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
    let calls = session.calls();
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
