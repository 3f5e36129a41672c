//! [`Reader`], a cursor over a slice, and [`Input`], which also covers streams.

use core::cmp::Ordering;
use core::fmt;
use core::mem;
use core::ops::{BitOrAssign, Shl};

use crate::error::{Error, ErrorKind, Exceeded, Fault, Limit, Segment, Trace};
use crate::options::{DuplicateKeys, ElementSize, Levels, Mode, Options};
use crate::wire::{Header as _, Varint};

/// A cursor over the input slice, with limits and position.
///
/// Borrowed values are valid for `'de`.
///
/// The cursor is separate from the rest of the state, so that its address does not escape to cold code and the compiler
/// keeps it in registers in the loops over collections.
pub struct Reader<'c, 'de> {
    rest: &'de [u8],
    context: &'c mut Context,
}

/// State of a reader other than its cursor.
#[derive(Debug)]
pub(crate) struct Context {
    total: usize,
    pub(crate) state: State,
}

/// Options, usage counters and the trace of a fault.
#[derive(Debug)]
pub struct State {
    pub(crate) options: Options,
    /// Bytes of memory that may still be allocated.
    pub(crate) available: usize,
    depth: u32,
    pub(crate) trace: Trace,
}

/// Checks the order of the keys of a map, or of the elements of a set, in the canonical mode.
#[derive(Debug)]
pub(crate) struct KeyOrder<'de> {
    is_checked: bool,
    /// The bytes of the last key.
    last: Option<&'de [u8]>,
}

impl<'de> KeyOrder<'de> {
    #[inline]
    pub(crate) fn new(reader: &Reader<'_, 'de>) -> Self {
        Self { is_checked: reader.options().canonical, last: None }
    }

    /// Checks the key that was read since [`rest`](Reader::rest) was `start`.
    #[inline(always)]
    pub(crate) fn check(&mut self, start: &'de [u8], reader: &mut Reader<'_, 'de>) -> Result<(), Fault> {
        if !self.is_checked {
            return Ok(());
        }
        let key = &start[..start.len() - reader.rest().len()];
        self.compare(key).map_err(|fault| reader.fail_at(start, fault))
    }

    #[cold]
    fn compare(&mut self, key: &'de [u8]) -> Result<(), Fault> {
        self.last.replace(key).map_or(Ok(()), |last| check_order(last, key))
    }
}

/// Reads the contents of a struct, which is a level of nesting.
#[inline(always)]
pub(crate) fn level<I: Input, T>(
    input: &mut I,
    read: impl FnOnce(&mut I) -> Result<T, Fault>,
) -> Result<T, Fault> {
    input.enter()?;
    let value = read(input)?;
    input.leave();
    Ok(value)
}

/// Walks over a struct, which is a level of nesting and a part of the message that is complete or not.
#[inline(always)]
pub(crate) fn walk_level<I: Input>(
    input: &mut I,
    mut walk: impl FnMut(&mut I) -> Result<(), Fault>,
) -> Result<(), Fault> {
    input.walk_parts(1, |input, _| level(input, &mut walk))
}

/// Checks that a key can follow the last one in the canonical mode.
pub(crate) fn check_order(last: &[u8], key: &[u8]) -> Result<(), Fault> {
    match last.cmp(key) {
        Ordering::Less => Ok(()),
        Ordering::Equal => Err(Fault(ErrorKind::DuplicateKey)),
        Ordering::Greater => Err(Fault(ErrorKind::WrongOrder)),
    }
}

/// A source of bytes that wire types can walk over without building values.
///
/// Implemented by [`Reader`], and by streams that are read exactly up to the end of a message.
pub trait Input {
    /// Reads exactly as many bytes as the slice has.
    ///
    /// # Errors
    ///
    /// Fails if fewer bytes are left.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault>;

