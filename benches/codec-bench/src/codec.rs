//! The trait of the codecs of the suite, and the operations that the rows measure.

use std::hint::black_box;
use std::io::{self, Read as _};

pub use ::rkyv::util::AlignedVec;
use benches::{Impl, Row};

use super::message::{Check, Message, MessageRef, MessageType};

/// A codec in one configuration, with its reusable buffers.
///
/// The constants are operations that not every codec has. They are closures of constants, so that calls are inlined.
pub trait Codec: Default + 'static {
    /// Name in the rows.
    const NAME: &'static str;
    /// Version of a linked peer; `None` for the crates of this workspace.
    const VERSION: Option<&'static str>;

    /// Message type that the codec encodes: [`Message`], unless the codec needs a different type.
    type Message: MessageType + Check;

    /// Encodes to a reused buffer.
    fn encode(&mut self, message: &Self::Message) -> Option<&[u8]>;

    /// Decodes an owned message. The bytes are aligned to 16.
    fn decode(&mut self, bytes: &[u8]) -> Option<Self::Message>;

    /// Encodes to a new vector.
    const FRESH: Option<Fresh<Self::Message>> = None;
    /// Writes to a sink, which counts the bytes.
    const WRITE: Option<Write<Self, Self::Message>> = None;
    /// Computes the encoded length without encoding.
    const LENGTH: Option<Length<Self::Message>> = None;
    /// Decodes one message from a stream, and leaves the rest of it.
    const READ: Option<Read<Self::Message>> = None;
    /// Decodes a message whose strings and keys borrow from the bytes.
    const BORROW: Option<Borrow<Self>> = None;
    /// Validates bytes that are then read in place, without building a map, and returns the check value.
    const VIEW: Option<View> = None;
}

/// Type of [`Codec::FRESH`].
pub type Fresh<M> = fn(&M) -> Option<Vec<u8>>;
/// Type of [`Codec::WRITE`].
pub type Write<C, M> = fn(&mut C, &M, &mut Counter) -> Option<()>;
/// Type of [`Codec::LENGTH`].
pub type Length<M> = fn(&M) -> Option<u64>;
/// Type of [`Codec::READ`].
pub type Read<M> = fn(&mut &[u8]) -> Option<M>;
/// Type of [`Codec::BORROW`].
pub type Borrow<C> = for<'b> fn(&mut C, &'b [u8]) -> Option<MessageRef<'b>>;
/// Type of [`Codec::VIEW`].
pub type View = fn(&[u8]) -> Option<u64>;

/// What an implementation of a row does: the class in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Encoding to a reused buffer.
    Reused,
    /// Encoding to a new buffer for each message, as the Go libraries for JSON and MessagePack do.
    Fresh,
    /// Encoding to a sink that adds up lengths.
    Discarded,
    /// Computing the encoded length.
    Length,
    /// Decoding an owned message.
    Owned,
    /// Decoding an owned message from a reader that has more after it.
    Reader,
    /// Reading a reader to its end and decoding an owned message, so that the reader can have nothing after it.
    WholeReader,
    /// Decoding a message whose strings and keys borrow from the bytes.
    Borrowed,
    /// Validating bytes to read them in place.
    View,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Self::Reused => "reused buffer",
            Self::Fresh => "new buffer",
            Self::Discarded => "discarded",
            Self::Length => "length only",
            Self::Owned | Self::Reader => "owned",
            Self::WholeReader => "owned, whole reader",
            Self::Borrowed => "borrowed",
            Self::View => "view",
        }
    }

    fn is_supported<C: Codec>(self) -> bool {
        match self {
            Self::Reused | Self::Owned | Self::WholeReader => true,
            Self::Fresh => C::FRESH.is_some(),
            Self::Discarded => C::WRITE.is_some(),
            Self::Length => C::LENGTH.is_some(),
            Self::Reader => C::READ.is_some(),
            Self::Borrowed => C::BORROW.is_some(),
            Self::View => C::VIEW.is_some(),
        }
    }
}

/// A function that adds an implementation to a row: [`add`] for a codec.
pub type Add = for<'a> fn(Row<'a>, Kind, &'a Message) -> Row<'a>;

