//! Encodes two types of messages to one stream, each with an id, and decodes them.
//!
//! Run it with `cargo run --example parco_registry`.
#![allow(clippy::print_stdout, reason = "examples print their results")]

use anyhow::{bail, ensure};
use tightwire_parco::wire::{F32, HeaderInt, Le, SmallVarchar, StaticWire, U8};
use tightwire_parco::{Get, HasId, Put, Registry, builder};

#[derive(Clone, Debug, Default, PartialEq)]
struct Animal {
    age: u8,
    specie: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Flat {
    price: f32,
    address: String,
}

const ANIMAL: i64 = 0;
const FLAT: i64 = 1;

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

fn animal() -> impl Put<Animal> + for<'de> Get<'de, Animal> + Send + Sync {
    builder::<Animal>()
        .field(SmallVarchar::NEW, |animal| &animal.specie, |animal, specie| animal.specie = specie)
        .named("specie")
        .field(U8, |animal| &animal.age, |animal, age| animal.age = age)
        .named("age")
}

fn flat() -> impl Put<Flat> + for<'de> Get<'de, Flat> + Send + Sync {
    builder::<Flat>()
        .field(F32::<Le>::NEW, |flat| &flat.price, |flat, price| flat.price = price)
        .named("price")
        .field(SmallVarchar::NEW, |flat| &flat.address, |flat, address| flat.address = address)
        .named("address")
}

fn main() -> anyhow::Result<()> {
    println!("{:?}", exchange()?);
    Ok(())
}

/// Encodes three frames and decodes them again.
pub(crate) fn exchange() -> anyhow::Result<Vec<u8>> {
    let mut models = Registry::new(HeaderInt(U8));
    models.register(ANIMAL, animal())?.register(FLAT, flat())?;
    ensure!(models.register(FLAT, animal()).is_err(), "an id was registered twice");

    let monkeys = Animal { age: 10, specie: "monkeys".into() };
    let flat = Flat { price: 42.0, address: "Plaza mayor".into() };
    let cat = Animal { age: 7, specie: "felix catus".into() };

    let mut stream = Vec::new();
    models.encode(&monkeys, &mut stream)?;
    models.encode_as(&FLAT, &flat, &mut stream)?;
    models.encode(&cat, &mut stream)?;

    // If the id belongs to another type, nothing is written.
    ensure!(models.encode_as(&FLAT, &cat, &mut stream).is_err(), "a cat was encoded as a flat");
    ensure!(stream.len() == 10 + 17 + 14, "a stream of {} bytes", stream.len());

    let (mut animals, mut flats) = (Vec::new(), Vec::new());
    for frame in models.frames(&stream) {
        let frame = frame?;
        match frame.id {
            ANIMAL => animals.extend(frame.downcast::<Animal>()),
            FLAT => flats.extend(frame.downcast::<Flat>()),
            id => bail!("{id} is not registered"),
        }
    }
    println!("{animals:?} {flats:?}");
    ensure!(animals == [monkeys, cat] && flats == [flat], "the decoded messages differ");
    Ok(stream)
}
