//! Lines out of chunks.

use std::fmt;

use super::Packet;
use super::parse::{BOM, Element, Line};
use crate::error::{Error, Kind};
use crate::fragment::Fragmenter;

/// Buffers beyond this are given back after their line.
const RETAINED: usize = 1 << 20;

/// What a server writes in front of the reason why it ends.
const FAILURE: &[u8] = b"__NamedPipeError__:";

/// Which side reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The client, which skips lines that are no packets: banners and profiles of a login print such.
    Client,
    /// The server, for which everything that is no packet is an error, and an empty line the end of the session.
    Server,
}

/// What a [`PacketReader`] accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderOptions {
    max_line: usize,
}

impl ReaderOptions {
    /// Default of [`max_line`](Self::max_line): a packet with one fragment of the default size and 1 KiB, which makes
    /// 44,716 bytes.
    pub const DEFAULT_MAX_LINE: usize = crate::b64::encoded_len(Fragmenter::DEFAULT_FRAGMENT_SIZE) + 1024;

    /// The default limit.
    pub const fn new() -> Self {
        Self { max_line: Self::DEFAULT_MAX_LINE }
    }

    /// Limits a line to so many bytes without its line feed. Default:
    /// [`DEFAULT_MAX_LINE`](Self::DEFAULT_MAX_LINE), 44,716 bytes. `usize::MAX` means no limit.
    ///
    /// A peer may put several fragments into a packet; fragments of `n` bytes take `n / 3 * 4` and about 100 bytes more.
    #[must_use]
    pub const fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }
}

impl Default for ReaderOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What [`PacketReader::next`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Received<'a> {
    /// A packet.
    Packet(Packet<'a>),
    /// The client has ended the session with an empty line. Only servers find this.
    End,
    /// The server ends and tells why. It is text from the other side: escape it before it goes to a terminal. Only clients
    /// find this.
    Failure(String),
}

/// Reads packets from bytes in any division.
///
/// Lines end with a line feed, in front of which there may be a carriage return. A line that arrives as a whole is read in
/// place. A line may hold several packets. Offsets of errors count from the first byte that the reader was given.
pub struct PacketReader {
    role: Role,
    options: ReaderOptions,
    /// The line in progress, or a complete one of which packets are left.
    line: Vec<u8>,
    /// Where to go on in a complete line.
    rest: Option<usize>,
    /// Where in the stream the line begins.
    offset: u64,
    data: Vec<u8>,
    failed: bool,
}

impl PacketReader {
    /// With the default options.
    pub const fn new(role: Role) -> Self {
        Self::with_options(role, ReaderOptions::new())
    }

    /// With these options.
    pub const fn with_options(role: Role, options: ReaderOptions) -> Self {
        Self { role, options, line: Vec::new(), rest: None, offset: 0, data: Vec::new(), failed: false }
    }

    /// Takes bytes until there is a packet, and gives it. `None` when all bytes are taken.
    ///
    /// # Errors
    ///
    /// Fails for a line past the limit ([`Error::is_limit`]), before more of it is stored, and as [`Packet::parse`] does.
    /// These errors are fatal for a session: each further call fails ([`Error::is_state`]).
    pub fn next<'s>(&'s mut self, input: &mut &[u8]) -> Result<Option<Received<'s>>, Error> {
        if self.failed {
            return Err(Error::with(Kind::State, "the reader has failed before"));
        }
        match self.step(input) {
            Ok(Some(Found::Packet(element))) => {
                Ok(Some(Received::Packet(Packet::from_element(&element, &self.data))))
            }
            Ok(Some(Found::End)) => Ok(Some(Received::End)),
            Ok(Some(Found::Failure(text))) => Ok(Some(Received::Failure(text))),
            Ok(None) => Ok(None),
            Err(error) => {
                self.failed = true;
                self.line = Vec::new();
                Err(error)
            }
        }
    }

    /// Takes the end of the stream for the end of the line in progress, if there is one.
    ///
    /// # Errors
    ///
    /// Those of [`PacketReader::next`].
    pub fn finish(&mut self) -> Result<Option<Received<'_>>, Error> {
        if self.line.is_empty() || self.rest.is_some() {
            return self.next(&mut &[][..]);
        }
        self.next(&mut &b"\n"[..])
    }

    #[inline]
    fn step(&mut self, input: &mut &[u8]) -> Result<Option<Found>, Error> {
        loop {
            if let Some(at) = self.rest {
                let (found, rest) = packet(&self.line, at, self.offset, &mut self.data)?;
                self.rest = rest;
                if rest.is_none() {
                    self.end_line(self.line.len());
                }
                if found.is_some() {
                    return Ok(found);
                }
                continue;
            }
            let end = memchr::memchr(b'\n', input);
            let (head, tail) = input.split_at(end.unwrap_or(input.len()));
            if self.line.len() + head.len() > self.options.max_line {
                return Err(Error::with(Kind::Limit, "length of a line").or_offset(self.offset));
            }
            if end.is_none() {
                self.line.extend_from_slice(head);
                *input = tail;
                return Ok(None);
            }
            *input = &tail[1..];
            let buffered = !self.line.is_empty();
            if buffered {
                self.line.extend_from_slice(head);
            }
            let full = if buffered { &self.line[..] } else { head };
            let len = full.len();
            let line = full.strip_suffix(b"\r").unwrap_or(full);
            let start = if self.offset == 0 && line.starts_with(BOM) { BOM.len() } else { 0 };
            let (found, rest) = match is_other(self.role, &line[start..]) {
                Some(other) => (other, None),
                None => packet(line, start, self.offset, &mut self.data)?,
            };
            if rest.is_some() && !buffered {
                self.line.extend_from_slice(head);
            }
            self.rest = rest;
            if rest.is_none() {
                self.end_line(len);
            }
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Forgets a line of so many bytes.
    fn end_line(&mut self, len: usize) {
        self.offset += len as u64 + 1;
        if self.line.capacity() > RETAINED {
            self.line = Vec::new();
        }
        self.line.clear();
    }
}

/// Shows where it is, not what it has received, for that may be secret.
impl fmt::Debug for PacketReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketReader")
            .field("role", &self.role)
            .field("options", &self.options)
            .field("offset", &self.offset)
            .field("len", &self.line.len())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

enum Found {
    /// A packet, its data in the buffer.
    Packet(Element),
    End,
    Failure(String),
}

/// What a line means that is not there for packets, or that it means nothing.
fn is_other(role: Role, line: &[u8]) -> Option<Option<Found>> {
    match role {
        Role::Server => line.is_empty().then_some(Some(Found::End)),
        Role::Client if line.trim_ascii_start().starts_with(b"<") => None,
        Role::Client => Some(
            line.strip_prefix(FAILURE)
                .map(|reason| Found::Failure(String::from_utf8_lossy(reason).trim().to_owned())),
        ),
    }
}

/// The next packet of a line from a place on, and the place after it if there is more.
#[inline]
fn packet(
    line: &[u8],
    at: usize,
    offset: u64,
    data: &mut Vec<u8>,
) -> Result<(Option<Found>, Option<usize>), Error> {
    let mut parser = Line::new(line, at, offset);
    let Some(element) = parser.next()? else { return Ok((None, None)) };
    element.decode(line, offset, data)?;
    let after = parser.at();
    // What is wrong behind a packet is told after the packet.
    let rest = if matches!(parser.is_empty(), Ok(true)) { None } else { Some(after) };
    Ok((Some(Found::Packet(element)), rest))
}
