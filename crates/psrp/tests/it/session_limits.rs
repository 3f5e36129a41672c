//! Every limit of a session is exceeded: depending on who causes it, a call is rejected, a pipeline fails, or the pool
//! breaks. All operations take linear time.

use psrp::client::{self, Event, PipelineEvent};
use psrp::fragment::Priority;
use psrp::host::HostRequest;
use psrp::message::{
    Availability, Destination, GetAvailableRunspaces, InitRunspacePool, Payload, PipelineState, PowerShell,
    PrimitiveDictionary, RunspacePoolState, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::{Error, Value, server};
use uuid::Uuid;

use crate::session::{Session, fragment, limits, with_input};

/// Last event of a pipeline that exceeds a limit.
const FAILED: &str = "Failed: LimitsExceeded";

/// Checks that the pool was broken by a limit and reports it.
fn assert_broken_client(session: &mut Session, error: &Error) {
    assert!(error.is_limit(), "{error}");
    assert_eq!(session.client.state(), RunspacePoolState::Broken);
    assert!(session.client_log().ends_with("pool Broken: LimitsExceeded"));
}

fn assert_broken_server(session: &mut Session, error: &Error) {
    assert!(error.is_limit(), "{error}");
    assert_eq!(session.server.state(), RunspacePoolState::Broken);
    assert!(session.server_log().ends_with("Broken: LimitsExceeded"));
    session.send_to_client().unwrap();
    assert_eq!(session.client.state(), RunspacePoolState::Broken, "the client was told");
}

fn text(length: usize) -> String {
    "x".repeat(length)
}

#[test]
fn a_client_rejects_output_beyond_the_limit() {
    let mut session = Session::with_client_limits(|limits| limits.max_pending_bytes = 3000);
    let [first, second] = session.run_two();
    session.client_pipeline(second).send_input("small").unwrap();
    let small = session.client.pending_bytes();
    let mut pipeline = session.client_pipeline(first);
    pipeline.send_input(text(1000)).unwrap();
    pipeline.send_input(text(1000)).unwrap();
    let of_first = pipeline.pending_bytes();
    assert!(pipeline.send_input(text(1000)).unwrap_err().is_limit());
    assert_eq!(pipeline.pending_bytes(), of_first, "nothing of it waits");
    assert!(of_first > 2000 && of_first < 2200, "{of_first}");
    let pending = [Some(first), Some(second), None].map(|of| session.client.pending_bytes_of(of));
    assert_eq!(pending, [of_first, small, 0]);
    assert_eq!(session.client.pending_bytes(), small + of_first);
    // Nothing was lost, and there is room again.
    session.exchange();
    assert_eq!(session.client.pending_bytes(), 0);
    session.client_pipeline(first).send_input("third").unwrap();
    session.client_pipeline(first).end_input().unwrap();
    session.exchange();
    assert_eq!(session.server_log().matches("a Input").count(), 3);
}

#[test]
fn a_client_cannot_open_with_oversized_arguments() {
    let application_arguments = Some(PrimitiveDictionary::new([("a", text(5000))]));
    let init = InitRunspacePool { application_arguments, ..InitRunspacePool::default() };
    let config = client::Config::new().limits(limits(|limits| limits.max_pending_bytes = 3000));
    let mut pool = client::ClientPool::new(config.init(init.clone()));
    assert!(pool.open().unwrap_err().is_limit());
    assert_eq!((pool.state(), pool.pending_bytes()), (RunspacePoolState::BeforeOpen, 0));
    // They are also limited at the server.
    let server = server::Config::new().limits(limits(|limits| limits.max_object_size = 4000));
    let mut session = Session::with(client::Config::new().init(init), server);
    session.client.open().unwrap();
    assert!(session.send_to_server().unwrap_err().is_limit());
    assert_eq!(session.server.state(), RunspacePoolState::Broken);
}

#[test]
fn a_server_rejects_output_beyond_the_limit() {
    let mut session = Session::with_server_limits(|limits| limits.max_pending_bytes = 3000);
    let id = session.run(PowerShell::script("1"));
    session.drop_events();
    let mut pipeline = session.server_pipeline(id);
    pipeline.write_output(text(1000)).unwrap();
    pipeline.write_output(text(1000)).unwrap();
    let full = pipeline.pending_bytes();
    assert!(pipeline.write_output(text(1000)).unwrap_err().is_limit());
    assert!(pipeline.host_call(&HostRequest::WriteLine2 { text: text(1000).into() }).unwrap_err().is_limit());
    assert_eq!(session.server.pending_bytes(), full);
    // States are sent regardless of the limit.
    session.server_pipeline(id).complete().unwrap();
    session.exchange();
    assert_eq!(session.client_log(), "a text of 1000 | a text of 1000 | a Completed");
}

#[cfg(feature = "crypto")]
#[test]
fn deferred_messages_count() {
    use psrp::value::SecureString;

    use crate::session::with_key;

    let config = client::Config::new().capability(with_key());
    let config = config.limits(limits(|limits| limits.max_pending_bytes = 2000));
    let mut session = Session::with(config, server::Config::new()).open();
    let id = session.run(with_input("$input"));
    let secret = SecureString::new(&text(300));
    let mut pipeline = session.client_pipeline(id);
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
        session.send_to_client().unwrap();
    }
    assert_eq!(session.client.pending_bytes_of(Some(id)), waiting);
    session.exchange();
    assert_eq!(session.client.pending_bytes(), 0);
}

