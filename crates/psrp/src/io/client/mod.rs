//! The client's end of a session as futures and streams.

mod driver;
mod feeding;
mod handle;
mod hosting;
mod intake;
mod options;
mod output;
mod pipeline;
mod pool;
mod pool_events;
mod requests;
mod shared;
mod slot;

pub use handle::PipelineHandle;
pub use options::Options;
pub use output::Output;
pub use pipeline::Pipeline;
pub use pool::RunspacePool;
pub use pool_events::{PoolEvent, PoolEvents};

/// The longest text of the other side that an error repeats, in bytes.
pub(super) const MAX_REMOTE_TEXT: usize = 4096;

/// A text of the other side for an error: without control characters, and not too long.
pub(super) fn remote_text(text: &str) -> Box<str> {
    let end = text.floor_char_boundary(MAX_REMOTE_TEXT);
    let mut safe = crate::terminal_safe(text[..end].trim()).into_owned();
    if end < text.len() {
        safe.push_str(" ...");
    }
    safe.into()
}
