//! The client's end of a session: runspace pools and pipelines as state machines without I/O and clock.
//!
//! Methods of [`RunspacePool`] and [`Pipeline`] are commands; they queue what is to be sent. A transport asks
//! [`poll_transmit`](RunspacePool::poll_transmit) for packets and hands what it receives to
//! [`handle_packet`](RunspacePool::handle_packet); what that means comes out of
//! [`poll_event`](RunspacePool::poll_event). The packets are those of the [out-of-process transport](crate::outofproc),
//! which writes them as lines; for other transports a packet tells what to do: send data, create, signal, close.
//!
//! ```
//! use psrp::client::{Config, RunspacePool};
//! use psrp::message::RunspacePoolState;
//! use psrp::outofproc::Packet;
//!
//! let mut pool = RunspacePool::new(Config::new());
//! pool.open()?;
//! let mut buffer = Vec::new();
//! let Some(Packet::Data { target: None, .. }) = pool.poll_transmit(32 * 1024, &mut buffer) else { panic!() };
//! // Nothing more is sent to a target before the other side has acknowledged the data.
//! assert!(pool.poll_transmit(32 * 1024, &mut buffer).is_none());
//! pool.handle_packet(Packet::DataAck(None))?;
//! assert_eq!(pool.state(), RunspacePoolState::Opening);
//!
//! // What the state does not allow is an error that tells both.
//! let error = pool.reset_runspace_state().unwrap_err();
//! assert!(error.is_state());
//! assert_eq!(
//!     error.to_string(),
//!     "the state does not allow this: can't reset the runspace: the pool is Opening"
//! );
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! The key for secure strings is exchanged when the first of them is to be sent or was received. Messages that need the
//! key wait for it, and so do those after them to the same pipeline. A string that came before the key has its text from
//! [`Event::KeyExchanged`] on, wherever it is by then.
//!
//! What waits to be sent is bounded by [`Config::max_pending_bytes`]: who sends much input looks at
//! [`Pipeline::pending_bytes`] and waits. When the connection is gone the transport calls
//! [`handle_end`](RunspacePool::handle_end), which fails what is not done; or, if the pool at the server goes on without its
//! client, [`disconnect`](RunspacePool::disconnect), and later [`reconnect`](RunspacePool::reconnect) or
//! [`connect`](RunspacePool::connect).

mod config;
mod connection;
mod event;
mod input;
mod pipeline;
mod pool;
mod requests;
mod unsent;

pub use config::Config;
pub use event::{Event, PipelineEvent};
pub use pipeline::{Pipeline, PipelineRequest};
pub use pool::RunspacePool;
