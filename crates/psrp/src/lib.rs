//! PowerShell Remoting Protocol (MS-PSRP): run PowerShell scripts on other machines, or write a server that runs them.
//!
//! Use it instead of starting `pwsh` or `ssh` and parsing their text: output arrives as objects, and errors, warnings
//! and progress as separate records. It does what pypsrp and psrpcore do for Python and go-psrpcore for Go. PowerShell
//! is not required on the client.
//!
//! # A script over SSH
//!
//! ```no_run
//! # #[cfg(feature = "ssh")]
//! # async fn example() -> Result<(), psrp::Error> {
//! use psrp::io::Ssh;
//!
//! let server = Ssh::new("server.example.org").user("alice");
//! let result = psrp::run(&server, "Get-Process pwsh").await?.completed()?;
//! for process in &result.output {
//!     println!("{:?} {:?}", process["Id"].as_i32(), process["ProcessName"].as_str());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `io::Child`, `io::Wsman` and `io::Socket` connect to a child process, to Windows Remote Management and to a local
//! socket. `io::Session` runs several scripts over one connection, and returns output while a script is running;
//! `blocking` is the same without async.
//!
//! # Installation
//!
//! ```text
//! cargo add psrp --features ssh
//! cargo add tokio --features full
//! ```
//!
//! | feature | adds |
//! | --- | --- |
//! | `crypto` (default) | key exchange and encryption of secure strings, with aws-lc-rs |
//! | `tokio` | `io`: sessions over child processes, sockets and any other transport; servers; file copies (with `crypto`) |
//! | `blocking` | `blocking`: sessions for programs without an async runtime |
//! | `ssh` | `io::Ssh`, with russh |
//! | `wsman` | `io::Wsman`: Windows Remote Management over HTTP and HTTPS with user name and password, with reqwest |
//! | `negotiate` | NTLM and Kerberos for `wsman`, with sspi |
//! | `serde` | conversion between values and any serde type, and to and from JSON |
//!
//! The program `psrp` is in the package `psrp-cli`.
//!
//! # Limits
//!
//! All input is untrusted, and all buffers are bounded. A value equal to the limit is accepted. Exceeding a limit fails
//! with [`Error::is_limit`] unless the table says otherwise. The limits of sessions on tokio, their transports and
//! servers are listed in `io`.
//!
//! | limit | default | setting | if exceeded |
//! | --- | --- | --- | --- |
//! | size of a document, in bytes | 10 MiB; 64 MiB for [`import`](clixml::import) | [`Limits::max_size`] | nothing is read; a [`ConsoleFilter`] emits the document as text |
//! | nesting depth of a document | 49 | [`Limits::max_depth`], up to 512 | the reader fails at this point |
//! | nesting depth through references | 512 | fixed: [`Limits::MAX_DEPTH`] | the reader fails at this point |
//! | values, references and type names of a document | 1,048,576; more in sessions and for [`import`](clixml::import), as their memory allows | [`Limits::max_nodes`] | the reader fails at this point |
//! | decoded size: memory of the values of a document, in bytes | 64 MiB; 128 MiB for [`import`](clixml::import) | [`Limits::max_decoded_size`] | the reader fails at this point, with at most three times as much allocated; a [`ConsoleFilter`] emits the document as text |
//! | decoded size of a received message, including copies made for its typed form | 200 MiB | [`SessionLimits::max_decoded_size`] | the pipeline fails; for a message of the pool, the pool breaks |
//! | nesting depth of a written value | 49 | [`WriteOptions::max_depth`], up to 512 | nothing is written, or [a placeholder](clixml::WriteOptions::replace_too_deep) instead of the value |
//! | bytes that a typed message copies out of shared objects | 64 MiB | [`Payload::from_value_within`] | decoding fails |
//! | size of a sent fragment, in bytes | 32 KiB | [`Fragmenter::fragment_size`], [client](client::Config::fragment_size), [server](server::Config::fragment_size) | the message is split into more fragments |
//! | size of a received message with its fragment headers, in bytes | 200 MiB; 10 MiB for an assembler alone | [`SessionLimits::max_object_size`], [`AssemblerOptions::max_object_size`] | rejected from the header, before the data is buffered; the stream can't continue: the pipeline fails, or the pool breaks if it is its own message |
//! | length of a line, in bytes | 44,716 | [`ReaderOptions::max_line`] | rejected while it arrives; the stream can't continue |
//! | pipelines of a pool | 1024 | [`SessionLimits::max_pipelines`] | the client can't start another one; a server's pool breaks |
//! | pending host calls | 64 | [`SessionLimits::max_host_calls`] | the server can't make another one; at the client the calling pipeline fails, or the pool breaks if it made the call |
//! | pending requests of a client | 1024 | [`SessionLimits::max_requests`] | the client can't make another one; a server's pool breaks |
//! | pending outgoing messages, in bytes | 256 MiB | [`SessionLimits::max_pending_bytes`] | the message is not sent |
//! | partial incoming messages of all targets, in bytes | 256 MiB | [`SessionLimits::max_partial_bytes`] | the pipeline that exceeds it fails; the pool breaks if it is its own message |
//! | bytes that a pipeline receives | none | [`SessionLimits::max_data_per_command`] | the pipeline fails |
//! | memory of events that were not polled, in bytes | 256 MiB | [`SessionLimits::max_event_bytes`] | the pool breaks, because events must not be lost |
//! | values converted to a Rust type or JSON | 4,194,304 | `serde::Budget::max_values` | the conversion fails at this point |
//! | nesting depth of these | 128 | `serde::Budget::max_depth` | the conversion fails at this point |
//!
//! Values built in code are not limited: they can be cloned, compared, formatted and dropped at any depth.
//!
//! # Modules
//!
//! | module | content |
//! | --- | --- |
//! | `io` | sessions on tokio: pools and pipelines as futures and streams, transports, servers |
//! | `blocking` | clients with blocking methods and iterators |
//! | [`value`] | [`Value`], [`Object`], and .NET types without a counterpart in Rust |
//! | [`clixml`] | reader and writer of values, files of `Export-Clixml`, and a filter for `#< CLIXML` in the output of programs |
//! | `serde` | conversion to and from any serde type, and JSON |
//! | [`client`], [`server`] | runspace pools and pipelines as state machines without I/O; [`Core`] is their common part |
//! | [`message`], [`record`], [`host`] | typed messages, records of the streams, host calls |
//! | [`fragment`] | splitting of messages into fragments, and reassembly |
//! | [`outofproc`] | line format of pipes, SSH and sockets |
//! | [`crypto`] | key exchange and encryption of secure strings |
//!
//! Values need neither I/O nor the feature `tokio`:
//!
//! ```
//! use psrp::{Object, Value};
//!
//! let process = Object::builder()
//!     .type_names(["System.Diagnostics.Process", "System.Object"])
//!     .adapted("Id", 4242)
//!     .adapted("ProcessName", "pwsh")
//!     .build();
//! let value = Value::from(process);
//! assert_eq!(value["processname"], "pwsh");
//! ```
//!
//! # Guarantees
//!
//! - Sans-IO: only `io`, `blocking`, [`clixml::Document`] and its writer do I/O. No other module starts a task or reads
//!   a clock.
//! - Values are written byte for byte like PowerShell's serializer does. Unknown members of values and records, and
//!   unknown numbers of enumerations, are preserved.
//! - A malformed message of a pipeline fails only that pipeline; the pool and its other pipelines continue.
//! - Untrusted bytes lead to a value or to an [`Error`] with its kind and position. Memory is allocated for received
//!   bytes, not for announced lengths.
//! - Errors and `Debug` output never contain secure strings or keys. Errors contain no values of the input, and `Debug`
//!   shows them only for values and typed messages. The exception is the [source](std::error::Error::source) of an
//!   error if it comes from the serde code of your own type.
//! - Writing into a reused buffer or with a reused writer does not allocate.
//!
//! # Not guaranteed
//!
//! - Objects are data: no .NET type is instantiated, whatever the type names say.
//! - Remote text may contain escape sequences; print it with [`terminal_safe`].
//! - The protocol's encryption hides secure strings but has no integrity protection; the channel itself must be secure.
//! - Values are tested against four other implementations. Sessions are tested with PowerShell 7.6.9 as client and
//!   server, and with no other version.
//!
//! [`Limits::max_size`]: clixml::Limits::max_size
//! [`Limits::max_depth`]: clixml::Limits::max_depth
//! [`Limits::max_nodes`]: clixml::Limits::max_nodes
//! [`Limits::max_decoded_size`]: clixml::Limits::max_decoded_size
//! [`Limits::MAX_DEPTH`]: clixml::Limits::MAX_DEPTH
//! [`ConsoleFilter`]: clixml::ConsoleFilter
//! [`WriteOptions::max_depth`]: clixml::WriteOptions::max_depth
//! [`Payload::from_value_within`]: message::Payload::from_value_within
//! [`Fragmenter::fragment_size`]: fragment::Fragmenter::fragment_size
//! [`AssemblerOptions::max_object_size`]: fragment::AssemblerOptions::max_object_size
//! [`ReaderOptions::max_line`]: outofproc::ReaderOptions::max_line

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod redacted;
#[macro_use]
mod setters;

mod b64;
#[cfg(feature = "blocking")]
pub mod blocking;
pub mod client;
pub mod clixml;
pub mod crypto;
mod error;
pub mod fragment;
mod guid;
pub mod host;
#[cfg(feature = "tokio")]
pub mod io;
mod link;
pub mod message;
pub mod outofproc;
pub mod record;
#[cfg(feature = "serde")]
pub mod serde;
pub mod server;
mod shape;
mod terminal;
pub mod value;

#[cfg(feature = "tokio")]
pub use self::io::client::session::run;
#[cfg(feature = "serde")]
pub use self::serde::functions::{from_clixml, from_value, to_clixml, to_value};
pub use error::{Error, ErrorKind};
pub use link::{Core, SessionLimits};
pub use terminal::terminal_safe;
pub use value::{Object, PsString, Value};
