//! Session features beyond a single pipeline.

use psrp::client::{self, Event, PipelineEvent};
use psrp::fragment::Priority;
use psrp::host::{HostRequest, HostResponse, HostResult};
use psrp::message::{
    ApplicationPrivateData, Availability, Command, CommandMetadata, CreatePipeline, Destination,
    GetCommandMetadata, InitRunspacePool, Payload, PipelineState, PipelineStateInfo, PowerShell,
    PrimitiveDictionary, RunspacePoolState, RunspacePoolStateInfo, SessionCapability, UserEvent,
};
use psrp::record::{ErrorCategory, ErrorRecord, InformationRecord};
use psrp::server::{self, PoolRequest};
use psrp::value::{Object, Value, Version};
use uuid::Uuid;

use crate::session::{Session, fragment, with_input};

fn outputs(events: Vec<PipelineEvent>) -> Vec<Value> {
    events
        .into_iter()
        .filter_map(|event| match event {
            PipelineEvent::Output(value) => Some(value),
            _ => None,
        })
        .collect()
}

#[test]
fn a_failed_startup_script_breaks_the_pool() {
    let mut client = client::RunspacePool::new(client::Config::new());
    client.open().unwrap();
    let error = ErrorRecord::new("startup says no", ErrorCategory::OperationStopped);
    let info = PipelineStateInfo { state: PipelineState::Failed, error: Some(Box::new(error.clone())) };
    let payload = Payload::PipelineState(info);
    let bytes = fragment(Destination::Client, client.id(), None, &payload);
    client.handle_input(Priority::Default, None, &bytes).unwrap();
    let expected = RunspacePoolStateInfo { state: RunspacePoolState::Broken, error: Some(Box::new(error)) };
    assert_eq!(client.poll_event(), Some(Event::State(expected)));

    // In an open pool, the state of an unknown pipeline is a violation.
    let mut session = Session::opened();
    let bytes = fragment(Destination::Client, session.client.id(), None, &payload);
    assert!(session.client.handle_input(Priority::Default, None, &bytes).unwrap_err().is_protocol());
}

#[test]
fn nested_pipelines_run() {
    let mut session = Session::opened();
    let outer = session.run(PowerShell::script("Wait-Debugger"));
    let call = session.server.pipeline(outer).unwrap().host_call(&HostRequest::EnterNestedPrompt).unwrap();
    assert_eq!(call, None, "nothing is answered");
    session.exchange();
    let events = session.client_events();
    let Some(Event::HostCall { pipeline: Some(from), call }) = events.last() else { panic!("{events:?}") };
    assert_eq!((*from, call.request().unwrap()), (outer, HostRequest::EnterNestedPrompt));

    let mut shell = PowerShell::script("$x");
    shell.is_nested = true;
    let inner = session.client.invoke(CreatePipeline::new(shell)).unwrap();
    session.exchange();
    let events = session.server_events();
    let Some(server::Event::Pipeline { id, event: server::PipelineEvent::Start(start) }) = events.last()
    else {
        panic!("{events:?}")
    };
    let client::PipelineRequest::Run(create) = start else { panic!("{start:?}") };
    assert!(create.is_nested && create.power_shell.is_nested);
    assert_eq!(*id, inner);
    let mut pipeline = session.server.pipeline(inner).unwrap();
    pipeline.start().unwrap();
    pipeline.write_output("inner").unwrap();
    pipeline.complete().unwrap();
    session.server.pipeline(outer).unwrap().host_call(&HostRequest::ExitNestedPrompt).unwrap();
    session.server.pipeline(outer).unwrap().complete().unwrap();
    session.exchange();
    assert_eq!(outputs(session.pipeline_events(inner)), ["inner"]);
    for id in [inner, outer] {
        assert_eq!(session.client_state(id), PipelineState::Completed);
        session.client.pipeline(id).unwrap().close().unwrap();
    }
    session.exchange();
    assert_eq!((session.client.pipelines().len(), session.server.pipelines().len()), (0, 0));
}

