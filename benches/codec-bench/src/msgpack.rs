//! MessagePack, for the rows that the report shows next to the Go library.

use std::io::Read;

use rmp::encode::{
    write_array_len, write_bool, write_f32, write_f64, write_map_len, write_str, write_u8, write_u16,
};

use super::codec::{Borrow, Codec, Counter, Discard, Fresh, FromReader};
use super::message::{Message, MessageRef};

const RMP_SERDE: &str = "1.3.1";

macro_rules! rmp_serde {
    ($(#[$doc:meta])* $name:ident, $text:literal, $write:ident, $to_vec:ident) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $name(Vec<u8>);

        impl Codec for $name {
            const NAME: &'static str = $text;
            const VERSION: Option<&'static str> = Some(RMP_SERDE);
            type Message = Message;

            fn encode(&mut self, message: &Message) -> Option<&[u8]> {
                self.0.clear();
                rmp_serde::encode::$write(&mut self.0, message).ok()?;
                Some(&self.0)
            }

            fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
                rmp_serde::from_slice(bytes).ok()
            }
        }

        impl Fresh for $name {
            fn fresh(message: &Message) -> Option<Vec<u8>> {
                rmp_serde::$to_vec(message).ok()
            }
        }

        impl Borrow for $name {
            fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
                rmp_serde::from_slice(bytes).ok()
            }
        }

        impl Discard for $name {
            fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
                rmp_serde::encode::$write(counter, message).ok()
            }
        }

        impl FromReader for $name {
            fn from_reader(reader: &mut impl Read) -> Option<Message> {
                rmp_serde::from_read(reader).ok()
            }
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

/// rmp by hand, with names and with integers as wide as their types. It has the same length as the output of the Go
/// library, which does not shorten integers.
#[derive(Debug, Default)]
pub struct RmpGoWidths(Vec<u8>);

fn write_go_widths(out: &mut Vec<u8>, message: &Message) -> Option<()> {
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

impl Codec for RmpGoWidths {
    const NAME: &'static str = "rmp, Go's widths";
    const VERSION: Option<&'static str> = Some("0.8.15");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        self.0.clear();
        write_go_widths(&mut self.0, message)?;
        Some(&self.0)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        rmp_serde::from_slice(bytes).ok()
    }
}

impl Fresh for RmpGoWidths {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        write_go_widths(&mut out, message)?;
        Some(out)
    }
}

/// zerompk to a slice, the struct as an array.
#[derive(Debug)]
pub struct Zerompk(Vec<u8>);

impl Default for Zerompk {
    fn default() -> Self {
        Self(vec![0; super::peers::ROOM])
    }
}

impl Codec for Zerompk {
    const NAME: &'static str = "zerompk";
    const VERSION: Option<&'static str> = Some("0.7.1");
    type Message = Message;

    fn encode(&mut self, message: &Message) -> Option<&[u8]> {
        let len = zerompk::to_msgpack(message, &mut self.0).ok()?;
        self.0.get(..len)
    }

    fn decode(&mut self, bytes: &[u8]) -> Option<Message> {
        zerompk::from_msgpack(bytes).ok()
    }
}

impl Fresh for Zerompk {
    fn fresh(message: &Message) -> Option<Vec<u8>> {
        zerompk::to_msgpack_vec(message).ok()
    }
}

impl Borrow for Zerompk {
    fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
        zerompk::from_msgpack(bytes).ok()
    }
}

impl Discard for Zerompk {
    fn discard(message: &Message, counter: &mut Counter) -> Option<()> {
        zerompk::write_msgpack(counter, message).ok()
    }
}

impl FromReader for Zerompk {
    fn from_reader(reader: &mut impl Read) -> Option<Message> {
        zerompk::read_msgpack(reader).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::verified;
    use crate::payload::{Size, message};

    #[test]
    fn go_widths_match_the_published_lengths() {
        for size in Size::ALL {
            assert_eq!(verified::<RmpGoWidths>(&message(size)).len() as u64, size.msgpack_len());
        }
    }
}
