//! The push decoder: a state machine over chunks of bytes.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::time::Duration;

use compact_str::CompactString;

use crate::config::{Config, Overflow};
use crate::error::{Error, Kind, Result};
use crate::event::{Event, EventRef, Item};
use crate::line::{self, Field, Prospect};
use crate::scan::{Engine, Line, Lines, Walk, with_engine};

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Buffers that grew past this many bytes for one large event are given back after it.
const RETAINED_CAPACITY: usize = 256 << 10;

/// How much is reserved for the second data line of an event if the chunk has as much left: enough for most
/// events, so that joining their lines allocates once.
const JOIN_RESERVE: usize = 1 << 10;

/// Decodes an event stream that arrives in chunks of any size.
///
/// The decoder implements "interpreting an event stream" of the WHATWG HTML standard (section 9.2.6). It
/// accepts every byte sequence: what is not a known field is ignored, and invalid UTF-8 becomes U+FFFD. The
/// same input gives the same events however it is cut into chunks, in time linear in its length. A line that
/// ends with CR is complete at once; the decoder never waits to see whether LF follows.
///
/// Construction allocates nothing, and neither does decoding as long as blocks lie within one chunk and have
/// one data line: such events borrow from the chunk. Buffers for the other cases grow on demand up to
/// [`Config::max_event_size`] and are kept for reuse up to 256 KiB.
///
/// # Examples
/// ```
/// let mut decoder = sse::Decoder::new();
/// let mut seen = Vec::new();
/// for chunk in ["id: 7\nda", "ta: hello\n\ndata: [DO", "NE]\n\n"] {
///     let mut chunk = chunk.as_bytes();
///     while let Some(event) = decoder.next(&mut chunk)? {
///         seen.push((event.data().to_owned(), event.last_event_id().to_owned()));
///     }
/// }
/// assert_eq!(seen, [("hello".into(), "7".into()), ("[DONE]".into(), "7".into())]);
/// # Ok::<(), sse::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Decoder {
    config: Config,
    mode: Mode,
    /// How many bytes of the byte order mark were seen; 3 also stands for "there was none".
    mark_seen: u8,
    /// The previous chunk ended with CR.
    after_cr: bool,
    /// A buffer may have more than `RETAINED_CAPACITY`.
    overgrown: bool,
    partial: Partial,
    /// The unfinished line, if `partial` is `Kept`.
    line: Vec<u8>,
    /// Data of the block in progress: several lines joined, or one that had to be repaired.
    joined: String,
    /// A complete data line that came in several chunks, name included.
    held: String,
    /// A comment that came in several chunks or had to be repaired.
    comment: String,
    /// Event type of the block in progress, if it did not fit in one chunk.
    event_type: CompactString,
    /// Id of the block in progress, if it did not fit in one chunk.
    pending_id: CompactString,
    /// What the block in progress has in the buffers above.
    open: Saved,
    last_event_id: CompactString,
    reconnection_time: Option<u64>,
    /// The latest `retry` value that no event has reported yet.
    unreported_retry: Option<u64>,
    /// Offset in the stream of the next byte to be fed.
    offset: u64,
    /// Offset in the stream of the unfinished line.
    line_offset: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Fields,
    /// The block in progress was too large: skip to its empty line.
    Resync,
    Terminated,
}

/// The line in progress at the end of the previous chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    None,
    Kept,
    /// It has at least one byte and cannot become anything that matters.
    Skipped,
}

/// A block in progress, as kept between chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Saved {
    data: SavedData,
    event_type: bool,
    id: bool,
    size: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SavedData {
    None,
    Joined,
    /// The value starts at this offset of `held`.
    Held(usize),
}

impl Saved {
    const NOTHING: Self = Self { data: SavedData::None, event_type: false, id: false, size: 0 };
}

/// A block in progress while a chunk is being walked: what can be borrowed is not copied.
#[derive(Debug)]
struct Open<'c> {
    data: Data<'c>,
    event_type: Text<'c>,
    id: Text<'c>,
    /// Decoded bytes of data, type and id.
    size: usize,
}

#[derive(Debug, Clone, Copy)]
enum Data<'c> {
    None,
    Chunk(&'c str),
    Joined,
    Held(usize),
}

