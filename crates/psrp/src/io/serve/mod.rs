//! Servers: a [`Handler`] does what pipelines ask for, and [`serve`] is all the rest.
//!
//! ```
//! use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve_stdio};
//! use psrp::message::CreatePipeline;
//! use psrp::record::{ErrorCategory, ErrorRecord};
//!
//! /// Gives its input back in capitals.
//! struct Capitals;
//!
//! impl Handler for Capitals {
//!     async fn run(&self, _: CreatePipeline, pipeline: Pipeline, mut input: Input) -> Outcome {
//!         while let Some(value) = input.next().await {
//!             let text = value.as_str();
//!             let text = text.ok_or_else(|| ErrorRecord::new("not a text", ErrorCategory::InvalidType))?;
//!             pipeline.output(text.to_uppercase()).await?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! /// A program that a client starts as it does `pwsh -s`, or that is a subsystem of an SSH server.
//! async fn run() -> Result<(), psrp::Error> {
//!     serve_stdio(Capitals, Options::new()).await?;
//!     Ok(())
//! }
//! ```
//!
//! # Pipelines
//!
//! Each pipeline is a task of tokio. No more run at a time than the pool has runspaces; the others wait, as in PowerShell.
//! Nested ones do not wait, for the pipeline that they belong to waits for them. A handler that panics fails its pipeline
//! and no other.
//!
//! When a client stops a pipeline, the handler's future is dropped, unless the handler has asked to end by itself
//! ([`Pipeline::stopping`]). When the client closes the pipeline or is gone, the future is dropped.
//!
//! # What a client can take up
//!
//! Writing waits while more than [`Options::max_unsent_bytes`] are unsent, and so does reading what calls for answers.
//! Data of pipelines are acknowledged only while no more than [`Options::max_input_bytes`] wait for the handler; a client
//! that goes on regardless is not read from, in the end. [`server::Config`](crate::server::Config) has further limits. A
//! client that is silent is let be.
//!
//! As with PowerShell, acknowledgements from the client and everything that is no packet break the pool: the client is
//! told the reason, and the session ends. An empty line ends it too.

mod driver;
mod handler;
mod input;
mod options;
mod pipeline;
mod session;
mod shared;
mod stdio;
mod stop;
#[cfg(unix)]
mod unix;
mod work;

pub use driver::{Ended, serve};
pub use handler::{Handler, Outcome};
pub use input::Input;
pub use options::Options;
pub use pipeline::Pipeline;
pub use session::Session;
pub use stdio::serve_stdio;
#[cfg(unix)]
pub use unix::UnixServer;

/// The present, which the state machine does not know.
fn now() -> Option<crate::value::DateTime> {
    std::time::SystemTime::now().try_into().ok()
}
