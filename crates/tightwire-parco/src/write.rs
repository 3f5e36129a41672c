//! The output side: a cursor over memory that grows when it is full.
//!
//! This module has the `unsafe` code of the encoder. Its invariant: `Room::start <= at <= end`, all three in or one past
//! one allocation, the bytes from `start` to `at` are initialised, and those from `at` to `end` may be written.
//!
//! The cursor is apart from the room that it points into, and growing takes and returns cursors by value. So no address
//! of a cursor escapes, and the compiler keeps it in registers over the loops of collections.

#![allow(unsafe_code, reason = "several writes share one check of the room; see the module text")]

use alloc::vec::Vec;
use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::error::{Error, Fault, Segment, Trace};
use crate::options::Levels;

/// Where encoded bytes go: memory of the caller, written from its current end.
///
/// Values of [`Put`](crate::Put) write through it. Nothing of a message is part of the caller's buffer before all of
/// it was encoded, so a failure leaves the buffer as it was.
pub struct Writer<'a> {
    at: *mut u8,
    end: *mut u8,
    /// Levels of structs that may still be entered.
    levels: Levels,
    room: &'a mut Room,
}

/// Where the memory comes from, and what is noted about failures.
struct Room {
    start: *mut u8,
    memory: Memory,
    trace: Trace,
}

enum Memory {
    /// The spare capacity of the vector that [`append`] borrows, whose length does not change before the end.
    Vec(*mut Vec<u8>),
    /// A region that cannot grow, borrowed by [`fill`].
    Region,
    /// What did not fit a region, as spare capacity of an empty vector.
    Spilled(Vec<u8>),
}

/// What became of an encoding into a region.
pub(crate) enum Filled {
    /// So many bytes are initialised at the start of the region.
    InPlace(usize),
    /// The region was too small, here is the message.
    Spilled(Vec<u8>),
}

impl Room {
    fn new(spare: Range<*mut MaybeUninit<u8>>, memory: Memory) -> Self {
        Self { start: spare.start.cast(), memory, trace: Trace::default() }
    }

    /// Makes room for `additional` bytes behind `at`. Returns the cursor and the end in the new memory.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, at: *mut u8, additional: usize) -> (*mut u8, *mut u8) {
        let written = at.addr() - self.start.addr();
        if let Memory::Region = self.memory {
            let mut vec = Vec::with_capacity(written.saturating_add(additional).max(2 * written));
            // SAFETY: the bytes from `start` to `at` are initialised, and the vector is an allocation of its own.
            vec.extend_from_slice(unsafe { core::slice::from_raw_parts(self.start, written) });
            vec.clear();
            self.memory = Memory::Spilled(vec);
        }
        let vec = match &mut self.memory {
            // SAFETY: `append` borrows the vector for longer than the room lives, and uses this pointer alone.
            Memory::Vec(vec) => unsafe { &mut **vec },
            Memory::Spilled(vec) => vec,
            Memory::Region => unreachable!("replaced above"),
        };
        let len = vec.len();
        // Said here, for a panic of `reserve` would leave the message in the vector.
        assert!(additional <= isize::MAX as usize - written - len, "more than an allocation can have");
        // SAFETY: the bytes up to `at` are initialised and within the capacity. Their being part of the vector while
        // it grows is what makes it move them.
        unsafe { vec.set_len(len + written) };
        vec.reserve(additional);
        vec.truncate(len);
        let spare = vec.spare_capacity_mut().as_mut_ptr_range();
        self.start = spare.start.cast();
        // SAFETY: `reserve` keeps the `written` bytes and makes room behind them in the same allocation.
        (unsafe { self.start.add(written) }, spare.end.cast())
    }
}

impl<'a> Writer<'a> {
    #[inline]
    fn new(room: &'a mut Room, end: *mut MaybeUninit<u8>, levels: Levels) -> Self {
        Self { at: room.start, end: end.cast(), levels, room }
    }

    /// Enters a struct.
    ///
    /// # Errors
    ///
    /// Fails below the deepest level that [`Limits::max_depth`](crate::Limits::max_depth) allows.
    #[inline]
    pub fn enter(&mut self) -> Result<(), Fault> {
        self.levels = self.levels.deeper()?;
        Ok(())
    }

