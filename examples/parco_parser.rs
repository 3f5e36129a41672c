//! Decodes a model with a parser, a schema with setters only: from a slice, from a stream, and into an existing model.
//!
//! Run it with `cargo run --example parco_parser`.
#![allow(clippy::print_stdout, reason = "examples print their results")]

#[path = "parco_models/example.rs"]
mod example;

use anyhow::{Context, ensure};
use tightwire_parco::wire::{
    Array, Bool, F32, F64, GoInt, Le, Map, Opt, Slice, SmallVarchar, StaticWire, TimeUtc, U8,
};
use tightwire_parco::{Decoder, Get, Options, Timestamp, WireExt, parser};

use self::example::{Animal, Example};

/// The message that the example `parco_compiler` writes.
pub(crate) const MESSAGE: &[u8] =
    b"\x03hey\x2a\x04\x07@boliri\x08@danirod\x09@enrigles\x04@f3r\x02\x07english\x06\x04math\x05\
    \x01\x03cat\x03\x01\x49\0\0\0\0\0\0\0\x01\0\0\x01\0\xac\xfc\x6a\x43\x3f\x57\x5b\x91\x43\xd5\x32\x41\
    \x15\xcd\x85\x3d\xfe\x9c\x97\x17";

fn main() -> anyhow::Result<()> {
    println!("{:?}", parse()?);
    Ok(())
}

/// Decodes the message in all three ways.
pub(crate) fn parse() -> anyhow::Result<Example> {
    let expected = Example::new(Timestamp::from_nanos(1_700_000_000_123_456_789));
    let schema = schema();

    let from_slice: Example = schema.decode_exact(MESSAGE)?;
    ensure!(from_slice == expected, "unexpected model from the slice");

    let twice = [MESSAGE, MESSAGE].concat();
    let mut stream = Decoder::new(&twice[..]);
    for _ in 0..2 {
        let from_stream: Example = stream.decode_as(&schema)?.context("the stream ends early")?;
        ensure!(from_stream == expected, "unexpected model from the stream");
    }
    let end: Option<Example> = stream.decode_as(&schema)?;
    ensure!(end.is_none(), "the stream has more messages");

    // The Go library takes models from a pool; here a model is decoded into an existing one.
    let mut reused = Example { life_sense: 1, pointer: None, ..Example::default() };
    schema.decode_into_with(Options::new(), MESSAGE, &mut reused)?;
    ensure!(reused == expected, "data of the existing model remain");

    // Truncated messages are errors, never partial models.
    for cut in 0..MESSAGE.len() {
        let part = schema.decode::<Example>(&MESSAGE[..cut]);
        ensure!(part.is_err_and(|error| error.is_unexpected_end()), "the first {cut} bytes were decoded");
    }
    Ok(reused)
}

/// The fields in wire order.
fn schema() -> impl for<'de> Get<'de, Example> {
    let animal = parser::<Animal>()
        .field(SmallVarchar::NEW, |animal, specie| animal.specie = specie)
        .field(U8, |animal, age| animal.age = age);
    parser::<Example>()
        .field(SmallVarchar::NEW, |m, greet| m.greet = greet)
        .field(U8, |m, life_sense| m.life_sense = life_sense)
        .field(Slice::of(U8, SmallVarchar::NEW), |m, friends| m.friends = friends)
        .field(Map::of(U8, SmallVarchar::NEW, U8), |m, grades| m.grades = grades)
        .field(Bool, |m, even_or_odd| m.even_or_odd = even_or_odd)
        .field(animal, |m, pet| m.pet = pet)
        .field(Opt(GoInt::<Le>::NEW), |m, pointer| m.pointer = pointer)
        .field(Array(Bool), |m, flags| m.flags = flags)
        .field(F32::<Le>::NEW, |m, balance| m.balance = balance)
        .field(F64::<Le>::NEW, |m, balance| m.more_precise_balance = balance)
        .field(TimeUtc, |m, created_at| m.created_at = created_at)
}
