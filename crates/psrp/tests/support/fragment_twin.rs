//! The rules of reassembly, one after the other, over bytes that are all there; and checks that the assemblers keep
//! them however the bytes are divided. The fuzz target runs the same checks.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::collections::BTreeMap;

use psrp::Error;
use psrp::fragment::{Assembler, AssemblerOptions, InterleavedAssembler, InterleavedOptions, OutOfOrder};

/// What became of a stream.
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

/// The header at an offset, if it is complete.
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

/// PowerShell's rules.
pub fn strict(bytes: &[u8], max_object_size: usize, skip: bool) -> Outcome {
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

/// The rules by number of object.
pub fn interleaved(bytes: &[u8], max_size: usize, max_objects: usize, max_bytes: usize) -> Outcome {
    let mut messages = Vec::new();
    let mut pending: BTreeMap<u64, (u64, usize, Vec<u8>)> = BTreeMap::new();
    let mut offset = 0;
    let failure = loop {
        let Some(header) = header(bytes, offset) else { break None };
        if header.object == 0 {
            break Some(Failure::ObjectZero(header.offset));
        }
        let known = pending.get(&header.object);
        let fits = match known {
            Some((fragment, ..)) => !header.start && fragment + 1 == header.fragment,
            None => header.start && header.fragment == 0,
        };
        if !fits {
            break Some(Failure::OutOfOrder(header.offset));
        }
        let received = 21 + header.len;
        let all: usize = pending.values().map(|(_, received, _)| received).sum();
        if known.is_none() && !header.end && pending.len() >= max_objects
            || known.map_or(0, |known| known.1) + received > max_size
            || all + received > max_bytes
        {
            break Some(Failure::Limit(header.offset));
        }
        offset += received;
        let Some(blob) = bytes.get(header.offset + 21..offset) else { break None };
        let object = pending.entry(header.object).or_default();
        object.0 = header.fragment;
        object.1 += received;
        object.2.extend(blob);
        if header.end {
            messages.extend(pending.remove(&header.object).map(|object| object.2));
        }
    };
    Outcome { messages, failure }
}

/// Cuts bytes into chunks of these sizes, over and over; no size is one chunk.
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

/// What an assembler makes of chunks.
pub fn assemble(options: AssemblerOptions, chunks: &[&[u8]]) -> Outcome {
    let mut assembler = Assembler::with(options);
    outcome(chunks, |chunk| Ok(assembler.next(chunk)?.map(<[u8]>::to_vec)))
}

/// What a tolerant assembler makes of chunks.
pub fn assemble_interleaved(options: InterleavedOptions, chunks: &[&[u8]]) -> Outcome {
    let mut assembler = InterleavedAssembler::with(options);
    outcome(chunks, |chunk| Ok(assembler.next(chunk)?.map(<[u8]>::to_vec)))
}

fn outcome(chunks: &[&[u8]], mut next: impl FnMut(&mut &[u8]) -> Result<Option<Vec<u8>>, Error>) -> Outcome {
    let mut messages = Vec::new();
    for mut chunk in chunks.iter().copied() {
        loop {
            match next(&mut chunk) {
                Ok(Some(message)) => messages.push(message),
                Ok(None) => break,
                Err(error) => {
                    assert!(next(&mut chunk).unwrap_err().is_state());
                    return Outcome { messages, failure: Some(error.into()) };
                }
            }
        }
        assert!(chunk.is_empty());
    }
    Outcome { messages, failure: None }
}

/// Compares both assemblers with the rules.
pub fn check(bytes: &[u8], sizes: &[usize], max_size: usize) {
    let chunks = chunks(bytes, sizes);
    let options = AssemblerOptions::new().max_object_size(max_size);
    assert_eq!(assemble(options, &chunks), strict(bytes, max_size, false));
    assert_eq!(assemble(options.out_of_order(OutOfOrder::Skip), &chunks), strict(bytes, max_size, true));
    let options = InterleavedOptions::new()
        .max_object_size(max_size)
        .max_pending_objects(3)
        .max_pending_bytes(max_size * 2);
    assert_eq!(assemble_interleaved(options, &chunks), interleaved(bytes, max_size, 3, max_size * 2));
}
