//! The crates of this workspace.

use std::borrow::Cow;
use std::collections::HashMap;

use tightwire_parco::wire::{Bool, F32, F64, Le, Map, Slice, SmallVarchar, StaticWire, U8, U16, Varchar};
use tightwire_parco::{Decode, Encode, Entries, Get, Put, Seq, WireExt};

use super::codec::{Borrow, View, codec};
use super::message::{Message, MessageRef, MessageType, check};

/// View of the published map.
type Scores<'a> = Entries<'a, SmallVarchar, U8, &'a str, u8>;

/// The message with headers of one width, which depends on its size: owned, borrowed and as a view.
macro_rules! layout {
    ($message:ident, $borrowed:ident, $view:ident, $derived:ident, $built:ident, $header:ident = $wire:ty) => {
        /// The published message, as a service would declare it.
        #[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
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
            /// The derived codec, to a reused buffer.
            $derived($message), "derive", None;
            vec |buffer, message| tightwire_parco::encode(message, buffer);
            decode |bytes| tightwire_parco::decode_exact(bytes);
            discard |message, counter| {
                tightwire_parco::encoded_len(message).map(|len| counter.0 += len as u64)
            };
            reader |reader| tightwire_parco::decode_from_reader(reader);
        }

        codec! {
            /// The same fields as a builder schema. It is built for each message, which is free because its closures
            /// capture nothing.
            $built($message), "builder", None;
            vec |buffer, message| $built::schema().encode(message, buffer);
            decode |bytes| $built::schema().decode_exact(bytes);
        }

        impl $built {
            fn schema() -> impl Put<$message> + for<'de> Get<'de, $message> {
                const HEADER: $wire = <$wire>::NEW;
                tightwire_parco::builder::<$message>()
                    .field(Varchar::<Le>::NEW, |message| &message.name, |message, name| message.name = name)
                    .field(Varchar::<Le>::NEW, |message| &message.text, |message, text| message.text = text)
                    .field(
                        U16::<Le>::NEW,
                        |message| &message.number,
                        |message, number| message.number = number,
                    )
                    .field(
                        Slice::of(HEADER, U16::<Le>::NEW),
                        |message| &message.values,
                        |message, values| message.values = values,
                    )
                    .field(
                        Map::of(HEADER, SmallVarchar::NEW, U8),
                        |message| &message.map,
                        |message, map| message.map = map,
                    )
                    .field(Bool, |message| &message.flag, |message, flag| message.flag = flag)
                    .field(
                        F32::<Le>::NEW,
                        |message| &message.float32,
                        |message, float32| message.float32 = float32,
                    )
                    .field(
                        F64::<Le>::NEW,
                        |message| &message.float64,
                        |message, float64| message.float64 = float64,
                    )
            }
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

layout! { Narrow, NarrowRef, NarrowView, Derived, Built, u8 = U8 }
layout! { Wide, WideRef, WideView, DerivedWide, BuiltWide, u16 = U16<Le> }