    /// Reads the next `N` bytes.
    ///
    /// # Errors
    ///
    /// Fails if fewer bytes are left.
    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault>
    where
        Self: Sized,
    {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads a [`Varint`](crate::wire::Varint).
    ///
    /// # Errors
    ///
    /// Fails at the end of the input, if the number does not fit 64 bits, and in [`Mode::Strict`] if it is longer than
    /// necessary.
    #[inline]
    fn varint(&mut self) -> Result<u64, Fault>
    where
        Self: Sized,
    {
        varint(self)
    }

    /// Skips `count` bytes.
    ///
    /// # Errors
    ///
    /// Fails if fewer bytes are left.
    fn skip(&mut self, count: usize) -> Result<(), Fault>;

    /// Checks that `count` more bytes can be available, so that a wrong length is found before its contents are read.
    ///
    /// # Errors
    ///
    /// Fails if it is known that fewer bytes are left.
    fn expect(&mut self, count: usize) -> Result<(), Fault>;

    /// Returns whether the input, or the enclosing evolve struct, has ended. A stream reads one byte ahead to find out;
    /// that byte is returned next.
    ///
    /// # Errors
    ///
    /// Fails if reading fails.
    fn at_end(&mut self) -> Result<bool, Fault>;

    /// Returns the state of the decoder.
    #[doc(hidden)]
    fn state(&self) -> &State;

    /// Returns the state of the decoder.
    #[doc(hidden)]
    fn state_mut(&mut self) -> &mut State;

    /// Returns the options of the decoder.
    #[inline]
    fn options(&self) -> &Options {
        &self.state().options
    }

    /// Adds a segment to the path of a fault, innermost segment first.
    #[inline(always)]
    fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        self.state_mut().trace.push(segment);
        fault
    }

    /// Moves the reported offset of a fault back by `count` bytes.
    #[inline(always)]
    fn rewind_fault(&mut self, fault: Fault, count: usize) -> Fault {
        self.state_mut().rewind_fault(fault, count)
    }

    /// Enters a struct.
    ///
    /// # Errors
    ///
    /// Fails if it exceeds the maximum depth of the limits.
    #[inline]
    fn enter(&mut self) -> Result<(), Fault> {
        let state = self.state_mut();
        let most = state.options.limits.depth;
        if state.depth == most {
            return Err(state.exceed(Limit::Depth, most as usize + 1, most as usize));
        }
        state.depth += 1;
        Ok(())
    }

    /// Leaves a struct.
    #[inline]
    fn leave(&mut self) {
        self.state_mut().depth -= 1;
    }

    /// Announces parts of a value that take at least `size` bytes, so that a stream can read them together with the
    /// bytes before them. Other inputs ignore it.
    ///
    /// [`start`](Self::start) takes the minimum size of a part back before the part is walked over.
    #[inline]
    fn announce(&mut self, size: usize) {
        let _ = size;
    }

    /// Starts an announced part that takes at least `size` bytes.
    #[inline]
    fn start(&mut self, size: usize) {
        let _ = size;
    }

    /// Starts a value that consists of parts, and returns the number of parts that are already complete.
    ///
    /// That is 0 unless the input resumes a walk that stopped at the end of a partial message.
    #[inline]
    fn begin_parts(&mut self) -> usize {
        0
    }

    /// Records the number of complete parts of the value that was started last.
    #[inline]
    fn record_parts(&mut self, parts: usize) {
        let _ = parts;
    }

    /// Marks the value that was started last as complete.
    #[inline]
    fn finish_parts(&mut self) {}

