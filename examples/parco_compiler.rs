//! Encodes a model with a compiler: a schema with getters only.
//!
//! Run it with `cargo run --example parco_compiler`.
#![allow(clippy::print_stdout, reason = "examples print their results")]

#[path = "parco_models/example.rs"]
mod example;

use anyhow::ensure;
use tightwire_parco::wire::{
    Array, Bool, F32, F64, GoInt, Le, Opt, Slice, SmallVarchar, SortedMap, StaticWire, TimeUtc, U8,
};
use tightwire_parco::{Put, Timestamp, WireExt, compiler};

use self::example::{Animal, Example};

fn main() -> anyhow::Result<()> {
    println!("{:?}", compile()?);
    Ok(())
}

/// Encodes the model with a fixed time, and checks the bytes.
pub(crate) fn compile() -> anyhow::Result<Vec<u8>> {
    let model = Example::new(Timestamp::from_nanos(1_700_000_000_123_456_789));
    let schema = schema();

    let bytes = schema.to_vec(&model)?;
    let expected =
        b"\x03hey\x2a\x04\x07@boliri\x08@danirod\x09@enrigles\x04@f3r\x02\x07english\x06\x04math\x05\x01\
        \x03cat\x03\x01\x49\0\0\0\0\0\0\0\x01\0\0\x01\0\xac\xfc\x6a\x43\x3f\x57\x5b\x91\x43\xd5\x32\x41\
        \x15\xcd\x85\x3d\xfe\x9c\x97\x17";
    ensure!(bytes == expected, "the bytes differ from those of the Go library");

    // The length can be computed without encoding, and a model that does not fit leaves the vector unchanged.
    ensure!(schema.encoded_len(&model)? == bytes.len(), "unexpected encoded length");
    let long = Example { greet: "hey".repeat(100), ..model };
    let mut unchanged = bytes.clone();
    let refused = schema.encode(&long, &mut unchanged);
    ensure!(refused.is_err_and(|error| error.is_overflow()), "a string of 300 bytes was accepted");
    ensure!(unchanged == bytes, "the failure changed the vector");
    Ok(bytes)
}

/// The fields in wire order. The sorted map makes the bytes reproducible.
fn schema() -> impl Put<Example> {
    let animal = compiler::<Animal>()
        .field(SmallVarchar::NEW, |animal| &animal.specie)
        .field(U8, |animal| &animal.age);
    compiler::<Example>()
        .field(SmallVarchar::NEW, |m| &m.greet)
        .field(U8, |m| &m.life_sense)
        .field(Slice::of(U8, SmallVarchar::NEW), |m| &m.friends)
        .field(SortedMap::of(U8, SmallVarchar::NEW, U8), |m| &m.grades)
        .field(Bool, |m| &m.even_or_odd)
        .field(animal, |m| &m.pet)
        .field(Opt(GoInt::<Le>::NEW), |m| &m.pointer)
        .field(Array(Bool), |m| &m.flags)
        .field(F32::<Le>::NEW, |m| &m.balance)
        .field(F64::<Le>::NEW, |m| &m.more_precise_balance)
        .field(TimeUtc, |m| &m.created_at)
}
