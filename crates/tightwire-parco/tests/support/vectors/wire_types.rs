//! Static wire types, derived types and builder schemas for the schemas of the vectors, found by their schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tightwire_parco::schema::{Dynamic, Schema, Value, of_wire};
use tightwire_parco::wire::{
    Array, Be, Blob, Bool, F32, F64, GoInt, GoUint, I8, I16, I32, I64, Le, LongText, Map, Opt, Skip, Slice,
    SmallVarchar, StaticWire, Str, Text, TimeLocation, TimeUtc, U8, U16, U32, Varchar, WireOf,
};
use tightwire_parco::{
    Decode, Encode, Error, Get, Options, Put, Timestamp, WireExt as _, ZonedTimestamp, builder,
};

use super::{Problem, same_kind};

/// A static wire type with a Rust type.
pub(super) struct StaticType {
    canonical: String,
    recode: Box<Recode>,
}

/// The encoding of a decoded value, and the number of bytes that it was decoded from.
type Recode = dyn Fn(Options, &[u8]) -> Result<(Vec<u8>, usize), Error> + Send + Sync;

/// Returns the wire types with this schema. A bare header is encoded like its integer, but its values differ.
pub(super) fn find(schema: &Schema) -> impl Iterator<Item = &'static StaticType> {
    let canonical = match schema {
        Schema::Header(..) => String::new(),
        _ => schema.canonical(),
    };
    TYPES.iter().filter(move |wire| wire.canonical == canonical)
}

/// Removes names and logical types, which the vectors do not have.
fn nameless(schema: &Schema) -> Schema {
    fn remove(json: &mut serde_json::Value) {
        if let Some(object) = json.as_object_mut() {
            object.remove("name");
            object.remove("names");
            object.remove("logical");
            object.values_mut().for_each(remove);
        }
        json.as_array_mut().into_iter().flatten().for_each(remove);
    }
    let mut json = serde_json::from_str(&schema.to_json()).expect("JSON");
    remove(&mut json);
    Schema::from_json(&json.to_string()).expect("a schema")
}

impl StaticType {
    fn new<T>(wire: impl Put<T> + for<'de> Get<'de, T> + Send + Sync + 'static) -> Self {
        let canonical = nameless(&of_wire(&wire)).canonical();
        let recode = move |options, bytes: &[u8]| {
            let (value, rest) = wire.decode_with::<T>(options, bytes)?;
            Ok((wire.to_vec(&value)?, bytes.len() - rest.len()))
        };
        Self { canonical, recode: Box::new(recode) }
    }

    /// Checks that decoding has the same outcome as with the run-time schema: the same error, or a value whose
    /// encoding the run-time schema decodes to the expected value.
    pub(super) fn agrees(
        &self,
        wire: &Dynamic,
        options: Options,
        bytes: &[u8],
        expected: &Result<(Value, usize), Error>,
    ) -> Result<(), Problem> {
        match ((self.recode)(options, bytes), expected) {
            (Ok((bytes, used)), Ok((expected, others))) if used == *others => {
                let value = wire.decode_exact(&bytes)?;
                expect!(sorted(value) == sorted(expected.clone()), "the static wire gives another value");
            }
            (Err(error), Err(expected)) => {
                expect!(
                    equal_except_variant_names(&error, expected),
                    "{expected}; with a static wire type {error}"
                );
            }
            (outcome, _) => return Err(format!("{expected:?}; with a static wire type {outcome:?}").into()),
        }
        Ok(())
    }

    /// Checks that the value with this encoding encodes to the same bytes, or to as many if the order of entries is
    /// arbitrary.
    pub(super) fn encodes(&self, expected: &[u8], is_unordered: bool) -> Result<(), Problem> {
        let (bytes, used) = (self.recode)(Options::new(), expected)?;
        expect!(used == expected.len() && bytes.len() == used, "the static wire has another length");
        expect!(is_unordered || bytes == expected, "the static wire gives {bytes:02x?}");
        Ok(())
    }
}

/// Returns whether two errors are equal, except for the names of variants, which a schema does not contain.
fn equal_except_variant_names(one: &Error, other: &Error) -> bool {
    let steps = |error: &Error| {
        let steps = error.path().iter().map(ToString::to_string);
        steps.filter(|step| !matches!(&**step, ".Animal" | ".Flat")).collect::<Vec<_>>()
    };
    same_kind(one, other) && one.offset() == other.offset() && steps(one) == steps(other)
}

