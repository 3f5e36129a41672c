//! The walk over the lines of a chunk.

use core::ops::ControlFlow;
use core::time::Duration;

#[cfg(feature = "bytes")]
use super::block::SavedData;
use super::block::{Data, Dispatched, Open, RETAINED_CAPACITY, Saved, Text, length};
use super::{Decoder, Mode, Partial};
use crate::config::Overflow;
use crate::error::{Error, Kind, Result};
use crate::event::{Event, EventRef, Item};
use crate::line::{self, Field, Prospect};
use crate::scan::{self, Engine, Line, Lines, Walk};

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Data that came in several chunks and is at least as long is moved into an owned event together with the buffer
/// that gathered it: fresh memory for a copy would cost more than growing the next buffer.
const MOVED_LENGTH: usize = 64 << 10;

/// Whether CR or LF is among a few bytes.
#[inline(always)]
fn has_line_end(bytes: &[u8]) -> bool {
    // No early exit within a block and a number instead of a truth value: either would keep the compiler from
    // comparing all 16 bytes at once.
    fn ends(bytes: &[u8]) -> u8 {
        bytes.iter().fold(0, |found, &byte| found | u8::from(byte == b'\n') | u8::from(byte == b'\r'))
    }
    let (blocks, rest) = bytes.as_chunks::<16>();
    blocks.iter().fold(ends(rest), |found, block| found | ends(block)) != 0
}

