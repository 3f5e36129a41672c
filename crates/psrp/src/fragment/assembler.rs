//! Reassembles messages from fragments by PowerShell's rules.

use super::FragmentHeader;
use crate::error::{Error, Kind};

/// Message buffers of a larger capacity are freed after their message was returned.
const MAX_RETAINED_CAPACITY: usize = 1 << 20;

/// Options of an [`Assembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblerOptions {
    max_object_size: usize,
    out_of_order: OutOfOrder,
}

/// How an [`Assembler`] handles a fragment that does not continue the current message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutOfOrder {
    /// Returns an error.
    #[default]
    Fail,
    /// Ignores the fragment, discards the partial message and continues with the next start fragment. Used by a client
    /// that reconnects after the connection was lost in the middle of a message.
    Skip,
}

impl AssemblerOptions {
    /// Default of [`max_object_size`](Self::max_object_size): 10 MiB, as on PowerShell's servers.
    pub const DEFAULT_MAX_OBJECT_SIZE: usize = 10 << 20;

    /// Returns the default options: 10 MiB, [`OutOfOrder::Fail`].
    pub const fn new() -> Self {
        Self { max_object_size: Self::DEFAULT_MAX_OBJECT_SIZE, out_of_order: OutOfOrder::Fail }
    }

    setters! {
        /// Sets the maximum size of a message in bytes, including the headers of its fragments. Default:
        /// [`DEFAULT_MAX_OBJECT_SIZE`](Self::DEFAULT_MAX_OBJECT_SIZE), 10 MiB. `usize::MAX` means no limit.
        max_object_size(bytes: usize) => max_object_size = bytes;
        /// Sets how a fragment is handled that does not continue the current message. Default: [`OutOfOrder::Fail`].
        out_of_order(handling: OutOfOrder) => out_of_order = handling;
    }
}

impl_default!(AssemblerOptions);

/// Reassembles the messages that one sender sends to one target with one [`Priority`](super::Priority).
///
/// It follows PowerShell's rules: the fragments of a message are contiguous and in order, and a start fragment discards
/// a partial message. Input may be split into chunks anywhere. Size limits are checked as soon as a header is complete,
/// before its blob is buffered. Error offsets count from the first byte of input and point to the header.
pub struct Assembler {
    options: AssemblerOptions,
    headers: HeaderReader,
    state: AssemblerState,
    partial: Option<PartialMessage>,
    /// Blobs of the partial message, or the message returned by the last call.
    message: Vec<u8>,
}

/// Part of the stream that the next byte belongs to.
enum AssemblerState {
    Header,
    Blob {
        left: usize,
        end: bool,
    },
    /// A message was returned; the next call clears its buffer.
    Done,
    Failed,
}

struct PartialMessage {
    object_id: u64,
    last_fragment: u64,
    /// Bytes of all fragments so far, including headers.
    received: usize,
}

impl Assembler {
    /// Creates an assembler with the default options.
    pub const fn new() -> Self {
        Self::with_options(AssemblerOptions::new())
    }

    /// Creates an assembler with these options.
    pub const fn with_options(options: AssemblerOptions) -> Self {
        Self {
            options,
            headers: HeaderReader::new(),
            state: AssemblerState::Header,
            partial: None,
            message: Vec::new(),
        }
    }

    /// Consumes input until a message is complete and returns it, or `None` when the input is used up.
    ///
    /// The message is borrowed from the input if it is a single fragment that is completely available, otherwise from
    /// the assembler's buffer.
    ///
    /// # Errors
    ///
    /// Fails if a fragment does not continue the current message ([`Error::is_out_of_order`]), if a message exceeds the
    /// size limit ([`Error::is_limit`]), or if the object identifier is 0 ([`Error::is_invalid_header`]). The stream
    /// cannot be resynchronized after an error: every further call fails with [`Error::is_state`].
    #[inline]
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Error> {
        loop {
            match &mut self.state {
                AssemblerState::Header => {
                    let header = match self.headers.read(input) {
                        Ok(Some(header)) => header,
                        Ok(None) => return Ok(None),
                        Err(error) => return Err(self.fail(error)),
                    };
                    let mut left = header.blob_len as usize;
                    match self.begin(&header) {
                        Ok(true) => {}
                        Ok(false) => {
                            self.state = AssemblerState::Blob { left, end: false };
                            continue;
                        }
                        Err(error) => return Err(self.fail(error)),
                    }
                    let is_whole = input.len() >= left;
                    if is_whole && header.start && header.end {
                        self.partial = None;
                        return Ok(Some(self.headers.read_blob(input, &mut left)));
                    }
                    if header.start {
                        self.message.reserve(Self::initial_capacity(left.min(input.len())));
                    }
                    if is_whole && !header.end {
                        self.message.extend_from_slice(self.headers.read_blob(input, &mut left));
                        continue;
                    }
                    self.state = AssemblerState::Blob { left, end: header.end };
                }
                AssemblerState::Blob { left, end } => {
                    let blob = self.headers.read_blob(input, left);
                    // Without a message, the blob is skipped.
                    if self.partial.is_some() {
                        self.message.extend_from_slice(blob);
                    }
                    if *left > 0 {
                        return Ok(None);
                    }
                    if *end {
                        self.partial = None;
                        self.state = AssemblerState::Done;
                        return Ok(Some(&self.message));
                    }
                    self.state = AssemblerState::Header;
                }
                AssemblerState::Done => {
                    self.discard();
                    self.state = AssemblerState::Header;
                }
                AssemblerState::Failed => {
                    return Err(Error::with(Kind::State, "the assembler has failed before"));
                }
            }
        }
    }

