//! Traits that the codecs of the suite implement, and the operations that the rows measure.

use std::hint::black_box;
use std::io::{self, Read as _};

pub use ::rkyv::util::AlignedVec;
use benches::Impl;

use super::message::{Check, Message, MessageRef, MessageType};

/// A codec in one configuration, with its reusable buffers.
pub trait Codec: Default + 'static {
    /// Name in the rows.
    const NAME: &'static str;
    /// Version of a linked peer; `None` for the crates of this workspace.
    const VERSION: Option<&'static str>;

    /// Message type that the codec encodes: [`Message`], unless the codec needs a different type.
    type Message: MessageType + Check + PartialEq;

    /// Encodes to a reused buffer.
    fn encode(&mut self, message: &Self::Message) -> Option<&[u8]>;

    /// Decodes an owned message. The bytes are aligned to 16.
    fn decode(&mut self, bytes: &[u8]) -> Option<Self::Message>;
}

/// Returns how rows describe a codec.
pub fn implementation<C: Codec>(class: &str) -> Impl {
    let name = format!("{} {class}", C::NAME);
    match C::VERSION {
        Some(version) => Impl::peer(name, version),
        None => Impl::ours(name),
    }
    .class(class)
}

/// A codec that can write to a sink, which only counts the bytes.
pub trait Discard: Codec {
    /// Encodes to `counter`. Returns `None` on failure.
    fn discard(message: &Self::Message, counter: &mut Counter) -> Option<()>;
}

/// A codec with a function that returns a new vector.
pub trait Fresh: Codec {
    /// Encodes to a new vector.
    fn fresh(message: &Self::Message) -> Option<Vec<u8>>;
}

/// A codec that can decode one message from a stream, and leaves the rest of it.
pub trait FromReader: Codec {
    /// Decodes an owned message.
    fn from_reader(reader: &mut impl io::Read) -> Option<Self::Message>;
}

/// A codec that can borrow strings from the input.
pub trait Borrow: Codec {
    /// Decodes a message whose strings and keys borrow from the bytes.
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>>;
}

/// A codec whose bytes can be validated and then read in place, without building a map.
pub trait View: Codec {
    /// View type.
    type View<'b>: Check;

    /// Validates the bytes.
    fn view(bytes: &[u8]) -> Option<Self::View<'_>>;

