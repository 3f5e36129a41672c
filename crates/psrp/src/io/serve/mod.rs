//! Servers: implement [`Handler`] to run pipelines, and call [`serve`] or [`serve_stdio`].
//!
//! ```
//! use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve_stdio};
//! use psrp::message::CreatePipeline;
//! use psrp::record::{ErrorCategory, ErrorRecord};
//!
//! /// Outputs its input in upper case.
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
//! /// A program that clients start like `pwsh -s`, or that is a subsystem of an SSH server.
//! async fn run() -> Result<(), psrp::Error> {
//!     serve_stdio(Capitals, Options::new()).await?;
//!     Ok(())
//! }
//! ```
//!
//! # Pipelines
//!
//! Each pipeline is a tokio task. At most as many run at a time as the pool has runspaces; the others wait, as in
//! PowerShell. Nested pipelines do not wait, because their parent pipeline waits for them. A handler that panics fails
//! only its own pipeline.
//!
//! When a client stops a pipeline, the handler's future is dropped, unless the handler has called
//! [`Pipeline::stopping`] to end by itself. When the client closes the pipeline or disconnects, the future is dropped.
//!
//! # Memory limits
//!
//! Writers wait while more than [`Options::max_unsent_bytes`] are unsent; reading of packets that cause responses waits
//! as well. Input is acknowledged only while at most [`Options::max_input_bytes`] of a pipeline are unread. If a client
//! sends without waiting for acknowledgements, reading stops at four times that limit, otherwise at 64 times. A host call
//! fails if four times the limit arrive before its response.
//! [`server::Config`](crate::server::Config) has further limits. There is no idle timeout.
//!
//! As with PowerShell, an acknowledgement from the client or an invalid packet breaks the pool: the client receives the
//! reason, and the session ends. An empty line ends the session as well.

mod connection;
mod dispatcher;
mod handler;
mod server_state;
mod session;

pub use connection::{Options, serve, serve_stdio};
pub use handler::Handler;
pub use session::{Input, Outcome, Pipeline, Session, SessionEnd};
