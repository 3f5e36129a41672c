//! Secure strings in a session: the key is exchanged automatically; messages are deferred until then; and only the
//! affected message fails if it cannot be sent.

#![cfg(feature = "crypto")]

use psrp::client::{Config, Event, PipelineEvent};
use psrp::fragment::Assembler;
use psrp::host::{FieldDescription, HostOutcome, HostRequest, HostResponse, HostResult};
use psrp::message::{
    Command, CreatePipeline, Message, MessageType, Payload, PipelineState, PowerShell, RunspacePoolState,
    RunspacePoolStateInfo, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::server;
use psrp::value::{Object, SecureString, Value};

use crate::session::{Session, capability, limits, short, with_input};

/// A command with a secret parameter.
fn with_secret(secret: impl Into<Value>) -> CreatePipeline {
    let mut create =
        CreatePipeline::new(PowerShell::new().command(Command::new("Test").parameter("Secret", secret)));
    create.no_input = false;
    create
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

#[test]
fn secure_strings_start_the_key_exchange() {
    let mut session = Session::of_versions(3, 4);
    let id = session.client.invoke(with_secret(SecureString::new("to the server"))).unwrap();
    // This message must not overtake the deferred one.
    session.client_pipeline(id).send_input(1).unwrap();
    session.exchange();
    assert!(session.client.has_key() && session.server.has_key());
    assert_eq!(session.server_log(), "KeyExchanged | a run Test, secret to the server | a Input(Int32(1))");
}

#[test]
fn events_from_before_the_key_are_decrypted() {
    let mut session = Session::of_versions(3, 3);
    let id = session.run(PowerShell::script("Get-Secret"));
    session.drop_events();
    session.server_pipeline(id).write_output(SecureString::new("early")).unwrap();
    session.server_pipeline(id).write_output("after").unwrap();
    session.exchange();
    assert_eq!(session.client_log(), "a secret early | a String(\"after\") | KeyExchanged");

    // Encrypted output reaches a client without the key: it requests the key, and the earlier event is decrypted.
    session.reconnect(Config::new());
    session.client.connect_pipeline(id).unwrap();
    let mut pipeline = session.server_pipeline(id);
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
    assert_eq!(short(&taken), "unknown secret");
    assert!(session.client.decrypt(&taken).unwrap_err().is_no_key());
    session.exchange();
    assert!(session.client.has_key());
    assert_eq!(short(&taken), "secret taken");
    assert_eq!(session.client_log(), "a secret queued | KeyExchanged");
}

#[test]
fn strings_beyond_the_limit_are_decrypted_on_request() {
    let mut session = Session::of_versions(3, 3);
    let id = session.run(PowerShell::script("1"));
    session.server_pipeline(id).write_output(SecureString::new("key")).unwrap();
    session.exchange();
    session.reconnect(Config::new().limits(limits(|limits| limits.max_event_bytes = 20_000)));
    session.client.connect_pipeline(id).unwrap();
    let mut pipeline = session.server_pipeline(id);
    pipeline.connect().unwrap();
    for _ in 0..3 {
        pipeline.write_output(SecureString::new(&"x".repeat(4000))).unwrap();
    }
    let mut buffer = Vec::new();
    let mut outputs = Vec::new();
    while let Some(packet) = session.server.poll_transmit(300, &mut buffer) {
        session.client.handle_packet(packet).unwrap();
        outputs.extend(session.outputs(id));
    }
    session.exchange();
    let is_known = |value: &Value| short(value).starts_with("secret x");
    assert_eq!(outputs.iter().map(is_known).collect::<Vec<_>>(), [true, true, false]);
    session.client.decrypt(&outputs[2]).unwrap();
    assert!(is_known(&outputs[2]));
}

#[test]
fn a_key_requested_while_opening_is_sent_when_open() {
    let mut session = Session::new();
    session.client.open().unwrap();
    session.client_receives(None, &Payload::SessionCapability(capability(1))).unwrap();
    session.client_receives(None, &Payload::PublicKeyRequest).unwrap();
    assert_eq!(session.client.state(), RunspacePoolState::Opening);
    assert!(session.client.exchange_key().unwrap_err().is_state());
    let opened = RunspacePoolStateInfo::new(RunspacePoolState::Opened);
    session.client_receives(None, &Payload::RunspacePoolState(opened)).unwrap();
    let (mut assembler, mut types, mut buffer) = (Assembler::new(), Vec::new(), Vec::new());
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
    let mut session = Session::of_versions(3, 3);
    let id = session.run(with_input("$input"));
    session.server_pipeline(id).write_output(SecureString::new("late")).unwrap();
    let mut buffer = Vec::new();
    assert!(session.server.poll_transmit(10_000, &mut buffer).is_some(), "the question, which is lost");
    session.reconnect(Config::new());
    session.client.connect_pipeline(id).unwrap();
    session.server_pipeline(id).connect().unwrap();
    session.exchange();
    let outputs = session.outputs(id);
    assert_eq!(outputs.iter().map(short).collect::<Vec<_>>(), ["secret late"]);

    // Also the client's key request, with deferred input.
    let mut session = Session::of_versions(3, 3);
    let id = session.run(with_input("$input"));
    session.drop_events();
    session.client_pipeline(id).send_input(SecureString::new("late")).unwrap();
    assert!(session.client.poll_transmit(10_000, &mut buffer).is_some());
    session.client.disconnect().unwrap();
    session.server.disconnect().unwrap();
    session.client.connect().unwrap();
    session.exchange();
    session.server_pipeline(id).connect().unwrap();
    session.exchange();
    let events = session.server_events();
    let Some(server::Event::Pipeline { event: server::PipelineEvent::Input(value), .. }) = events.last()
    else {
        panic!("{events:?}")
    };
    assert_eq!(short(value), "secret late");
    // A request that is responded to twice.
    assert!(session.client.has_key());
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
}

#[test]
fn unwritable_messages_are_rejected_before_they_are_deferred() {
    let mut session = Session::of_versions(3, 3);
    let id = session.run(with_input("$input"));
    let mut pipeline = session.client_pipeline(id);
    assert!(pipeline.send_input(too_deep()).unwrap_err().is_limit());
    pipeline.send_input(SecureString::new("s")).unwrap();
    let waiting = pipeline.pending_bytes();
    assert!(waiting > 0);
    assert!(pipeline.send_input(too_deep()).unwrap_err().is_limit());
    assert_eq!(pipeline.pending_bytes(), waiting, "nothing of it waits");
    assert!(session.client.invoke(with_secret(too_deep())).unwrap_err().is_limit());
    session.exchange();
    assert_eq!(session.client.pending_bytes(), 0);
    assert_eq!(session.states_of(id), [PipelineState::Running; 2]);
}

#[test]
fn deferred_input_that_cannot_be_written_fails_its_pipeline() {
    let mut session = Session::of_versions(3, 3);
    let [first, second] = session.run_two();
    let (value, object) = perishable();
    session.client_pipeline(first).send_input(value).unwrap();
    session.client_pipeline(first).send_input("after").unwrap();
    session.client_pipeline(second).send_input(SecureString::new("other")).unwrap();
    drop(object);
    session.exchange();
    assert_eq!(session.client_log(), "KeyExchanged | a Failed: WriteError");
    assert_eq!(session.server_log(), "KeyExchanged | b Input(SecureString(SecureString(..)))");
    assert_eq!(session.client.state(), RunspacePoolState::Opened);
    session.close(first);
}

#[test]
fn a_deferred_response_that_cannot_be_written_becomes_an_error() {
    let mut session = Session::of_versions(3, 3);
    let id = session.run(PowerShell::script("1"));
    for _ in 0..2 {
        session.server_pipeline(id).host_call(&HostRequest::ReadLineAsSecureString).unwrap();
    }
    session.exchange();
    session.server_events();
    let (value, object) = perishable();
    let mut answers = [value, SecureString::new("typed").into()].into_iter();
    for event in session.client_events() {
        if let Event::HostCall { pipeline, call } = event {
            let outcome = HostOutcome::Value(answers.next().unwrap());
            let response = HostResponse { call_id: call.call_id, method: call.method, outcome };
            session.client.respond(pipeline, response).unwrap();
        }
    }
    drop(object);
    session.exchange();
    assert_eq!(session.client_log(), "KeyExchanged | a response 1 failed: WriteError");
    assert_eq!(session.server_log(), "KeyExchanged | a error WriteError | a secret typed");
    assert_eq!(session.states_of(id), [PipelineState::Running; 2]);
}

#[test]
fn deferred_output_that_cannot_be_written_fails_its_pipeline() {
    let mut session = Session::of_versions(3, 3);
    let [first, second] = session.run_two();
    let (value, object) = perishable();
    let (message_data, event_object) = perishable();
    let mut pipeline = session.server_pipeline(first);
    pipeline.write_output(value).unwrap();
    pipeline.complete().unwrap();
    session.server_pipeline(second).write_output(SecureString::new("fine")).unwrap();
    session.server.send_event(UserEvent { message_data, ..UserEvent::default() }).unwrap();
    drop((object, event_object));
    session.exchange();
    let log = session.server_log();
    assert_eq!(log, "KeyExchanged | a Failed: WriteError | UserEvent not sent: WriteError");
    assert_eq!(session.states_of(first), [PipelineState::Failed; 2]);
    assert_eq!(session.client_log(), "b secret fine | KeyExchanged | a Failed: WriteError");
}

#[test]
fn a_deferred_call_that_cannot_be_written_fails_locally() {
    let mut session = Session::of_versions(3, 3);
    let id = session.run(PowerShell::script("1"));
    session.drop_events();
    let (value, object) = perishable();
    let field = FieldDescription { default_value: Some(value), ..FieldDescription::default() };
    let prompt = HostRequest::Prompt { caption: "c".into(), message: "m".into(), fields: vec![field] };
    let call_id = session.server_pipeline(id).host_call(&prompt).unwrap();
    drop(object);
    session.exchange();
    assert_eq!(session.client_log(), "KeyExchanged");
    let events = session.server_events();
    let Some(server::Event::HostResponse { pipeline, response }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!((*pipeline, Some(response.call_id)), (Some(id), call_id));
    assert!(matches!(&response.outcome, HostOutcome::Error(_)));
    assert_eq!(session.server_pipeline(id).state(), PipelineState::Running);
}

/// Exchanges all packets. Returns whether one of them contains this text as UTF-16.
fn exchange_shows(session: &mut Session, secret: &str) -> bool {
    let utf16: Vec<u8> = secret.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let base64 = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, utf16);
    let (mut buffers, mut shown) = (Default::default(), Vec::new());
    while let Some(packet) = session.step(10_000, &mut buffers) {
        if let Packet::Data { mut data, .. } = packet {
            let mut assembler = Assembler::new();
            while let Some(message) = assembler.next(&mut data).unwrap() {
                shown.extend_from_slice(message);
            }
        }
    }
    String::from_utf8_lossy(&shown).contains(&base64)
}

#[test]
fn the_lower_version_decides_about_the_key() {
    const SECRET: &str = "p\u{e4}ss\u{1F600}";

    for (client, server) in [(3, 3), (3, 4), (4, 3), (4, 4)] {
        let has_keys = client.min(server) < 4;
        let mut session = Session::of_versions(client, server);
        assert_eq!(session.client.peer(), Some(&capability(client.min(server))));
        assert_eq!((session.client.has_key(), session.server.has_key()), (!has_keys, !has_keys));

        let id = session.client.invoke(with_secret(SecureString::new(SECRET))).unwrap();
        // Short fragments would split the text.
        let is_shown = exchange_shows(&mut session, SECRET);
        let events = session.server_log();
        assert!(events.ends_with(&format!("a run Test, secret {SECRET}")), "{events}");

        let mut pipeline = session.server_pipeline(id);
        pipeline.start().unwrap();
        pipeline.write_output(SecureString::new(SECRET)).unwrap();
        pipeline.host_call(&HostRequest::ReadLineAsSecureString).unwrap();
        let is_shown = exchange_shows(&mut session, SECRET) || is_shown;
        let events = session.client_events();
        let mut outputs = events.iter().filter_map(|event| match event {
            Event::Pipeline { event: PipelineEvent::Output(value), .. } => Some(short(value)),
            _ => None,
        });
        assert_eq!(outputs.next().unwrap(), format!("secret {SECRET}"));
        let Some(Event::HostCall { pipeline, call }) = events.last() else { panic!("{events:?}") };
        let result = HostResult::Secure(SecureString::new(SECRET));
        session.client.respond(*pipeline, HostResponse::new(call, &result)).unwrap();
        assert_eq!(
            (exchange_shows(&mut session, SECRET) || is_shown, session.client.has_key()),
            (!has_keys, true)
        );
        assert!(session.server_log().ends_with(&format!("a secret {SECRET}")));

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
        let result = session.client.invoke(with_secret(SecureString::new("hunter2hunter2")));
        assert_eq!(result.is_err(), is_refused);
        if let Err(error) = result {
            assert!(error.is_unsupported(), "{error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
            let left = (session.client.pipelines().len(), session.client.pending_bytes());
            assert_eq!(left, (1, 0), "it is closing");
        }
        session.exchange();
        // Everything else works, and secrets of the server can be read.
        let id = session.run(with_input("$input"));
        session.server_pipeline(id).write_output(SecureString::new("of the server")).unwrap();
        session.exchange();
        assert_eq!(short(&session.outputs(id)[0]), "secret of the server");
    }
}

#[test]
fn a_pool_keeps_its_key_mode() {
    // A pool with a key keeps it for later clients.
    let mut session = Session::of_versions(3, 4);
    let id = session.run(PowerShell::script("Get-Secret"));
    session.server_pipeline(id).write_output(SecureString::new("key")).unwrap();
    session.exchange();
    session.reconnect(Config::new());
    assert_eq!(session.client.peer(), Some(&capability(3)));
    assert!(!session.client.has_key());

    // A pool without a key rejects clients that need one.
    let mut session = Session::of_versions(4, 4);
    session.server.disconnect().unwrap();
    session.change_client(Config::new().capability(capability(3)));
    assert!(session.send_to_server().unwrap_err().is_protocol());
    assert_eq!(session.server.state(), RunspacePoolState::Disconnected);
}

#[test]
fn keys_and_malformed_secrets_are_rejected_without_key_mode() {
    let mut session = Session::of_versions(4, 4);
    let id = session.run(with_input("$input"));
    session.drop_events();
    let value = SecureString::from_encrypted([1, 2, 3]).into();
    session.client_receives(Some(id), &Payload::PipelineOutput(value)).unwrap();
    assert_eq!(session.client_log(), "a Failed: ProtocolError");
    let key = psrp::crypto::ClientKey::generate().unwrap();
    let key = Payload::PublicKey(psrp::message::PublicKey { blob: key.public_key_blob().into() });
    assert!(session.server_receives(None, &key).unwrap_err().is_protocol());
}