#[test]
fn concurrent_pipelines_run() {
    let mut session = Session::opened();
    let ids: Vec<_> = (0..10).map(|number| session.run(PowerShell::script(number.to_string()))).collect();
    for round in 0..20 {
        for (number, id) in ids.iter().enumerate() {
            session.server.pipeline(*id).unwrap().write_output(format!("{number} {round}")).unwrap();
        }
    }
    for id in &ids {
        session.server.pipeline(*id).unwrap().complete().unwrap();
    }
    session.exchange();
    let mut received = vec![Vec::new(); ids.len()];
    for event in session.client_events() {
        if let Event::Pipeline { id, event: PipelineEvent::Output(value) } = event {
            received[ids.iter().position(|known| *known == id).unwrap()].push(value);
        }
    }
    for (number, outputs) in received.into_iter().enumerate() {
        let expected: Vec<_> = (0..20).map(|round| Value::from(format!("{number} {round}"))).collect();
        assert_eq!(outputs, expected);
    }
    assert!(session.client.pipelines().all(|(_, state)| state == PipelineState::Completed));
}

#[test]
fn command_metadata_is_output() {
    let mut session = Session::opened();
    let id = session.run(GetCommandMetadata::new(["Get-*"]));
    assert!(session.client.pipeline(id).unwrap().send_input(1).unwrap_err().is_state(), "it has no input");
    let mut pipeline = session.server.pipeline(id).unwrap();
    let count = "Selected.Microsoft.PowerShell.Commands.GenericMeasureInfo";
    pipeline.write_output(Object::builder().type_names([count]).extended("Count", 2).build()).unwrap();
    for name in ["Get-Date", "Get-Item"] {
        let command = Object::builder()
            .extended("Name", name)
            .extended("Namespace", "Microsoft.PowerShell.Utility")
            .extended("HelpUri", Value::Nil)
            .extended("CommandType", 8)
            .extended("ResolvedCommandName", Value::Nil)
            .extended("OutputType", Object::list(["System.Object"]))
            .extended("Parameters", Object::dictionary::<Value, Value>([]));
        pipeline.write_output(command.build()).unwrap();
    }
    pipeline.complete().unwrap();
    session.exchange();
    let outputs = outputs(session.pipeline_events(id));
    assert_eq!(GetCommandMetadata::count(&outputs[0]).unwrap(), 2);
    let names: Vec<_> = outputs[1..]
        .iter()
        .map(|value| CommandMetadata::from_value(value).unwrap().name.to_string())
        .collect();
    assert_eq!(names, ["Get-Date", "Get-Item"]);
    assert_eq!(session.client_state(id), PipelineState::Completed);
}

#[test]
fn applications_exchange_private_data() {
    let init = InitRunspacePool {
        application_arguments: Some(PrimitiveDictionary::new([("from", "client")])),
        ..InitRunspacePool::default()
    };
    let data = ApplicationPrivateData { data: Some(PrimitiveDictionary::new([("from", "server")])) };
    let mut session = Session::with(
        client::Config::new().init(init.clone()),
        server::Config::new().application_private_data(data.clone()),
    );
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
    for (min, max) in [
        (session.client.min_runspaces(), session.client.max_runspaces()),
        (session.server.min_runspaces(), session.server.max_runspaces()),
    ] {
        assert_eq!((min, max), (3, 5));
    }
}

#[test]
fn old_peers_get_only_supported_requests() {
    let old = SessionCapability { protocol_version: Version::new(2, 0), ..SessionCapability::default() };
    let mut session =
        Session::with(client::Config::new(), server::Config::new().capability(old.clone())).open();
    assert!(session.client.reset_runspace_state().unwrap_err().is_state());
    assert!(session.client.invoke(GetCommandMetadata::new(["*"])).unwrap_err().is_unwritable());
    let two = PowerShell::script("1").statement().command(Command::script("2"));
    assert!(session.client.invoke(two).unwrap_err().is_unwritable());
    assert_eq!(session.client.pipelines().len(), 0);

    let mut session = Session::with(client::Config::new().capability(old), server::Config::new()).open();
    let id = session.run(PowerShell::script("1"));
    let record = InformationRecord::new("new");
    let error = session.server.pipeline(id).unwrap().write_information(record).unwrap_err();
    assert!(error.is_state());
}

