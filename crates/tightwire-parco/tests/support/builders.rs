//! Builder schemas of messages.
//!
//! Shared by property tests and fuzz targets.

use tightwire_parco::wire::{
    Be, Bool, F64, Le, Map, Opt, Slice, SmallVarchar, StaticWire as _, Str, Text, U8, U16, U32, Varchar,
    Varint, WireOf,
};
use tightwire_parco::{Get, Put, builder};

use super::messages::{Inner, Owned, Part, Record};

/// Returns a builder schema with the wire types of the derived codec.
pub fn owned() -> impl Put<Owned> + for<'de> Get<'de, Owned> + Copy {
    const HEADER: Varint = Varint::NEW;
    let texts = Slice::of(U8, Text::<Be>::NEW);
    builder::<Owned>()
        .field(Str::<Varint>::NEW, |m| &m.text, |m, v| m.text = v)
        .named("text")
        .field(Slice::of(HEADER, U16::<Le>::NEW), |m| &m.numbers, |m, v| m.numbers = v)
        .named("numbers")
        .field(Slice::of(U8, F64::<Be>::NEW), |m| &m.doubles, |m, v| m.doubles = v)
        .named("doubles")
        .field(Slice::of(HEADER, Bool), |m| &m.flags, |m, v| m.flags = v)
        .named("flags")
        .field(Slice::of(HEADER, SmallVarchar::NEW), |m| &m.names, |m, v| m.names = v)
        .named("names")
        .field(Slice::of(HEADER, texts), |m| &m.nested, |m, v| m.nested = v)
        .named("nested")
        .field(Slice::of(U32::<Be>::NEW, Opt(U32::<Be>::NEW)), |m| &m.options, |m, v| m.options = v)
        .named("options")
        .field(Map::of(HEADER, Varchar::<Le>::NEW, U8), |m| &m.map, |m, v| m.map = v)
        .named("map")
        .field(Slice::of(HEADER, WireOf::<Inner>::NEW), |m| &m.inner, |m, v| m.inner = v)
        .named("inner")
        .field(Slice::of(HEADER, record()), |m| &m.records, |m, v| m.records = v)
        .named("records")
}

fn record() -> impl Put<Record> + for<'de> Get<'de, Record> + Copy {
    const HEADER: Varint = Varint::NEW;
    builder::<Record>()
        .value(U16::<Le>::NEW, |m| m.id, |m, v| m.id = v)
        .named("id")
        .field(Slice::of(HEADER, Str::<Varint>::NEW), |m| &m.notes, |m, v| m.notes = v)
        .named("notes")
        .field(Slice::of(HEADER, WireOf::<Part>::NEW), |m| &m.parts, |m, v| m.parts = v)
        .named("parts")
        .default_on_eof()
        .field(Opt(U8), |m| &m.rank, |m, v| m.rank = v)
        .default_on_eof()
        .named("rank")
        .evolve()
}

/// Returns the result of decoding as text: the value, or the error with its location.
pub fn outcome(result: Result<(Owned, &[u8]), tightwire_parco::Error>) -> String {
    match result {
        Ok((value, rest)) => format!("{value:?}, {} bytes left", rest.len()),
        Err(error) => format!("{error}, {:?} bytes missing", error.missing()),
    }
}
