//! Builder schemas: kinds of schemas and getters, errors, and agreement with the derive macros on damaged input.
//!
//! The runner of the vectors checks builder schemas of all its structs.
#![cfg(feature = "derive")]

use proptest::prelude::*;
use tightwire_parco::schema::{Schema, SchemaContext, of, of_decoded};
use tightwire_parco::wire::{Array, Bool, Map, Opt, Skip, Slice, SmallVarchar, StaticWire, U8, Wire, WireOf};
use tightwire_parco::{
    Get, Limits, Mode, Options, Put, Segment, WireExt, builder, builder_with, compiler, parser, parser_with,
    to_vec,
};

use crate::support::builders::{outcome, owned};
use crate::support::messages::{Material, Owned};

#[derive(Clone, Debug, Default, PartialEq)]
struct Animal {
    specie: String,
    age: u8,
}

fn animal() -> impl Put<Animal> + for<'de> Get<'de, Animal> + Copy + Send + Sync {
    builder::<Animal>()
        .field(SmallVarchar::NEW, |animal| &animal.specie, |animal, specie| animal.specie = specie)
        .named("specie")
        .value(U8, |animal| animal.age, |animal, age| animal.age = age)
        .named("age")
}

#[test]
fn compiler_and_parser_match_the_builder() {
    #[derive(Debug, PartialEq)]
    struct Zoo {
        animals: Vec<Animal>,
        open: bool,
    }
    let empty = || Zoo { animals: Vec::new(), open: false };
    let list = Slice::of(U8, animal());
    let both = builder_with(empty)
        .field(list, |zoo: &Zoo| &zoo.animals, |zoo, animals| zoo.animals = animals)
        .skip::<2>()
        .value(Bool, |zoo| zoo.open, |zoo, open| zoo.open = open);
    let writing =
        compiler::<Zoo>().field(list, |zoo| &zoo.animals[..]).skip::<2>().value(Bool, |zoo| zoo.open);
    let reading = parser_with(empty)
        .field(list, |zoo: &mut Zoo, animals: Vec<Animal>| zoo.animals.extend(animals))
        .skip::<2>()
        .field(Bool, |zoo, open| zoo.open = open);

    let zoo = Zoo { animals: vec![Animal { specie: "cat".into(), age: 3 }], open: true };
    let bytes = b"\x01\x03cat\x03\0\0\x01";
    assert_eq!(both.to_vec(&zoo).unwrap(), bytes);
    assert_eq!(writing.to_vec(&zoo).unwrap(), bytes);
    assert_eq!((both.encoded_len(&zoo).unwrap(), writing.encoded_len(&zoo).unwrap()), (9, 9));
    assert_eq!(both.decode_exact::<Zoo>(bytes).unwrap(), zoo);
    assert_eq!(reading.decode_exact::<Zoo>(bytes).unwrap(), zoo);
}

#[test]
fn existing_elements_are_reused() {
    let wire = Slice::of(U8, animal());
    let mut animals = vec![Animal::default()];
    for bytes in [&b"\x02\x01a\x01\x01b\x02"[..], b"\x01\x01c\x03", b"\x02\x01d\x04\x01e\x05"] {
        wire.decode_into_with(Options::new(), bytes, &mut animals).unwrap();
        assert_eq!(wire.to_vec(&animals).unwrap(), bytes);
    }
}

/// Reserved bytes work in any schema and in any number.
#[test]
fn reserved_bytes_are_encoded_as_zeros_and_ignored_when_decoded() {
    let schema = builder::<(u8, u8)>().field(U8, |m| &m.0, |m, v| m.0 = v).skip::<9000>().field(
        U8,
        |m| &m.1,
        |m, v| m.1 = v,
    );
    let mut bytes = schema.to_vec(&(1, 2)).unwrap();
    assert_eq!(bytes.len(), 9002);
    assert!(bytes[1..9001].iter().all(|byte| *byte == 0));
    bytes[1..9001].fill(0xaa);
    let nothing = Options::new().limits(Limits::default().max_allocation(0));
    assert_eq!(schema.decode_exact_with::<(u8, u8)>(nothing, &bytes).unwrap(), (1, 2));
    assert!(schema.decode::<(u8, u8)>(&bytes[..5000]).unwrap_err().is_unexpected_end());
}

#[test]
fn errors_contain_offset_and_path() {
    let outer = builder::<(u8, Vec<Animal>)>().field(U8, |m| &m.0, |m, v| m.0 = v).field(
        Slice::of(U8, animal()),
        |m| &m.1,
        |m, v| m.1 = v,
    );
    let long = Animal { specie: "x".repeat(256), age: 0 };
    let mut bytes = vec![1, 2, 3];
    let error = outer.encode(&(0, vec![Animal::default(), long]), &mut bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a length does not fit its header: 256 bytes or elements, but at most 255 (set `#[parco(header = varint)]` or a wider integer) at .1[1].specie (byte 4)"
    );
    assert_eq!(error.path()[0], Segment::Name("1".into()));
    assert_eq!(bytes, [1, 2, 3], "nothing is written");

    let mut decoder = tightwire_parco::Decoder::new(&b"\0\x01\x05cat"[..]);
    let streamed = decoder.decode_as::<_, (u8, Vec<Animal>)>(&outer.named("zoo")).unwrap_err();
    let error = outer.named("zoo").decode::<(u8, Vec<Animal>)>(b"\0\x01\x05cat").unwrap_err();
    assert_eq!(error.path(), [Segment::Field("zoo"), Segment::Index(0), Segment::Field("specie")]);
    assert_eq!((error.offset(), streamed.path()), (Some(3), error.path()));
}