/// Adds a codec to a row, if it supports the kind of operation.
///
/// An implementation that does not restore the message fails its row: nothing has the expected value.
pub fn add<'a, C: Codec>(row: Row<'a>, kind: Kind, message: &'a Message) -> Row<'a> {
    if !kind.is_supported::<C>() {
        return row;
    }
    let (mut codec, message) = (C::default(), C::Message::from_message(message));
    let bytes = verified::<C>(&message);
    let (len, check) = match bytes.is_empty() {
        true => (u64::MAX, u64::MAX),
        false => (bytes.len() as u64, message.check()),
    };
    let name = format!("{} {}", C::NAME, kind.class());
    let implementation = match C::VERSION {
        Some(version) => Impl::peer(name, version),
        None => Impl::ours(name),
    };
    let implementation = implementation.class(kind.class()).payload(len);
    match kind {
        Kind::Reused => row.run(implementation, len, move || {
            codec.encode(black_box(&message)).map_or(0, |bytes| black_box(bytes).len() as u64)
        }),
        Kind::Fresh => row.run(implementation, len, move || {
            let encoded = C::FRESH.and_then(|fresh| fresh(black_box(&message)));
            encoded.map_or(0, |bytes| black_box(&bytes).len() as u64)
        }),
        Kind::Discarded => row.run(implementation, len, move || {
            let mut counter = Counter::default();
            C::WRITE.and_then(|write| write(&mut codec, black_box(&message), &mut counter));
            counter.0
        }),
        Kind::Length => row.run(implementation, len, move || {
            C::LENGTH.and_then(|length| length(black_box(&message))).unwrap_or_default()
        }),
        Kind::Owned => row.run(implementation, check, move || checked(codec.decode(black_box(&bytes)))),
        Kind::Reader => row.run(implementation, check, move || {
            checked(C::READ.and_then(|read| read(&mut black_box(&bytes[..]))))
        }),
        Kind::WholeReader => row.run(implementation, check, move || {
            let mut all = Vec::new();
            let result = black_box(&bytes[..]).read_to_end(&mut all);
            checked(result.ok().and_then(|_| codec.decode(&all)))
        }),
        Kind::Borrowed => row.run(implementation, check, move || {
            checked(C::BORROW.and_then(|borrow| borrow(&mut codec, black_box(&bytes))))
        }),
        Kind::View => row.run(implementation, check, move || {
            C::VIEW.and_then(|view| view(black_box(&bytes))).unwrap_or_default()
        }),
    }
}

/// Returns the check value of a decoded message, or 0 on failure.
fn checked<M: Check>(message: Option<M>) -> u64 {
    message.map_or(0, |message| black_box(&message).check())
}

/// Returns the encoded message, aligned for every decoder, or empty if decoding does not restore the message.
pub fn verified<C: Codec>(message: &C::Message) -> AlignedVec {
    let mut codec = C::default();
    let mut bytes = AlignedVec::new();
    bytes.extend_from_slice(codec.encode(message).unwrap_or_default());
    if codec.decode(&bytes).is_none_or(|decoded| decoded != *message) {
        bytes.clear();
    }
    bytes
}

/// Size of the buffer for encoders that require a slice, in bytes. Larger than any published message.
pub(super) const ROOM: usize = 64 << 10;

/// Declares a codec with a reused buffer, and the operations that it supports.
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
        $(view |$viewed:ident| $view:expr;)?
        $(write |$written:ident, $counter:ident| $write:expr;)?
        $(buffered |$buffer:ident, $buffered:ident| $into_buffer:expr;)?
        $(length |$measured:ident| $length:expr;)?
        $(read |$reader:ident| $read:expr;)?
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

            $(const FRESH: Option<$crate::codec::Fresh<$message>> = Some(|$fresh_message| $fresh.ok());)?
            $(
                const BORROW: Option<$crate::codec::Borrow<Self>> =
                    Some(|_, $borrowed| $borrow.ok());
            )?
            $(
                const VIEW: Option<$crate::codec::View> =
                    Some(|$viewed| $view.ok().map(|view| $crate::message::Check::check(std::hint::black_box(&view))));
            )?
            $(
                const WRITE: Option<$crate::codec::Write<Self, $message>> =
                    Some(|_, $written, $counter| $write.ok().map(|_| ()));
            )?
            $(
                const WRITE: Option<$crate::codec::Write<Self, $message>> =
                    Some(|codec, $buffered, counter| {
                        codec.0.clear();
                        let $buffer = &mut codec.0;
                        $into_buffer.ok()?;
                        counter.add(&codec.0);
                        Some(())
                    });
            )?
            $(
                const LENGTH: Option<$crate::codec::Length<$message>> =
                    Some(|$measured| $length.ok().map(|length| length as u64));
            )?
            $(const READ: Option<$crate::codec::Read<$message>> = Some(|$reader| $read.ok());)?
        }
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
