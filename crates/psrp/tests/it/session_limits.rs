//! Every limit of a session is exceeded: depending on who causes it, a call is rejected, a pipeline fails, or the pool
//! breaks. All operations take linear time.

use psrp::client::{self, Event, PipelineEvent};
use psrp::fragment::{Fragmenter, Priority};
use psrp::host::HostRequest;
use psrp::message::{
    Destination, GetAvailableRunspaces, InitRunspacePool, Message, MessageHeader, MessageType, Payload,
    PipelineState, PowerShell, PrimitiveDictionary, RunspacePoolState, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::ErrorCategory;
use psrp::{Error, SessionLimits, Value, server};
use uuid::Uuid;

use crate::session::{Session, fragment, with_input};

/// Passes packets of the client to the server until one is rejected.
fn pump_to_server(session: &mut Session) -> Result<(), Error> {
    let (mut buffer, mut answer) = (Vec::new(), Vec::new());
    while let Some(packet) = session.client.poll_transmit(300, &mut buffer) {
        session.server.handle_packet(packet)?;
        while let Some(packet) = session.server.poll_transmit(300, &mut answer) {
            session.client.handle_packet(packet).unwrap();
        }
    }
    Ok(())
}

fn pump_to_client(session: &mut Session) -> Result<(), Error> {
    let mut buffer = Vec::new();
    while let Some(packet) = session.server.poll_transmit(300, &mut buffer) {
        session.client.handle_packet(packet)?;
    }
    Ok(())
}

/// Checks that the pool was broken by a limit and reports it.
fn assert_broken_client(session: &mut Session, error: &Error) {
    assert!(error.is_limit(), "{error}");
    assert_eq!(session.client.state(), RunspacePoolState::Broken);
    let events = session.client_events();
    let Some(Event::State(info)) = events.last() else { panic!("{events:?}") };
    assert_eq!(info.error.as_ref().unwrap().category, ErrorCategory::LimitsExceeded);
}

fn assert_broken_server(session: &mut Session, error: &Error) {
    assert!(error.is_limit(), "{error}");
    assert_eq!(session.server.state(), RunspacePoolState::Broken);
    let events = session.server_events();
    let Some(server::Event::Broken(reason)) = events.last() else { panic!("{events:?}") };
    assert_eq!(reason.category, ErrorCategory::LimitsExceeded);
    pump_to_client(session).unwrap();
    assert_eq!(session.client.state(), RunspacePoolState::Broken, "the client was told");
}

#[test]
fn a_client_rejects_output_beyond_the_limit() {
    let mut session =
        Session::with_client_limits(SessionLimits { max_pending_bytes: 3000, ..SessionLimits::default() });
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    let text = "x".repeat(1000);
    session.client.pipeline(second).unwrap().send_input("small").unwrap();
    let small = session.client.pending_bytes();
    let mut sent = 0;
    let error = loop {
        let mut pipeline = session.client.pipeline(first).unwrap();
        let before = pipeline.pending_bytes();
        match pipeline.send_input(&*text) {
            Ok(()) => sent += 1,
            Err(error) => {
                assert_eq!(pipeline.pending_bytes(), before, "nothing of it waits");
                break error;
            }
        }
    };
    assert!(error.is_limit(), "{error}");
    assert_eq!(sent, 2);
    assert_eq!(session.client.pending_bytes_of(Some(second)), small);
    assert_eq!(session.client.pending_bytes_of(None), 0);
    let of_first = session.client.pending_bytes_of(Some(first));
    assert_eq!(session.client.pending_bytes(), small + of_first);
    assert!(of_first > 2000 && of_first < 2200, "{of_first}");
    // Nothing was lost, and there is room again.
    session.exchange();
    assert_eq!(session.client.pending_bytes(), 0);
    session.client.pipeline(first).unwrap().send_input(&*text).unwrap();
    session.client.pipeline(first).unwrap().end_input().unwrap();
    session.exchange();
    let inputs = session
        .server_events()
        .into_iter()
        .filter(|event| {
            matches!(event, server::Event::Pipeline { event: server::PipelineEvent::Input(_), id } if *id == first)
        })
        .count();
    assert_eq!(inputs, 3);
}

#[test]
fn a_client_cannot_open_with_oversized_arguments() {
    let init = InitRunspacePool {
        application_arguments: Some(PrimitiveDictionary::new([("a", "x".repeat(5000))])),
        ..InitRunspacePool::default()
    };
    let mut pool = client::RunspacePool::new(
        client::Config::new()
            .limits(SessionLimits { max_pending_bytes: 3000, ..SessionLimits::default() })
            .init(init),
    );
    assert!(pool.open().unwrap_err().is_limit());
    assert_eq!((pool.state(), pool.pending_bytes()), (RunspacePoolState::BeforeOpen, 0));
}

#[test]
fn a_server_rejects_output_beyond_the_limit() {
    let mut session =
        Session::with_server_limits(SessionLimits { max_pending_bytes: 3000, ..SessionLimits::default() });
    let id = session.run(PowerShell::script("1"));
    session.client_events();
    let text = "x".repeat(1000);
    let mut pipeline = session.server.pipeline(id).unwrap();
    pipeline.write_output(&*text).unwrap();
    pipeline.write_output(&*text).unwrap();
    let full = pipeline.pending_bytes();
    assert!(pipeline.write_output(&*text).unwrap_err().is_limit());
    assert!(pipeline.host_call(&HostRequest::WriteLine2 { text: text.into() }).unwrap_err().is_limit());
    assert_eq!(session.server.pending_bytes(), full);
    // States are sent regardless of the limit.
    session.server.pipeline(id).unwrap().complete().unwrap();
    session.exchange();
    let events = session.pipeline_events(id);
    assert_eq!(events.len(), 3, "{events:?}");
    assert_eq!(session.client_state(id), PipelineState::Completed);
}

#[cfg(feature = "crypto")]
#[test]
fn deferred_messages_count() {
    use psrp::value::SecureString;

    use crate::session::with_key;

    let config = client::Config::new()
        .capability(with_key())
        .limits(SessionLimits { max_pending_bytes: 2000, ..SessionLimits::default() });
    let mut session = Session::with(config, server::Config::new()).open();
    let id = session.run(with_input("$input"));
    let secret = SecureString::new(&"x".repeat(300));
    let mut pipeline = session.client.pipeline(id).unwrap();
    pipeline.send_input(secret.clone()).unwrap();
    let error = std::iter::repeat_with(|| pipeline.send_input(secret.clone())).find_map(Result::err).unwrap();
    assert!(error.is_limit());
    let waiting = pipeline.pending_bytes();
    let key = session.client.pending_bytes_of(None);
    assert_eq!(session.client.pending_bytes(), waiting + key);
    // The size is known before there is a key.
    let mut buffer = Vec::new();
    while !session.client.has_key() {
        let packet = session.client.poll_transmit(10_000, &mut buffer).unwrap();
        session.server.handle_packet(packet).unwrap();
        pump_to_client(&mut session).unwrap();
    }
    assert_eq!(session.client.pending_bytes_of(Some(id)), waiting);
    session.exchange();
    assert_eq!(session.client.pending_bytes(), 0);
}

#[test]
fn a_client_that_does_not_read_breaks_the_pool() {
    let mut session =
        Session::with_server_limits(SessionLimits { max_pending_bytes: 1000, ..SessionLimits::default() });
    let unknown = Packet::Data { target: Some(Uuid::new_v4()), priority: Priority::Default, data: b"x" };
    let error = (0..100_000)
        .find_map(|_| session.server.handle_packet(unknown).err())
        .expect("acknowledgements count");
    assert!(error.is_limit());
    assert_eq!(session.server.state(), RunspacePoolState::Broken);

    let mut session =
        Session::with_server_limits(SessionLimits { max_pending_bytes: 1000, ..SessionLimits::default() });
    let id = session.run(PowerShell::script("1"));
    session.server.pipeline(id).unwrap().complete().unwrap();
    let signal = Packet::Signal(Some(id));
    let error =
        (0..100_000).find_map(|_| session.server.handle_packet(signal).err()).expect("and those of signals");
    assert!(error.is_limit());
}

/// The first pipelines are running, the last have failed.
fn assert_some_failed(states: &[PipelineState]) {
    let running = states.iter().take_while(|state| **state == PipelineState::Running).count();
    assert!(running > 0 && running < states.len(), "{states:?}");
    assert!(states[running..].iter().all(|state| *state == PipelineState::Failed), "{states:?}");
}

#[test]
fn partial_messages_of_all_pipelines_are_limited() {
    let mut session = Session::with(
        client::Config::new(),
        server::Config::new()
            .limits(SessionLimits { max_partial_bytes: 1 << 20, ..SessionLimits::default() }),
    )
    .open();
    let ids = [(); 100].map(|()| session.run(with_input("$input")));
    let input = Payload::PipelineInput("x".repeat(200_000).into());
    let bytes = fragment(Destination::Server, session.client.id(), Some(ids[0]), &input);
    for id in &ids {
        session.server.handle_input(Priority::Default, Some(*id), &bytes[..20_000]).unwrap();
    }
    // Pipelines beyond the limit have failed, and the others continue.
    session.exchange();
    assert_some_failed(&ids.map(|id| session.client_state(id)));
    session.server_events();
    session.server.handle_input(Priority::Default, Some(ids[0]), &bytes[20_000..]).unwrap();
    assert_eq!(session.server_events().len(), 1);

    let mut session = Session::with(
        client::Config::new()
            .limits(SessionLimits { max_partial_bytes: 1 << 20, ..SessionLimits::default() }),
        server::Config::new(),
    )
    .open();
    let ids = [(); 100].map(|()| session.run(PowerShell::script("1")));
    let output = Payload::PipelineOutput("x".repeat(200_000).into());
    let bytes = fragment(Destination::Client, session.client.id(), Some(ids[0]), &output);
    for id in &ids {
        session.client.handle_input(Priority::Default, Some(*id), &bytes[..20_000]).unwrap();
    }
    assert_some_failed(&ids.map(|id| session.client_state(id)));
    session.client_events();
    session.client.handle_input(Priority::Default, Some(ids[0]), &bytes[20_000..]).unwrap();
    assert_eq!(session.client_events().len(), 1);
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
}

#[test]
fn complete_messages_leave_no_buffer() {
    let mut session =
        Session::with_server_limits(SessionLimits { max_partial_bytes: 10_000, ..SessionLimits::default() });
    let id = session.run(with_input("$input"));
    for _ in 0..50 {
        session.client.pipeline(id).unwrap().send_input("x".repeat(5000)).unwrap();
        session.exchange();
    }
    assert_eq!(session.server.state(), RunspacePoolState::Opened);
}

#[test]
fn the_number_of_pipelines_is_limited() {
    let mut session =
        Session::with_client_limits(SessionLimits { max_pipelines: 2, ..SessionLimits::default() });
    let id = session.run(PowerShell::script("1"));
    session.client.create_pipeline(PowerShell::script("2")).unwrap();
    assert!(session.client.invoke(PowerShell::script("3")).unwrap_err().is_limit());
    assert!(session.client.connect_pipeline(Uuid::new_v4()).unwrap_err().is_limit());
    session.server.pipeline(id).unwrap().complete().unwrap();
    session.exchange();
    session.client.pipeline(id).unwrap().close().unwrap();
    session.exchange();
    session.client.invoke(PowerShell::script("3")).unwrap();

    let mut session =
        Session::with_server_limits(SessionLimits { max_pipelines: 2, ..SessionLimits::default() });
    for _ in 0..3 {
        session.client.create_pipeline(PowerShell::script("1")).unwrap();
    }
    let error = pump_to_server(&mut session).unwrap_err();
    assert_broken_server(&mut session, &error);
}

#[test]
fn the_number_of_host_calls_is_limited() {
    let mut session =
        Session::with_server_limits(SessionLimits { max_host_calls: 2, ..SessionLimits::default() });
    let id = session.run(PowerShell::script("1"));
    session.server.host_call(&HostRequest::ReadLine).unwrap();
    session.server.pipeline(id).unwrap().host_call(&HostRequest::ReadLine).unwrap();
    let pending = session.server.pending_bytes();
    let mut pipeline = session.server.pipeline(id).unwrap();
    assert!(pipeline.host_call(&HostRequest::ReadLine).unwrap_err().is_limit());
    // Calls without a response do not count, and calls of ended pipelines are not pending.
    pipeline.host_call(&HostRequest::WriteLine1).unwrap();
    assert!(session.server.pending_bytes() > pending);
    session.server.pipeline(id).unwrap().complete().unwrap();
    session.server.host_call(&HostRequest::ReadLine).unwrap();
    assert!(session.server.host_call(&HostRequest::ReadLine).unwrap_err().is_limit());

    let mut session =
        Session::with_client_limits(SessionLimits { max_host_calls: 2, ..SessionLimits::default() });
    for _ in 0..3 {
        session.server.host_call(&HostRequest::ReadLine).unwrap();
    }
    let error = pump_to_client(&mut session).unwrap_err();
    assert_broken_client(&mut session, &error);

    // A pipeline with too many calls fails, and its calls are removed.
    let mut session =
        Session::with_client_limits(SessionLimits { max_host_calls: 2, ..SessionLimits::default() });
    let [first, second] = [session.run(PowerShell::script("1")), session.run(PowerShell::script("2"))];
    for _ in 0..3 {
        session.server.pipeline(first).unwrap().host_call(&HostRequest::ReadLine).unwrap();
    }
    session.exchange();
    assert_exceeded(&session.pipeline_events(first));
    session.server.pipeline(second).unwrap().host_call(&HostRequest::ReadLine).unwrap();
    session.exchange();
    let events = session.client_events();
    assert!(matches!(&events[..], [Event::HostCall { pipeline, .. }] if *pipeline == Some(second)));
}

#[test]
fn the_number_of_requests_is_limited() {
    let mut session =
        Session::with_client_limits(SessionLimits { max_requests: 2, ..SessionLimits::default() });
    let first = session.client.get_available_runspaces().unwrap();
    session.client.reset_runspace_state().unwrap();
    let pending = session.client.pending_bytes();
    assert!(session.client.get_available_runspaces().unwrap_err().is_limit());
    assert!(session.client.set_max_runspaces(7).unwrap_err().is_limit());
    assert_eq!(session.client.pending_bytes(), pending);
    session.exchange();
    session.server.respond(first, psrp::message::Availability::Count(1)).unwrap();
    session.exchange();
    session.client.get_available_runspaces().unwrap();

    let mut session =
        Session::with_server_limits(SessionLimits { max_requests: 2, ..SessionLimits::default() });
    for _ in 0..3 {
        session.client.get_available_runspaces().unwrap();
    }
    let error = pump_to_server(&mut session).unwrap_err();
    assert_broken_server(&mut session, &error);
}

#[test]
fn unread_events_are_limited() {
    let mut session =
        Session::with_client_limits(SessionLimits { max_event_bytes: 10_000, ..SessionLimits::default() });
    let id = session.run(PowerShell::script("1"));
    session.client_events();
    for _ in 0..20 {
        session.server.pipeline(id).unwrap().write_output("x".repeat(1000)).unwrap();
    }
    let error = pump_to_client(&mut session).unwrap_err();
    assert_broken_client(&mut session, &error);

    let mut session =
        Session::with_server_limits(SessionLimits { max_event_bytes: 10_000, ..SessionLimits::default() });
    let id = session.run(with_input("$input"));
    for _ in 0..20 {
        session.client.pipeline(id).unwrap().send_input("x".repeat(1000)).unwrap();
    }
    let error = pump_to_server(&mut session).unwrap_err();
    assert_broken_server(&mut session, &error);
    // Small messages count, too.
    let mut session =
        Session::with_server_limits(SessionLimits { max_event_bytes: 10_000, ..SessionLimits::default() });
    let bytes = |call_id| {
        let payload = Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id });
        fragment(Destination::Server, Uuid::nil(), None, &payload)
    };
    let error = (0..1000)
        .find_map(|call_id| session.server.handle_input(Priority::Default, None, &bytes(call_id)).err());
    assert_broken_server(&mut session, &error.unwrap());
}