#[derive(Debug)]
enum Step<'c> {
    /// The chunk is used up.
    End,
    Event(Dispatched<'c>),
    /// `ITEMS` only.
    Comment(Text<'c>),
    /// `ITEMS` only.
    Retry(u64),
    TooLarge(u64),
}

impl Decoder {
    /// Takes a few bytes that only continue the line in progress. `false` means that nothing happened.
    ///
    /// Streams that arrive in chunks of some bytes would otherwise pay for the whole machinery each time.
    #[inline]
    pub(super) fn extend_tiny(&mut self, chunk: &[u8]) -> bool {
        const TINY: usize = 64;
        if !matches!(self.partial, Partial::Field | Partial::Skipped) || chunk.len() > TINY {
            return false;
        }
        if has_line_end(chunk) {
            return false;
        }
        if self.partial == Partial::Field {
            let room = self.config.max_event_size.saturating_sub(self.open.size).min(self.line.capacity());
            // Growth, and what comes of too much of it, is left to the walk.
            if self.line.len() + chunk.len() > room {
                return false;
            }
            match chunk {
                [byte] => self.line.push(*byte),
                _ => self.line.extend_from_slice(chunk),
            }
        }
        self.offset += chunk.len() as u64;
        true
    }

    /// Leaves the initial state if the stream begins without a byte order mark, so that a decoder made for a few events
    /// need not take the slow way for the first of them.
    #[inline(always)]
    pub(super) fn settle(&mut self, chunk: &[u8]) {
        // In the initial state nothing can be pending but buffers to give back.
        if self.mark_seen == 0
            && !self.overgrown
            && let Some(first) = chunk.first()
            && *first != BYTE_ORDER_MARK[0]
        {
            self.mark_seen = 3;
            self.busy = false;
        }
    }

    /// Whether the block in progress has so much data in the decoder's buffers that it is moved into an owned event.
    #[cfg(feature = "bytes")]
    pub(crate) fn gathers_much(&self) -> bool {
        let gathered = match self.open.data {
            SavedData::None => 0,
            SavedData::Joined => self.joined.len(),
            SavedData::Held(_) => self.held.len(),
        };
        let unfinished = if self.partial == Partial::Field { self.line.len() } else { 0 };
        gathered.max(unfinished) >= MOVED_LENGTH
    }

    /// Takes the next event if the chunk begins with one that is a single data line, as most do.
    ///
    /// The data comes back in registers and the event is made where it is used; the way through the general walk goes
    /// through memory and costs as much again as finding the event.
    #[inline(always)]
    pub(super) fn next_whole<'c>(&mut self, chunk: &mut &'c [u8]) -> Option<&'c str> {
        self.settle(chunk);
        if self.busy {
            return None;
        }
        let data = scan::first_event(chunk, self.config.max_event_size)?;
        let used = scan::event_len(data);
        *chunk = &chunk[used..];
        self.offset += used as u64;
        Some(data)
    }

    /// Runs until something is to be reported, and advances `chunk` past what was consumed. Events of a single data line
    /// at the beginning of a chunk do not get here: [`next_whole`](Self::next_whole) takes them.
    #[inline(always)]
    fn advance<'c, E: Engine, const ITEMS: bool>(&mut self, engine: E, chunk: &mut &'c [u8]) -> Step<'c> {
        let input = if self.busy { &chunk[self.begin(chunk)..] } else { *chunk };
        let mut lines = Lines::new(engine, input);
        let mut open = Open::NOTHING;
        let mut step = None;
        if self.busy {
            open = self.resume();
            step = self.finish_partial::<_, ITEMS>(&mut lines, &mut open);
        }
        let step = loop {
            if let Some(step) = step {
                break step;
            }
            let Some(line) = lines.next_line() else {
                break self.keep_partial::<_, ITEMS>(&mut lines, &mut open);
            };
            step = self.process::<_, ITEMS>(line, &lines, &mut open);
        };
        *chunk = lines.rest();
        self.suspend(&lines, open);
        step
    }

    /// Deals with what only the first bytes of a chunk can be: the rest of a byte order mark, the LF of a CRLF.
    /// Returns where the lines start.
    fn begin(&mut self, chunk: &[u8]) -> usize {
        let mut start = 0;
        if self.mark_seen < 3 {
            start = self.skip_mark(chunk);
        }
        if self.after_cr
            && let Some(first) = chunk.get(start)
        {
            self.after_cr = false;
            start += usize::from(*first == b'\n');
        }
        if self.overgrown {
            self.shrink();
        }
        self.offset += start as u64;
        start
    }

    /// Consumes the byte order mark that may begin the stream.
    fn skip_mark(&mut self, chunk: &[u8]) -> usize {
        let mut start = 0;
        while self.mark_seen < 3 && start < chunk.len() {
            if chunk[start] == BYTE_ORDER_MARK[usize::from(self.mark_seen)] {
                self.mark_seen += 1;
                start += 1;
            } else {
                // Bytes that look like the beginning of a mark belong to the name of the first line, which no
                // known name begins with.
                if self.mark_seen > 0 {
                    self.partial = Partial::Skipped;
                }
                self.mark_seen = 3;
            }
        }
        start
    }

    /// Keeps the state for the next call.
    #[inline(always)]
    fn suspend<E: Engine>(&mut self, lines: &Lines<'_, E>, open: Open<'_>) {
        self.offset += lines.start() as u64;
        if self.busy || !open.is_nothing() || lines.ends_after_cr() {
            self.suspend_busy(lines.start() > 0, lines.ends_after_cr(), open);
        }
    }

    /// Not inlined, as it would bring the writes of a whole block into every walk.
    #[inline(never)]
    fn suspend_busy(&mut self, consumed: bool, after_cr: bool, open: Open<'_>) {
        if consumed {
            self.after_cr = after_cr;
        }
        if open.is_nothing() {
            self.open = Saved::NOTHING;
        } else {
            self.save(open);
        }
        self.busy = self.mark_seen < 3
            || self.after_cr
            || self.overgrown
            || self.partial != Partial::None
            || self.mode != Mode::Fields
            || self.open != Saved::NOTHING;
    }

    /// Ends the line that the previous chunk left unfinished, and skips the rest of a block that was too large.
    /// `None` if the walk over whole lines can begin.
    #[inline(always)]
    fn finish_partial<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut Open<'c>,
    ) -> Option<Step<'c>> {
        if self.mode == Mode::Terminated {
            lines.skip_to_end();
            return Some(Step::End);
        }
        if self.partial != Partial::None {
            let Some(line) = lines.next_line() else {
                return Some(self.keep_partial::<E, ITEMS>(lines, open));
            };
            let partial = core::mem::replace(&mut self.partial, Partial::None);
            if partial != Partial::Skipped {
                self.line.extend_from_slice(line.bytes());
                if let Some(step) = self.kept_line::<ITEMS>(open) {
                    return Some(step);
                }
            }
        }
        while self.mode == Mode::Resync {
            match lines.next_line() {
                Some(line) if line.bytes().is_empty() => self.mode = Mode::Fields,
                Some(_) => {}
                None => {
                    if !lines.rest().is_empty() {
                        self.partial = Partial::Skipped;
                    }
                    lines.skip_to_end();
                    return Some(Step::End);
                }
            }
        }
        None
    }

    /// Processes one line, as section 9.2.6 of the standard says.
    #[inline(always)]
    fn process<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        line: Line<'c>,
        lines: &Lines<'c, E>,
        open: &mut Open<'c>,
    ) -> Option<Step<'c>> {
        let bytes = line.bytes();
        if bytes.is_empty() {
            return self.dispatch(open).map(Step::Event);
        }
        let Some((field, start)) = line::split(bytes) else {
            if ITEMS && bytes[0] == b':' {
                return Some(Step::Comment(match lines.text(&line, 1) {
                    Some(text) => Text::Chunk(text),
                    None => self.repair_comment(&bytes[1..]),
                }));
            }
            return None;
        };
        let offset = self.offset + lines.offset_of(bytes) as u64;
        if bytes.len() > self.room(open) {
            return Some(self.overflow(offset, open));
        }
        if field == Field::Retry {
            return self.retry(&bytes[start..]).filter(|_| ITEMS).map(Step::Retry);
        }
        let Some(text) = lines.text(&line, start) else {
            let fits = self.take_repaired(field, &bytes[start..], open);
            return (!fits).then(|| self.overflow(offset, open));
        };
        match field {
            Field::Data => {
                if let Data::None = open.data {
                    open.data = Data::Chunk(text);
                    open.size += text.len() + 1;
                } else {
                    self.join(open, text, lines.rest().len());
                }
            }
            Field::Event => {
                open.size = open.size - length(open.event_type, &self.event_type) + text.len();
                open.event_type = Text::Chunk(text);
            }
            // An id with NUL is ignored.
            Field::Id if memchr::memchr(0, text.as_bytes()).is_some() => {}
            Field::Id => {
                open.size = open.size - length(open.id, &self.pending_id) + text.len();
                open.id = Text::Chunk(text);
            }
            Field::Retry => {}
        }
        None
    }

    /// Keeps what follows the last line end of a chunk, if it can still become something that matters.
    #[inline(never)]
    fn keep_partial<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut Open<'c>,
    ) -> Step<'c> {
        let rest = lines.rest();
        if rest.is_empty() {
            return Step::End;
        }
        let offset = self.offset + lines.start() as u64;
        lines.skip_to_end();
        self.busy = true;
        if self.partial == Partial::None {
            self.line.clear();
            self.line_offset = offset;
            self.partial = Partial::Undecided;
        }
        if self.partial == Partial::Undecided {
            // Only the first bytes decide, and a line that turns out to mean nothing is not kept any further.
            let known = self.line.len();
            let prospect = if known == 0 {
                line::prospect(rest)
            } else {
                self.line.extend_from_slice(&rest[..rest.len().min(line::LONGEST_NAME + 1)]);
                let prospect = line::prospect(&self.line);
                self.line.truncate(known);
                prospect
            };
            self.partial = match prospect {
                Prospect::Undecided => Partial::Undecided,
                Prospect::Field => Partial::Field,
                Prospect::Comment if ITEMS => Partial::Comment,
                Prospect::Comment | Prospect::Unknown => Partial::Skipped,
            };
        }
        if self.partial == Partial::Skipped {
            return Step::End;
        }
        self.line.extend_from_slice(rest);
        self.overgrown |= self.line.capacity() > RETAINED_CAPACITY;
        match self.partial {
            Partial::Field if self.line.len() > self.room(open) => {
                self.partial = Partial::Skipped;
                self.overflow(self.line_offset, open)
            }
            Partial::Comment if self.line.len() > self.config.max_event_size => {
                self.partial = Partial::Skipped;
                Step::End
            }
            _ => Step::End,
        }
    }

    /// Processes a line that came in several chunks and lies in `self.line`.
    #[cold]
    fn kept_line<'c, const ITEMS: bool>(&mut self, open: &mut Open<'c>) -> Option<Step<'c>> {
        let Some((field, start)) = line::split(&self.line) else {
            if ITEMS && self.line.first() == Some(&b':') && self.line.len() <= self.config.max_event_size {
                let line = core::mem::take(&mut self.line);
                let comment = self.repair_comment(&line[1..]);
                self.line = line;
                return Some(Step::Comment(comment));
            }
            return None;
        };
        if self.line.len() > self.room(open) {
            return Some(self.overflow(self.line_offset, open));
        }
        if field == Field::Retry {
            let line = core::mem::take(&mut self.line);
            let millis = self.retry(&line[start..]);
            self.line = line;
            return millis.filter(|_| ITEMS).map(Step::Retry);
        }
        match scan::into_text(core::mem::take(&mut self.line)) {
            Ok(line) if field == Field::Data && matches!(open.data, Data::None) => {
                open.size += line.len() - start + 1;
                open.data = Data::Held(start);
                self.line = core::mem::replace(&mut self.held, line).into_bytes();
                None
            }
            Ok(line) => {
                match field {
                    Field::Data => self.join(open, &line[start..], 0),
                    Field::Event => self.keep_type(open, &line[start..]),
                    Field::Id => self.keep_id(open, &line[start..]),
                    Field::Retry => {}
                }
                self.line = line.into_bytes();
                None
            }
            Err(line) => {
                let fits = self.take_repaired(field, &line[start..], open);
                self.line = line;
                (!fits).then(|| self.overflow(self.line_offset, open))
            }
        }
    }

    /// Gives up the block in progress.
    #[cold]
    fn overflow<'c>(&mut self, offset: u64, open: &mut Open<'c>) -> Step<'c> {
        *open = Open::NOTHING;
        self.mode = match self.config.overflow {
            Overflow::Resync => Mode::Resync,
            Overflow::Terminate => Mode::Terminated,
        };
        self.busy = true;
        self.overgrown = true;
        Step::TooLarge(offset)
    }

    fn too_large(&self, offset: u64) -> Error {
        Error::new(Kind::TooLarge { limit: self.config.max_event_size, offset })
    }

    /// The end of input as a line end and an empty line.
    pub(super) fn end_of_input<'c>(&mut self) -> Result<Option<Dispatched<'c>>> {
        if self.mode != Mode::Fields {
            return Ok(None);
        }
        let mut open = self.resume();
        if !matches!(self.partial, Partial::None | Partial::Skipped)
            && let Some(Step::TooLarge(offset)) = self.kept_line::<false>(&mut open)
        {
            return Err(self.too_large(offset));
        }
        Ok(self.dispatch(&mut open))
    }

    fn retry(&mut self, value: &[u8]) -> Option<u64> {
        let millis = line::retry_millis(value)?;
        self.reconnection_time = Some(millis);
        self.unreported_retry = Some(millis);
        Some(millis)
    }
}