#[derive(Debug, Clone, Copy)]
enum Text<'c> {
    None,
    Chunk(&'c str),
    /// In the decoder's own buffer.
    Kept,
}

impl<'c> Open<'c> {
    const NOTHING: Self = Self { data: Data::None, event_type: Text::None, id: Text::None, size: 0 };

    #[inline(always)]
    fn is_nothing(&self) -> bool {
        matches!(self, Self { data: Data::None, event_type: Text::None, id: Text::None, .. })
    }
}

/// A dispatched block.
#[derive(Debug)]
struct Dispatched<'c> {
    event_type: Text<'c>,
    data: Data<'c>,
    retry: Option<u64>,
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

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder with the default [`Config`].
    #[inline]
    pub const fn new() -> Self {
        Self::with_config(Config::new())
    }

    /// A decoder with these limits.
    #[inline]
    pub const fn with_config(config: Config) -> Self {
        Self {
            config,
            mode: Mode::Fields,
            mark_seen: 0,
            after_cr: false,
            overgrown: false,
            partial: Partial::None,
            line: Vec::new(),
            joined: String::new(),
            held: String::new(),
            comment: String::new(),
            event_type: CompactString::const_new(""),
            pending_id: CompactString::const_new(""),
            open: Saved::NOTHING,
            last_event_id: CompactString::const_new(""),
            reconnection_time: None,
            unreported_retry: None,
            offset: 0,
            line_offset: 0,
        }
    }

    /// Sets the last event id that events have until the stream sets another one, as after a reconnection.
    #[must_use]
    pub fn with_last_event_id(mut self, id: &str) -> Self {
        self.last_event_id = CompactString::new(id);
        self
    }

    /// Takes the next event out of `chunk`, which is advanced past it.
    ///
    /// `None` means that the chunk is used up; call again with the next one. After an event, call again with
    /// what is left of the same chunk.
    ///
    /// # Errors
    /// [`Error::is_too_large`] once per block that exceeds [`Config::max_event_size`]. The chunk is advanced
    /// past what was consumed, and the decoder stays usable as [`Config::overflow`] says.
    #[allow(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    #[inline]
    pub fn next<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Result<Option<EventRef<'a>>> {
        match self.advance::<false>(chunk) {
            Step::Event(event) => Ok(Some(self.event_ref(&event))),
            Step::TooLarge(offset) => Err(self.too_large(offset)),
            Step::End | Step::Comment(_) | Step::Retry(_) => Ok(None),
        }
    }

    /// Like [`next`](Self::next), for an event to keep. Joined data lines are moved into it, not copied.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    #[inline]
    pub fn next_owned(&mut self, chunk: &mut &[u8]) -> Result<Option<Event>> {
        match self.advance::<false>(chunk) {
            Step::Event(event) => {
                let data = match event.data {
                    Data::Joined => core::mem::take(&mut self.joined),
                    _ => String::from(self.event_ref(&event).data),
                };
                let event = Event {
                    event_type: CompactString::new(self.event_ref(&event).event_type),
                    data,
                    last_event_id: self.last_event_id.clone(),
                    retry: event.retry,
                };
                Ok(Some(event))
            }
            Step::TooLarge(offset) => Err(self.too_large(offset)),
            Step::End | Step::Comment(_) | Step::Retry(_) => Ok(None),
        }
    }

    /// Like [`next`](Self::next), but also reports comments and `retry` lines, in stream order.
    ///
    /// A comment that is longer than [`Config::max_event_size`] is skipped.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn next_item<'a, 'c: 'a>(&'a mut self, chunk: &mut &'c [u8]) -> Result<Option<Item<'a>>> {
        match self.advance::<true>(chunk) {
            Step::Event(event) => Ok(Some(Item::Event(self.event_ref(&event)))),
            Step::Comment(Text::Chunk(text)) => Ok(Some(Item::Comment(text))),
            Step::Comment(_) => Ok(Some(Item::Comment(&self.comment))),
            Step::Retry(millis) => Ok(Some(Item::Retry(Duration::from_millis(millis)))),
            Step::TooLarge(offset) => Err(self.too_large(offset)),
            Step::End => Ok(None),
        }
    }

    /// Decodes a chunk and hands every event to `on_event` until that breaks or the chunk is used up.
    ///
    /// Returns how many bytes were consumed: all of them, unless `on_event` broke. Call again with the rest to
    /// go on. `on_event` gets an error, [`Error::is_too_large`], once per block that exceeds
    /// [`Config::max_event_size`]; decoding goes on as [`Config::overflow`] says.
    ///
    /// This is the fastest way to decode many small events.
    ///
    /// # Examples
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// let mut decoder = sse::Decoder::new();
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
        let Some(start) = self.begin(chunk) else { return chunk.len() };
        let consumed = with_engine(Feed { decoder: self, chunk: &chunk[start..], on_event });
        start + consumed
    }

    /// Ends the stream: an unfinished line and a block without its empty line are dropped, as the standard asks.
    /// An id that the dropped block had set is dropped with it; a `retry` line that ended has taken effect.
    pub fn finish(&mut self) {
        self.partial = Partial::None;
        self.line.clear();
        self.open = Saved::NOTHING;
        if self.mode == Mode::Resync {
            self.mode = Mode::Fields;
        }
    }

    /// Ends the stream of a server that leaves out the last empty line, or even the last line end: the end of
    /// input counts as both. Returns the event of the block in progress, if it has data.
    ///
    /// The standard drops such a block; see [`finish`](Self::finish).
    ///
    /// # Errors
    /// [`Error::is_too_large`] if the last line makes the block exceed [`Config::max_event_size`].
    pub fn finish_lenient(&mut self) -> Result<Option<EventRef<'_>>> {
        let mut open = self.resume();
        let mut step = None;
        if self.partial == Partial::Kept && self.mode == Mode::Fields {
            step = self.kept_line::<false>(&mut open);
        }
        let dispatched = if self.mode == Mode::Fields { self.dispatch(&mut open) } else { None };
        self.finish();
        match (step, dispatched) {
            (Some(Step::TooLarge(offset)), _) => Err(self.too_large(offset)),
            (_, Some(event)) => Ok(Some(self.event_ref(&event))),
            (_, None) => Ok(None),
        }
    }

    /// Prepares for the next stream of the same source: what is pending is dropped as by
    /// [`finish`](Self::finish), a byte order mark is expected again, and the last event id and the reconnection
    /// time stay.
    pub fn reconnect(&mut self) {
        self.finish();
        self.mode = Mode::Fields;
        self.mark_seen = 0;
        self.after_cr = false;
        self.offset = 0;
    }

    /// The last event id: what a client sends as `Last-Event-ID` when it reconnects. Empty if there is none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// The latest valid `retry` value of the stream.
    pub fn reconnection_time(&self) -> Option<Duration> {
        self.reconnection_time.map(Duration::from_millis)
    }

    /// Whether the decoder ignores all further input because a block was too large under
    /// [`Overflow::Terminate`].
    pub fn is_terminated(&self) -> bool {
        self.mode == Mode::Terminated
    }

    /// Runs until something is to be reported or the chunk ends.
    #[inline]
    fn advance<'c, const ITEMS: bool>(&mut self, chunk: &mut &'c [u8]) -> Step<'c> {
        let input = *chunk;
        let Some(start) = self.begin(input) else {
            *chunk = &[];
            return Step::End;
        };
        let (step, consumed) = with_engine(Advance::<ITEMS> { decoder: self, chunk: &input[start..] });
        *chunk = &input[start + consumed..];
        step
    }

    /// Deals with what only the first bytes of a chunk can be: the rest of a byte order mark, the LF of a CRLF.
    /// Returns where the lines start, or `None` if nothing is left.
    #[inline(always)]
    fn begin(&mut self, chunk: &[u8]) -> Option<usize> {
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
        if start == chunk.len() || self.mode == Mode::Terminated {
            self.offset += chunk.len() as u64;
            return None;
        }
        self.offset += start as u64;
        Some(start)
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

    /// The block in progress.
    #[inline(always)]
    fn resume<'c>(&self) -> Open<'c> {
        if self.open == Saved::NOTHING {
            return Open::NOTHING;
        }
        let kept = |kept: bool| if kept { Text::Kept } else { Text::None };
        Open {
            data: match self.open.data {
                SavedData::None => Data::None,
                SavedData::Joined => Data::Joined,
                SavedData::Held(start) => Data::Held(start),
            },
            event_type: kept(self.open.event_type),
            id: kept(self.open.id),
            size: self.open.size,
        }
    }

    /// Keeps the block in progress for the next chunk: what borrows from this one is copied.
    #[inline(always)]
    fn suspend<E: Engine>(&mut self, lines: &Lines<'_, E>, open: Open<'_>) {
        self.after_cr = lines.ends_after_cr();
        self.offset += lines.start() as u64;
        if open.is_nothing() {
            self.open = Saved::NOTHING;
        } else {
            self.save(open);
        }
    }

    #[cold]
    fn save(&mut self, open: Open<'_>) {
        self.open = Saved {
            data: match open.data {
                Data::None => SavedData::None,
                Data::Chunk(data) => {
                    self.joined.clear();
                    self.joined.push_str(data);
                    SavedData::Joined
                }
                Data::Joined => SavedData::Joined,
                Data::Held(start) => SavedData::Held(start),
            },
            event_type: match open.event_type {
                Text::None => false,
                Text::Chunk(text) => {
                    set(&mut self.event_type, text);
                    true
                }
                Text::Kept => true,
            },
            id: match open.id {
                Text::None => false,
                Text::Chunk(text) => {
                    set(&mut self.pending_id, text);
                    true
                }
                Text::Kept => true,
            },
            size: open.size,
        };
    }

    /// Ends the line that the previous chunk left unfinished, and skips the rest of a block that was too large.
    /// `None` if the walk over whole lines can begin.
    #[inline(always)]
    fn finish_partial<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut Open<'c>,
    ) -> Option<Step<'c>> {
        if self.partial == Partial::None && self.mode == Mode::Fields {
            return None;
        }
        self.finish_partial_slow::<E, ITEMS>(lines, open)
    }

    #[inline(always)]
    fn finish_partial_slow<'c, E: Engine, const ITEMS: bool>(
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
            let kept = self.partial == Partial::Kept;
            self.partial = Partial::None;
            if kept {
                self.line.extend_from_slice(line.bytes());
                if let Some(step) = self.kept_line::<ITEMS>(open) {
                    return Some(step);
                }
            }
        }
        while self.mode == Mode::Resync {
            match lines.next_line() {
                Some(line) if line.bytes().is_empty() => {
                    self.mode = Mode::Fields;
                }
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

    /// Walks whole lines until something is to be reported or the chunk ends.
    #[inline(always)]
    fn step<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut Open<'c>,
    ) -> Step<'c> {
        while let Some(line) = lines.next_line() {
            if open.is_nothing()
                && line.bytes().len() <= self.config.max_event_size
                && let Some(data) = lines.whole_event(&line)
            {
                return Step::Event(self.dispatch_data(data));
            }
            if let Some(step) = self.process::<_, ITEMS>(line, lines, open) {
                return step;
            }
        }
        if lines.rest().is_empty() { Step::End } else { self.keep_partial::<E, ITEMS>(lines, open) }
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
                return Some(Step::Comment(match line.text(1) {
                    Some(text) => Text::Chunk(text),
                    None => self.repair_comment(&bytes[1..]),
                }));
            }
            return None;
        };
        if bytes.len() > self.room(open) {
            return Some(self.overflow(self.offset + lines.offset_of(bytes) as u64, open));
        }
        match field {
            Field::Data => match (line.text(start), open.data) {
                (Some(text), Data::None) => {
                    open.data = Data::Chunk(text);
                    open.size += text.len() + 1;
                }
                (Some(text), _) => self.join(open, text, lines.rest().len()),
                (None, _) => {
                    if let Some(step) = self.repaired(
                        field,
                        &bytes[start..],
                        self.offset + lines.offset_of(bytes) as u64,
                        open,
                    ) {
                        return Some(step);
                    }
                }
            },
            Field::Event | Field::Id => match line.text(start) {
                Some(text) if field == Field::Event => {
                    open.size = open.size - length(open.event_type, &self.event_type) + text.len();
                    open.event_type = Text::Chunk(text);
                }
                Some(text) if memchr::memchr(0, text.as_bytes()).is_none() => {
                    open.size = open.size - length(open.id, &self.pending_id) + text.len();
                    open.id = Text::Chunk(text);
                }
                // An id with NUL is ignored.
                Some(_) => {}
                None => {
                    if let Some(step) = self.repaired(
                        field,
                        &bytes[start..],
                        self.offset + lines.offset_of(bytes) as u64,
                        open,
                    ) {
                        return Some(step);
                    }
                }
            },
            Field::Retry => {
                if let Some(millis) = self.retry(&bytes[start..])
                    && ITEMS
                {
                    return Some(Step::Retry(millis));
                }
            }
        }
        None
    }

    /// Keeps what follows the last line end of a chunk, if it can still become something that matters.
    fn keep_partial<'c, E: Engine, const ITEMS: bool>(
        &mut self,
        lines: &mut Lines<'c, E>,
        open: &mut Open<'c>,
    ) -> Step<'c> {
        let rest = lines.rest();
        let offset = self.offset + lines.start() as u64;
        lines.skip_to_end();
        if self.partial == Partial::Skipped {
            return Step::End;
        }
        if self.partial == Partial::None {
            self.line.clear();
            self.line_offset = offset;
            self.partial = Partial::Kept;
        }
        // Only the first bytes decide; a long line must not pay for the question with every chunk.
        let prospect = match line::prospect(if self.line.is_empty() { rest } else { &self.line }) {
            Prospect::Undecided if !self.line.is_empty() => {
                self.line.extend_from_slice(rest);
                line::prospect(&self.line)
            }
            Prospect::Comment if !ITEMS => Prospect::Unknown,
            Prospect::Unknown => Prospect::Unknown,
            prospect => {
                self.line.extend_from_slice(rest);
                prospect
            }
        };
        self.overgrown |= self.line.capacity() > RETAINED_CAPACITY;
        match prospect {
            Prospect::Field if self.line.len() > self.room(open) => {
                self.partial = Partial::Skipped;
                return self.overflow(self.line_offset, open);
            }
            Prospect::Comment if self.line.len() > self.config.max_event_size => self.skip_partial(),
            Prospect::Unknown => self.skip_partial(),
            _ => {}
        }
        Step::End
    }

    fn skip_partial(&mut self) {
        self.partial = Partial::Skipped;
        self.line.clear();
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
        match String::from_utf8(core::mem::take(&mut self.line)) {
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
            Err(error) => {
                let line = error.into_bytes();
                let step = self.repaired(field, &line[start..], self.line_offset, open);
                self.line = line;
                step
            }
        }
    }

    /// Bytes that the line in progress may have.
    #[inline(always)]
    fn room(&self, open: &Open<'_>) -> usize {
        self.config.max_event_size.saturating_sub(open.size)
    }

    /// Gives up the block in progress.
    #[cold]
    fn overflow<'c>(&mut self, offset: u64, open: &mut Open<'c>) -> Step<'c> {
        *open = Open::NOTHING;
        self.mode = match self.config.overflow {
            Overflow::Resync => Mode::Resync,
            Overflow::Terminate => Mode::Terminated,
        };
        self.overgrown = true;
        Step::TooLarge(offset)
    }

    fn too_large(&self, offset: u64) -> Error {
        Error::new(Kind::TooLarge { limit: self.config.max_event_size, offset })
    }

    /// Appends a data line to the ones that the block already has.
    fn join(&mut self, open: &mut Open<'_>, text: &str, ahead: usize) {
        self.gather(open, text.len() + ahead.min(JOIN_RESERVE));
        self.joined.push_str(text);
        open.size += text.len() + 1;
    }

    /// Takes a value that is not UTF-8. Repairing makes it longer, so that it must be measured again.
    #[cold]
    fn repaired<'c>(
        &mut self,
        field: Field,
        value: &[u8],
        offset: u64,
        open: &mut Open<'c>,
    ) -> Option<Step<'c>> {
        if repaired_len(value) > self.room(open) {
            return Some(self.overflow(offset, open));
        }
        match field {
            Field::Data => {
                self.gather(open, value.len());
                let before = self.joined.len();
                push_repaired(&mut self.joined, value);
                open.size += self.joined.len() - before + 1;
            }
            Field::Event => self.keep_type(open, &String::from_utf8_lossy(value)),
            Field::Id => self.keep_id(open, &String::from_utf8_lossy(value)),
            // Its value is never text.
            Field::Retry => {}
        }
        None
    }

    /// Moves the data so far into `joined`, with a line break after it, and reserves `additional` bytes.
    #[inline]
    fn gather(&mut self, open: &mut Open<'_>, additional: usize) {
        match open.data {
            Data::Joined => self.joined.reserve(additional + 1),
            Data::None => {
                self.joined.clear();
                self.joined.reserve(additional);
                open.data = Data::Joined;
                return;
            }
            Data::Chunk(first) => {
                self.joined.clear();
                self.joined.reserve(first.len() + 1 + additional);
                self.joined.push_str(first);
            }
            Data::Held(start) => {
                self.joined.clear();
                self.joined.reserve(self.held.len() + 1 + additional);
                self.joined.push_str(&self.held[start..]);
            }
        }
        self.joined.push('\n');
        open.data = Data::Joined;
        self.overgrown |= self.joined.capacity() > RETAINED_CAPACITY;
    }

    fn keep_type(&mut self, open: &mut Open<'_>, text: &str) {
        open.size = open.size - length(open.event_type, &self.event_type) + text.len();
        set(&mut self.event_type, text);
        open.event_type = Text::Kept;
    }

    fn keep_id(&mut self, open: &mut Open<'_>, text: &str) {
        if memchr::memchr(0, text.as_bytes()).is_none() {
            open.size = open.size - length(open.id, &self.pending_id) + text.len();
            set(&mut self.pending_id, text);
            open.id = Text::Kept;
        }
    }

    #[cold]
    fn repair_comment<'c>(&mut self, bytes: &[u8]) -> Text<'c> {
        self.comment.clear();
        push_repaired(&mut self.comment, bytes);
        self.overgrown |= self.comment.capacity() > RETAINED_CAPACITY;
        Text::Kept
    }

    fn retry(&mut self, value: &[u8]) -> Option<u64> {
        let millis = line::retry_millis(value)?;
        self.reconnection_time = Some(millis);
        self.unreported_retry = Some(millis);
        Some(millis)
    }

    /// The empty line: commits the id and hands the block over if it has data.
    #[inline(always)]
    fn dispatch<'c>(&mut self, open: &mut Open<'c>) -> Option<Dispatched<'c>> {
        match open.id {
            Text::None => {}
            Text::Chunk(id) => set(&mut self.last_event_id, id),
            Text::Kept => core::mem::swap(&mut self.last_event_id, &mut self.pending_id),
        }
        let Open { data, event_type, .. } = core::mem::replace(open, Open::NOTHING);
        if let Data::None = data {
            return None;
        }
        Some(Dispatched { event_type, data, retry: self.take_retry() })
    }

    /// Hands over a block that is one data line.
    #[inline(always)]
    fn dispatch_data<'c>(&mut self, data: &'c str) -> Dispatched<'c> {
        Dispatched { event_type: Text::None, data: Data::Chunk(data), retry: self.take_retry() }
    }

    #[inline(always)]
    fn take_retry(&mut self) -> Option<u64> {
        // Seldom there; a read is cheaper than the write of `take`.
        if self.unreported_retry.is_some() { self.unreported_retry.take() } else { None }
    }

    #[inline(always)]
    fn event_ref<'a>(&'a self, event: &Dispatched<'a>) -> EventRef<'a> {
        EventRef {
            event_type: match event.event_type {
                Text::None => "",
                Text::Chunk(text) => text,
                Text::Kept => &self.event_type,
            },
            data: match event.data {
                Data::None => "",
                Data::Chunk(data) => data,
                Data::Joined => &self.joined,
                Data::Held(start) => &self.held[start..],
            },
            last_event_id: &self.last_event_id,
            retry: event.retry,
        }
    }

    /// Gives back buffers that one large event has blown up and that nothing uses any more.
    #[cold]
    fn shrink(&mut self) {
        self.overgrown = false;
        let idle = self.open.data == SavedData::None;
        for text in [&mut self.joined, &mut self.held] {
            if text.capacity() > RETAINED_CAPACITY {
                if idle {
                    *text = String::new();
                } else {
                    self.overgrown = true;
                }
            }
        }
        if self.comment.capacity() > RETAINED_CAPACITY {
            self.comment = String::new();
        }
        if self.line.capacity() > RETAINED_CAPACITY {
            if self.partial == Partial::Kept {
                self.overgrown = true;
            } else {
                self.line = Vec::new();
            }
        }
    }
}

