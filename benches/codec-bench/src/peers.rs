//! Binary Rust codecs, each with its own layout and its fastest documented way to encode to a reused buffer.

use wincode::io::std_read::ReadAdapter;

use super::codec::{Borrow, Codec, Counter, Fresh, codec};
use super::message::{Message, MessageRef};

/// Version of the linked wincode.
pub const WINCODE: &str = "0.6.3";
/// Version of the linked speedy.
pub const SPEEDY: &str = "0.8.7";
const BINCODE: &str = "2.0.1";

codec! {
    /// wincode to a slice.
    Wincode(Message), "wincode", Some(WINCODE);
    slice |buffer, message| {
        let (len, mut rest) = (buffer.len(), buffer);
        wincode::serialize_into(&mut rest, message).map(|()| len - rest.len())
    };
    decode |bytes| wincode::deserialize(bytes);
    fresh |message| wincode::serialize(message);
    borrow |bytes| wincode::deserialize(bytes);
    discard |message, counter| wincode::serialize_into(counter, message);
    reader |reader| wincode::deserialize_from(ReadAdapter::new(reader));
}

impl wincode::io::Writer for Counter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), wincode::io::WriteError> {
        self.add(bytes);
        Ok(())
    }
}

codec! {
    /// wincode to a vector, which grows as needed.
    WincodeVec(Message), "wincode Vec", Some(WINCODE);
    vec |buffer, message| wincode::serialize_into(buffer, message);
    decode |bytes| wincode::deserialize(bytes);
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

impl Fresh for Bitcode {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        Some(bitcode::encode(message))
    }
}

impl Borrow for Bitcode {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        self.0.decode(bytes).ok()
    }
}

codec! {
    /// bincode 1 to a vector.
    Bincode1(Message), "bincode 1", Some("1.3.3");
    vec |buffer, message| bincode1::serialize_into(buffer, message);
    decode |bytes| bincode1::deserialize(bytes);
    fresh |message| bincode1::serialize(message);
    borrow |bytes| bincode1::deserialize(bytes);
    discard |message, counter| bincode1::serialize_into(counter, message);
    reader |reader| bincode1::deserialize_from(reader);
}

macro_rules! bincode_2 {
    ($(#[$doc:meta])* $name:ident, $text:literal, $config:expr) => {
        codec! {
            $(#[$doc])*
            $name(Message), $text, Some(BINCODE);
            slice |buffer, message| bincode::encode_into_slice(message, buffer, $config);
            decode |bytes| bincode::decode_from_slice(bytes, $config).map(|(message, _)| message);
            fresh |message| bincode::encode_to_vec(message, $config);
            borrow |bytes| bincode::borrow_decode_from_slice(bytes, $config).map(|(message, _)| message);
            discard |message, counter| bincode::encode_into_writer(message, counter, $config);
            reader |reader| bincode::decode_from_std_read(reader, $config);
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

codec! {
    /// postcard to a slice.
    Postcard(Message), "postcard", Some("1.1.3");
    slice |buffer, message| postcard::to_slice(message, buffer).map(|bytes| bytes.len());
    decode |bytes| postcard::from_bytes(bytes);
    fresh |message| postcard::to_stdvec(message);
    borrow |bytes| postcard::from_bytes(bytes);
    discard |message, counter| postcard::to_io(message, counter);
}

codec! {
    /// serde-zap to a slice.
    SerdeZap(Message), "serde-zap", Some("0.1.1");
    slice |buffer, message| serde_zap::to_slice(message, buffer).map(|bytes| bytes.len());
    decode |bytes| serde_zap::from_bytes(bytes);
    fresh |message| serde_zap::to_vec(message);
    borrow |bytes| serde_zap::from_bytes(bytes);
    discard |message, counter| serde_zap::to_writer(message, counter);
}

codec! {
    /// borsh to a vector. It sorts the keys.
    Borsh(Message), "borsh", Some("1.8.1");
    vec |buffer, message| borsh::to_writer(buffer, message);
    decode |bytes| borsh::from_slice(bytes);
    fresh |message| borsh::to_vec(message);
    discard |message, counter| borsh::to_writer(counter, message);
    reader |reader| borsh::from_reader(reader);
}

codec! {
    /// speedy to a vector.
    Speedy(Message), "speedy", Some(SPEEDY);
    vec |buffer, message| speedy::Writable::write_to_stream(message, buffer);
    decode |bytes| speedy::Readable::read_from_buffer(bytes);
    fresh |message| speedy::Writable::write_to_vec(message);
    borrow |bytes| speedy::Readable::read_from_buffer(bytes);
    discard |message, counter| speedy::Writable::write_to_stream(message, counter);
    reader |reader| speedy::Readable::read_from_stream_unbuffered(reader);
}

codec! {
    /// savefile to a vector, without a schema.
    Savefile(Message), "savefile", Some("0.20.6");
    vec |buffer, message| savefile::save_noschema(buffer, 0, message);
    decode |bytes| savefile::load_noschema(&mut &*bytes, 0);
    discard |message, counter| savefile::save_noschema(counter, 0, message);
    reader |reader| savefile::load_noschema(reader, 0);
}

codec! {
    /// nanoserde's binary format to a vector.
    Nanoserde(Message), "nanoserde", Some("0.2.1");
    vec |buffer, message| {
        nanoserde::SerBin::ser_bin(message, buffer);
        Ok::<_, ()>(())
    };
    decode |bytes| nanoserde::DeBin::deserialize_bin(bytes);
    fresh |message| Ok::<_, ()>(nanoserde::SerBin::serialize_bin(message));
}
