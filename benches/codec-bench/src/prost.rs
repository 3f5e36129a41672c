//! prost, with a derived message: no schema compiler is needed.

use std::borrow::Cow;
use std::collections::HashMap;

use prost::Message as _;

use super::codec::codec;
use super::message::{Message, MessageType, check};

/// The message with the types of Protocol Buffers.
#[derive(Clone, PartialEq, ::prost::Message)]
#[allow(missing_docs, reason = "self-explanatory names")]
pub struct ProstMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub text: String,
    #[prost(uint32, tag = "3")]
    pub number: u32,
    #[prost(uint32, repeated, tag = "4")]
    pub values: Vec<u32>,
    #[prost(map = "string, uint32", tag = "5")]
    pub map: HashMap<String, u32>,
    #[prost(bool, tag = "6")]
    pub flag: bool,
    #[prost(float, tag = "7")]
    pub float32: f32,
    #[prost(double, tag = "8")]
    pub float64: f64,
}

impl MessageType for ProstMessage {
    fn from_message(message: &Message) -> Cow<'_, Self> {
        Cow::Owned(Self {
            name: message.name.clone(),
            text: message.text.clone(),
            number: u32::from(message.number),
            values: message.values.iter().copied().map(u32::from).collect(),
            map: message.map_as(|key| key, u32::from),
            flag: message.flag,
            float32: message.float32,
            float64: message.float64,
        })
    }
}

check!(ProstMessage);

codec! {
    /// prost to a vector.
    Prost(ProstMessage), "prost", Some("0.14.4");
    vec |buffer, message| message.encode(buffer);
    decode |bytes| ProstMessage::decode(bytes);
    fresh |message| Ok::<_, ()>(message.encode_to_vec());
}
