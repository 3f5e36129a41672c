//! Stand-ins for other event-stream decoders, for programs that migrate to this crate.
//!
//! `eventsource_stream` needs the feature `compat-eventsource-stream`, `go` the feature `compat-go`.

#[cfg(feature = "compat-eventsource-stream")]
pub mod eventsource_stream;
#[cfg(feature = "compat-go")]
pub mod go;
