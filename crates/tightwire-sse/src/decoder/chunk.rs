//! Decoding of the lines of a chunk.

use core::ops::ControlFlow;
use core::time::Duration;

use super::block::{CompleteBlock, Data, FieldText, OpenBlock, RETAINED_CAPACITY, length};
use super::{Decoder, Mode, Partial};
use crate::config::Overflow;
use crate::error::{Error, Kind, Result};
use crate::event::{Event, EventRef, Item};
use crate::line::{self, Field, LinePrefix};
use crate::scan::{self, Engine, Line, Lines, Task, with_engine};

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Minimum length of data that is moved into an owned event together with its buffer. Allocating memory for a copy
/// would cost more than growing the next buffer.
const MIN_MOVED_LEN: usize = 64 << 10;

#[derive(Debug)]
enum Step<'c> {
    /// The chunk is consumed.
    End,
    Event(CompleteBlock<'c>),
    /// Only returned by calls with `ITEMS`.
    Comment(FieldText<'c>),
    /// Reconnection time in milliseconds. Only returned by calls with `ITEMS`.
    Retry(u64),
    /// The block exceeds the limit, at this offset of the stream.
    TooLarge(u64),
}

impl Decoder {
    /// Decodes the next event from `chunk` and removes the consumed bytes from it.
    ///
    /// Returns `None` when the chunk is consumed; call again with the next chunk. After an event, call again with the
    /// rest of the same chunk.
    ///
    /// # Errors
    ///
    /// [`Error::is_limit`](crate::Error::is_limit) once per block that exceeds
    /// [`Config::max_event_size`](crate::Config::max_event_size). Call again to continue;
    /// [`Config::overflow`](crate::Config::overflow) sets what happens then.
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot return items that borrow from it")]
    #[inline]
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Result<Option<EventRef<'a>>> {
        if self.append_partial(chunk) {
            *chunk = &[];
            return Ok(None);
        }
        self.next_after_append(chunk)
    }

    /// [`next`](Self::next) for callers that have called [`append_partial`](Self::append_partial), which returned `false`.
    #[inline]
    pub(crate) fn next_after_append<'a, 'c: 'a>(
        &'a mut self,
        chunk: &mut &'c [u8],
    ) -> Result<Option<EventRef<'a>>> {
        if let Some(data) = self.next_simple_event(chunk) {
            let event = self.dispatch_data(data);
            return Ok(Some(self.event_ref(&event)));
        }
        if self.begin_partial::<false>(chunk) {
            return Ok(None);
        }
        with_engine(NextTask { decoder: self, chunk })
    }

    /// Like [`next`](Self::next), but returns an owned event. Joined data lines, and long data that arrived in several
    /// chunks, are moved instead of copied.
    ///
    /// # Errors
    ///
    /// Same as [`next`](Self::next).
    #[inline]
    pub fn next_owned(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>> {
        if self.append_partial(chunk) {
            *chunk = &[];
            return Ok(None);
        }
        self.next_owned_after_append(chunk)
    }

    /// [`next_owned`](Self::next_owned) for callers that have called [`append_partial`](Self::append_partial), which returned
    /// `false`. Not inlined, so that tiny chunks do not pay for the stack space of an event.
    #[inline(never)]
    pub(crate) fn next_owned_after_append(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>> {
        if let Some(data) = self.next_simple_event(chunk) {
            let event = self.dispatch_data(data);
            return Ok(Some(self.event_ref(&event).to_owned()));
        }
        if self.begin_partial::<false>(chunk) {
            return Ok(None);
        }
        with_engine(NextOwnedTask { decoder: self, chunk })
    }

    /// Like [`next`](Self::next), but also returns comments and `retry` values, in stream order.
    ///
    /// A comment that is longer than [`Config::max_event_size`](crate::Config::max_event_size) is skipped.
    ///
    /// # Errors
    ///
    /// Same as [`next`](Self::next).
    pub fn next_item<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Result<Option<Item<'a>>> {
        if self.append_partial(chunk) {
            *chunk = &[];
            return Ok(None);
        }
        if let Some(data) = self.next_simple_event(chunk) {
            let event = self.dispatch_data(data);
            return Ok(Some(Item::Event(self.event_ref(&event))));
        }
        if self.begin_partial::<true>(chunk) {
            return Ok(None);
        }
        with_engine(NextItemTask { decoder: self, chunk })
    }

    /// Decodes a chunk and calls `on_event` for every event, until it returns `Break` or the chunk is consumed.
    ///
    /// Returns the number of consumed bytes: all of them, unless `on_event` returned `Break`. Call again with the rest
    /// to continue. `on_event` is called with [`Error::is_limit`](crate::Error::is_limit) once per block that exceeds
    /// [`Config::max_event_size`](crate::Config::max_event_size); [`Config::overflow`](crate::Config::overflow) sets
    /// what happens then.
    ///
    /// This is the fastest way to decode many small events.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let mut decoder = tightwire_sse::Decoder::new();
    /// let chunk = b"data: a\n\ndata: [DONE]\n\ndata: b\n\n";
    /// let mut seen = Vec::new();
    /// let consumed = decoder.feed(chunk, |event| match event {
    ///     Ok(event) if event.data() == "[DONE]" => ControlFlow::Break(()),
    ///     Ok(event) => {
    ///         seen.push(event.data().to_owned());
    ///         ControlFlow::Continue(())
    ///     }
    ///     Err(_) => ControlFlow::Break(()),
    /// });
    /// assert_eq!(seen, ["a"]);
    /// assert_eq!(&chunk[consumed..], b"data: b\n\n");
    /// ```
    pub fn feed<F>(&mut self, chunk: &[u8], on_event: F) -> usize
    where
        F: FnMut(Result<EventRef<'_>>) -> ControlFlow<()>,
    {
        self.leave_initial_state(chunk);
        if self.append_partial(chunk) {
            return chunk.len();
        }
        with_engine(FeedTask { decoder: self, chunk, on_event })
    }
}

impl Decoder {
    /// Appends a chunk without line end to the incomplete line. Returns `false`, without any effect, for other chunks.
    /// Fast path that the benchmark rows `sse/tiny_*` and `sse/patho_line_*` measure.
    #[inline]
    pub(crate) fn append_partial(&mut self, chunk: &[u8]) -> bool {
        if !matches!(self.partial, Partial::Data | Partial::Field | Partial::Skipped)
            || scan::has_line_end(chunk)
        {
            return false;
        }
        if self.partial != Partial::Skipped {
            let limit =
                self.remaining_size(&self.open).saturating_sub(self.name_len).min(self.line.capacity());
            // The slow path grows the buffer and handles the limit.
            if self.line.len() + chunk.len() > limit {
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

    /// Buffers the rest of a chunk if it is empty or a short part of the first line of a block. Returns `false`, without any
    /// effect, for other chunks. Fast path that the benchmark rows `sse/tiny_*` measure.
    #[inline]
    fn begin_partial<const ITEMS: bool>(&mut self, chunk: &mut &[u8]) -> bool {
        if chunk.is_empty() {
            return true;
        }
        let is_short = chunk.len() < scan::BLOCK && chunk.len() <= self.config.max_event_size;
        if self.has_state || !is_short || scan::has_line_end(chunk) {
            return false;
        }
        let mut open = OpenBlock::EMPTY;
        self.buffer_partial_line::<ITEMS>(chunk, self.offset, &mut open);
        self.offset += chunk.len() as u64;
        *chunk = &[];
        true
    }

    /// Leaves the initial state if the stream begins without a byte order mark, so that the first event can use the
    /// fast path, too.
    #[inline(always)]
    fn leave_initial_state(&mut self, chunk: &[u8]) {
        // In the initial state, nothing can be pending except oversized buffers.
        if self.bom_bytes == 0
            && !self.oversized_buffer
            && let Some(first) = chunk.first()
            && *first != BOM[0]
        {
            self.bom_bytes = 3;
            self.has_state = false;
        }
    }

    /// Returns whether the incomplete block has so much buffered data that it is moved into an owned event.
    #[cfg(feature = "bytes")]
    pub(crate) fn has_much_buffered_data(&self) -> bool {
        let buffered = match self.open.data {
            Data::None | Data::Chunk(_) => 0,
            Data::Joined => self.joined.len(),
            Data::SplitLine(_) => self.split_line.len(),
        };
        let is_field = matches!(self.partial, Partial::Data | Partial::Field);
        let partial = if is_field { self.line.len() } else { 0 };
        buffered.max(partial) >= MIN_MOVED_LEN
    }

    /// Decodes an event that consists of one data line at the start of the chunk, the most common kind. Returns its
    /// data.
    ///
    /// The data is returned in registers. The general path returns the event in memory, which takes as long as finding
    /// it.
    #[inline(always)]
    fn next_simple_event<'c>(&mut self, chunk: &mut &'c [u8]) -> Option<&'c str> {
        self.leave_initial_state(chunk);
        if self.has_state {
            return None;
        }
        let data = scan::first_event(chunk, self.config.max_event_size)?;
        let used = scan::event_len(data);
        *chunk = &chunk[used..];
        self.offset += used as u64;
        Some(data)
    }

    /// Decodes up to the next item and removes the consumed bytes from `chunk`. Events at the start of a chunk that
    /// consist of one data line are handled by [`next_simple_event`](Self::next_simple_event) before.
    #[inline(always)]
    fn advance<'c, E: Engine, const ITEMS: bool>(&mut self, engine: E, chunk: &mut &'c [u8]) -> Step<'c> {
        let input = if self.has_state { &chunk[self.start_chunk(chunk)..] } else { *chunk };
        let mut lines = Lines::new(engine, input);
        let mut open = OpenBlock::EMPTY;
        let mut step = None;
        if self.has_state {
            open = self.open;
            step = self.resume_chunk::<_, ITEMS>(&mut lines, &mut open);
        }
        let step = loop {
            if let Some(step) = step {
                break step;
            }
            let Some(line) = lines.next_line() else {
                break self.buffer_rest::<_, ITEMS>(&mut lines, &mut open);
            };
            step = self.process::<_, ITEMS>(line, &lines, &mut open);
        };
        *chunk = lines.rest();
        self.suspend(&lines, open);
        step
    }

    /// Skips the rest of a byte order mark and the LF of a CRLF at the start of a chunk. Returns the offset of the
    /// first line.
    fn start_chunk(&mut self, chunk: &[u8]) -> usize {
        let mut start = 0;
        if self.bom_bytes < 3 {
            start = self.skip_bom(chunk);
        }
        if self.after_cr
            && let Some(first) = chunk.get(start)
        {
            self.after_cr = false;
            start += usize::from(*first == b'\n');
        }
        if self.oversized_buffer {
            self.shrink();
        }
        self.offset += start as u64;
        start
    }

    /// Skips the byte order mark, or a part of it. Returns the number of skipped bytes.
    fn skip_bom(&mut self, chunk: &[u8]) -> usize {
        let mut start = 0;
        while self.bom_bytes < 3 && start < chunk.len() {
            if chunk[start] == BOM[usize::from(self.bom_bytes)] {
                self.bom_bytes += 1;
                start += 1;
            } else {
                // The first bytes of a mark that is not complete are part of the first line, whose name is then
                // unknown.
                if self.bom_bytes > 0 {
                    self.partial = Partial::Skipped;
                }
                self.bom_bytes = 3;
            }
        }
        start
    }

    /// Stores the state for the next call.
    #[inline(always)]
    fn suspend<E: Engine>(&mut self, lines: &Lines<'_, E>, open: OpenBlock<'_>) {
        self.offset += lines.start() as u64;
        if self.has_state || !open.is_empty() || lines.ends_after_cr() {
            self.save_state(lines.start() > 0, lines.ends_after_cr(), open);
        }
    }

    /// Not inlined, because it contains the writes of a whole block.
    #[inline(never)]
    fn save_state(&mut self, consumed: bool, after_cr: bool, open: OpenBlock<'_>) {
        if consumed {
            self.after_cr = after_cr;
        }
        if open.is_empty() {
            self.open = OpenBlock::EMPTY;
        } else {
            self.save(open);
        }
        self.has_state = self.bom_bytes < 3
            || self.after_cr
            || self.oversized_buffer
            || self.partial != Partial::None
            || self.mode != Mode::Fields
            || !self.open.is_empty();
    }

    /// Completes the incomplete line of the previous chunk, and skips the rest of an oversized block. Returns `None` to
    /// continue with complete lines.
    #[inline(always)]
    fn resume_chunk<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut OpenBlock<'c>,
    ) -> Option<Step<'c>> {
        if self.mode == Mode::Terminated {
            lines.skip_to_end();
            return Some(Step::End);
        }
        if self.partial != Partial::None {
            let Some(line) = lines.next_line() else {
                return Some(self.buffer_rest::<_, ITEMS>(lines, open));
            };
            let partial = core::mem::replace(&mut self.partial, Partial::None);
            if partial != Partial::Skipped {
                self.line.extend_from_slice(line.bytes());
                if let Some(step) = self.process_buffered_line::<ITEMS>(partial, open) {
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

    /// Processes a line, as defined in section 9.2.6 of the standard.
    #[inline(always)]
    fn process<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        line: Line<'c>,
        lines: &Lines<'c, E>,
        open: &mut OpenBlock<'c>,
    ) -> Option<Step<'c>> {
        let bytes = line.bytes();
        if bytes.is_empty() {
            return self.dispatch(open).map(Step::Event);
        }
        let Some((field, start)) = line::split(bytes) else {
            if ITEMS && bytes[0] == b':' {
                return Some(Step::Comment(match lines.text(&line, 1) {
                    Some(text) => FieldText::Chunk(text),
                    None => self.buffer_comment_lossy(&bytes[1..]),
                }));
            }
            return None;
        };
        let offset = self.offset + lines.offset_of(bytes) as u64;
        if bytes.len() > self.remaining_size(open) {
            return Some(self.overflow(offset, open));
        }
        if field == Field::Retry {
            return self.retry(&bytes[start..]).filter(|_| ITEMS).map(Step::Retry);
        }
        let Some(text) = lines.text(&line, start) else {
            let fits = self.buffer_lossy(field, &bytes[start..], open);
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
                open.event_type = FieldText::Chunk(text);
            }
            // An id with NUL is ignored.
            Field::Id if memchr::memchr(0, text.as_bytes()).is_some() => {}
            Field::Id => {
                open.size = open.size - length(open.id, &self.pending_id) + text.len();
                open.id = FieldText::Chunk(text);
            }
            Field::Retry => {}
        }
        None
    }

    /// Buffers the incomplete line at the end of a chunk.
    #[inline(always)]
    fn buffer_rest<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut OpenBlock<'c>,
    ) -> Step<'c> {
        let (rest, offset) = (lines.rest(), self.offset + lines.start() as u64);
        lines.skip_to_end();
        self.buffer_partial_line::<ITEMS>(rest, offset, open)
    }

    /// Buffers a part of an incomplete line, unless it is skipped.
    #[inline(never)]
    fn buffer_partial_line<'c, const ITEMS: bool>(
        &mut self,
        mut rest: &[u8],
        offset: u64,
        open: &mut OpenBlock<'c>,
    ) -> Step<'c> {
        if rest.is_empty() {
            return Step::End;
        }
        self.has_state = true;
        if self.partial == Partial::None {
            self.line.clear();
            self.partial_line_offset = offset;
            self.name_len = line::data_prefix(rest);
            rest = &rest[self.name_len..];
            self.partial = if self.name_len > 0 { Partial::Data } else { Partial::Undecided };
        }
        if self.partial == Partial::Undecided {
            // Classifies the line before it is buffered: a line of an unknown field is not buffered any further.
            let buffered = self.line.len();
            let prefix = if buffered == 0 {
                line::classify_prefix(rest)
            } else {
                self.line.extend_from_slice(&rest[..rest.len().min(line::LONGEST_NAME + 1)]);
                let prefix = line::classify_prefix(&self.line);
                self.line.truncate(buffered);
                prefix
            };
            self.partial = match prefix {
                LinePrefix::Undecided => Partial::Undecided,
                LinePrefix::Field => Partial::Field,
                LinePrefix::Comment if ITEMS => Partial::Comment,
                LinePrefix::Comment | LinePrefix::Unknown => Partial::Skipped,
            };
        }
        if self.partial == Partial::Skipped {
            return Step::End;
        }
        self.line.extend_from_slice(rest);
        self.oversized_buffer |= self.line.capacity() > RETAINED_CAPACITY;
        match self.partial {
            Partial::Data | Partial::Field if self.partial_line_len() > self.remaining_size(open) => {
                self.partial = Partial::Skipped;
                self.overflow(self.partial_line_offset, open)
            }
            Partial::Comment if self.line.len() > self.config.max_event_size => {
                self.partial = Partial::Skipped;
                Step::End
            }
            _ => Step::End,
        }
    }

    /// Returns the length of the line in `self.line`, including its name.
    fn partial_line_len(&self) -> usize {
        self.name_len + self.line.len()
    }

    /// Processes the line in `self.line`, which arrived in several chunks.
    #[cold]
    fn process_buffered_line<'c, const ITEMS: bool>(
        &mut self,
        partial: Partial,
        open: &mut OpenBlock<'c>,
    ) -> Option<Step<'c>> {
        let split = if partial == Partial::Data { Some((Field::Data, 0)) } else { line::split(&self.line) };
        let Some((field, start)) = split else {
            if ITEMS && self.line.first() == Some(&b':') && self.line.len() <= self.config.max_event_size {
                let line = core::mem::take(&mut self.line);
                let comment = self.buffer_comment_lossy(&line[1..]);
                self.line = line;
                return Some(Step::Comment(comment));
            }
            return None;
        };
        if self.partial_line_len() > self.remaining_size(open) {
            return Some(self.overflow(self.partial_line_offset, open));
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
                open.data = Data::SplitLine(start);
                self.line = core::mem::replace(&mut self.split_line, line).into_bytes();
                None
            }
            Ok(line) => {
                match field {
                    Field::Data => self.join(open, &line[start..], 0),
                    Field::Event => self.buffer_type(open, &line[start..]),
                    Field::Id => self.buffer_id(open, &line[start..]),
                    Field::Retry => {}
                }
                self.line = line.into_bytes();
                None
            }
            Err(line) => {
                let fits = self.buffer_lossy(field, &line[start..], open);
                self.line = line;
                (!fits).then(|| self.overflow(self.partial_line_offset, open))
            }
        }
    }

    /// Drops the incomplete block, which exceeds the limit.
    #[cold]
    fn overflow<'c>(&mut self, offset: u64, open: &mut OpenBlock<'c>) -> Step<'c> {
        *open = OpenBlock::EMPTY;
        self.mode = match self.config.overflow {
            Overflow::Resync => Mode::Resync,
            Overflow::Terminate => Mode::Terminated,
        };
        self.has_state = true;
        self.oversized_buffer = true;
        Step::TooLarge(offset)
    }

    fn too_large(&self, offset: u64) -> Error {
        Error::new(Kind::TooLarge { limit: self.config.max_event_size, offset })
    }

    /// Handles the end of the input like a line end and an empty line.
    pub(super) fn end_of_input<'c>(&mut self) -> Result<Option<CompleteBlock<'c>>> {
        if self.mode != Mode::Fields {
            return Ok(None);
        }
        let mut open = self.open;
        if !matches!(self.partial, Partial::None | Partial::Skipped)
            && let Some(Step::TooLarge(offset)) = self.process_buffered_line::<false>(self.partial, &mut open)
        {
            return Err(self.too_large(offset));
        }
        // The id of a block without data may be that of an event whose data is lost.
        Ok(match open.data {
            Data::None => None,
            _ => self.dispatch(&mut open),
        })
    }

    fn retry(&mut self, value: &[u8]) -> Option<u64> {
        let millis = line::retry_millis(value)?;
        self.reconnection_time = Some(millis);
        self.unreported_retry = Some(millis);
        Some(millis)
    }
}

