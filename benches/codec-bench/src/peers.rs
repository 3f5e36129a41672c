//! Binary Rust codecs, each with its own layout and its fastest documented way to encode to a reused buffer.

use std::io::Read;

use wincode::io::std_read::ReadAdapter;

use super::codec::{Borrow, Codec, Counter, Discard, FromReader};
use super::message::{Message, MessageRef};

/// Version of the linked wincode.
pub const WINCODE: &str = "0.6.3";
/// Version of the linked speedy.
pub const SPEEDY: &str = "0.8.7";
const BINCODE: &str = "2.0.1";

/// Larger than any of the published messages, for encoders that require a slice.
pub(super) const ROOM: usize = 64 << 10;

/// wincode to a slice.
#[derive(Debug)]
pub struct Wincode(Vec<u8>);

impl Default for Wincode {
    fn default() -> Self {
        Self(vec![0; ROOM])
    }
}

impl Codec for Wincode {
    const NAME: &'static str = "wincode";
    const VERSION: Option<&'static str> = Some(WINCODE);
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        let mut rest = &mut self.0[..];
        wincode::serialize_into(&mut rest, message).ok()?;
        let len = ROOM - rest.len();
        self.0.get(..len)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        wincode::deserialize(bytes).ok()
    }
}

impl Borrow for Wincode {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        wincode::deserialize(bytes).ok()
    }
}

impl Discard for Wincode {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        wincode::serialize_into(counter, message).ok()
    }
}

impl FromReader for Wincode {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        wincode::deserialize_from(ReadAdapter::new(reader)).ok()
    }
}

impl wincode::io::Writer for Counter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), wincode::io::WriteError> {
        self.add(bytes);
        Ok(())
    }
}

/// wincode to a vector, which grows as needed.
#[derive(Debug, Default)]
pub struct WincodeVec(Vec<u8>);

impl Codec for WincodeVec {
    const NAME: &'static str = "wincode Vec";
    const VERSION: Option<&'static str> = Some(WINCODE);
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        wincode::serialize_into(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        wincode::deserialize(bytes).ok()
    }
}

/// bitcode with its own buffer.
#[derive(Default)]
pub struct Bitcode(bitcode::Buffer);

impl std::fmt::Debug for Bitcode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bitcode").finish_non_exhaustive()
    }
}

impl Codec for Bitcode {
    const NAME: &'static str = "bitcode";
    const VERSION: Option<&'static str> = Some("0.6.9");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        Some(self.0.encode(message))
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        self.0.decode(bytes).ok()
    }
}

impl Borrow for Bitcode {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        self.0.decode(bytes).ok()
    }
}

/// bincode 1 to a vector.
#[derive(Debug, Default)]
pub struct Bincode1(Vec<u8>);

impl Codec for Bincode1 {
    const NAME: &'static str = "bincode 1";
    const VERSION: Option<&'static str> = Some("1.3.3");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        bincode1::serialize_into(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        bincode1::deserialize(bytes).ok()
    }
}

impl Borrow for Bincode1 {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        bincode1::deserialize(bytes).ok()
    }
}

impl Discard for Bincode1 {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        bincode1::serialize_into(counter, message).ok()
    }
}

impl FromReader for Bincode1 {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        bincode1::deserialize_from(reader).ok()
    }
}

macro_rules! bincode_2 {
    ($(#[$doc:meta])* $name:ident, $text:literal, $config:expr) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(Vec<u8>);

        impl Default for $name {
            fn default() -> Self {
                Self(vec![0; ROOM])
            }
        }

        impl Codec for $name {
            const NAME: &'static str = $text;
            const VERSION: Option<&'static str> = Some(BINCODE);
            type Message = Message;

            fn encode(&mut self, message: &Message) -> Option<&[u8]> {
                let len = bincode::encode_into_slice(message, &mut self.0, $config).ok()?;
                self.0.get(..len)
            }

            fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
                Some(bincode::decode_from_slice(bytes, $config).ok()?.0)
            }
        }

        impl Borrow for $name {
            fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
                Some(bincode::borrow_decode_from_slice(bytes, $config).ok()?.0)
            }
        }

        impl Discard for $name {
            fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
                bincode::encode_into_writer(message, counter, $config).ok()
            }
        }

        impl FromReader for $name {
            fn from_reader(reader: &mut impl Read) -> Option<Message> {
                bincode::decode_from_std_read(reader, $config).ok()
            }
        }
    };
}

