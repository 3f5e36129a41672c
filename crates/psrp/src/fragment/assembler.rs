//! Putting messages together by PowerShell's rules.

use super::FragmentHeader;
use super::input::{HeaderInput, RETAINED, failed_before, first_reserve};
use crate::error::Error;

/// What an [`Assembler`] accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssemblerOptions {
    max_object_size: usize,
    out_of_order: OutOfOrder,
}

/// What happens to a fragment that does not continue the message before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutOfOrder {
    /// It is an error.
    #[default]
    Fail,
    /// It is ignored, and so is what was received of the message, until a message begins: for a client that was
    /// disconnected in the middle of a message and connects again.
    Skip,
}

impl AssemblerOptions {
    /// Default of [`max_object_size`](Self::max_object_size): 10 MiB, as on PowerShell's servers.
    pub const DEFAULT_MAX_OBJECT_SIZE: usize = 10 << 20;

    /// The default limit, [`OutOfOrder::Fail`].
    pub const fn new() -> Self {
        Self { max_object_size: Self::DEFAULT_MAX_OBJECT_SIZE, out_of_order: OutOfOrder::Fail }
    }

    /// Limits a message to so many bytes, the headers of its fragments included. Default:
    /// [`DEFAULT_MAX_OBJECT_SIZE`](Self::DEFAULT_MAX_OBJECT_SIZE), 10 MiB. `usize::MAX` means no limit.
    #[must_use]
    pub const fn max_object_size(mut self, bytes: usize) -> Self {
        self.max_object_size = bytes;
        self
    }

    /// Chooses what happens to a fragment that does not continue the message before it. Default: [`OutOfOrder::Fail`].
    #[must_use]
    pub const fn out_of_order(mut self, what: OutOfOrder) -> Self {
        self.out_of_order = what;
        self
    }
}

impl Default for AssemblerOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Puts together what one sender has sent to one target with one [`Priority`](super::Priority).
///
/// The rules are PowerShell's: fragments of a message follow each other without a gap, and a start drops what was not
/// complete. Bytes may be divided in any way. Sizes are checked when a header is there, before its blob is waited for or
/// stored. Offsets of errors count from the first byte that the assembler was given and point to the header.
pub struct Assembler {
    pub(super) options: AssemblerOptions,
    input: HeaderInput,
    state: State,
    open: Option<Open>,
    /// Blobs of the open message, or the message that was handed out by the last call.
    message: Vec<u8>,
}

/// What the next byte belongs to.
enum State {
    Header,
    Blob {
        left: usize,
        end: bool,
    },
    Skipped {
        left: usize,
    },
    /// The message was handed out; its buffer is cleared by the next call.
    Done,
    Failed,
}

/// The message in progress.
struct Open {
    object_id: u64,
    last_fragment: u64,
    /// Bytes of all of its fragments with their headers.
    received: usize,
}

impl Assembler {
    /// With the default options.
    pub const fn new() -> Self {
        Self::with_options(AssemblerOptions::new())
    }

    /// With these options.
    pub const fn with_options(options: AssemblerOptions) -> Self {
        Self { options, input: HeaderInput::new(), state: State::Header, open: None, message: Vec::new() }
    }

    /// Changes the options for the fragments that follow.
    pub const fn set_options(&mut self, options: AssemblerOptions) {
        self.options = options;
    }

