//! Writes `tests/data/default-vectors.json`: messages of derived types in the default format, for readers in other languages.
//!
//! Set `UPDATE_VECTORS=1` to write the file after a change of the types below. The tests of `parco-gen` read it.
#![cfg(all(feature = "schema-json", feature = "derive", feature = "std"))]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddrV4};
use std::time::Duration;

use tightwire_parco::schema::{self, Number, Schema, Value};
use tightwire_parco::wire::{Be, HeaderInt, I16, Le, U64};
use tightwire_parco::{
    Decode, DecodeOwned, Encode, Error, Timestamp, WireExt as _, ZonedTimestamp, decode_exact, to_vec,
};

#[derive(Encode, Decode)]
struct Numbers {
    tiny: u8,
    signed: i8,
    short: u16,
    #[parco(be)]
    short_be: i16,
    word: u32,
    #[parco(be)]
    word_be: i32,
    long: u64,
    #[parco(be)]
    long_be: i64,
    half: f32,
    #[parco(be)]
    double: f64,
    flag: bool,
    letter: char,
    huge: u128,
    #[parco(be)]
    huge_be: i128,
}

#[derive(Encode, Decode)]
struct Texts {
    text: String,
    #[parco(small)]
    small: String,
    #[parco(header = u32be)]
    wide: String,
    #[parco(header = i64)]
    signed: String,
    #[parco(blob)]
    bytes: Vec<u8>,
    plain: Vec<u8>,
    octets: [u8; 4],
}

#[derive(Encode, Decode)]
struct Lists {
    numbers: Vec<u16>,
    #[parco(header = u8)]
    texts: Vec<String>,
    triple: [i16; 3],
    grid: [[u16; 2]; 2],
    rows: Vec<Vec<bool>>,
    set: BTreeSet<i32>,
    units: Vec<()>,
}

#[derive(Encode, Decode)]
struct Maps {
    ages: BTreeMap<String, u32>,
    #[parco(header = u16)]
    flags: BTreeMap<u16, Vec<bool>>,
    nested: BTreeMap<i64, BTreeMap<u8, String>>,
}

/// Their keys are no keys in all languages, or their values have invalid combinations that a reader may accept.
#[derive(Encode, Decode)]
struct Entries {
    by_flag: BTreeMap<bool, u8>,
    by_pair: BTreeMap<(u8, String), u8>,
    wait: Duration,
}

#[derive(Encode, Decode)]
struct Options {
    number: Option<u8>,
    text: Option<String>,
    twice: Option<Option<u16>>,
    unit: Option<()>,
    flags: Vec<Option<bool>>,
    boxed: Option<Box<Point>>,
}

#[derive(Encode, Decode)]
struct Point {
    x: i16,
    y: i16,
}

#[derive(Encode, Decode)]
enum Shape {
    Empty,
    Circle(u16),
    Rectangle { from: Point, to: Point },
    Label(String, u8),
    At(Point),
    Many(Vec<Point>),
}

#[derive(Encode, Decode)]
#[parco(id = small)]
enum Command {
    #[parco(id = "stop")]
    Stop,
    #[parco(id = "move")]
    Move { by: Point },
}

#[derive(Encode, Decode)]
#[parco(id = i16be)]
enum Signed {
    #[parco(id = -2)]
    Low(u8),
    #[parco(id = 300)]
    High { class: bool },
}

#[derive(Encode, Decode)]
struct Tree {
    value: u8,
    children: Vec<Self>,
}

#[derive(Encode, Decode)]
enum Expression {
    Number(u32),
    Negative(Box<Self>),
    Sum { left: Box<Self>, right: Box<Self> },
}

#[derive(Encode, Decode)]
#[parco(evolve)]
struct Profile {
    name: String,
    #[parco(default_on_eof)]
    age: u8,
    #[parco(default_on_eof)]
    email: Option<String>,
    #[parco(default_on_eof)]
    places: Vec<Place>,
}

#[derive(Encode, Decode)]
#[parco(evolve)]
struct Place {
    at: u16,
    #[parco(default_on_eof)]
    octets: [u8; 2],
}

#[derive(Encode, Decode)]
#[parco(evolve)]
enum Event {
    Closed,
    Number(u16),
    Text { text: String, more: Option<u8> },
}

#[derive(Encode, Decode)]
struct Reserved {
    r: u8,
    #[parco(skip = 3)]
    first: (),
    value: u16,
    #[parco(skip = 1)]
    last: (),
}

#[derive(Encode, Decode)]
struct Times {
    at: Timestamp,
    zoned: ZonedTimestamp<String>,
    address: IpAddr,
    socket: SocketAddrV4,
    id: uuid::Uuid,
}

/// Names that mean something else in a language, or in generated code.
#[derive(Encode, Decode)]
struct Names {
    list: Vec<i32>,
    #[parco(skip = 1)]
    r: (),
    read_user: User,
    r#type: Vec<i32>,
    constructor: DecodeUser,
}

#[derive(Encode, Decode)]
struct User(u8);

