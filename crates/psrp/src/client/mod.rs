//! Client side of a session: state machines of runspace pools and pipelines, without I/O or clock.
//!
//! Methods of [`ClientPool`] and [`ClientPipeline`] are commands that queue messages. A transport gets outgoing packets
//! from [`poll_transmit`](ClientPool::poll_transmit), passes incoming packets to
//! [`handle_packet`](ClientPool::handle_packet), and reads the resulting events from
//! [`poll_event`](ClientPool::poll_event). Packets are those of the [out-of-process transport](crate::outofproc),
//! which encodes them as lines; other transports map them to their operations: send data, create, signal, close.
//!
//! ```
//! use psrp::client::{ClientPool, Config};
//! use psrp::message::RunspacePoolState;
//! use psrp::outofproc::Packet;
//!
//! let mut pool = ClientPool::new(Config::new());
//! pool.open()?;
//! let mut buffer = Vec::new();
//! let Some(Packet::Data { target: None, .. }) = pool.poll_transmit(32 * 1024, &mut buffer) else { panic!() };
//! // Nothing more is sent to a target until the server has acknowledged the data.
//! assert!(pool.poll_transmit(32 * 1024, &mut buffer).is_none());
//! pool.handle_packet(Packet::DataAck(None))?;
//! assert_eq!(pool.state(), RunspacePoolState::Opening);
//!
//! // A method that the state does not allow fails with an error that names both.
//! let error = pool.reset_runspace_state().unwrap_err();
//! assert!(error.is_state());
//! assert_eq!(
//!     error.to_string(),
//!     "the state does not allow this: can't reset the runspace: the pool is Opening"
//! );
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! The session key is exchanged when the first secure string is sent or received. Messages that need the key are
//! deferred until it is available, and so are later messages to the same pipeline. A string received before the key is
//! decrypted at [`Event::KeyExchanged`], together with all its clones.
//!
//! Pending output is limited by [`SessionLimits::max_pending_bytes`](crate::SessionLimits::max_pending_bytes). For
//! backpressure, check [`ClientPipeline::pending_bytes`] before sending more input. When the connection has ended, the
//! transport calls [`handle_end`](ClientPool::handle_end), which fails everything unfinished; or, if the pool stays
//! alive on the server, [`disconnect`](ClientPool::disconnect), and later [`reconnect`](ClientPool::reconnect) or
//! [`connect`](ClientPool::connect).

mod config;
mod connection;
mod input;
mod pipeline;
mod pool;

pub use config::Config;
pub use pipeline::{ClientPipeline, PipelineEvent, PipelineRequest};
pub use pool::{ClientPool, Event};
