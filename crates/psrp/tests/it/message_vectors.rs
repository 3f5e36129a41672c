//! Messages of `messages.json`, decoded into their types and encoded again, also with other content.

use std::collections::BTreeSet;
use std::mem::discriminant;

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::clixml::{Writer, from_slice};
use psrp::message::{MessageType, Payload};
use psrp::record::{InformationalRecord, InvocationInfo, ScriptExtent};
use psrp::value::{Base, Members};
use psrp::{Object, PsString, Value};

use crate::message_round_trip;
use crate::message_round_trip::message_type;
use crate::powershell_recorded::recorded_payloads;
use crate::support::values::{any_primitive, any_text, any_value};
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

/// Returns values of every message type: the vectors, PowerShell's messages, and what neither contains.
fn samples() -> Vec<(MessageType, Value)> {
    let vectors = load("messages.json");
    let vectors = vectors.as_array().unwrap().iter().filter_map(|case| {
        let data = case["data"].as_str().filter(|data| !data.is_empty())?;
        Some((message_type(&case["type_id"]), from_slice(data.as_bytes()).unwrap()))
    });
    let mut warning = InformationalRecord::new("with an extent");
    let extent = Some(ScriptExtent::default());
    warning.invocation = Some(Box::new(InvocationInfo { extent, ..InvocationInfo::default() }));
    let more = [
        (MessageType::ConnectRunspacePool, "<I32 N='MinRunspaces'>1</I32><I32 N='MaxRunspaces'>2</I32>"),
        (MessageType::SetMinRunspaces, "<I32 N='MinRunspaces'>1</I32><I64 N='ci'>2</I64>"),
        (
            MessageType::RunspacePoolHostCall,
            "<I64 N='ci'>1</I64><I32 N='mi'>11</I32><Obj N='mp'><LST/></Obj>",
        ),
    ];
    let more = more.map(|(message_type, members)| {
        Payload::decode(message_type, format!("<Obj><MS>{members}</MS></Obj>").as_bytes()).unwrap()
    });
    let progress = from_slice(
        b"<PR><AV>a</AV><AI>1</AI><Nil/><PI>-1</PI><PC>1</PC><T>Processing</T><SR>-1</SR><SD>s</SD></PR>",
    );
    let progress = Payload::from_value(MessageType::ProgressRecord, Some(progress.unwrap())).unwrap();
    let payloads = recorded_payloads().into_iter().chain(more);
    let payloads = payloads.chain([Payload::WarningRecord(Box::new(warning)), progress]);
    vectors
        .chain(payloads.filter_map(|payload| Some((payload.message_type(), payload.to_value()?))))
        .collect()
}

/// Changes of the leaves of a value: `choices` select what happens to each in turn.
#[derive(Debug)]
struct Changes {
    /// Only primitives change, and keep their types. Null may become a text.
    keeps_types: bool,
    choices: std::iter::Cycle<std::vec::IntoIter<u8>>,
    values: std::iter::Cycle<std::vec::IntoIter<Value>>,
    primitives: std::iter::Cycle<std::vec::IntoIter<Value>>,
}

impl Changes {
    /// Returns a primitive of the same type, rarely any value or null. `None` removes the value.
    fn value(&mut self, value: &Value) -> Option<Value> {
        let choice = self.choices.next()?;
        match (if self.keeps_types { choice.max(8) } else { choice }, value) {
            (0, _) => None,
            (1..4, _) => self.values.next(),
            (4..8, _) => Some(Value::Nil),
            (_, Value::Object(object)) => Some(self.object(object).into()),
            // The place of a text, most likely.
            (8..60, Value::Nil) => self.primitive(&Value::String(PsString::default())),
            (8..200, _) => self.primitive(value),
            _ => Some(value.clone()),
        }
    }

    /// Returns a primitive of the same type.
    fn primitive(&mut self, value: &Value) -> Option<Value> {
        let mut primitives = self.primitives.by_ref().take(100);
        let same = primitives.find(|other| discriminant(other) == discriminant(value));
        Some(same.unwrap_or_else(|| value.clone()))
    }

