//! Putting messages together whose fragments are mixed.

use super::input::{HeaderInput, RETAINED, failed_before, first_reserve};
use super::{AssemblerOptions, FragmentHeader};
use crate::error::Error;

/// The limits of an [`InterleavedAssembler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterleavedOptions {
    max_object_size: usize,
    max_pending_objects: usize,
    max_pending_bytes: usize,
}

impl InterleavedOptions {
    /// Default of [`max_object_size`](Self::max_object_size): 10 MiB, as on PowerShell's servers.
    pub const DEFAULT_MAX_OBJECT_SIZE: usize = AssemblerOptions::DEFAULT_MAX_OBJECT_SIZE;
    /// Default of [`max_pending_objects`](Self::max_pending_objects): 16.
    pub const DEFAULT_MAX_PENDING_OBJECTS: usize = 16;
    /// Default of [`max_pending_bytes`](Self::max_pending_bytes): 20 MiB.
    pub const DEFAULT_MAX_PENDING_BYTES: usize = 2 * Self::DEFAULT_MAX_OBJECT_SIZE;

    /// The defaults.
    pub const fn new() -> Self {
        Self {
            max_object_size: Self::DEFAULT_MAX_OBJECT_SIZE,
            max_pending_objects: Self::DEFAULT_MAX_PENDING_OBJECTS,
            max_pending_bytes: Self::DEFAULT_MAX_PENDING_BYTES,
        }
    }

    /// Limits a message to so many bytes, the headers of its fragments included. Default:
    /// [`DEFAULT_MAX_OBJECT_SIZE`](Self::DEFAULT_MAX_OBJECT_SIZE), 10 MiB.
    #[must_use]
    pub const fn max_object_size(mut self, bytes: usize) -> Self {
        self.max_object_size = bytes;
        self
    }

    /// Limits how many messages may be there in part. Default:
    /// [`DEFAULT_MAX_PENDING_OBJECTS`](Self::DEFAULT_MAX_PENDING_OBJECTS), 16.
    #[must_use]
    pub const fn max_pending_objects(mut self, objects: usize) -> Self {
        self.max_pending_objects = objects;
        self
    }

    /// Limits the bytes of all messages that are there in part, the headers of their fragments included.
    /// Default: [`DEFAULT_MAX_PENDING_BYTES`](Self::DEFAULT_MAX_PENDING_BYTES), 20 MiB.
    #[must_use]
    pub const fn max_pending_bytes(mut self, bytes: usize) -> Self {
        self.max_pending_bytes = bytes;
        self
    }
}

impl Default for InterleavedOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Puts messages together whose fragments are mixed with those of others, by the numbers of the objects.
///
/// PowerShell neither sends nor accepts that; some other implementations do. Each object has to begin with a start at
/// fragment 0 and to go on without a gap; nothing may follow its end. An object is complete when its fragments are, not
/// when enough of them were counted. Offsets of errors count from the first byte that the assembler was given and point
/// to the header.
pub struct InterleavedAssembler {
    pub(super) options: InterleavedOptions,
    input: HeaderInput,
    state: State,
    pub(super) pending: Vec<Pending>,
    pending_bytes: usize,
    /// The message that was handed out by the last call, then a buffer to be used again.
    message: Vec<u8>,
}

/// What the next byte belongs to.
enum State {
    Header,
    Blob { index: usize, left: usize, end: bool },
    Failed,
}

/// An object that is there in part.
pub(super) struct Pending {
    object_id: u64,
    last_fragment: u64,
    /// Bytes of all of its fragments with their headers.
    received: usize,
    message: Vec<u8>,
}

impl InterleavedAssembler {
    /// With the default limits.
    pub const fn new() -> Self {
        Self::with_options(InterleavedOptions::new())
    }

    /// With these limits.
    pub const fn with_options(options: InterleavedOptions) -> Self {
        Self {
            options,
            input: HeaderInput::new(),
            state: State::Header,
            pending: Vec::new(),
            pending_bytes: 0,
            message: Vec::new(),
        }
    }

