//! Search for line ends and non-ASCII bytes, 64 bytes at a time.
//!
//! One pass finds the line ends and tells whether a line is ASCII, so that it needs no UTF-8 validation. [`Lines`]
//! keeps the bit masks of the current block between calls, so that a short line costs a bit scan instead of a load.
//!
//! All `unsafe` code of the decoder is here: vector instructions of `core::arch`, calls of functions compiled for AVX2 or
//! AVX-512, and the unchecked conversion of bytes that the scan has found to be ASCII. [`Portable`] is the safe
//! equivalent of the vector engines; property tests compare them.
#![allow(unsafe_code, reason = "vector loads and conversion of ASCII; see the module text")]

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use alloc::string::String;
use alloc::vec::Vec;

// `Baseline` is the engine of every processor of the target.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
)))]
use Portable as Baseline;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
use neon::Neon as Baseline;
#[cfg(target_arch = "x86_64")]
use x86::{Avx2, Avx512, Sse2 as Baseline};

/// Bytes per block.
pub(crate) const BLOCK: usize = 64;

/// Bit masks of a block of up to 64 bytes. Bit `i` describes byte `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Masks {
    /// CR or LF.
    pub(crate) eol: u64,
    /// Not ASCII.
    pub(crate) high: u64,
}

#[allow(dead_code, reason = "only vector engines use these functions")]
impl Masks {
    /// Combines the masks `low` with `high`, which starts at byte `at`. Overlapping bytes must be equal.
    #[inline(always)]
    fn overlay(low: Self, high: Self, at: usize) -> Self {
        Self { eol: low.eol | (high.eol << at), high: low.high | (high.high << at) }
    }

    /// Returns the masks of fewer than [`BLOCK`] bytes.
    #[inline(always)]
    fn of_parts(bytes: &[u8], masks16: impl Fn(&[u8; 16]) -> Self) -> Self {
        if bytes.len() >= 32 {
            // At most four loads. The last one covers the end and overlaps the previous one.
            let (parts, _) = bytes.as_chunks::<16>();
            let mut masks = Self::default();
            for (index, part) in parts.iter().enumerate() {
                masks = Self::overlay(masks, masks16(part), 16 * index);
            }
            match bytes.last_chunk::<16>() {
                Some(last) => Self::overlay(masks, masks16(last), bytes.len() - 16),
                None => masks,
            }
        } else if let (Some(first), Some(last)) = (bytes.first_chunk::<16>(), bytes.last_chunk::<16>()) {
            Self::overlay(masks16(first), masks16(last), bytes.len() - 16)
        } else if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            Self::overlay(Portable.tail(first), Portable.tail(last), bytes.len() - 8)
        } else {
            Portable.tail(bytes)
        }
    }
}

/// Implementation of the search for an instruction set. A value proves that the processor supports it.
pub(crate) trait Engine: Copy {
    /// Returns the masks of a complete block.
    fn block(self, bytes: &[u8; BLOCK]) -> Masks;

    /// Returns the masks of fewer than [`BLOCK`] bytes.
    fn tail(self, bytes: &[u8]) -> Masks;

    /// Runs `task` in a function that is compiled for the instruction set.
    fn call<W: Task>(self, task: W) -> W::Output;
}

/// Safe engine: eight bytes at a time in a general-purpose register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable;

impl Portable {
    const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    const HIGH_BITS: u64 = !Self::LOW_BITS;

    /// Sets the top bit of every byte of `word` that equals `byte` and clears all other bits.
    #[inline(always)]
    fn equal(word: u64, byte: u8) -> u64 {
        let zero_where_equal = word ^ (u64::from(byte) * 0x0101_0101_0101_0101);
        // The addition cannot carry into the next byte, so that the result is exact for every byte.
        !(((zero_where_equal & Self::LOW_BITS) + Self::LOW_BITS) | zero_where_equal | Self::LOW_BITS)
    }

    /// Gathers the top bits of eight bytes into the low eight bits.
    #[inline(always)]
    fn gather(tops: u64) -> u64 {
        ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080)) >> 56
    }

    #[inline(always)]
    fn word(bytes: [u8; 8]) -> Masks {
        let word = u64::from_le_bytes(bytes);
        let eol = Self::equal(word, b'\n') | Self::equal(word, b'\r');
        Masks { eol: Self::gather(eol), high: Self::gather(word & Self::HIGH_BITS) }
    }
}

