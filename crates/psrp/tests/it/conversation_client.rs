//! Replays the server side of a recorded conversation to the client's pool.

#![cfg(feature = "crypto")]

use std::collections::BTreeSet;

use psrp::Value;
use psrp::client::{Config, Event, PipelineEvent, RunspacePool};
use psrp::crypto::ClientKey;
use psrp::fragment::Priority;
use psrp::host::{HostCall, HostRequest, HostResponse, HostResult};
use psrp::message::{
    Availability, Command, CreatePipeline, HostInfo, InitRunspacePool, PipelineState, PowerShell,
    PrimitiveDictionary, RemoteStreamOptions, RunspacePoolState,
};
use psrp::outofproc::Packet;
use psrp::value::SecureString;
use uuid::Uuid;

use crate::conversation::{Comparison, expected_states, states, steps};
use crate::session::with_key;
use crate::vectors_wire as vectors;

/// Returns the file's name of an event.
fn name(event: &Event) -> &'static str {
    match event {
        Event::SessionCapability(_) => "SessionCapabilityEvent",
        Event::ApplicationPrivateData(_) => "ApplicationPrivateDataEvent",
        Event::State(_) => "RunspacePoolStateEvent",
        Event::KeyExchanged => "EncryptedSessionKeyEvent",
        Event::RequestCompleted { availability: Availability::Accepted(_), .. } => {
            "SetRunspaceAvailabilityEvent"
        }
        Event::RequestCompleted { availability: Availability::Count(_), .. } => {
            "GetRunspaceAvailabilityEvent"
        }
        Event::UserEvent(_) => "UserEventEvent",
        Event::HostCall { pipeline: Some(_), .. } => "PipelineHostCallEvent",
        Event::Pipeline { event, .. } => match event {
            PipelineEvent::Output(_) => "PipelineOutputEvent",
            PipelineEvent::Error(_) => "ErrorRecordEvent",
            PipelineEvent::Debug(_) => "DebugRecordEvent",
            PipelineEvent::Verbose(_) => "VerboseRecordEvent",
            PipelineEvent::Warning(_) => "WarningRecordEvent",
            PipelineEvent::Progress(_) => "ProgressRecordEvent",
            PipelineEvent::Information(_) => "InformationRecordEvent",
            PipelineEvent::State(_) => "PipelineStateEvent",
            _ => "other",
        },
        _ => "other",
    }
}

fn pipelines(file: &serde_json::Value) -> [Uuid; 2] {
    [0, 1].map(|at: usize| file["pipelines"][at].as_str().unwrap().parse().unwrap())
}

fn new_pool(file: &serde_json::Value) -> RunspacePool {
    let host_info = HostInfo { is_host_raw_ui_null: true, ..HostInfo::lines() };
    let init = InitRunspacePool {
        host_info,
        application_arguments: Some(PrimitiveDictionary::new([("client", "vector")])),
        ..InitRunspacePool::default()
    };
    let key = vectors::base64(&file["client_rsa_private_key_der_base64"]);
    let id = file["runspace_pool_id"].as_str().unwrap().parse().unwrap();
    RunspacePool::new(
        Config::new()
            .capability(with_key())
            .pool_id(id)
            .init(init)
            .key_pair(ClientKey::from_pkcs8(&key).unwrap()),
    )
}

fn first_pipeline() -> CreatePipeline {
    let script = Command::script("process { $_ }").parameter("Password", SecureString::new("p@ss\u{e9}"));
    let mut create = CreatePipeline::new(PowerShell::new().command(script));
    create.no_input = false;
    create.remote_stream_options = RemoteStreamOptions::ALL;
    create
}

fn second_pipeline() -> CreatePipeline {
    let mut create =
        CreatePipeline::new(PowerShell::new().command(Command::new("Start-Sleep").parameter("Seconds", 100)));
    create.remote_stream_options = RemoteStreamOptions::NONE;
    create
}

fn answer(pool: &mut RunspacePool, pipeline: Uuid, calls: &[HostCall], result: HostResult) {
    pool.respond(Some(pipeline), HostResponse::new(calls.last().unwrap(), &result)).unwrap();
}

/// Performs the application's actions before this step.
fn act(pool: &mut RunspacePool, number: u64, pipelines: [Uuid; 2], calls: &[HostCall]) {
    let [first, second] = pipelines;
    match number {
        1 => pool.open().unwrap(),
        4 => assert_eq!(pool.set_max_runspaces(3).unwrap(), Some(1)),
        7 => assert_eq!(pool.get_available_runspaces().unwrap(), 2),
        10 => pool.exchange_key().unwrap(),
        13 => pool.create_pipeline_with_id(first, first_pipeline()).unwrap(),
        15 => pool.pipeline(first).unwrap().start().unwrap(),
        17 => {}
        20 => {
            let mut pipeline = pool.pipeline(first).unwrap();
            pipeline.send_input("input 1").unwrap();
            let object = psrp::Object::builder()
                .type_names(["System.Management.Automation.PSCustomObject", "System.Object"])
                .extended("a", 1)
                .extended("b", "x")
                .build();
            pipeline.send_input(object).unwrap();
            pipeline.end_input().unwrap();
        }
        24 => answer(pool, first, calls, HostResult::Text("typed text".into())),
        27 => {
            assert_eq!(calls.last().unwrap().request().unwrap(), HostRequest::ReadLineAsSecureString);
            answer(pool, first, calls, HostResult::Secure(SecureString::new("s3cret")));
        }
        30 => answer(pool, first, calls, HostResult::Number(1)),
        33 => pool.pipeline(first).unwrap().close().unwrap(),
        35 => pool.create_pipeline_with_id(second, second_pipeline()).unwrap(),
        37 => pool.pipeline(second).unwrap().start().unwrap(),
        40 => pool.pipeline(second).unwrap().stop().unwrap(),
        43 => pool.pipeline(second).unwrap().close().unwrap(),
        45 => assert_eq!(pool.reset_runspace_state().unwrap(), 3),
        49 => pool.close().unwrap(),
        other => panic!("step {other} is the client's"),
    }
}