/// Checks that the last event reports a pipeline that failed by a limit.
fn assert_exceeded(events: &[PipelineEvent]) {
    let Some(PipelineEvent::State(info)) = events.last() else { panic!("{events:?}") };
    assert_eq!(info.state, PipelineState::Failed);
    assert_eq!(info.error.as_ref().unwrap().category, ErrorCategory::LimitsExceeded);
}

#[test]
fn message_sizes_are_limited() {
    let mut session =
        Session::with_client_limits(SessionLimits { max_object_size: 5000, ..SessionLimits::default() });
    let [first, second] = [session.run(PowerShell::script("1")), session.run(PowerShell::script("2"))];
    session.server.pipeline(first).unwrap().write_output("x".repeat(6000)).unwrap();
    session.server.pipeline(first).unwrap().write_output("lost").unwrap();
    session.server.pipeline(second).unwrap().write_output("x".repeat(4000)).unwrap();
    session.exchange();
    let events = session.client_events();
    let (of_first, of_second): (Vec<_>, Vec<_>) = events
        .into_iter()
        .filter_map(|event| match event {
            Event::Pipeline { id, event } => Some((id, event)),
            _ => None,
        })
        .filter(
            |(_, event)| !matches!(event, PipelineEvent::State(info) if info.state == PipelineState::Running),
        )
        .partition(|(id, _)| *id == first);
    assert_exceeded(&of_first.into_iter().map(|(_, event)| event).collect::<Vec<_>>());
    assert!(matches!(&of_second[..], [(_, PipelineEvent::Output(_))]), "{of_second:?}");
    // It is closed like any other pipeline.
    session.client.pipeline(first).unwrap().close().unwrap();
    session.exchange();
    assert_eq!(session.server.pipelines().collect::<Vec<_>>(), [(second, PipelineState::Running)]);
    // A message that is too large for the pool breaks it.
    let event = UserEvent { message_data: "x".repeat(6000).into(), ..UserEvent::default() };
    session.server.send_event(event).unwrap();
    let error = pump_to_client(&mut session).unwrap_err();
    assert_broken_client(&mut session, &error);

    let mut session =
        Session::with_server_limits(SessionLimits { max_object_size: 5000, ..SessionLimits::default() });
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    session.client.pipeline(first).unwrap().send_input("x".repeat(6000)).unwrap();
    session.client.pipeline(second).unwrap().send_input("x".repeat(4000)).unwrap();
    session.exchange();
    assert_exceeded(&session.pipeline_events(first));
    assert_eq!(session.client_state(second), PipelineState::Running);
    // Also the message that creates a pipeline.
    let third = session.client.invoke(PowerShell::script("x".repeat(6000))).unwrap();
    session.exchange();
    assert_exceeded(&session.pipeline_events(third));
    let arguments = Some(PrimitiveDictionary::new([("a", "x".repeat(6000))]));
    let init = InitRunspacePool { application_arguments: arguments, ..InitRunspacePool::default() };
    let config =
        server::Config::new().limits(SessionLimits { max_object_size: 5000, ..SessionLimits::default() });
    let mut session = Session::with(client::Config::new().init(init), config);
    session.client.open().unwrap();
    assert!(pump_to_server(&mut session).unwrap_err().is_limit());
    assert_eq!(session.server.state(), RunspacePoolState::Broken);
}

