//! Peers that are set up to write the same bytes as the original.
//!
//! The width of the headers depends on the size of the message, so that each peer has two types of message.
#![allow(clippy::mem_forget, reason = "in the code that a peer's derive writes")]

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;

use wincode::config::{Configuration, DEFAULT_PREALLOCATION_SIZE_LIMIT};
use wincode::containers;

use super::codec::{Codec, Counter, Discard};
use super::message::{Form, Message, check};
use super::peers::{ROOM, SPEEDY, WINCODE};

/// Implements what the two forms of a message have in common.
macro_rules! form {
    ($name:ident, $text:expr, $map:expr) => {
        impl Form for $name {
            fn of(message: &Message) -> Cow<'_, Self> {
                Cow::Owned(Self {
                    name: $text(message.name.clone()),
                    text: $text(message.text.clone()),
                    number: message.number,
                    values: message.values.clone(),
                    map: $map(message),
                    flag: message.flag,
                    float32: message.float32,
                    float64: message.float64,
                })
            }
        }

        check!($name);
    };
}

/// Keys take the configured encoding of lengths, for which a key has no override.
type Layout = Configuration<true, DEFAULT_PREALLOCATION_SIZE_LIMIT, u8>;
const LAYOUT: Layout = Configuration::default().with_length_encoding::<u8>();

macro_rules! wincode_layout {
    ($(#[$doc:meta])* $message:ident, $codec:ident, $values:tt, $map:tt) => {
        /// The message as wincode has to see it. Only a vector of bytes can have a header of its own, not a text.
        #[derive(Clone, Debug, PartialEq, ::wincode::SchemaRead, ::wincode::SchemaWrite)]
        #[allow(missing_docs, reason = "the names say it all")]
        pub struct $message {
            #[wincode(with = "containers::Vec<u8, u16>")]
            pub name: Vec<u8>,
            #[wincode(with = "containers::Vec<u8, u16>")]
            pub text: Vec<u8>,
            pub number: u16,
            #[wincode(with = $values)]
            pub values: Vec<u16>,
            #[wincode(with = $map)]
            pub map: HashMap<String, u8>,
            pub flag: bool,
            pub float32: f32,
            pub float64: f64,
        }

        form!($message, String::into_bytes, |message: &Message| message.map_as(std::convert::identity, std::convert::identity));

        $(#[$doc])*
        #[derive(Debug)]
        pub struct $codec(Vec<u8>);

        impl Default for $codec {
            fn default() -> Self {
                Self(vec![0; ROOM])
            }
        }

        impl Codec for $codec {
            const NAME: &'static str = "wincode, parco layout";
            const VERSION: Option<&'static str> = Some(WINCODE);
            type Message = $message;

            fn encode(&mut self, message: &$message) -> Option<&[u8]> {
                let mut rest = &mut self.0[..];
                wincode::config::serialize_into(&mut rest, message, LAYOUT).ok()?;
                let len = ROOM - rest.len();
                self.0.get(..len)
            }

            fn decode(&mut self, bytes: &[u8]) -> Option<$message> {
                let message: $message = wincode::config::deserialize(bytes, LAYOUT).ok()?;
                // The texts came as bytes; everybody else checks them.
                let texts = [&message.name, &message.text];
                texts.iter().all(|text| std::str::from_utf8(text).is_ok()).then_some(message)
            }
        }

        impl Discard for $codec {
            fn discard(message: &$message, counter: &mut Counter) -> Option<()> {
                wincode::config::serialize_into(counter, message, LAYOUT).ok()
            }
        }
    };
}

wincode_layout! {
    /// wincode with headers of one byte, for less than 256 entries.
    WincodeNarrow, WincodeLayout, "containers::Vec<u16, u8>", "containers::HashMap<String, u8, u8, RandomState>"
}
wincode_layout! {
    /// wincode with headers of two bytes.
    WincodeWide, WincodeWideLayout, "containers::Vec<u16, u16>", "containers::HashMap<String, u8, u16, RandomState>"
}

/// A key with a header of one byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash, ::speedy::Readable, ::speedy::Writable)]
pub struct Key(#[speedy(length_type = u8)] String);

macro_rules! speedy_layout {
    ($(#[$doc:meta])* $message:ident, $codec:ident, $header:tt) => {
        /// The message as speedy has to see it.
        #[derive(Clone, Debug, PartialEq, ::speedy::Readable, ::speedy::Writable)]
        #[allow(missing_docs, reason = "the names say it all")]
        pub struct $message {
            #[speedy(length_type = u16)]
            pub name: String,
            #[speedy(length_type = u16)]
            pub text: String,
            pub number: u16,
            #[speedy(length_type = $header)]
            pub values: Vec<u16>,
            #[speedy(length_type = $header)]
            pub map: HashMap<Key, u8>,
            pub flag: bool,
            pub float32: f32,
            pub float64: f64,
        }

        form!($message, std::convert::identity, |message: &Message| message.map_as(Key, std::convert::identity));

        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $codec(Vec<u8>);

        impl Codec for $codec {
            const NAME: &'static str = "speedy, parco layout";
            const VERSION: Option<&'static str> = Some(SPEEDY);
            type Message = $message;

            fn encode(&mut self, message: &$message) -> Option<&[u8]> {
                self.0.clear();
                speedy::Writable::write_to_stream(message, &mut self.0).ok()?;
                Some(&self.0)
            }

            fn decode(&mut self, bytes: &[u8]) -> Option<$message> {
                speedy::Readable::read_from_buffer(bytes).ok()
            }
        }

        impl Discard for $codec {
            fn discard(message: &$message, counter: &mut Counter) -> Option<()> {
                speedy::Writable::write_to_stream(message, counter).ok()
            }
        }
    };
}

speedy_layout! {
    /// speedy with headers of one byte, for less than 256 entries.
    SpeedyNarrow, SpeedyLayout, u8
}
speedy_layout! {
    /// speedy with headers of two bytes.
    SpeedyWide, SpeedyWideLayout, u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::verified;
    use crate::payload::{Size, message};
    use crate::reference;

    fn same_bytes<C: Codec>(message: &Message, bytes: &[u8]) {
        assert_eq!(*verified::<C>(&C::Message::of(message)), *bytes, "{}", C::NAME);
    }

    #[test]
    fn layouts_give_the_bytes_of_the_vector() {
        let (message, bytes) = reference::vector();
        same_bytes::<WincodeLayout>(&message, &bytes);
        same_bytes::<SpeedyLayout>(&message, &bytes);
    }

    #[test]
    fn layouts_give_the_bytes_of_the_published_messages() {
        for size in [Size::Small, Size::Medium] {
            let message = message(size);
            same_bytes::<WincodeLayout>(&message, &reference::parco(&message));
            same_bytes::<SpeedyLayout>(&message, &reference::parco(&message));
        }
        let message = message(Size::Large);
        same_bytes::<WincodeWideLayout>(&message, &reference::parco(&message));
        same_bytes::<SpeedyWideLayout>(&message, &reference::parco(&message));
    }
}
