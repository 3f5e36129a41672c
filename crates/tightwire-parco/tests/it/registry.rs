//! Several message types on one stream.

use std::fmt;

use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{
    Be, HeaderInt, I8, I32, Le, SmallVarchar, StaticWire, U8, U16, U64, Wire, WireOf,
};
use tightwire_parco::{
    Decode, Encode, Frame, Get, HasId, Limits, Options, Put, Registry, Segment, WireExt, builder,
};

use crate::golden;

#[derive(Clone, Debug, Default, PartialEq)]
struct Animal {
    age: u8,
    specie: String,
}

impl HasId<i64> for Animal {
    fn id(&self) -> i64 {
        0
    }
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Flat {
    price: f32,
    #[parco(small)]
    address: String,
}

impl HasId<i64> for Flat {
    fn id(&self) -> i64 {
        1
    }
}

fn animal() -> impl Put<Animal> + for<'de> Get<'de, Animal> + Send + Sync {
    builder::<Animal>()
        .field(SmallVarchar::NEW, |animal| &animal.specie, |animal, specie| animal.specie = specie)
        .named("specie")
        .field(U8, |animal| &animal.age, |animal, age| animal.age = age)
        .named("age")
}

fn models() -> Registry<HeaderInt<U8>, i64> {
    let mut models = Registry::new(HeaderInt(U8));
    models.register(0, animal()).unwrap().register_type::<Flat>(1).unwrap();
    models
}

fn monkeys() -> Animal {
    Animal { age: 10, specie: "monkeys".into() }
}

fn flat() -> Flat {
    Flat { price: 42.0, address: "Plaza mayor".into() }
}

#[test]
fn go_library_stream_round_trips() {
    let bytes = golden::bytes("streams", "multi-stream");
    let felix = Animal { age: 7, specie: "felix catus".into() };
    let models = models();
    let mut stream = Vec::new();
    models.encode(&monkeys(), &mut stream).unwrap();
    assert_eq!(stream.len(), 10);
    models.encode_as(&1, &flat(), &mut stream).unwrap();
    assert_eq!(stream.len(), 27);
    models.encode(&felix, &mut stream).unwrap();
    assert_eq!(stream, bytes);

    let mut frames = models.frames(&bytes);
    let first = frames.next().unwrap().unwrap();
    assert_eq!((first.id, first.downcast_ref()), (0, Some(&monkeys())));
    assert_eq!(frames.offset(), 10);
    let second = frames.next().unwrap().unwrap();
    assert_eq!(second.id, 1);
    assert_eq!(second.downcast::<Flat>().unwrap(), flat());
    assert_eq!(frames.rest().len(), 14);
    let third = frames.next().unwrap().unwrap();
    assert_eq!(third.downcast::<Flat>().unwrap_err().downcast::<Animal>().unwrap(), felix);
    assert!(frames.next().is_none());
    assert!(frames.next().is_none());
}

#[test]
fn ids_of_all_wire_types() {
    let x = Animal { age: 1, specie: "x".into() };

    let mut numbers = Registry::new(U16::<Be>::NEW);
    numbers.register(258u16, animal()).unwrap();
    let mut bytes = Vec::new();
    numbers.encode_as(&258, &x, &mut bytes).unwrap();
    assert_eq!(bytes, golden::bytes("streams", "multi-u16be-id"));
    assert_eq!(numbers.decode_as::<Animal>(&bytes).unwrap(), ((258, x.clone()), &[][..]));

    let mut texts: Registry<SmallVarchar, String> = Registry::new(SmallVarchar::NEW);
    texts.register("animal".into(), animal()).unwrap();
    let mut bytes = Vec::new();
    texts.encode_as("animal", &x, &mut bytes).unwrap();
    assert_eq!(bytes, golden::bytes("streams", "multi-string-id"));
    let (frame, rest) = texts.decode(&bytes).unwrap();
    assert_eq!((frame.id.as_str(), frame.downcast_ref(), rest.len()), ("animal", Some(&x), 0));
}

#[test]
fn signed_ids_can_be_negative() {
    let mut models = Registry::new(HeaderInt(I8));
    models.register(-1, animal()).unwrap();
    let mut bytes = Vec::new();
    models.encode_as(&-1, &Animal::default(), &mut bytes).unwrap();
    assert_eq!(bytes, [0xff, 0, 0]);
    assert_eq!(models.decode(&bytes).unwrap().0.id, -1);
}

/// Failed encoding leaves the vector unchanged. Go writes the id before it fails.
#[test]
fn failed_encoding_writes_nothing() {
    let models = models();
    let long = Animal { age: 0, specie: "x".repeat(256) };
    let mut bytes = vec![1, 2, 3];
    assert!(models.encode_as(&9, &monkeys(), &mut bytes).unwrap_err().is_unknown_type());
    assert!(models.encode_as(&1, &monkeys(), &mut bytes).unwrap_err().is_unknown_type());
    assert!(models.encode_as(&256, &monkeys(), &mut bytes).unwrap_err().is_overflow());
    assert!(models.encode_as(&-1, &monkeys(), &mut bytes).unwrap_err().is_overflow());
    let inside = models.encode(&long, &mut bytes).unwrap_err();
    assert!(inside.is_overflow());
    assert_eq!((inside.path(), inside.offset()), (&[Segment::Field("specie")][..], Some(1)));
    assert_eq!(bytes, [1, 2, 3]);
}

#[test]
fn go_messages_match_the_go_library() {
    let mut models = models();
    let taken = models.register(0, animal()).unwrap_err();
    assert!(taken.is_already_registered());
    let case = golden::case("encode_errors", "multi-register-twice");
    assert!(case["message"].as_str().unwrap().ends_with(taken.go_message().unwrap()));
    let case = golden::case("encode_errors", "multi-unknown-id");
    let unknown = models.encode_as(&9, &monkeys(), &mut Vec::new()).unwrap_err();
    assert!(case["message"].as_str().unwrap().ends_with(unknown.go_message().unwrap()));
}

#[test]
fn duplicate_registration_keeps_the_first() {
    let mut models = models();
    assert!(models.register_type::<Flat>(0).unwrap_err().is_already_registered());
    let mut bytes = Vec::new();
    models.encode(&monkeys(), &mut bytes).unwrap();
    assert_eq!(models.decode_as::<Animal>(&bytes).unwrap().0, (0, monkeys()));
    assert_eq!(models.ids().copied().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn what_cannot_be_read() {
    let models = models();
    let unknown = models.decode(&golden::bytes("decode_errors", "multi-parse-unknown")).unwrap_err();
    assert!(unknown.is_unknown_type());
    assert_eq!(unknown.offset(), Some(0));
    let empty = models.decode(&golden::bytes("decode_errors", "multi-parse-empty")).unwrap_err();
    assert!(empty.is_unexpected_end());
    let truncated =
        models.decode(&golden::bytes("model_decode_truncation", "multi-truncated-model")).unwrap_err();
    assert!(truncated.is_unexpected_end());
    assert_eq!(truncated.path(), [Segment::Field("specie")]);

    let mut bytes = Vec::new();
    models.encode(&monkeys(), &mut bytes).unwrap();
    let wrong = models.decode_as::<Flat>(&bytes).unwrap_err();
    assert!(wrong.is_unknown_type());
    assert_eq!(wrong.offset(), Some(0));
    bytes.push(0);
    assert!(models.decode_exact::<Frame<i64>>(&bytes).unwrap_err().is_trailing_bytes());
}

#[test]
fn frames_end_with_the_first_error() {
    let mut bytes = golden::bytes("streams", "multi-stream");
    bytes[10] = 9;
    let models = models();
    let mut frames = models.frames(&bytes);
    assert_eq!(frames.next().unwrap().unwrap().id, 0);
    let error = frames.next().unwrap().unwrap_err();
    assert!(error.is_unknown_type());
    assert_eq!((error.offset(), frames.offset()), (Some(0), 10));
    assert!(frames.next().is_none());
    assert_eq!(frames.rest(), &bytes[10..]);
}

#[test]
fn limits_apply_to_each_frame() {
    let bytes = golden::bytes("streams", "multi-stream");
    let models = models();
    let count = |options| models.frames_with(options, &bytes).filter(Result::is_ok).count();
    // A string of seven bytes, then two of eleven.
    assert_eq!(count(Options::new().limits(Limits::default().max_allocation(10))), 1);
    assert_eq!(count(Options::new().limits(Limits::default().max_allocation(11))), 3);
}

#[test]
fn frames_without_bytes_end() {
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
    struct Silent;

    impl fmt::Display for Silent {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("silent")
        }
    }

    let mut models = Registry::new(WireOf::<Silent>::NEW);
    models.register_type::<()>(Silent).unwrap();
    let mut frames = models.frames(&[1]);
    assert!(frames.next().unwrap().unwrap_err().is_trailing_bytes());
    assert!(frames.next().is_none());
}

#[test]
fn registry_is_a_wire_type() {
    let bytes = golden::bytes("streams", "multi-stream");
    let models = models();
    let mut decoder = tightwire_parco::Decoder::new(&bytes[..]);
    let mut again = Vec::new();
    while let Some(frame) = decoder.decode_as::<_, Frame<i64>>(&models).unwrap() {
        let before = again.len();
        WireExt::encode(&models, &frame, &mut again).unwrap();
        assert_eq!(models.encoded_len(&frame).unwrap(), again.len() - before);
    }
    assert_eq!(again, bytes);

    let mut decoder = tightwire_parco::Decoder::new(&[9][..]);
    assert!(decoder.decode_as::<_, Frame<i64>>(&models).unwrap_err().is_unknown_type());
    let frame = Frame::new(1, monkeys());
    assert!(models.encoded_len(&frame).unwrap_err().is_unknown_type());
    assert_eq!(models.min_size(), 3);
}

#[test]
fn string_ids_are_walked() {
    let mut texts: Registry<SmallVarchar, String> = Registry::new(SmallVarchar::NEW);
    texts.register("animal".into(), animal()).unwrap();
    let bytes = golden::bytes("streams", "multi-string-id");
    let mut decoder = tightwire_parco::Decoder::new(&bytes[..]);
    let frame: Frame<String> = decoder.decode_as(&texts).unwrap().unwrap();
    assert_eq!(frame.id, "animal");
    for cut in 1..bytes.len() {
        let mut decoder = tightwire_parco::Decoder::new(&bytes[..cut]);
        assert!(decoder.decode_as::<_, Frame<String>>(&texts).unwrap_err().is_unexpected_end(), "{cut}");
    }
}

#[test]
fn schemas_as_data() {
    let Schema::Multi { header, models } = models().schema(&mut SchemaContext::default()) else {
        panic!("a registry is no struct")
    };
    assert_eq!(*header, HeaderInt(U8).schema(&mut SchemaContext::default()));
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["0", "1"]);
    assert_eq!((&*models[0].name, &*models[1].name), ("Animal", "Flat"));
    assert_eq!(models[0].schema, animal().schema(&mut SchemaContext::default()));
}

#[test]
fn header_values_round_trip() {
    assert_eq!(HeaderInt(U16::<Le>::NEW).to_vec(&65_535i64).unwrap(), [0xff, 0xff]);
    let value = |id| {
        let case = golden::case("encode_errors", id);
        case["value"].as_i64().unwrap_or_else(|| case["value"].as_str().unwrap().parse().unwrap())
    };
    let wide = HeaderInt(U64::<Le>::NEW);
    assert!(wide.to_vec(&value("header-u64-neg")).unwrap_err().is_overflow());
    assert!(HeaderInt(I32::<Le>::NEW).to_vec(&value("header-i32-big")).unwrap_err().is_overflow());
    assert!(wide.decode_exact::<i64>(&[0xff; 8]).unwrap_err().is_overflow());
}