    /// Leaves a struct.
    #[inline]
    pub fn leave(&mut self) {
        self.levels.0 += 1;
    }

    /// The levels of structs that may still be entered.
    #[inline]
    pub(crate) fn levels(&self) -> Levels {
        self.levels
    }

    /// The number of bytes written so far.
    #[inline]
    pub fn written(&self) -> usize {
        self.at.addr() - self.room.start.addr()
    }

    /// Notes on the way up where a fault happened.
    #[cold]
    pub fn locate(&mut self, fault: Fault, segment: Segment) -> Fault {
        self.room.trace.push(segment);
        fault
    }

    /// Makes room for `additional` bytes, so that writes of that much in all do not grow the memory one by one.
    #[inline(always)]
    pub fn reserve(&mut self, additional: usize) {
        if self.end.addr() - self.at.addr() < additional {
            (self.at, self.end) = self.room.grow(self.at, additional);
        }
    }

    /// Writes `N` bytes.
    #[inline(always)]
    pub fn array<const N: usize>(&mut self, bytes: [u8; N]) {
        self.reserve(N);
        // SAFETY: `reserve` made room for `N` bytes.
        unsafe {
            self.at.cast::<[u8; N]>().write_unaligned(bytes);
            self.at = self.at.add(N);
        }
    }

    /// Writes a slice.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        // SAFETY: `reserve` made room, which no other reference points into.
        unsafe {
            copy(bytes, self.at);
            self.at = self.at.add(bytes.len());
        }
    }

    /// Writes the first `width` bytes of `header`, then `bytes`: one check of the room for both.
    ///
    /// # Panics
    ///
    /// Panics if `width` is above 8.
    #[inline(always)]
    pub fn prefixed(&mut self, header: [u8; 8], width: usize, bytes: &[u8]) {
        assert!(width <= 8, "a header has at most eight bytes");
        let len = bytes.len();
        self.reserve(len + 8);
        let to = self.at;
        // SAFETY: `reserve` made room for eight bytes and `len` more, and `width` is at most eight.
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

    /// Writes `count` zero bytes.
    pub fn zeros(&mut self, count: usize) {
        self.reserve(count);
        // SAFETY: `reserve` made room for `count` bytes.
        unsafe {
            self.at.write_bytes(0, count);
            self.at = self.at.add(count);
        }
    }

    /// Writes numbers as they are in memory.
    #[cfg(target_endian = "little")]
    #[inline]
    pub(crate) fn native<T: Plain>(&mut self, values: &[T]) {
        let len = size_of_val(values);
        self.reserve(len);
        // SAFETY: a `Plain` value has no padding, so all its bytes are initialised; `reserve` made room for them.
        unsafe {
            let bytes = core::slice::from_raw_parts(values.as_ptr().cast::<u8>(), len);
            copy(bytes, self.at);
            self.at = self.at.add(len);
        }
    }

    /// Writes one array per value.
    #[inline]
    pub(crate) fn arrays<T: Copy, const N: usize>(&mut self, values: &[T], bytes: impl Fn(T) -> [u8; N]) {
        self.reserve(values.len() * N);
        let mut at = self.at;
        for value in values {
            // SAFETY: `reserve` made room for an array per value.
            unsafe {
                at.cast::<[u8; N]>().write_unaligned(bytes(*value));
                at = at.add(N);
            }
        }
        self.at = at;
    }
}

/// A number: all its bytes are initialised.
///
/// # Safety
///
/// The type has no padding.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: numbers have no padding.
        unsafe impl Plain for $type {}
    )*};
}

plain!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// Copies a slice, short ones by moves that overlap instead of a call.
///
/// # Safety
///
/// `to` is valid for writes of as many bytes and does not overlap the slice.
#[inline(always)]
unsafe fn copy(bytes: &[u8], to: *mut u8) {
    let len = bytes.len();
    let from = bytes.as_ptr();
    // SAFETY: every index is below `len`, which each arm knows to be large enough.
    unsafe {
        match len {
            0 => {}
            1..=3 => {
                let (first, middle, last) = (*from, *from.add(len / 2), *from.add(len - 1));
                *to = first;
                *to.add(len / 2) = middle;
                *to.add(len - 1) = last;
            }
            4..=7 => pair::<4>(from, to, len),
            8..=16 => pair::<8>(from, to, len),
            17..=32 => pair::<16>(from, to, len),
            33..=64 => pair::<32>(from, to, len),
            _ => core::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Copies the first and the last `N` of `len` bytes.
///
/// # Safety
///
/// `N <= len`, and both sides are valid for `len` bytes.
#[inline(always)]
unsafe fn pair<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        to.cast::<[u8; N]>().write_unaligned(from.cast::<[u8; N]>().read_unaligned());
        let tail = from.add(len - N).cast::<[u8; N]>().read_unaligned();
        to.add(len - N).cast::<[u8; N]>().write_unaligned(tail);
    }
}

impl fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("written", &self.written()).finish_non_exhaustive()
    }
}

