//! The type of the records. Replace it by the types of the files to convert.
//!
//! The derive macros of the source format must be those that the files were written with. The others can be removed,
//! together with their arms in `Format::read`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One record of a file.
#[derive(
    Debug,
    PartialEq,
    Serialize,
    Deserialize,
    bincode::Encode,
    bincode::Decode,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
    tightwire_parco::Encode,
    tightwire_parco::Decode,
)]
pub struct Record {
    /// Identifier.
    pub id: u64,
    /// Milliseconds since 1970.
    pub at: i64,
    /// Name of the device.
    pub device: String,
    /// Labels, in any order.
    pub labels: Vec<String>,
    /// Measured values by name.
    pub values: BTreeMap<String, f64>,
    /// Remark of an operator.
    pub note: Option<String>,
    /// Event that the record is about.
    pub event: Event,
}

/// Event of a device.
#[derive(
    Debug,
    PartialEq,
    Serialize,
    Deserialize,
    bincode::Encode,
    bincode::Decode,
    borsh::BorshSerialize,
    borsh::BorshDeserialize,
    tightwire_parco::Encode,
    tightwire_parco::Decode,
)]
pub enum Event {
    /// It was started.
    Started,
    /// It stopped with this exit code.
    Stopped(i32),
    /// It received an update.
    Updated {
        /// Version after the update.
        version: String,
        /// Bytes of the update.
        size: u32,
    },
}
