//! The input side: a cursor over a slice, and what it shares with input that arrives piece by piece.

use core::fmt;
use core::mem;

use crate::error::{Error, Fault, Kind, Segment, Trace};
use crate::options::{DuplicateKeys, Levels, Mode, Options};

/// What a decoder reads from: a slice, the limits, and where it is.
///
/// Everything it hands out borrows from the input for `'de`.
///
/// The cursor is apart from everything else, so that no address of a cursor escapes to code that is seldom run, and the
/// compiler keeps it in registers over the loops of collections.
pub struct Reader<'c, 'de> {
    rest: &'de [u8],
    context: &'c mut Context,
}

/// What a reader needs beside its cursor.
#[derive(Debug)]
pub(crate) struct Context {
    total: usize,
    options: Options,
    state: State,
}

/// What is used up and noted while reading.
#[derive(Debug, Default)]
pub(crate) struct State {
    allocated: usize,
    depth: u32,
    pub(crate) trace: Trace,
}

/// Bytes that wire forms walk over without making values of them.
///
/// The [`Reader`] is one; a stream that is read exactly as far as the message goes is another.
pub trait Input {
    /// The next `N` bytes.
    ///
    /// # Errors
    ///
    /// Fails where fewer are left.
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault>;

    /// Passes over `count` bytes.
    ///
    /// # Errors
    ///
    /// Fails where fewer are left.
    fn pass(&mut self, count: usize) -> Result<(), Fault>;

    /// Fails unless `count` more bytes can be there, so that a lying length is found before what it counts.
    ///
    /// # Errors
    ///
    /// Fails where it is known that fewer are left.
    fn expect(&mut self, count: usize) -> Result<(), Fault>;

    /// Whether the input is at its end. A stream has to read on to know; the byte is then the next one.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    fn at_end(&mut self) -> Result<bool, Fault>;

    /// How to decode.
    fn options(&self) -> &Options;

    /// Notes on the way up where a fault happened.
    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault;

    /// Notes that a fault is in the last `count` bytes, so that it is reported where those start.
    fn blame(&mut self, fault: Fault, count: usize) -> Fault;

    /// Enters a struct.
    ///
    /// # Errors
    ///
    /// Fails below the deepest level that the limits allow.
    fn enter(&mut self) -> Result<(), Fault>;

    /// Leaves a struct.
    fn leave(&mut self);

    /// Starts a value that consists of parts. Returns how many of them are behind the input already.
    ///
    /// That is 0 unless the input resumes a walk that stopped at its end.
    #[inline]
    fn resume(&mut self) -> usize {
        0
    }

    /// Notes that this many parts of the value that was started last have been walked over.
    #[inline]
    fn passed(&mut self, parts: usize) {
        let _ = parts;
    }

    /// Notes that all parts of the value that was started last have been walked over.
    #[inline]
    fn complete(&mut self) {}

    /// Walks over a value of `count` parts, except those that are behind the input already.
    ///
    /// # Errors
    ///
    /// Fails with the first part that cannot be walked over.
    #[inline]
    fn walk_parts(
        &mut self,
        count: usize,
        mut walk: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault>
    where
        Self: Sized,
    {
        for part in self.resume()..count {
            walk(self, part)?;
            self.passed(part + 1);
        }
        self.complete();
        Ok(())
    }

    /// Checks the length of a string or blob against the limits.
    ///
    /// # Errors
    ///
    /// Fails above the limit.
    #[inline]
    fn check_bytes(&self, len: usize) -> Result<(), Fault> {
        if len <= self.options().limits.bytes { Ok(()) } else { Err(Fault(Kind::Limit)) }
    }

    /// Checks a number of elements, each of which takes at least `least` bytes, against the limits and the input.
    ///
    /// # Errors
    ///
    /// Fails above the limits, or where the input cannot have that many.
    #[inline]
    fn check_elements(&mut self, count: usize, least: usize) -> Result<(), Fault> {
        let limits = &self.options().limits;
        if count > limits.elements || (least == 0 && count > limits.zero_sized) {
            return Err(Fault(Kind::Limit));
        }
        self.expect(count.saturating_mul(least))
    }

    /// A flag byte.
    ///
    /// # Errors
    ///
    /// Fails at the end of the input, and in [`Mode::Strict`] where the byte is neither 0 nor 1.
    #[inline]
    fn flag(&mut self) -> Result<bool, Fault> {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ if self.options().mode == Mode::Compat => Ok(false),
            _ => Err(self.blame(Fault(Kind::InvalidBool), 1)),
        }
    }
}