/// Limits on the content of a message.
#[test]
fn documents_in_messages_are_limited() {
    let mut session = Session::opened();
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    session.client_events();
    let deep = format!("{}<S>x</S>{}", "<Obj><LST>".repeat(60), "</LST></Obj>".repeat(60));
    let bytes = |destination, message_type, pool_id| {
        let header = MessageHeader { destination, message_type, pool_id, pipeline_id: Some(first) };
        let (mut message, mut bytes) = (Vec::new(), Vec::new());
        Message { header, data: deep.as_bytes() }.encode(&mut message);
        Fragmenter::new().encode(&message, &mut bytes);
        bytes
    };
    let id = session.client.id();
    let output = bytes(Destination::Client, MessageType::PipelineOutput, id);
    session.client.handle_input(Priority::Default, Some(first), &output).unwrap();
    assert_exceeded(&session.pipeline_events(first));
    let input = bytes(Destination::Server, MessageType::PipelineInput, id);
    session.server.handle_input(Priority::Default, Some(first), &input).unwrap();
    assert_eq!(session.server_state(first), PipelineState::Failed);
    session.exchange();
    for state in [session.client_state(second), session.server_state(second)] {
        assert_eq!(state, PipelineState::Running);
    }
}

#[test]
fn larger_messages_can_be_allowed() {
    let mut session =
        Session::with_client_limits(SessionLimits { max_object_size: 20 << 20, ..SessionLimits::default() });
    let id = session.run(PowerShell::script("1"));
    let text = "x".repeat(12 << 20);
    session.server.pipeline(id).unwrap().write_output(text.as_str()).unwrap();
    pump_to_client(&mut session).unwrap();
    let output = std::iter::from_fn(|| session.client.poll_event()).find_map(|event| match event {
        Event::Pipeline { event: PipelineEvent::Output(value), .. } => Some(value),
        _ => None,
    });
    assert!(output.unwrap() == *text);
}