    /// Walks over a value of `count` parts, except those that are already complete.
    ///
    /// # Errors
    ///
    /// Returns the fault of the first invalid part.
    #[inline]
    fn walk_parts(
        &mut self,
        count: usize,
        mut walk: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault>
    where
        Self: Sized,
    {
        for part in self.begin_parts()..count {
            walk(self, part)?;
            self.record_parts(part + 1);
        }
        self.finish_parts();
        Ok(())
    }

    /// Walks over an evolve struct: a length, then the fields, which `walk` visits.
    ///
    /// By default the fields are skipped, because streams decode the message after the walk. A slice visits them.
    #[doc(hidden)]
    #[inline]
    fn walk_sized(&mut self, walk: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault>
    where
        Self: Sized,
    {
        let _ = walk;
        let len = Varint::length(self)?;
        self.expect(len)?;
        self.skip(len)
    }

    /// Checks the length of a string or blob against the limits.
    ///
    /// # Errors
    ///
    /// Fails above the limit.
    #[inline]
    fn check_bytes(&mut self, len: usize) -> Result<(), Fault> {
        let most = self.options().limits.bytes;
        if len <= most { Ok(()) } else { Err(self.state_mut().exceed(Limit::Bytes, len, most)) }
    }

    /// Checks a number of elements of this size against the limits and the input.
    ///
    /// # Errors
    ///
    /// Fails above the limits, or if the input is too short for that many elements.
    #[inline]
    fn check_elements(&mut self, count: usize, size: ElementSize) -> Result<(), Fault> {
        if let Some(exceeded) = self.options().limits.exceeded(count, size) {
            return Err(self.state_mut().trace.exceed(exceeded));
        }
        self.expect(count.saturating_mul(size.min))
    }

    /// Reads a flag byte.
    ///
    /// # Errors
    ///
    /// Fails at the end of the input, and in [`Mode::Strict`] if the byte is neither 0 nor 1.
    #[inline]
    fn flag(&mut self) -> Result<bool, Fault>
    where
        Self: Sized,
    {
        match self.array::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ if self.options().mode == Mode::Compat => Ok(false),
            _ => Err(self.rewind_fault(Fault(ErrorKind::InvalidBool), 1)),
        }
    }
}

impl State {
    #[inline]
    pub(crate) fn new(options: Options) -> Self {
        Self { options, available: options.limits.allocation, depth: 0, trace: Trace::default() }
    }

    /// See [`Reader::count_allocation`].
    #[inline]
    pub(crate) fn count_allocation(&mut self, bytes: usize) -> Result<(), Fault> {
        let Some(available) = self.available.checked_sub(bytes) else {
            let most = self.options.limits.allocation;
            return Err(self.exceed(Limit::Allocation, (most - self.available).saturating_add(bytes), most));
        };
        self.available = available;
        Ok(())
    }

    #[cold]
    pub(crate) fn exceed(&mut self, limit: Limit, value: usize, most: usize) -> Fault {
        self.trace.exceed(Exceeded::new(limit, value, most))
    }

    #[cold]
    fn rewind_fault(&mut self, fault: Fault, count: usize) -> Fault {
        self.trace.rewind = count;
        fault
    }
}

impl<'c, 'de> Reader<'c, 'de> {
    #[inline]
    pub(crate) fn new(input: &'de [u8], context: &'c mut Context) -> Self {
        Self { rest: input, context }
    }

    /// Returns the unread part of the input.
    #[inline]
    pub fn rest(&self) -> &'de [u8] {
        self.rest
    }

    /// Returns the number of bytes read so far.
    #[inline]
    pub fn offset(&self) -> usize {
        self.context.total - self.rest.len()
    }

    /// Reads the next `count` bytes.
    ///
    /// # Errors
    ///
    /// Fails if fewer bytes are left.
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

    /// Reads an evolve struct: a length, then the fields, which `get` decodes. Skips the bytes that `get` leaves.
    #[inline]
    pub(crate) fn get_sized<T>(
        &mut self,
        get: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let len = Varint::length(self)?;
        let outer = self.rest;
        self.rest = self.bytes(len)?;
        // The total ends with the struct meanwhile, so that offsets are right.
        let after = outer.len() - len;
        self.context.total -= after;
        let result = get(self);
        let read = if result.is_ok() { len } else { len.saturating_sub(self.rest.len()) };
        self.rest = &outer[read..];
        self.context.total += after;
        // More input would not help.
        match result {
            Err(Fault(ErrorKind::UnexpectedEnd)) => Err(Fault(ErrorKind::StructEnd)),
            result => result,
        }
    }

