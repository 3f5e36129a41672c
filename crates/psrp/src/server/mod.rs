//! The server's end of a session: runspace pools and pipelines as state machines without I/O and clock.
//!
//! As in [`client`](crate::client), methods are commands, packets go in and out, and events tell what the client wants.
//! What a pipeline does is up to the application: it hears of [`PipelineEvent::Start`], writes to the streams of the
//! [`Pipeline`], and completes it.
//!
//! ```
//! use psrp::client;
//! use psrp::message::PowerShell;
//! use psrp::server::{self, Event, PipelineEvent};
//!
//! /// Carries packets until neither side has any.
//! fn exchange(client: &mut client::RunspacePool, server: &mut server::RunspacePool) -> Result<(), psrp::Error> {
//!     let mut buffer = Vec::new();
//!     loop {
//!         if let Some(packet) = client.poll_transmit(32 * 1024, &mut buffer) {
//!             server.handle_packet(packet)?;
//!         } else if let Some(packet) = server.poll_transmit(32 * 1024, &mut buffer) {
//!             client.handle_packet(packet)?;
//!         } else {
//!             return Ok(());
//!         }
//!     }
//! }
//!
//! let mut client = client::RunspacePool::new(client::Config::new());
//! let mut server = server::RunspacePool::new(server::Config::new());
//! client.open()?;
//! exchange(&mut client, &mut server)?;
//! let id = client.invoke(PowerShell::script("6 * 7"))?;
//! exchange(&mut client, &mut server)?;
//!
//! while let Some(event) = server.poll_event() {
//!     if let Event::Pipeline { id, event: PipelineEvent::Start(_) } = event {
//!         let mut pipeline = server.pipeline(id)?;
//!         pipeline.start()?;
//!         pipeline.write_output(42)?;
//!         pipeline.complete()?;
//!     }
//! }
//! exchange(&mut client, &mut server)?;
//! let output = client::PipelineEvent::Output(42.into());
//! let mut events = std::iter::from_fn(|| client.poll_event());
//! assert!(events.any(|event| event == client::Event::Pipeline { id, event: output.clone() }));
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! What waits to be sent is bounded by [`Config::max_pending_bytes`]: who writes much looks at [`Pipeline::pending_bytes`]
//! and waits. When the connection is gone the transport calls [`handle_end`](RunspacePool::handle_end), which ends the pool;
//! or [`disconnect`](RunspacePool::disconnect), and pipelines go on until the client
//! [is back](RunspacePool::reconnect) or another one connects: its first data are handed in as always, and then each of
//! its pipelines is told by [`Pipeline::connect`].

mod config;
mod connection;
mod event;
mod input;
mod pipeline;
mod pool;
mod unsent;

pub use config::Config;
pub use event::{Event, PipelineEvent};
pub use pipeline::Pipeline;
pub use pool::RunspacePool;