/// Sorts entries by key.
fn sorted(value: Value) -> Value {
    match value {
        Value::Map(mut entries) => {
            entries.sort();
            Value::Map(entries.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::List(values) => Value::List(values.into_iter().map(sorted).collect()),
        Value::Struct(fields) => Value::Struct(fields.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// A struct with a builder schema that is equivalent to its derived codec.
trait Built: Sized {
    fn built() -> impl Put<Self> + for<'de> Get<'de, Self> + Copy + Send + Sync + 'static;
}

/// Derived structs, with the field names of the vectors and the wire types for the builder.
macro_rules! structs {
    ($($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty = $rename:literal, $wire:expr;)* })*) => {$(
        #[derive(Default, Encode, Decode)]
        #[parco(go)]
        struct $name {
            $(
                #[parco(rename = $rename)]
                $(#[$attribute])*
                $field: $type,
            )*
        }

        impl Built for $name {
            fn built() -> impl Put<Self> + for<'de> Get<'de, Self> + Copy + Send + Sync + 'static {
                builder::<Self>()$(.field($wire, |m| &m.$field, |m, v| m.$field = v).named($rename))*
            }
        }
    )*};
}

structs! {
    Empty {}
    Animal {
        #[parco(small)]
        specie: String = "Specie", SmallVarchar::NEW;
        age: u8 = "Age", U8;
    }
    Flat {
        price: f32 = "Price", F32::<Le>::NEW;
        #[parco(small)]
        address: String = "Address", SmallVarchar::NEW;
    }
    Point {
        x: i32 = "X", I32::<Le>::NEW;
        #[parco(be)]
        y: i32 = "Y", I32::<Be>::NEW;
    }
    User {
        name: String = "Name", Varchar::<Le>::NEW;
        age: u8 = "Age", U8;
        email: Option<String> = "Email", Opt(Varchar::<Le>::NEW);
    }
    Padded {
        name: String = "Name", Varchar::<Le>::NEW;
        age: u8 = "Age", U8;
        #[parco(skip = 10)]
        padding: () = "_pad", Skip::<10>;
        #[parco(be)]
        number: i16 = "I", I16::<Be>::NEW;
        #[parco(with = Blob<U8>)]
        blob: Vec<u8> = "B", Blob::<U8>::NEW;
    }
    Example {
        #[parco(small)]
        greet: String = "Greet", SmallVarchar::NEW;
        life_sense: u8 = "LifeSense", U8;
        #[parco(header = u8, key(small))]
        grades: BTreeMap<String, u8> = "Grades", Map::of(U8, SmallVarchar::NEW, U8);
        #[parco(header = u8, elem(small))]
        friends: Vec<String> = "Friends", Slice::of(U8, SmallVarchar::NEW);
        even_or_odd: bool = "EvenOrOdd", Bool;
        pet: Animal = "Pet", Animal::built();
        #[parco(int)]
        pointer: Option<i64> = "Pointer", Opt(GoInt::<Le>::NEW);
        flags: [bool; 5] = "Flags", Array(Bool);
        balance: f32 = "Balance", F32::<Le>::NEW;
        more_precise_balance: f64 = "MorePreciseBalance", F64::<Le>::NEW;
        #[parco(time)]
        created_at: i64 = "CreatedAt", TimeUtc;
    }
    Bench {
        name: String = "Name", Varchar::<Le>::NEW;
        text: String = "Str", Varchar::<Le>::NEW;
        number: u16 = "Num", U16::<Le>::NEW;
        array: Vec<u16> = "Arr", Slice::of(U16::<Le>::NEW, U16::<Le>::NEW);
        #[parco(key(small))]
        map: BTreeMap<String, u8> = "Map", Map::of(U16::<Le>::NEW, SmallVarchar::NEW, U8);
        flag: bool = "Bool", Bool;
        float32: f32 = "Float32", F32::<Le>::NEW;
        float64: f64 = "Float64", F64::<Le>::NEW;
    }
    SmallBench {
        name: String = "Name", Varchar::<Le>::NEW;
        text: String = "Str", Varchar::<Le>::NEW;
        number: u16 = "Num", U16::<Le>::NEW;
        #[parco(header = u8)]
        array: Vec<u16> = "Arr", Slice::of(U8, U16::<Le>::NEW);
        #[parco(header = u8, key(small))]
        map: BTreeMap<String, u8> = "Map", Map::of(U8, SmallVarchar::NEW, U8);
        flag: bool = "Bool", Bool;
        float32: f32 = "Float32", F32::<Le>::NEW;
        float64: f64 = "Float64", F64::<Le>::NEW;
    }
}

#[derive(Encode, Decode)]
#[parco(id = u8)]
enum Frame {
    #[parco(id = 0)]
    Animal(Animal),
    #[parco(id = 1)]
    Flat(Flat),
}

#[derive(Encode, Decode)]
#[parco(id = u16be)]
enum WideFrame {
    #[parco(id = 258)]
    Animal(Animal),
}

#[derive(Encode, Decode)]
#[parco(id = small)]
enum NamedFrame {
    #[parco(id = "animal")]
    Animal(Animal),
}

macro_rules! types {
    (builders: $($model:ident)*; $($wire:ty: $type:ty;)*) => {
        static TYPES: LazyLock<Vec<StaticType>> = LazyLock::new(|| {
            vec![
                $(StaticType::new::<$type>(<$wire>::NEW),)*
                $(StaticType::new($model::built()),)*
            ]
        });
    };
}

types! {
    builders: Empty Animal Point User Padded Example Bench SmallBench;
    Bool: bool;
    U8: u8;
    I8: i8;
    U16<Le>: u16;
    U16<Be>: u16;
    I16<Le>: i16;
    I16<Be>: i16;
    U32<Le>: u32;
    U32<Be>: u32;
    I32<Le>: i32;
    I32<Be>: i32;
    GoUint<Le>: u64;
    GoUint<Be>: u64;
    GoInt<Le>: i64;
    GoInt<Be>: i64;
    F32<Le>: f32;
    F32<Be>: f32;
    F64<Le>: f64;
    F64<Be>: f64;
    TimeUtc: Timestamp;
    TimeLocation: ZonedTimestamp;
    SmallVarchar: Vec<u8>;
    Varchar: Vec<u8>;
    Varchar<Be>: Vec<u8>;
    Text: Vec<u8>;
    Text<Be>: Vec<u8>;
    LongText: Vec<u8>;
    LongText<Be>: Vec<u8>;
    Str<I8>: Vec<u8>;
    Str<I16<Le>>: Vec<u8>;
    Str<I16<Be>>: Vec<u8>;
    Str<I32<Le>>: Vec<u8>;
    Str<I32<Be>>: Vec<u8>;
    Str<I64<Le>>: Vec<u8>;
    Str<I64<Be>>: Vec<u8>;
    Slice<U8, U8>: Vec<u8>;
    Slice<I8, U8>: Vec<u8>;
    Slice<I16<Le>, U8>: Vec<u8>;
    Slice<U16<Le>, U8>: Vec<u8>;
    Slice<U32<Le>, U8>: Vec<u8>;
    Slice<U8, U16<Le>>: Vec<u16>;
    Slice<U16<Le>, I32<Be>>: Vec<i32>;
    Slice<U8, SmallVarchar>: Vec<Vec<u8>>;
    Slice<U8, Blob<U16<Le>>>: Vec<Vec<u8>>;
    Slice<U16<Be>, Slice<U8, U8>>: Vec<Vec<u8>>;
    Slice<U8, Map<U8, U8, Bool>>: Vec<BTreeMap<u8, bool>>;
    Array<0, GoInt<Le>>: [i64; 0];
    Array<1, U8>: [u8; 1];
    Array<3, U8>: [u8; 3];
    Array<5, Bool>: [bool; 5];
    Array<3, U16<Be>>: [u16; 3];
    Array<2, Varchar>: [Vec<u8>; 2];
    Map<U8, U8, U8>: BTreeMap<u8, u8>;
    Map<U8, U16<Le>, U8>: BTreeMap<u16, u8>;
    Map<U8, U8, SmallVarchar>: BTreeMap<u8, Vec<u8>>;
    Map<U8, SmallVarchar, U8>: BTreeMap<Vec<u8>, u8>;
    Map<U16<Be>, U16<Be>, Varchar>: BTreeMap<u16, Vec<u8>>;
    Map<U8, I32<Le>, F32<Le>>: BTreeMap<i32, f32>;
    Map<U8, SmallVarchar, WireOf<Animal>>: BTreeMap<Vec<u8>, Animal>;
    Map<U8, SmallVarchar, Slice<U8, U8>>: BTreeMap<Vec<u8>, Vec<u8>>;
    Map<GoInt<Le>, GoInt<Le>, Varchar>: BTreeMap<i64, Vec<u8>>;
    Opt<U8>: Option<u8>;
    Opt<Bool>: Option<bool>;
    Opt<U32<Be>>: Option<u32>;
    Opt<GoInt<Le>>: Option<i64>;
    Opt<SmallVarchar>: Option<Vec<u8>>;
    Opt<Varchar>: Option<Vec<u8>>;
    Opt<Slice<U8, U8>>: Option<Vec<u8>>;
    Opt<WireOf<Animal>>: Option<Animal>;
    Skip<1>: ();
    Skip<3>: ();
    Skip<10>: ();
    WireOf<Empty>: Empty;
    WireOf<Animal>: Animal;
    WireOf<Point>: Point;
    WireOf<User>: User;
    WireOf<Padded>: Padded;
    WireOf<Example>: Example;
    WireOf<Bench>: Bench;
    WireOf<SmallBench>: SmallBench;
    Slice<U8, WireOf<Animal>>: Vec<Animal>;
    WireOf<Frame>: Frame;
    WireOf<WideFrame>: WideFrame;
    WireOf<NamedFrame>: NamedFrame;
}
