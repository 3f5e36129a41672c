//! Messages of `messages.json` and of the recorded conversation, decoded into their types and encoded again.

use psrp::Value;
use psrp::clixml::Writer;
use psrp::message::Payload;

use crate::message_round_trip;
use crate::message_round_trip::message_type;
use crate::vectors_wire::load;

#[test]
fn message_vectors_survive_a_round_trip() {
    let cases = load("messages.json");
    let cases = cases.as_array().expect("a list").iter();
    let same_bytes = cases
        .filter(|case| {
            message_round_trip::check(message_type(&case["type_id"]), case["data"].as_str().unwrap())
        })
        .count();
    assert!(same_bytes >= 30, "only {same_bytes} messages were compared byte for byte");
}

#[test]
fn the_recorded_conversation_is_decoded() {
    let conversation = load("conversation.json");
    let mut count = 0;
    for step in conversation["steps"].as_array().expect("a list") {
        let fragments = step["fragments"].as_array();
        for message in fragments.into_iter().flatten().map(|fragment| &fragment["message"]) {
            let (Some(name), Some(data)) = (message["type_name"].as_str(), message["data"].as_str()) else {
                continue;
            };
            let message_type = message_type(&message["type"]);
            let payload = Payload::decode(message_type, data.as_bytes())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!matches!(payload, Payload::Other(..)), "{name}");
            let mut writer = Writer::new();
            let written = payload.encode(&mut writer).unwrap();
            assert_eq!(Payload::decode(message_type, written).unwrap(), payload, "{name}");
            check(step["n"].as_i64(), &payload);
            count += 1;
        }
    }
    assert_eq!(count, 42);
}

/// Checks the content of some steps.
fn check(step: Option<i64>, payload: &Payload) {
    use psrp::host::{HostRequest, HostResult};
    use psrp::message::{Availability, PipelineState, RunspacePoolState};

    match (step, payload) {
        (Some(1), Payload::InitRunspacePool(init)) => {
            assert_eq!(init.application_arguments.as_ref().unwrap().get("CLIENT").unwrap(), &"vector");
            assert!(init.host_info.is_host_raw_ui_null && !init.host_info.is_host_ui_null);
        }
        (Some(6), Payload::RunspaceAvailability(answer)) => {
            assert_eq!(answer.availability, Availability::Accepted(true));
        }
        (Some(9), Payload::RunspaceAvailability(answer)) => {
            assert_eq!((answer.availability, answer.call_id), (Availability::Count(3), 2));
        }
        (Some(17), Payload::CreatePipeline(message)) => {
            let command = &message.power_shell.statements().next().unwrap()[0];
            assert_eq!(command.text, "process { $_ }");
            assert!(matches!(command.parameters[0].value, Value::SecureString(_)));
        }
        (Some(22), Payload::ErrorRecord(record)) => assert_eq!(record.message().unwrap(), &"boom"),
        (Some(22), Payload::InformationRecord(record)) => assert_eq!(record.tags.len(), 1),
        (Some(22), Payload::ProgressRecord(record)) => assert_eq!(record.percent_complete, 50),
        (Some(23), Payload::PipelineHostCall(call)) => match call.request().unwrap() {
            HostRequest::WriteLine2 { text } => assert!(call.is_void() && text == "Hello host"),
            other => assert_eq!((call.call_id, other), (1, HostRequest::ReadLine)),
        },
        (Some(24), Payload::PipelineHostResponse(response)) => {
            assert_eq!(response.result().unwrap(), HostResult::Text("typed text".into()));
        }
        (Some(27), Payload::PipelineHostResponse(response)) => {
            assert!(matches!(response.result().unwrap(), HostResult::Secure(_)));
        }
        (Some(29), Payload::PipelineHostCall(call)) => {
            let HostRequest::PromptForChoice { choices, default_choice, .. } = call.request().unwrap() else {
                panic!("another method")
            };
            assert_eq!((choices.len(), default_choice), (2, 0));
            assert_eq!(choices[1].label, "&No");
        }
        (Some(30), Payload::PipelineHostResponse(response)) => {
            assert_eq!(response.result().unwrap(), HostResult::Number(1));
        }
        (Some(41), Payload::PipelineState(info)) if info.error.is_some() => {
            assert_eq!(info, &psrp::message::PipelineStateInfo::stopped());
            assert_eq!(info.state, PipelineState::Stopped);
        }
        (Some(50), Payload::RunspacePoolState(info)) => assert_eq!(info.state, RunspacePoolState::Closed),
        _ => {}
    }
}
