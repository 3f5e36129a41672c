//! Drop-in replacements for other event-stream crates.

pub mod eventsource_stream;
