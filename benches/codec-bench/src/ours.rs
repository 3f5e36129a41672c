//! The crates of this workspace.

use std::borrow::Cow;
use std::collections::HashMap;

use tightwire_parco::wire::{Le, SmallVarchar, U8, U16};
use tightwire_parco::{Decode, Encode, Entries, Seq};

use super::codec::{Borrow, View, codec};
use super::message::{Message, MessageRef, MessageType, check};

/// View of the map in the published message.
type Scores<'a> = Entries<'a, SmallVarchar, U8, &'a str, u8>;

/// The message with headers of one width, which depends on its size: owned, borrowed and as a view.
macro_rules! layout {
    ($message:ident, $borrowed:ident, $view:ident, $derived:ident, $header:ident) => {
        /// The published message, as a service would declare it.
        #[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
        #[parco(go)]
        #[allow(missing_docs, reason = "self-explanatory names")]
        pub struct $message {
            pub name: String,
            pub text: String,
            pub number: u16,
            #[parco(header = $header)]
            pub values: Vec<u16>,
            #[parco(header = $header, key(small))]
            pub map: HashMap<String, u8>,
            pub flag: bool,
            pub float32: f32,
            pub float64: f64,
        }

        /// The same with strings and keys that borrow from the bytes.
        #[derive(Debug, Decode)]
        #[parco(go)]
        struct $borrowed<'a> {
            name: &'a str,
            text: &'a str,
            number: u16,
            #[parco(header = $header)]
            values: Vec<u16>,
            #[parco(header = $header, key(small))]
            map: HashMap<&'a str, u8>,
            flag: bool,
            float32: f32,
            float64: f64,
        }

        /// A view of the message.
        #[derive(Debug, Decode)]
        #[parco(go)]
        #[allow(missing_docs, reason = "self-explanatory names")]
        pub struct $view<'a> {
            pub name: &'a str,
            pub text: &'a str,
            pub number: u16,
            #[parco(header = $header)]
            pub values: Seq<'a, U16<Le>, u16>,
            #[parco(header = $header)]
            pub map: Scores<'a>,
            pub flag: bool,
            pub float32: f32,
            pub float64: f64,
        }

        impl MessageType for $message {
            fn from_message(message: &Message) -> Cow<'_, Self> {
                let Message { name, text, number, values, map, flag, float32, float64 } = message.clone();
                Cow::Owned(Self { name, text, number, values, map, flag, float32, float64 })
            }
        }

        check!($message);

        check!($view<'_>, |message| {
            message.values.len().checked_sub(1).and_then(|last| message.values.get(last)).unwrap_or_default()
        });

        codec! {
            /// The derived codec.
            $derived($message), "derive", None;
            vec |buffer, message| tightwire_parco::encode(message, buffer);
            decode |bytes| tightwire_parco::decode_exact(bytes);
            fresh |message| tightwire_parco::to_vec(message);
            discard |message, counter| {
                tightwire_parco::encoded_len(message).map(|len| counter.0 += len as u64)
            };
            reader |reader| tightwire_parco::decode_from_reader(reader);
        }

        impl Borrow for $derived {
            fn borrow<'b>(&mut self, bytes: &'b [u8]) -> Option<MessageRef<'b>> {
                let $borrowed { name, text, number, values, map, flag, float32, float64 } =
                    tightwire_parco::decode_exact(bytes).ok()?;
                Some(MessageRef { name, text, number, values, map, flag, float32, float64 })
            }
        }

        impl View for $derived {
            type View<'b> = $view<'b>;

            fn view(bytes: &[u8]) -> Option<$view<'_>> {
                tightwire_parco::decode_exact(bytes).ok()
            }

            fn copied(view: &$view<'_>) -> Option<Message> {
                Some(Message {
                    name: view.name.to_owned(),
                    text: view.text.to_owned(),
                    number: view.number,
                    values: view.values.iter().collect(),
                    map: view.map.iter().map(|(key, value)| (key.to_owned(), value)).collect(),
                    flag: view.flag,
                    float32: view.float32,
                    float64: view.float64,
                })
            }
        }
    };
}

layout! { Narrow, NarrowRef, NarrowView, Derived, u8 }
layout! { Wide, WideRef, WideView, DerivedWide, u16 }
