//! The models of the examples `parco_registry` and `parco_registry_global`, with their ids and schemas.

use tightwire_parco::wire::{F32, Le, SmallVarchar, StaticWire, U8};
use tightwire_parco::{Get, HasId, Put, builder};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Animal {
    pub(crate) age: u8,
    pub(crate) specie: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flat {
    pub(crate) price: f32,
    pub(crate) address: String,
}

pub(crate) const ANIMAL: i64 = 0;
pub(crate) const FLAT: i64 = 1;

impl HasId<i64> for Animal {
    fn id(&self) -> i64 {
        ANIMAL
    }
}

impl HasId<i64> for Flat {
    fn id(&self) -> i64 {
        FLAT
    }
}

pub(crate) fn animal() -> impl Put<Animal> + for<'de> Get<'de, Animal> + Send + Sync {
    builder::<Animal>()
        .field(SmallVarchar::NEW, |animal| &animal.specie, |animal, specie| animal.specie = specie)
        .named("specie")
        .field(U8, |animal| &animal.age, |animal, age| animal.age = age)
        .named("age")
}

pub(crate) fn flat() -> impl Put<Flat> + for<'de> Get<'de, Flat> + Send + Sync {
    builder::<Flat>()
        .field(F32::<Le>::NEW, |flat| &flat.price, |flat, price| flat.price = price)
        .named("price")
        .field(SmallVarchar::NEW, |flat| &flat.address, |flat, address| flat.address = address)
        .named("address")
}
