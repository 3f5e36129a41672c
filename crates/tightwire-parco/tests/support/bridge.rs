//! Messages with the traits of serde and of the crate, and the comparison of both encodings.
//!
//! Shared by property tests and a fuzz target.

#![allow(unreachable_pub, reason = "every user takes its own part of this module")]

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tightwire_parco::wire::Le;
use tightwire_parco::{Decode, DecodeOwned, Decoder, Encode, Limits, Mode, Options, serde as bridge};

use crate::support::checks::{bounded, limits, options};
use crate::support::messages::Material;

/// Every type that both encodings have.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
pub struct Everything {
    pub flag: bool,
    pub a: u8,
    pub b: i8,
    pub c: u16,
    pub d: i16,
    pub e: u32,
    pub f: i32,
    pub g: u64,
    pub h: i64,
    pub single: f32,
    pub double: f64,
    pub text: String,
    pub boxed_text: Box<str>,
    pub bytes: Vec<u8>,
    pub numbers: Vec<u16>,
    pub flags: Vec<bool>,
    pub names: Vec<String>,
    pub nested: Vec<Vec<Vec<u8>>>,
    pub options: Vec<Option<Option<u16>>>,
    pub fixed: [u16; 3],
    pub fixed_texts: [String; 2],
    pub set: BTreeSet<i8>,
    pub grades: BTreeMap<String, Vec<u8>>,
    pub unit: (),
    pub units: Vec<()>,
    pub empties: Vec<Empty>,
    pub boxed: Option<Box<Pair>>,
    pub wrapped: Wrapped,
    #[parco(ignore)]
    #[serde(skip)]
    pub cache: u8,
    pub frames: Vec<Frame>,
    pub node: Node,
}