    fn object(&mut self, object: &Object) -> Object {
        let mut out = Object::builder();
        if let Some(names) = object.type_names() {
            out = out.type_names(names.into_iter().cloned());
        }
        if let Some(text) = object.to_string_text() {
            out = out.to_string(text.clone());
        }
        match object.base() {
            Base::Value(inner) => out = out.wrap(self.value(inner).unwrap_or_default()),
            Base::List(kind, items) => {
                out = out.list(*kind, items.iter().filter_map(|item| self.value(item)))
            }
            Base::Dictionary(entries) => {
                let entries =
                    entries.iter().filter_map(|(key, value)| Some((key.clone(), self.value(value)?)));
                out = out.dictionary(entries.collect::<Vec<_>>());
            }
            _ => {}
        }
        // These decide about other members, or are written only if they are a dictionary.
        let is_fixed = |name: &PsString| {
            let name = name.to_str_lossy();
            ["PipelineIterationInfo", "BoundParameters", "Serialize"].iter().any(|part| name.contains(part))
        };
        let mut members = |members: &Members| -> Vec<_> {
            let changed = members.iter().filter_map(|(name, value)| {
                let value = if is_fixed(name) { value.clone() } else { self.value(value)? };
                Some((name.clone(), value))
            });
            changed.collect()
        };
        let (adapted, extended) = (members(object.adapted()), members(object.extended()));
        out = adapted.into_iter().fold(out, |out, (name, value)| out.adapted(name, value));
        extended.into_iter().fold(out, |out, (name, value)| out.extended(name, value)).build()
    }
}

fn changes() -> impl Strategy<Value = Changes> {
    let primitive = prop_oneof![
        1 => any_primitive(),
        1 => any_text().prop_map(Value::String),
        1 => prop_oneof![any::<i32>(), 0..40].prop_map(Value::Int32),
    ];
    (any::<bool>(), vec(any::<u8>(), 1..200), vec(any_value(), 1..6), vec(primitive, 100)).prop_map(
        |(keeps_types, choices, values, primitives)| Changes {
            keeps_types,
            choices: choices.into_iter().cycle(),
            values: values.into_iter().cycle(),
            primitives: primitives.into_iter().cycle(),
        },
    )
}

#[test]
fn all_message_types_have_samples() {
    let types: BTreeSet<u32> = samples().iter().map(|(message_type, _)| message_type.id()).collect();
    let without_data = [MessageType::PublicKeyRequest, MessageType::EndOfPipelineInput];
    let expected = MessageType::ALL.iter().filter(|message_type| !without_data.contains(message_type));
    assert!(types.is_superset(&expected.map(|message_type| message_type.id()).collect()), "{types:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn messages_survive_a_round_trip(
        (message_type, sample) in prop::sample::select(samples()), mut changes in changes()
    ) {
        let keeps_types = changes.keeps_types;
        let changed = changes.value(&sample);
        match Payload::from_value(message_type, changed) {
            Ok(payload) => {
                // Values of other types may have no place in the message, and the writer replaces numbers of progress
                // records and empty texts that PowerShell's class rejects.
                let payload = match message_type {
                    MessageType::ProgressRecord => Payload::from_value(message_type, payload.to_value()).unwrap(),
                    _ if !keeps_types => Payload::from_value(message_type, payload.to_value()).unwrap(),
                    _ => payload,
                };
                let value = payload.to_value();
                prop_assert_eq!(&Payload::from_value(message_type, value.clone()).unwrap(), &payload);
                let data = payload.encode(&mut Writer::new()).unwrap().to_vec();
                let read = Payload::decode(message_type, &data).unwrap();
                prop_assert_eq!(&read, &payload);
                prop_assert_eq!(read.to_value(), value);
            }
            Err(error) => prop_assert!(error.is_mismatch()),
        }
    }

    #[test]
    fn any_value_is_read_or_rejected(value in any_value(), index in any::<prop::sample::Index>()) {
        let message_type = *index.get(MessageType::ALL);
        if let Err(error) = Payload::from_value(message_type, Some(value)) {
            prop_assert!(error.is_mismatch());
        }
    }
}