    /// Initial capacity of a message buffer of which this much input is available: most messages have few fragments.
    fn initial_capacity(available: usize) -> usize {
        const MAX: usize = 256 * 1024;
        available.max(available.saturating_mul(8).min(MAX))
    }

    /// Checks a header against the partial message and starts or continues it. Returns `false` if the blob is to be
    /// skipped.
    #[inline]
    fn begin(&mut self, header: &FragmentHeader) -> Result<bool, Error> {
        let before = match &self.partial {
            Some(partial) if !header.start => partial.received,
            _ => 0,
        };
        let received = before.saturating_add(FragmentHeader::LEN).saturating_add(header.blob_len as usize);
        if received > self.options.max_object_size {
            return Err(self.headers.with_offset(Error::with(Kind::Limit, "size of a message")));
        }
        if header.start {
            self.discard();
        } else {
            let wrong = match &self.partial {
                None => Some("no message was started"),
                Some(partial) if partial.object_id != header.object_id => {
                    Some("another message is incomplete")
                }
                Some(partial) if partial.last_fragment + 1 != header.fragment_id => {
                    Some("not the next fragment of its message")
                }
                Some(_) => None,
            };
            match (wrong, self.options.out_of_order) {
                (None, _) => {}
                (Some(wrong), OutOfOrder::Fail) => {
                    return Err(self.headers.with_offset(Error::with(Kind::OutOfOrder, wrong)));
                }
                (Some(_), OutOfOrder::Skip) => {
                    self.discard();
                    return Ok(false);
                }
            }
        }
        self.partial =
            Some(PartialMessage { object_id: header.object_id, last_fragment: header.fragment_id, received });
        Ok(true)
    }

    /// Returns whether a message is partially received.
    pub const fn is_pending(&self) -> bool {
        self.partial.is_some()
    }

    /// Returns whether the assembler can be dropped without losing input: neither a message nor a header is partially
    /// received.
    pub(crate) const fn is_idle(&self) -> bool {
        self.partial.is_none()
            && matches!(self.state, AssemblerState::Header | AssemblerState::Done)
            && self.headers.is_empty()
    }

    /// Returns the capacity of the message buffer in bytes.
    pub(crate) const fn buffered_bytes(&self) -> usize {
        self.message.capacity()
    }

    fn discard(&mut self) {
        self.partial = None;
        if self.message.capacity() > MAX_RETAINED_CAPACITY {
            self.message = Vec::new();
        }
        self.message.clear();
    }

    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.state = AssemblerState::Failed;
        self.partial = None;
        self.message = Vec::new();
        error
    }
}

impl_debug! {
    /// Shows no buffered bytes, which may be secret.
    Assembler |this| options = this.options, pending = this.is_pending()
}

impl_default!(Assembler);

/// Reads headers and blobs from chunks of any size.
struct HeaderReader {
    bytes: [u8; FragmentHeader::LEN],
    len: usize,
    /// Bytes consumed since the start of the stream, including blobs.
    offset: u64,
}

impl HeaderReader {
    const fn new() -> Self {
        Self { bytes: [0; FragmentHeader::LEN], len: 0, offset: 0 }
    }

    /// Returns whether no header is partially read.
    const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads a header. Returns `None` if the input ends before the header is complete; all of it is consumed then.
    #[inline]
    fn read(&mut self, input: &mut &[u8]) -> Result<Option<FragmentHeader>, Error> {
        if self.len == 0
            && let Some((header, rest)) = input.split_first_chunk()
        {
            *input = rest;
            self.offset += FragmentHeader::LEN as u64;
            return FragmentHeader::from_bytes(header).map(Some).map_err(|error| self.with_offset(error));
        }
        let missing = &mut self.bytes[self.len..];
        let taken = missing.len().min(input.len());
        missing[..taken].copy_from_slice(&input[..taken]);
        *input = &input[taken..];
        self.offset += taken as u64;
        self.len += taken;
        if self.len < FragmentHeader::LEN {
            return Ok(None);
        }
        self.len = 0;
        FragmentHeader::from_bytes(&self.bytes).map(Some).map_err(|error| self.with_offset(error))
    }

    /// Consumes at most `left` bytes of a blob and subtracts them from `left`.
    #[inline]
    fn read_blob<'i>(&mut self, input: &mut &'i [u8], left: &mut usize) -> &'i [u8] {
        let (blob, rest) = input.split_at((*left).min(input.len()));
        *input = rest;
        *left -= blob.len();
        self.offset += blob.len() as u64;
        blob
    }

    /// Sets the offset of an error to the start of the last header.
    fn with_offset(&self, error: Error) -> Error {
        error.or_offset(self.offset - FragmentHeader::LEN as u64)
    }
}
