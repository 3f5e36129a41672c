//! Messages that contain every wire type, and values of them made of any bytes.
//!
//! Shared by property tests and fuzz targets.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use tightwire_parco::wire::{
    Be, Bool, Decoding, F64, Le, Map, Message, Opt, Slice, SmallVarchar, Str, Text, TimeLocation, U8, U16,
    U32, Varchar, Varint,
};
use tightwire_parco::{Decode, Encode, Entries, Seq, Timestamp, ZonedTimestamp};

/// Every wire type of owned values. Unordered collections are sorted, so that equal values have equal bytes.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Everything {
    pub flag: bool,
    pub a: u8,
    pub b: i8,
    pub c: u16,
    #[parco(be)]
    pub d: i16,
    pub e: u32,
    #[parco(be)]
    pub f: i32,
    pub g: u64,
    #[parco(be)]
    pub h: i64,
    #[parco(int)]
    pub int: i64,
    #[parco(uint, be)]
    pub uint: u64,
    pub single: f32,
    #[parco(be)]
    pub double: f64,
    pub text: String,
    #[parco(small)]
    pub small: Option<String>,
    #[parco(header = u32be)]
    pub wide: Box<str>,
    #[parco(blob, header = u8)]
    pub blob: Vec<u8>,
    #[parco(max = 20)]
    pub short: String,
    pub bytes: Vec<u8>,
    #[parco(header = i8)]
    pub numbers: Vec<u16>,
    #[parco(be)]
    pub big_numbers: Vec<u32>,
    #[parco(header = uint)]
    pub doubles: Vec<f64>,
    pub flags: Vec<bool>,
    #[parco(header = u8, elem(small))]
    pub names: Vec<String>,
    pub nested: Vec<Vec<Vec<u8>>>,
    pub options: VecDeque<Option<u16>>,
    pub fixed: [u16; 3],
    pub fixed_texts: [String; 2],
    pub set: BTreeSet<i8>,
    #[parco(header = u8, key(small))]
    pub grades: BTreeMap<String, u8>,
    #[parco(header = i32be, sorted)]
    pub hashed: HashMap<u16, Vec<String>>,
    #[parco(header = u8)]
    pub entries: Vec<Option<Inner>>,
    #[parco(skip = 3)]
    pub reserved: (),
    pub units: Vec<()>,
    pub empties: Vec<Empty>,
    #[parco(time)]
    pub at: Timestamp,
    #[parco(with = TimeLocation)]
    pub located: ZonedTimestamp<Vec<u8>>,
    pub shared: Rc<Inner>,
    pub boxed: Option<Box<Inner>>,
    #[parco(ignore)]
    pub cache: Option<u64>,
    pub frames: Vec<Frame>,
    pub standard: Standard,
    pub node: Node,
    pub record: Option<Record>,
    #[parco(sorted)]
    pub records: HashMap<u8, Record>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Empty {}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[parco(be, go)]
pub struct Inner {
    pub number: u32,
    pub text: String,
    pub flag: bool,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
pub enum Frame {
    #[parco(id = 0)]
    Nothing,
    #[parco(id = 1)]
    Inner(Inner),
    #[parco(id = 7)]
    Pair { left: u16, right: Option<bool> },
    #[parco(id = 8)]
    Record(Record),
}

/// A struct whose last fields were added later.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve)]
pub struct Record {
    pub id: u16,
    pub notes: Vec<String>,
    #[parco(default_on_eof)]
    pub parts: Vec<Part>,
    #[parco(default_on_eof)]
    pub rank: Option<u8>,
}

/// An evolve struct that contains itself.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve, be)]
pub struct Part {
    pub number: u32,
    #[parco(default_on_eof)]
    pub parts: Vec<Self>,
}

/// Types of the standard library.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Standard {
    pub tuple: (u8, String, char),
    pub pairs: Vec<(u16, bool)>,
    #[parco(be)]
    pub size: usize,
    pub huge: u128,
    #[parco(be)]
    pub negative: i128,
    pub nonzero: NonZero<u16>,
    pub duration: Duration,
    pub address: IpAddr,
    pub socket: SocketAddr,
    pub range: Range<u16>,
    pub path: PathBuf,
    pub counted: Vec<Counted>,
}

/// An enum without explicit ids.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub enum Counted {
    Nothing,
    Result(Result<u8, String>),
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(id = small)]
pub enum Named {
    #[parco(id = "one")]
    One(u8),
    #[parco(id = "other")]
    Other(Vec<Self>),
}

/// A struct that contains itself in a slice and in an option.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Node {
    pub value: u8,
    #[parco(header = u8)]
    pub children: Vec<Self>,
    pub next: Option<Box<Self>>,
}

