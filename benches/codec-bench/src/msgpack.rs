//! MessagePack, for the rows that the report shows next to the Go library.

use rmp::encode::{
    write_array_len, write_bool, write_f32, write_f64, write_map_len, write_str, write_u8, write_u16,
};

use super::codec::codec;
use super::message::Message;

const RMP_SERDE: &str = "1.3.1";

macro_rules! rmp_serde {
    ($(#[$doc:meta])* $name:ident, $text:literal, $write:ident, $to_vec:ident) => {
        codec! {
            $(#[$doc])*
            $name(Message), $text, Some(RMP_SERDE);
            vec |buffer, message| rmp_serde::encode::$write(buffer, message);
            decode |bytes| rmp_serde::from_slice(bytes);
            fresh |message| rmp_serde::$to_vec(message);
            borrow |bytes| rmp_serde::from_slice(bytes);
            discard |message, counter| rmp_serde::encode::$write(counter, message);
            reader |reader| rmp_serde::from_read(reader);
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
    vec |buffer, message| write_go_widths(buffer, message).ok_or(());
    decode |bytes| rmp_serde::from_slice(bytes);
    fresh |message| {
        let mut out = Vec::new();
        write_go_widths(&mut out, message).map(|()| out).ok_or(())
    };
}

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

codec! {
    /// zerompk to a slice, the struct as an array.
    Zerompk(Message), "zerompk", Some("0.7.1");
    slice |buffer, message| zerompk::to_msgpack(message, buffer);
    decode |bytes| zerompk::from_msgpack(bytes);
    fresh |message| zerompk::to_msgpack_vec(message);
    borrow |bytes| zerompk::from_msgpack(bytes);
    discard |message, counter| zerompk::write_msgpack(counter, message);
    reader |reader| zerompk::read_msgpack(reader);
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