#[test]
fn pipelines_of_a_disconnected_pool_continue() {
    let mut session = Session::opened();
    let create = with_input("$input");
    let id = session.run(create);
    session.server.pipeline(id).unwrap().host_call(&HostRequest::ReadLine).unwrap();
    session.exchange();
    let events = session.pipeline_calls();
    session.client.disconnect().unwrap();
    session.server.disconnect().unwrap();
    assert_eq!(session.client.state(), RunspacePoolState::Disconnected);
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert_eq!(session.client_state(id), PipelineState::Disconnected);
    assert_eq!(session.server_state(id), PipelineState::Running, "it runs all the same");

    let mut pipeline = session.client.pipeline(id).unwrap();
    for error in [
        pipeline.send_input(1).unwrap_err(),
        pipeline.stop().unwrap_err(),
        pipeline.close().unwrap_err(),
        pipeline.reconnect().unwrap_err(),
    ] {
        assert!(error.to_string().ends_with("the pool is Disconnected"), "{error}");
    }
    session.server.pipeline(id).unwrap().write_output("meanwhile").unwrap();
    session.server.send_event(UserEvent::default()).unwrap();
    session.exchange();
    assert_eq!(session.client_events(), []);
    assert!(session.server.pending_bytes() > 0);

    session.client.reconnect().unwrap();
    session.server.reconnect().unwrap();
    assert_eq!(session.client_state(id), PipelineState::Running);
    let response = HostResponse::new(&events[0], &HostResult::Text("typed".into()));
    session.client.respond(Some(id), response).unwrap();
    session.client.pipeline(id).unwrap().send_input(2).unwrap();
    session.exchange();
    let received = session.client_events();
    assert!(received.contains(&Event::UserEvent(Box::default())));
    let event = PipelineEvent::Output("meanwhile".into());
    assert!(received.contains(&Event::Pipeline { id, event }));
    assert_eq!(session.server_events().len(), 3, "the start, the answer, and the input");
    assert!(session.client.reconnect().unwrap_err().is_state());
    assert!(session.server.reconnect().unwrap_err().is_state());
}

impl Session {
    fn pipeline_calls(&mut self) -> Vec<psrp::host::HostCall> {
        self.client_events()
            .into_iter()
            .filter_map(|event| match event {
                Event::HostCall { call, .. } => Some(call),
                _ => None,
            })
            .collect()
    }

    /// Replaces the client by another one.
    fn change_client(&mut self, id: Uuid) {
        self.client = client::RunspacePool::new(client::Config::new().pool_id(id).fragment_size(200));
    }
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
    let again = session.client.get_available_runspaces().unwrap();
    session.exchange();
    session.client_events();
    session.server.respond(again, Availability::Count(1)).unwrap();
    session.exchange();
    assert!(
        matches!(session.client_events()[..], [Event::RequestCompleted { call_id, .. }] if call_id == again)
    );
}