#[test]
fn data_per_command_is_limited() {
    let config = server::Config::new()
        .limits(SessionLimits { max_data_per_command: 20_000, ..SessionLimits::default() });
    let mut session = Session::with(client::Config::new(), config).open();
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    for _ in 0..25 {
        session.client.pipeline(first).unwrap().send_input("x".repeat(1000)).unwrap();
    }
    session.exchange();
    assert_eq!(session.client_state(first), PipelineState::Failed);
    assert_eq!(session.server_state(first), PipelineState::Failed);
    let events = session.server_events();
    let failed = events.iter().filter_map(|event| match event {
        server::Event::Pipeline { id, event: server::PipelineEvent::Failed(reason) } => {
            Some((*id, reason.category))
        }
        _ => None,
    });
    assert_eq!(failed.collect::<Vec<_>>(), [(first, ErrorCategory::LimitsExceeded)]);
    assert!(session.server.pipeline(first).unwrap().write_output(1).unwrap_err().is_state());
    // Other pipelines continue, and this one can be closed.
    session.client.pipeline(second).unwrap().send_input(1).unwrap();
    session.client.pipeline(first).unwrap().close().unwrap();
    session.exchange();
    assert_eq!(session.server.pipelines().collect::<Vec<_>>(), [(second, PipelineState::Running)]);

    let config = client::Config::new()
        .limits(SessionLimits { max_data_per_command: 20_000, ..SessionLimits::default() });
    let mut session = Session::with(config, server::Config::new()).open();
    let id = session.run(PowerShell::script("1"));
    session.client_events();
    for _ in 0..25 {
        session.server.pipeline(id).unwrap().write_output("x".repeat(1000)).unwrap();
    }
    session.exchange();
    let events = session.pipeline_events(id);
    let Some(PipelineEvent::State(info)) = events.last() else { panic!("{events:?}") };
    assert_eq!(info.state, PipelineState::Failed);
    assert_eq!(info.error.as_ref().unwrap().category, ErrorCategory::LimitsExceeded);
    assert!(events.len() < 20);
    session.client.pipeline(id).unwrap().close().unwrap();
    session.exchange();
    assert_eq!(session.server.pipelines().len(), 0);
}

