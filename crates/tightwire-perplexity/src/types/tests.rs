//! Property tests of all types.

use std::any::Any;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::{Map, Value};

use super::arbitrary::{Source, any_value, any_with};
use super::*;

/// Bounds of every tested type.
pub(crate) trait Wire:
    Serialize + DeserializeOwned + PartialEq + Clone + Debug + Send + Sync + Any
{
}

impl<T: Serialize + DeserializeOwned + PartialEq + Clone + Debug + Send + Sync + Any> Wire for T {}

/// A value of any tested type.
trait Tested: Debug + Any {
    fn text(&self) -> String;

    fn equals(&self, other: &dyn Tested) -> bool;
}

impl<T: Wire> Tested for T {
    fn text(&self) -> String {
        tightwire_json::to_string(self).unwrap()
    }

    fn equals(&self, other: &dyn Tested) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

type Decoded = tightwire_json::Result<Box<dyn Tested>>;

/// The decoders of a type. The checks are functions of them, because a generic check would be compiled for each type.
struct Decoders {
    parse: fn(&str) -> Decoded,
    convert: fn(Value) -> Decoded,
}

impl Decoders {
    fn of<T: Wire>() -> Self {
        Self {
            parse: |text| Ok(Box::new(tightwire_json::from_str::<T>(text)?)),
            convert: |value| Ok(Box::new(T::deserialize(value)?)),
        }
    }

    fn decode(&self, text: &str) -> Result<Box<dyn Tested>, TestCaseError> {
        (self.parse)(text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))
    }

    /// Checks that a value decodes from its encoding, also with reordered fields and from a buffered [`Value`].
    fn round_trips(&self, value: &dyn Tested) -> Result<(), TestCaseError> {
        let text = value.text();
        let again = self.decode(&text)?;
        prop_assert!(again.equals(value), "{:?} became {:?}: {}", value, again, text);
        let dynamic: Value = tightwire_json::from_str(&text).unwrap();
        prop_assert!((self.parse)(&dynamic.to_string()).unwrap().equals(value), "{}", dynamic);
        prop_assert!((self.convert)(dynamic).unwrap().equals(value), "{}", text);
        Ok(())
    }

    /// Checks that unknown fields and `null` decode, and that they are encoded again.
    fn tolerates_unknown_fields(&self, value: &dyn Tested) -> Result<(), TestCaseError> {
        let Value::Object(object) = encode(value) else { return Ok(()) };
        let decode = |object: &Map<String, Value>| self.decode(&Value::Object(object.clone()).to_string());
        let mut with_more = object.clone();
        with_more
            .insert("of_the_future".to_owned(), tightwire_json::from_str(r#"{"a": [1, null]}"#).unwrap());
        let again = encode(&*decode(&with_more)?);
        prop_assert_eq!(Value::Object(with_more), again);
        for name in object.keys() {
            let mut with_null = object.clone();
            with_null.insert(name.to_string(), Value::Null);
            let again = encode(&*decode(&with_null)?);
            prop_assert!(again.get(name).is_some(), "{} is lost", name);
        }
        Ok(())
    }

    /// Checks that replacing any nested value leads to a decoding error or to a value that round-trips.
    fn survives_changes(&self, value: &dyn Tested, place: usize, other: &Value) -> Result<(), TestCaseError> {
        let mut changed = encode(value);
        let mut place = place % count(&changed);
        replace(&mut changed, &mut place, other);
        match (self.parse)(&changed.to_string()) {
            Ok(understood) => self.round_trips(&*understood),
            Err(error) => {
                prop_assert!(error.is_data(), "{error}: {}", changed);
                Ok(())
            }
        }
    }

    /// Checks the properties of generated values.
    fn check(&self, name: &str, generate: fn(&mut Source) -> Box<dyn Tested>) {
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 32,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let strategy = (any_with(generate), any::<usize>(), any_value::<Option<Value>>());
        let result = runner.run(&strategy, |(value, place, other)| {
            self.round_trips(&*value)?;
            self.tolerates_unknown_fields(&*value)?;
            self.survives_changes(&*value, place, &other.unwrap_or_default())
        });
        if let Err(error) = result {
            panic!("{name}: {error}");
        }
    }
}

fn round_trips<T: Wire>(value: &T) -> Result<(), TestCaseError> {
    Decoders::of::<T>().round_trips(value)
}

/// Returns the number of values in a tree, including the root.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(object) => object.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the value at `place`, counted in the order of [`count`].
fn replace(value: &mut Value, place: &mut usize, other: &Value) {
    if *place == 0 {
        *value = other.clone();
    }
    // Wraps around after the replacement, so that nothing else is replaced.
    *place = place.wrapping_sub(1);
    if *place == usize::MAX {
        return;
    }
    let children: Vec<&mut Value> = match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(object) => object.values_mut().collect(),
        _ => return,
    };
    for child in children {
        replace(child, place, other);
        if *place == usize::MAX {
            return;
        }
    }
}

fn encode(value: &dyn Tested) -> Value {
    tightwire_json::from_str(&value.text()).unwrap()
}

/// Checks the properties of a type. The macros of `wire` define a test that calls this for each type.
pub(crate) fn check<T: Wire + arbitrary::Arbitrary>() {
    Decoders::of::<T>().check(std::any::type_name::<T>(), |source| Box::new(T::arbitrary(source)));
}

/// Any chunks and events, in any order, accumulate to a response that round-trips.
#[test]
fn random_chunks_and_events_accumulate() {
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }, |(
        parts in any_value::<Vec<chat::Completion>>(),
        events in any_value::<Vec<responses::Event>>(),
    )| {
        let mut accumulator = chat::Accumulator::new();
        accumulator.extend(&parts);
        prop_assert_eq!(accumulator.is_finished(), parts.iter().any(chat::Completion::is_last));
        round_trips(&accumulator.finish())?;

        let mut accumulator = responses::Accumulator::new();
        for event in &events {
            accumulator.push(event);
        }
        prop_assert_eq!(accumulator.is_finished(), events.iter().any(responses::Event::is_final));
        round_trips(&accumulator.finish())?;
    });
}

/// The deltas of a text accumulate to the text.
#[test]
fn deltas_accumulate_to_the_text() {
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }, |(
        deltas in proptest::collection::vec(".{0,8}", 0..8),
        repeats in any::<bool>(),
    )| {
        let mut accumulator = chat::Accumulator::new();
        let mut so_far = String::new();
        for delta in &deltas {
            so_far += delta;
            let choice = chat::Choice {
                delta: Some(chat::Delta { content: Some(delta.as_str().into()), ..Default::default() }),
                message: repeats.then(|| chat::Message::assistant(so_far.as_str())),
                ..Default::default()
            };
            accumulator.push(&chat::Completion { choices: vec![choice], ..Default::default() });
            prop_assert_eq!(accumulator.text(), &so_far);
        }
        let whole = accumulator.finish();
        prop_assert_eq!(whole.text().unwrap_or_default(), so_far);
    });
}