bincode_2! {
    /// bincode 2 with fixed-width integers.
    Bincode2Fixed, "bincode 2 fixed", bincode::config::legacy()
}
bincode_2! {
    /// bincode 2 with variable-width integers.
    Bincode2Varint, "bincode 2 varint", bincode::config::standard()
}

impl bincode::enc::write::Writer for &mut Counter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), bincode::error::EncodeError> {
        self.add(bytes);
        Ok(())
    }
}

/// postcard to a slice.
#[derive(Debug)]
pub struct Postcard(Vec<u8>);

impl Default for Postcard {
    fn default() -> Self {
        Self(vec![0; ROOM])
    }
}

impl Codec for Postcard {
    const NAME: &'static str = "postcard";
    const VERSION: Option<&'static str> = Some("1.1.3");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        postcard::to_slice(message, &mut self.0).ok().map(|bytes| &*bytes)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        postcard::from_bytes(bytes).ok()
    }
}

impl Borrow for Postcard {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        postcard::from_bytes(bytes).ok()
    }
}

impl Discard for Postcard {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        postcard::to_io(message, counter).ok().map(|_| ())
    }
}

/// serde-zap to a slice.
#[derive(Debug)]
pub struct SerdeZap(Vec<u8>);

impl Default for SerdeZap {
    fn default() -> Self {
        Self(vec![0; ROOM])
    }
}

impl Codec for SerdeZap {
    const NAME: &'static str = "serde-zap";
    const VERSION: Option<&'static str> = Some("0.1.1");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        serde_zap::to_slice(message, &mut self.0).ok().map(|bytes| &*bytes)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        serde_zap::from_bytes(bytes).ok()
    }
}

impl Borrow for SerdeZap {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        serde_zap::from_bytes(bytes).ok()
    }
}

impl Discard for SerdeZap {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        serde_zap::to_writer(message, counter).ok()
    }
}

impl FromReader for SerdeZap {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        serde_zap::from_reader(reader).ok()
    }
}

/// borsh to a vector. It sorts the keys.
#[derive(Debug, Default)]
pub struct Borsh(Vec<u8>);

impl Codec for Borsh {
    const NAME: &'static str = "borsh";
    const VERSION: Option<&'static str> = Some("1.8.1");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        borsh::to_writer(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        borsh::from_slice(bytes).ok()
    }
}

impl Discard for Borsh {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        borsh::to_writer(counter, message).ok()
    }
}

impl FromReader for Borsh {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        borsh::from_reader(reader).ok()
    }
}

/// speedy to a vector.
#[derive(Debug, Default)]
pub struct Speedy(Vec<u8>);

impl Codec for Speedy {
    const NAME: &'static str = "speedy";
    const VERSION: Option<&'static str> = Some(SPEEDY);
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        speedy::Writable::write_to_stream(message, &mut self.0).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        speedy::Readable::read_from_buffer(bytes).ok()
    }
}

impl Borrow for Speedy {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        speedy::Readable::read_from_buffer(bytes).ok()
    }
}

impl Discard for Speedy {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        speedy::Writable::write_to_stream(message, counter).ok()
    }
}

impl FromReader for Speedy {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        speedy::Readable::read_from_stream_unbuffered(reader).ok()
    }
}

/// savefile to a vector, without a schema.
#[derive(Debug, Default)]
pub struct Savefile(Vec<u8>);

impl Codec for Savefile {
    const NAME: &'static str = "savefile";
    const VERSION: Option<&'static str> = Some("0.20.6");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        savefile::save_noschema(&mut self.0, 0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, mut bytes: &[u8]) -> Option<Message> {
        savefile::load_noschema(&mut bytes, 0).ok()
    }
}

impl Discard for Savefile {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        savefile::save_noschema(counter, 0, message).ok()
    }
}

impl FromReader for Savefile {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        savefile::load_noschema(reader, 0).ok()
    }
}

/// nanoserde's binary format to a vector.
#[derive(Debug, Default)]
pub struct Nanoserde(Vec<u8>);

impl Codec for Nanoserde {
    const NAME: &'static str = "nanoserde";
    const VERSION: Option<&'static str> = Some("0.2.1");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        nanoserde::SerBin::ser_bin(message, &mut self.0);
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        nanoserde::DeBin::deserialize_bin(bytes).ok()
    }
}
