//! Builder schemas and derived codecs are equivalent: bytes, values, sizes, errors and schemas.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use tightwire_parco::schema::SchemaContext;
use tightwire_parco::wire::{
    Be, Bool, GoInt, I32, Le, Slice, SmallVarchar, StaticWire, U8, U16, U32, Varchar, Wire, WireOf,
};
use tightwire_parco::{
    Decode, DecodeOwned, Encode, Get, Mode, Options, Put, Timestamp, WireExt, ZonedTimestamp, builder,
    compiler, parser,
};

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Scalars {
    a: bool,
    b: u8,
    c: i8,
    d: u16,
    #[parco(be)]
    e: i16,
    #[parco(be)]
    f: u32,
    g: i32,
    h: u64,
    #[parco(be)]
    i: i64,
    #[parco(int)]
    j: i64,
    #[parco(uint, be)]
    k: u64,
    #[parco(skip = 3)]
    l: (),
    m: Timestamp,
}

fn scalars() -> impl Put<Scalars> + for<'de> Get<'de, Scalars> + Copy {
    builder::<Scalars>()
        .bool(|m| m.a, |m, v| m.a = v)
        .named("a")
        .uint8(|m| m.b, |m, v| m.b = v)
        .named("b")
        .int8(|m| m.c, |m, v| m.c = v)
        .named("c")
        .uint16(Le, |m| m.d, |m, v| m.d = v)
        .named("d")
        .int16(Be, |m| m.e, |m, v| m.e = v)
        .named("e")
        .uint32_be(|m| m.f, |m, v| m.f = v)
        .named("f")
        .int32_le(|m| m.g, |m, v| m.g = v)
        .named("g")
        .uint64_le(|m| m.h, |m, v| m.h = v)
        .named("h")
        .int64_be(|m| m.i, |m, v| m.i = v)
        .named("i")
        .int_le(|m| m.j, |m, v| m.j = v)
        .named("j")
        .uint_be(|m| m.k, |m, v| m.k = v)
        .named("k")
        .skip::<3>()
        .named("l")
        .time_utc(|m| m.m, |m, v| m.m = v)
        .named("m")
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
struct Everything {
    text: String,
    #[parco(header = u8, blob)]
    bytes: Vec<u8>,
    #[parco(header = u8, elem(small))]
    names: Vec<String>,
    numbers: Vec<u16>,
    #[parco(be)]
    more: Vec<i32>,
    triple: [bool; 3],
    #[parco(header = u8, key(small))]
    map: BTreeMap<String, u8>,
    #[parco(int)]
    maybe: Option<i64>,
    #[parco(small)]
    name: Option<String>,
    scalars: Scalars,
    #[parco(header = u32)]
    list: Vec<Scalars>,
    located: ZonedTimestamp,
}

fn everything() -> impl Put<Everything> + for<'de> Get<'de, Everything> + Copy {
    builder::<Everything>()
        .varchar(|m| &m.text, |m, v| m.text = v.into())
        .named("text")
        .blob(U8, |m| &m.bytes, |m, v| m.bytes = v.into())
        .named("bytes")
        .slice(U8, SmallVarchar::NEW, |m| &m.names, |m, v| m.names = v)
        .named("names")
        .slice(U16::<Le>::NEW, U16::<Le>::NEW, |m| &m.numbers, |m, v| m.numbers = v)
        .named("numbers")
        .slice(U16::<Be>::NEW, I32::<Be>::NEW, |m| &m.more, |m, v| m.more = v)
        .named("more")
        .array(Bool, |m| &m.triple, |m, v| m.triple = v)
        .named("triple")
        .map(U8, SmallVarchar::NEW, U8, |m| &m.map, |m, v| m.map = v)
        .named("map")
        .option(GoInt::<Le>::NEW, |m| &m.maybe, |m, v| m.maybe = v)
        .named("maybe")
        .option(SmallVarchar::NEW, |m| &m.name, |m, v| m.name = v)
        .named("name")
        .nested(scalars(), |m| &m.scalars, |m, v| m.scalars = v)
        .named("scalars")
        .slice(U32::<Le>::NEW, scalars(), |m| &m.list, |m, v| m.list = v)
        .named("list")
        .time_location(|m| &m.located, |m, v| m.located = v)
        .named("located")
}

fn arbitrary_scalars() -> impl Strategy<Value = Scalars> {
    any::<(bool, u8, i8, u16, i16, u32, i32, u64, i64, (i64, u64, i64))>().prop_map(
        |(a, b, c, d, e, f, g, h, i, (j, k, nanos))| Scalars {
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l: (),
            m: Timestamp::from_nanos(nanos),
        },
    )
}

prop_compose! {
    fn arbitrary_everything()(
        text in ".{0,20}",
        bytes in vec(any::<u8>(), 0..20),
        names in vec(".{0,9}", 0..5),
        numbers in vec(any::<u16>(), 0..20),
        more in vec(any::<i32>(), 0..5),
        (triple, maybe) in any::<([bool; 3], Option<i64>)>(),
        map in btree_map(".{0,9}", any::<u8>(), 0..5),
        name in proptest::option::of(".{0,9}"),
        scalars in arbitrary_scalars(),
        list in vec(arbitrary_scalars(), 0..3),
        nanos in any::<i64>(),
        zone in "[A-Za-z]{1,9}",
    ) -> Everything {
        let located = ZonedTimestamp { at: Timestamp::from_nanos(nanos), zone };
        Everything { text, bytes, names, numbers, more, triple, map, maybe, name, scalars, list, located }
    }
}

/// The result of decoding as text: the value, or the error with its location.
fn outcome<T: std::fmt::Debug>(result: Result<(T, &[u8]), tightwire_parco::Error>) -> String {
    match result {
        Ok((value, rest)) => format!("{value:?}, {} bytes left", rest.len()),
        Err(error) => format!("{error}, {:?} bytes missing", error.missing()),
    }
}

proptest! {
    #[test]
    fn builder_and_derive_have_equal_bytes_sizes_and_values(value in arbitrary_everything()) {
        let bytes = tightwire_parco::to_vec(&value).unwrap();
        prop_assert_eq!(&everything().to_vec(&value).unwrap(), &bytes);
        prop_assert_eq!(everything().encoded_len(&value).unwrap(), bytes.len());
        prop_assert_eq!(&everything().decode_exact::<Everything>(&bytes).unwrap(), &value);
        let mut into = Everything::default();
        everything().decode_into_with(Options::new(), &bytes, &mut into).unwrap();
        prop_assert_eq!(&into, &value);
        let mut decoder = tightwire_parco::Decoder::new(&bytes[..]);
        prop_assert_eq!(decoder.decode_as(&everything()).unwrap(), Some(value));
    }

    #[test]
    fn builder_and_derive_handle_damaged_bytes_equally(
        value in arbitrary_everything(),
        at: prop::sample::Index,
        byte: u8,
        cut: Option<prop::sample::Index>,
        mode in prop_oneof![Just(Mode::Strict), Just(Mode::Compat)],
    ) {
        let mut bytes = tightwire_parco::to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let options = Options::new().mode(mode);
        prop_assert_eq!(
            outcome(everything().decode_with::<Everything>(options, &bytes)),
            outcome(options.decode::<Everything>(&bytes))
        );
    }

    #[test]
    fn builder_and_derive_reject_the_same_values(mut value in arbitrary_everything(), which in 0..4, size in 250..260_usize) {
        let long = "x".repeat(size);
        match which {
            0 => value.names.push(long),
            1 => value.bytes = long.into(),
            2 => drop(value.map.insert(long, 1)),
            _ => value.name = Some(long),
        }
        let outcome = |result: Result<Vec<u8>, tightwire_parco::Error>| result.map_err(|error| error.to_string());
        prop_assert_eq!(outcome(everything().to_vec(&value)), outcome(tightwire_parco::to_vec(&value)));
    }
}

#[test]
fn builder_and_derive_have_equal_schemas() {
    fn own<T: Encode + DecodeOwned>() -> tightwire_parco::schema::Schema {
        WireOf::<T>::NEW.schema(&mut SchemaContext::default())
    }

    assert_eq!(everything().schema(&mut SchemaContext::default()), own::<Everything>());
    assert_eq!(everything().min_size(), WireOf::<Everything>::NEW.min_size());
    assert_eq!(scalars().fixed_size(), WireOf::<Scalars>::NEW.fixed_size());
}

#[derive(Debug, Default, PartialEq, Encode, Decode)]
struct Pair {
    #[parco(uint)]
    number: u64,
    words: Vec<String>,
}

#[test]
fn compiler_parser_and_derive_are_interchangeable() {
    let writing =
        compiler::<Pair>().uint(Le, |m| m.number).slice(U16::<Le>::NEW, Varchar::<Le>::NEW, |m| &m.words);
    let reading =
        parser::<Pair>()
            .uint(Le, |m, v| m.number = v)
            .slice(U16::<Le>::NEW, Varchar::<Le>::NEW, |m, v| m.words = v);
    let pair = Pair { number: 7, words: vec!["a".into(), "bc".into()] };
    let bytes = writing.to_vec(&pair).unwrap();
    assert_eq!(tightwire_parco::decode_exact::<Pair>(&bytes).unwrap(), pair);
    assert_eq!(reading.decode_exact::<Pair>(&tightwire_parco::to_vec(&pair).unwrap()).unwrap(), pair);

    let list = Slice::of(U8, WireOf::<Pair>::NEW);
    let bytes = list.to_vec(&vec![pair]).unwrap();
    assert_eq!(Slice::of(U8, reading).decode_exact::<Vec<Pair>>(&bytes).unwrap().len(), 1);
}