/// [`Decoder::next`].
pub(super) struct Next<'a, 'x, 'c> {
    pub(super) decoder: &'a mut Decoder,
    pub(super) chunk: &'x mut &'c [u8],
}

impl<'a, 'c: 'a> Walk for Next<'a, '_, 'c> {
    type Output = Result<Option<EventRef<'a>>>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Self::Output {
        let Self { decoder, chunk } = self;
        match decoder.advance::<_, false>(engine, chunk) {
            Step::Event(event) => Ok(Some(decoder.event_ref(&event))),
            Step::TooLarge(offset) => Err(decoder.too_large(offset)),
            Step::End | Step::Comment(_) | Step::Retry(_) => Ok(None),
        }
    }
}

/// [`Decoder::next_owned`].
pub(super) struct NextOwned<'a, 'x, 'c> {
    pub(super) decoder: &'a mut Decoder,
    pub(super) chunk: &'x mut &'c [u8],
}

impl Walk for NextOwned<'_, '_, '_> {
    type Output = Result<Option<Event>>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Self::Output {
        let Self { decoder, chunk } = self;
        match decoder.advance::<_, false>(engine, chunk) {
            Step::Event(Dispatched { data: Data::Joined, event_type, retry }) => {
                let data = core::mem::take(&mut decoder.joined);
                let rest = Dispatched { data: Data::None, event_type, retry };
                Ok(Some(Event { data, ..decoder.event_ref(&rest).to_owned() }))
            }
            Step::Event(Dispatched { data: Data::Held(start), event_type, retry })
                if decoder.held.len() >= MOVED_LENGTH =>
            {
                let mut data = core::mem::take(&mut decoder.held);
                data.drain(..start);
                let rest = Dispatched { data: Data::None, event_type, retry };
                Ok(Some(Event { data, ..decoder.event_ref(&rest).to_owned() }))
            }
            Step::Event(event) => Ok(Some(decoder.event_ref(&event).to_owned())),
            Step::TooLarge(offset) => Err(decoder.too_large(offset)),
            Step::End | Step::Comment(_) | Step::Retry(_) => Ok(None),
        }
    }
}

