//! What the rows ask of an implementation.

use std::hint::black_box;
use std::io;

use benches::Impl;

use super::message::{Check, Form, Message, MessageRef};

/// One codec in one configuration, with whatever it keeps between operations.
pub trait Codec: Default {
    /// The name in the rows.
    const NAME: &'static str;
    /// The version of a peer that is linked in; ours has none.
    const VERSION: Option<&'static str>;

    /// The form of the message that the codec encodes: [`Message`] unless its format has no place for it.
    type Message: Form + Check + PartialEq;

    /// Encodes into a buffer that is kept.
    fn encode(&mut self, message: &Self::Message) -> Option<&[u8]>;

    /// Decodes a message that owns all it holds. The bytes are aligned to 16.
    fn decode(&mut self, bytes: &[u8]) -> Option<Self::Message>;
}

/// How rows describe a codec; `form` follows the name in rows that have several forms of it.
pub fn implementation<C: Codec>(form: &str) -> Impl {
    let name = [C::NAME, form].join(" ");
    match C::VERSION {
        Some(version) => Impl::peer(name.trim_end(), version),
        None => Impl::ours(name.trim_end()),
    }
}

/// A codec that can write to a sink, which keeps nothing but the length.
pub trait Discard: Codec {
    /// Encodes to `counter`; `None` where that fails.
    fn discard(message: &Self::Message, counter: &mut Counter) -> Option<()>;
}

/// A codec with a function that gives a new vector.
pub trait Fresh: Codec {
    /// Encodes to a new vector.
    fn fresh(message: &Self::Message) -> Option<Vec<u8>>;
}

/// A codec that can decode from a reader.
pub trait FromReader: Codec {
    /// Decodes a message that owns all it holds.
    fn from_reader(reader: &mut impl io::Read) -> Option<Self::Message>;
}

/// A codec that can leave strings where they are.
pub trait Borrow: Codec {
    /// Decodes a message whose texts and keys borrow from the bytes.
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>>;
}

/// A codec whose bytes can be read in place once they were validated, without building a map.
pub trait View: Codec {
    /// What stands in for the message.
    type View<'b>: Check;

    /// Validates the bytes.
    fn view(bytes: &[u8]) -> Option<Self::View<'_>>;

    /// Copies everything that the view gives access to.
    fn copied(view: &Self::View<'_>) -> Option<Message>;
}

/// A sink that only adds up lengths, of bytes that the optimiser has to produce all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter(pub u64);

impl Counter {
    /// Adds the length of some bytes. Inlined without the hint, it would leave a sum of lengths of the whole encoder.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0 += black_box(bytes).len() as u64;
    }
}

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a message where every decoder finds them aligned, empty unless decoding gives the message back.
///
/// The rows take their expected values from this: an implementation that loses anything fails its rows.
pub fn verified<C: Codec>(message: &C::Message) -> ::rkyv::util::AlignedVec {
    let mut codec = C::default();
    let mut bytes = ::rkyv::util::AlignedVec::new();
    bytes.extend_from_slice(codec.encode(message).unwrap_or_default());
    if codec.decode(&bytes).is_none_or(|decoded| decoded != *message) {
        bytes.clear();
    }
    bytes
}

/// The length of what is encoded, 0 where that fails.
pub fn encode<C: Codec>(codec: &mut C, message: &C::Message) -> u64 {
    codec.encode(black_box(message)).map_or(0, |bytes| black_box(bytes).len() as u64)
}

/// The length of what is encoded to a new vector, 0 where that fails.
pub fn fresh<C: Fresh>(message: &C::Message) -> u64 {
    C::fresh(black_box(message)).map_or(0, |bytes| black_box(&bytes).len() as u64)
}

/// The length of what is written to a sink, 0 where that fails.
pub fn discard<C: Discard>(message: &C::Message) -> u64 {
    let mut counter = Counter::default();
    C::discard(black_box(message), &mut counter).map_or(0, |()| counter.0)
}

/// The check value of a decoded message that owns all it holds, 0 where decoding fails.
pub fn decode<C: Codec>(codec: &mut C, bytes: &[u8]) -> u64 {
    codec.decode(black_box(bytes)).map_or(0, |message| black_box(&message).check())
}

/// The check value of a message decoded from a reader over the bytes, 0 where decoding fails.
pub fn from_reader<C: FromReader>(bytes: &[u8]) -> u64 {
    C::from_reader(&mut black_box(bytes)).map_or(0, |message| black_box(&message).check())
}

/// The check value of a decoded message that borrows, 0 where decoding fails.
pub fn borrow<C: Borrow>(codec: &mut C, bytes: &[u8]) -> u64 {
    codec.borrow(black_box(bytes)).map_or(0, |message| black_box(&message).check())
}

/// The check value of a validated view, 0 where the bytes are refused.
pub fn view<C: View>(bytes: &[u8]) -> u64 {
    C::view(black_box(bytes)).map_or(0, |view| black_box(&view).check())
}
