//! Sessions over anything that carries bytes, on tokio: what the state machines of [`client`](crate::client) and
//! [`server`](crate::server) need to talk to real peers. Servers are in [`serve`].
//!
//! A [`Connect`]or makes a [`Transport`], over which a [`RunspacePool`] is opened. Scripts and commands run in its
//! pipelines:
//!
//! ```no_run
//! # #[cfg(feature = "serde")]
//! # async fn example() -> Result<(), psrp::Error> {
//! use psrp::client::PipelineEvent;
//! use psrp::io::{Child, Options, RunspacePool};
//! use psrp::message::{Command, PowerShell};
//!
//! // PowerShell as a child process: `pwsh -s -NoLogo -NoProfile`.
//! let pool = RunspacePool::open(&Child::default(), Options::new()).await?;
//!
//! // All at once.
//! let output = pool.invoke(PowerShell::script("Get-Date")).await?.completed()?;
//! println!("{:?} and {} warnings", output.output, output.warnings.len());
//!
//! // As other types.
//! let numbers: Vec<u32> = pool.invoke_as(PowerShell::script("1..10 | % { $_ * $_ }")).await?;
//! assert_eq!(numbers[9], 100);
//!
//! // As it comes.
//! let processes = PowerShell::new().command(Command::new("Get-Process").parameter("Name", "p*"));
//! let mut run = pool.start(processes).await?;
//! while let Some(event) = run.next().await {
//!     match event? {
//!         PipelineEvent::Output(process) => println!("{:?}", process["ProcessName"]),
//!         PipelineEvent::Error(record) => println!("{:?}", record.message()),
//!         _ => {}
//!     }
//! }
//! pool.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # How a session flows
//!
//! A task of the pool carries packets both ways; a side that can't be written to does not keep it from reading. Each
//! pipeline has a queue of events. All queues together have a limit ([`Options::max_buffered_bytes`]): beyond it nothing
//! is read for any pipeline of the pool, which slows the server, and nothing is dropped. So a pipeline that nobody reads
//! can hold up the others of its pool: read it, stop it or drop it. What is sent waits for the acknowledgements of the
//! server; while too much of it waits, so do those who send ([`Options::max_pending_bytes`]).
//!
//! A [`Pipeline`] that is dropped is stopped and closed in the background, and so is a pool without handles. Silence breaks
//! nothing: only opening, stopping and closing have a time limit. When a connection ends, all that waits for it fails
//! with the same reason ([`Error::is_closed`](crate::Error::is_closed)).
//!
//! Calls of the host go to a [`Host`], in tasks of their own: in order for each pipeline, at once for different ones. The
//! last event of a pipeline comes when the host has done what the pipeline asked for.
//!
//! # Limits
//!
//! | limit | default | is set with | beyond it |
//! | --- | --- | --- | --- |
//! | bytes of events that nobody has taken | 4 MiB | [`Options::max_buffered_bytes`] | nothing more is read; eight times as much while a stop waits |
//! | bytes of messages that wait to be sent | 1 MiB | [`Options::max_pending_bytes`] | input and new pipelines wait |
//! | bytes of a collected [`Output`] | 256 MiB | [`Options::max_output_bytes`] | fails, and the pipeline is stopped |
//! | time to connect and open | 3 minutes | [`Options::open_timeout`] | fails, and the connection is ended |
//! | time to stop a pipeline | 1 minute | [`Options::stop_timeout`] | fails; a pipeline that is dropped is closed then |
//! | time to close a pool, and again to end the connection | 1 minute | [`Options::close_timeout`] | fails; the connection is dropped |
//! | time for a child process to end by itself | 5 seconds | [`Child::exit_timeout`] | it is killed |
//! | text of the other side in an error | 4 KiB | fixed | its rest is left out |
//!
//! Those of the protocol are set by [`Options::config`].

mod client;
mod connect;
mod host;
mod lines;
pub mod serve;
mod transport;

pub use client::{Options, Output, Pipeline, PipelineHandle, PoolEvent, PoolEvents, RunspacePool};
#[cfg(any(unix, windows))]
pub use connect::Socket;
pub use connect::{Child, ChildTransport};
#[cfg(feature = "ssh")]
pub use connect::{Ssh, SshQuestion, SshTransport};
pub use host::{Host, HostFuture};
pub use lines::Lines;
pub use transport::{Connect, Transport};