/// [`Decoder::next_item`].
pub(super) struct NextItem<'a, 'x, 'c> {
    pub(super) decoder: &'a mut Decoder,
    pub(super) chunk: &'x mut &'c [u8],
}

impl<'a, 'c: 'a> Walk for NextItem<'a, '_, 'c> {
    type Output = Result<Option<Item<'a>>>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Self::Output {
        let Self { decoder, chunk } = self;
        match decoder.advance::<_, true>(engine, chunk) {
            Step::Event(event) => Ok(Some(Item::Event(decoder.event_ref(&event)))),
            Step::Comment(Text::Chunk(text)) => Ok(Some(Item::Comment(text))),
            Step::Comment(_) => Ok(Some(Item::Comment(&decoder.comment))),
            Step::Retry(millis) => Ok(Some(Item::Retry(Duration::from_millis(millis)))),
            Step::TooLarge(offset) => Err(decoder.too_large(offset)),
            Step::End => Ok(None),
        }
    }
}

/// [`Decoder::feed`]. The position of the scan survives from event to event.
pub(super) struct Feed<'d, 'c, F> {
    pub(super) decoder: &'d mut Decoder,
    pub(super) chunk: &'c [u8],
    pub(super) on_event: F,
}

impl<F> Walk for Feed<'_, '_, F>
where
    F: FnMut(Result<EventRef<'_>>) -> ControlFlow<()>,
{
    /// How many bytes were consumed.
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> usize {
        let Self { decoder, chunk, mut on_event } = self;
        let skipped = if decoder.busy { decoder.begin(chunk) } else { 0 };
        let mut lines = Lines::new(engine, &chunk[skipped..]);
        let mut open = Open::NOTHING;
        let mut step = None;
        if decoder.busy {
            open = decoder.resume();
            step = decoder.finish_partial::<_, false>(&mut lines, &mut open);
        }
        'chunk: loop {
            match step {
                None => {}
                Some(Step::Event(event)) if on_event(Ok(decoder.event_ref(&event))).is_break() => break,
                Some(Step::Event(_)) => {}
                Some(Step::TooLarge(offset)) => {
                    if on_event(Err(decoder.too_large(offset))).is_break() {
                        break;
                    }
                    // The rest of the block is skipped first.
                    step = decoder.finish_partial::<_, false>(&mut lines, &mut open);
                    if step.is_some() {
                        continue;
                    }
                }
                Some(Step::End | Step::Comment(_) | Step::Retry(_)) => break,
            }
            step = loop {
                if open.is_nothing() {
                    let longest = decoder.config.max_event_size;
                    while let Some(data) = lines.next_whole_event(longest) {
                        let event = decoder.dispatch_data(data);
                        if on_event(Ok(decoder.event_ref(&event))).is_break() {
                            break 'chunk;
                        }
                    }
                }
                let Some(line) = lines.next_line() else {
                    break Some(decoder.keep_partial::<_, false>(&mut lines, &mut open));
                };
                if let Some(step) = decoder.process::<_, false>(line, &lines, &mut open) {
                    break Some(step);
                }
            };
        }
        decoder.suspend(&lines, open);
        skipped + lines.start()
    }
}
