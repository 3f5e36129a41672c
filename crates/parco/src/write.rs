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
use core::mem::{self, MaybeUninit};
use core::ops::Range;

use crate::error::{Error, Fault, Segment, Trace};

/// Where encoded bytes go: memory of the caller, written from its current end.
///
/// Values of [`Put`](crate::Put) write through it. Nothing of a message is part of the caller's buffer before all of
/// it was encoded, so a failure leaves the buffer as it was.
pub struct Writer<'a> {
    at: *mut u8,
    end: *mut u8,
    room: &'a mut Room,
}

/// Where the memory comes from, and what is noted about failures.
struct Room {
    start: *mut u8,
    memory: Memory,
    trace: Trace,
}

enum Memory {
    /// The spare capacity of a vector, whose length does not change before the end.
    Spare(Vec<u8>),
    /// A region that cannot grow. The function that made the room borrows it.
    Region,
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
        let vec = match &mut self.memory {
            Memory::Spare(vec) => {
                let len = vec.len();
                // SAFETY: the bytes up to `at` are initialised and within the capacity. Their being part of the
                // vector while it grows is what makes it move them.
                unsafe { vec.set_len(len + written) };
                vec.reserve(additional);
                vec.truncate(len);
                vec
            }
            Memory::Region => {
                let mut vec = Vec::with_capacity((written + additional).max(2 * written));
                // SAFETY: the bytes from `start` to `at` are initialised, and the vector is an allocation of its own.
                vec.extend_from_slice(unsafe { core::slice::from_raw_parts(self.start, written) });
                vec.clear();
                self.memory = Memory::Spare(vec);
                let Memory::Spare(vec) = &mut self.memory else { unreachable!("set above") };
                vec
            }
        };
        let spare = vec.spare_capacity_mut().as_mut_ptr_range();
        self.start = spare.start.cast();
        // SAFETY: `reserve` keeps the `written` bytes and makes room behind them in the same allocation.
        (unsafe { self.start.add(written) }, spare.end.cast())
    }
}

impl<'a> Writer<'a> {
    #[inline]
    fn new(room: &'a mut Room, end: *mut MaybeUninit<u8>) -> Self {
        Self { at: room.start, end: end.cast(), room }
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
        // SAFETY: `reserve` made room, and the caller's slice is not memory that only this writer may touch.
        unsafe {
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at, bytes.len());
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
        self.reserve(len + 16);
        let to = self.at;
        // SAFETY: `reserve` made room for sixteen bytes and `len` more, `width` is at most eight, and the arms write at
        // most sixteen bytes or `width + len`.
        unsafe {
            self.at = to.add(width + len);
            if len < 8 {
                let word = short(bytes);
                if width == 1 {
                    let word = word << 8 | u64::from(header[0]);
                    to.cast::<[u8; 8]>().write_unaligned(word.to_le_bytes());
                } else {
                    to.cast::<[u8; 8]>().write_unaligned(header);
                    to.add(width).cast::<[u8; 8]>().write_unaligned(word.to_le_bytes());
                }
            } else {
                to.cast::<[u8; 8]>().write_unaligned(header);
                copy(bytes, to.add(width));
            }
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
        self.reserve(len + 8);
        // SAFETY: a `Plain` value has no padding, so all its bytes are initialised; `reserve` made room for them.
        unsafe {
            let bytes = core::slice::from_raw_parts(values.as_ptr().cast::<u8>(), len);
            if len < 8 {
                self.at.cast::<[u8; 8]>().write_unaligned(short(bytes).to_le_bytes());
            } else {
                copy(bytes, self.at);
            }
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

/// A slice of at most seven bytes as a number, least significant byte first.
///
/// # Safety
///
/// `bytes` has at most seven bytes.
#[inline(always)]
unsafe fn short(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let from = bytes.as_ptr();
    // SAFETY: every index is below `len`. The parts overlap, and have the same bits where they do.
    unsafe {
        if len >= 4 {
            let low = u32::from_le_bytes(from.cast::<[u8; 4]>().read_unaligned());
            let high = u32::from_le_bytes(from.add(len - 4).cast::<[u8; 4]>().read_unaligned());
            u64::from(low) | u64::from(high) << (8 * (len - 4))
        } else if len > 0 {
            let first = u64::from(*from);
            let middle = u64::from(*from.add(len / 2)) << (8 * (len / 2));
            let last = u64::from(*from.add(len - 1)) << (8 * (len - 1));
            first | middle | last
        } else {
            0
        }
    }
}

/// Copies a slice of at least eight bytes, short ones by two overlapping moves instead of a call.
///
/// # Safety
///
/// `from` has at least eight bytes, and `to` is valid for writes of as many and does not overlap it.
#[inline(always)]
unsafe fn copy(from: &[u8], to: *mut u8) {
    let len = from.len();
    let source = from.as_ptr();
    // SAFETY: the caller's promise; the arms keep to their lengths.
    unsafe {
        match len {
            0..=16 => pair::<8>(source, to, len),
            17..=32 => pair::<16>(source, to, len),
            33..=64 => pair::<32>(source, to, len),
            _ => core::ptr::copy_nonoverlapping(source, to, len),
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
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<Filled, Error> {
    let spare = region.as_mut_ptr_range();
    let end = spare.end;
    let mut room = Room::new(spare, Memory::Region);
    let mut writer = Writer::new(&mut room, end);
    let result = put(&mut writer);
    let written = writer.written();
    match (result, room.memory) {
        (Err(fault), _) => Err(room.trace.into_error(fault, written)),
        (Ok(()), Memory::Region) => Ok(Filled::InPlace(written)),
        (Ok(()), Memory::Spare(mut vec)) => {
            // SAFETY: the vector was empty, and `written` bytes from its start are initialised.
            unsafe { vec.set_len(written) };
            Ok(Filled::Spilled(vec))
        }
    }
}

/// Appends to a vector.
#[inline(always)]
pub(crate) fn append(
    vec: &mut Vec<u8>,
    put: impl FnOnce(&mut Writer<'_>) -> Result<(), Fault>,
) -> Result<(), Error> {
    let mut lent =
        Lent { room: Room::new(vec.spare_capacity_mut().as_mut_ptr_range(), Memory::Region), owner: vec };
    let end = lent.owner.spare_capacity_mut().as_mut_ptr_range().end;
    lent.room.memory = Memory::Spare(mem::take(lent.owner));
    let mut writer = Writer::new(&mut lent.room, end);
    let result = put(&mut writer);
    let written = writer.written();
    match result {
        Ok(()) => {
            if let Memory::Spare(vec) = &mut lent.room.memory {
                let len = vec.len() + written;
                // SAFETY: `written` bytes behind the vector's contents are initialised and within its capacity.
                unsafe { vec.set_len(len) };
            }
            Ok(())
        }
        Err(fault) => Err(mem::take(&mut lent.room.trace).into_error(fault, written)),
    }
}

/// A room in a vector that is given back to its owner in the end, also when an encoder panics.
struct Lent<'a> {
    owner: &'a mut Vec<u8>,
    room: Room,
}

impl Drop for Lent<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Memory::Spare(vec) = &mut self.room.memory {
            *self.owner = mem::take(vec);
        }
    }
}

/// A slice as memory whose contents do not matter.
pub(crate) fn as_uninit(slice: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    let len = slice.len();
    // SAFETY: the layout is the same, and a `Writer`, the only user, writes nothing but initialised bytes.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), len) }
}
