//! Deeply nested values on a stack of 512 KiB.

use psrp::clixml::{Limits, ReadOptions, Reader, WriteOptions, Writer};
use psrp::message::{MessageType, Payload};
use psrp::value::{Base, ContainerKind, Members};
use psrp::{Object, Value};

/// Runs on a thread with a small stack, half the smallest common size.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
}

/// Objects nested in all possible ways.
fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::from(1), |inner, level| {
        let object = Object::builder();
        let object = match level % 6 {
            0 => object.extended("a", inner),
            1 => object.adapted("a", inner),
            2 => object.wrap(inner),
            3 => object.list(ContainerKind::Stack, [inner]),
            4 => object.dictionary([("a", inner)]),
            _ => {
                let members: Members = [("b", inner)].into_iter().collect();
                object.extended("a", Value::MemberSet(Box::new(members)))
            }
        };
        object.build().into()
    })
}

#[test]
fn documents_of_maximum_depth_are_processed() {
    on_small_stack(|| {
        let depth = Limits::MAX_DEPTH;
        for (start, end) in [
            ("<Obj N='Value'><MS>", "</MS></Obj>"),
            ("<Obj N='Value'><Props>", "</Props></Obj>"),
            ("<Obj N='Value'><LST>", "</LST></Obj>"),
            ("<Obj N='Value'><DCT><En><S N='Key'>a</S>", "</En></DCT></Obj>"),
        ] {
            let (start, end) = (start.repeat(depth - 1), end.repeat(depth - 1));
            let xml = format!("{start}<I32 N='Value'>1</I32>{end}");
            let options = ReadOptions::new().limits(Limits::new().max_depth(usize::MAX));
            let read = || Reader::with_options(xml.as_bytes(), options.clone()).next().unwrap().unwrap().1;
            let value = read();
            assert_eq!(value, read());
            assert!(!format!("{value:?}{value:#?}").is_empty());
            let mut writer = Writer::with_options(WriteOptions::new().max_depth(usize::MAX));
            writer.write(&value).unwrap();
            let again = Reader::with_options(&writer.take(), options.clone()).next().unwrap().unwrap().1;
            assert_eq!(value, again);
        }
    });
}

type Wrap = fn(Value) -> Value;

/// Chains of objects nested in one way.
const CHAINS: [(&str, Wrap); 8] = [
    ("extended members", |inner| Object::builder().extended("a", inner).build().into()),
    ("adapted members", |inner| Object::builder().adapted("a", inner).build().into()),
    ("wrapped values", |inner| Object::builder().wrap(inner).build().into()),
    ("items", |inner| Object::builder().list(ContainerKind::Queue, [inner]).build().into()),
    ("values of dictionaries", |inner| Object::dictionary([("a", inner)]).into()),
    ("keys of dictionaries", |inner| Object::dictionary([(inner, "a")]).into()),
    ("sets", set),
    ("items that are sets", |inner| Object::list([set(inner)]).into()),
];

fn set(inner: Value) -> Value {
    let members: Members =
        [("a", Value::from(1)), ("b", inner), ("c", Value::from("x"))].into_iter().collect();
    Value::MemberSet(Box::new(members))
}

/// Runs all functions that process a value without a depth limit.
fn check_all_functions(what: &str, value: &Value, same: &Value, other: &Value) {
    assert_eq!(value, &value.clone(), "{what}");
    assert_eq!(value, same, "{what}");
    assert_ne!(value, other, "{what}");
    assert!(format!("{value:?}").len() < 10_000, "{what}");
    assert!(format!("{value:#?}").len() < 1_000_000, "{what}");
    assert!(matches!(value.base(), Value::Object(_) | Value::MemberSet(_) | Value::Int32(1)), "{what}");
    assert!(value.as_str().is_none() && value.as_i32().is_none_or(|number| number == 1), "{what}");
    assert!(value.items().is_none_or(|items| items.len() == 1), "{what}");
    assert!(value.entries().is_none_or(|entries| entries.len() == 1), "{what}");
    for message_type in [MessageType::PipelineOutput, MessageType::InformationRecord] {
        let value = match message_type {
            MessageType::PipelineOutput => value.clone(),
            _ => Object::builder().extended("MessageData", value.clone()).build().into(),
        };
        let payload = Payload::from_value(message_type, Some(value)).unwrap();
        assert_eq!(payload, payload.clone(), "{what}");
        assert!(payload.encode(&mut Writer::new()).is_err(), "{what}");
    }
}