impl Engine for Portable {
    #[inline(always)]
    fn block(self, bytes: &[u8; BLOCK]) -> Masks {
        self.tail(bytes)
    }

    #[inline(always)]
    fn tail(self, bytes: &[u8]) -> Masks {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut masks = Masks::default();
        for (index, word) in words.iter().enumerate() {
            let part = Self::word(*word);
            masks.eol |= part.eol << (8 * index);
            masks.high |= part.high << (8 * index);
        }
        for (index, &byte) in rest.iter().enumerate() {
            let at = 8 * words.len() + index;
            masks.eol |= u64::from(byte == b'\n' || byte == b'\r') << at;
            masks.high |= u64::from(!byte.is_ascii()) << at;
        }
        masks
    }

    #[inline(never)]
    fn call<W: Task>(self, task: W) -> W::Output {
        task.run(self)
    }
}

/// Line without its line end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'c> {
    bytes: &'c [u8],
    /// Whether `bytes` certainly has no byte above 0x7F.
    ascii: bool,
}

impl<'c> Line<'c> {
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &'c [u8] {
        self.bytes
    }
}

/// UTF-8 validation. Only validates the part between the first and the last non-ASCII byte: in JSON, these are few and
/// close together.
struct Validate<'c> {
    bytes: &'c [u8],
}

impl<'c> Task for Validate<'c> {
    type Output = Option<&'c str>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Option<&'c str> {
        let Self { bytes } = self;
        let (mut start, mut end) = (0, bytes.len());
        // Branches instead of arithmetic, so that the next load does not depend on this one.
        while let Some(block) = bytes[start..].first_chunk::<BLOCK>() {
            let high = engine.block(block).high;
            if high != 0 {
                start += high.trailing_zeros() as usize;
                break;
            }
            start += BLOCK;
        }
        while let Some(block) = bytes[start..end].last_chunk::<BLOCK>() {
            let high = engine.block(block).high;
            if high != 0 {
                end -= high.leading_zeros() as usize;
                break;
            }
            end -= BLOCK;
        }
        core::str::from_utf8(&bytes[start..end]).ok()?;
        // SAFETY: the bytes before `start` and from `end` on are ASCII, because their bits in the masks are clear, and
        // the bytes between are valid UTF-8.
        Some(unsafe { core::str::from_utf8_unchecked(bytes) })
    }
}

/// Converts bytes to text without copying, or returns them if they are not valid UTF-8.
pub(crate) fn into_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if with_engine(Validate { bytes: &bytes }).is_some() {
        // SAFETY: `Validate` has validated exactly these bytes, and they were not modified since.
        Ok(unsafe { String::from_utf8_unchecked(bytes) })
    } else {
        Err(bytes)
    }
}

/// Returns whether a chunk contains CR or LF.
#[inline(always)]
pub(crate) fn has_line_end(chunk: &[u8]) -> bool {
    if let [byte] = chunk {
        return matches!(byte, b'\n' | b'\r');
    }
    match (chunk.first_chunk(), chunk.last_chunk()) {
        (Some(first), Some(last)) if chunk.len() <= 8 => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            let both = u64::from(first) | u64::from(last) << 32;
            Portable::word(both.to_le_bytes()).eol != 0
        }
        (Some(_), _) if chunk.len() < BLOCK => Baseline.tail(chunk).eol != 0,
        (Some(_), _) => with_engine(HasLineEnd { chunk }),
        (None, _) => chunk.iter().any(|byte| matches!(byte, b'\n' | b'\r')),
    }
}

struct HasLineEnd<'c> {
    chunk: &'c [u8],
}

impl Task for HasLineEnd<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> bool {
        let (blocks, tail) = self.chunk.as_chunks();
        blocks.iter().any(|block| engine.block(block).eol != 0) || engine.tail(tail).eol != 0
    }
}

/// Start of nearly all data lines.
const DATA: &[u8; 6] = b"data: ";