#[test]
fn the_client_sends_the_recorded_packets() {
    let file = vectors::load("conversation.json");
    let pipelines = pipelines(&file);
    let mut pool = new_pool(&file);
    let mut comparison = Comparison::default();
    let (mut buffer, mut calls) = (Vec::new(), Vec::new());
    for step in steps(&file) {
        let number = step.number;
        if step.from_client {
            act(&mut pool, number, pipelines, &calls);
            let max = if matches!(number, 15 | 17) { 1000 } else { 32 * 1024 };
            let packet = pool.poll_transmit(max, &mut buffer).expect("a packet");
            comparison.check(number, packet, step.line);
            assert!(pool.poll_transmit(max, &mut buffer).is_none(), "step {number} has one packet");
        } else {
            let mut data = Vec::new();
            let packet = Packet::parse(step.line.as_bytes(), &mut data).unwrap();
            pool.handle_packet(packet).unwrap();
            let events: Vec<Event> = std::iter::from_fn(|| pool.poll_event()).collect();
            for event in &events {
                if let Event::HostCall { call, .. } = event {
                    calls.push(call.clone());
                }
            }
            if matches!(packet, Packet::Data { .. }) {
                let names: Vec<_> = events.iter().map(name).collect();
                assert_eq!(serde_json::json!(names), step.json["events_at_receiver"], "step {number}");
            }
        }
        // The recorded client reports stopping and closing only after the server has confirmed.
        let state = if number == 49 { "Closing" } else { step.json["client_pool_state"].as_str().unwrap() };
        assert_eq!(pool.state().to_string(), state, "step {number}");
        let mut expected = expected_states(&step.json["client_pipelines"]);
        if number == 40 {
            expected.insert(pipelines[1].to_string(), "Stopping".to_owned());
        }
        assert_eq!(states(pool.pipelines()), expected, "step {number}");
    }
    assert_eq!(comparison.compared, 14, "messages");
    assert_eq!((pool.min_runspaces(), pool.max_runspaces()), (1, 3));
    let data = pool.application_private_data().unwrap().data.as_ref().unwrap();
    assert_eq!(data.get("server"), Some(&Value::from("vector")));
}

/// Returns the pool after this number of packets.
fn replay(file: &serde_json::Value, count: usize) -> RunspacePool {
    let pipelines = pipelines(file);
    let mut pool = new_pool(file);
    let (mut buffer, mut calls) = (Vec::new(), Vec::new());
    for step in steps(file).take(count) {
        if step.from_client {
            act(&mut pool, step.number, pipelines, &calls);
            let max = if matches!(step.number, 15 | 17) { 1000 } else { 32 * 1024 };
            pool.poll_transmit(max, &mut buffer).expect("a packet");
        } else {
            let mut data = Vec::new();
            pool.handle_packet(Packet::parse(step.line.as_bytes(), &mut data).unwrap()).unwrap();
            while let Some(event) = pool.poll_event() {
                if let Event::HostCall { call, .. } = event {
                    calls.push(call);
                }
            }
        }
    }
    pool
}

/// Ends the connection, and checks that everything ends and the application is notified once.
fn assert_end(mut pool: RunspacePool, what: &str) {
    use RunspacePoolState::{BeforeOpen, Broken, Closed, Closing};

    let before = pool.state();
    let live: BTreeSet<_> = pool
        .pipelines()
        .filter(|(_, state)| {
            !matches!(state, PipelineState::Completed | PipelineState::Stopped | PipelineState::Failed)
        })
        .map(|(id, _)| id)
        .collect();
    let had_pipelines = pool.pipelines().len() > 0;
    pool.handle_end();
    let expected = match before {
        Closing => Closed,
        BeforeOpen | Closed | Broken => before,
        _ => Broken,
    };
    assert_eq!(pool.state(), expected, "{what}");
    assert_eq!(pool.pipelines().len(), 0, "{what}");
    assert_eq!(pool.pending_bytes(), 0, "{what}");
    let (mut failed, mut states) = (BTreeSet::new(), Vec::new());
    while let Some(event) = pool.poll_event() {
        match event {
            Event::Pipeline { id, event: PipelineEvent::State(info) } => {
                assert_eq!(info.state, PipelineState::Failed, "{what}");
                assert!(info.error.is_some(), "{what}");
                assert!(failed.insert(id), "{what}");
            }
            Event::Pipeline { id, event: PipelineEvent::Closed } => {
                assert!(failed.insert(id), "{what}");
            }
            Event::State(info) => states.push(info),
            _ => {}
        }
    }
    if expected != before {
        assert_eq!(states.len(), 1, "{what}");
        assert_eq!((states[0].state, states[0].error.is_some()), (expected, expected == Broken), "{what}");
        assert!(live.is_subset(&failed), "{what}");
    } else {
        assert!(!had_pipelines, "{what}");
    }
    let mut buffer = Vec::new();
    if expected != BeforeOpen {
        assert!(pool.poll_transmit(1000, &mut buffer).is_none(), "{what}");
        assert!(pool.invoke(PowerShell::script("1")).unwrap_err().is_state(), "{what}");
    }
    pool.handle_end();
    assert!(pool.poll_event().is_none(), "{what}: once is enough");
}