#[derive(Encode, Decode)]
enum DecodeUser {
    None,
    User(u8),
}

/// Integers that are an `int` in Go. Those of 64 bits are below 2^63.
#[derive(Encode, Decode)]
struct Headers {
    #[parco(with = HeaderInt<U64<Le>>)]
    long: i64,
    #[parco(with = HeaderInt<U64<Be>>)]
    long_be: i64,
    #[parco(with = HeaderInt<I16<Le>>)]
    short: i64,
}

/// Numbers of the algorithm SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Returns a number of all ones, its neighbours, or any number, of `bits` bits.
    fn integer(&mut self, bits: usize, is_signed: bool) -> i128 {
        let any = i128::from(self.next() >> (64 - bits));
        let max = (1 << bits) - 1;
        let value = self.one_of(&[0, 1, max, max >> 1, (max >> 1) + 1, any, any & 0xff]);
        if is_signed && value > max >> 1 { value - max - 1 } else { value }
    }
}

/// Makes values of schemas.
struct Maker<'a> {
    random: &'a mut Random,
    /// Enclosing structs and multis.
    open: Vec<&'a Schema>,
    /// Number of references to enclosing types that were followed.
    depth: usize,
}

impl<'a> Maker<'a> {
    fn value(&mut self, schema: &'a Schema) -> Value {
        match schema {
            Schema::Bool => Value::Bool(self.random.below(2) == 1),
            Schema::Number(Number::Float32, _) => {
                self.random.one_of(&[0.0, -0.0, 1.5, -2.25e10, f32::INFINITY, f32::MIN_POSITIVE, 0.1]).into()
            }
            Schema::Number(Number::Float64, _) => {
                self.random.one_of(&[0.0, -0.0, 1.5, -2.25e100, f64::NEG_INFINITY, 5e-324, 0.1]).into()
            }
            Schema::Number(number, _) => {
                Value::Integer(self.random.integer(8 * number.width(), number.is_signed()))
            }
            Schema::Header(number, _) => {
                let bits = if *number == Number::Uint64 { 63 } else { 8 * number.width() };
                Value::Integer(self.random.integer(bits, number.is_signed()))
            }
            Schema::TimeUtc => Value::Integer(self.random.integer(64, true)),
            Schema::String { .. } => {
                let long = "x".repeat(self.random.below(256));
                self.random.one_of(&["", "a", "é", "two words", "日本語", "𝄞", &*long]).into()
            }
            Schema::Blob { .. } => {
                let bytes: Vec<u8> = (0..self.random.below(9)).map(|_| self.random.next() as u8).collect();
                (&*bytes).into()
            }
            Schema::Slice { element, .. } => {
                let count = if self.depth > 2 { 0 } else { self.random.below(4) };
                Value::List((0..count).map(|_| self.value(element)).collect())
            }
            Schema::Array { len, element } => Value::List((0..*len).map(|_| self.value(element)).collect()),
            Schema::Map { key, value, .. } => {
                let count = self.random.below(4);
                Value::Map((0..count).map(|_| (self.value(key), self.value(value))).collect())
            }
            Schema::Option(_) if self.random.below(3) == 0 => Value::NONE,
            Schema::Option(inner) => Value::some(self.value(inner)),
            Schema::Struct(fields) => self.fields(schema, fields),
            Schema::Evolve { required, fields } => {
                let count = required + self.random.below(fields.len() - required + 1);
                self.fields(schema, &fields[..count])
            }
            Schema::Skip(_) => Value::Skip,
            Schema::TimeLocation => Value::TimeLocation {
                unix_nanos: i64::try_from(self.random.integer(64, true)).unwrap(),
                zone: self.random.one_of(&["UTC", "Europe/Madrid"]).into(),
            },
            Schema::Multi { header, models } => {
                self.open.push(schema);
                let at = if self.depth > 2 { 0 } else { self.random.below(models.len()) };
                let id = match **header {
                    Schema::String { .. } => Value::from(&*models[at].id),
                    _ => Value::Integer(models[at].id.parse().unwrap()),
                };
                let value = self.value(&models[at].schema);
                self.open.pop();
                Value::Multi { id: id.into(), value: value.into() }
            }
            Schema::Logical { name, .. } if name == "char" => {
                Value::Integer(u32::from(self.random.one_of(&['a', '\0', 'é', '𝄞', char::MAX])).into())
            }
            Schema::Logical { name, .. } if name == "duration" => {
                let seconds = Value::Integer(self.random.integer(64, false));
                Value::Struct(vec![seconds, self.random.one_of(&[0u32, 1, 999_999_999]).into()])
            }
            Schema::Logical { inner, .. } | Schema::Named { inner, .. } => self.value(inner),
            Schema::Recursive(levels) => {
                let inner = self.open.split_off(self.open.len() - levels);
                self.depth += 1;
                let value = self.value(inner[0]);
                self.depth -= 1;
                self.open.extend(inner);
                value
            }
            _ => panic!("the types have no such schema"),
        }
    }

