//! The output cursor, over memory that grows when it is full, or without the feature `alloc` over a slice.
//!
//! This module contains the encoder's `unsafe` code. Invariants: `Buffer::start <= at <= end`, all three point into or
//! one past one allocation, the bytes from `start` to `at` are initialized, and those from `at` to `end` may be
//! written.
//!
//! The cursor is separate from the buffer it points into, and growing takes and returns cursors by value. No address of
//! a cursor escapes, so the compiler keeps it in registers in the loops over collections. Cold code therefore takes the buffer
//! or a copy of the cursor ([`Writer::detached`]).

#![allow(unsafe_code, reason = "one capacity check covers several writes; see the module documentation")]

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::iter;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::error::{Error, ErrorKind, Exceeded, Fault, Limit, Segment, Trace};
#[cfg(feature = "serde")]
use crate::options::Limits;
use crate::options::{ElementSize, Levels, Options};
use crate::text::copy;
use crate::wire::{Header as _, Varint};

/// Destination of encoded bytes; implementations of [`Put`](crate::Put) write to it.
///
/// The message becomes part of the caller's buffer only after all of it was encoded, so the buffer is unchanged on
/// failure.
pub struct Writer<'a> {
    at: *mut u8,
    end: *mut u8,
    /// Remaining levels of nested structs.
    levels: Levels,
    /// Number of enclosing evolve structs.
    sized: u32,
    /// Memory that a decoder counts for the bytes and elements so far. In 64 bits, the sum of sizes in memory does not overflow,
    /// also if a value refers to the same memory many times.
    allocated: u64,
    options: &'a Options,
    buffer: &'a mut Buffer,
}

/// Position of a byte that was reserved for a length.
pub(crate) struct Reserved(usize);

/// The memory that a [`Writer`] fills, and the trace of a fault.
struct Buffer {
    start: *mut u8,
    memory: Memory,
    /// Lengths of nested structs that are not inserted yet; `None` if there are none.
    #[cfg(feature = "alloc")]
    lengths: Option<Box<Lengths>>,
    trace: Trace,
}

/// Lengths of evolve structs that do not fit the byte reserved for them.
///
/// They are inserted when the outermost struct is complete, so that each byte is moved once, on any depth of nesting.
/// Without an allocator, each struct inserts its length when it is complete.
#[cfg(feature = "alloc")]
#[derive(Default)]
struct Lengths {
    /// Offset of the reserved byte, and the length.
    pending: Vec<(usize, usize)>,
    /// Bytes that inserting them adds.
    extra: usize,
}

enum Memory {
    /// The spare capacity of the vector that [`append`] borrows. The length of the vector changes only at the end.
    #[cfg(feature = "alloc")]
    Vec(*mut Vec<u8>),
    /// A region that cannot grow, borrowed by [`fill`].
    Region,
    /// The spare capacity of an empty vector, which replaced a region that was too small.
    #[cfg(feature = "alloc")]
    Spilled(Vec<u8>),
    /// A region that is too small for the message.
    #[cfg(not(feature = "alloc"))]
    Full,
}

/// Result of encoding into a region.
pub(crate) enum FillResult {
    /// Number of initialized bytes at the start of the region.
    InPlace(usize),
    /// The message, which did not fit the region.
    #[cfg(feature = "alloc")]
    Spilled(Vec<u8>),
}

impl Buffer {
    /// Encodes a message into the memory. Returns the memory that contains it, and its size.
    #[inline(always)]
    fn fill(
        spare: Range<*mut MaybeUninit<u8>>,
        memory: Memory,
        options: &Options,
        put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
    ) -> Result<(Memory, usize), Error> {
        let mut buffer = Self {
            start: spare.start.cast(),
            memory,
            #[cfg(feature = "alloc")]
            lengths: None,
            trace: Trace::default(),
        };
        let (at, end, levels) = (buffer.start, spare.end.cast(), options.levels());
        let mut writer = Writer { at, end, levels, sized: 0, allocated: 0, options, buffer: &mut buffer };
        let result = put(&mut writer);
        let written = writer.written();
        match result.and_then(|()| writer.check_message(written)) {
            Ok(()) => Ok((buffer.memory, written)),
            Err(fault) => Err(buffer.trace.into_error(fault, written)),
        }
    }

