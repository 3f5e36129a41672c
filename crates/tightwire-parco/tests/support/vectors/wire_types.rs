//! Static wire types, derived types and builder schemas for the schemas of the vectors, found by their schemas.

use std::collections::BTreeMap;

use tightwire_parco::schema::{Schema, Value, of_wire};
use tightwire_parco::wire::{
    Array, Be, Blob, Bool, F32, F64, FromOctets, GoInt, GoUint, I8, I16, I32, I64, Le, LongText, Map, Octets,
    Opt, Skip, Slice, SmallVarchar, StaticWire, Str, Text, TimeLocation, TimeUtc, U8, U16, U32, Varchar,
};
use tightwire_parco::{
    Decode, DecodeAs, Encode, EncodeAs, Error, Fault, Get, Options, Put, Timestamp, WireExt as _,
    ZonedTimestamp, builder,
};

use super::{Problem, same_kind};

type Outcome = Result<(Value, usize), Error>;
/// The bytes, or `None` if the Rust type cannot represent the value.
type Encoded = Option<Result<Vec<u8>, Error>>;

/// A static wire type with a Rust type.
pub(super) struct StaticType {
    canonical: fn() -> String,
    encode: fn(&Value) -> Encoded,
    decode: fn(Options, &[u8]) -> Outcome,
}

/// Returns the wire types with this schema. A bare header is encoded like its integer, but its values differ.
pub(super) fn find(schema: &Schema) -> impl Iterator<Item = &'static StaticType> {
    let canonical = match schema {
        Schema::Header(..) => String::new(),
        _ => schema.canonical(),
    };
    TYPES.iter().filter(move |wire| (wire.canonical)() == canonical)
}

impl StaticType {
    /// Checks that decoding has the same outcome as with the run-time schema.
    pub(super) fn agrees(&self, options: Options, bytes: &[u8], expected: &Outcome) -> Result<(), Problem> {
        match ((self.decode)(options, bytes), expected) {
            (Ok((value, used)), Ok((expected, others))) if used == *others => {
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

    /// Checks that a value encodes to these bytes, or to as many if the order of entries is arbitrary.
    pub(super) fn encodes(&self, value: &Value, expected: &[u8], is_unordered: bool) -> Result<(), Problem> {
        let Some(bytes) = (self.encode)(value) else {
            return Err("the static wire type has no such value".into());
        };
        let bytes = bytes?;
        if !is_unordered {
            expect!(bytes == expected, "the static wire gives {bytes:02x?}");
        }
        let (value, used) = (self.decode)(Options::new(), &bytes)?;
        let (expected, len) = (self.decode)(Options::new(), expected)?;
        expect!(used == len && value == expected, "the static wire gives other entries");
        Ok(())
    }

    /// Checks that a value is rejected, unless the Rust type cannot represent it.
    pub(super) fn refuses(&self, value: &Value, expected: &Error) -> Result<(), Problem> {
        match (self.encode)(value) {
            None => Ok(()),
            Some(Ok(_)) => Err("the static wire type accepts it".into()),
            Some(Err(error)) => {
                expect!(
                    equal_except_variant_names(&error, expected),
                    "{expected}; with a static wire type {error}"
                );
                Ok(())
            }
        }
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

/// A Rust type that can be converted to and from values of a schema.
trait ValueType: Sized {
    fn from_value(value: &Value) -> Option<Self>;
    fn to_value(&self) -> Value;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl ValueType for $type {
            fn from_value(value: &Value) -> Option<Self> {
                value.as_integer()?.try_into().ok()
            }

            fn to_value(&self) -> Value {
                (*self).into()
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl ValueType for bool {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_value(&self) -> Value {
        (*self).into()
    }
}

impl ValueType for f32 {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Float32(bits) = value { Some(Self::from_bits(*bits)) } else { None }
    }

    fn to_value(&self) -> Value {
        (*self).into()
    }
}

impl ValueType for f64 {
    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Float64(bits) = value { Some(Self::from_bits(*bits)) } else { None }
    }

    fn to_value(&self) -> Value {
        (*self).into()
    }
}

/// Any bytes, because encoded strings need not be UTF-8.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Bytes(Vec<u8>);

impl Octets for Bytes {
    fn octets(&self) -> &[u8] {
        &self.0
    }
}

impl FromOctets<'_> for Bytes {
    const OWNED: bool = true;

    fn from_octets(bytes: &[u8]) -> Result<Self, Fault> {
        Ok(Self(bytes.into()))
    }
}

impl ValueType for Bytes {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_bytes().map(|bytes| Self(bytes.into()))
    }

    fn to_value(&self) -> Value {
        Value::Bytes(self.0.clone())
    }
}

impl ValueType for String {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_str().map(Into::into)
    }

    fn to_value(&self) -> Value {
        self.as_str().into()
    }
}

impl<T: ValueType> ValueType for Vec<T> {
    fn from_value(value: &Value) -> Option<Self> {
        value.as_list()?.iter().map(T::from_value).collect()
    }

    fn to_value(&self) -> Value {
        Value::List(self.iter().map(T::to_value).collect())
    }
}

impl<T: ValueType, const N: usize> ValueType for [T; N] {
    fn from_value(value: &Value) -> Option<Self> {
        Vec::from_value(value)?.try_into().ok()
    }

    fn to_value(&self) -> Value {
        Value::List(self.iter().map(T::to_value).collect())
    }
}

impl<K: ValueType + Ord, V: ValueType> ValueType for BTreeMap<K, V> {
    fn from_value(value: &Value) -> Option<Self> {
        value
            .as_map()?
            .iter()
            .map(|(key, value)| Some((K::from_value(key)?, V::from_value(value)?)))
            .collect()
    }

    fn to_value(&self) -> Value {
        Value::Map(self.iter().map(|(key, value)| (key.to_value(), value.to_value())).collect())
    }
}

impl<T: ValueType> ValueType for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Option(value) = value else { return None };
        value.as_deref().map(T::from_value).map_or(Some(None), |value| value.map(Some))
    }

    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::NONE, |value| Value::some(value.to_value()))
    }
}

