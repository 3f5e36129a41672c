//! The client's end of a session as futures and streams.

mod driver;
mod feeding;
mod handle;
mod hosting;
mod intake;
mod options;
mod output;
mod pipeline;
pub(crate) mod pool;
mod pool_events;
mod requests;
mod shared;
mod slot;

pub use handle::PipelineHandle;
pub use options::Options;
#[cfg(feature = "crypto")]
pub(super) use output::not_completed;
pub use output::{Output, OutputRecord};
pub use pipeline::Pipeline;
pub use pool::RunspacePool;
pub use pool_events::{PoolEvent, PoolEvents};