#[test]
fn values_built_in_code_may_be_deeper() {
    const LEVELS: usize = 30_000;
    on_small_stack(|| {
        check_all_functions("all", &nested(LEVELS), &nested(LEVELS), &nested(LEVELS + 6));
        for (what, hold) in CHAINS {
            let chain = |levels| (0..levels).fold(Value::from(1), |inner, _| hold(inner));
            let value = chain(LEVELS);
            check_all_functions(what, &value, &chain(LEVELS), &chain(LEVELS + 1));
            for depth in [WriteOptions::DEFAULT_MAX_DEPTH, usize::MAX] {
                let mut writer = Writer::with_options(WriteOptions::new().max_depth(depth));
                // A set can only be written as a member.
                let written = Object::builder().extended("a", value.clone()).build().into();
                let error = writer.write(&written).unwrap_err();
                assert!(error.is_limit() || error.is_unwritable(), "{what}: {error}");
            }
        }
    });
}

#[test]
fn parts_of_deep_values_are_processed() {
    on_small_stack(|| {
        let set = || {
            (0..100_000).fold(Members::new(), |inner, _| {
                [("a", Value::MemberSet(Box::new(inner)))].into_iter().collect()
            })
        };
        assert!(set() == set().clone());
        assert!(format!("{:?}", set()).len() < 10_000);
        assert_eq!(set().into_iter().count(), 1);

        let object =
            Object::builder().extended("a", nested(100_000)).extended("b", Value::MemberSet(Box::new(set())));
        assert!(format!("{object:?}").len() < 10_000);
        assert_eq!(object.clone().build(), object.build());

        let base = Base::Value(nested(100_000));
        assert!(base == base.clone());
        assert!(format!("{base:?}").len() < 10_000);
    });
}

#[cfg(feature = "crypto")]
#[test]
fn strings_are_decrypted_at_any_depth() {
    use psrp::crypto::SessionKey;
    use psrp::value::SecureString;

    on_small_stack(|| {
        let key = SessionKey::from_bytes([7; 32]).unwrap();
        let secret = SecureString::from_encrypted(SecureString::new("x").encrypt(&key).unwrap());
        for (what, hold) in CHAINS {
            let secret = SecureString::from_encrypted(secret.encrypted().unwrap());
            let value = (0..100_000).fold(Value::from(secret.clone()), |inner, _| hold(inner));
            value.decrypt(&key).unwrap();
            assert!(!secret.is_encrypted(), "{what}");
        }
    });
}

#[cfg(feature = "serde")]
#[test]
fn serde_stops_at_its_budget() {
    use psrp::serde::{Budget, Plain};

    on_small_stack(|| {
        let value = nested(100_000);
        assert!(psrp::from_value::<serde_json::Value>(&value).unwrap_err().is_limit());
        assert!(serde_json::to_string(&Plain::new(&value)).is_err());
        assert!(serde_json::to_string(&Plain::new(&value).with_type_names()).is_err());
        for (what, hold) in CHAINS {
            let value = (0..100_000).fold(Value::from(1), |inner, _| hold(inner));
            assert_eq!(psrp::from_value::<Value>(&value).unwrap(), value, "{what}");
            assert!(psrp::from_value::<serde::de::IgnoredAny>(&value).is_ok(), "{what}");
            assert!(psrp::from_value::<serde_json::Value>(&value).is_err(), "{what}");
            assert!(psrp::from_value::<String>(&value).is_err(), "{what}");
            assert!(psrp::from_value::<Vec<i32>>(&value).is_err(), "{what}");
            // A key becomes text in JSON, whatever it contains.
            let is_text = what == "keys of dictionaries";
            assert_eq!(serde_json::to_string(&Plain::new(&value)).is_ok(), is_text, "{what}");
            assert_eq!(
                serde_json::to_string(&Plain::new(&value).with_type_names()).is_ok(),
                is_text,
                "{what}"
            );
            assert_eq!(psrp::to_value(&value).unwrap(), value, "{what}");
        }

        let value = nested(usize::try_from(Budget::DEFAULT_MAX_DEPTH).unwrap() / 2);
        assert!(psrp::from_value::<serde_json::Value>(&value).is_ok());
        assert!(serde_json::to_string(&Plain::new(&value)).is_ok());
    });
}
