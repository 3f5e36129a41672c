//! Like `parco_registry`, with a static registry.
//!
//! Run it with `cargo run --example parco_registry_global`.
#![allow(clippy::print_stdout, reason = "examples print their results")]

#[path = "parco_models/zoo.rs"]
mod zoo;

use std::sync::LazyLock;

use anyhow::{Context, ensure};
use tightwire_parco::wire::{HeaderInt, U8};
use tightwire_parco::{Error, Registry};

use self::zoo::{ANIMAL, Animal, FLAT, Flat};

/// Ids of the Go library's global registry are `int`s encoded in one byte.
type Models = Registry<HeaderInt<U8>, i64>;

/// Filled on first use and not changed afterwards, so it needs no lock.
static MODELS: LazyLock<Models> = LazyLock::new(|| models().expect("every id is registered once"));

fn models() -> Result<Models, Error> {
    let mut models = Registry::new(HeaderInt(U8));
    models.register(ANIMAL, zoo::animal())?.register(FLAT, zoo::flat())?;
    Ok(models)
}

fn main() -> anyhow::Result<()> {
    println!("{:?}", exchange()?);
    Ok(())
}

/// Encodes three frames and decodes them in another thread.
pub(crate) fn exchange() -> anyhow::Result<Vec<u8>> {
    let monkeys = Animal { age: 10, specie: "monkeys".into() };
    let flat = Flat { price: 42.0, address: "Plaza mayor".into() };
    let cat = Animal { age: 7, specie: "felix catus".into() };

    let mut stream = Vec::new();
    MODELS.encode(&monkeys, &mut stream)?;
    MODELS.encode(&flat, &mut stream)?;
    MODELS.encode_as(&ANIMAL, &cat, &mut stream)?;

    let sent = stream.clone();
    let reader = std::thread::spawn(move || -> Result<_, Error> {
        let ((_, first), rest) = MODELS.decode_as::<Animal>(&sent)?;
        let ((_, second), rest) = MODELS.decode_as::<Flat>(rest)?;
        let ((_, third), rest) = MODELS.decode_as::<Animal>(rest)?;
        Ok((first, second, third, rest.len()))
    });
    let read = reader.join().ok().context("the reader panicked")??;
    println!("{read:?}");
    ensure!(read == (monkeys, flat, cat, 0), "the decoded messages differ");
    Ok(stream)
}