/// Returns whether a line begins with [`DATA`]. Compares one number instead of six bytes, and so returns `false` for
/// lines of less than eight bytes, including the line end; they take the general path.
#[inline(always)]
fn begins_with_data(line: &[u8]) -> bool {
    line.first_chunk()
        .is_some_and(|start| u64::from_le_bytes(*start) << 16 == u64::from_le_bytes(*b"\0\0data: "))
}

/// Returns the data of the event at the start of `chunk`, if it consists of one line of at most `max_len` bytes that
/// begins with [`DATA`], and LF LF.
#[inline(always)]
pub(crate) fn first_event(chunk: &[u8], max_len: usize) -> Option<&str> {
    if begins_with_data(chunk) { with_engine(FirstEvent { chunk, max_len }) } else { None }
}

/// Returns the length in the chunk of an event found by [`first_event`].
#[inline(always)]
pub(crate) fn event_len(data: &str) -> usize {
    DATA.len() + data.len() + 2
}

struct FirstEvent<'c> {
    chunk: &'c [u8],
    max_len: usize,
}

impl<'c> Task for FirstEvent<'c> {
    type Output = Option<&'c str>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Option<&'c str> {
        Some(Lines::new(engine, self.chunk).simple_event(self.max_len)?.0)
    }
}

/// Lines of a chunk.
#[derive(Debug)]
pub(crate) struct Lines<'c, E> {
    engine: E,
    chunk: &'c [u8],
    blocks: &'c [[u8; BLOCK]],
    /// Offset of the next line.
    start: usize,
    /// Offset of the block after that of `masks`.
    ahead: usize,
    masks: Masks,
}

impl<'c, E: Engine> Lines<'c, E> {
    /// Returns the lines of `chunk`, which begins at the start of a line.
    #[inline(always)]
    pub(crate) fn new(engine: E, chunk: &'c [u8]) -> Self {
        Self { engine, chunk, blocks: chunk.as_chunks().0, start: 0, ahead: 0, masks: Masks::default() }
    }