    /// Takes bytes until a message is complete, and gives it. `None` when all bytes are taken.
    ///
    /// The message is borrowed from the input if it is there as a whole, else from the assembler.
    ///
    /// # Errors
    ///
    /// Fails for a fragment that does not continue the message before it ([`Error::is_out_of_order`]), for a message past
    /// the limit ([`Error::is_limit`]) and for an object of number 0 ([`Error::is_invalid_header`]). After that the place
    /// in the stream is lost: each further call fails ([`Error::is_state`]).
    #[inline]
    pub fn next<'s, 'i: 's>(&'s mut self, input: &mut &'i [u8]) -> Result<Option<&'s [u8]>, Error> {
        loop {
            match &mut self.state {
                State::Header => {
                    let header = match self.input.take(input) {
                        Ok(Some(header)) => header,
                        Ok(None) => return Ok(None),
                        Err(error) => return Err(self.fail(error)),
                    };
                    let mut left = header.blob_len as usize;
                    match self.begin(&header) {
                        Ok(true) => {}
                        Ok(false) => {
                            self.state = State::Skipped { left };
                            continue;
                        }
                        Err(error) => return Err(self.fail(error)),
                    }
                    let is_whole = input.len() >= left;
                    if is_whole && header.start && header.end {
                        self.open = None;
                        return Ok(Some(self.input.take_blob(input, &mut left)));
                    }
                    if header.start {
                        self.message.reserve(first_reserve(left.min(input.len())));
                    }
                    if is_whole && !header.end {
                        self.message.extend_from_slice(self.input.take_blob(input, &mut left));
                        continue;
                    }
                    self.state = State::Blob { left, end: header.end };
                }
                State::Blob { left, end } => {
                    self.message.extend_from_slice(self.input.take_blob(input, left));
                    if *left > 0 {
                        return Ok(None);
                    }
                    if *end {
                        self.open = None;
                        self.state = State::Done;
                        return Ok(Some(&self.message));
                    }
                    self.state = State::Header;
                }
                State::Skipped { left } => {
                    self.input.take_blob(input, left);
                    if *left > 0 {
                        return Ok(None);
                    }
                    self.state = State::Header;
                }
                State::Done => {
                    self.discard();
                    self.state = State::Header;
                }
                State::Failed => return Err(failed_before()),
            }
        }
    }

    /// Checks a header against the open message and makes it part of that. Whether the blob is wanted.
    #[inline]
    fn begin(&mut self, header: &FragmentHeader) -> Result<bool, Error> {
        let before = match &self.open {
            Some(open) if !header.start => open.received,
            _ => 0,
        };
        let received = before.saturating_add(FragmentHeader::LEN).saturating_add(header.blob_len as usize);
        if received > self.options.max_object_size {
            return Err(self.input.limit("size of an object"));
        }
        if header.start {
            self.discard();
        } else {
            let wrong = match &self.open {
                None => Some("no object was started"),
                Some(open) if open.object_id != header.object_id => Some("another object is open"),
                Some(open) if open.last_fragment + 1 != header.fragment_id => {
                    Some("not the next of its object")
                }
                Some(_) => None,
            };
            match (wrong, self.options.out_of_order) {
                (None, _) => {}
                (Some(wrong), OutOfOrder::Fail) => return Err(self.input.out_of_order(wrong)),
                (Some(_), OutOfOrder::Skip) => {
                    self.discard();
                    return Ok(false);
                }
            }
        }
        self.open = Some(Open { object_id: header.object_id, last_fragment: header.fragment_id, received });
        Ok(true)
    }

    /// Whether a message is there in part.
    pub const fn is_pending(&self) -> bool {
        self.open.is_some()
    }

    /// Whether nothing would be lost with it: neither a part of a message nor of a header is there.
    pub(crate) const fn is_idle(&self) -> bool {
        self.open.is_none() && matches!(self.state, State::Header | State::Done) && self.input.is_empty()
    }

    /// The memory that it holds.
    pub(crate) const fn held_bytes(&self) -> usize {
        self.message.capacity()
    }

    /// Forgets everything that was received, a failure included. The next byte is the first of a fragment.
    pub fn reset(&mut self) {
        *self = Self::with_options(self.options);
    }

    fn discard(&mut self) {
        self.open = None;
        if self.message.capacity() > RETAINED {
            self.message = Vec::new();
        }
        self.message.clear();
    }

    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        self.state = State::Failed;
        self.open = None;
        self.message = Vec::new();
        error
    }
}

impl Default for Assembler {
    fn default() -> Self {
        Self::new()
    }
}