    /// Makes room for `additional` bytes after `at`. Returns the cursor and the end in the new memory.
    #[cfg(feature = "alloc")]
    #[cold]
    #[inline(never)]
    fn grow(&mut self, at: *mut u8, additional: usize) -> (*mut u8, *mut u8) {
        let written = at.addr() - self.start.addr();
        if let Memory::Region = self.memory {
            let mut vec =
                Vec::with_capacity(written.saturating_add(additional).max(2 * written).max(SPILLED));
            // SAFETY: the bytes from `start` to `at` are initialized, and the vector is a separate allocation.
            vec.extend_from_slice(unsafe { core::slice::from_raw_parts(self.start, written) });
            vec.clear();
            self.memory = Memory::Spilled(vec);
        }
        let vec = match &mut self.memory {
            // SAFETY: `append` borrows the vector for longer than the buffer lives, and no other pointer to it is used.
            Memory::Vec(vec) => unsafe { &mut **vec },
            Memory::Spilled(vec) => vec,
            Memory::Region => unreachable!("replaced above"),
        };
        let len = vec.len();
        // Checked here because a panic in `reserve` would leave the message in the vector.
        assert!(additional <= isize::MAX as usize - written - len, "more than an allocation can have");
        // SAFETY: the bytes up to `at` are initialized and within the capacity. They have to be part of the vector
        // while it grows, so that `reserve` moves them.
        unsafe { vec.set_len(len + written) };
        vec.reserve(additional);
        vec.truncate(len);
        let spare = vec.spare_capacity_mut().as_mut_ptr_range();
        self.start = spare.start.cast();
        // SAFETY: `reserve` preserves the `written` bytes and makes room after them in the same allocation.
        (unsafe { self.start.add(written) }, spare.end.cast())
    }

    /// See [`Writer::sort_parts`]. `end` is the number of bytes written.
    #[cfg(feature = "alloc")]
    #[cold]
    fn sort_parts(
        &mut self,
        end: usize,
        keys: &[Range<usize>],
        segment: fn(usize) -> Segment,
    ) -> Result<(), Fault> {
        let Some(first) = keys.first() else { return Ok(()) };
        let base = first.start;
        // SAFETY: all bytes up to the cursor are initialized, and nothing else accesses them while the slice is in use.
        let parts = unsafe { core::slice::from_raw_parts_mut(self.start.add(base), end - base) };
        let key = |index: usize| &parts[keys[index].start - base..keys[index].end - base];
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by(|one, other| key(*one).cmp(key(*other)));
        if let Some(same) = order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
            self.trace.push(segment(same[0].max(same[1])));
            return Err(Fault(ErrorKind::DuplicateKey));
        }
        let mut sorted = Vec::with_capacity(parts.len());
        for index in order {
            let next = keys.get(index + 1).map_or(end, |next| next.start);
            sorted.extend_from_slice(&parts[keys[index].start - base..next - base]);
        }
        parts.copy_from_slice(&sorted);
        Ok(())
    }
}

impl<'a> Writer<'a> {
    /// Enters a struct.
    ///
    /// # Errors
    ///
    /// Fails if it exceeds [`Limits::max_depth`](crate::Limits::max_depth).
    #[inline]
    pub fn enter(&mut self) -> Result<(), Fault> {
        match self.levels.deeper() {
            Ok(levels) => {
                self.levels = levels;
                Ok(())
            }
            Err(_) => {
                let most = self.options.limits.depth as usize;
                Err(self.exceed(Exceeded::new(Limit::Depth, most + 1, most)))
            }
        }
    }

    /// Leaves a struct.
    #[inline]
    pub fn leave(&mut self) {
        self.levels.0 += 1;
    }

    /// Writes the contents of a struct, which is a level of nesting.
    #[inline(always)]
    pub(crate) fn level(&mut self, put: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.enter()?;
        put(self)?;
        self.leave();
        Ok(())
    }

    #[inline]
    pub(crate) fn levels(&self) -> Levels {
        self.levels
    }