#[test]
fn a_client_that_does_not_read_breaks_the_pool() {
    let mut session = Session::with_server_limits(|limits| limits.max_pending_bytes = 1000);
    let unknown = Packet::Data { target: Some(Uuid::new_v4()), priority: Priority::Default, data: b"x" };
    let error = (0..100_000).find_map(|_| session.server.handle_packet(unknown).err());
    assert!(error.expect("acknowledgements count").is_limit());
    assert_eq!(session.server.state(), RunspacePoolState::Broken);

    let mut session = Session::with_server_limits(|limits| limits.max_pending_bytes = 1000);
    let id = session.run(PowerShell::script("1"));
    session.server_pipeline(id).complete().unwrap();
    let error = (0..100_000).find_map(|_| session.server.handle_packet(Packet::Signal(Some(id))).err());
    assert!(error.expect("and those of signals").is_limit());
}

/// The first pipelines are running, the last have failed.
fn assert_some_failed(session: &mut Session, ids: &[Uuid]) {
    let states: Vec<_> = ids.iter().map(|id| session.states_of(*id)[0]).collect();
    let running = states.iter().take_while(|state| **state == PipelineState::Running).count();
    assert!(running > 0 && running < states.len(), "{states:?}");
    assert!(states[running..].iter().all(|state| *state == PipelineState::Failed), "{states:?}");
}

/// Pipelines beyond the limit fail, and the others continue.
#[test]
fn partial_messages_of_all_pipelines_are_limited() {
    let mut session = Session::with_server_limits(|limits| limits.max_partial_bytes = 1 << 20);
    let ids = [(); 26].map(|()| session.run(with_input("$input")));
    let input = Payload::PipelineInput(text(400_000).into());
    let bytes = fragment(Destination::Server, session.client.id(), Some(ids[0]), &input);
    for id in &ids {
        session.server.handle_input(Priority::Default, Some(*id), &bytes[..80_000]).unwrap();
    }
    session.exchange();
    assert_some_failed(&mut session, &ids);
    session.drop_events();
    session.server.handle_input(Priority::Default, Some(ids[0]), &bytes[80_000..]).unwrap();
    assert_eq!(session.server_events().len(), 1);

    let mut session = Session::with_client_limits(|limits| limits.max_partial_bytes = 1 << 20);
    let ids = [(); 26].map(|()| session.run(PowerShell::script("1")));
    let output = Payload::PipelineOutput(text(400_000).into());
    let bytes = fragment(Destination::Client, session.client.id(), Some(ids[0]), &output);
    for id in &ids {
        session.client.handle_input(Priority::Default, Some(*id), &bytes[..80_000]).unwrap();
    }
    assert_some_failed(&mut session, &ids);
    session.drop_events();
    session.client.handle_input(Priority::Default, Some(ids[0]), &bytes[80_000..]).unwrap();
    assert_eq!(session.client_log(), "a text of 400000");
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
}