impl Node {
    /// A chain of `depth` nodes, through `next` or through `children`.
    pub fn chain(depth: usize, through_children: bool) -> Self {
        let mut node = Self::default();
        for _ in 1..depth {
            node = if through_children {
                Self { children: vec![node], ..Self::default() }
            } else {
                Self { next: Some(Box::new(node)), ..Self::default() }
            };
        }
        node
    }
}

/// Values that borrow from the input.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Borrowed<'a> {
    pub text: &'a str,
    pub bytes: &'a [u8],
    #[parco(small)]
    pub cow: Cow<'a, str>,
    #[parco(header = u8, elem(small))]
    pub names: Vec<&'a str>,
    #[parco(key(small))]
    pub map: BTreeMap<&'a str, Option<&'a str>>,
    pub cows: Vec<Cow<'a, [u8]>>,
}

/// Element type of [`View::nested`].
pub type Texts<'a> = Seq<'a, Text<Be>, &'a str>;

/// Element type of [`View::inner`].
pub type InnerView<'a> = Seq<'a, Message<InnerRef<'a>, Decoding<'a>>, InnerRef<'a>>;

/// A message that borrows everything except its outermost fields from the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct View<'a> {
    pub text: &'a str,
    pub numbers: Seq<'a, U16<Le>, u16>,
    #[parco(header = u8)]
    pub doubles: Seq<'a, F64<Be>, f64>,
    pub flags: Seq<'a, Bool, bool>,
    pub names: Seq<'a, SmallVarchar, &'a str>,
    pub nested: Seq<'a, Slice<U8, Text<Be>>, Texts<'a>>,
    #[parco(header = u32be)]
    pub options: Seq<'a, Opt<U32<Be>>, Option<u32>>,
    pub map: Entries<'a, Varchar<Le>, U8, &'a str, u8>,
    pub inner: InnerView<'a>,
    pub records: Seq<'a, Message<RecordRef<'a>, Decoding<'a>>, RecordRef<'a>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve)]
pub struct RecordRef<'a> {
    pub id: u16,
    pub notes: Seq<'a, Str<Varint>, &'a str>,
    #[parco(default_on_eof)]
    pub parts: Seq<'a, Message<PartRef<'a>, Decoding<'a>>, PartRef<'a>>,
    #[parco(default_on_eof)]
    pub rank: Option<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
#[parco(evolve, be)]
pub struct PartRef<'a> {
    pub number: u32,
    #[parco(default_on_eof)]
    pub parts: Seq<'a, Message<Self, Decoding<'a>>, Self>,
}

/// The owned values of a [`View`].
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Owned {
    pub text: String,
    pub numbers: Vec<u16>,
    #[parco(header = u8, be)]
    pub doubles: Vec<f64>,
    pub flags: Vec<bool>,
    #[parco(elem(small))]
    pub names: Vec<String>,
    #[parco(elem(header = u8, elem(header = u32be)))]
    pub nested: Vec<Vec<String>>,
    #[parco(header = u32be, be)]
    pub options: Vec<Option<u32>>,
    #[parco(with = Map<Varint, Varchar<Le>, U8>)]
    pub map: Vec<(String, u8)>,
    pub inner: Vec<Inner>,
    pub records: Vec<Record>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
#[parco(be, go)]
pub struct InnerRef<'a> {
    pub number: u32,
    pub text: &'a str,
    pub flag: bool,
}

/// Bytes from which values are made; zeros when they are used up.
pub struct Material<'a>(pub &'a [u8]);