    #[cfg(feature = "serde")]
    #[inline]
    pub(crate) fn limits(&self) -> &'a Limits {
        &self.options.limits
    }

    /// Checks the length of a string or blob against the limits.
    ///
    /// # Errors
    ///
    /// Fails above the limit.
    #[inline(always)]
    pub fn check_bytes(&mut self, len: usize) -> Result<(), Fault> {
        self.count(len);
        let most = self.options.limits.bytes;
        if len <= most { Ok(()) } else { Err(self.exceed(Exceeded::new(Limit::Bytes, len, most))) }
    }

    /// Checks a number of elements of this encoded size, and of `memory` bytes in memory, against the limits.
    ///
    /// # Errors
    ///
    /// Fails above the limits.
    #[inline(always)]
    pub fn check_elements(&mut self, count: usize, size: ElementSize, memory: usize) -> Result<(), Fault> {
        self.count(count.saturating_mul(memory));
        match self.options.limits.exceeded(count, size) {
            None => Ok(()),
            Some(exceeded) => Err(self.exceed(exceeded)),
        }
    }

    /// Counts memory that a decoder allocates. It is checked when the message is complete.
    #[inline(always)]
    pub(crate) fn count(&mut self, bytes: usize) {
        self.allocated = self.allocated.wrapping_add(bytes as u64);
    }

    #[cfg(feature = "std")]
    pub(crate) fn counted(&self) -> usize {
        usize::try_from(self.allocated).unwrap_or(usize::MAX)
    }

    #[inline(always)]
    pub(crate) fn exceed(&mut self, exceeded: Exceeded) -> Fault {
        self.buffer.trace.exceed(exceeded)
    }

    /// Checks the memory to decode a complete message of this size.
    #[inline]
    fn check_message(&mut self, written: usize) -> Result<(), Fault> {
        let (needed, most) = (self.allocated.max(written as u64), self.options.limits.allocation);
        if needed <= most as u64 {
            return Ok(());
        }
        let needed = usize::try_from(needed).unwrap_or(usize::MAX);
        Err(self.exceed(Exceeded::new(Limit::Allocation, needed, most)))
    }

    /// Returns the number of bytes written so far.
    #[inline]
    pub fn written(&self) -> usize {
        self.position() + self.extra()
    }

    /// Returns the number of bytes in the buffer, without the pending lengths.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at.addr() - self.buffer.start.addr()
    }

    /// Returns the number of bytes that the pending lengths add.
    #[inline]
    fn extra(&self) -> usize {
        #[cfg(feature = "alloc")]
        return self.buffer.lengths.as_ref().map_or(0, |lengths| lengths.extra);
        #[cfg(not(feature = "alloc"))]
        0
    }

    /// Adds a segment to the path of a fault, innermost segment first.
    #[inline(always)]
    pub fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        self.buffer.trace.push(segment);
        fault
    }

    /// Adds the text of a `Serialize` implementation to the error.
    #[cfg(feature = "serde")]
    pub(crate) fn explain(&mut self, message: Option<Box<str>>) {
        self.buffer.trace.explain(message);
    }

    /// Makes room for `additional` bytes, so that smaller writes do not grow the memory one at a time.
    #[inline(always)]
    pub fn reserve(&mut self, additional: usize) {
        #[cfg(feature = "alloc")]
        if self.end.addr() - self.at.addr() < additional {
            (self.at, self.end) = self.buffer.grow(self.at, additional);
        }
        #[cfg(not(feature = "alloc"))]
        let _ = additional;
    }

    /// Makes room for `additional` bytes. Returns whether there is room, which is always true if memory can grow.
    #[inline(always)]
    fn has_room(&mut self, additional: usize) -> bool {
        self.reserve(additional);
        cfg!(feature = "alloc") || self.end.addr() - self.at.addr() >= additional
    }

    /// Same as [`has_room`](Self::has_room), but without room the message fails.
    #[inline(always)]
    fn has_required_room(&mut self, additional: usize) -> bool {
        let has_room = self.has_room(additional);
        #[cfg(not(feature = "alloc"))]
        if !has_room {
            self.buffer.memory = Memory::Full;
        }
        has_room
    }

    /// Writes `N` bytes.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self, bytes: [u8; N]) {
        if !self.has_required_room(N) {
            return;
        }
        // SAFETY: there is room for `N` bytes.
        unsafe {
            self.at.cast::<[u8; N]>().write_unaligned(bytes);
            self.at = self.at.add(N);
        }
    }

    /// Writes a slice of bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        if !self.has_required_room(bytes.len()) {
            return;
        }
        // SAFETY: there is room, and no other reference points to it.
        unsafe {
            copy(bytes, self.at);
            self.at = self.at.add(bytes.len());
        }
    }

    /// Writes the first `width` bytes of `header`, then `bytes`, with a single capacity check.
    ///
    /// # Panics
    ///
    /// Panics if `width` is above 8.
    #[inline(always)]
    pub fn prefixed(&mut self, header: [u8; 8], width: usize, bytes: &[u8]) {
        assert!(width <= 8, "a header has at most eight bytes");
        let len = bytes.len();
        if !self.has_room(len + 8) {
            self.bytes(&header[..width]);
            return self.bytes(bytes);
        }
        let to = self.at;
        // SAFETY: there is room for eight bytes and `len` more, and `width` is at most eight.
        unsafe {
            self.at = to.add(width + len);
            if width == 1 {
                to.write(header[0]);
            } else {
                to.cast::<[u8; 8]>().write_unaligned(header);
            }
            copy(bytes, to.add(width));
        }
    }

    /// Writes what `put` writes, after its length as a varint: an evolve struct.
    #[inline]
    pub(crate) fn put_sized(
        &mut self,
        put: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let start = self.begin_length();
        let before = self.written();
        put(self)?;
        self.end_length(start, self.written() - before);
        Ok(())
    }

    /// Reserves a byte for a length or count that is only known later, and returns its position for
    /// [`end_length`](Self::end_length), which must follow unless the message fails.
    #[inline]
    pub(crate) fn begin_length(&mut self) -> Reserved {
        let start = Reserved(self.position());
        self.array([0]);
        self.sized += 1;
        start
    }

    /// Inserts the length as a varint.
    #[inline]
    pub(crate) fn end_length(&mut self, Reserved(start): Reserved, len: usize) {
        self.sized -= 1;
        #[cfg(not(feature = "alloc"))]
        if let Memory::Full = self.buffer.memory {
            return;
        }
        // The outermost length inserts those that were delayed, which may be counts of elements without bytes.
        #[cfg(feature = "alloc")]
        let is_last = self.sized == 0 && self.buffer.lengths.is_some();
        #[cfg(not(feature = "alloc"))]
        let is_last = false;
        if len < 0x80 && !is_last {
            // SAFETY: a `Reserved` is only made by `begin_length`, which has written the byte at `start`.
            unsafe { self.buffer.start.add(start).write(len as u8) };
        } else {
            self.detached(|writer| writer.put_long(start, len));
        }
    }

    /// Inserts the length of an evolve struct whose reserved byte is at `start`, or delays it inside of another one.
    #[inline(never)]
    fn put_long(&mut self, start: usize, len: usize) {
        #[cfg(feature = "alloc")]
        if self.sized > 0 && !self.options.canonical {
            let lengths = self.buffer.lengths.get_or_insert_default();
            lengths.pending.push((start, len));
            lengths.extra += Varint::width(len as u64) - 1;
            return;
        }
        let extra = self.extra() + Varint::width(len as u64) - 1;
        #[cfg(feature = "alloc")]
        let mut pending = self.buffer.lengths.take().map(|lengths| lengths.pending).unwrap_or_default();
        #[cfg(not(feature = "alloc"))]
        let mut pending = [];
        pending.sort_unstable();
        if !self.has_required_room(extra) {
            return;
        }
        let mut from = self.position();
        let mut to = from + extra;
        let base = self.buffer.start;
        // SAFETY: there is room for `extra` bytes.
        self.at = unsafe { base.add(to) };
        // From the end, so that no byte is overwritten before it is moved. The outermost struct starts first.
        for (start, len) in pending.into_iter().rev().chain(iter::once((start, len))) {
            let (header, width) = (Varint::header(len as u64), Varint::width(len as u64));
            let count = from - (start + 1);
            to -= count;
            // SAFETY: all offsets are within the written bytes and the room after them. `to` exceeds `from` by what the
            // remaining lengths add, so that the header and the moved bytes end after `start`.
            unsafe {
                core::ptr::copy(base.add(start + 1), base.add(to), count);
                to -= width;
                core::ptr::copy_nonoverlapping(header.as_ptr(), base.add(to), width);
            }
            from = start;
        }
        debug_assert_eq!(from, to, "all lengths are inserted");
    }

    /// Runs code that is not inlined with a copy of the cursor, so that the address of this one does not escape.
    #[inline(always)]
    pub(crate) fn detached<T>(&mut self, run: impl FnOnce(&mut Writer<'_>) -> T) -> T {
        let Self { at, end, levels, sized, allocated, options, .. } = *self;
        let mut copy = Writer { at, end, levels, sized, allocated, options, buffer: &mut *self.buffer };
        let result = run(&mut copy);
        (self.at, self.end, self.allocated) = (copy.at, copy.end, copy.allocated);
        result
    }

    /// Returns whether maps and sets are sorted, which needs an allocator.
    #[inline(always)]
    pub(crate) fn is_canonical(&self) -> bool {
        cfg!(feature = "alloc") && self.options.canonical
    }

    /// Sorts the parts at the end of the output by the bytes of their keys, which are at these positions. Each part starts with
    /// its key. In the canonical mode no length is pending, so all bytes are final. Fails if two keys have the same bytes, at
    /// the segment of the later one.
    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn sort_parts(
        &mut self,
        keys: &[Range<usize>],
        segment: fn(usize) -> Segment,
    ) -> Result<(), Fault> {
        self.buffer.sort_parts(self.position(), keys, segment)
    }

    /// Writes `count` zero bytes.
    #[inline]
    pub fn zeros(&mut self, count: usize) {
        if !self.has_required_room(count) {
            return;
        }
        // SAFETY: there is room for `count` bytes.
        unsafe {
            self.at.write_bytes(0, count);
            self.at = self.at.add(count);
        }
    }

    /// Writes numbers in native byte order.
    #[cfg(target_endian = "little")]
    #[inline]
    pub(crate) fn native<T: Plain>(&mut self, values: &[T]) {
        let len = size_of_val(values);
        if !self.has_required_room(len) {
            return;
        }
        // SAFETY: a `Plain` value has no padding, so all its bytes are initialized; there is room for them.
        unsafe {
            let bytes = core::slice::from_raw_parts(values.as_ptr().cast::<u8>(), len);
            copy(bytes, self.at);
            self.at = self.at.add(len);
        }
    }

    /// Writes the bytes of each value.
    #[inline]
    pub(crate) fn arrays<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        if !self.has_required_room(values.len() * N) {
            return;
        }
        let mut at = self.at;
        for value in values {
            // SAFETY: there is room for an array per value.
            unsafe {
                at.cast::<[u8; N]>().write_unaligned(bytes(*value));
                at = at.add(N);
            }
        }
        self.at = at;
    }
}