    /// Returns the offset of the next line, which is the number of consumed bytes.
    #[inline(always)]
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Returns the unconsumed rest of the chunk.
    #[inline(always)]
    pub(crate) fn rest(&self) -> &'c [u8] {
        &self.chunk[self.start..]
    }

    /// Returns the offset of a line in the chunk.
    pub(crate) fn offset_of(&self, line: &'c [u8]) -> usize {
        line.as_ptr().addr() - self.chunk.as_ptr().addr()
    }

    /// Returns the bytes of a line from `start` on as text, `None` if they are not valid UTF-8.
    ///
    /// # Panics
    ///
    /// If `start` is past the end of the line.
    #[inline(always)]
    pub(crate) fn text(&self, line: &Line<'c>, start: usize) -> Option<&'c str> {
        let bytes = &line.bytes[start..];
        if line.ascii {
            // SAFETY: lines are only created in `find_line`, which sets `ascii` only if no byte of the line has its top
            // bit set; such bytes are UTF-8.
            Some(unsafe { core::str::from_utf8_unchecked(bytes) })
        } else {
            self.engine.call(Validate { bytes })
        }
    }

    /// Consumes the rest of the chunk.
    #[inline(always)]
    pub(crate) fn skip_to_end(&mut self) {
        self.start = self.chunk.len();
        // The search for a line end may have advanced `ahead` without updating `masks`.
        self.ahead = self.start.next_multiple_of(BLOCK);
        self.masks = Masks::default();
    }

    /// Returns whether the chunk is consumed and ends with CR: its LF may be the first byte of the next chunk.
    #[inline(always)]
    pub(crate) fn ends_after_cr(&self) -> bool {
        self.start == self.chunk.len() && self.chunk.last() == Some(&b'\r')
    }

    /// Consumes the next event if it consists of one line of at most `max_len` bytes that begins with [`DATA`], and LF
    /// LF. Returns its data. Most streams consist of such events.
    ///
    /// Equivalent to [`next_line`](Self::next_line) and the grammar, in code small enough to run in registers.
    #[inline(always)]
    pub(crate) fn next_simple_event(&mut self, max_len: usize) -> Option<&'c str> {
        if let Some((data, end)) = self.simple_event(max_len) {
            self.start = end;
            return Some(data);
        }
        // The search for the line end may have advanced to a later block: starts again at the line.
        self.ahead = self.start - self.start % BLOCK;
        self.masks = Masks::default();
        None
    }

    /// Returns the data and the end of the event at `start`, if it is complete and consists of one line.
    #[inline(always)]
    fn simple_event(&mut self, max_len: usize) -> Option<(&'c str, usize)> {
        if !begins_with_data(&self.chunk[self.start..]) {
            return None;
        }
        let line = self.find_line()?;
        let end = self.start + line.bytes.len();
        if self.chunk[end..].first_chunk() != Some(b"\n\n") || line.bytes.len() > max_len {
            return None;
        }
        Some((self.text(&line, DATA.len())?, end + 2))
    }

    /// Consumes and returns the next line that ends with CR, LF or CRLF in the chunk. A CR at the end of the chunk ends
    /// its line, too.
    #[inline(always)]
    pub(crate) fn next_line(&mut self) -> Option<Line<'c>> {
        let line = self.find_line()?;
        let end = self.start + line.bytes.len();
        let crlf = self.chunk[end] == b'\r' && self.chunk.get(end + 1) == Some(&b'\n');
        self.start = end + 1 + usize::from(crlf);
        Some(line)
    }

    /// Returns the line at `start` without consuming it. The only place that creates a [`Line`].
    #[inline(always)]
    fn find_line(&mut self) -> Option<Line<'c>> {
        // Bytes of the block before `start` belong to earlier lines.
        let seen = (self.start + BLOCK).wrapping_sub(self.ahead);
        let unseen = if seen < BLOCK { u64::MAX << seen } else { 0 };
        let mut eol = self.masks.eol & unseen;
        let mut high = self.masks.high & unseen;
        let mut earlier_high = 0;
        if eol == 0 {
            earlier_high = high;
            let mut masks = self.masks_ahead()?;
            // The line may start at the second byte of the block, after the LF of a CRLF or an empty line.
            let unseen = u64::MAX << self.start.saturating_sub(self.ahead);
            masks = Masks { eol: masks.eol & unseen, high: masks.high & unseen };
            self.ahead += BLOCK;
            while masks.eol == 0 {
                earlier_high |= masks.high;
                masks = self.masks_ahead()?;
                self.ahead += BLOCK;
            }
            self.masks = masks;
            eol = masks.eol;
            high = masks.high;
        }
        let bit = eol.trailing_zeros();
        let in_line = high & ((1 << bit) - 1);
        let end = self.ahead - BLOCK + bit as usize;
        Some(Line { bytes: &self.chunk[self.start..end], ascii: (earlier_high | in_line) == 0 })
    }

    /// Returns the masks of the next block, `None` at the end of the chunk.
    #[inline(always)]
    fn masks_ahead(&self) -> Option<Masks> {
        match self.blocks.get(self.ahead / BLOCK) {
            Some(block) => Some(self.engine.block(block)),
            None => self.masks_of_tail(),
        }
    }

    #[inline(always)]
    fn masks_of_tail(&self) -> Option<Masks> {
        let tail = self.chunk.get(self.ahead..)?;
        if tail.is_empty() {
            return None;
        }
        Some(match self.chunk.last_chunk::<BLOCK>() {
            // Loads the last 64 bytes and shifts out those already seen, which is cheaper than `tail`.
            Some(block) => {
                let masks = self.engine.block(block);
                let seen = BLOCK - tail.len();
                Masks { eol: masks.eol >> seen, high: masks.high >> seen }
            }
            None => self.engine.tail(tail),
        })
    }
}

/// Task that is generic over the engine, run by [`with_engine`].
///
/// A trait instead of a closure, because `run` must be `#[inline(always)]`: only then is the vector code part of the
/// function that is compiled for the instruction set, and can be inlined there.
pub(crate) trait Task {
    type Output;

    fn run<E: Engine>(self, engine: E) -> Self::Output;
}

