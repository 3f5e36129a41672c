//! Builder schemas: bytes of the Go library, all kinds of fields, errors, and boxed schemas.

use std::collections::{BTreeMap, HashMap};

use tightwire_parco::builder::{Boxed, Builder, Defaults, Fields, ReadWrite};
use tightwire_parco::schema::{Schema, SchemaContext};
use tightwire_parco::wire::{
    Array, Be, Bool, GoInt, I16, Le, Map, Opt, Pointer, Skip, Slice, SmallVarchar, StaticWire, TimeLocation,
    U8, U16, Wire, WireOf,
};
use tightwire_parco::{
    Decode, Encode, Get, Limits, Mode, Options, Put, Segment, Timestamp, WireExt, ZonedTimestamp, builder,
    builder_with, compiler, parser, parser_with,
};

use crate::golden;

#[derive(Clone, Debug, Default, PartialEq)]
struct Animal {
    specie: String,
    age: u8,
}

fn animal() -> impl Put<Animal> + for<'de> Get<'de, Animal> + Copy + Send + Sync {
    builder::<Animal>()
        .small_varchar(|animal| &animal.specie, |animal, specie| animal.specie = specie.into())
        .named("specie")
        .uint8(|animal| animal.age, |animal, age| animal.age = age)
        .named("age")
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Example {
    greet: String,
    life_sense: u8,
    grades: HashMap<String, u8>,
    friends: Vec<String>,
    even_or_odd: bool,
    pet: Animal,
    pointer: Option<i64>,
    flags: [bool; 5],
    balance: f32,
    more_precise_balance: f64,
    created_at: Timestamp,
}

impl Example {
    fn new() -> Self {
        Self {
            greet: "hey".into(),
            life_sense: 42,
            grades: HashMap::from([("math".into(), 5)]),
            friends: ["@boliri", "@danirod", "@enrigles", "@f3r"].map(String::from).into(),
            even_or_odd: true,
            pet: Animal { specie: "cat".into(), age: 3 },
            pointer: Some(73),
            flags: [true, false, false, true, false],
            balance: 234.987,
            more_precise_balance: 1234243.5678,
            created_at: Timestamp::from_nanos(1_700_000_000_123_456_789),
        }
    }
}

fn example() -> impl Put<Example> + for<'de> Get<'de, Example> + Copy {
    builder::<Example>()
        .small_varchar(|m| &m.greet, |m, v| m.greet = v.into())
        .byte(|m| m.life_sense, |m, v| m.life_sense = v)
        .map(U8, SmallVarchar::NEW, U8, |m| &m.grades, |m, v| m.grades = v)
        .slice(U8, SmallVarchar::NEW, |m| &m.friends, |m, v| m.friends = v)
        .bool(|m| m.even_or_odd, |m, v| m.even_or_odd = v)
        .nested(animal(), |m| &m.pet, |m, v| m.pet = v)
        .option(GoInt::<Le>::NEW, |m| &m.pointer, |m, v| m.pointer = v)
        .array(Bool, |m| &m.flags, |m, v| m.flags = v)
        .float32_le(|m| m.balance, |m, v| m.balance = v)
        .float64(Le, |m| m.more_precise_balance, |m, v| m.more_precise_balance = v)
        .time_utc(|m| m.created_at, |m, v| m.created_at = v)
}

#[test]
fn go_library_example_matches() {
    let bytes = golden::bytes("roundtrip", "struct-example");
    let schema = example();
    assert_eq!(schema.to_vec(&Example::new()).unwrap(), bytes);
    assert_eq!(schema.encoded_len(&Example::new()).unwrap(), bytes.len());
    assert_eq!(schema.decode_exact::<Example>(&bytes).unwrap(), Example::new());
}

#[test]
fn compiler_and_parser_match_the_go_library_example() {
    let bytes = golden::bytes("roundtrip", "struct-example");
    let pet = compiler::<Animal>().small_varchar(|animal| &animal.specie).uint8(|animal| animal.age);
    let writing = compiler::<Example>()
        .small_varchar(|m| &m.greet)
        .uint8(|m| m.life_sense)
        .map(U8, SmallVarchar::NEW, U8, |m| &m.grades)
        .slice(U8, SmallVarchar::NEW, |m| &m.friends)
        .bool(|m| m.even_or_odd)
        .nested(pet, |m| &m.pet)
        .option(GoInt::<Le>::NEW, |m| &m.pointer)
        .array(Bool, |m| &m.flags)
        .float32(Le, |m| m.balance)
        .float64_le(|m| m.more_precise_balance)
        .time_utc(|m| m.created_at);
    assert_eq!(writing.to_vec(&Example::new()).unwrap(), bytes);

    let pet = parser::<Animal>()
        .small_varchar(|animal, specie| animal.specie = specie.into())
        .uint8(|animal, age| animal.age = age);
    let reading = parser::<Example>()
        .small_varchar(|m, v| m.greet = v.into())
        .uint8(|m, v| m.life_sense = v)
        .map(U8, SmallVarchar::NEW, U8, |m, v| m.grades = v)
        .slice(U8, SmallVarchar::NEW, |m, v| m.friends = v)
        .bool(|m, v| m.even_or_odd = v)
        .nested(pet, |m, v| m.pet = v)
        .option(GoInt::<Le>::NEW, |m, v| m.pointer = v)
        .array(Bool, |m, v| m.flags = v)
        .float32(Le, |m, v| m.balance = v)
        .float64_le(|m, v| m.more_precise_balance = v)
        .time_utc(|m, v| m.created_at = v);
    assert_eq!(reading.decode_exact::<Example>(&bytes).unwrap(), Example::new());
}

/// Q1: Go returns a partial model and no error.
#[test]
fn every_prefix_is_the_end_of_the_input() {
    let bytes = golden::bytes("roundtrip", "struct-example");
    for cut in 0..bytes.len() {
        let error = example().decode::<Example>(&bytes[..cut]).unwrap_err();
        assert!(error.is_unexpected_end(), "{cut}: {error}");
        assert!(error.missing() > Some(0), "{cut}");
    }
    for cut in 0..6 {
        let bytes = golden::bytes("model_decode_truncation", &format!("animal-cut-{cut}"));
        let decoded = animal().decode_exact::<Animal>(&bytes);
        assert_eq!(decoded.is_ok(), cut == 5, "{cut}");
    }
    let bytes = golden::bytes("model_decode_truncation", "slice-of-struct-truncated");
    let error = Slice::of(U8, animal()).decode::<Vec<Animal>>(&bytes).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!(error.path(), [Segment::Index(1), Segment::Field("specie")]);
}

/// Q1: Go creates ten million structs from these four bytes.
#[test]
fn large_count_without_elements_fails_early() {
    let wire = Slice::of(tightwire_parco::wire::U32::<Le>::NEW, animal());
    let error = wire.decode::<Vec<Animal>>(&[0x80, 0x96, 0x98, 0x00]).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!(error.missing(), Some(20_000_000));
}

/// Q19: there is a separate limit for elements without bytes.
#[test]
fn number_of_elements_without_bytes_is_limited() {
    let empty = Slice::of(U16::<Be>::NEW, builder::<()>().skip::<0>());
    assert_eq!(empty.decode_exact::<Vec<()>>(&[0x10, 0]).unwrap().len(), 4096);
    assert!(empty.decode_exact::<Vec<()>>(&[0x10, 1]).unwrap_err().is_limit());
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

/// Every number, with every way to specify its byte order.
#[derive(Debug, Default, PartialEq)]
struct Numbers {
    u16: u16,
    i16: i16,
    u32: u32,
    i32: i32,
    u64: u64,
    i64: i64,
    f32: f32,
    f64: f64,
    i8: i8,
}

macro_rules! numbers {
    ($($name:ident: $field:ident $(, $order:expr)?;)*) => {
        (
            builder::<Numbers>()$(.$name($($order,)? |m| m.$field, |m, v| m.$field = v))*,
            compiler::<Numbers>()$(.$name($($order,)? |m| m.$field))*,
            parser::<Numbers>()$(.$name($($order,)? |m, v| m.$field = v))*,
        )
    };
}

#[test]
fn numbers_in_all_byte_orders_round_trip() {
    let numbers = Numbers {
        u16: 0x0102,
        i16: -2,
        u32: 0x0102_0304,
        i32: -3,
        u64: 0x0102_0304_0506_0708,
        i64: -4,
        f32: 1.5,
        f64: -2.5,
        i8: -1,
    };
    let (both, writing, reading) = numbers! {
        int8: i8;
        uint16: u16, Le; uint16_le: u16; uint16: u16, Be; uint16_be: u16;
        int16: i16, Le; int16_le: i16; int16: i16, Be; int16_be: i16;
        uint32: u32, Le; uint32_le: u32; uint32: u32, Be; uint32_be: u32;
        int32: i32, Le; int32_le: i32; int32: i32, Be; int32_be: i32;
        uint64: u64, Le; uint64_le: u64; uint64: u64, Be; uint64_be: u64;
        int64: i64, Le; int64_le: i64; int64: i64, Be; int64_be: i64;
        int: i64, Le; int_le: i64; int: i64, Be; int_be: i64;
        uint: u64, Le; uint_le: u64; uint: u64, Be; uint_be: u64;
        float32: f32, Le; float32_le: f32; float32: f32, Be; float32_be: f32;
        float64: f64, Le; float64_le: f64; float64: f64, Be; float64_be: f64;
    };
    let mut expected = vec![0xff];
    fn add<const N: usize>(expected: &mut Vec<u8>, le: [u8; N], be: [u8; N]) {
        for bytes in [le, le, be, be] {
            expected.extend(bytes);
        }
    }
    add(&mut expected, numbers.u16.to_le_bytes(), numbers.u16.to_be_bytes());
    add(&mut expected, numbers.i16.to_le_bytes(), numbers.i16.to_be_bytes());
    add(&mut expected, numbers.u32.to_le_bytes(), numbers.u32.to_be_bytes());
    add(&mut expected, numbers.i32.to_le_bytes(), numbers.i32.to_be_bytes());
    add(&mut expected, numbers.u64.to_le_bytes(), numbers.u64.to_be_bytes());
    add(&mut expected, numbers.i64.to_le_bytes(), numbers.i64.to_be_bytes());
    add(&mut expected, numbers.i64.to_le_bytes(), numbers.i64.to_be_bytes());
    add(&mut expected, numbers.u64.to_le_bytes(), numbers.u64.to_be_bytes());
    add(&mut expected, numbers.f32.to_le_bytes(), numbers.f32.to_be_bytes());
    add(&mut expected, numbers.f64.to_le_bytes(), numbers.f64.to_be_bytes());

    assert_eq!(both.to_vec(&numbers).unwrap(), expected);
    assert_eq!(writing.to_vec(&numbers).unwrap(), expected);
    assert_eq!(both.decode_exact::<Numbers>(&expected).unwrap(), numbers);
    assert_eq!(reading.decode_exact::<Numbers>(&expected).unwrap(), numbers);
    assert_eq!(both.fixed_size(), Some(expected.len()));
}

#[derive(Debug, Default, PartialEq)]
struct Texts {
    text: String,
    bytes: Vec<u8>,
}

#[test]
fn strings_and_blobs_with_all_headers_round_trip() {
    let both = builder::<Texts>()
        .varchar(|m| &m.text, |m, v| m.text = v.into())
        .varchar_order(Be, |m| &m.text, |m, v| m.text = v.into())
        .small_varchar(|m| &m.text, |m, v| m.text = v.into())
        .text(Le, |m| &m.text, |m, v| m.text = v.into())
        .long_text(Be, |m| &m.text, |m, v| m.text = v.into())
        .string(I16::<Be>::NEW, |m| &m.text, |m, v| m.text = v.into())
        .blob(U8, |m| &m.bytes, |m, v| m.bytes = v.into());
    let bytes = b"\x01\0a\0\x01a\x01a\x01\0\0\0a\0\0\0\0\0\0\0\x01a\0\x01a\x02\xff\xfe";
    let texts = Texts { text: "a".into(), bytes: vec![0xff, 0xfe] };
    assert_eq!(both.to_vec(&texts).unwrap(), bytes);
    assert_eq!(both.decode_exact::<Texts>(bytes).unwrap(), texts);

    let writing = compiler::<Texts>()
        .varchar(|m| &m.text)
        .varchar_order(Be, |m| &m.text)
        .small_varchar(|m| &m.text)
        .text(Le, |m| &m.text)
        .long_text(Be, |m| &m.text)
        .string(I16::<Be>::NEW, |m| &m.text)
        .blob(U8, |m| &m.bytes);
    assert_eq!(writing.to_vec(&texts).unwrap(), bytes);

    let reading = parser::<Texts>()
        .varchar(|m, v| m.text = v.into())
        .varchar_order(Be, |m, v| m.text = v.into())
        .small_varchar(|m, v| m.text = v.into())
        .text(Le, |m, v| m.text = v.into())
        .long_text(Be, |m, v| m.text = v.into())
        .string(I16::<Be>::NEW, |m, v| m.text = v.into())
        .blob(U8, |m, v| m.bytes = v.into());
    assert_eq!(reading.decode_exact::<Texts>(bytes).unwrap(), texts);
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Point {
    x: u8,
    y: u8,
}

#[derive(Debug, PartialEq)]
struct Collections {
    matrix: Vec<Vec<u16>>,
    animals: [Animal; 2],
    sorted: HashMap<u8, String>,
    tree: BTreeMap<u8, bool>,
    maybe: Option<Box<Point>>,
    points: Vec<Point>,
    located: ZonedTimestamp,
}

impl Collections {
    fn empty() -> Self {
        Self {
            matrix: Vec::new(),
            animals: Default::default(),
            sorted: HashMap::new(),
            tree: BTreeMap::new(),
            maybe: None,
            points: Vec::new(),
            located: ZonedTimestamp::default(),
        }
    }
}

#[test]
fn nested_collections_round_trip() {
    let points = Slice::<U8, WireOf<Point>>::NEW;
    let both = builder_with(Collections::empty)
        .slice(U8, Slice::<U8, U16<Be>>::NEW, |m| &m.matrix, |m, v| m.matrix = v)
        .array(animal(), |m| &m.animals, |m, v| m.animals = v)
        .sorted_map(U8, U8, SmallVarchar::NEW, |m| &m.sorted, |m, v| m.sorted = v)
        .map(U16::<Le>::NEW, U8, Bool, |m| &m.tree, |m, v| m.tree = v)
        .option(Pointer(WireOf::<Point>::NEW), |m| &m.maybe, |m, v| m.maybe = v)
        .skip::<3>()
        .field(points, |m| &m.points[..], |m, v: Vec<Point>| m.points.extend(v))
        .time_location(|m| &m.located, |m, v| m.located = v);
    let collections = Collections {
        matrix: vec![vec![1], vec![]],
        animals: [Animal { specie: "a".into(), age: 1 }, Animal { specie: "b".into(), age: 2 }],
        sorted: HashMap::from([(2, "y".into()), (1, "x".into()), (3, "z".into())]),
        tree: BTreeMap::from([(9, true)]),
        maybe: Some(Box::new(Point { x: 1, y: 2 })),
        points: vec![Point { x: 3, y: 4 }],
        located: ZonedTimestamp { at: Timestamp::from_nanos(1), zone: "UTC".into() },
    };
    let bytes =
        b"\x02\x01\0\x01\0\x01a\x01\x01b\x02\x03\x01\x01x\x02\x01y\x03\x01z\x01\0\x09\x01\x01\x01\x02\0\0\0\
        \x01\x03\x04\x01\0\0\0\0\0\0\0\x01\x03UTC";
    assert_eq!(both.to_vec(&collections).unwrap(), bytes);
    assert_eq!(both.encoded_len(&collections).unwrap(), bytes.len());
    assert_eq!(both.decode_exact::<Collections>(bytes).unwrap(), collections);

    let writing = compiler::<Collections>()
        .slice(U8, Slice::<U8, U16<Be>>::NEW, |m| &m.matrix)
        .array(animal(), |m| &m.animals)
        .sorted_map(U8, U8, SmallVarchar::NEW, |m| &m.sorted)
        .map(U16::<Le>::NEW, U8, Bool, |m| &m.tree)
        .option(Pointer(WireOf::<Point>::NEW), |m| &m.maybe)
        .skip::<3>()
        .field(points, |m| &m.points[..])
        .time_location(|m| &m.located);
    assert_eq!(writing.to_vec(&collections).unwrap(), bytes);

    let reading = parser_with(Collections::empty)
        .slice(U8, Slice::<U8, U16<Be>>::NEW, |m, v| m.matrix = v)
        .array(animal(), |m, v| m.animals = v)
        .sorted_map(U8, U8, SmallVarchar::NEW, |m, v| m.sorted = v)
        .map(U16::<Le>::NEW, U8, Bool, |m, v| m.tree = v)
        .option(Pointer(WireOf::<Point>::NEW), |m, v| m.maybe = v)
        .skip::<3>()
        .field(points, |m, v| m.points = v)
        .time_location(|m, v| m.located = v);
    assert_eq!(reading.decode_exact::<Collections>(bytes).unwrap(), collections);
}

/// Q3 and Q4: skips work in any schema and with any number of bytes.
#[test]
fn reserved_bytes_are_encoded_as_zeros_and_ignored_when_decoded() {
    let schema =
        builder::<(u8, u8)>().uint8(|m| m.0, |m, v| m.0 = v).skip::<9000>().uint8(|m| m.1, |m, v| m.1 = v);
    let mut bytes = schema.to_vec(&(1, 2)).unwrap();
    assert_eq!(bytes.len(), 9002);
    assert!(bytes[1..9001].iter().all(|byte| *byte == 0));
    bytes[1..9001].fill(0xaa);
    assert_eq!(schema.decode_exact::<(u8, u8)>(&bytes).unwrap(), (1, 2));
    let nothing = Options::new().limits(Limits::default().max_allocation(0));
    assert_eq!(schema.decode_exact_with::<(u8, u8)>(nothing, &bytes).unwrap(), (1, 2));
    assert!(schema.decode::<(u8, u8)>(&bytes[..5000]).unwrap_err().is_unexpected_end());
}

/// Q2: flags other than 0 and 1.
#[test]
fn invalid_flags_are_rejected_in_strict_mode() {
    let schema =
        builder::<(bool, Option<u8>)>().bool(|m| m.0, |m, v| m.0 = v).option(U8, |m| &m.1, |m, v| m.1 = v);
    let error = schema.decode::<(bool, Option<u8>)>(&[1, 2, 7]).unwrap_err();
    assert!(error.is_invalid_bool());
    assert_eq!(error.path(), [Segment::Name("1".into())]);
    let compat = Options::new().mode(Mode::Compat);
    let (value, rest) = schema.decode_with::<(bool, Option<u8>)>(compat, &[2, 2, 7]).unwrap();
    assert_eq!((value, rest), ((false, None), &[7][..]));
}

#[test]
fn errors_contain_offset_and_path() {
    let mut model = Example::new();
    model.friends[2] = "x".repeat(256);
    let mut bytes = vec![1, 2, 3];
    let error = example().encode(&model, &mut bytes).unwrap_err();
    assert!(error.is_overflow());
    assert_eq!(error.path(), [Segment::Name("3".into()), Segment::Index(2)]);
    assert_eq!(error.to_string(), "a value or length is out of range at .3[2] (byte 30)");
    assert_eq!(bytes, [1, 2, 3], "nothing is written");

    let outer = builder::<(u8, Vec<Animal>)>()
        .uint8(|m| m.0, |m, v| m.0 = v)
        .slice(U8, animal(), |m| &m.1, |m, v| m.1 = v)
        .named("zoo");
    let error = outer.decode::<(u8, Vec<Animal>)>(b"\0\x01\x05cat").unwrap_err();
    assert_eq!(error.path(), [Segment::Field("zoo"), Segment::Index(0), Segment::Field("specie")]);
    assert_eq!(error.offset(), Some(3));
}

#[test]
fn a_schema_is_walked_as_it_is_read() {
    let bytes = golden::bytes("roundtrip", "struct-example");
    let mut stream = &bytes[..];
    let mut decoder = tightwire_parco::Decoder::new(&mut stream);
    assert_eq!(decoder.decode_as(&example()).unwrap(), Some(Example::new()));
    assert_eq!(decoder.decode_as::<_, Example>(&example()).unwrap(), None);

    let mut decoder = tightwire_parco::Decoder::new(&bytes[..40]);
    let error = decoder.decode_as::<_, Example>(&example()).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!(error.path(), [Segment::Name("3".into()), Segment::Index(3)]);
}

#[test]
fn schemas_as_data() {
    let text = || Schema::String { header: Box::new(U8.schema(&mut SchemaContext::default())) };
    let described = builder::<(Animal, u8)>()
        .nested(animal(), |m| &m.0, |m, v| m.0 = v)
        .named("animal")
        .uint8(|m| m.1, |m, v| m.1 = v)
        .schema(&mut SchemaContext::default());
    let number = U8.schema(&mut SchemaContext::default());
    let nested = Schema::Struct(vec![("specie".into(), text()), ("age".into(), number.clone())]);
    assert_eq!(described, Schema::Struct(vec![("animal".into(), nested), ("1".into(), number)]));
}

#[test]
fn partial_schema_can_be_extended_twice() {
    fn start() -> Builder<Animal, impl Fields + Copy, ReadWrite<Defaults>> {
        builder::<Animal>().uint8(|m| m.age, |m, v| m.age = v)
    }
    let common = builder::<Animal>().uint8(|m| m.age, |m, v| m.age = v);
    let one = common.skip::<1>();
    let other = common.bool(|m| m.age > 9, |_, _| ());
    let animal = Animal { specie: String::new(), age: 10 };
    assert_eq!(one.to_vec(&animal).unwrap(), [10, 0]);
    assert_eq!(other.to_vec(&animal).unwrap(), [10, 1]);
    assert_eq!(common.to_vec(&animal).unwrap(), [10]);
    assert_eq!(start().min_size(), 1);
}

#[test]
fn decode_into_preserves_data_that_no_setter_touches() {
    let schema = parser::<Animal>().uint8(|m, v| m.age = v);
    let mut animal = Animal { specie: "cat".into(), age: 0 };
    schema.decode_into_with(Options::new(), &[7], &mut animal).unwrap();
    assert_eq!(animal, Animal { specie: "cat".into(), age: 7 });
}

/// Setters receive strings that borrow from the input, but the model stores copies, which count as allocations.
#[test]
fn strings_count_against_the_allocation_limit() {
    for (bytes, fits) in [(3, true), (2, false)] {
        let options = Options::new().limits(Limits::default().max_allocation(bytes));
        assert_eq!(animal().decode_with::<Animal>(options, b"\x03cat\x07").is_ok(), fits);
    }
}

#[test]
fn nesting_is_limited() {
    let outer = builder::<(Animal,)>().nested(animal(), |m| &m.0, |m, v| m.0 = v);
    let bytes = b"\x03cat\x07";
    for (levels, fits) in [(1, false), (2, true)] {
        let options = Options::new().limits(Limits::default().max_depth(levels));
        let result = outer.decode_with::<(Animal,)>(options, bytes);
        assert_eq!(result.is_ok(), fits);
        if let Err(error) = result {
            assert!(error.is_limit());
        }
    }
}

#[test]
fn boxed_schemas_have_the_same_type() {
    let schemas: [Boxed<Animal>; 2] = [
        builder::<Animal>()
            .small_varchar(|m| &m.specie, |m, v| m.specie = v.into())
            .uint8(|m| m.age, |m, v| m.age = v)
            .boxed(),
        builder::<Animal>()
            .uint8(|m| m.age, |m, v| m.age = v)
            .small_varchar(|m| &m.specie, |m, v| m.specie = v.into())
            .boxed(),
    ];
    let cat = Animal { specie: "cat".into(), age: 7 };
    for (schema, bytes) in schemas.iter().zip([b"\x03cat\x07", b"\x07\x03cat"]) {
        assert_eq!(schema.to_vec(&cat).unwrap(), bytes);
        assert_eq!(schema.encoded_len(&cat).unwrap(), 5);
        assert_eq!(schema.decode_exact::<Animal>(bytes).unwrap(), cat);
        let mut into = Animal::default();
        schema.decode_into_with(Options::new(), bytes, &mut into).unwrap();
        assert_eq!(into, cat);
        assert_eq!((schema.min_size(), schema.fixed_size()), (2, None));
        let mut decoder = tightwire_parco::Decoder::new(&bytes[..]);
        assert_eq!(decoder.decode_as(schema).unwrap(), Some(cat.clone()));
        for cut in 1..5 {
            let by_slice = schema.decode::<Animal>(&bytes[..cut]).unwrap_err();
            let mut decoder = tightwire_parco::Decoder::new(&bytes[..cut]);
            let by_stream = decoder.decode_as::<_, Animal>(schema).unwrap_err();
            assert!(by_slice.is_unexpected_end() && by_stream.is_unexpected_end());
            assert_eq!(by_slice.path(), by_stream.path());
        }
    }
    assert_eq!(schemas[0].schema(&mut SchemaContext::default()), {
        let schema = animal().schema(&mut SchemaContext::default());
        let Schema::Struct(fields) = schema else { panic!("a schema is a struct") };
        Schema::Struct(
            fields.into_iter().zip(["0", "1"]).map(|((_, wire), name)| (name.into(), wire)).collect(),
        )
    });
}

#[test]
fn schemas_and_wire_types_can_be_nested() {
    let wire = Map::of(U8, U8, Opt(Array::<2, _>(animal())));
    let value = vec![(1u8, Some([Animal::default(), Animal { specie: "b".into(), age: 2 }])), (2, None)];
    let bytes = wire.to_vec(&value).unwrap();
    assert_eq!(bytes, b"\x02\x01\x01\0\0\x01b\x02\x02\0");
    assert_eq!(wire.decode_exact::<Vec<(u8, Option<[Animal; 2]>)>>(&bytes).unwrap(), value);
    assert_eq!((Skip::<0>.min_size(), TimeLocation.min_size()), (0, 9));
}

/// Q5 and Q13: lengths that do not fit the header and negative lengths are rejected.
#[test]
fn counts_out_of_range_are_rejected() {
    let wide = builder::<Vec<u8>>().slice(U16::<Le>::NEW, U8, |m| m, |m, v| *m = v);
    assert!(wide.to_vec(&vec![1; 65_537]).unwrap_err().is_overflow());
    assert_eq!(wide.to_vec(&vec![1; 65_535]).unwrap().len(), 65_537);
    let signed = builder::<Vec<u8>>().slice(I16::<Le>::NEW, U8, |m| m, |m, v| *m = v);
    assert!(signed.decode::<Vec<u8>>(&[0xff, 0xff]).unwrap_err().is_overflow());
}