#[test]
fn schemas_as_data() {
    let described = builder::<(Animal, u8)>()
        .field(animal(), |m| &m.0, |m, v| m.0 = v)
        .named("animal")
        .field(U8, |m| &m.1, |m, v| m.1 = v)
        .schema(&mut SchemaContext::default());
    let text = Schema::String { header: Box::new(of::<u8>()) };
    let named =
        |name: &str, fields| Schema::Named { name: name.into(), inner: Schema::Struct(fields).into() };
    let nested = named("Animal", vec![("specie".into(), text), ("age".into(), of::<u8>())]);
    assert_eq!(described, named("(Animal, u8)", vec![("animal".into(), nested), ("1".into(), of::<u8>())]));
}

#[test]
fn partial_schema_can_be_extended_twice() {
    let common = builder::<Animal>().field(U8, |m| &m.age, |m, v| m.age = v);
    let one = common.skip::<1>();
    let other = common.value(Bool, |m| m.age > 9, |_, _: bool| ());
    let animal = Animal { specie: String::new(), age: 10 };
    assert_eq!(one.to_vec(&animal).unwrap(), [10, 0]);
    assert_eq!(other.to_vec(&animal).unwrap(), [10, 1]);
    assert_eq!(common.to_vec(&animal).unwrap(), [10]);
}

#[test]
fn decode_into_preserves_data_that_no_setter_touches() {
    let schema = parser::<Animal>().field(U8, |m, v| m.age = v);
    let mut animal = Animal { specie: "cat".into(), age: 0 };
    schema.decode_into_with(Options::new(), &[7], &mut animal).unwrap();
    assert_eq!(animal, Animal { specie: "cat".into(), age: 7 });
}

#[test]
fn schemas_and_wire_types_can_be_nested() {
    let wire = Map::of(U8, U8, Opt(Array::<2, _>(animal())));
    let value = vec![(1u8, Some([Animal::default(), Animal { specie: "b".into(), age: 2 }])), (2, None)];
    let bytes = wire.to_vec(&value).unwrap();
    assert_eq!(bytes, b"\x02\x01\x01\0\0\x01b\x02\x02\0");
    assert_eq!(wire.decode_exact::<Vec<(u8, Option<[Animal; 2]>)>>(&bytes).unwrap(), value);
    assert_eq!(Skip::<0>.min_size(), 0);
}

proptest! {
    #[test]
    fn builder_and_derive_are_equivalent(
        material in prop::collection::vec(any::<u8>(), 0..400),
        at: prop::sample::Index,
        byte: u8,
        cut: Option<prop::sample::Index>,
        mode in prop_oneof![Just(Mode::Strict), Just(Mode::Compat)],
        long in 250..260_usize,
    ) {
        let mut value = Material(&material).owned();
        let mut bytes = to_vec(&value).unwrap();
        prop_assert_eq!(&owned().to_vec(&value).unwrap(), &bytes);
        prop_assert_eq!(owned().encoded_len(&value).unwrap(), bytes.len());
        let mut into = Owned::default();
        owned().decode_into_with(Options::new(), &bytes, &mut into).unwrap();
        prop_assert_eq!(&into, &value);

        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let options = Options::new().mode(mode);
        prop_assert_eq!(outcome(owned().decode_with(options, &bytes)), outcome(options.decode(&bytes)));

        value.names.push("x".repeat(long));
        let text = |result: Result<Vec<u8>, tightwire_parco::Error>| result.map_err(|error| error.to_string());
        prop_assert_eq!(text(owned().to_vec(&value)), text(to_vec(&value)));
    }
}

#[test]
fn builder_and_derive_have_equal_schemas() {
    assert_eq!(owned().schema(&mut SchemaContext::default()), of_decoded::<Owned>());
    assert_eq!(owned().min_size(), WireOf::<Owned>::NEW.min_size());
}

#[test]
fn schemas_with_two_fields_of_one_name_are_refused() {
    let schema = parser::<(u8, u8)>().field(U8, |m, v| m.0 = v).named("a").field(U8, |m, v| m.1 = v);
    assert!(schema.schema(&mut SchemaContext::default()).compile().is_ok());
    let error = schema.named("a").schema(&mut SchemaContext::default()).compile().unwrap_err();
    assert!(error.is_duplicate());
    assert_eq!(error.to_string(), "two fields of a struct have the same name at .a");
}
