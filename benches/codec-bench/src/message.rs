//! The published message, as peers derive it.
#![allow(clippy::mem_forget, reason = "in the code that a peer's derive writes")]

use std::borrow::Cow;
use std::collections::HashMap;

/// The eight fields of the published message, in their order.
///
/// The names of the fields are those of the published JSON. Every derive keeps the codec's own layout.
#[derive(
    Clone,
    Debug,
    PartialEq,
    ::serde::Serialize,
    ::serde::Deserialize,
    ::bincode::Encode,
    ::bincode::Decode,
    ::bitcode::Encode,
    ::bitcode::Decode,
    ::borsh::BorshSerialize,
    ::borsh::BorshDeserialize,
    ::nanoserde::SerBin,
    ::nanoserde::DeBin,
    ::rkyv::Archive,
    ::rkyv::Serialize,
    ::rkyv::Deserialize,
    ::savefile_derive::Savefile,
    ::speedy::Readable,
    ::speedy::Writable,
    ::wincode::SchemaRead,
    ::wincode::SchemaWrite,
    ::zerompk::FromMessagePack,
    ::zerompk::ToMessagePack,
)]
#[rkyv(derive(Debug))]
#[allow(missing_docs, reason = "the names say it all")]
pub struct Message {
    #[serde(rename = "Name")]
    pub name: String,
    #[serde(rename = "str")]
    pub text: String,
    #[serde(rename = "num")]
    pub number: u16,
    #[serde(rename = "arr")]
    pub values: Vec<u16>,
    pub map: HashMap<String, u8>,
    #[serde(rename = "bool")]
    pub flag: bool,
    pub float32: f32,
    pub float64: f64,
}

/// A type that holds the message in the form that a codec needs.
pub trait Form: Clone {
    /// The message in this form. It is borrowed where it has the form already, so that all read the same memory.
    fn of(message: &Message) -> Cow<'_, Self>;
}

impl Form for Message {
    fn of(message: &Message) -> Cow<'_, Self> {
        Cow::Borrowed(message)
    }
}

impl Message {
    /// The entries of the map in another form, in a map that has the same order.
    ///
    /// The order follows from hasher, capacity and the order of insertion, provided that the new key hashes like a
    /// `str`.
    pub fn map_as<K, V>(&self, key: impl Fn(String) -> K, value: impl Fn(u8) -> V) -> HashMap<K, V>
    where
        K: Eq + std::hash::Hash,
    {
        let mut map = HashMap::with_capacity_and_hasher(self.map.len(), self.map.hasher().clone());
        for index in 0..self.map.len() {
            let name = index.to_string();
            if let Some(&number) = self.map.get(&name) {
                map.insert(key(name), value(number));
            }
        }
        map
    }
}

/// The message with texts and keys that borrow from the encoded bytes.
#[derive(
    Clone,
    Debug,
    PartialEq,
    ::serde::Deserialize,
    ::bincode::BorrowDecode,
    ::bitcode::Decode,
    ::speedy::Readable,
    ::wincode::SchemaRead,
    ::zerompk::FromMessagePack,
)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct MessageRef<'a> {
    #[serde(rename = "Name")]
    pub name: &'a str,
    #[serde(rename = "str")]
    pub text: &'a str,
    #[serde(rename = "num")]
    pub number: u16,
    #[serde(rename = "arr")]
    pub values: Vec<u16>,
    #[serde(borrow)]
    pub map: HashMap<&'a str, u8>,
    #[serde(rename = "bool")]
    pub flag: bool,
    pub float32: f32,
    pub float64: f64,
}

impl MessageRef<'_> {
    /// Copies everything that borrows.
    pub fn copied(&self) -> Message {
        Message {
            name: self.name.to_owned(),
            text: self.text.to_owned(),
            number: self.number,
            values: self.values.clone(),
            map: self.map.iter().map(|(&key, &value)| (key.to_owned(), value)).collect(),
            flag: self.flag,
            float32: self.float32,
            float64: self.float64,
        }
    }
}

/// A value to compare, to which every field contributes.
///
/// It costs a few nanoseconds whatever the size, for it takes lengths instead of contents. That contents agree as well
/// is checked before anything is timed.
pub trait Check {
    /// The value, never 0 for the published messages.
    fn check(&self) -> u64;
}

/// What a check value is made of.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it all")]
pub struct Parts {
    /// Length in bytes.
    pub name: usize,
    /// Length in bytes.
    pub text: usize,
    pub number: u64,
    /// How many values there are.
    pub values: usize,
    pub last: u64,
    /// How many entries the map has.
    pub entries: usize,
    pub flag: bool,
    pub float32: f32,
    pub float64: f64,
}

impl Parts {
    /// The check value. The rotations keep one field from making up for another.
    pub fn check(self) -> u64 {
        let lengths = (self.name as u64) ^ (self.text as u64).rotate_left(12);
        let counts = (self.values as u64).rotate_left(24) ^ (self.entries as u64).rotate_left(36);
        let numbers = self.number.rotate_left(48) ^ self.last.rotate_left(7) ^ u64::from(self.flag);
        lengths
            ^ counts
            ^ numbers
            ^ u64::from(self.float32.to_bits()).rotate_left(17)
            ^ self.float64.to_bits()
    }
}

/// Implements [`Check`] for a type with the fields of the message, whatever they are made of.
macro_rules! check {
    ($type:ty) => {
        check!($type, |message| message.values.last().copied().unwrap_or_default());
    };
    ($type:ty, |$message:ident| $last:expr) => {
        impl $crate::message::Check for $type {
            fn check(&self) -> u64 {
                let $message = self;
                let parts = $crate::message::Parts {
                    name: $message.name.len(),
                    text: $message.text.len(),
                    number: u64::from($message.number),
                    values: $message.values.len(),
                    last: u64::from($last),
                    entries: $message.map.len(),
                    flag: $message.flag,
                    float32: $message.float32,
                    float64: $message.float64,
                };
                parts.check()
            }
        }
    };
}

pub(super) use check;

check!(Message);
check!(MessageRef<'_>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{Size, message};

    #[test]
    fn every_field_changes_the_check() {
        let whole = message(Size::Small);
        let changes: [fn(&mut Message); 9] = [
            |message| message.name.push('x'),
            |message| message.text.push('x'),
            |message| message.number += 1,
            |message| message.values.push(7),
            |message| message.values[9] += 1,
            |message| message.map.retain(|key, _| key != "0"),
            |message| message.flag = false,
            |message| message.float32 = 1.0,
            |message| message.float64 = 1.0,
        ];
        for (index, change) in changes.iter().enumerate() {
            let mut other = whole.clone();
            change(&mut other);
            assert_ne!(other.check(), whole.check(), "change {index}");
        }
    }

    #[test]
    fn maps_in_another_form_have_the_same_order() {
        let whole = message(Size::Large);
        let other = whole.map_as(|key| key, u32::from);
        assert!(whole.map.keys().eq(other.keys()));
        assert!(whole.map.keys().eq(whole.clone().map.keys()));
    }
}
