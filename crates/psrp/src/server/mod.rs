//! Server side of a session: state machines of runspace pools and pipelines, without I/O or clock.
//!
//! As in [`client`](crate::client), methods are commands, packets go in and out, and events carry the client's
//! requests. The application runs the pipelines: on [`PipelineEvent::Start`] it starts the [`ServerPipeline`], writes to
//! its streams and completes it.
//!
//! ```
//! use psrp::client;
//! use psrp::message::PowerShell;
//! use psrp::server::{self, Event, PipelineEvent};
//!
//! /// Exchanges packets until neither side has any.
//! fn exchange(client: &mut client::ClientPool, server: &mut server::ServerPool) -> Result<(), psrp::Error> {
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
//! let mut client = client::ClientPool::new(client::Config::new());
//! let mut server = server::ServerPool::new(server::Config::new());
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
//! Pending output is limited by [`SessionLimits::max_pending_bytes`](crate::SessionLimits::max_pending_bytes). For
//! backpressure, check [`ServerPipeline::pending_bytes`] before writing more. When the connection has ended, the
//! transport calls [`handle_end`](ServerPool::handle_end), which ends the pool; or [`disconnect`](ServerPool::disconnect),
//! and pipelines keep running until the client [reconnects](ServerPool::reconnect) or another one connects. Pass in
//! the data of a new client as usual, then call [`ServerPipeline::connect`] for each pipeline that it connects to.

mod config;
mod connection;
mod input;
mod pipeline;
mod pool;

pub use config::Config;
pub use pipeline::{PipelineEvent, ServerPipeline};
pub use pool::{Event, ServerPool};

pub use crate::link::PoolRequest;
