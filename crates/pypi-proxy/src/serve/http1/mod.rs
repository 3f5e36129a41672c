//! Connections of HTTP/1.1 for requests as installers send them, written without a copy of what is in files.
//!
//! Only what is plain is understood: `GET` and `HEAD` without a body, and with fields that nobody can read in two ways.
//! Everything else is left, unread, to hyper, which has the connection from then on.

mod connection;
mod head;
mod patience;
mod rewind;
mod write;

pub(super) use connection::{Manner, serve};
pub(super) use head::DEFAULT_MAX_FIELDS;
pub use head::parse as parse_head;
pub(super) use rewind::Rewind;
pub(super) use write::Whole;