/// A number without padding, so that all its bytes are initialized.
///
/// # Safety
///
/// The type must have no padding.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: numbers have no padding.
        unsafe impl Plain for $type {}
    )*};
}

plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

impl fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("written", &self.written()).finish_non_exhaustive()
    }
}

/// Encodes into a region, or into a new vector if the region is too small. Without the feature `alloc`, it fails then.
pub(crate) fn fill(
    region: &mut [MaybeUninit<u8>],
    options: &Options,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<FillResult, Error> {
    match Buffer::fill(region.as_mut_ptr_range(), Memory::Region, options, put)? {
        #[cfg(not(feature = "alloc"))]
        (Memory::Full, _) => Err(Error::at(ErrorKind::BufferFull, region.len())),
        #[cfg(feature = "alloc")]
        (Memory::Spilled(mut vec), written) => {
            // SAFETY: the vector was empty, and the first `written` bytes are initialized.
            unsafe { vec.set_len(written) };
            Ok(FillResult::Spilled(vec))
        }
        (_, written) => Ok(FillResult::InPlace(written)),
    }
}

/// Encodes to the start of a slice and returns the number of bytes written.
pub(crate) fn to_slice(
    slice: &mut [u8],
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<usize, Error> {
    #[cfg(feature = "alloc")]
    let room = slice.len();
    match fill(as_uninit(slice), Options::DEFAULT, put)? {
        FillResult::InPlace(written) => Ok(written),
        #[cfg(feature = "alloc")]
        FillResult::Spilled(message) if message.len() <= room => {
            slice[..message.len()].copy_from_slice(&message);
            Ok(message.len())
        }
        #[cfg(feature = "alloc")]
        FillResult::Spilled(_) => Err(Error::at(ErrorKind::BufferFull, room)),
    }
}

/// Bytes on the stack for a message that is encoded to a new vector.
#[cfg(feature = "alloc")]
const STACK: usize = 1024;

/// Initial capacity of the vector that replaces a region.
#[cfg(feature = "alloc")]
const SPILLED: usize = 16 << 10;

/// Encodes into a new vector. A message that fits the stack is allocated once, with its exact size, and one of up to
/// [`SPILLED`] bytes once.
#[cfg(feature = "alloc")]
#[inline]
pub(crate) fn to_vec(
    options: &Options,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<Vec<u8>, Error> {
    let mut stack = [const { MaybeUninit::uninit() }; STACK];
    match fill(&mut stack, options, put)? {
        FillResult::InPlace(written) => {
            // SAFETY: the first `written` bytes of the stack are initialized.
            Ok(unsafe { core::slice::from_raw_parts(stack.as_ptr().cast::<u8>(), written) }.to_vec())
        }
        FillResult::Spilled(mut message) => {
            // At most half of a vector that grows is unused, either.
            if message.len() < message.capacity() / 2 {
                message.shrink_to_fit();
            }
            Ok(message)
        }
    }
}

#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn append(
    vec: &mut Vec<u8>,
    options: &Options,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<(), Error> {
    let spare = vec.spare_capacity_mut().as_mut_ptr_range();
    match Buffer::fill(spare, Memory::Vec(vec), options, put)? {
        (Memory::Vec(vec), written) => {
            // SAFETY: the pointer is the argument `vec`, which was not used otherwise since; the `written` bytes after
            // its contents are initialized and within its capacity.
            unsafe { (*vec).set_len((*vec).len() + written) };
            Ok(())
        }
        _ => unreachable!("a vector grows and is not replaced"),
    }
}

/// A buffer that [`encode_to_buf`](crate::encode_to_buf) can append to.
///
/// Implemented for the buffers of `bytes` and the standard library. For any other [`BufMut`](bytes::BufMut) that cannot
/// grow, an empty `impl` is enough.
#[cfg(feature = "bytes")]
pub trait Reserve: bytes::BufMut {
    /// Makes room for `additional` contiguous bytes, if the buffer can grow.
    fn reserve(&mut self, additional: usize) {
        let _ = additional;
    }
}

#[cfg(feature = "bytes")]
impl Reserve for bytes::BytesMut {
    fn reserve(&mut self, additional: usize) {
        Self::reserve(self, additional);
    }
}

#[cfg(feature = "bytes")]
impl Reserve for Vec<u8> {
    fn reserve(&mut self, additional: usize) {
        Self::reserve(self, additional);
    }
}

#[cfg(feature = "bytes")]
impl Reserve for &mut [u8] {}

#[cfg(feature = "bytes")]
impl Reserve for &mut [MaybeUninit<u8>] {}

#[cfg(feature = "bytes")]
impl<A: bytes::BufMut, B: bytes::BufMut> Reserve for bytes::buf::Chain<A, B> {}

#[cfg(feature = "bytes")]
impl<B: Reserve> Reserve for bytes::buf::Limit<B> {
    fn reserve(&mut self, additional: usize) {
        let most = self.limit();
        self.get_mut().reserve(additional.min(most));
    }
}

#[cfg(feature = "bytes")]
impl<B: Reserve + ?Sized> Reserve for &mut B {
    fn reserve(&mut self, additional: usize) {
        (**self).reserve(additional);
    }
}

/// Extra bytes that the last header may touch, because headers are written as eight bytes.
#[cfg(feature = "bytes")]
const SLACK: usize = 8;

/// Encodes into the spare capacity of a buffer, after reserving `size` bytes if it can grow. The buffer is unchanged on failure.
#[cfg(feature = "bytes")]
pub(crate) fn append_to_buf(
    buf: &mut impl Reserve,
    size: usize,
    options: &Options,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<(), Error> {
    buf.reserve(size.saturating_add(SLACK));
    // SAFETY: a `Writer` only writes initialized bytes.
    let chunk = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    match fill(chunk, options, put)? {
        // SAFETY: the first `written` bytes of the chunk are initialized.
        FillResult::InPlace(written) => unsafe { buf.advance_mut(written) },
        FillResult::Spilled(message) if message.len() <= buf.remaining_mut() => buf.put_slice(&message),
        FillResult::Spilled(_) => {
            return Err(Error::at(ErrorKind::BufferFull, buf.remaining_mut()));
        }
    }
    Ok(())
}

fn as_uninit(slice: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let len = slice.len();
    // SAFETY: the layout is the same, and a `Writer`, the only user, only writes initialized bytes.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), len) }
}
