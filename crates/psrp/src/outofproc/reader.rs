//! Reads packets from a stream of bytes.

use super::Packet;
use super::parse::{BOM, LineParser};
use crate::error::{Error, Kind};
use crate::fragment::Fragmenter;

/// Line buffers larger than this are freed after the line.
const MAX_RETAINED: usize = 1 << 20;

/// Prefix of the line in which a server reports why it ends.
const FAILURE_PREFIX: &[u8] = b"__NamedPipeError__:";

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Client. Skips lines that are not packets, for example login banners and profile output.
    Client,
    /// Server. Rejects lines that are not packets; an empty line ends the session.
    Server,
}

/// Limits of a [`PacketReader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderOptions {
    max_line: usize,
}

impl ReaderOptions {
    /// Default of [`max_line`](Self::max_line): 44,716 bytes, which is a packet with one fragment of the default size
    /// plus 1 KiB.
    pub const DEFAULT_MAX_LINE: usize = crate::b64::encoded_len(Fragmenter::DEFAULT_FRAGMENT_SIZE) + 1024;

    /// Creates options with the default limit.
    pub const fn new() -> Self {
        Self { max_line: Self::DEFAULT_MAX_LINE }
    }

    /// Sets the maximum bytes of a line, without its line feed. `usize::MAX` disables the limit. Default:
    /// [`DEFAULT_MAX_LINE`](Self::DEFAULT_MAX_LINE), 44,716 bytes.
    ///
    /// A packet can contain several fragments. Fragments of `n` bytes in total take `n / 3 * 4` bytes plus about 100.
    #[must_use]
    pub const fn max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }
}

impl_default!(ReaderOptions);

/// Item returned by [`PacketReader::next`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReaderEvent<'a> {
    /// Packet of the peer.
    Packet(Packet<'a>),
    /// The client ended the session with an empty line. Returned to servers only.
    End,
    /// The server reports why it ends. The text is the server's: escape it before displaying it in a terminal. Returned
    /// to clients only.
    Failure(String),
}

/// Incremental parser of packets; the input can be split anywhere.
///
/// Lines end with LF or CRLF and can contain several packets. A line that is completely contained in the input is
/// parsed in place. Error offsets count from the first byte of the stream.
pub struct PacketReader {
    role: Role,
    options: ReaderOptions,
    /// Incomplete line, or a complete one with unread packets.
    line: Vec<u8>,
    /// Position of the next packet in a complete line.
    rest: Option<usize>,
    /// Offset of the line in the stream.
    offset: u64,
    data: Vec<u8>,
    has_failed: bool,
}

impl PacketReader {
    /// Creates a reader with the default options.
    pub const fn new(role: Role) -> Self {
        Self::with_options(role, ReaderOptions::new())
    }

    /// Creates a reader with the given options.
    pub const fn with_options(role: Role, options: ReaderOptions) -> Self {
        Self { role, options, line: Vec::new(), rest: None, offset: 0, data: Vec::new(), has_failed: false }
    }

    /// Consumes input up to the next packet and returns it, or `None` when all input is consumed.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_limit`] for a line that exceeds the limit, before storing more of it, and like
    /// [`Packet::parse`]. Errors are fatal: every further call fails with [`Error::is_state`].
    pub fn next<'s>(&'s mut self, input: &mut &[u8]) -> Result<Option<ReaderEvent<'s>>, Error> {
        if self.has_failed {
            return Err(Error::with(Kind::State, "the reader has already failed"));
        }
        match self.step(input) {
            Ok(Some(ReaderEvent::Packet(packet))) => {
                Ok(Some(ReaderEvent::Packet(packet.with_data(&self.data))))
            }
            Ok(event) => Ok(event),
            Err(error) => {
                self.has_failed = true;
                self.line = Vec::new();
                Err(error)
            }
        }
    }

    /// Signals the end of the stream, which also ends an incomplete last line.
    ///
    /// # Errors
    ///
    /// Fails like [`PacketReader::next`].
    pub fn finish(&mut self) -> Result<Option<ReaderEvent<'_>>, Error> {
        if self.line.is_empty() || self.rest.is_some() {
            return self.next(&mut &[][..]);
        }
        self.next(&mut &b"\n"[..])
    }

    /// Like [`next`](Self::next), but the data of a packet is in the buffer.
    #[inline]
    fn step(&mut self, input: &mut &[u8]) -> Result<Option<ReaderEvent<'static>>, Error> {
        loop {
            if let Some(at) = self.rest {
                let (item, rest) = next_packet(&self.line, at, self.offset, &mut self.data)?;
                self.rest = rest;
                if rest.is_none() {
                    self.end_line(self.line.len());
                }
                if item.is_some() {
                    return Ok(item);
                }
                continue;
            }
            let end = memchr::memchr(b'\n', input);
            let (head, tail) = input.split_at(end.unwrap_or(input.len()));
            if self.line.len() + head.len() > self.options.max_line {
                return Err(Error::with(Kind::Limit, "bytes of a line (see max_line)").or_offset(self.offset));
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
            let (item, rest) = match parse_control_line(self.role, &line[start..]) {
                Some(control) => (control, None),
                None => next_packet(line, start, self.offset, &mut self.data)?,
            };
            if rest.is_some() && !buffered {
                self.line.extend_from_slice(head);
            }
            self.rest = rest;
            if rest.is_none() {
                self.end_line(len);
            }
            if item.is_some() {
                return Ok(item);
            }
        }
    }

    /// Discards a finished line of `len` bytes.
    fn end_line(&mut self, len: usize) {
        self.offset += len as u64 + 1;
        if self.line.capacity() > MAX_RETAINED {
            self.line = Vec::new();
        }
        self.line.clear();
    }
}

impl_debug! {
    /// Shows position and sizes, not received data, which can be secret.
    PacketReader |this|
        role = this.role, options = this.options, offset = this.offset, len = this.line.len(),
        has_failed = this.has_failed
}

/// Parses lines that are not packets. `None` if the line contains packets, `Some(None)` if it is to be skipped.
fn parse_control_line(role: Role, line: &[u8]) -> Option<Option<ReaderEvent<'static>>> {
    match role {
        Role::Server => line.is_empty().then_some(Some(ReaderEvent::End)),
        Role::Client if line.trim_ascii_start().starts_with(b"<") => None,
        Role::Client => Some(
            line.strip_prefix(FAILURE_PREFIX)
                .map(|reason| ReaderEvent::Failure(String::from_utf8_lossy(reason).trim().to_owned())),
        ),
    }
}

/// Parses the next packet of a line. Also returns the position after it, if there is more to parse.
#[inline]
fn next_packet(
    line: &[u8],
    at: usize,
    offset: u64,
    data: &mut Vec<u8>,
) -> Result<(Option<ReaderEvent<'static>>, Option<usize>), Error> {
    let mut parser = LineParser::new(line, at, offset);
    let Some(element) = parser.next()? else { return Ok((None, None)) };
    element.decode(line, offset, data)?;
    let after = parser.at();
    // An error after this packet is reported by the next call.
    let rest = if matches!(parser.is_empty(), Ok(true)) { None } else { Some(after) };
    Ok((Some(ReaderEvent::Packet(element.packet)), rest))
}
