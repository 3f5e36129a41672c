//! Random schemas and values of them, for property tests.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use tightwire_parco::schema::{Number, Schema, Value, Variant};
use tightwire_parco::wire::{Endian, Wire as _};

fn endian() -> impl Strategy<Value = Endian> {
    prop_oneof![Just(Endian::Little), Just(Endian::Big)]
}

/// Numbers of one byte have no order and use little endian.
fn number(number: Number, endian: Endian) -> (Number, Endian) {
    (number, if number.width() == 1 { Endian::Little } else { endian })
}

fn integer() -> impl Strategy<Value = (Number, Endian)> {
    let integers: Vec<Number> = Number::ALL.iter().copied().filter(|number| !number.is_float()).collect();
    (prop::sample::select(integers), endian()).prop_map(|(integer, endian)| number(integer, endian))
}

/// A header; a varint only if the schema is not for Go.
fn header(go: bool) -> BoxedStrategy<Box<Schema>> {
    let number = integer().prop_map(|(integer, endian)| Box::new(Schema::Number(integer, endian)));
    if go { number.boxed() } else { prop_oneof![number, Just(Box::new(Schema::Varint))].boxed() }
}

fn leaf(go: bool) -> impl Strategy<Value = Schema> {
    prop_oneof![
        Just(Schema::Bool),
        integer().prop_map(|(integer, endian)| Schema::Number(integer, endian)),
        endian().prop_map(|endian| Schema::Number(Number::Float32, endian)),
        endian().prop_map(|endian| Schema::Number(Number::Float64, endian)),
        integer().prop_map(|(integer, endian)| Schema::Header(integer, endian)),
        header(go).prop_map(|header| Schema::String { header }),
        header(go).prop_map(|header| Schema::Blob { header }),
        header(go).prop_map(|header| *header),
        (0..9u64).prop_map(Schema::Skip),
        Just(Schema::TimeUtc),
        Just(Schema::TimeLocation),
    ]
}

/// Types that are comparable in Go, so that they can be map keys.
fn key(go: bool) -> impl Strategy<Value = Schema> {
    leaf(go).prop_filter("Go compares keys", |key| !matches!(key, Schema::Blob { .. } | Schema::Skip(_)))
}

/// Names fields.
pub(crate) fn named(fields: Vec<Schema>) -> Vec<(String, Schema)> {
    fields.into_iter().enumerate().map(|(index, field)| (format!("f{index}"), field)).collect()
}

/// A struct, or an evolve struct if it is not for Go.
fn fields(go: bool, schema: impl Strategy<Value = Schema>) -> impl Strategy<Value = Schema> {
    (vec(schema, 0..5), any::<Option<prop::sample::Index>>()).prop_map(move |(fields, required)| {
        let required = required.filter(|_| !go).map(|required| required.index(fields.len() + 1));
        let fields = named(fields);
        match required {
            Some(required) => Schema::Evolve { required, fields },
            None => Schema::Struct(fields),
        }
    })
}

fn multi(go: bool, schema: impl Strategy<Value = Schema>) -> impl Strategy<Value = Schema> {
    let ids = prop_oneof![
        (vec(any::<u8>(), 1..4), any::<bool>()).prop_map(move |(ids, varint)| {
            let ids: BTreeSet<u8> = ids.into_iter().collect();
            let header = Schema::Number(Number::Uint8, Endian::Little);
            (
                if varint && !go { Schema::Varint } else { header },
                ids.iter().map(u8::to_string).collect::<Vec<_>>(),
            )
        }),
        vec("[a-z]{0,3}", 1..4).prop_map(move |ids| {
            let ids: BTreeSet<String> = ids.into_iter().collect();
            let header = if go { Schema::Number(Number::Int16, Endian::Big) } else { Schema::Varint };
            let header = Box::new(header);
            (Schema::String { header }, ids.into_iter().collect())
        }),
    ];
    (ids, vec(schema, 4)).prop_map(|((header, ids), models)| Schema::Multi {
        header: Box::new(header),
        models: ids
            .into_iter()
            .zip(models)
            .map(|(id, schema)| Variant { id, name: String::new(), schema })
            .collect(),
    })
}