/// Implementation of [`Decoder::next`].
struct NextTask<'a, 'x, 'c> {
    decoder: &'a mut Decoder,
    chunk: &'x mut &'c [u8],
}

impl<'a, 'c: 'a> Task for NextTask<'a, '_, 'c> {
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

/// Implementation of [`Decoder::next_owned`].
struct NextOwnedTask<'a, 'x, 'c> {
    decoder: &'a mut Decoder,
    chunk: &'x mut &'c [u8],
}

impl Task for NextOwnedTask<'_, '_, '_> {
    type Output = Result<Option<Event>>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Self::Output {
        let Self { decoder, chunk } = self;
        match decoder.advance::<_, false>(engine, chunk) {
            Step::Event(CompleteBlock { data: Data::Joined, event_type, retry }) => {
                let data = core::mem::take(&mut decoder.joined);
                let rest = CompleteBlock { data: Data::None, event_type, retry };
                Ok(Some(Event { data, ..decoder.event_ref(&rest).to_owned() }))
            }
            Step::Event(CompleteBlock { data: Data::SplitLine(start), event_type, retry })
                if decoder.split_line.len() >= MIN_MOVED_LEN =>
            {
                let mut data = core::mem::take(&mut decoder.split_line);
                data.drain(..start);
                let rest = CompleteBlock { data: Data::None, event_type, retry };
                Ok(Some(Event { data, ..decoder.event_ref(&rest).to_owned() }))
            }
            Step::Event(event) => Ok(Some(decoder.event_ref(&event).to_owned())),
            Step::TooLarge(offset) => Err(decoder.too_large(offset)),
            Step::End | Step::Comment(_) | Step::Retry(_) => Ok(None),
        }
    }
}