#[test]
fn another_client_connects_to_a_pool() {
    let mut session = Session::with(client::Config::new().runspaces(1..=4), server::Config::new()).open();
    let id = session.run(PowerShell::script("long"));
    session.client_events();
    session.client.get_available_runspaces().unwrap();
    session.exchange();
    session.server_events();

    // The first client disappears in the middle of a message.
    let long = "x".repeat(1000);
    session.server.pipeline(id).unwrap().write_output(&*long).unwrap();
    let mut buffer = Vec::new();
    assert!(session.server.poll_transmit(300, &mut buffer).is_some());
    session.server.disconnect().unwrap();
    session.server.pipeline(id).unwrap().write_output("meanwhile").unwrap();
    let pool = session.server.id();

    // A client that connects to another pool leaves this one unchanged.
    session.change_client(Uuid::new_v4());
    session.client.connect().unwrap();
    let packet = session.client.poll_transmit(10_000, &mut buffer).unwrap();
    assert!(session.server.handle_packet(packet).unwrap_err().is_protocol());
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert_eq!(session.server_state(id), PipelineState::Running);
    assert!(session.server.poll_transmit(300, &mut buffer).is_none());

    session.change_client(pool);
    session.client.connect().unwrap();
    assert_eq!(session.client.state(), RunspacePoolState::Connecting);
    session.exchange();
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
    assert_eq!(session.server.state(), RunspacePoolState::Opened);
    assert_eq!(session.client.max_runspaces(), 4);
    assert!(session.client.application_private_data().is_some());
    let events = session.server_events();
    assert!(events.iter().any(|event| matches!(event, server::Event::Connected(_))), "{events:?}");

    // The output of the pipeline waits for a client that connects to it.
    assert!(!session.server.pipeline(id).unwrap().is_connected());
    assert!(session.server.pipeline(id).unwrap().pending_bytes() > 0);
    session.client_events();
    session.client.connect_pipeline(id).unwrap();
    session.server.pipeline(id).unwrap().connect().unwrap();
    session.server.pipeline(id).unwrap().complete().unwrap();
    session.exchange();
    // A message whose start was lost is skipped.
    let events = session.pipeline_events(id);
    let [PipelineEvent::Output(value), PipelineEvent::State(info)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((value, info.state), (&"meanwhile".into(), PipelineState::Completed));

    // Request identifiers start again.
    let call_id = session.client.get_available_runspaces().unwrap();
    session.exchange();
    session.server.respond(call_id, Availability::Count(4)).unwrap();
    session.exchange();
    assert_eq!(session.client_events().len(), 1);
}

#[test]
fn a_connected_pool_rejects_another_client() {
    let mut session = Session::opened();
    let id = session.server.id();
    session.change_client(id);
    session.client.connect().unwrap();
    let mut buffer = Vec::new();
    let packet = session.client.poll_transmit(10_000, &mut buffer).unwrap();
    assert!(session.server.handle_packet(packet).unwrap_err().is_protocol());
}

#[test]
fn a_connection_lost_while_connecting_has_no_effect() {
    let mut session = Session::opened();
    let id = session.server.id();
    session.server.disconnect().unwrap();
    session.change_client(id);
    session.client.connect().unwrap();
    let mut buffer = Vec::new();
    // Only a part of the capabilities.
    let packet = session.client.poll_transmit(100, &mut buffer).unwrap();
    session.server.handle_packet(packet).unwrap();
    assert_eq!(session.server.state(), RunspacePoolState::Connecting);
    assert!(session.server.reconnect().unwrap_err().is_state());
    session.server.disconnect().unwrap();
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
    assert!(session.server.peer().is_some());
    session.change_client(id);
    session.client.connect().unwrap();
    session.exchange();
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
}

#[test]
fn a_disconnected_pool_can_be_closed() {
    let mut session = Session::opened();
    session.run(PowerShell::script("1"));
    session.server.disconnect().unwrap();
    session.server_events();
    session.server.handle_packet(psrp::outofproc::Packet::Close(None)).unwrap();
    assert_eq!(session.server.state(), RunspacePoolState::Closed);
    let events = session.server_events();
    assert!(matches!(
        &events[..],
        [server::Event::Pipeline { event: server::PipelineEvent::Closed, .. }, server::Event::Closed]
    ));
}

#[test]
fn servers_notify_the_client_of_the_end() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("1"));
    session.client_events();
    session.server.close().unwrap();
    session.server.close().unwrap();
    session.exchange();
    let events = session.client_events();
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::State(info) => Some(info.state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [RunspacePoolState::Closing, RunspacePoolState::Closed]);
    assert!(events.iter().any(|event| matches!(
        event,
        Event::Pipeline { id: of, event: PipelineEvent::State(info) } if *of == id && info.state == PipelineState::Failed
    )));
    assert!(session.server.set_broken(ErrorRecord::new("late", ErrorCategory::CloseError)).is_err());
}

#[test]
fn the_client_is_notified_why_the_server_broke() {
    let mut session = Session::opened();
    let id = session.run(PowerShell::script("1"));
    session.server.pipeline(id).unwrap().write_output("lost").unwrap();
    session.server_events();
    let acknowledgement = psrp::outofproc::Packet::DataAck(None);
    let error = session.server.handle_packet(acknowledgement).unwrap_err();
    let events = session.server_events();
    let [server::Event::Pipeline { event: server::PipelineEvent::Closed, .. }, server::Event::Broken(reason)] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(*reason.message().unwrap(), *error.to_string());
    session.client_events();
    let mut buffer = Vec::new();
    while let Some(packet) = session.server.poll_transmit(300, &mut buffer) {
        session.client.handle_packet(packet).unwrap();
    }
    assert_eq!(session.client.state(), RunspacePoolState::Broken);
    let events = session.client_events();
    let [Event::Pipeline { event: PipelineEvent::State(pipeline), .. }, Event::State(pool)] = &events[..]
    else {
        panic!("{events:?}")
    };
    for record in [&pipeline.error, &pool.error] {
        assert_eq!(*record.as_ref().unwrap().message().unwrap(), *error.to_string());
    }
    assert!(session.server.set_broken(ErrorRecord::new("again", ErrorCategory::CloseError)).is_ok());
    assert!(session.server.poll_transmit(300, &mut buffer).is_none(), "the client knows");
}