/// A schema that compiles, for Go without varints.
pub(crate) fn schema(go: bool) -> impl Strategy<Value = Schema> {
    leaf(go).prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            (header(go), inner.clone())
                .prop_map(|(header, element)| Schema::Slice { header, element: Box::new(element) }),
            (0..4u64, inner.clone())
                .prop_map(|(len, element)| Schema::Array { len, element: Box::new(element) }),
            (header(go), key(go), inner.clone()).prop_map(|(header, key, value)| Schema::Map {
                header,
                key: Box::new(key),
                value: Box::new(value)
            }),
            inner.clone().prop_map(|inner| Schema::Option(Box::new(inner))),
            fields(go, inner.clone()),
            multi(go, inner),
        ]
    })
}

fn integer_of(number: Number) -> BoxedStrategy<Value> {
    let bits = 8 * u32::try_from(number.width()).unwrap();
    if number.is_signed() {
        any::<i64>().prop_map(move |value| (value >> (64 - bits)).into()).boxed()
    } else {
        any::<u64>().prop_map(move |value| (value >> (64 - bits)).into()).boxed()
    }
}

/// A value of a schema.
pub(crate) fn value(schema: &Schema) -> BoxedStrategy<Value> {
    match schema {
        Schema::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Schema::Number(Number::Float32, _) => any::<u32>().prop_map(Value::Float32).boxed(),
        Schema::Number(Number::Float64, _) => any::<u64>().prop_map(Value::Float64).boxed(),
        Schema::Number(number, _) => integer_of(*number),
        // Numbers of all encoded widths.
        Schema::Varint => {
            (any::<u64>(), 0..64).prop_map(|(value, shift)| Value::from(value >> shift)).boxed()
        }
        // Headers are numbers of at most 63 bits.
        Schema::Header(Number::Uint64 | Number::Uint, _) => {
            any::<u64>().prop_map(|value| (value >> 1).into()).boxed()
        }
        Schema::Header(number, _) => integer_of(*number),
        Schema::String { .. } | Schema::Blob { .. } => vec(any::<u8>(), 0..20).prop_map(Value::Bytes).boxed(),
        Schema::Slice { element, .. } => vec(value(element), 0..4).prop_map(Value::List).boxed(),
        Schema::Array { len, element } => {
            vec(value(element), usize::try_from(*len).unwrap()).prop_map(Value::List).boxed()
        }
        Schema::Map { key, value: inner, .. } => btree_map(value(key), value(inner), 0..4)
            .prop_map(|entries| Value::Map(entries.into_iter().collect()))
            .boxed(),
        Schema::Option(inner) => prop_oneof![Just(Value::NONE), value(inner).prop_map(Value::some)].boxed(),
        Schema::Struct(fields) => {
            let fields: Vec<_> = fields.iter().map(|(_, field)| value(field)).collect();
            fields.prop_map(Value::Struct).boxed()
        }
        Schema::Evolve { required, fields } => {
            // A message may end before each optional field, but one that takes no bytes is always read.
            let ends: Vec<usize> = (*required..=fields.len())
                .filter(|end| {
                    fields.get(*end).is_none_or(|(_, field)| field.compile().unwrap().min_size() > 0)
                })
                .collect();
            let fields: Vec<_> = fields.iter().map(|(_, field)| value(field)).collect();
            (fields, prop::sample::select(ends))
                .prop_map(|(mut fields, end)| {
                    fields.truncate(end);
                    Value::Struct(fields)
                })
                .boxed()
        }
        Schema::Skip(_) => Just(Value::Skip).boxed(),
        Schema::TimeUtc => any::<i64>().prop_map(Value::from).boxed(),
        Schema::TimeLocation => (any::<i64>(), "[A-Za-z/]{1,20}")
            .prop_map(|(unix_nanos, zone)| Value::TimeLocation { unix_nanos, zone })
            .boxed(),
        Schema::Multi { header, models } => {
            let is_text = matches!(**header, Schema::String { .. });
            let models: Vec<_> = models
                .iter()
                .map(|Variant { id, schema, .. }| {
                    let id = if is_text { Value::from(&**id) } else { Value::Integer(id.parse().unwrap()) };
                    value(schema)
                        .prop_map(move |value| Value::Multi { id: id.clone().into(), value: value.into() })
                })
                .collect();
            proptest::strategy::Union::new(models).boxed()
        }
        _ => unreachable!("no such schema is made"),
    }
}