/// Implementation of [`Decoder::next_item`].
struct NextItemTask<'a, 'x, 'c> {
    decoder: &'a mut Decoder,
    chunk: &'x mut &'c [u8],
}

impl<'a, 'c: 'a> Task for NextItemTask<'a, '_, 'c> {
    type Output = Result<Option<Item<'a>>>;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Self::Output {
        let Self { decoder, chunk } = self;
        match decoder.advance::<_, true>(engine, chunk) {
            Step::Event(event) => Ok(Some(Item::Event(decoder.event_ref(&event)))),
            Step::Comment(FieldText::Chunk(text)) => Ok(Some(Item::Comment(text))),
            Step::Comment(_) => Ok(Some(Item::Comment(&decoder.comment))),
            Step::Retry(millis) => Ok(Some(Item::Retry(Duration::from_millis(millis)))),
            Step::TooLarge(offset) => Err(decoder.too_large(offset)),
            Step::End => Ok(None),
        }
    }
}

/// Implementation of [`Decoder::feed`]. Keeps the state of the scan between events.
struct FeedTask<'d, 'c, F> {
    decoder: &'d mut Decoder,
    chunk: &'c [u8],
    on_event: F,
}

impl<F> Task for FeedTask<'_, '_, F>
where
    F: FnMut(Result<EventRef<'_>>) -> ControlFlow<()>,
{
    /// Number of consumed bytes.
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> usize {
        let Self { decoder, chunk, mut on_event } = self;
        let skipped = if decoder.has_state { decoder.start_chunk(chunk) } else { 0 };
        let mut lines = Lines::new(engine, &chunk[skipped..]);
        let mut open = OpenBlock::EMPTY;
        let mut step = None;
        if decoder.has_state {
            open = decoder.open;
            step = decoder.resume_chunk::<_, false>(&mut lines, &mut open);
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
                    // Skips the rest of the block.
                    step = decoder.resume_chunk::<_, false>(&mut lines, &mut open);
                    if step.is_some() {
                        continue;
                    }
                }
                Some(Step::End | Step::Comment(_) | Step::Retry(_)) => break,
            }
            step = loop {
                if open.is_empty() {
                    let max_len = decoder.config.max_event_size;
                    while let Some(data) = lines.next_simple_event(max_len) {
                        let event = decoder.dispatch_data(data);
                        if on_event(Ok(decoder.event_ref(&event))).is_break() {
                            break 'chunk;
                        }
                    }
                }
                let Some(line) = lines.next_line() else {
                    break Some(decoder.buffer_rest::<_, false>(&mut lines, &mut open));
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