/// Runs `task` with the fastest engine that the processor supports.
#[inline(always)]
pub(crate) fn with_engine<W: Task>(task: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx512) = Avx512::detect() {
            return avx512.call(task);
        }
        if let Some(avx2) = Avx2::detect() {
            return avx2.call(task);
        }
    }
    Baseline.call(task)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(bytes: &[u8]) -> Masks {
        let mut masks = Masks::default();
        for (index, byte) in bytes.iter().enumerate() {
            masks.eol |= u64::from(matches!(byte, b'\r' | b'\n')) << index;
            masks.high |= u64::from(*byte >= 0x80) << index;
        }
        masks
    }

    /// Runs a check with all engines that the processor supports.
    fn on_all_engines(check: impl Task<Output = ()> + Copy) {
        check.run(Portable);
        check.run(Baseline);
        #[cfg(target_arch = "x86_64")]
        {
            Avx2::detect().into_iter().for_each(|avx2| check.run(avx2));
            Avx512::detect().into_iter().for_each(|avx512| check.run(avx512));
        }
    }

    /// Compares the masks of up to one block with the naive ones.
    #[derive(Clone, Copy)]
    struct BlockMasks<'a>(&'a [u8]);

    impl Task for BlockMasks<'_> {
        type Output = ();

        fn run<E: Engine>(self, engine: E) {
            let masks = self.0.first_chunk().map_or_else(|| engine.tail(self.0), |block| engine.block(block));
            assert_eq!(masks, naive(self.0), "{:?}", self.0);
        }
    }

    #[test]
    fn masks_are_exact_at_every_position_and_length() {
        for len in 1..=BLOCK {
            for at in 0..len {
                for byte in [b'\n', b'\r', 0x09, 0x0b, 0x0c, 0x0e, 0x1a, 0x80, 0x8a, 0x8d, 0xff, 0x00] {
                    let mut block = Vec::from([b'x'; BLOCK]);
                    block.truncate(len);
                    block[at] = byte;
                    on_all_engines(BlockMasks(&block));
                    assert_eq!(has_line_end(&block), naive(&block).eol != 0);
                }
            }
        }
    }

    /// Returns the lines of `chunk` without their line ends, whether they are ASCII, and the rest.
    fn naive_lines(chunk: &[u8]) -> (Vec<(&[u8], bool)>, &[u8]) {
        let mut lines = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            let line = &rest[..end];
            lines.push((line, line.is_ascii()));
            let crlf = rest[end..].starts_with(b"\r\n");
            rest = &rest[end + 1 + usize::from(crlf)..];
        }
        (lines, rest)
    }

    /// Checks that an engine finds the same lines in a chunk as `naive_lines`.
    #[derive(Clone, Copy)]
    struct ChunkLines<'a>(&'a [u8]);

    impl Task for ChunkLines<'_> {
        type Output = ();

        fn run<E: Engine>(self, engine: E) {
            let (expected, rest) = naive_lines(self.0);
            let mut lines = Lines::new(engine, self.0);
            for line in expected {
                let actual = lines.next_line().unwrap();
                assert_eq!((actual.bytes, actual.ascii), line);
            }
            assert!(lines.next_line().is_none());
            assert_eq!(lines.rest(), rest);
            assert_eq!(lines.ends_after_cr(), self.0.last() == Some(&b'\r'));
        }
    }

    proptest! {
        #[test]
        fn validation_agrees_with_the_standard_library(
            parts in proptest::collection::vec(
                prop_oneof![
                    4 => "[a-z]{0,40}".prop_map(String::into_bytes),
                    2 => "\\PC{0,3}".prop_map(String::into_bytes),
                    1 => proptest::collection::vec(any::<u8>(), 0..4),
                ],
                0..6,
            )
        ) {
            let bytes = parts.concat();
            let expected = core::str::from_utf8(&bytes).ok();
            prop_assert_eq!(Portable.call(Validate { bytes: &bytes }), expected);
            prop_assert_eq!(with_engine(Validate { bytes: &bytes }), expected);
            let text = into_text(bytes.clone());
            prop_assert_eq!(text.as_deref().ok(), expected);
            prop_assert_eq!(text.map(String::into_bytes).unwrap_or_else(|bytes| bytes), bytes);
        }

        #[test]
        fn lines_agree_with_the_naive_ones(
            chunk in proptest::collection::vec(
                prop_oneof![8 => Just(b'a'), 1 => Just(b'\n'), 1 => Just(b'\r'), 1 => any::<u8>()],
                0..400
            )
        ) {
            on_all_engines(ChunkLines(&chunk));
            prop_assert_eq!(has_line_end(&chunk), chunk.iter().any(|byte| matches!(byte, b'\r' | b'\n')));
        }
    }
}