/// Encodes into a region, or into memory of its own where that is too small.
pub(crate) fn fill(
    region: &mut [MaybeUninit<u8>],
    levels: Levels,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<Filled, Error> {
    let spare = region.as_mut_ptr_range();
    let end = spare.end;
    let mut room = Room::new(spare, Memory::Region);
    let mut writer = Writer::new(&mut room, end, levels);
    let result = put(&mut writer);
    let written = writer.written();
    match (result, room.memory) {
        (Err(fault), _) => Err(room.trace.into_error(fault, written)),
        (Ok(()), Memory::Spilled(mut vec)) => {
            // SAFETY: the vector was empty, and `written` bytes from its start are initialised.
            unsafe { vec.set_len(written) };
            Ok(Filled::Spilled(vec))
        }
        (Ok(()), _) => Ok(Filled::InPlace(written)),
    }
}

/// Appends to a vector.
#[inline(always)]
pub(crate) fn append(
    vec: &mut Vec<u8>,
    levels: Levels,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<(), Error> {
    let spare = vec.spare_capacity_mut().as_mut_ptr_range();
    let end = spare.end;
    let mut room = Room::new(spare, Memory::Vec(vec));
    let mut writer = Writer::new(&mut room, end, levels);
    let result = put(&mut writer);
    let written = writer.written();
    match (result, room.memory) {
        (Ok(()), Memory::Vec(vec)) => {
            // SAFETY: the pointer is the argument, which nothing else has used since; `written` bytes behind its
            // contents are initialised and within its capacity.
            unsafe { (*vec).set_len((*vec).len() + written) };
            Ok(())
        }
        (Ok(()), _) => unreachable!("a vector grows and is not replaced"),
        (Err(fault), _) => Err(room.trace.into_error(fault, written)),
    }
}

/// A buffer that [`encode_to_buf`](crate::encode_to_buf) appends to.
///
/// Implemented for the buffers of `bytes` and the standard library. For another [`BufMut`](bytes::BufMut), an empty
/// `impl` is enough if it cannot grow.
#[cfg(feature = "bytes")]
pub trait Reserve: bytes::BufMut {
    /// Makes room for `additional` bytes in one chunk, if the buffer can grow.
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

/// Bytes behind a message that its last header may touch, because headers are written as eight bytes.
#[cfg(feature = "bytes")]
const SLACK: usize = 8;

/// Encodes into the spare room of a buffer, with `size` bytes of it if it can grow.
///
/// # Errors
///
/// Fails if a value does not fit its wire form, or if the buffer has no room for the message; the buffer is then as it
/// was.
#[cfg(feature = "bytes")]
pub(crate) fn append_to_buf(
    buf: &mut impl Reserve,
    size: usize,
    levels: Levels,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<(), Error> {
    buf.reserve(size.saturating_add(SLACK));
    // SAFETY: a `Writer` writes nothing but initialised bytes.
    let chunk = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    match fill(chunk, levels, put)? {
        // SAFETY: so many bytes at the start of the chunk are initialised.
        Filled::InPlace(written) => unsafe { buf.advance_mut(written) },
        Filled::Spilled(message) if message.len() <= buf.remaining_mut() => buf.put_slice(&message),
        Filled::Spilled(_) => return Err(Error::at(crate::error::Kind::BufferFull, buf.remaining_mut())),
    }
    Ok(())
}

/// A slice as memory whose contents do not matter.
pub(crate) fn as_uninit(slice: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let len = slice.len();
    // SAFETY: the layout is the same, and a `Writer`, the only user, writes nothing but initialised bytes.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), len) }
}

#[cfg(test)]
mod tests;
