//! HTTP/1.1 connections for the requests of installers, with `sendfile` for bodies in files.
//!
//! Only unambiguous requests are parsed here: `GET` and `HEAD` without a body, and with header fields that have one
//! possible interpretation. All other connections are handed over to hyper, including the bytes read so far.

mod connection;
mod head;
mod write;

pub(super) use connection::{Rewind, serve};
pub(super) use head::DEFAULT_MAX_FIELDS;
#[cfg(fuzzing)]
pub use head::parse as parse_head;
pub(super) use write::BodySource;
