//! PowerShell Remoting Protocol (MS-PSRP): scripts on other machines, servers that run them, and all layers of it.
//!
//! With the feature `tokio` a script is a call; `io` has the rest, servers included, and `blocking` the same without async:
//!
//! ```no_run
//! # #[cfg(feature = "tokio")]
//! # async fn run() -> Result<(), psrp::Error> {
//! use psrp::io::{Child, Options, RunspacePool};
//! use psrp::message::PowerShell;
//!
//! // PowerShell as a child process; `Ssh`, `Wsman` and `Socket` connect elsewhere.
//! let output = psrp::run(&Child::default(), "Get-Process pwsh").await?.completed()?;
//! for process in &output.output {
//!     println!("{:?}", process["Id"].as_i32());
//! }
//!
//! // Several scripts over one connection, up to four at the same time.
//! let pool = RunspacePool::open(&Child::default(), Options::new().runspaces(1..=4)).await?;
//! let date = pool.invoke(PowerShell::script("Get-Date")).await?.completed()?;
//! pool.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! What travels are values, and what they become; that takes neither the feature nor I/O:
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
//! Objects become CLIXML, CLIXML the data of messages, messages fragments, and fragments lines of a pipe; and back:
//!
//! ```
//! use psrp::fragment::{Assembler, Fragmenter, Priority};
//! use psrp::message::{Destination, Message, MessageHeader, Payload};
//! use psrp::outofproc::{Packet, PacketReader, Received, Role};
//! use psrp::{Object, Value, clixml};
//!
//! // A server sends an object of the output.
//! let payload = Payload::PipelineOutput(Object::custom([("Name", "sshd")]).into());
//! let header = MessageHeader {
//!     destination: Destination::Client,
//!     message_type: payload.message_type(),
//!     pool_id: uuid::Uuid::from_u128(1),
//!     pipeline_id: Some(uuid::Uuid::from_u128(2)),
//! };
//! let (mut message, mut fragments, mut line) = (Vec::new(), Vec::new(), Vec::new());
//! let mut writer = clixml::Writer::new();
//! Message { header, data: payload.encode(&mut writer)? }.encode(&mut message);
//! Fragmenter::new().encode(&message, &mut fragments);
//! let (target, priority) = (header.pipeline_id, Priority::Default);
//! Packet::Data { target, priority, data: &fragments }.encode(&mut line)?;
//!
//! // The client reads it.
//! let mut packets = PacketReader::new(Role::Client);
//! let Some(Received::Packet(Packet::Data { mut data, .. })) = packets.next(&mut &line[..])? else { panic!() };
//! let mut assembler = Assembler::new();
//! let received = Message::decode(assembler.next(&mut data)?.unwrap())?;
//! let Payload::PipelineOutput(value) = Payload::decode(received.header.message_type, received.data)? else { panic!() };
//! assert_eq!(value["name"], "sshd");
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! # Modules
//!
//! | module | what it has |
//! | --- | --- |
//! | [`value`] | [`Value`], [`Object`], and the types of .NET that have no counterpart in Rust |
//! | [`clixml`] | reader and writer of values, files of `Export-Clixml`, and the filter for `#< CLIXML` in the output of programs |
//! | [`message`], [`record`], [`host`] | all messages as types, the records of the streams, the calls of the host |
//! | [`fragment`] | messages cut for the transport, with queues and priorities, and put together |
//! | [`outofproc`] | lines of the transports that are pipes: standard input and output, SSH, sockets |
//! | [`crypto`] | the key exchange, and what encrypts strings |
//! | [`client`], [`server`] | runspace pools and pipelines as state machines, for either end of a session |
//! | `io` | sessions on tokio: pools and pipelines as futures and streams, and what they talk over |
//! | `blocking` | the same for programs without an async runtime: methods that block, and iterators |
//! | `serde` | the bridge to any type of serde, and values as JSON |
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `crypto` (default) | the key exchange and the cipher of secure strings, on aws-lc-rs |
//! | `serde` | the bridge to any type, and documents of any type |
//! | `jiff` | conversions of dates and spans |
//! | `tokio` | `io`: sessions over child processes, sockets, and anything that carries bytes; servers; hosts for scripts and tests; with `crypto`, copies of files |
//! | `blocking` | `blocking`: sessions for programs without an async runtime |
//! | `ssh` | `io::Ssh`, on russh |
//! | `wsman` | `io::Wsman`: Windows Remote Management over HTTP and HTTPS with name and password, on reqwest |
//! | `negotiate` | NTLM and Kerberos for that, on sspi |
//!
//! The program `psrp` is the package `psrp-cli`.
//!
//! # Limits
//!
//! Each has a setter and, beside it, a constant with the default: `max_depth` and `DEFAULT_MAX_DEPTH`. Reaching a limit is
//! fine. What is beyond it fails with [`Error::is_limit`], unless the table tells otherwise.
//!
//! | limit | default | is set with | beyond it |
//! | --- | --- | --- | --- |
//! | bytes of a document | 10 MiB; 64 MiB for [`import`](clixml::import) | [`Limits::max_size`] | nothing of it is read; a [`ConsoleFilter`] passes it on as text |
//! | levels of a document | 49 | [`Limits::max_depth`], up to 512 | the reader fails there |
//! | levels through references | 512 | fixed: [`Limits::MAX_DEPTH`] | the reader fails there |
//! | values, references, type names of a document | 1,048,576; more in sessions and for [`import`](clixml::import), as their memory allows | [`Limits::max_nodes`] | the reader fails there |
//! | bytes of memory that the values of a document take | 64 MiB; 128 MiB for [`import`](clixml::import) | [`Limits::max_decoded_size`] | the reader fails there, with at most three times as much allocated; a [`ConsoleFilter`] passes the document on as text |
//! | the same of a message that is received, with what its typed form copies | 200 MiB | [client], [server] | the pipeline that it belongs to fails, a pool breaks by its own |
//! | levels of a value that is written | 49 | [`WriteOptions::max_depth`], up to 512 | nothing of it is written; or [a text](clixml::WriteOptions::replace_too_deep) in its place |
//! | bytes that a typed message copies out of shared objects | 64 MiB | [`Payload::from_value_within`] | there is no message |
//! | bytes of a fragment that is sent | 32 KiB | [`Fragmenter::fragment_size`], [client], [server] | the message takes more fragments |
//! | bytes of a message that is received, with the headers of its fragments | 200 MiB; 10 MiB for an assembler alone | [client], [server], [`AssemblerOptions::max_object_size`] | refused by the header, before the blob is waited for; the stream is lost: the pipeline that it belongs to fails, a pool breaks by its own |
//! | bytes of a line | 44,716 | [`ReaderOptions::max_line`] | refused while it arrives; the stream is lost |
//! | pipelines of a pool | 1024 | [client], [server] | the client can't start another one; a server's pool is broken |
//! | calls of the host that wait | 64 | [client], [server] | the server can't make another one; at a client the pipeline that has made it fails, a pool that has is broken |
//! | requests of a client that wait | 1024 | [client], [server] | the client can't make another one; a server's pool is broken |
//! | bytes of messages that wait to be sent | 256 MiB | [client], [server] | the message is not sent |
//! | bytes of messages received in part, all targets together | 256 MiB | [client], [server] | the pipeline that there is no more room for fails; the pool is broken if it is its own message |
//! | bytes that a pipeline receives | none | [client], [server] | the pipeline fails |
//! | bytes of memory of events that were not polled | 256 MiB | [client], [server] | the pool is broken: nobody would hear of less |
//! | values that become a Rust type or JSON | 4,194,304 | `serde::Budget::max_values` | the conversion fails there |
//! | levels of these | 128 | `serde::Budget::max_depth` | the conversion fails there |
//!
//! Those of sessions on tokio, their transports and servers are in `io`.
//! Values that a program puts together have no limit: they are cloned, compared, shown and dropped at any depth.
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
//! [client]: client::Config
//! [server]: server::Config
//!
//! # Promised
//!
//! - Nothing in the modules above but `io` and `blocking` starts a task or reads a clock, and nothing else but
//!   [`clixml::Document`] and its writer does I/O: bytes go in, values and bytes come out.
//! - What PowerShell's serializer writes is written byte for byte as it does, by its published rules. Values keep all
//!   members that were read, records also those that they do not know, and enumerations numbers without a name.
//! - A malformed message of a pipeline fails that pipeline; the pool and its other pipelines go on.
//! - Foreign bytes lead to a value or an [`Error`] with kind and position, in the bytes or in the value. Memory follows the
//!   bytes that are there, not what a header says; references share. The [limits](#limits) bound the rest.
//! - Errors and `Debug` show no secure string and no key. No error shows a value of the input, and no
//!   `Debug` but those of values and typed messages. What may is the [source](std::error::Error::source) of an error, where
//!   a type of yours says something with serde.
//! - Writing into a buffer or with a writer that is used again allocates nothing.
//!
//! # Not promised
//!
//! - An object read is data: nothing becomes an instance of a .NET type, whatever its type names say.
//! - Texts of the other side may hold escape sequences; show them through [`terminal_safe`].
//! - The encryption of the protocol hides strings but notices no changes; the channel has to be safe by itself.
//! - Values are compared with the vectors of four implementations and with live ones. Sessions are tested with the engine
//!   of PowerShell 7.6.9 as client and server, and with no other version.

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
pub use self::io::client::pool::run;
#[cfg(feature = "serde")]
pub use self::serde::functions::{from_clixml, from_value, to_clixml, to_value};
pub use error::{Error, ErrorKind};
pub use terminal::terminal_safe;
pub use value::{Object, PsString, Value};
