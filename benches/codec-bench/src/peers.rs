//! Peers, each with its own layout and its fastest documented way to encode to a reused buffer.
#![allow(missing_debug_implementations, reason = "buffers of peers do not implement it")]

use bilrost::buf::ReverseBuffer;
use databuf::{Decode as _, Encode as _};
use rkyv::util::AlignedVec;
use rmp::encode::{
    write_array_len, write_bool, write_f32, write_f64, write_map_len, write_str, write_u8, write_u16,
};
use wincode::io::std_read::ReadAdapter;

use super::codec::{Add, Borrow, Codec, Counter, Fresh, Length, ROOM, View, add, codec};
use super::message::{ArchivedMessage, Check as _, Message, MessageRef, ProstMessage};

/// Every peer that encodes and decodes the message in a layout of its own.
pub const ALL: &[Add] = &[
    add::<Wincode>,
    add::<Bitcode>,
    add::<SerdeZap>,
    add::<Nanoserde>,
    add::<Bincode1>,
    add::<Bincode2Fixed>,
    add::<Bincode2Varint>,
    add::<Savefile>,
    add::<Zerompk>,
    add::<Speedy>,
    add::<Postcard>,
    add::<Borsh>,
    add::<Bilrost>,
    add::<Databuf>,
    add::<MusliPacked>,
    add::<MusliStorage>,
    add::<RmpSerdeCompact>,
    add::<RmpSerdeNamed>,
    add::<Prost>,
    add::<Rkyv>,
    add::<SerdeJson>,
    add::<SimdJson>,
    add::<SonicRs>,
];

/// Peers that read a reader to its end: those that decode from slices only, and the fastest others.
pub const WHOLE_READERS: &[Add] = &[
    add::<SerdeZap>,
    add::<Wincode>,
    add::<Bitcode>,
    add::<Bincode2Fixed>,
    add::<Postcard>,
    add::<Databuf>,
    add::<MusliPacked>,
];

/// JSON libraries, with ours.
pub const JSON: &[Add] = &[add::<OurJson>, add::<SerdeJson>, add::<SimdJson>, add::<SonicRs>];

/// Libraries for MessagePack.
pub const MSGPACK: &[Add] =
    &[add::<RmpGoWidths>, add::<RmpSerdeNamed>, add::<RmpSerdeCompact>, add::<Zerompk>];

codec! {
    /// wincode to a slice.
    Wincode(Message), "wincode", Some("0.6.3");
    slice |buffer, message| {
        let (len, mut rest) = (buffer.len(), buffer);
        wincode::serialize_into(&mut rest, message).map(|()| len - rest.len())
    };
    decode |bytes| wincode::deserialize(bytes);
    fresh |message| wincode::serialize(message);
    borrow |bytes| wincode::deserialize(bytes);
    write |message, counter| wincode::serialize_into(counter, message);
    length |message| wincode::serialized_size(message);
    read |reader| wincode::deserialize_from(ReadAdapter::new(reader));
}

impl wincode::io::Writer for Counter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), wincode::io::WriteError> {
        self.add(bytes);
        Ok(())
    }
}

codec! {
    /// wincode to a vector, which grows as needed.
    WincodeVec(Message), "wincode Vec", Wincode::VERSION;
    vec |buffer, message| wincode::serialize_into(buffer, message);
    decode |bytes| wincode::deserialize(bytes);
}

/// bitcode with its own buffer.
#[derive(Default)]
pub struct Bitcode(bitcode::Buffer);

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

    const FRESH: Option<Fresh<Message>> = Some(|message| Some(bitcode::encode(message)));
    const BORROW: Option<Borrow<Self>> = Some(|codec, bytes| codec.0.decode(bytes).ok());
}

codec! {
    /// bincode 1 to a vector.
    Bincode1(Message), "bincode 1", Some("1.3.3");
    vec |buffer, message| bincode1::serialize_into(buffer, message);
    decode |bytes| bincode1::deserialize(bytes);
    fresh |message| bincode1::serialize(message);
    borrow |bytes| bincode1::deserialize(bytes);
    write |message, counter| bincode1::serialize_into(counter, message);
    length |message| bincode1::serialized_size(message);
    read |reader| bincode1::deserialize_from(reader);
}

