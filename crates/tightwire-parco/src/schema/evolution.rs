//! How messages change while old readers and writers stay: a guide.
//!
//! The wire has no names, no tags and no lengths of messages. A reader goes through the fields in the order in which it
//! knows them, and what it takes for the next field is the next field. So almost every change of a schema is one of all
//! readers and writers at once, with these exceptions.
//!
//! # Names
//!
//! Names of fields and types are not on the wire. They can change at any time.
//!
//! # Fields at the end
//!
//! A reader that knows only the first fields of a message reads these, and leaves the rest: [`decode`](crate::decode)
//! returns it, [`decode_exact`](crate::decode_exact) refuses it. The other way round, a reader that knows more fields
//! meets the end of the input where the first of them should be. With `default_on_eof` on it and on the fields behind
//! it the derived decoder takes the defaults instead; `Option` fields are natural for this. A schema does not say so: a
//! [`Dynamic`](super::Dynamic) asks for all fields.
//!
//! This works for the last fields of a message that has a frame around it, such as a datagram, a file, or a length in
//! front. It does not work for a struct inside a message, nor for messages that follow each other bare, since their
//! bytes are where the reader looks for the missing fields.
//!
//! # Reserved bytes
//!
//! A struct can keep bytes free with [`Skip`](crate::wire::Skip). Writers put zeros there and readers do not look.
//! A field of fixed size can use them later, and the skip behind it shrinks by as much. Old readers go on to skip it;
//! new readers see zero in old messages, which should mean "not given".
//!
//! # Versions in a registry
//!
//! A registry frames each message with an id. A new version of a model is a new model with a new id, next to the old
//! one, for as long as old messages are about. Readers that do not know an id cannot find the end of the message: the
//! ids that they may get have to be agreed on, or the messages need frames.
//!
//! # Finding out in time
//!
//! A test can pin the [`Fingerprint`](super::Fingerprint) of a type: it fails when the wire changes, and stays when only
//! names do.
//!
//! ```
//! use tightwire_parco::schema;
//!
//! assert_eq!(schema::fingerprint::<Vec<u16>>().to_string(), "5ab0ef48742a5a4c");
//! ```
//!
//! [`compare`](super::compare) tells what the change is and whom it affects, given the old schema, say as a file of the
//! schema language beside the test.