    fn fields(&mut self, schema: &'a Schema, fields: &'a [(String, Schema)]) -> Value {
        self.open.push(schema);
        let values = fields.iter().map(|(_, field)| self.value(field)).collect();
        self.open.pop();
        Value::Struct(values)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the kind of an error by the names of the run-time files of `parco-gen`.
fn kind(error: &Error) -> &'static str {
    let kinds = [
        (error.is_unexpected_end(), "end"),
        (error.is_trailing_bytes(), "trailing"),
        (error.is_invalid_bool(), "flag"),
        (error.is_invalid_utf8(), "text"),
        (error.is_overflow(), "range"),
        (error.is_unknown_type(), "id"),
        (error.is_limit(), "limit"),
        (error.is_invalid_value(), "value"),
    ];
    kinds.iter().find(|(is_kind, _)| *is_kind).unwrap_or_else(|| panic!("{error}")).1
}

fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = random.below(bytes.len().max(1));
    match random.below(5) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.next() as u8),
        _ if bytes.is_empty() => bytes.push(0),
        2 => bytes[at] ^= 1 << random.below(8),
        // A long varint, or a large length.
        3 => drop(bytes.splice(at..at, [0xff; 8])),
        _ => bytes[at] = random.one_of(&[0, 1, 0x7f, 0x80, 0xff]),
    }
    bytes
}

/// Writes the vectors of a type: messages, which are encoded to the same bytes again, and other inputs.
fn vectors<T: Encode + DecodeOwned>(
    name: &str,
    count: usize,
    has_errors: bool,
    random: &mut Random,
    text: &mut String,
) {
    let schema = schema::of::<T>();
    let wire = schema.compile().unwrap();
    let (mut messages, mut inputs) = (BTreeSet::new(), BTreeMap::new());
    while messages.len() < count {
        let value = Maker { random: &mut *random, open: Vec::new(), depth: 0 }.value(&schema);
        let bytes = wire.to_vec(&value).unwrap();
        let message = to_vec(&decode_exact::<T>(&bytes).unwrap()).unwrap();
        assert_eq!(to_vec(&decode_exact::<T>(&message).unwrap()).unwrap(), message);
        if has_errors {
            let mutants = [mutated(&message, random), mutated(&bytes, random)];
            inputs.extend(mutants.map(|bytes| (bytes.clone(), decode_exact::<T>(&bytes).map(|_| ()))));
        }
        // A message of an older version, or with a map in another order.
        if bytes != message {
            inputs.insert(bytes, Ok(()));
        }
        messages.insert(message);
    }
    let value = |bytes: &[u8]| wire.value_to_json(&wire.decode_exact::<Value>(bytes).unwrap()).unwrap();
    let messages =
        messages.iter().map(|bytes| format!("{{\"hex\":\"{}\",\"value\":{}}}", hex(bytes), value(bytes)));
    let inputs = inputs.iter().map(|(bytes, outcome)| match outcome {
        Ok(()) => format!("{{\"hex\":\"{}\",\"value\":{}}}", hex(bytes), value(bytes)),
        Err(error) => format!("{{\"hex\":\"{}\",\"error\":\"{}\"}}", hex(bytes), kind(error)),
    });
    let (messages, inputs): (Vec<_>, Vec<_>) = (messages.collect(), inputs.collect());
    write!(
        text,
        "{{\"name\":\"{name}\",\"schema\":{},\n\"messages\":[\n{}\n],\n\"inputs\":[\n{}\n]}}",
        schema.to_json(),
        messages.join(",\n"),
        inputs.join(",\n")
    )
    .unwrap();
}

#[test]
fn vectors_are_up_to_date() {
    let mut text = "{\"types\":[\n".to_owned();
    let mut random = Random(49);
    macro_rules! types {
        ($($name:literal: $type:ty, $count:literal, $has_errors:literal;)*) => {$(
            if !text.ends_with("[\n") {
                text += ",\n";
            }
            vectors::<$type>($name, $count, $has_errors, &mut random, &mut text);
        )*};
    }
    types! {
        "Numbers": Numbers, 20, true;
        "Texts": Texts, 16, true;
        "Lists": Lists, 16, true;
        "Maps": Maps, 16, true;
        "Entries": Entries, 8, false;
        "Options": Options, 16, true;
        "Shape": Shape, 16, true;
        // An unknown id is found before all of its bytes are read.
        "Command": Command, 4, false;
        "Signed": Signed, 6, true;
        "Tree": Tree, 16, true;
        "Expression": Expression, 12, true;
        "Profile": Profile, 16, true;
        "Event": Event, 10, true;
        "Reserved": Reserved, 8, true;
        "Times": Times, 12, true;
        "Message": Vec<(u8, String)>, 8, true;
        "Names": Names, 6, true;
        "Headers": Headers, 12, true;
    }
    text += "\n]}\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/default-vectors.json");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let file = std::fs::read_to_string(path).unwrap_or_default();
    assert!(file == text, "{path} is out of date: run this test with UPDATE_VECTORS=1");
}
