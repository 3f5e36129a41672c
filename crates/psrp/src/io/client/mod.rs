//! Asynchronous client: pools, pipelines and their events.

mod connection_task;
mod dispatch;
mod host_calls;
mod options;
mod output;
mod pipeline;
pub(crate) mod pool;
mod pool_events;
mod requests;
mod shared;

pub use options::{ClientLimits, Options};
#[cfg(feature = "crypto")]
pub(super) use output::not_completed;
pub use output::{Output, OutputRecord};
pub use pipeline::{Pipeline, PipelineHandle};
pub use pool::RunspacePool;
pub use pool_events::{PoolEvent, PoolEvents};
