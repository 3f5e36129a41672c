//! Asynchronous client: sessions, running commands and their events.

mod command;
mod connection_task;
mod host_calls;
mod options;
mod output;
mod pool_events;
mod requests;
pub(crate) mod session;
mod session_state;

pub use command::{Command, CommandHandle};
pub use options::{ClientLimits, Options};
#[cfg(feature = "crypto")]
pub(super) use output::not_completed;
pub use output::{Output, OutputRecord};
pub use pool_events::{PoolEvent, PoolEvents};
pub use session::Session;