impl Material<'_> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub fn bits(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub fn list<T, L: FromIterator<T>>(&mut self, mut element: impl FnMut(&mut Self) -> T) -> L {
        let len = self.byte() % 6;
        (0..len).map(|_| element(self)).collect()
    }

    pub fn text(&mut self) -> String {
        // Four of them need a varint of two bytes.
        const LONG: &str = "thirty-two letters and some more";
        const LETTERS: [&str; 8] = ["", "a", "bc", "\u{e9}", "\u{1f600}", "\0", LONG, " "];
        self.list(|material| LETTERS[usize::from(material.byte() % 8)])
    }

    pub fn option<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| value(self))
    }

    fn inner(&mut self) -> Inner {
        Inner { number: self.bits() as u32, text: self.text(), flag: self.flag() }
    }

    fn frame(&mut self) -> Frame {
        match self.byte() % 4 {
            0 => Frame::Nothing,
            1 => Frame::Inner(self.inner()),
            2 => Frame::Record(self.record()),
            _ => Frame::Pair { left: self.bits() as u16, right: self.option(Self::flag) },
        }
    }

    fn standard(&mut self) -> Standard {
        let (v4, v6) = (Ipv4Addr::from_bits(self.bits() as u32), Ipv6Addr::from_bits(self.bits().into()));
        Standard {
            tuple: (self.byte(), self.text(), char::from(self.byte())),
            pairs: self.list(|material| (material.bits() as u16, material.flag())),
            size: self.bits() as usize,
            huge: u128::from(self.bits()) << 64 | 1,
            negative: -i128::from(self.bits()),
            nonzero: NonZero::new(self.bits() as u16).unwrap_or(NonZero::<u16>::MIN),
            duration: Duration::from_nanos(self.bits()),
            address: if self.flag() { v4.into() } else { v6.into() },
            socket: if self.flag() { (v4, 80).into() } else { (v6, 80).into() },
            range: self.bits() as u16..self.bits() as u16,
            path: self.text().into(),
            counted: self.list(|material| match material.byte() % 3 {
                0 => Counted::Nothing,
                1 => Counted::Result(Ok(material.byte())),
                _ => Counted::Result(Err(material.text())),
            }),
        }
    }

    fn record(&mut self) -> Record {
        Record {
            id: self.bits() as u16,
            notes: self.list(Self::text),
            parts: self.list(|material| material.part(4)),
            rank: self.option(Self::byte),
        }
    }

    fn part(&mut self, depth: usize) -> Part {
        let number = self.bits() as u32;
        let parts = if depth == 0 { Vec::new() } else { self.list(|material| material.part(depth - 1)) };
        Part { number, parts }
    }

    pub fn named(&mut self, depth: usize) -> Named {
        if depth == 0 || self.flag() {
            Named::One(self.byte())
        } else {
            Named::Other(self.list(|material| material.named(depth - 1)))
        }
    }

    pub fn node(&mut self, depth: usize) -> Node {
        if depth == 0 {
            return Node { value: self.byte(), ..Node::default() };
        }
        Node {
            value: self.byte(),
            children: self.list(|material| material.node(depth - 1)),
            next: self.option(|material| Box::new(material.node(depth - 1))),
        }
    }

    pub fn everything(&mut self) -> Everything {
        Everything {
            flag: self.flag(),
            a: self.byte(),
            b: self.byte() as i8,
            c: self.bits() as u16,
            d: self.bits() as i16,
            e: self.bits() as u32,
            f: self.bits() as i32,
            g: self.bits(),
            h: self.bits() as i64,
            int: self.bits() as i64,
            uint: self.bits(),
            single: f32::from_bits(self.bits() as u32),
            double: f64::from_bits(self.bits()),
            text: self.text(),
            small: self.option(Self::text),
            wide: self.text().into(),
            blob: self.list(Self::byte),
            short: self.text().chars().take(5).collect(),
            bytes: self.list(Self::byte),
            numbers: self.list(|material| material.bits() as u16),
            big_numbers: self.list(|material| material.bits() as u32),
            doubles: self.list(|material| f64::from_bits(material.bits())),
            flags: self.list(Self::flag),
            names: self.list(Self::text),
            nested: self.list(|material| material.list(|material| material.list(Self::byte))),
            options: self.list(|material| material.option(|material| material.bits() as u16)),
            fixed: std::array::from_fn(|_| self.bits() as u16),
            fixed_texts: std::array::from_fn(|_| self.text()),
            set: self.list(|material| material.byte() as i8),
            grades: self.list(|material| (material.text(), material.byte())),
            hashed: self.list(|material| (u16::from(material.byte()), material.list(Self::text))),
            entries: self.list(|material| material.option(Self::inner)),
            reserved: (),
            units: self.list(|_| ()),
            empties: self.list(|_| Empty {}),
            at: Timestamp::from_nanos(self.bits() as i64),
            located: ZonedTimestamp {
                at: Timestamp::from_nanos(self.bits() as i64),
                // An empty name would be decoded as `UTC`.
                zone: [b"Z".to_vec(), self.list(Self::byte)].concat(),
            },
            shared: Rc::new(self.inner()),
            boxed: self.option(|material| Box::new(material.inner())),
            cache: None,
            frames: self.list(Self::frame),
            standard: self.standard(),
            node: self.node(3),
            record: self.option(Self::record),
            records: self.list(|material| (material.byte(), material.record())),
        }
    }

    pub fn owned(&mut self) -> Owned {
        Owned {
            text: self.text(),
            numbers: self.list(|material| material.bits() as u16),
            // Small numbers, because NaN is not equal to itself.
            doubles: self.list(|material| f64::from(material.byte()) / 7.0),
            flags: self.list(Self::flag),
            names: self.list(Self::text),
            nested: self.list(|material| material.list(Self::text)),
            options: self.list(|material| material.option(|material| material.bits() as u32)),
            map: self.list(|material| (material.text(), material.byte())),
            inner: self.list(Self::inner),
            records: self.list(Self::record),
        }
    }
}
