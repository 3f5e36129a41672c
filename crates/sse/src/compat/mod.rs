//! Stand-ins for other event-stream decoders, for programs that migrate to this crate.

#[cfg(feature = "compat-eventsource-stream")]
pub mod eventsource_stream;
#[cfg(feature = "compat-go")]
pub mod go;
