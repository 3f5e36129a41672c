//! The eight packet types and their encoding.

use std::fmt;

use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::parse::{BOM, LineParser};
use crate::b64;
use crate::error::{Error, Kind};
use crate::fragment::Priority;

/// Packet of the out-of-process transport. Its target is a pipeline, or `None` for the pool (an all-zero identifier on
/// the wire).
///
/// Only servers send acknowledgements: PowerShell ends the session of a client that sends one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packet<'a> {
    /// From either side: one or more fragments. A client waits for [`Packet::DataAck`] before it sends more to the same
    /// target.
    Data {
        /// Pipeline, or `None` for the pool.
        target: Option<Uuid>,
        /// Stream of the target.
        priority: Priority,
        /// Encoded fragments; never empty.
        data: &'a [u8],
    },
    /// From the server: data was processed.
    DataAck(Option<Uuid>),
    /// From the client: creates a pipeline. Sent before the pipeline's data.
    Command(Option<Uuid>),
    /// From the server: the pipeline was created.
    CommandAck(Option<Uuid>),
    /// From the client: closes a pipeline or the pool.
    Close(Option<Uuid>),
    /// From the server: the pipeline or pool was closed.
    CloseAck(Option<Uuid>),
    /// From the client: stops a pipeline.
    Signal(Option<Uuid>),
    /// From the server: the signal was received.
    SignalAck(Option<Uuid>),
}

impl<'a> Packet<'a> {
    /// Returns the pipeline, or `None` for the pool.
    pub const fn target(&self) -> Option<Uuid> {
        match *self {
            Self::Data { target, .. }
            | Self::DataAck(target)
            | Self::Command(target)
            | Self::CommandAck(target)
            | Self::Close(target)
            | Self::CloseAck(target)
            | Self::Signal(target)
            | Self::SignalAck(target) => target,
        }
    }

    /// Appends the packet as a line with a line feed. Allocates only if the buffer has to grow.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_unwritable`] for a [`Packet::Data`] without data, which readers reject.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Self::Data { target, priority, data } = self else {
            // Element names have at most ten letters, so one reservation covers the line.
            out.reserve(64);
            out.push(b'<');
            out.extend_from_slice(self.name().as_bytes());
            out.extend_from_slice(b" PSGuid='");
            put_guid(self.target(), out);
            out.extend_from_slice(b"' />\n");
            return Ok(());
        };
        if data.is_empty() {
            return Err(Error::with(Kind::Unwritable, "a data packet without data"));
        }
        let start: &[u8] = match priority {
            Priority::Default => b"<Data Stream='Default' PSGuid='",
            Priority::PromptResponse => b"<Data Stream='PromptResponse' PSGuid='",
        };
        out.reserve(start.len() + Hyphenated::LENGTH + b64::encoded_len(data.len()) + 16);
        out.extend_from_slice(start);
        put_guid(*target, out);
        out.extend_from_slice(b"'>");
        b64::encode(data, out);
        out.extend_from_slice(b"</Data>\n");
        Ok(())
    }

    /// Parses a line that contains exactly one packet, with or without its line end. The data is decoded into `buffer`,
    /// which is cleared first.
    ///
    /// Follows PowerShell's rules: either quote, attributes in any order, identifiers in any .NET format; comments and
    /// processing instructions are skipped. Every stream other than `PromptResponse` (ignoring case) is the default
    /// stream.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_syntax`] or [`Error::is_unexpected_end`] if the line is not well-formed, with
    /// [`Error::is_invalid_header`] for other elements, attributes or identifiers, and with [`Error::is_invalid_text`]
    /// if the data is empty or not Base64.
    pub fn parse(line: &[u8], buffer: &'a mut Vec<u8>) -> Result<Self, Error> {
        let start = if line.starts_with(BOM) { BOM.len() } else { 0 };
        let mut parser = LineParser::new(line, start, 0);
        let Some(element) = parser.next()? else {
            return Err(
                Error::with(Kind::UnexpectedEnd, "a line without a packet").or_offset(line.len() as u64)
            );
        };
        if !parser.is_empty()? {
            return Err(Error::with(Kind::Syntax, "a line with two packets").or_offset(parser.offset()));
        }
        element.decode(line, 0, buffer)?;
        Ok(element.packet.with_data(buffer))
    }

    /// Returns this packet with other data if it has data.
    #[inline(always)]
    pub(super) const fn with_data<'d>(self, data: &'d [u8]) -> Packet<'d>
    where
        'a: 'd,
    {
        match self {
            Self::Data { target, priority, .. } => Packet::Data { target, priority, data },
            other => other,
        }
    }

    /// Creates a packet from the name of its element, without data. `None` if there is no such packet.
    #[inline(always)]
    pub(super) fn named(name: &[u8], target: Option<Uuid>, priority: Priority) -> Option<Self> {
        Some(match name {
            b"Data" => Self::Data { target, priority, data: &[] },
            b"DataAck" => Self::DataAck(target),
            b"Command" => Self::Command(target),
            b"CommandAck" => Self::CommandAck(target),
            b"Close" => Self::Close(target),
            b"CloseAck" => Self::CloseAck(target),
            b"Signal" => Self::Signal(target),
            b"SignalAck" => Self::SignalAck(target),
            _ => return None,
        })
    }

    pub(super) const fn is_data(&self) -> bool {
        matches!(self, Self::Data { .. })
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Data { .. } => "Data",
            Self::DataAck(_) => "DataAck",
            Self::Command(_) => "Command",
            Self::CommandAck(_) => "CommandAck",
            Self::Close(_) => "Close",
            Self::CloseAck(_) => "CloseAck",
            Self::Signal(_) => "Signal",
            Self::SignalAck(_) => "SignalAck",
        }
    }
}

fn put_guid(target: Option<Uuid>, out: &mut Vec<u8>) {
    let mut text = [0; Hyphenated::LENGTH];
    out.extend_from_slice(target.unwrap_or_default().as_hyphenated().encode_lower(&mut text).as_bytes());
}

/// Shows the size of the data but not its contents, which can be secret.
impl fmt::Debug for Packet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data { target, priority, data } => f
                .debug_struct("Data")
                .field("target", target)
                .field("priority", priority)
                .field("len", &data.len())
                .finish(),
            other => f.debug_tuple(other.name()).field(&other.target()).finish(),
        }
    }
}
