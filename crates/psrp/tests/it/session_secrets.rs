//! Secure strings in a session: the key is exchanged automatically; messages are deferred until then; and only the
//! affected message fails if it cannot be sent.

#![cfg(feature = "crypto")]

use psrp::client::{Config, Event, PipelineEvent};
use psrp::fragment::{Assembler, Priority};
use psrp::host::{FieldDescription, HostOutcome, HostRequest, HostResponse, HostResult};
use psrp::message::{
    Command, CreatePipeline, Destination, Message, MessageType, Payload, PipelineState, PowerShell,
    RunspacePoolState, SessionCapability, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::ErrorRecord;
use psrp::value::{Object, SecureString, Value, Version};
use psrp::{SessionLimits, server};

use crate::session::{Session, fragment, with_input};

fn capability(minor: u32) -> SessionCapability {
    SessionCapability { protocol_version: Version::new(2, minor), ..SessionCapability::default() }
}

/// Opens a session of a client and a server with these minor versions of protocol 2. Up to 2.3 there is a key.
fn opened(client: u32, server: u32) -> Session {
    let server = server::Config::new().capability(capability(server));
    Session::with(Config::new().capability(capability(client)), server).open()
}

fn text(value: &Value) -> Option<String> {
    let Value::SecureString(text) = value else { panic!("no secure string") };
    text.reveal().map(|text| text.to_string())
}

/// A list with a secure string that is nested too deeply to be written.
fn too_deep() -> Value {
    (0..60).fold(SecureString::new("secret").into(), |inner: Value, _| Object::list([inner]).into())
}

/// A value that can be written only while the object exists, and the object.
fn perishable() -> (Value, Object) {
    let object = Object::new_cyclic(|me| Object::builder().extended("me", Value::Cycle(me)));
    let cycle = object.get("me").unwrap().clone();
    (Object::list([SecureString::new("secret").into(), cycle]).into(), object)
}

fn failure(events: &[PipelineEvent]) -> &ErrorRecord {
    let Some(PipelineEvent::State(info)) = events.last() else { panic!("{events:?}") };
    assert_eq!(info.state, PipelineState::Failed);
    info.error.as_ref().expect("a reason")
}

#[test]
fn events_from_before_the_key_are_decrypted() {
    let mut session = opened(3, 3);
    let id = session.run(PowerShell::script("Get-Secret"));
    session.server.pipeline(id).unwrap().write_output(SecureString::new("early")).unwrap();
    session.server.pipeline(id).unwrap().write_output("after").unwrap();
    session.exchange();
    let events = session.pipeline_events(id);
    let [.., PipelineEvent::Output(first), PipelineEvent::Output(second)] = &events[..] else { panic!() };
    assert_eq!((text(first).unwrap(), second), ("early".to_owned(), &"after".into()));

    // Encrypted output reaches a client without the key: it requests the key, and the earlier event is decrypted.
    let pool = session.server.id();
    session.server.disconnect().unwrap();
    session.client = psrp::client::RunspacePool::new(Config::new().pool_id(pool));
    session.client.connect().unwrap();
    session.exchange();
    session.client.connect_pipeline(id).unwrap();
    let mut pipeline = session.server.pipeline(id).unwrap();
    pipeline.connect().unwrap();
    pipeline.write_output(SecureString::new("taken")).unwrap();
    pipeline.write_output(SecureString::new("queued")).unwrap();
    let mut buffer = Vec::new();
    let packet = session.server.poll_transmit(10_000, &mut buffer).unwrap();
    session.client.handle_packet(packet).unwrap();
    assert!(!session.client.has_key());
    let taken = std::iter::from_fn(|| session.client.poll_event()).find_map(|event| match event {
        Event::Pipeline { event: PipelineEvent::Output(value), .. } => Some(value),
        _ => None,
    });
    let taken = taken.unwrap();
    assert_eq!(text(&taken), None);
    assert!(session.client.decrypt(&taken).unwrap_err().is_no_key());
    session.exchange();
    assert!(session.client.has_key());
    assert_eq!(text(&taken).unwrap(), "taken");
    let events = session.client_events();
    let [Event::Pipeline { event: PipelineEvent::Output(queued), .. }, Event::KeyExchanged] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(text(queued).unwrap(), "queued");
}

#[test]
fn strings_beyond_the_limit_are_decrypted_on_request() {
    let mut session = opened(3, 3);
    let id = session.run(PowerShell::script("1"));
    session.server.pipeline(id).unwrap().write_output(SecureString::new("key")).unwrap();
    session.exchange();
    let pool = session.server.id();
    session.server.disconnect().unwrap();
    let small = Config::new()
        .pool_id(pool)
        .limits(SessionLimits { max_event_bytes: 20_000, ..SessionLimits::default() });
    session.client = psrp::client::RunspacePool::new(small);
    session.client.connect().unwrap();
    session.exchange();
    session.client.connect_pipeline(id).unwrap();
    let mut pipeline = session.server.pipeline(id).unwrap();
    pipeline.connect().unwrap();
    for _ in 0..3 {
        pipeline.write_output(SecureString::new(&"x".repeat(4000))).unwrap();
    }
    let mut buffer = Vec::new();
    let mut outputs = Vec::new();
    while let Some(packet) = session.server.poll_transmit(300, &mut buffer) {
        session.client.handle_packet(packet).unwrap();
        while let Some(event) = session.client.poll_event() {
            if let Event::Pipeline { event: PipelineEvent::Output(value), .. } = event {
                outputs.push(value);
            }
        }
    }
    session.exchange();
    assert!(text(&outputs[0]).is_some());
    assert!(text(&outputs[1]).is_some());
    assert_eq!(text(&outputs[2]), None);
    session.client.decrypt(&outputs[2]).unwrap();
    assert!(text(&outputs[2]).is_some());
}

#[test]
fn a_key_requested_while_opening_is_sent_when_open() {
    let mut session = Session::new();
    session.client.open().unwrap();
    let id = session.client.id();
    for payload in [Payload::SessionCapability(capability(1)), Payload::PublicKeyRequest] {
        let bytes = fragment(Destination::Client, id, None, &payload);
        session.client.handle_input(Priority::Default, None, &bytes).unwrap();
    }
    assert_eq!(session.client.state(), RunspacePoolState::Opening);
    assert!(session.client.exchange_key().unwrap_err().is_state());
    let opened = psrp::message::RunspacePoolStateInfo::new(RunspacePoolState::Opened);
    let bytes = fragment(Destination::Client, id, None, &Payload::RunspacePoolState(opened));
    session.client.handle_input(Priority::Default, None, &bytes).unwrap();
    let mut assembler = Assembler::new();
    let mut types = Vec::new();
    let mut buffer = Vec::new();
    while let Some(Packet::Data { mut data, .. }) = session.client.poll_transmit(10_000, &mut buffer) {
        while let Some(message) = assembler.next(&mut data).unwrap() {
            types.push(Message::decode(message).unwrap().header.message_type);
        }
        session.client.handle_packet(Packet::DataAck(None)).unwrap();
    }
    let expected = [MessageType::SessionCapability, MessageType::InitRunspacePool, MessageType::PublicKey];
    assert_eq!(types, expected);
}

#[test]
fn a_lost_key_request_is_repeated() {
    let mut session = opened(3, 3);
    let id = session.run(with_input("$input"));
    let pool = session.server.id();
    session.server.pipeline(id).unwrap().write_output(SecureString::new("late")).unwrap();
    let mut buffer = Vec::new();
    assert!(session.server.poll_transmit(10_000, &mut buffer).is_some(), "the question, which is lost");
    session.server.disconnect().unwrap();
    session.client = psrp::client::RunspacePool::new(Config::new().pool_id(pool));
    session.client.connect().unwrap();
    session.exchange();
    session.client.connect_pipeline(id).unwrap();
    session.server.pipeline(id).unwrap().connect().unwrap();
    session.exchange();
    let events = session.pipeline_events(id);
    let [PipelineEvent::Output(value)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(text(value).unwrap(), "late");

    // Also the client's key request, with deferred input.
    let mut session = opened(3, 3);
    let id = session.run(with_input("$input"));
    session.server_events();
    session.client.pipeline(id).unwrap().send_input(SecureString::new("late")).unwrap();
    assert!(session.client.poll_transmit(10_000, &mut buffer).is_some());
    session.client.disconnect().unwrap();
    session.server.disconnect().unwrap();
    session.client.connect().unwrap();
    session.exchange();
    session.server.pipeline(id).unwrap().connect().unwrap();
    session.exchange();
    let events = session.server_events();
    let Some(server::Event::Pipeline { event: server::PipelineEvent::Input(value), .. }) = events.last()
    else {
        panic!("{events:?}")
    };
    assert_eq!(text(value).unwrap(), "late");
    // A request that is responded to twice.
    assert!(session.client.has_key());
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
}

#[test]
fn unwritable_messages_are_rejected_before_they_are_deferred() {
    let mut session = opened(3, 3);
    let id = session.run(with_input("$input"));
    let mut pipeline = session.client.pipeline(id).unwrap();
    assert!(pipeline.send_input(too_deep()).unwrap_err().is_limit());
    pipeline.send_input(SecureString::new("s")).unwrap();
    let waiting = pipeline.pending_bytes();
    assert!(waiting > 0);
    assert!(pipeline.send_input(too_deep()).unwrap_err().is_limit());
    assert_eq!(pipeline.pending_bytes(), waiting, "nothing of it waits");
    let request =
        CreatePipeline::new(PowerShell::new().command(Command::new("Test").parameter("Secret", too_deep())));
    assert!(session.client.invoke(request).unwrap_err().is_limit());
    session.exchange();
    assert_eq!(session.client.pending_bytes(), 0);
    assert_eq!(session.client_state(id), PipelineState::Running);
}

#[test]
fn deferred_input_that_cannot_be_written_fails_its_pipeline() {
    let mut session = opened(3, 3);
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    session.server_events();
    session.client_events();
    let (value, object) = perishable();
    session.client.pipeline(first).unwrap().send_input(value).unwrap();
    session.client.pipeline(first).unwrap().send_input("after").unwrap();
    session.client.pipeline(second).unwrap().send_input(SecureString::new("other")).unwrap();
    drop(object);
    session.exchange();
    let events = session.client_events();
    let failed: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Pipeline { id, event } => Some((*id, event.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(failed.len(), 1, "{events:?}");
    assert_eq!(failed[0].0, first);
    let reason = failure(&[failed[0].1.clone()]).message().unwrap().to_string();
    assert!(reason.contains("can't be written"), "{reason}");
    let inputs: Vec<_> = session
        .server_events()
        .into_iter()
        .filter_map(|event| match event {
            server::Event::Pipeline { id, event: server::PipelineEvent::Input(value) } => Some((id, value)),
            _ => None,
        })
        .collect();
    assert_eq!(inputs.len(), 1);
    assert_eq!((inputs[0].0, text(&inputs[0].1).unwrap()), (second, "other".to_owned()));
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
    session.client.pipeline(first).unwrap().close().unwrap();
    session.exchange();
    assert_eq!(session.server.pipelines().len(), 1);
}

#[test]
fn a_deferred_response_that_cannot_be_written_becomes_an_error() {
    let mut session = opened(3, 3);
    let id = session.run(PowerShell::script("1"));
    for request in [HostRequest::ReadLineAsSecureString, HostRequest::ReadLineAsSecureString] {
        session.server.pipeline(id).unwrap().host_call(&request).unwrap();
    }
    session.exchange();
    let (value, object) = perishable();
    let mut answers =
        [HostOutcome::Value(value), HostOutcome::Value(SecureString::new("typed").into())].into_iter();
    for event in session.client_events() {
        if let Event::HostCall { pipeline, call } = event {
            let outcome = answers.next().unwrap();
            let response = HostResponse { call_id: call.call_id, method: call.method, outcome };
            session.client.respond(pipeline, response).unwrap();
        }
    }
    drop(object);
    session.exchange();
    let failed: Vec<_> = session
        .client_events()
        .into_iter()
        .filter_map(|event| match event {
            Event::ResponseFailed { pipeline, call_id, .. } => Some((pipeline, call_id)),
            _ => None,
        })
        .collect();
    assert_eq!(failed, [(Some(id), 1)]);
    let responses: Vec<_> = session
        .server_events()
        .into_iter()
        .filter_map(|event| match event {
            server::Event::HostResponse { response, .. } => Some(response),
            _ => None,
        })
        .collect();
    assert!(matches!(&responses[0].outcome, HostOutcome::Error(_)), "{responses:?}");
    let HostResult::Secure(typed) = responses[1].result().unwrap() else { panic!("{responses:?}") };
    assert_eq!(typed.reveal().unwrap().as_str(), "typed");
    assert_eq!(session.client_state(id), PipelineState::Running);
}

#[test]
fn deferred_output_that_cannot_be_written_fails_its_pipeline() {
    let mut session = opened(3, 3);
    let [first, second] = [session.run(with_input("$input")), session.run(with_input("$input"))];
    session.client_events();
    session.server_events();
    let (value, object) = perishable();
    let (event, event_object) = perishable();
    let mut pipeline = session.server.pipeline(first).unwrap();
    pipeline.write_output(value).unwrap();
    pipeline.complete().unwrap();
    let mut pipeline = session.server.pipeline(second).unwrap();
    pipeline.write_output(SecureString::new("fine")).unwrap();
    session.server.send_event(UserEvent { message_data: event, ..UserEvent::default() }).unwrap();
    drop((object, event_object));
    session.exchange();
    let events = session.server_events();
    let reasons: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            server::Event::Pipeline { id, event: server::PipelineEvent::Failed(reason) } => {
                assert_eq!(*id, first);
                Some(reason)
            }
            server::Event::NotSent { reason, .. } => Some(reason),
            _ => None,
        })
        .collect();
    assert_eq!(reasons.len(), 2, "{events:?}");
    assert_eq!(session.server_state(first), PipelineState::Failed);
    assert_eq!(session.client_state(first), PipelineState::Failed);
    let events = session.pipeline_events(second);
    let [PipelineEvent::Output(value)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(text(value).unwrap(), "fine");
}

#[test]
fn a_deferred_call_that_cannot_be_written_fails_locally() {
    let mut session = opened(3, 3);
    let id = session.run(PowerShell::script("1"));
    let (value, object) = perishable();
    let field = FieldDescription { default_value: Some(value), ..FieldDescription::default() };
    let prompt = HostRequest::Prompt { caption: "c".into(), message: "m".into(), fields: vec![field] };
    let call_id = session.server.pipeline(id).unwrap().host_call(&prompt).unwrap();
    drop(object);
    session.exchange();
    assert!(!session.client_events().iter().any(|event| matches!(event, Event::HostCall { .. })));
    let events = session.server_events();
    let Some(server::Event::HostResponse { pipeline, response }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!((*pipeline, Some(response.call_id)), (Some(id), call_id));
    assert!(matches!(&response.outcome, HostOutcome::Error(_)));
    assert_eq!(session.server_state(id), PipelineState::Running);
}

#[test]
fn secrets_are_not_shown_in_debug_output() {
    const SECRET: &str = "hunter2hunter2";

    let mut session = opened(3, 3);
    let command = Command::new("Test").parameter("Secret", SecureString::new(SECRET));
    let id = session.client.invoke(PowerShell::new().command(command)).unwrap();
    let mut shown = format!("{:?}", session.client);
    session.exchange();
    let mut buffer = Vec::new();
    session.server.pipeline(id).unwrap().start().unwrap();
    session.server.pipeline(id).unwrap().write_output(SecureString::new(SECRET)).unwrap();
    shown += &format!("{:?} {:?}", session.server, session.client.pipeline(id).unwrap());
    shown += &format!("{:?}", session.server.pipeline(id).unwrap());
    while let Some(packet) = session.server.poll_transmit(300, &mut buffer) {
        shown += &format!("{packet:?}");
        session.client.handle_packet(packet).unwrap();
    }
    shown += &format!("{:?} {:?}", session.client_events(), session.server_events());
    shown += &format!("{:?} {:?}", Config::new(), server::Config::new());
    assert!(!shown.contains(SECRET));
    // Also not in encoded form.
    let key = "PublicKey";
    assert!(!shown.contains(key) && shown.contains("SecureString(..)"), "{shown}");
}

/// Exchanges all packets. Returns whether one of them contains this text as UTF-16.
fn exchange_shows(session: &mut Session, secret: &str) -> bool {
    let utf16: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let base64 = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, utf16);
    let mut buffer = Vec::new();
    let mut shown = Vec::new();
    loop {
        let packet = if let Some(packet) = session.client.poll_transmit(10_000, &mut buffer) {
            session.server.handle_packet(packet).unwrap();
            packet
        } else if let Some(packet) = session.server.poll_transmit(10_000, &mut buffer) {
            session.client.handle_packet(packet).unwrap();
            packet
        } else {
            return String::from_utf8_lossy(&shown).contains(&base64);
        };
        if let Packet::Data { data, .. } = packet {
            let mut data = data;
            let mut assembler = Assembler::new();
            while let Some(message) = assembler.next(&mut data).unwrap() {
                shown.extend_from_slice(message);
            }
        }
    }
}

#[test]
fn the_lower_version_decides_about_the_key() {
    const SECRET: &str = "p\u{e4}ss\u{1F600}";

    for (client, server) in [(3, 3), (3, 4), (4, 3), (4, 4)] {
        let has_keys = client.min(server) < 4;
        let mut session = opened(client, server);
        assert_eq!(session.client.peer(), Some(&capability(client.min(server))));
        assert_eq!((session.client.has_key(), session.server.has_key()), (!has_keys, !has_keys));

        let command = Command::new("Test").parameter("Secret", SecureString::new(SECRET));
        let id = session.client.invoke(PowerShell::new().command(command)).unwrap();
        // Short fragments would split the text.
        let is_shown = exchange_shows(&mut session, SECRET);
        let events = session.server_events();
        let parameter = events.iter().find_map(|event| match event {
            server::Event::Pipeline { event: server::PipelineEvent::Start(start), .. } => Some(start),
            _ => None,
        });
        let Some(psrp::client::PipelineRequest::Run(create)) = parameter else { panic!("{events:?}") };
        let command = create.power_shell.statements().flatten().next().unwrap();
        assert_eq!(text(&command.parameters[0].value).unwrap(), SECRET);

        let mut pipeline = session.server.pipeline(id).unwrap();
        pipeline.start().unwrap();
        pipeline.write_output(SecureString::new(SECRET)).unwrap();
        pipeline.host_call(&HostRequest::ReadLineAsSecureString).unwrap();
        let is_shown = exchange_shows(&mut session, SECRET) || is_shown;
        let events = session.client_events();
        let output = events.iter().find_map(|event| match event {
            Event::Pipeline { event: PipelineEvent::Output(value), .. } => Some(value),
            _ => None,
        });
        assert_eq!(text(output.unwrap()).unwrap(), SECRET);
        let Some(Event::HostCall { pipeline, call }) = events.last() else { panic!("{events:?}") };
        let result = HostResult::Secure(SecureString::new(SECRET));
        session.client.respond(*pipeline, HostResponse::new(call, &result)).unwrap();
        assert_eq!(
            (exchange_shows(&mut session, SECRET) || is_shown, session.client.has_key()),
            (!has_keys, true)
        );
        let Some(server::Event::HostResponse { response, .. }) = session.server_events().pop() else {
            panic!()
        };
        assert_eq!(response.result().unwrap(), result);

        let exchanged = |event: &Event| matches!(event, Event::KeyExchanged);
        assert_eq!(events.iter().any(exchanged), has_keys);
        session.client.exchange_key().unwrap();
        session.server.request_key().unwrap();
        session.exchange();
        assert!(!session.client_events().iter().any(exchanged));
    }
}

#[test]
fn cleartext_secrets_are_rejected_on_insecure_connections() {
    for (minor, is_refused) in [(3, false), (4, true)] {
        let server = server::Config::new().capability(capability(minor));
        let mut session = Session::with(Config::new().clear_secrets(false), server).open();
        let command = Command::new("Test").parameter("Secret", SecureString::new("hunter2hunter2"));
        let result = session.client.invoke(PowerShell::new().command(command));
        assert_eq!(result.is_err(), is_refused);
        if let Err(error) = result {
            assert!(error.is_unsupported(), "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
            assert_eq!(
                (session.client.pipelines().len(), session.client.pending_bytes()),
                (1, 0),
                "it is closing"
            );
        }
        session.exchange();
        // Everything else works, and secrets of the server can be read.
        let id = session.run(with_input("$input"));
        session.server.pipeline(id).unwrap().write_output(SecureString::new("of the server")).unwrap();
        session.exchange();
        let events = session.pipeline_events(id);
        let [.., PipelineEvent::Output(value)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(text(value).unwrap(), "of the server");
    }
}

#[test]
fn a_pool_keeps_its_key_mode() {
    // A pool with a key keeps it for later clients.
    let mut session = opened(3, 4);
    let id = session.run(PowerShell::script("Get-Secret"));
    session.server.pipeline(id).unwrap().write_output(SecureString::new("key")).unwrap();
    session.exchange();
    let pool = session.server.id();
    session.server.disconnect().unwrap();
    session.client = psrp::client::RunspacePool::new(Config::new().pool_id(pool));
    session.client.connect().unwrap();
    session.exchange();
    assert_eq!(session.client.peer(), Some(&capability(3)));
    assert!(!session.client.has_key());

    // A pool without a key rejects clients that need one.
    let mut session = opened(4, 4);
    let pool = session.server.id();
    session.server.disconnect().unwrap();
    session.client = psrp::client::RunspacePool::new(Config::new().pool_id(pool).capability(capability(3)));
    session.client.connect().unwrap();
    let mut buffer = Vec::new();
    let packet = session.client.poll_transmit(10_000, &mut buffer).unwrap();
    assert!(session.server.handle_packet(packet).unwrap_err().is_protocol());
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
}

#[test]
fn keys_and_malformed_secrets_are_rejected_without_key_mode() {
    let mut session = opened(4, 4);
    let id = session.run(with_input("$input"));
    let value = SecureString::from_encrypted([1, 2, 3]).into();
    let bytes = fragment(Destination::Client, session.client.id(), Some(id), &Payload::PipelineOutput(value));
    session.client.handle_input(Priority::Default, Some(id), &bytes).unwrap();
    failure(&session.pipeline_events(id));
    let key = psrp::crypto::ClientKey::generate().unwrap();
    let key = Payload::PublicKey(psrp::message::PublicKey { blob: key.public_key_blob().into() });
    let bytes = fragment(Destination::Server, session.client.id(), None, &key);
    assert!(session.server.handle_input(Priority::Default, None, &bytes).unwrap_err().is_protocol());
}
