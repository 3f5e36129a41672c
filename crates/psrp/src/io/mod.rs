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
//! Each with a setter has a constant with its default beside it, as `DEFAULT_STOP_TIMEOUT` of [`Options::stop_timeout`].
//!
//! | limit of a client | default | is set with | beyond it |
//! | --- | --- | --- | --- |
//! | bytes of memory of events that were not taken | 4 MiB | [`Options::max_buffered_bytes`] | nothing more is read; eight times as much while a stop waits |
//! | bytes of messages that wait to be sent | 1 MiB | [`Options::max_pending_bytes`] | input and new pipelines wait |
//! | bytes of memory of a collected [`Output`] | 256 MiB | [`Options::max_output_bytes`] | fails, and the pipeline is stopped |
//! | time to connect and open | 3 minutes | [`Options::open_timeout`] | fails, and the connection is ended |
//! | time between the creation of a pipeline and its stop | 100 ms | [`Options::stop_delay`] | a stop waits for it |
//! | time for the state of a stopped pipeline to follow the acknowledgement | 200 ms | [`Options::late_records`] | it counts as stopped |
//! | time to stop a pipeline | 1 minute | [`Options::stop_timeout`] | fails; a pipeline that is dropped is closed then |
//! | time to close a pool, and again to end the connection | 1 minute | [`Options::close_timeout`] | fails; the connection is dropped |
//! | bytes of a chunk of a copied file | 256 KiB | `CopyOptions::chunk_size`, up to 16 MiB | the file takes more chunks; 17 of an upload are under way at most |
//! | text of the other side in an error | 4 KiB | fixed | its rest is left out |
//!
//! | limit of a connection | default | is set with | beyond it |
//! | --- | --- | --- | --- |
//! | bytes of a line | 44,716 | [`ReaderOptions::max_line`] of [`Child`], [`Socket`] and `Ssh` | the connection is lost |
//! | time for a child process to end by itself | 5 seconds | [`Child::exit_timeout`] | it is killed |
//! | time to reach an SSH server, and to start its subsystem | 30 seconds each | `Ssh::connect_timeout` | fails |
//! | time to log in there | 2 minutes | `Ssh::auth_timeout` | fails |
//! | steps of a login, and rounds of questions of each | 16 | fixed | the login fails |
//! | time for its end to be told, and to end it | 5 seconds | `Ssh::close_timeout` | it counts as ended |
//! | bytes from it that wait to be taken | 1 MiB | `Ssh::max_unread` | nothing more is read |
//! | signs of life in a row that it does not give | none, then 3 | `Ssh::keep_alive` asks for them | the connection is lost |
//! | bytes of an envelope of WS-Management that is sent | 153,600 | `Wsman::max_envelope_size` | messages take more envelopes |
//! | bytes of an answer | 16 MiB | `Wsman::max_response_size` | the request fails |
//! | levels of an answer, its elements and attributes | 32, 65,536 | fixed | the request fails |
//! | parts of a list of shells or pipelines | 64 | fixed | the list fails |
//! | time to make a connection to the service | 30 seconds | `Wsman::connect_timeout` | the request fails |
//! | time that the service may work on a request | 20 seconds | `Wsman::operation_timeout` | it says so, and is asked again |
//! | time beyond that without an answer | 30 seconds | `Wsman::grace` | the request fails |
//! | legs of an authentication | 8 | fixed | it is refused |
//! | time and bytes of an answer of a key distribution centre | 10 seconds, 1 MiB | fixed | the authentication fails |
//!
//! A request that fails takes the connection with it; only those for one pipeline that the service refuses fail that one.
//!
//! | limit of a server | default | is set with | beyond it |
//! | --- | --- | --- | --- |
//! | bytes that handlers have written and the client has not read | 1 MiB | [`serve::Options::max_unsent_bytes`] | handlers wait, and as much is read at most |
//! | bytes of memory of input that a handler has not read | 1 MiB | [`serve::Options::max_input_bytes`] | nothing is acknowledged; beyond four times of it, of all pipelines, nothing is read |
//! | time for a handler to stop by itself | 30 seconds | [`serve::Options::stop_timeout`] | its future is dropped |
//! | time to send what there is at the end | 5 seconds | [`serve::Options::close_timeout`] | it is dropped |
//! | sessions of a socket | 16 | `serve::UnixServer::max_sessions` | clients wait |
//!
//! Those of the protocol, on the [front page](crate#limits), are set by [`Options::config`] and
//! [`serve::Options::config`].
//!
//! [`ReaderOptions::max_line`]: crate::outofproc::ReaderOptions::max_line

pub(crate) mod client;
mod connect;
#[cfg(feature = "crypto")]
mod copy;
mod host;
mod hosts;
mod lines;
mod remote;
pub mod serve;
mod transport;

pub use client::{
    Options, Output, OutputRecord, Pipeline, PipelineHandle, PoolEvent, PoolEvents, RunspacePool,
};
#[cfg(any(unix, windows))]
pub use connect::Socket;
pub use connect::{Child, ChildTransport};
#[cfg(feature = "ssh")]
pub use connect::{Ssh, SshQuestion, SshTransport};
#[cfg(feature = "wsman")]
pub use connect::{Wsman, WsmanCredentials, WsmanFault, WsmanShell, WsmanTransport};
#[cfg(feature = "crypto")]
pub use copy::{Copied, CopyOptions, copy_from, copy_to};
pub use host::{Host, HostFuture};
pub use hosts::{NullHost, ScriptedCall, ScriptedHost};
pub use lines::Lines;
pub use transport::{Connect, Transport};