impl State {
    #[inline]
    pub(crate) fn enter(&mut self, options: &Options) -> Result<(), Fault> {
        if self.depth == options.limits.depth {
            return Err(Fault(Kind::Depth));
        }
        self.depth += 1;
        Ok(())
    }

    #[inline]
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}

impl<'c, 'de> Reader<'c, 'de> {
    #[inline]
    pub(crate) fn new(input: &'de [u8], context: &'c mut Context) -> Self {
        Self { rest: input, context }
    }

    /// What is not read yet.
    #[inline]
    pub fn rest(&self) -> &'de [u8] {
        self.rest
    }

    /// The number of bytes read so far.
    #[inline]
    pub fn offset(&self) -> usize {
        self.context.total - self.rest.len()
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    ///
    /// Fails where fewer are left.
    #[inline]
    pub fn bytes(&mut self, count: usize) -> Result<&'de [u8], Fault> {
        match self.rest.split_at_checked(count) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(self.context.short(count - self.rest.len())),
        }
    }

    /// Books memory that is about to be allocated.
    ///
    /// # Errors
    ///
    /// Fails where the message has used up what the limits allow.
    #[inline]
    pub fn allocate(&mut self, bytes: usize) -> Result<(), Fault> {
        self.context.state.allocated = self.context.state.allocated.saturating_add(bytes);
        if self.context.state.allocated <= self.context.options.limits.allocation {
            Ok(())
        } else {
            Err(Fault(Kind::Limit))
        }
    }

    /// Whether a key that comes twice is an error.
    #[inline]
    pub fn rejects_duplicates(&self) -> bool {
        self.context.options.duplicates == DuplicateKeys::Reject
    }

    /// The levels of structs that may still be entered.
    #[inline]
    pub(crate) fn levels(&self) -> Levels {
        Levels(self.context.options.limits.depth - self.context.state.depth)
    }

    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        self.context.options.mode
    }

    /// Goes back to an earlier [`rest`](Self::rest), so that the fault is reported where that starts.
    #[inline]
    pub fn reject(&mut self, rest: &'de [u8], fault: Fault) -> Fault {
        debug_assert!(rest.ends_with(self.rest), "the reader was not there before");
        if rest.len() <= self.context.total {
            self.rest = rest;
        }
        fault
    }

    /// Joins a fault with its place.
    #[cold]
    pub(crate) fn into_error(self, fault: Fault) -> Error {
        let offset = self.offset();
        mem::take(&mut self.context.state.trace).into_error(fault, offset)
    }
}

impl Context {
    #[inline]
    pub(crate) fn new(input: &[u8], options: Options) -> Self {
        Self { total: input.len(), options, state: State::default() }
    }

    #[cold]
    fn short(&mut self, missing: usize) -> Fault {
        self.state.trace.missing = missing;
        Fault(Kind::UnexpectedEnd)
    }

    #[cold]
    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        self.state.trace.push(segment);
        fault
    }

    #[cold]
    fn blame(&mut self, fault: Fault, count: usize) -> Fault {
        self.state.trace.behind = count;
        fault
    }
}

impl Input for Reader<'_, '_> {
    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(self.context.short(N - self.rest.len())),
        }
    }

    #[inline]
    fn pass(&mut self, count: usize) -> Result<(), Fault> {
        self.bytes(count).map(|_| ())
    }

    #[inline]
    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        if count <= self.rest.len() { Ok(()) } else { Err(self.context.short(count - self.rest.len())) }
    }

    #[inline]
    fn at_end(&mut self) -> Result<bool, Fault> {
        Ok(self.rest.is_empty())
    }

    #[inline]
    fn options(&self) -> &Options {
        &self.context.options
    }

    #[inline(always)]
    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        self.context.locate(fault, segment)
    }

    #[inline(always)]
    fn blame(&mut self, fault: Fault, count: usize) -> Fault {
        self.context.blame(fault, count)
    }

    #[inline]
    fn enter(&mut self) -> Result<(), Fault> {
        let Context { options, state, .. } = &mut *self.context;
        state.enter(options)
    }

    #[inline]
    fn leave(&mut self) {
        self.context.state.leave();
    }
}

impl fmt::Debug for Reader<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("offset", &self.offset())
            .field("rest", &self.rest.len())
            .finish_non_exhaustive()
    }
}