#[test]
fn debug_output_of_configurations_shows_only_limits() {
    let init = InitRunspacePool {
        application_arguments: Some(PrimitiveDictionary::new([("token", "hunter2")])),
        ..InitRunspacePool::default()
    };
    let shown = format!(
        "{:?}",
        client::Config::new()
            .init(init)
            .limits(SessionLimits { max_requests: 17, ..SessionLimits::default() })
    );
    assert!(shown.contains("max_requests: 17") && !shown.contains("hunter2"), "{shown}");
    let data = psrp::message::ApplicationPrivateData::new([("token", "hunter2")]);
    let config = server::Config::new()
        .application_private_data(data)
        .limits(SessionLimits { max_partial_bytes: 17, ..SessionLimits::default() });
    let shown = format!("{config:?} {:?}", server::RunspacePool::new(server::Config::new()));
    assert!(shown.contains("max_partial_bytes: 17") && !shown.contains("hunter2"), "{shown}");
}

/// With more than linear work this would not finish.
#[test]
fn many_pipelines_and_messages_take_linear_time() {
    const PIPELINES: usize = 1000;
    const MESSAGES: usize = 100;

    let mut session = Session::opened();
    let ids: Vec<_> = (0..PIPELINES).map(|_| session.client.invoke(with_input("$input")).unwrap()).collect();
    for round in 0..MESSAGES {
        for id in &ids {
            session.client.pipeline(*id).unwrap().send_input(round as i32).unwrap();
        }
    }
    for id in &ids {
        session.client.pipeline(*id).unwrap().end_input().unwrap();
    }
    session.exchange();
    let mut inputs = 0;
    for event in session.server_events() {
        if let server::Event::Pipeline { id, event } = event {
            match event {
                server::PipelineEvent::Start(_) => session.server.pipeline(id).unwrap().start().unwrap(),
                server::PipelineEvent::Input(value) => {
                    inputs += 1;
                    session.server.pipeline(id).unwrap().write_output(value).unwrap();
                }
                server::PipelineEvent::EndOfInput => session.server.pipeline(id).unwrap().complete().unwrap(),
                _ => {}
            }
        }
    }
    assert_eq!(inputs, PIPELINES * MESSAGES);
    session.exchange();
    let mut next = std::collections::HashMap::new();
    for event in session.client_events() {
        if let Event::Pipeline { id, event: PipelineEvent::Output(value) } = event {
            let expected = next.entry(id).or_insert(0);
            assert_eq!(value, Value::from(*expected));
            *expected += 1;
        }
    }
    assert!(next.len() == PIPELINES && next.values().all(|count| *count == MESSAGES as i32));
    for id in &ids {
        session.client.pipeline(*id).unwrap().close().unwrap();
    }
    session.exchange();
    assert_eq!((session.client.pipelines().len(), session.server.pipelines().len()), (0, 0));
    assert_eq!((session.client.pending_bytes(), session.server.pending_bytes()), (0, 0));
}

/// Many deferred messages.
#[cfg(feature = "crypto")]
#[test]
fn many_messages_can_be_deferred() {
    const MESSAGES: i32 = 100_000;

    let mut session = Session::opened_with_key();
    let id = session.run(with_input("$input"));
    let mut pipeline = session.client.pipeline(id).unwrap();
    pipeline.send_input(psrp::value::SecureString::new("first")).unwrap();
    for number in 0..MESSAGES {
        pipeline.send_input(number).unwrap();
    }
    session.server_events();
    session.exchange();
    let inputs = session.server_events();
    // The key is sent first.
    assert_eq!(inputs.len(), MESSAGES as usize + 2);
}