impl ValueType for () {
    fn from_value(value: &Value) -> Option<Self> {
        (*value == Value::Skip).then_some(())
    }

    fn to_value(&self) -> Value {
        Value::Skip
    }
}

impl ValueType for Timestamp {
    fn from_value(value: &Value) -> Option<Self> {
        i64::from_value(value).map(Self::from_nanos)
    }

    fn to_value(&self) -> Value {
        self.as_nanos().into()
    }
}

impl ValueType for ZonedTimestamp {
    fn from_value(value: &Value) -> Option<Self> {
        let Value::TimeLocation { unix_nanos, zone } = value else { return None };
        Some(Self { at: Timestamp::from_nanos(*unix_nanos), zone: zone.clone() })
    }

    fn to_value(&self) -> Value {
        Value::TimeLocation { unix_nanos: self.at.as_nanos(), zone: self.zone.clone() }
    }
}

/// A struct with a builder schema that is equivalent to its derived codec.
trait Built: Sized {
    fn built() -> impl Put<Self> + for<'de> Get<'de, Self> + Copy;
}

/// Derived structs, with the field names of the vectors and the wire types for the builder.
macro_rules! structs {
    ($($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty = $rename:literal, $wire:expr;)* })*) => {$(
        #[derive(Default, Encode, Decode)]
        struct $name {
            $(
                #[parco(rename = $rename)]
                $(#[$attribute])*
                $field: $type,
            )*
        }

        impl ValueType for $name {
            fn from_value(value: &Value) -> Option<Self> {
                let [$($field),*] = value.as_struct()? else { return None };
                Some(Self { $($field: ValueType::from_value($field)?),* })
            }

            fn to_value(&self) -> Value {
                Value::Struct(vec![$(self.$field.to_value()),*])
            }
        }

        impl Built for $name {
            fn built() -> impl Put<Self> + for<'de> Get<'de, Self> + Copy {
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
        blob: Bytes = "B", Blob::<U8>::NEW;
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

/// Derived enums, with the models of the vectors.
macro_rules! enums {
    ($($id:tt $name:ident { $($variant:ident = $number:literal as $value:expr,)* })*) => {$(
        #[derive(Encode, Decode)]
        #[parco(id = $id)]
        enum $name {
            $(
                #[parco(id = $number)]
                $variant($variant),
            )*
        }

        impl ValueType for $name {
            fn from_value(value: &Value) -> Option<Self> {
                let Value::Multi { id, value } = value else { return None };
                $(
                    if **id == $value {
                        return $variant::from_value(value).map(Self::$variant);
                    }
                )*
                None
            }

            fn to_value(&self) -> Value {
                let (id, value) = match self {
                    $(Self::$variant(model) => ($value, model.to_value()),)*
                };
                Value::Multi { id: Box::new(id), value: Box::new(value) }
            }
        }
    )*};
}

enums! {
    u8 Frame {
        Animal = 0 as Value::Integer(0),
        Flat = 1 as Value::Integer(1),
    }
    u16be WideFrame {
        Animal = 258 as Value::Integer(258),
    }
    small NamedFrame {
        Animal = "animal" as Value::from("animal"),
    }
}

type Written<T> = <T as EncodeAs<Le>>::Wire;
type Read<'de, T> = <T as DecodeAs<'de, Le>>::Wire;

/// A wire type, or one for encoding and one for decoding.
macro_rules! wire {
    ($wire:ty; $type:ty) => {
        wire!($wire, $wire; $type)
    };
    ($written:ty, $read:ty; $type:ty) => {
        wire!(@ <$written as StaticWire>::NEW, <$read as StaticWire>::NEW; $type)
    };
    (@ $written:expr, $read:expr; $type:ty) => {
        StaticType {
            canonical: || of_wire(&$written).canonical(),
            encode: |value| {
                let value: $type = ValueType::from_value(value)?;
                Some($written.to_vec(&value))
            },
            decode: |options, bytes| {
                let (value, rest) = $read.decode_with::<$type>(options, bytes)?;
                Ok((value.to_value(), bytes.len() - rest.len()))
            },
        }
    };
}

macro_rules! types {
    (builders: $($model:ident)*; $($wire:ty $(, $read:ty)?: $type:ty;)*) => {
        static TYPES: &[StaticType] = &[
            $(wire!($wire $(, $read)?; $type),)*
            $(wire!(@ $model::built(), $model::built(); $model),)*
        ];
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
    SmallVarchar: Bytes;
    Varchar: Bytes;
    Varchar<Be>: Bytes;
    Text: Bytes;
    Text<Be>: Bytes;
    LongText: Bytes;
    LongText<Be>: Bytes;
    Str<I8>: Bytes;
    Str<I16<Le>>: Bytes;
    Str<I16<Be>>: Bytes;
    Str<I32<Le>>: Bytes;
    Str<I32<Be>>: Bytes;
    Str<I64<Le>>: Bytes;
    Str<I64<Be>>: Bytes;
    Slice<U8, U8>: Vec<u8>;
    Slice<I8, U8>: Vec<u8>;
    Slice<I16<Le>, U8>: Vec<u8>;
    Slice<U16<Le>, U8>: Vec<u8>;
    Slice<U32<Le>, U8>: Vec<u8>;
    Slice<U8, U16<Le>>: Vec<u16>;
    Slice<U16<Le>, I32<Be>>: Vec<i32>;
    Slice<U8, SmallVarchar>: Vec<Bytes>;
    Slice<U8, Blob<U16<Le>>>: Vec<Bytes>;
    Slice<U16<Be>, Slice<U8, U8>>: Vec<Vec<u8>>;
    Slice<U8, Map<U8, U8, Bool>>: Vec<BTreeMap<u8, bool>>;
    Array<0, GoInt<Le>>: [i64; 0];
    Array<1, U8>: [u8; 1];
    Array<3, U8>: [u8; 3];
    Array<5, Bool>: [bool; 5];
    Array<3, U16<Be>>: [u16; 3];
    Array<2, Varchar>: [Bytes; 2];
    Map<U8, U8, U8>: BTreeMap<u8, u8>;
    Map<U8, U16<Le>, U8>: BTreeMap<u16, u8>;
    Map<U8, U8, SmallVarchar>: BTreeMap<u8, Bytes>;
    Map<U8, SmallVarchar, U8>: BTreeMap<Bytes, u8>;
    Map<U16<Be>, U16<Be>, Varchar>: BTreeMap<u16, Bytes>;
    Map<U8, I32<Le>, F32<Le>>: BTreeMap<i32, f32>;
    Map<U8, SmallVarchar, Written<Animal>>, Map<U8, SmallVarchar, Read<'_, Animal>>: BTreeMap<Bytes, Animal>;
    Map<U8, SmallVarchar, Slice<U8, U8>>: BTreeMap<Bytes, Vec<u8>>;
    Map<GoInt<Le>, GoInt<Le>, Varchar>: BTreeMap<i64, Bytes>;
    Opt<U8>: Option<u8>;
    Opt<Bool>: Option<bool>;
    Opt<U32<Be>>: Option<u32>;
    Opt<GoInt<Le>>: Option<i64>;
    Opt<SmallVarchar>: Option<Bytes>;
    Opt<Varchar>: Option<Bytes>;
    Opt<Slice<U8, U8>>: Option<Vec<u8>>;
    Opt<Written<Animal>>, Opt<Read<'_, Animal>>: Option<Animal>;
    Skip<1>: ();
    Skip<3>: ();
    Skip<10>: ();
    Written<Empty>, Read<'_, Empty>: Empty;
    Written<Animal>, Read<'_, Animal>: Animal;
    Written<Point>, Read<'_, Point>: Point;
    Written<User>, Read<'_, User>: User;
    Written<Padded>, Read<'_, Padded>: Padded;
    Written<Example>, Read<'_, Example>: Example;
    Written<Bench>, Read<'_, Bench>: Bench;
    Written<SmallBench>, Read<'_, SmallBench>: SmallBench;
    Slice<U8, Written<Animal>>, Slice<U8, Read<'_, Animal>>: Vec<Animal>;
    Written<Frame>, Read<'_, Frame>: Frame;
    Written<WideFrame>, Read<'_, WideFrame>: WideFrame;
    Written<NamedFrame>, Read<'_, NamedFrame>: NamedFrame;
}