#[test]
fn complete_messages_leave_no_buffer() {
    let mut session = Session::with_server_limits(|limits| limits.max_partial_bytes = 10_000);
    let id = session.run(with_input("$input"));
    for _ in 0..50 {
        session.client_pipeline(id).send_input(text(5000)).unwrap();
        session.exchange();
    }
    assert_eq!(session.server.state(), RunspacePoolState::Opened);
}

#[test]
fn the_number_of_pipelines_is_limited() {
    let mut session = Session::with_client_limits(|limits| limits.max_pipelines = 2);
    let id = session.run(PowerShell::script("1"));
    session.client.create_pipeline(PowerShell::script("2")).unwrap();
    assert!(session.client.invoke(PowerShell::script("3")).unwrap_err().is_limit());
    assert!(session.client.connect_pipeline(Uuid::new_v4()).unwrap_err().is_limit());
    session.server_pipeline(id).complete().unwrap();
    session.exchange();
    session.close(id);
    session.client.invoke(PowerShell::script("3")).unwrap();

    let mut session = Session::with_server_limits(|limits| limits.max_pipelines = 2);
    for _ in 0..3 {
        session.client.create_pipeline(PowerShell::script("1")).unwrap();
    }
    let error = session.send_to_server().unwrap_err();
    assert_broken_server(&mut session, &error);
}

#[test]
fn the_number_of_host_calls_is_limited() {
    let mut session = Session::with_server_limits(|limits| limits.max_host_calls = 2);
    let id = session.run(PowerShell::script("1"));
    session.server.host_call(&HostRequest::ReadLine).unwrap();
    session.server_pipeline(id).host_call(&HostRequest::ReadLine).unwrap();
    let pending = session.server.pending_bytes();
    let mut pipeline = session.server_pipeline(id);
    assert!(pipeline.host_call(&HostRequest::ReadLine).unwrap_err().is_limit());
    // Calls without a response do not count, and calls of ended pipelines are not pending.
    pipeline.host_call(&HostRequest::WriteLine1).unwrap();
    assert!(session.server.pending_bytes() > pending);
    session.server_pipeline(id).complete().unwrap();
    session.server.host_call(&HostRequest::ReadLine).unwrap();
    assert!(session.server.host_call(&HostRequest::ReadLine).unwrap_err().is_limit());

    let mut session = Session::with_client_limits(|limits| limits.max_host_calls = 2);
    for _ in 0..3 {
        session.server.host_call(&HostRequest::ReadLine).unwrap();
    }
    let error = session.send_to_client().unwrap_err();
    assert_broken_client(&mut session, &error);

    // A pipeline with too many calls fails, and its calls are removed.
    let mut session = Session::with_client_limits(|limits| limits.max_host_calls = 2);
    let [first, second] = session.run_two();
    for _ in 0..3 {
        session.server_pipeline(first).host_call(&HostRequest::ReadLine).unwrap();
    }
    session.exchange();
    assert!(session.client_log().ends_with(&format!("a {FAILED}")));
    session.server_pipeline(second).host_call(&HostRequest::ReadLine).unwrap();
    session.exchange();
    assert_eq!(session.client_log(), "b call ReadLine");
}

#[test]
fn the_number_of_requests_is_limited() {
    let mut session = Session::with_client_limits(|limits| limits.max_requests = 2);
    let first = session.client.get_available_runspaces().unwrap();
    session.client.reset_runspace_state().unwrap();
    let pending = session.client.pending_bytes();
    assert!(session.client.get_available_runspaces().unwrap_err().is_limit());
    assert!(session.client.set_max_runspaces(7).unwrap_err().is_limit());
    assert_eq!(session.client.pending_bytes(), pending);
    session.exchange();
    session.server.respond(first, Availability::Count(1)).unwrap();
    session.exchange();
    session.client.get_available_runspaces().unwrap();

    let mut session = Session::with_server_limits(|limits| limits.max_requests = 2);
    for _ in 0..3 {
        session.client.get_available_runspaces().unwrap();
    }
    let error = session.send_to_server().unwrap_err();
    assert_broken_server(&mut session, &error);
}

/// Also small ones.
#[test]
fn unread_events_are_limited() {
    let mut session = Session::with_server_limits(|limits| limits.max_event_bytes = 10_000);
    let error = (0..1000).find_map(|call_id| {
        let payload = Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id });
        session.server_receives(None, &payload).err()
    });
    assert_broken_server(&mut session, &error.unwrap());
}

