//! Asynchronous sessions on tokio: connections, the client ([`Session`]) and the server ([`serve`]). They drive
//! the state machines of [`client`](crate::client) and [`server`](crate::server).
//!
//! A type that implements [`Connect`] creates a [`Transport`], over which [`Session::open`] opens a pool. Scripts
//! and commands run in pipelines of the pool:
//!
//! ```no_run
//! # #[cfg(feature = "serde")]
//! # async fn example() -> Result<(), psrp::Error> {
//! use psrp::client::PipelineEvent;
//! use psrp::io::{Child, Options, Session};
//! use psrp::message::{Command, PowerShell};
//!
//! // PowerShell as a child process: `pwsh -s -NoLogo -NoProfile`.
//! let session = Session::open(&Child::default(), Options::new()).await?;
//!
//! // Run a script and collect its output.
//! let output = session.invoke(PowerShell::script("Get-Date")).await?.completed()?;
//! println!("{:?} and {} warnings", output.output, output.warnings.len());
//!
//! // Deserialize the output.
//! let numbers: Vec<u32> = session.invoke_as(PowerShell::script("1..10 | % { $_ * $_ }")).await?;
//! assert_eq!(numbers[9], 100);
//!
//! // Read events as they arrive.
//! let processes = PowerShell::new().command(Command::new("Get-Process").parameter("Name", "p*"));
//! let mut run = session.start(processes).await?;
//! while let Some(event) = run.next().await {
//!     match event? {
//!         PipelineEvent::Output(process) => println!("{:?}", process["ProcessName"]),
//!         PipelineEvent::Error(record) => println!("{:?}", record.message()),
//!         _ => {}
//!     }
//! }
//! session.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Flow control and lifetime
//!
//! A background task transfers packets in both directions; it keeps reading while writes are blocked. Each pipeline has
//! a queue of events. All queues of a pool share one limit ([`ClientLimits::max_buffered_bytes`]). Above it the client
//! stops reading for the whole pool, which slows the server down by backpressure; no event is dropped. An unread
//! pipeline can therefore block the other pipelines of its pool: read it, stop it or drop it. Sent messages wait for
//! acknowledgements of the server. While more than [`ClientLimits::max_pending_bytes`] are pending, methods that send
//! wait, except for one message per pipeline.
//!
//! Dropping a [`Command`] stops and closes it in the background; dropping the last handle of a pool closes the pool.
//! There is no idle timeout: only opening, stopping and closing have a deadline. When a connection ends, all pending
//! operations fail with the same reason ([`Error::is_closed`](crate::Error::is_closed)).
//!
//! A [`Host`] handles the host calls of scripts in separate tasks: the calls of one pipeline in order, those of
//! different pipelines concurrently. The last event of a pipeline is delivered after its host calls have completed.
//!
//! # Limits
//!
//! The limits of a client are those of [`ClientLimits`], set with [`Options::limits`].
//!
//! | client limit | default | setting | when exceeded |
//! | --- | --- | --- | --- |
//! | memory of unread events, in bytes | 4 MiB | [`ClientLimits::max_buffered_bytes`] | reading stops; eight times the limit while a stop is pending |
//! | messages to send, in bytes | 1 MiB | [`ClientLimits::max_pending_bytes`] | input and new pipelines wait |
//! | memory of a collected [`Output`], in bytes | 256 MiB | [`ClientLimits::max_output_bytes`] | fails, and the pipeline is stopped |
//! | time to connect and open | 3 minutes | [`ClientLimits::open_timeout`] | fails, and the connection is closed |
//! | minimum time between creation and stop of a pipeline | 100 ms | [`ClientLimits::stop_delay`] | the stop is delayed |
//! | time for the final state after an acknowledged stop | 200 ms | [`ClientLimits::late_records`] | the pipeline counts as stopped |
//! | time to stop a pipeline | 1 minute | [`ClientLimits::stop_timeout`] | fails; a dropped pipeline is then closed |
//! | time to close a pool, and again to close the connection | 1 minute | [`ClientLimits::close_timeout`] | fails; the connection is dropped |
//! | chunk of a copied file, in bytes | 256 KiB | `CopyOptions::chunk_size`, at most 16 MiB | more chunks; at most 17 chunks of an upload are in flight |
//! | peer's text in an error | 4 KiB | fixed | truncated |
//!
//! | connection limit | default | setting | when exceeded |
//! | --- | --- | --- | --- |
//! | line, in bytes | 44,716 | [`ReaderOptions::max_line`] of [`Child`], [`Socket`] and `Ssh` | the connection fails |
//! | time for a child process to exit | 5 seconds | [`Child::exit_timeout`] | it is killed |
//! | time to connect to an SSH server, and to start its subsystem | 30 seconds each | `Ssh::connect_timeout` | fails |
//! | time for SSH authentication | 2 minutes | `Ssh::auth_timeout` | fails |
//! | rounds of SSH authentication, and rounds of prompts in keyboard-interactive | 16 | fixed | authentication fails |
//! | time for an SSH server's exit status, and to disconnect | 5 seconds | `Ssh::close_timeout` | the connection counts as closed |
//! | unread bytes of an SSH connection | 1 MiB | `Ssh::max_unread` | reading stops |
//! | unanswered SSH keep-alive messages in a row | none, then 3 | enabled by `Ssh::keep_alive` | the connection fails |
//! | WS-Management request envelope, in bytes | 153,600 | `Wsman::max_envelope_size` | messages are split over more envelopes |
//! | WS-Management response, in bytes | 16 MiB | `Wsman::max_response_size` | the request fails |
//! | nesting depth of a WS-Management response; its elements and attributes | 32; 65,536 | fixed | the request fails |
//! | pages of a list of shells or pipelines | 64 | fixed | the list fails |
//! | time to connect to a WS-Management service | 30 seconds | `Wsman::connect_timeout` | another attempt, or the request fails |
//! | further attempts to connect | 0 | `Wsman::connect_retries` | the request fails |
//! | time the service may hold a request | 20 seconds | `Wsman::operation_timeout` | the service says so, and the request is repeated |
//! | time for the response beyond that | 30 seconds | `Wsman::grace` | the request fails |
//! | round trips of an authentication | 8 | fixed | the request fails |
//! | time and bytes of a response of a key distribution centre | 10 seconds, 1 MiB | fixed | authentication fails |
//!
//! A failed request ends the connection, except that a request for one pipeline that the service refuses fails only
//! this pipeline.
//!
//! | server limit | default | setting | when exceeded |
//! | --- | --- | --- | --- |
//! | bytes written by handlers and not yet sent | 1 MiB | [`serve::Options::max_unsent_bytes`] | handlers wait; the same amount may be read meanwhile |
//! | memory of input not read by a handler, in bytes | 1 MiB | [`serve::Options::max_input_bytes`] | acknowledgements stop; above 64 times the limit over all pipelines, or four times if the client ignores acknowledgements, reading stops |
//! | time for a handler to stop by itself | 30 seconds | [`serve::Options::stop_timeout`] | its future is dropped |
//! | time to send pending output at the end | 5 seconds | [`serve::Options::close_timeout`] | the output is dropped |
//!
//! [`Options::config`] and [`serve::Options::config`] set the protocol limits, which are listed on the [front
//! page](crate#limits).
//!
//! [`ReaderOptions::max_line`]: crate::outofproc::ReaderOptions::max_line

pub(crate) mod client;
mod connect;
#[cfg(feature = "crypto")]
mod copy;
mod hosts;
mod lines;
mod peer_text;
pub mod serve;
// A unit test, because it counts queued bytes and repeats identifiers.
#[cfg(test)]
#[path = "../../tests/simulation/session.rs"]
mod simulation;
mod task;
mod transport;

pub use client::{
    ClientLimits, Command, CommandHandle, Options, Output, OutputRecord, PoolEvent, PoolEvents, Session,
};
#[cfg(any(unix, windows))]
pub use connect::Socket;
pub use connect::{Child, ChildTransport};
#[cfg(feature = "ssh")]
pub use connect::{Ssh, SshQuestion, SshTransport};
#[cfg(feature = "wsman")]
pub use connect::{Wsman, WsmanBufferMode, WsmanCredentials, WsmanFault, WsmanShell, WsmanTransport};
#[cfg(feature = "crypto")]
pub use copy::{CopiedFile, CopyOptions, copy_from, copy_to};
pub use hosts::{Host, HostFuture, NullHost, ScriptedCall, ScriptedHost};
pub use lines::Lines;
pub use transport::{Connect, Transport};
