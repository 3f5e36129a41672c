//! Schema-first binary codec: positional, without tags, byte-compatible with the Go library of the same name.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod builder;
#[cfg(feature = "codec")]
mod codec;
mod error;
mod form;
#[cfg(feature = "std")]
mod io;
mod message;
mod options;
mod read;
mod registry;
pub mod schema;
mod time;
mod view;
pub mod wire;
mod write;

pub use self::time::{Located, Timestamp};
pub use builder::start::{builder, builder_with, compiler, parser, parser_with};
#[cfg(feature = "codec")]
pub use codec::{FrameCodec, StreamCodec};
pub use error::{Error, Fault, Segment};
pub use form::{Decode, DecodeForm, DecodeOwned, Encode, EncodeForm};
#[cfg(feature = "std")]
pub use io::{Decoder, Encoder, decode_from_reader, encode_to_writer};
#[cfg(feature = "bytes")]
pub use message::encode_to_buf;
pub use message::{WireExt, decode, decode_exact, decode_into, encode, encode_to_slice, encoded_len, to_vec};
pub use options::{DuplicateKeys, Limits, Mode, Options};
#[cfg(feature = "derive")]
pub use parco_derive::{Decode, Encode};
pub use read::{Input, Reader};
pub use registry::{Frame, Frames, Identified, Registry};
pub use view::{Entries, EntriesIter, Seq, SeqIter};
pub use wire::{Get, Put};
pub use write::Writer;