/// The loop of [`Decoder::next`] and its siblings: runs until something is to be reported.
struct Advance<'d, 'c, const ITEMS: bool> {
    decoder: &'d mut Decoder,
    chunk: &'c [u8],
}

impl<'c, const ITEMS: bool> Walk for Advance<'_, 'c, ITEMS> {
    /// What is to be reported, and how many bytes were consumed.
    type Output = (Step<'c>, usize);

    #[inline(always)]
    fn run<E: Engine>(self, engine: E) -> Self::Output {
        let Self { decoder, chunk } = self;
        let mut lines = Lines::new(engine, chunk);
        let mut open = decoder.resume();
        let step = match decoder.finish_partial::<_, ITEMS>(&mut lines, &mut open) {
            Some(step) => step,
            None => decoder.step::<_, ITEMS>(&mut lines, &mut open),
        };
        decoder.suspend(&lines, open);
        (step, lines.start())
    }
}

/// The loop of [`Decoder::feed`]. The position of the scan survives from event to event.
struct Feed<'d, 'c, F> {
    decoder: &'d mut Decoder,
    chunk: &'c [u8],
    on_event: F,
}

impl<F> Walk for Feed<'_, '_, F>
where
    F: FnMut(Result<EventRef<'_>>) -> ControlFlow<()>,
{
    /// How many bytes were consumed.
    type Output = usize;

    #[inline(always)]
    fn run<E: Engine>(mut self, engine: E) -> usize {
        let decoder = self.decoder;
        let mut lines = Lines::new(engine, self.chunk);
        let mut open = decoder.resume();
        let mut reported = decoder.finish_partial::<_, false>(&mut lines, &mut open);
        loop {
            let flow = match reported {
                None => ControlFlow::Continue(()),
                Some(Step::Event(event)) => (self.on_event)(Ok(decoder.event_ref(&event))),
                Some(Step::TooLarge(offset)) => (self.on_event)(Err(decoder.too_large(offset))),
                Some(_) => break,
            };
            if flow.is_break() {
                break;
            }
            // After an overflow the rest of the block is skipped first.
            reported = decoder.finish_partial::<_, false>(&mut lines, &mut open);
            if reported.is_some() {
                continue;
            }
            reported = loop {
                let Some(line) = lines.next_line() else {
                    break (!lines.rest().is_empty())
                        .then(|| decoder.keep_partial::<E, false>(&mut lines, &mut open))
                        .or(Some(Step::End));
                };
                if open.is_nothing()
                    && line.bytes().len() <= decoder.config.max_event_size
                    && let Some(data) = lines.whole_event(&line)
                {
                    let event = decoder.dispatch_data(data);
                    if (self.on_event)(Ok(decoder.event_ref(&event))).is_break() {
                        break Some(Step::End);
                    }
                } else if let Some(step) = decoder.process::<_, false>(line, &lines, &mut open) {
                    break Some(step);
                }
            };
        }
        decoder.suspend(&lines, open);
        lines.start()
    }
}

#[inline(always)]
fn length(text: Text<'_>, kept: &str) -> usize {
    match text {
        Text::None => 0,
        Text::Chunk(text) => text.len(),
        Text::Kept => kept.len(),
    }
}

/// Replaces the content and keeps the capacity.
#[inline(always)]
fn set(target: &mut CompactString, text: &str) {
    target.clear();
    target.push_str(text);
}

/// The length of bytes once repaired by [`push_repaired`].
fn repaired_len(bytes: &[u8]) -> usize {
    let mark = char::REPLACEMENT_CHARACTER.len_utf8();
    bytes
        .utf8_chunks()
        .map(|chunk| chunk.valid().len() + if chunk.invalid().is_empty() { 0 } else { mark })
        .sum()
}

/// Appends bytes as text; every maximal invalid part becomes one U+FFFD.
fn push_repaired(target: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        target.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            target.push(char::REPLACEMENT_CHARACTER);
        }
    }
}
