//! A message with strings, numbers and a sequence.

use std::hint::black_box;

use tightwire_parco::wire::{Le, U16};
use tightwire_parco::{Decode, Encode, Seq};

#[derive(Encode, Decode)]
#[parco(go)]
struct Message {
    name: String,
    text: String,
    number: u16,
    values: Vec<u16>,
    flag: bool,
    ratio: f64,
}

/// The same message as a view into the input.
#[derive(Decode)]
#[parco(go)]
struct View<'a> {
    name: &'a str,
    text: &'a str,
    number: u16,
    values: Seq<'a, U16<Le>, u16>,
    flag: bool,
    ratio: f64,
}

fn message() -> Message {
    Message {
        name: "a station".to_owned(),
        text: "oh hi Mark! ".repeat(10),
        number: 42_134,
        values: (0..100).collect(),
        flag: true,
        ratio: 0.1,
    }
}

/// Combines all fields in one number.
fn sum(texts: [&str; 2], number: u16, values: usize, flag: bool, ratio: f64) -> u64 {
    let lengths: usize = texts.iter().map(|text| text.len()).sum();
    (lengths + values) as u64 + u64::from(number) + u64::from(flag) + ratio.to_bits()
}

pub(crate) fn encode() -> impl FnMut() -> u64 {
    let (message, mut buffer) = (message(), Vec::new());
    move || {
        buffer.clear();
        tightwire_parco::encode(black_box(&message), &mut buffer)
            .map_or(0, |()| black_box(&buffer).len() as u64)
    }
}

pub(crate) fn decode() -> impl FnMut() -> u64 {
    let bytes = tightwire_parco::to_vec(&message()).unwrap_or_default();
    move || {
        tightwire_parco::decode_exact::<Message>(black_box(&bytes)).map_or(0, |message| {
            let Message { name, text, number, values, flag, ratio } = &message;
            sum([name, text], *number, values.len(), *flag, *ratio)
        })
    }
}

pub(crate) fn decode_view() -> impl FnMut() -> u64 {
    let bytes = tightwire_parco::to_vec(&message()).unwrap_or_default();
    move || {
        tightwire_parco::decode_exact::<View<'_>>(black_box(&bytes)).map_or(0, |message| {
            let View { name, text, number, values, flag, ratio } = &message;
            sum([name, text], *number, values.len(), *flag, *ratio)
        })
    }
}
