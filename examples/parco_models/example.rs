//! The model of the examples `parco_builder`, `parco_compiler` and `parco_parser`: one field of every kind.

use std::collections::HashMap;

use tightwire_parco::Timestamp;

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
