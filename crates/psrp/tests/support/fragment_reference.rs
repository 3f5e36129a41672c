//! Reference implementation of reassembly over complete input, and checks that [`Assembler`] agrees with it however the
//! input is divided into chunks. Also used by a fuzz target.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::Error;
use psrp::fragment::{Assembler, AssemblerOptions, OutOfOrder};

/// Messages of a stream, and the error that ended it.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub messages: Vec<Vec<u8>>,
    pub failure: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    ObjectZero(usize),
    Limit(usize),
    OutOfOrder(usize),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let offset = error.offset().expect("an error has a place") as usize;
        if error.is_invalid_header() {
            Self::ObjectZero(offset)
        } else if error.is_limit() {
            Self::Limit(offset)
        } else {
            assert!(error.is_out_of_order(), "{error}");
            Self::OutOfOrder(offset)
        }
    }
}

struct Header {
    offset: usize,
    object: u64,
    fragment: u64,
    start: bool,
    end: bool,
    len: usize,
}

/// Decodes the header at an offset, `None` if it is truncated.
fn header(bytes: &[u8], offset: usize) -> Option<Header> {
    let bytes = bytes.get(offset..offset + 21)?;
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)) & (u64::MAX >> 1)
    };
    Some(Header {
        offset,
        object: number(0, 8),
        fragment: number(8, 16),
        start: bytes[16] % 2 == 1,
        end: bytes[16] / 2 % 2 == 1,
        len: number(17, 21) as usize,
    })
}

/// Reassembles complete input by PowerShell's rules.
pub fn reassemble(bytes: &[u8], max_object_size: usize, skip: bool) -> Outcome {
    let mut messages = Vec::new();
    let mut pending: Option<(u64, u64, usize, Vec<u8>)> = None;
    let mut offset = 0;
    let failure = loop {
        let Some(header) = header(bytes, offset) else { break None };
        if header.object == 0 {
            break Some(Failure::ObjectZero(header.offset));
        }
        if header.start {
            pending = None;
        }
        let before = pending.as_ref().map_or(0, |pending| pending.2);
        if before + 21 + header.len > max_object_size {
            break Some(Failure::Limit(header.offset));
        }
        offset += 21 + header.len;
        let blob = bytes.get(header.offset + 21..offset);
        if header.start {
            pending = Some((header.object, header.fragment, 0, Vec::new()));
        } else {
            let continues = pending.as_ref().is_some_and(|(object, fragment, ..)| {
                *object == header.object && fragment + 1 == header.fragment
            });
            if !continues && !skip {
                break Some(Failure::OutOfOrder(header.offset));
            }
            if !continues {
                pending = None;
            }
        }
        let Some(blob) = blob else { break None };
        if let Some((_, fragment, received, message)) = &mut pending {
            *fragment = header.fragment;
            *received += 21 + header.len;
            message.extend(blob);
            if header.end {
                messages.push(std::mem::take(message));
                pending = None;
            }
        }
    };
    Outcome { messages, failure }
}

/// Splits bytes into chunks, repeating the sizes. Without sizes there is one chunk.
pub fn chunks<'a>(mut bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut chunks = Vec::new();
    let mut sizes = sizes.iter().map(|size| size.max(&1)).cycle();
    while !bytes.is_empty() {
        let size = sizes.next().map_or(bytes.len(), |size| (*size).min(bytes.len()));
        let (chunk, rest) = bytes.split_at(size);
        chunks.push(chunk);
        bytes = rest;
    }
    chunks
}

/// Feeds chunks to an assembler and collects the messages until the first error.
pub fn assemble(options: AssemblerOptions, chunks: &[&[u8]]) -> Outcome {
    let mut assembler = Assembler::with_options(options);
    let mut messages = Vec::new();
    for mut chunk in chunks.iter().copied() {
        loop {
            match assembler.next(&mut chunk) {
                Ok(Some(message)) => messages.push(message.to_vec()),
                Ok(None) => break,
                Err(error) => {
                    assert!(assembler.next(&mut chunk).unwrap_err().is_state());
                    return Outcome { messages, failure: Some(error.into()) };
                }
            }
        }
        assert!(chunk.is_empty());
    }
    Outcome { messages, failure: None }
}

/// Compares the assembler with the reference rules, both ways of handling fragments out of order.
pub fn check(bytes: &[u8], sizes: &[usize], max_size: usize) {
    let chunks = chunks(bytes, sizes);
    let options = AssemblerOptions::new().max_object_size(max_size);
    assert_eq!(assemble(options, &chunks), reassemble(bytes, max_size, false));
    assert_eq!(assemble(options.out_of_order(OutOfOrder::Skip), &chunks), reassemble(bytes, max_size, true));
}
