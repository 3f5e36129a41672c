//! Schema-first binary codec: positional, without tags, byte-compatible with the Go library of the same name.
//!
//! ```
//! use std::collections::HashMap;
//!
//! use tightwire_parco::{Decode, Encode};
//!
//! #[derive(Debug, PartialEq, Encode, Decode)]
//! struct User<'a> {
//!     name: &'a str,
//!     #[parco(header = u8, key(small))]
//!     grades: HashMap<&'a str, u8>,
//!     #[parco(be)]
//!     port: u16,
//!     email: Option<String>,
//! }
//!
//! let user = User { name: "ana", grades: HashMap::from([("math", 9)]), port: 80, email: None };
//! let bytes = tightwire_parco::to_vec(&user)?;
//! assert_eq!(bytes, [3, 0, b'a', b'n', b'a', 1, 4, b'm', b'a', b't', b'h', 9, 0, 80, 0]);
//! assert_eq!(tightwire_parco::decode_exact::<User<'_>>(&bytes)?, user);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! A message is its fields in order of declaration and nothing else: no names, no tags, no version. Both sides have the
//! schema. It can be written in three ways that give the same bytes: derived from a type as above, put together by
//! [`builder`](mod@builder) as in Go, or as data by a [`schema::Schema`].
//!
//! # Where to start
//!
//! | task | use | feature |
//! | --- | --- | --- |
//! | a type of one's own | [`#[derive(Encode, Decode)]`](derive@Encode): the page has all attributes | `derive` (default) |
//! | a type of another crate, several schemas of one type | [`builder()`], or [`compiler`] and [`parser`] | |
//! | messages in memory | [`to_vec`], [`encode`], [`decode_exact`], [`decode`] | |
//! | messages on a `std::io` stream | [`Encoder`], [`Decoder`] | `std` (default) |
//! | messages on a stream of tokio | `StreamCodec`, `FrameCodec` | `codec` |
//! | several types on one stream | an enum with `#[parco(id = ..)]`, or a [`Registry`] | |
//! | other limits, the leniency of Go | [`Options`], [`Limits`] | |
//! | a value in another form than its type has | [`WireExt`] with the forms of [`wire`] | |
//! | messages whose types are known at run time only | [`schema`] | `schema-json` for text |
//!
//! Besides, `bytes` adds `encode_to_buf`, and `chrono`, `jiff` and `time` make points in time of the types of these
//! crates. Without `std` the crate is `no_std` with `alloc`, and has neither streams nor forms of `HashMap` and
//! `SystemTime`.
//!
//! # Promised
//!
//! - The bytes are those of the Go library, and its readers accept what is written here.
//! - Foreign bytes lead to a value or an [`Error`] with kind, offset and path. Memory follows the bytes that are there
//!   and not those that a header claims; [`Limits`] bound it further.
//! - Encoding and decoding stop at the same nesting depth ([`Limits::max_depth`]), so that a message that was written is
//!   not too deep to be read.
//! - An error leaves a vector or buffer as it was; a slice that is written to is not specified then.
//! - Encoding into a vector that is used again allocates nothing, but to sort a [`wire::SortedMap`].
//!
//! # Not promised
//!
//! - The format does not describe itself: bytes of another schema may decode to nonsense. [`schema::evolution`] tells
//!   which changes both sides survive, and [`schema::Fingerprint`] when a schema has changed.
//! - Maps are written in the order in which they iterate; [`wire::SortedMap`] is for reproducible bytes.
//! - Where the Go library is lenient, this crate is strict unless [`Mode::Compat`] is asked for. What Go returns half
//!   decoded without an error is always an error here.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

pub mod builder;
#[cfg(feature = "codec")]
mod codec;
mod error;
mod default_wire;
#[cfg(feature = "std")]
mod io;
mod message;
mod options;
mod read;
mod registry;
pub mod schema;
mod text;
mod time;
mod view;
pub mod wire;
mod write;

pub use self::time::{ZonedTimestamp, Timestamp};
pub use builder::start::{builder, builder_with, compiler, parser, parser_with};
#[cfg(feature = "codec")]
pub use codec::{FrameCodec, StreamCodec};
pub use error::{Error, Fault, Segment};
pub use default_wire::{Decode, DecodeAs, DecodeOwned, Encode, EncodeAs};
#[cfg(feature = "std")]
pub use io::{Decoder, Encoder, decode_from_reader, encode_to_writer};
#[cfg(feature = "bytes")]
pub use message::encode_to_buf;
pub use message::{WireExt, decode, decode_exact, decode_into, encode, encode_to_slice, encoded_len, to_vec};
pub use options::{DuplicateKeys, Levels, Limits, Mode, Options};
#[cfg(feature = "derive")]
pub use tightwire_parco_derive::{Decode, Encode};
pub use read::{Input, Reader};
pub use registry::{Frame, Frames, HasId, Registry};
pub use view::{Entries, EntriesIter, Seq, SeqIter};
pub use wire::{Get, Put};
#[cfg(feature = "bytes")]
pub use write::Reserve;
pub use write::Writer;