#[test]
fn the_connection_can_end_after_any_packet() {
    let file = vectors::load("conversation.json");
    let count = steps(&file).count();
    for cut in 0..=count {
        assert_end(replay(&file, cut), &format!("after {cut} packets"));
    }
    // Also within packets that contain messages.
    for (cut, step) in steps(&file).enumerate().filter(|(_, step)| !step.from_client) {
        let mut data = Vec::new();
        let Packet::Data { target, priority, data } = Packet::parse(step.line.as_bytes(), &mut data).unwrap()
        else {
            continue;
        };
        let mut pool = replay(&file, cut);
        let part = &data[..data.len() - 1];
        pool.handle_packet(Packet::Data { target, priority, data: part }).unwrap();
        while pool.poll_event().is_some() {}
        let (before, mut reason) = (pool.state(), None);
        pool.handle_end();
        while let Some(event) = pool.poll_event() {
            if let Event::State(info) = event {
                reason = info.error;
            }
        }
        if before != RunspacePoolState::Closing {
            let text = reason.unwrap().message().unwrap().to_string();
            assert_eq!(text, "the connection has ended within a message", "packet {}", step.number);
        }
    }
}

#[test]
fn faults_break_the_pool_or_have_no_effect() {
    let file = vectors::load("conversation.json");
    let all: Vec<_> = steps(&file).collect();
    let pipelines = pipelines(&file);
    for place in 0..=all.len() {
        // The last packet of the server repeated, the next one too early, and one with a changed byte.
        let last = all[..place].iter().rev().find(|step| !step.from_client).map(|step| (step.line, None));
        let next = all[place..].iter().find(|step| !step.from_client);
        let faulty = [last, next.map(|step| (step.line, None)), next.map(|step| (step.line, Some(place)))];
        for (kind, (line, flip)) in
            faulty.into_iter().enumerate().filter_map(|(kind, fault)| Some((kind, fault?)))
        {
            let mut buffer = Vec::new();
            let packet = Packet::parse(line.as_bytes(), &mut buffer).unwrap();
            let (mut changed, mut packet) = (Vec::new(), packet);
            if let (Packet::Data { target, priority, data }, Some(flip)) = (packet, flip) {
                changed.extend_from_slice(data);
                let index = flip * 37 % changed.len();
                changed[index] ^= 1 << (flip % 8);
                packet = Packet::Data { target, priority, data: &changed };
            }
            let mut pool = replay(&file, place);
            check_unexpected_packet(&mut pool, packet, &format!("fault {kind} after {place} packets"));
        }
        let mut pool = replay(&file, place);
        for target in [None, Some(pipelines[0]), Some(pipelines[1]), Some(Uuid::new_v4())] {
            let data = &[0xFF; 40];
            for packet in [
                Packet::DataAck(target),
                Packet::CommandAck(target),
                Packet::SignalAck(target),
                Packet::Data { target, priority: Priority::PromptResponse, data: &data[..3] },
            ] {
                let _ = pool.handle_packet(packet);
            }
        }
        let garbage = Packet::Data { target: None, priority: Priority::Default, data: &[0; 40] };
        check_unexpected_packet(&mut pool, garbage, &format!("garbage after {place} packets"));
    }
}

/// Processes an unexpected packet, and checks that the pool is either broken or unaffected.
fn check_unexpected_packet(pool: &mut RunspacePool, packet: Packet<'_>, what: &str) {
    let before = pool.state();
    match pool.handle_packet(packet) {
        Err(error) if error.is_state() => assert_eq!(pool.state(), before, "{what}: {error}"),
        Err(error) => {
            assert_eq!(pool.state(), RunspacePoolState::Broken, "{what}: {error}");
            let packet = Packet::Data { target: None, priority: Priority::Default, data: b"x" };
            assert!(pool.handle_packet(packet).unwrap_err().is_state(), "{what}");
        }
        Ok(()) => {}
    }
    while pool.poll_event().is_some() {}
    let pool = std::mem::replace(pool, RunspacePool::new(Config::new()));
    assert_end(pool, what);
}
