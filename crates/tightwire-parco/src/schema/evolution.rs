//! Guide: changing messages while old readers and writers are deployed.
//!
//! The format contains no field names and no tags, and only evolve structs have a length. A reader decodes the fields it
//! knows, in order, and cannot detect that a field was inserted or removed. Almost every change therefore requires all
//! readers and writers to be updated at once, with the exceptions in the table.
//!
//! Each cell has two results: an old reader decodes a new message, then a new reader decodes an old message.
//!
//! | result | meaning |
//! |---|---|
//! | yes | the value that was written |
//! | default | the value that was written, with the default of its type in fields that the message does not contain |
//! | error | an error, always |
//! | wrong | another value, or an error |
//! | mismatch | [`Error::is_schema_mismatch`](crate::Error::is_schema_mismatch) |
//!
//! The first column is a struct without `evolve` that is the last part of a message, read with
//! [`decode`](crate::decode); the second is one inside of another struct or collection. The last is either in a
//! stream or frame that starts with the fingerprint of the type.
//!
//! | change | struct at the end | nested struct | evolve struct, anywhere | with fingerprint |
//! |---|---|---|---|---|
//! | rename a field or type | yes, yes | yes, yes | yes, yes | yes, yes |
//! | append a field with `default_on_eof` | yes, default | wrong, wrong | yes, default | mismatch, mismatch |
//! | append a field without it | yes, error | wrong, wrong | yes, error | mismatch, mismatch |
//! | remove the last field, with `default_on_eof` | default, yes | wrong, wrong | default, yes | mismatch, mismatch |
//! | remove the last field, without it | error, yes | wrong, wrong | error, yes | mismatch, mismatch |
//! | replace reserved bytes with a field | yes, default | yes, default | yes, default | mismatch, mismatch |
//! | add an enum variant | error, yes | error, yes | error, yes | mismatch, mismatch |
//! | remove an enum variant | yes, error | yes, error | yes, error | mismatch, mismatch |
//! | rename an enum variant | yes, yes | yes, yes | yes, yes | mismatch, mismatch |
//! | insert an enum variant | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | swap two enum variants | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | give a value another meaning | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | insert a field | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | reorder fields | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | swap two fields of the same type | wrong, wrong | wrong, wrong | wrong, wrong | wrong, wrong |
//! | widen a number | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | change the type of a length | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | make a field optional | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//! | change a byte order | wrong, wrong | wrong, wrong | wrong, wrong | mismatch, mismatch |
//!
//! Enum results are those of a message with a variant that the change concerns; other variants are not affected. Variants
//! are inserted and swapped without explicit ids. Adding or removing `evolve`
//! changes the encoding, and is as wrong as inserting a field.
//!
//! # Names
//!
//! Names of fields and types are not encoded. They can change at any time. The names of variants are not encoded either, but
//! they are part of the fingerprint, because nothing else tells variants with the same fields apart.
//!
//! # Evolve structs
//!
//! A struct with `#[parco(evolve)]` is encoded as a [`Varint`](crate::wire::Varint) with the length of the fields in bytes,
//! then the fields. Fields can be added at its end wherever it is: in other structs, in collections, options and enum
//! variants, and in streams without frames. An old reader skips the bytes of fields that it does not know. A new reader
//! decodes fields with `default_on_eof` as their default if the struct ends before them; other fields are required.
//! A field that becomes required is a change: messages of the first writers end before it.
//!
//! ```
//! use tightwire_parco::{Decode, Encode, decode_exact, to_vec};
//!
//! mod first {
//!     #[derive(Debug, PartialEq, tightwire_parco::Encode, tightwire_parco::Decode)]
//!     #[parco(evolve)]
//!     pub struct User {
//!         pub name: String,
//!     }
//! }
//!
//! #[derive(Debug, PartialEq, Encode, Decode)]
//! #[parco(evolve)]
//! struct User {
//!     name: String,
//!     #[parco(default_on_eof)]
//!     email: Option<String>,
//! }
//!
//! let old = to_vec(&vec![first::User { name: "ana".into() }])?;
//! assert_eq!(old, [1, 4, 3, b'a', b'n', b'a']);
//! let new = vec![User { name: "ana".into(), email: None }];
//! assert_eq!(decode_exact::<Vec<User>>(&old)?, new);
//! assert_eq!(decode_exact::<Vec<first::User>>(&to_vec(&new)?)?, [first::User { name: "ana".into() }]);
//! # Ok::<(), tightwire_parco::Error>(())
//! ```
//!
//! A struct that ends inside a field, or before a required field, is malformed
//! ([`Error::is_invalid_value`](crate::Error::is_invalid_value)): the bytes of an older version end between two fields.
//! If the input ends before the struct does, it is truncated
//! ([`Error::is_unexpected_end`](crate::Error::is_unexpected_end)).
//!
//! A reader does not keep the fields that it skips: what an old program decodes and encodes again is a message of the old
//! version. Builders have [`evolve`](crate::builder::Builder::evolve). [`Schema::Evolve`](super::Schema::Evolve) contains
//! which fields are required, and a [`Dynamic`](super::Dynamic) returns only the fields that a message has. The Go library
//! has no such type.
//!
//! # Fields at the end
//!
//! A reader that knows only the first fields of a message decodes these: [`decode`](crate::decode) returns the
//! remaining bytes, [`decode_exact`](crate::decode_exact) rejects them. Conversely, a reader that knows more fields
//! reaches the end of the input early. The derived decoder then uses defaults for fields with `default_on_eof`, which
//! all following fields need as well; `Option` fields are a natural fit. This attribute is not part of a schema: a
//! [`Dynamic`](super::Dynamic) requires all fields.
//!
//! Without `evolve`, this works for the last fields of a message with known boundaries, such as a datagram, a file, or a
//! frame with a length prefix. It does not work for a struct inside a message, nor for messages without framing, because
//! the bytes of the next field or message would be decoded instead.
//!
//! # Variants of enums
//!
//! Without explicit ids, the variants of an enum are numbered in order of declaration. New variants at the end do not
//! change the ids of the others; a variant that is inserted, moved or removed does. With `#[parco(id = N)]` on all
//! variants, the order is free. Readers reject messages with an unknown id. [`compare`](super::compare) matches variants by
//! name: a variant whose id changed breaks.
//!
//! An enum with `#[parco(evolve)]` has a length before its id, so that a reader can skip a variant that it does not know. It is
//! decoded as the variant with `#[parco(other)]`, if there is one. Old readers then read messages with new variants, except for
//! the contents of these variants.
//!
//! # Meaning
//!
//! Types with the same bytes and another meaning, such as `u128` and `i128`, or a `Uuid` and `[u8; 16]`, differ in their
//! [logical type](crate::wire::logical), which is part of the schema and of the fingerprint.
//!
//! # Reserved bytes
//!
//! A struct can reserve bytes with [`Skip`](crate::wire::Skip). Writers fill them with zeros and readers ignore them. A
//! field of fixed size can later replace some of them, and the skip after it shrinks by as much. Old readers continue
//! to skip it; new readers decode zero from old messages, which should mean "not set".
//!
//! # Versions in a registry
//!
//! A registry puts an id before each message. A new version of a model is a new model with its own id, registered next
//! to the old one as long as old messages exist. Readers cannot find the end of a message with an unknown id, so either
//! all peers know all ids, or the messages need frames.
//!
//! # Detecting changes
//!
//! A test can pin the [`Fingerprint`](super::Fingerprint) of a type: it fails if the encoding changes, and passes if
//! only names change.
//!
//! ```
//! use tightwire_parco::schema;
//!
//! assert_eq!(schema::fingerprint::<Vec<u16>>().to_string(), "1786f1ea5d53c8e1");
//! ```
//!
//! A program can also send the fingerprint: [`Encoder::with_fingerprint`](crate::Encoder::with_fingerprint) and
//! `StreamCodec::with_fingerprint` write it at the start of a stream, `FrameCodec::with_fingerprint` at the start of each
//! frame. A reader with another fingerprint gets an error before it decodes a message, and can tell an old writer from a
//! damaged message. A reader that can decode an older version expects the fingerprint of that version.
//!
//! [`compare`](super::compare) reports the changes from an old schema, for example one stored as JSON next to the test,
//! and whether old and new readers are affected.