    /// Takes bytes until a message is complete, and gives it. `None` when all bytes are taken.
    ///
    /// The message is borrowed from the input if it is one fragment and there as a whole, else from the assembler.
    ///
    /// # Errors
    ///
    /// Fails for a fragment that does not continue its object ([`Error::is_out_of_order`]), past a limit
    /// ([`Error::is_limit`]) and for an object of number 0 ([`Error::is_invalid_header`]). After that the place in the
    /// stream is lost: each further call fails ([`Error::is_state`]).
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
                    let index = match self.find(&header) {
                        Ok(index) => index,
                        Err(error) => return Err(self.fail(error)),
                    };
                    if header.start && header.end && input.len() >= left {
                        return Ok(Some(self.input.take_blob(input, &mut left)));
                    }
                    let received = FragmentHeader::LEN + left;
                    self.pending_bytes += received;
                    match self.pending.get_mut(index) {
                        Some(pending) => {
                            pending.last_fragment = header.fragment_id;
                            pending.received += received;
                        }
                        None => {
                            let mut message = std::mem::take(&mut self.message);
                            if message.capacity() > RETAINED {
                                message = Vec::new();
                            }
                            message.clear();
                            message.reserve(first_reserve(left.min(input.len())));
                            let FragmentHeader { object_id, fragment_id: last_fragment, .. } = header;
                            self.pending.push(Pending { object_id, last_fragment, received, message });
                        }
                    }
                    self.state = State::Blob { index, left, end: header.end };
                }
                State::Blob { index, left, end } => {
                    let (index, end) = (*index, *end);
                    self.pending[index].message.extend_from_slice(self.input.take_blob(input, left));
                    if *left > 0 {
                        return Ok(None);
                    }
                    self.state = State::Header;
                    if end {
                        let pending = self.pending.swap_remove(index);
                        self.pending_bytes -= pending.received;
                        self.message = pending.message;
                        return Ok(Some(&self.message));
                    }
                }
                State::Failed => return Err(failed_before()),
            }
        }
    }

    /// The place of the object that a fragment continues, or the end of the list for a new one.
    fn find(&self, header: &FragmentHeader) -> Result<usize, Error> {
        let options = &self.options;
        let known = self.pending.iter().position(|pending| pending.object_id == header.object_id);
        let (index, before) = match known {
            Some(index) => {
                let pending = &self.pending[index];
                if header.start {
                    return Err(self.input.out_of_order("the object was started before"));
                }
                if pending.last_fragment + 1 != header.fragment_id {
                    return Err(self.input.out_of_order("not the next of its object"));
                }
                (index, pending.received)
            }
            None => {
                if !header.start || header.fragment_id != 0 {
                    return Err(self.input.out_of_order("the object was not started"));
                }
                if !header.end && self.pending.len() >= options.max_pending_objects {
                    return Err(self.input.limit("number of objects in progress"));
                }
                (self.pending.len(), 0)
            }
        };
        let received = FragmentHeader::LEN.saturating_add(header.blob_len as usize);
        if before.saturating_add(received) > options.max_object_size {
            return Err(self.input.limit("size of an object"));
        }
        if self.pending_bytes.saturating_add(received) > options.max_pending_bytes {
            return Err(self.input.limit("size of all objects in progress"));
        }
        Ok(index)
    }

    /// How many messages are there in part.
    pub const fn pending_objects(&self) -> usize {
        self.pending.len()
    }

    /// Forgets everything that was received, a failure included. The next byte is the first of a fragment.
    pub fn reset(&mut self) {
        *self = Self::with_options(self.options);
    }

    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        *self = Self { state: State::Failed, ..Self::with_options(self.options) };
        error
    }
}

impl Default for InterleavedAssembler {
    fn default() -> Self {
        Self::new()
    }
}
