//! The messages of `messages.json` and of the recorded conversation, read into their types and written again.

use psrp::Value;
use psrp::clixml::{Writer, from_slice};
use psrp::message::{MessageType, Payload};
use psrp::value::{Base, Members, Object};

mod support {
    pub mod vectors_wire;
}
use support::vectors_wire::load;

/// What does not count: the implementation that made the vectors names `System.Object` as the type of some bags, gives
/// commands a text, and all flags of a number, where .NET names the largest.
fn plain(value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let names: Vec<_> = object.type_names().into_iter().flatten().map(ToString::to_string).collect();
    let is_bag = names.is_empty() || names == ["System.Object"];
    let mut out = Object::builder();
    if !is_bag {
        out = out.type_names(names);
    }
    if let Some(text) = object.to_string_text()
        && !is_bag
        && !object.is_a("System.Enum")
    {
        out = out.to_string(text.clone());
    }
    match object.base() {
        Base::Value(inner) => out = out.wrap(plain(inner)),
        Base::List(kind, items) => out = out.list(*kind, items.iter().map(plain)),
        Base::Dictionary(entries) => {
            out = out.dictionary(entries.iter().map(|(key, value)| (plain(key), plain(value))));
        }
        _ => {}
    }
    let members = |members: &Members| -> Vec<_> {
        members.iter().map(|(name, value)| (name.clone(), plain(value))).collect()
    };
    for (name, value) in members(object.adapted()) {
        out = out.adapted(name, value);
    }
    for (name, value) in members(object.extended()) {
        out = out.extended(name, value);
    }
    out.build().into()
}

fn value_of(data: &str) -> Option<Value> {
    (!data.is_empty()).then(|| from_slice(data.as_bytes()).expect("the data are CLIXML"))
}

/// The attributes of objects in PowerShell's order, the name before the number.
fn name_first(data: &str) -> String {
    let mut parts = data.split("<Obj RefId=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (id, rest) = part.split_once('"').expect("the end of the number");
        let name = rest.strip_prefix(" N=").map(|name| name.split_inclusive('"').take(2).collect::<String>());
        match name {
            Some(name) => out += &format!("<Obj N={name} RefId=\"{id}\"{}", &rest[3 + name.len()..]),
            None => out += &format!("<Obj RefId=\"{id}\"{rest}"),
        }
    }
    out
}

fn number(id: &serde_json::Value) -> u32 {
    let digits = id.as_str().and_then(|id| id.strip_prefix("0x")).expect("a hexadecimal number");
    u32::from_str_radix(digits, 16).expect("a hexadecimal number")
}

#[test]
fn every_message_is_read_and_written_as_it_was() {
    let cases = load("messages.json");
    let mut same_bytes = 0;
    for case in cases.as_array().expect("a list") {
        let name = case["name"].as_str().expect("a name");
        let data = case["data"].as_str().expect("data");
        let message_type = MessageType::from_id(number(&case["type_id"]));
        let payload =
            Payload::decode(message_type, data.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(payload.message_type(), message_type, "{name}");
        assert_eq!(payload.to_value().as_ref().map(plain), value_of(data).as_ref().map(plain), "{name}");

        let mut writer = Writer::new();
        let written = payload.encode(&mut writer).unwrap_or_else(|error| panic!("{name}: {error}"));
        // The vectors have the text of an enumeration after its number. Without one nothing differs.
        if !data.contains("<ToString>") {
            assert_eq!(str::from_utf8(written).unwrap(), name_first(data), "{name}");
            same_bytes += 1;
        }
        assert_eq!(Payload::decode(message_type, written).unwrap(), payload, "{name}");

        let with_mark = [b"\xEF\xBB\xBF", data.as_bytes()].concat();
        assert_eq!(Payload::decode(message_type, &with_mark).unwrap(), payload, "{name}");
    }
    assert!(same_bytes >= 30, "only {same_bytes} messages were compared byte for byte");
}

#[test]
fn the_recorded_conversation_is_read_step_by_step() {
    let conversation = load("conversation.json");
    let mut count = 0;
    for step in conversation["steps"].as_array().expect("a list") {
        let fragments = step["fragments"].as_array();
        for message in fragments.into_iter().flatten().map(|fragment| &fragment["message"]) {
            let (Some(name), Some(data)) = (message["type_name"].as_str(), message["data"].as_str()) else {
                continue;
            };
            let message_type = MessageType::from_id(number(&message["type"]));
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

/// What some of the steps have to mean.
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
