//! The eight packets, and how they are written.

use std::fmt;

use uuid::Uuid;
use uuid::fmt::Hyphenated;

use super::parse::{BOM, Element, Line, Name};
use crate::b64;
use crate::error::{Error, Kind};
use crate::fragment::Priority;

/// A packet. Its target is a pipeline, or `None`, which is an identifier of zeros on the wire, for the pool.
///
/// Acknowledgements go from the server to the client, and never back: PowerShell ends the session of a client that sends
/// one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packet<'a> {
    /// One or more fragments. Both sides; a client waits for [`Packet::DataAck`] before it sends more to the same target.
    Data {
        /// The pipeline, or `None` for the pool.
        target: Option<Uuid>,
        /// The stream of the target.
        priority: Priority,
        /// The fragments; never empty.
        data: &'a [u8],
    },
    /// Server: data was processed.
    DataAck(Option<Uuid>),
    /// Client: makes a pipeline, before its first data.
    Command(Option<Uuid>),
    /// Server: the pipeline is there.
    CommandAck(Option<Uuid>),
    /// Client: closes a pipeline, or the pool.
    Close(Option<Uuid>),
    /// Server: it is closed.
    CloseAck(Option<Uuid>),
    /// Client: stops a pipeline.
    Signal(Option<Uuid>),
    /// Server: the signal has arrived.
    SignalAck(Option<Uuid>),
}

impl<'a> Packet<'a> {
    /// The pipeline, or `None` for the pool.
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

    /// Appends the line of the packet with its line feed. Allocates only if the buffer has to grow.
    ///
    /// # Errors
    ///
    /// Fails if there is no data in [`Packet::Data`], which no reader takes ([`Error::is_unwritable`]).
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        let Self::Data { target, priority, data } = self else {
            // Names have at most ten letters: one reservation for all of the line.
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

    /// Reads a line with exactly one packet, with or without a line end. Data is decoded into the buffer, whose content is
    /// lost.
    ///
    /// The rules are PowerShell's: any quotes, the attributes in any order, identifiers in any form of .NET, comments and
    /// processing instructions skipped. A stream other than `PromptResponse` (in any case) is the default one.
    ///
    /// # Errors
    ///
    /// Fails if the line is not well-formed ([`Error::is_syntax`], [`Error::is_unexpected_end`]), for other elements,
    /// attributes or identifiers ([`Error::is_invalid_header`]) and if the data is empty or no Base64
    /// ([`Error::is_invalid_text`]).
    pub fn parse(line: &[u8], buffer: &'a mut Vec<u8>) -> Result<Self, Error> {
        let start = if line.starts_with(BOM) { BOM.len() } else { 0 };
        let mut parser = Line::new(line, start, 0);
        let Some(element) = parser.next()? else {
            return Err(
                Error::with(Kind::UnexpectedEnd, "a line without a packet").or_offset(line.len() as u64)
            );
        };
        if !parser.is_empty()? {
            return Err(Error::with(Kind::Syntax, "a line with two packets").or_offset(parser.offset()));
        }
        element.decode(line, 0, buffer)?;
        Ok(Self::from_element(&element, buffer))
    }

    #[inline(always)]
    pub(super) const fn from_element(element: &Element, data: &'a [u8]) -> Self {
        let target = element.target;
        match element.name {
            Name::Data => Self::Data { target, priority: element.priority, data },
            Name::DataAck => Self::DataAck(target),
            Name::Command => Self::Command(target),
            Name::CommandAck => Self::CommandAck(target),
            Name::Close => Self::Close(target),
            Name::CloseAck => Self::CloseAck(target),
            Name::Signal => Self::Signal(target),
            Name::SignalAck => Self::SignalAck(target),
        }
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

/// Shows how much data there is, not the data, for it may be secret.
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