macro_rules! bincode_2 {
    ($(#[$doc:meta])* $name:ident, $text:literal, $config:expr) => {
        codec! {
            $(#[$doc])*
            $name(Message), $text, Some("2.0.1");
            slice |buffer, message| bincode::encode_into_slice(message, buffer, $config);
            decode |bytes| bincode::decode_from_slice(bytes, $config).map(|(message, _)| message);
            fresh |message| bincode::encode_to_vec(message, $config);
            borrow |bytes| bincode::borrow_decode_from_slice(bytes, $config).map(|(message, _)| message);
            write |message, counter| bincode::encode_into_writer(message, counter, $config);
            length |message| {
                let mut size = bincode::enc::write::SizeWriter::default();
                bincode::encode_into_writer(message, &mut size, $config).map(|()| size.bytes_written)
            };
            read |reader| bincode::decode_from_std_read(reader, $config);
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
    write |message, counter| postcard::to_io(message, counter);
    length |message| postcard::experimental::serialized_size(message);
}

codec! {
    /// serde-zap to a slice.
    SerdeZap(Message), "serde-zap", Some("0.1.1");
    slice |buffer, message| serde_zap::to_slice(message, buffer).map(|bytes| bytes.len());
    decode |bytes| serde_zap::from_bytes(bytes);
    fresh |message| serde_zap::to_vec(message);
    borrow |bytes| serde_zap::from_bytes(bytes);
    write |message, counter| serde_zap::to_writer(message, counter);
    length |message| serde_zap::serialized_size(message);
}

codec! {
    /// borsh to a vector. It sorts the keys.
    Borsh(Message), "borsh", Some("1.8.1");
    vec |buffer, message| borsh::to_writer(buffer, message);
    decode |bytes| borsh::from_slice(bytes);
    fresh |message| borsh::to_vec(message);
    write |message, counter| borsh::to_writer(counter, message);
    length |message| borsh::object_length(message);
    read |reader| borsh::from_reader(reader);
}

codec! {
    /// speedy to a vector.
    Speedy(Message), "speedy", Some("0.8.7");
    vec |buffer, message| speedy::Writable::write_to_stream(message, buffer);
    decode |bytes| speedy::Readable::read_from_buffer(bytes);
    fresh |message| speedy::Writable::write_to_vec(message);
    borrow |bytes| speedy::Readable::read_from_buffer(bytes);
    write |message, counter| speedy::Writable::write_to_stream(message, counter);
    length |message| speedy::Writable::<speedy::LittleEndian>::bytes_needed(message);
    read |reader| speedy::Readable::read_from_stream_unbuffered(reader);
}

codec! {
    /// savefile to a vector, without a schema.
    Savefile(Message), "savefile", Some("0.20.6");
    vec |buffer, message| savefile::save_noschema(buffer, 0, message);
    decode |bytes| savefile::load_noschema(&mut &*bytes, 0);
    write |message, counter| savefile::save_noschema(counter, 0, message);
    read |reader| savefile::load_noschema(reader, 0);
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

/// Numbers in the byte order of the machine, lengths of at most four bytes.
const DATABUF: u16 = databuf::config::num::NE | databuf::config::len::BEU30;

codec! {
    /// databuf to a vector.
    Databuf(Message), "databuf", Some("0.5.0");
    vec |buffer, message| message.encode::<DATABUF>(buffer);
    decode |bytes| Message::from_bytes::<DATABUF>(bytes);
    fresh |message| Ok::<_, ()>(message.to_bytes::<DATABUF>());
    borrow |bytes| MessageRef::from_bytes::<DATABUF>(bytes);
    write |message, counter| message.encode::<DATABUF>(counter);
}

macro_rules! musli {
    ($(#[$doc:meta])* $name:ident, $text:literal, $format:ident) => {
        codec! {
            $(#[$doc])*
            $name(Message), $text, Some("0.2.1");
            slice |buffer, message| musli::$format::to_slice(buffer, message);
            decode |bytes| musli::$format::from_slice(bytes);
            fresh |message| musli::$format::to_vec(message);
            borrow |bytes| musli::$format::from_slice(bytes);
            write |message, counter| musli::$format::to_writer(counter, message);
        }
    };
}

musli! {
    /// musli's fastest format: no names or numbers of fields, numbers in the byte order of the machine.
    MusliPacked, "musli packed", packed
}
musli! {
    /// musli's format for storage, with variable-width integers.
    MusliStorage, "musli storage", storage
}

/// bilrost to a reused buffer that is filled from its end.
pub struct Bilrost(ReverseBuffer);

impl Default for Bilrost {
    fn default() -> Self {
        Self(ReverseBuffer::with_capacity(ROOM))
    }
}

impl Codec for Bilrost {
    const NAME: &'static str = "bilrost";
    const VERSION: Option<&'static str> = Some("0.1016.3");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        bilrost::Message::prepend(message, &mut self.0);
        // An empty buffer has no slice.
        if self.0.is_empty() { Some(&[]) } else { self.0.contiguous() }
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        bilrost::OwnedMessage::decode(bytes).ok()
    }

    const FRESH: Option<Fresh<Message>> =
        Some(|message| Some(bilrost::Message::encode_contiguous(message).into_vec()));
    const LENGTH: Option<Length<Message>> =
        Some(|message| Some(bilrost::Message::encoded_len(message) as u64));
    const BORROW: Option<Borrow<Self>> =
        Some(|_, bytes| bilrost::BorrowedMessage::decode_borrowed(bytes).ok());
}

codec! {
    /// prost to a vector, with a derived message: no schema compiler is needed.
    Prost(ProstMessage), "prost", Some("0.14.4");
    vec |buffer, message| prost::Message::encode(message, buffer);
    decode |bytes| prost::Message::decode(bytes);
    fresh |message| Ok::<_, ()>(prost::Message::encode_to_vec(message));
    length |message| Ok::<_, ()>(prost::Message::encoded_len(message));
}

/// rkyv to an aligned buffer, with validation.
#[derive(Default)]
pub struct Rkyv(AlignedVec);

impl Codec for Rkyv {
    const NAME: &'static str = "rkyv";
    const VERSION: Option<&'static str> = Some("0.8.18");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        let mut buffer = std::mem::take(&mut self.0);
        buffer.clear();
        self.0 = rkyv::api::high::to_bytes_in::<_, rkyv::rancor::Error>(message, buffer).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        rkyv::from_bytes::<Message, rkyv::rancor::Error>(bytes).ok()
    }

    const VIEW: Option<View> = Some(|bytes| {
        let view = rkyv::access::<ArchivedMessage, rkyv::rancor::Error>(bytes).ok()?;
        Some(std::hint::black_box(view).check())
    });
}

macro_rules! rmp_serde {
    ($(#[$doc:meta])* $name:ident, $text:literal, $write:ident, $to_vec:ident) => {
        codec! {
            $(#[$doc])*
            $name(Message), $text, Some("1.3.1");
            vec |buffer, message| rmp_serde::encode::$write(buffer, message);
            decode |bytes| rmp_serde::from_slice(bytes);
            fresh |message| rmp_serde::$to_vec(message);
            borrow |bytes| rmp_serde::from_slice(bytes);
            write |message, counter| rmp_serde::encode::$write(counter, message);
            read |reader| rmp_serde::from_read(reader);
        }
    };
}

rmp_serde! {
    /// rmp-serde, the struct as an array.
    RmpSerdeCompact, "rmp-serde compact", write, to_vec
}
rmp_serde! {
    /// rmp-serde, the struct as a map, like the Go library's MessagePack peer.
    RmpSerdeNamed, "rmp-serde named", write_named, to_vec_named
}

codec! {
    /// rmp by hand, with names and with integers as wide as their types. It has the same length as the output of the Go
    /// library, which does not shorten integers.
    RmpGoWidths(Message), "rmp, Go's widths", Some("0.8.15");
    vec |buffer, message| go_widths(buffer, message).ok_or(());
    decode |bytes| rmp_serde::from_slice(bytes);
    fresh |message| {
        let mut out = Vec::new();
        go_widths(&mut out, message).map(|()| out).ok_or(())
    };
}

fn go_widths(out: &mut Vec<u8>, message: &Message) -> Option<()> {
    // The names of the JSON fields, so that one type decodes both; Go's names have the same lengths.
    write_map_len(out, 8).ok()?;
    write_str(out, "Name").ok()?;
    write_str(out, &message.name).ok()?;
    write_str(out, "str").ok()?;
    write_str(out, &message.text).ok()?;
    write_str(out, "num").ok()?;
    write_u16(out, message.number).ok()?;
    write_str(out, "arr").ok()?;
    write_array_len(out, u32::try_from(message.values.len()).ok()?).ok()?;
    for &value in &message.values {
        write_u16(out, value).ok()?;
    }
    write_str(out, "map").ok()?;
    write_map_len(out, u32::try_from(message.map.len()).ok()?).ok()?;
    for (key, &value) in &message.map {
        write_str(out, key).ok()?;
        write_u8(out, value).ok()?;
    }
    write_str(out, "bool").ok()?;
    write_bool(out, message.flag).ok()?;
    write_str(out, "float32").ok()?;
    write_f32(out, message.float32).ok()?;
    write_str(out, "float64").ok()?;
    write_f64(out, message.float64).ok()
}

codec! {
    /// zerompk to a slice, the struct as an array.
    Zerompk(Message), "zerompk", Some("0.7.1");
    slice |buffer, message| zerompk::to_msgpack(message, buffer);
    decode |bytes| zerompk::from_msgpack(bytes);
    fresh |message| zerompk::to_msgpack_vec(message);
    borrow |bytes| zerompk::from_msgpack(bytes);
    write |message, counter| zerompk::write_msgpack(counter, message);
    read |reader| zerompk::read_msgpack(reader);
}

codec! {
    /// `tightwire-json`.
    OurJson(Message), "json", None;
    vec |buffer, message| tightwire_json::to_buf(buffer, message);
    decode |bytes| tightwire_json::from_slice(bytes);
    fresh |message| tightwire_json::to_vec(message);
}

codec! {
    /// serde_json.
    SerdeJson(Message), "serde_json", Some("1.0.154");
    vec |buffer, message| serde_json::to_writer(buffer, message);
    decode |bytes| serde_json::from_slice(bytes);
    fresh |message| serde_json::to_vec(message);
    borrow |bytes| serde_json::from_slice(bytes);
    write |message, counter| serde_json::to_writer(counter, message);
    read |reader| serde_json::from_reader(reader);
}

codec! {
    /// sonic-rs.
    SonicRs(Message), "sonic-rs", Some("0.5.10");
    vec |buffer, message| sonic_rs::to_writer(buffer, message);
    decode |bytes| sonic_rs::from_slice(bytes);
    fresh |message| sonic_rs::to_vec(message);
    borrow |bytes| sonic_rs::from_slice(bytes);
}

/// simd-json, which modifies its input: decoding copies the document into a reused buffer. Its working memory is
/// reused, too.
#[derive(Default)]
pub struct SimdJson(Vec<u8>, simd_json::Buffers);

impl Codec for SimdJson {
    const NAME: &'static str = "simd-json";
    const VERSION: Option<&'static str> = Some("0.19.0");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        simd_json::serde::to_writer(&mut self.0, message).ok()?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        self.0.clear();
        self.0.extend_from_slice(bytes);
        simd_json::serde::from_slice_with_buffers(&mut self.0, &mut self.1).ok()
    }

    const FRESH: Option<Fresh<Message>> = Some(|message| simd_json::serde::to_vec(message).ok());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::verified;
    use crate::message::{SIZES, message};

    #[test]
    fn json_and_go_widths_have_the_published_lengths() {
        for size in &SIZES {
            let message = message(size);
            assert_eq!(verified::<RmpGoWidths>(&message).len() as u64, size.msgpack_len);
            assert_eq!(verified::<OurJson>(&message).len() as u64, size.json_len);
        }
    }

    #[test]
    fn borrowed_messages_have_all_contents() {
        fn check<C: Codec<Message = Message>>(message: &Message) {
            let bytes = verified::<C>(message);
            let mut codec = C::default();
            let read = C::BORROW.and_then(|borrow| borrow(&mut codec, &bytes)).expect(C::NAME);
            assert_eq!(
                (read.name, read.text, &read.values),
                (&*message.name, &*message.text, &message.values)
            );
            assert!(
                read.map.len() == message.map.len()
                    && read.map.iter().all(|(key, value)| message.map.get(*key) == Some(value))
            );
            assert_eq!(read.check(), message.check());
        }
        let message = message(&SIZES[1]);
        check::<Wincode>(&message);
        check::<Bitcode>(&message);
        check::<Bincode1>(&message);
        check::<Bincode2Fixed>(&message);
        check::<Postcard>(&message);
        check::<SerdeZap>(&message);
        check::<Speedy>(&message);
        check::<Databuf>(&message);
        check::<MusliPacked>(&message);
        check::<Bilrost>(&message);
        check::<RmpSerdeCompact>(&message);
        check::<Zerompk>(&message);
        check::<SerdeJson>(&message);
        check::<SonicRs>(&message);
    }
}
