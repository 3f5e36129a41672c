//! PowerShell Remoting Protocol (MS-PSRP): values, CLIXML, messages, fragments, key exchange and out-of-process packets.
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
//! | `serde` | the bridge to any type of serde, and values as JSON |
//!
//! # Features
//!
//! `crypto` (default) has the cipher of a session, on aws-lc-rs; `serde` the bridge, [`clixml`] documents of any type; `jiff`
//! conversions of dates and spans.
//!
//! # Promised
//!
//! - Nothing here starts a thread or reads a clock, and nothing but [`clixml::Document`] and its writer does I/O: bytes
//!   go in, values and bytes come out.
//! - What PowerShell's serializer writes is written byte for byte as it does, by its published rules; an unknown member of
//!   an object is kept and an unknown number of an enumeration too.
//! - Foreign bytes lead to a value or an [`Error`] with kind and position. Memory follows the bytes that are there, not
//!   what a header says; references share. [`clixml::Limits`], the options of the assemblers and that of the line reader
//!   bound the rest.
//! - Errors and `Debug` show no secret: no secure string, no key, and no value of the input.
//! - Writing into a buffer or with a writer that is used again allocates nothing.
//!
//! # Not promised
//!
//! - An object read is data: nothing becomes an instance of a .NET type, whatever its type names say.
//! - Texts of the other side may hold escape sequences; show them through [`terminal_safe`].
//! - The encryption of the protocol hides strings but notices no changes; the channel has to be safe by itself.
//! - Values are compared with the vectors of four implementations and with live ones, not with a running PowerShell.

mod b64;
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

#[cfg(feature = "serde")]
pub use self::serde::functions::{from_clixml, from_value, to_clixml, to_value};
pub use error::Error;
pub use terminal::terminal_safe;
pub use value::{Object, PsString, Value};