    /// Copies everything that the view provides access to.
    fn copied(view: &Self::View<'_>) -> Option<Message>;
}

/// Size of the buffer for encoders that require a slice, in bytes. Larger than any published message.
pub(super) const ROOM: usize = 64 << 10;

/// Declares a codec with a reused buffer, and implements the traits that it supports.
///
/// `vec` appends to an empty vector, `slice` writes to a slice of [`ROOM`] bytes and returns the length. Every
/// expression evaluates to a `Result`.
macro_rules! codec {
    (
        $(#[$meta:meta])*
        $name:ident($message:ty), $text:expr, $version:expr;
        $(vec |$vec:ident, $vec_message:ident| $into_vec:expr;)?
        $(slice |$slice:ident, $slice_message:ident| $into_slice:expr;)?
        decode |$bytes:ident| $decode:expr;
        $(fresh |$fresh_message:ident| $fresh:expr;)?
        $(borrow |$borrowed:ident| $borrow:expr;)?
        $(discard |$discarded:ident, $counter:ident| $discard:expr;)?
        $(reader |$reader:ident| $from_reader:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name(Vec<u8>);

        impl Default for $name {
            fn default() -> Self {
                Self(vec![0; $crate::codec::ROOM])
            }
        }

        impl $crate::codec::Codec for $name {
            const NAME: &'static str = $text;
            const VERSION: Option<&'static str> = $version;
            type Message = $message;

            fn encode(&mut self, message: &$message) -> Option<&[u8]> {
                $(
                    self.0.clear();
                    let ($vec, $vec_message) = (&mut self.0, message);
                    $into_vec.ok()?;
                    Some(&self.0)
                )?
                $(
                    let ($slice, $slice_message) = (&mut self.0[..], message);
                    let len = $into_slice.ok()?;
                    self.0.get(..len)
                )?
            }

            fn decode(&mut self, $bytes: &[u8]) -> Option<$message> {
                $decode.ok()
            }
        }

        $(
            impl $crate::codec::Fresh for $name {
                fn fresh($fresh_message: &$message) -> Option<Vec<u8>> {
                    $fresh.ok()
                }
            }
        )?

        $(
            impl $crate::codec::Borrow for $name {
                fn borrow<'b>(&mut self, $borrowed: &'b [u8]) -> Option<$crate::message::MessageRef<'b>> {
                    $borrow.ok()
                }
            }
        )?

        $(
            impl $crate::codec::Discard for $name {
                fn discard($discarded: &$message, $counter: &mut $crate::codec::Counter) -> Option<()> {
                    $discard.ok().map(|_| ())
                }
            }
        )?

        $(
            impl $crate::codec::FromReader for $name {
                fn from_reader($reader: &mut impl std::io::Read) -> Option<$message> {
                    $from_reader.ok()
                }
            }
        )?
    };
}

pub(super) use codec;

/// A sink that adds up lengths, but forces the optimizer to produce the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter(pub u64);

impl Counter {
    /// Adds the length of some bytes. Without the `black_box`, inlining would reduce the whole encoder to a sum of
    /// lengths.
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

/// Returns the encoded message, aligned for every decoder, or empty if decoding does not restore the message.
///
/// The rows compute their expected values from it, so an implementation that loses data fails its rows.
pub fn verified<C: Codec>(message: &C::Message) -> AlignedVec {
    let mut codec = C::default();
    let mut bytes = AlignedVec::new();
    bytes.extend_from_slice(codec.encode(message).unwrap_or_default());
    if codec.decode(&bytes).is_none_or(|decoded| decoded != *message) {
        bytes.clear();
    }
    bytes
}

/// Returns the encoded length, or 0 on failure.
pub fn encode<C: Codec>(codec: &mut C, message: &C::Message) -> u64 {
    codec.encode(black_box(message)).map_or(0, |bytes| black_box(bytes).len() as u64)
}

/// Returns the length encoded to a new vector, or 0 on failure.
pub fn fresh<C: Fresh>(message: &C::Message) -> u64 {
    C::fresh(black_box(message)).map_or(0, |bytes| black_box(&bytes).len() as u64)
}

/// Returns the length written to a sink, or 0 on failure.
pub fn discard<C: Discard>(message: &C::Message) -> u64 {
    let mut counter = Counter::default();
    C::discard(black_box(message), &mut counter).map_or(0, |()| counter.0)
}

/// Returns the check value of a decoded owned message, or 0 on failure.
pub fn decode<C: Codec>(codec: &mut C, bytes: &[u8]) -> u64 {
    codec.decode(black_box(bytes)).map_or(0, |message| black_box(&message).check())
}

/// Returns the check value of a message decoded from a reader over the bytes, or 0 on failure.
pub fn from_reader<C: FromReader>(bytes: &[u8]) -> u64 {
    C::from_reader(&mut black_box(bytes)).map_or(0, |message| black_box(&message).check())
}

/// Returns the check value of a message that is all that a reader over the bytes has, or 0 on failure.
pub fn whole_reader<C: Codec>(codec: &mut C, bytes: &[u8]) -> u64 {
    let mut all = Vec::new();
    black_box(bytes).read_to_end(&mut all).map_or(0, |_| decode(codec, &all))
}

/// Returns the check value of a decoded borrowed message, or 0 on failure.
pub fn borrow<C: Borrow>(codec: &mut C, bytes: &[u8]) -> u64 {
    codec.borrow(black_box(bytes)).map_or(0, |message| black_box(&message).check())
}

/// Returns the check value of a validated view, or 0 if the bytes are rejected.
pub fn view<C: View>(bytes: &[u8]) -> u64 {
    C::view(black_box(bytes)).map_or(0, |view| black_box(&view).check())
}
