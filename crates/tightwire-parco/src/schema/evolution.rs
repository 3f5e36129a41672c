//! Guide: changing messages while old readers and writers are deployed.
//!
//! The format contains no field names, no tags and no message lengths. A reader decodes the fields it knows, in order,
//! and cannot detect that a field was inserted or removed. Almost every change therefore requires all readers and
//! writers to be updated at once, with the following exceptions.
//!
//! # Names
//!
//! Names of fields and types are not encoded. They can change at any time.
//!
//! # Fields at the end
//!
//! A reader that knows only the first fields of a message decodes these: [`decode`](crate::decode) returns the
//! remaining bytes, [`decode_exact`](crate::decode_exact) rejects them. Conversely, a reader that knows more fields
//! reaches the end of the input early. The derived decoder then uses defaults for fields with `default_on_eof`, which
//! all following fields need as well; `Option` fields are a natural fit. This attribute is not part of a schema: a
//! [`Dynamic`](super::Dynamic) requires all fields.
//!
//! This works for the last fields of a message with known boundaries, such as a datagram, a file, or a frame with a
//! length prefix. It does not work for a struct inside a message, nor for messages without framing, because the bytes
//! of the next field or message would be decoded instead.
//!
//! # Variants of enums
//!
//! Without explicit ids, the variants of an enum are numbered in order of declaration. New variants at the end do not
//! change the ids of the others; a variant that is inserted, moved or removed does. With `#[parco(id = N)]` on all
//! variants, the order is free. Readers reject messages with an unknown id.
//!
//! # Lengths
//!
//! A change of the type of a length, such as from `#[parco(go)]` to the default, changes the encoding.
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
//! [`compare`](super::compare) reports the changes from an old schema, for example one stored as JSON next to the test,
//! and whether old and new readers are affected.
