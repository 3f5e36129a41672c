//! Encodes and decodes a model with one field of every kind with a builder schema.
//!
//! Run it with `cargo run --example parco_builder`.
#![allow(clippy::print_stdout, reason = "examples print their results")]

use std::collections::HashMap;
use std::time::SystemTime;

use anyhow::{Context, ensure};
use tightwire_parco::wire::{
    Array, Bool, F32, F64, GoInt, Le, Map, Opt, Slice, SmallVarchar, StaticWire, TimeUtc, U8,
};
use tightwire_parco::{Get, Put, Timestamp, WireExt, builder};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Animal {
    pub(crate) age: u8,
    pub(crate) specie: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Example {
    pub(crate) greet: String,
    pub(crate) life_sense: u8,
    pub(crate) friends: Vec<String>,
    pub(crate) grades: HashMap<String, u8>,
    pub(crate) even_or_odd: bool,
    pub(crate) pet: Animal,
    pub(crate) pointer: Option<i64>,
    pub(crate) flags: [bool; 5],
    pub(crate) balance: f32,
    pub(crate) more_precise_balance: f64,
    pub(crate) created_at: Timestamp,
}

impl Example {
    pub(crate) fn new(created_at: Timestamp) -> Self {
        Self {
            greet: "hey".into(),
            life_sense: 42,
            friends: ["@boliri", "@danirod", "@enrigles", "@f3r"].map(String::from).into(),
            grades: HashMap::from([("math".into(), 5), ("english".into(), 6)]),
            even_or_odd: true,
            pet: Animal { age: 3, specie: "cat".into() },
            pointer: Some(73),
            flags: [true, false, false, true, false],
            balance: 234.987,
            more_precise_balance: 1234243.5678,
            created_at,
        }
    }
}

fn main() -> anyhow::Result<()> {
    println!("{:?}", round_trip()?);
    Ok(())
}

/// Encodes a model with the current time and decodes it again.
pub(crate) fn round_trip() -> anyhow::Result<Example> {
    let now = Timestamp::checked(&SystemTime::now()).context("the system time is out of range")?;
    let model = Example::new(now);
    let schema = schema();

    let bytes = schema.to_vec(&model)?;
    println!("{bytes:?}");

    let decoded: Example = schema.decode_exact(&bytes)?;
    ensure!(decoded == model, "the decoded messages differ");
    Ok(decoded)
}

/// The fields in wire order.
pub(crate) fn schema() -> impl Put<Example> + for<'de> Get<'de, Example> {
    let animal = builder::<Animal>()
        .field(SmallVarchar::NEW, |animal| &animal.specie, |animal, specie| animal.specie = specie)
        .field(U8, |animal| &animal.age, |animal, age| animal.age = age);
    builder::<Example>()
        .field(SmallVarchar::NEW, |m| &m.greet, |m, greet| m.greet = greet)
        .field(U8, |m| &m.life_sense, |m, life_sense| m.life_sense = life_sense)
        .field(Map::of(U8, SmallVarchar::NEW, U8), |m| &m.grades, |m, grades| m.grades = grades)
        .field(Slice::of(U8, SmallVarchar::NEW), |m| &m.friends, |m, friends| m.friends = friends)
        .field(Bool, |m| &m.even_or_odd, |m, even_or_odd| m.even_or_odd = even_or_odd)
        .field(animal, |m| &m.pet, |m, pet| m.pet = pet)
        .field(Opt(GoInt::<Le>::NEW), |m| &m.pointer, |m, pointer| m.pointer = pointer)
        .field(Array(Bool), |m| &m.flags, |m, flags| m.flags = flags)
        .field(F32::<Le>::NEW, |m| &m.balance, |m, balance| m.balance = balance)
        .field(F64::<Le>::NEW, |m| &m.more_precise_balance, |m, balance| m.more_precise_balance = balance)
        .field(TimeUtc, |m| &m.created_at, |m, created_at| m.created_at = created_at)
}