    /// Counts memory that is about to be allocated against [`Limits::max_allocation`](crate::Limits::max_allocation).
    ///
    /// # Errors
    ///
    /// Fails if the total of the message exceeds the limit.
    #[inline]
    pub fn count_allocation(&mut self, bytes: usize) -> Result<(), Fault> {
        self.context.state.count_allocation(bytes)
    }

    /// Returns whether a duplicate key of a map, or element of a set, is an error.
    #[inline]
    pub fn rejects_duplicates(&self) -> bool {
        self.options().duplicates == DuplicateKeys::Reject
    }

    /// Remaining levels of nested structs.
    #[inline]
    pub(crate) fn levels(&self) -> Levels {
        Levels(self.options().limits.depth - self.context.state.depth)
    }

    /// Moves the cursor back to an earlier [`rest`](Self::rest), so that the fault is reported at that offset.
    #[inline]
    pub fn fail_at(&mut self, rest: &'de [u8], fault: Fault) -> Fault {
        debug_assert!(rest.ends_with(self.rest), "the reader was not there before");
        if rest.len() <= self.context.total {
            self.rest = rest;
        }
        fault
    }

    /// Combines a fault with the recorded path and offset.
    #[cold]
    pub(crate) fn into_error(self, fault: Fault) -> Error {
        let offset = self.offset();
        mem::take(&mut self.context.state.trace).into_error(fault, offset)
    }
}

impl Context {
    #[inline]
    pub(crate) fn new(input: &[u8], options: Options) -> Self {
        Self { total: input.len(), state: State::new(options) }
    }

    #[cold]
    fn short(&mut self, missing: usize) -> Fault {
        self.state.trace.missing = missing;
        Fault(ErrorKind::UnexpectedEnd)
    }
}

/// Reads a varint of an unsigned integer `T`: seven bits per byte, and the remaining ones in the last possible byte.
pub(crate) fn varint<T, I: Input>(input: &mut I) -> Result<T, Fault>
where
    T: From<u8> + BitOrAssign + Shl<usize, Output = T>,
{
    let bits = 8 * size_of::<T>();
    let last = (bits - 1) / 7;
    let mut value = T::from(0);
    for index in 0..=last {
        let [byte] = input.array::<1>().map_err(|fault| input.rewind_fault(fault, index))?;
        value |= T::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return match byte {
                _ if index == last && byte >> (bits - 7 * last) > 0 => break,
                0 if index > 0 && input.options().mode == Mode::Strict => {
                    Err(input.rewind_fault(Fault(ErrorKind::Overlong), index + 1))
                }
                _ => Ok(value),
            };
        }
    }
    Err(input.rewind_fault(Fault::OVERFLOW, last + 1))
}

/// Reads a varint of several bytes. The cursor is passed and returned by value, so that its address does not escape.
#[cold]
#[inline(never)]
fn long_varint<'de>(rest: &'de [u8], context: &mut Context) -> (Result<u64, Fault>, &'de [u8]) {
    let mut reader = Reader { rest, context };
    let value = varint(&mut reader);
    (value, reader.rest)
}

impl Input for Reader<'_, '_> {
    #[inline]
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        bytes.copy_from_slice(self.bytes(bytes.len())?);
        Ok(())
    }

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

    #[inline(always)]
    fn varint(&mut self) -> Result<u64, Fault> {
        if let [byte @ ..0x80, tail @ ..] = self.rest {
            self.rest = tail;
            return Ok((*byte).into());
        }
        let (value, rest) = long_varint(self.rest, self.context);
        self.rest = rest;
        value
    }

    #[inline]
    fn skip(&mut self, count: usize) -> Result<(), Fault> {
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
    fn walk_sized(&mut self, walk: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.get_sized(walk)
    }

    #[inline]
    fn state(&self) -> &State {
        &self.context.state
    }

    #[inline]
    fn state_mut(&mut self) -> &mut State {
        &mut self.context.state
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
