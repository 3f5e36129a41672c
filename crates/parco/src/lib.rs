//! Schema-first binary codec: positional, without tags, byte-compatible with the Go library of the same name.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod builder;
mod error;
mod form;
mod message;
mod options;
mod read;
pub mod schema;
mod time;
pub mod wire;
mod write;

pub use self::time::{Located, Timestamp};
pub use builder::start::{builder, builder_with, compiler, parser, parser_with};
pub use error::{Error, Fault, Segment};
pub use form::{Decode, DecodeForm, DecodeOwned, Encode, EncodeForm};
pub use message::{WireExt, decode, decode_exact, decode_into, encode, encode_to_slice, encoded_len, to_vec};
pub use options::{DuplicateKeys, Limits, Mode, Options};
#[cfg(feature = "derive")]
#[cfg(any())]
pub use parco_derive::{Decode, Encode};
pub use read::{Input, Reader};
pub use wire::{Get, Put};
pub use write::Writer;