#[test]
fn message_sizes_are_limited() {
    let mut session = Session::with_client_limits(|limits| limits.max_object_size = 5000);
    let [first, second] = session.run_two();
    session.server_pipeline(first).write_output(text(6000)).unwrap();
    session.server_pipeline(first).write_output("lost").unwrap();
    session.server_pipeline(second).write_output(text(4000)).unwrap();
    session.exchange();
    let log = session.client_log();
    assert!(
        [format!("a {FAILED} | b text of 4000"), format!("b text of 4000 | a {FAILED}")].contains(&log),
        "{log}"
    );
    // It is closed like any other pipeline.
    session.close(first);
    // A message that is too large for the pool breaks it.
    let event = UserEvent { message_data: text(6000).into(), ..UserEvent::default() };
    session.server.send_event(event).unwrap();
    let error = session.send_to_client().unwrap_err();
    assert_broken_client(&mut session, &error);

    let mut session = Session::with_server_limits(|limits| limits.max_object_size = 5000);
    let [first, second] = session.run_two();
    session.client_pipeline(first).send_input(text(6000)).unwrap();
    session.client_pipeline(second).send_input(text(4000)).unwrap();
    // Also the message that creates a pipeline.
    session.client.invoke(PowerShell::script(text(6000))).unwrap();
    session.exchange();
    let log = session.client_log();
    assert_eq!(log.matches(FAILED).count(), 2, "{log}");
    assert_eq!(session.states_of(first), [PipelineState::Failed; 2]);
    assert_eq!(session.states_of(second), [PipelineState::Running; 2]);
}

#[test]
fn data_per_command_is_limited() {
    let mut session = Session::with_server_limits(|limits| limits.max_data_per_command = 20_000);
    let [first, second] = session.run_two();
    for _ in 0..25 {
        session.client_pipeline(first).send_input(text(1000)).unwrap();
    }
    session.exchange();
    assert_eq!(session.states_of(first), [PipelineState::Failed; 2]);
    let log = session.server_log();
    assert!(log.ends_with(&format!("a {FAILED}")) && log.matches(FAILED).count() == 1, "{log}");
    assert!(session.server_pipeline(first).write_output(1).unwrap_err().is_state());
    // Other pipelines continue, and this one can be closed.
    session.client_pipeline(second).send_input(1).unwrap();
    session.close(first);
    assert_eq!(session.states_of(second), [PipelineState::Running; 2]);

    let mut session = Session::with_client_limits(|limits| limits.max_data_per_command = 20_000);
    let id = session.run(PowerShell::script("1"));
    session.drop_events();
    for _ in 0..25 {
        session.server_pipeline(id).write_output(text(1000)).unwrap();
    }
    session.exchange();
    let log = session.client_log();
    assert!(log.ends_with(&format!("a {FAILED}")) && log.matches("text").count() < 20, "{log}");
    session.close(id);
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
            session.client_pipeline(*id).send_input(round as i32).unwrap();
        }
    }
    for id in &ids {
        session.client_pipeline(*id).end_input().unwrap();
    }
    session.exchange();
    let mut inputs = 0;
    for event in session.server_events() {
        if let server::Event::Pipeline { id, event } = event {
            let mut pipeline = session.server_pipeline(id);
            match event {
                server::PipelineEvent::Start(_) => pipeline.start().unwrap(),
                server::PipelineEvent::Input(value) => {
                    inputs += 1;
                    pipeline.write_output(value).unwrap();
                }
                server::PipelineEvent::EndOfInput => pipeline.complete().unwrap(),
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
        session.client_pipeline(*id).close().unwrap();
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

    let mut session = Session::of_versions(3, 4);
    let id = session.run(with_input("$input"));
    let mut pipeline = session.client_pipeline(id);
    pipeline.send_input(psrp::value::SecureString::new("first")).unwrap();
    for number in 0..MESSAGES {
        pipeline.send_input(number).unwrap();
    }
    session.drop_events();
    session.exchange();
    // The key is sent first.
    assert_eq!(session.server_events().len(), MESSAGES as usize + 2);
}
