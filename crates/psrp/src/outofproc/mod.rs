//! Packets of PowerShell's out-of-process transport: one XML element per line. PowerShell uses it over standard input
//! and output, SSH, named pipes, sockets and containers. MS-PSRP does not specify it.
//!
//! ```
//! use psrp::fragment::Priority;
//! use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};
//!
//! let mut line = Vec::new();
//! let packet = Packet::Data { target: None, priority: Priority::Default, data: b"test data" };
//! packet.encode(&mut line)?;
//! assert_eq!(
//!     line,
//!     b"<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>dGVzdCBkYXRh</Data>\n"
//! );
//!
//! let mut reader = PacketReader::new(Role::Server);
//! let mut bytes = &line[..];
//! assert_eq!(reader.next(&mut bytes)?, Some(ReaderEvent::Packet(packet)));
//! assert_eq!(reader.next(&mut bytes)?, None);
//! # Ok::<(), psrp::Error>(())
//! ```

mod packet;
mod parse;
mod reader;

pub use packet::Packet;
pub use reader::{PacketReader, ReaderEvent, ReaderOptions, Role};