/// Types of the standard library. The errors of both decoders differ in the path, so only valid values are compared.
#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
pub struct Standard {
    pub tuple: (u8, String, char),
    pub size: usize,
    pub huge: u128,
    pub negative: i128,
    pub nonzero: NonZero<u16>,
    pub duration: Duration,
    pub result: Result<u8, String>,
    pub address: IpAddr,
    pub range: Range<u16>,
    pub path: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
pub struct Empty;

#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
pub struct Wrapped(pub String);

#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
pub struct Pair(pub u16, pub Vec<bool>);

#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
#[parco(id = varint)]
pub enum Frame {
    #[parco(id = 0)]
    Nothing,
    #[parco(id = 1)]
    Text(String),
    #[parco(id = 2)]
    Pair(u8, bool),
    #[parco(id = 3)]
    Named { left: u16, right: Option<bool> },
}

#[derive(Clone, Debug, PartialEq, Encode, Decode, Serialize, Deserialize)]
pub struct Node {
    pub value: u8,
    pub children: Vec<Self>,
    pub next: Option<Box<Self>>,
}

impl Node {
    fn made_of(material: &mut Material<'_>, depth: usize) -> Self {
        if depth == 0 {
            return Self { value: material.byte(), children: Vec::new(), next: None };
        }
        Self {
            value: material.byte(),
            children: material.list(|material| Self::made_of(material, depth - 1)),
            next: material.option(|material| Box::new(Self::made_of(material, depth - 1))),
        }
    }
}

impl Frame {
    fn made_of(material: &mut Material<'_>) -> Self {
        match material.byte() % 4 {
            0 => Self::Nothing,
            1 => Self::Text(material.text()),
            2 => Self::Pair(material.byte(), material.flag()),
            _ => Self::Named { left: material.bits() as u16, right: material.option(Material::flag) },
        }
    }
}

impl Standard {
    fn made_of(material: &mut Material<'_>) -> Self {
        let bits = material.bits();
        Self {
            tuple: (material.byte(), material.text(), char::from(material.byte())),
            size: bits as usize,
            huge: u128::from(bits) << 64 | 1,
            negative: -i128::from(bits),
            nonzero: NonZero::new(bits as u16).unwrap_or(NonZero::<u16>::MIN),
            duration: Duration::from_nanos(bits),
            result: if material.flag() { Ok(material.byte()) } else { Err(material.text()) },
            address: if material.flag() {
                Ipv4Addr::from_bits(bits as u32).into()
            } else {
                Ipv6Addr::from_bits(bits.into()).into()
            },
            range: bits as u16..material.bits() as u16,
            path: material.text().into(),
        }
    }
}

impl Everything {
    pub fn made_of(material: &mut Material<'_>) -> Self {
        Self {
            flag: material.flag(),
            a: material.byte(),
            b: material.byte() as i8,
            c: material.bits() as u16,
            d: material.bits() as i16,
            e: material.bits() as u32,
            f: material.bits() as i32,
            g: material.bits(),
            h: material.bits() as i64,
            single: f32::from_bits(material.bits() as u32),
            double: f64::from_bits(material.bits()),
            text: material.text(),
            boxed_text: material.text().into(),
            bytes: material.list(Material::byte),
            numbers: material.list(|material| material.bits() as u16),
            flags: material.list(Material::flag),
            names: material.list(Material::text),
            nested: material.list(|material| material.list(|material| material.list(Material::byte))),
            options: material.list(|material| {
                material.option(|material| material.option(|material| material.bits() as u16))
            }),
            fixed: std::array::from_fn(|_| material.bits() as u16),
            fixed_texts: std::array::from_fn(|_| material.text()),
            set: material.list(|material| material.byte() as i8),
            grades: material.list(|material| (material.text(), material.list(Material::byte))),
            unit: (),
            units: material.list(|_| ()),
            empties: material.list(|_| Empty),
            boxed: material
                .option(|material| Box::new(Pair(material.bits() as u16, material.list(Material::flag)))),
            wrapped: Wrapped(material.text()),
            cache: 0,
            frames: material.list(Frame::made_of),
            node: Node::made_of(material, 3),
        }
    }
}

/// A derived message with a field that only serde encodes.
#[derive(Debug, PartialEq, Encode, Decode)]
pub struct Holder<T> {
    pub before: u8,
    #[parco(serde)]
    pub value: T,
    pub after: u16,
}

/// Both encodings of a value are equal and decode to it, also as a field of a derived message.
fn check_value<T: Serialize + DeserializeOwned + Encode + DecodeOwned>(value: T) {
    let bytes = bridge::to_vec(&value).expect("it is not too deep");
    assert_eq!(tightwire_parco::to_vec(&value).expect("it is not too deep"), bytes);
    // Not every prefix, so that long values take linear time.
    for len in (0..bytes.len()).step_by(1 + bytes.len() / 16) {
        let error = bridge::decode::<T>(&bytes[..len]).map(|_| ()).expect_err("it is not complete");
        assert!(error.is_unexpected_end(), "{error}");
    }
    let again: T = bridge::decode_exact(&bytes).expect("it was encoded");
    // The bytes are compared because NaN differs from itself.
    assert_eq!(bridge::to_vec(&again).expect("it is not too deep"), bytes);
    let holder = Holder { before: 1, value: again, after: 2 };
    let held = tightwire_parco::to_vec(&holder).expect("it is not too deep");
    assert_eq!(tightwire_parco::encoded_len(&holder).expect("it is not too deep"), held.len());
    let prefix = tightwire_parco::to_vec(&*bytes).expect("it is short");
    assert_eq!(held, [&[1], &*prefix, &[2, 0]].concat());
    let again: Holder<T> = tightwire_parco::decode_exact(&held).expect("it was encoded");
    assert_eq!(tightwire_parco::to_vec(&again).expect("it is not too deep"), held);
}

/// Values made of any bytes.
pub fn check_round_trip(material: &[u8]) {
    let mut material = Material(material);
    check_value(Frame::made_of(&mut material));
    check_value(Node::made_of(&mut material, 8));
    check_value(Standard::made_of(&mut material));
    check_value(Everything::made_of(&mut material));
}

/// Any bytes are decoded to the same value or error as by the derived decoder, except that more levels are counted.
fn check_input<T: Serialize + DeserializeOwned + Encode + DecodeOwned>(input: &[u8]) {
    for options in options() {
        let derived = options.decode::<T>(input);
        match (derived, bounded(input, || bridge::decode_as::<Le, T>(options, input))) {
            (Ok((value, rest)), Ok((other, end))) => {
                assert_eq!(rest, end);
                check_value(other);
                // In the lenient mode, the input differs from the encoded value.
                let _ = tightwire_parco::to_vec(&value).expect("it was decoded");
            }
            (Ok(_), Err(error)) => assert!(error.is_limit(), "{error}"),
            // Serde does not distinguish sets from sequences.
            (Err(error), Ok(_)) => {
                assert!(error.is_duplicate_key(), "the derived decoder rejects it: {error}")
            }
            (Err(one), Err(other)) => {
                assert!(other.offset().is_some_and(|offset| offset <= input.len()), "{other}");
                // The derived decoder finds wrong counts earlier, and duplicate keys only after their values. In the
                // lenient mode, its offset of an unknown id assumes the shortest form.
                let is_exact = options != Options::new().mode(Mode::Compat);
                if is_exact
                    && ![&one, &other].iter().any(|error| {
                        error.is_limit() || error.is_unexpected_end() || error.is_duplicate_key()
                    })
                {
                    assert_eq!(one.to_string(), other.to_string());
                }
            }
        }
    }
    let from_slice = bounded(input, || tightwire_parco::decode::<Holder<T>>(input));
    let from_stream = Decoder::new(input).decode::<Holder<T>>();
    match (from_slice, from_stream) {
        (Ok((value, _)), Ok(Some(streamed))) => {
            let bytes = tightwire_parco::to_vec(&value).expect("it was decoded");
            assert_eq!(tightwire_parco::to_vec(&streamed).expect("it was decoded"), bytes);
        }
        (Err(_), Ok(None)) => assert!(input.is_empty()),
        (one, other) => assert!(one.is_err() && other.is_err()),
    }
}

/// Lower limits accept less, fail with a limit error, and limit encoding to the same depth.
fn check_limited<T: Serialize + DeserializeOwned>(input: &[u8], limits: Limits, depth: Limits) {
    let Ok((value, rest)) = bridge::decode::<T>(input) else {
        assert!(bridge::decode_as::<Le, T>(Options::new().limits(limits), input).is_err());
        return;
    };
    let bytes = bridge::to_vec(&value).expect("it was decoded");
    match bridge::decode_as::<Le, T>(Options::new().limits(limits), input) {
        Ok((value, other)) => {
            assert_eq!(rest, other);
            assert_eq!(bridge::to_vec(&value).expect("it was decoded"), bytes);
        }
        Err(error) => assert!(error.is_limit(), "{error}"),
    }
    // What is encoded can be decoded.
    match bridge::to_vec_as::<Le, _>(Options::new().limits(limits.max_allocation(usize::MAX)), &value) {
        Ok(again) => {
            assert_eq!(again, bytes);
            bridge::decode_exact_as::<Le, T>(
                Options::new().limits(limits.max_allocation(usize::MAX)),
                &bytes,
            )
            .expect("it was encoded");
        }
        Err(error) => assert!(error.is_limit(), "{error}"),
    }
    let depth = Options::new().limits(depth);
    let encoded = bridge::to_vec_as::<Le, _>(depth, &value);
    assert_eq!(encoded.is_ok(), bridge::decode_exact_as::<Le, T>(depth, &bytes).is_ok());
    if let Err(error) = encoded {
        assert!(error.is_limit(), "{error}");
    }
}

/// Any bytes with any limits.
pub fn check_bytes(input: &[u8], choice: [u8; 5]) {
    check_input::<Everything>(input);
    check_input::<Node>(input);
    check_input::<Vec<Frame>>(input);
    check_input::<Vec<Pair>>(input);
    let [.., levels] = choice;
    let depth = Limits::default().max_depth(u32::from(levels % 65));
    check_limited::<Everything>(input, limits(choice), depth);
    check_limited::<Node>(input, limits(choice), depth);
    check_limited::<Vec<Frame>>(input, limits(choice), depth);
}
