//! Documents inside of the output of a program.

use std::fmt;

use memchr::memmem;

use super::{ReadOptions, Reader, Stream};
use crate::Error;
use crate::value::Value;

/// The line that PowerShell writes before documents.
const MARK: &[u8] = b"#< CLIXML";
const START: &[u8] = b"<Objs";
const END: &[u8] = b"</Objs>";

/// A part of the output of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConsoleEvent<'a> {
    /// Bytes that are no document, as they came. One text may come in several parts.
    Text(&'a [u8]),
    /// An item of a document, and its stream; [`Stream::Output`] where it names none.
    Record(Stream, Value),
}

/// Finds documents in the output of a program.
///
/// A PowerShell whose error output is no terminal writes its records there as documents: after a line `#< CLIXML`, in
/// between what other programs write. The filter is given the bytes as they come, in any pieces, and passes on text and
/// records.
///
/// Bytes are never lost: a document that can't be read is text, and so is one that does not end, or is longer than
/// [`Limits::max_size`](super::Limits::max_size) of the options. Up to that many bytes are held back until the end of a document
/// is there; of other text no more than what may be the beginning of the mark, and white space behind a document.
///
/// ```
/// use psrp::clixml::{ConsoleEvent, ConsoleFilter, Stream};
///
/// let mut filter = ConsoleFilter::new();
/// let mut seen = Vec::new();
/// for piece in ["make: ok\n#< CLI", "XML\r\n<Objs><S S=\"Error\">no</S></", "Objs>\nbye"] {
///     filter.push(piece.as_bytes(), |event| match event {
///         ConsoleEvent::Record(stream, value) => seen.push(format!("{stream:?}: {}", value.as_str().unwrap())),
///         ConsoleEvent::Text(text) => seen.push(String::from_utf8_lossy(text).into_owned()),
///         _ => {}
///     });
/// }
/// filter.finish(|_| {});
/// assert_eq!(seen, ["make: ok\n", "Error: no", "\nbye"]);
/// ```
#[derive(Default)]
pub struct ConsoleFilter {
    options: ReadOptions,
    state: State,
    /// What is held back.
    held: Vec<u8>,
    /// Where the document begins in what is held back, once it is seen.
    start: Option<usize>,
    /// How much of what is held back is white space in front of it; then, has no end of its start tag; then, of itself.
    searched: usize,
    /// Whether the start tag of the document has ended.
    open: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// What is held back begins with the mark.
    Marked,
    /// A document has ended; another one may follow.
    Follows,
}

/// What the bytes behind a mark or document are.
enum Block {
    /// A document may begin there, or has not ended yet.
    Unfinished,
    /// No document.
    Text,
    /// A document, from here to there.
    Document(usize, usize),
}

impl ConsoleFilter {
    /// A filter with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// A filter that reads documents with these options.
    pub fn with_options(options: ReadOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, input: &[u8], mut sink: impl FnMut(ConsoleEvent<'_>)) {
        if self.held.is_empty() {
            let used = self.pass(input, &mut sink);
            self.held.extend_from_slice(&input[used..]);
        } else {
            let mut held = std::mem::take(&mut self.held);
            held.extend_from_slice(input);
            let used = self.pass(&held, &mut sink);
            held.drain(..used);
            self.held = held;
        }
    }

    /// Passes on as text what is held back: there will be no more bytes.
    pub fn finish(&mut self, mut sink: impl FnMut(ConsoleEvent<'_>)) {
        text(&self.held, &mut sink);
        self.held.clear();
        self.enter(State::Text);
    }

    /// Passes on what is certain, and tells how many bytes that are.
    fn pass(&mut self, input: &[u8], sink: &mut impl FnMut(ConsoleEvent<'_>)) -> usize {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            if self.state == State::Text {
                let marked = memmem::find(rest, MARK);
                let end = marked.unwrap_or_else(|| rest.len() - partial_mark(rest));
                text(&rest[..end], sink);
                at += end;
                if marked.is_none() {
                    return at;
                }
                self.enter(State::Marked);
                continue;
            }
            let mark = if self.state == State::Marked { MARK.len() } else { 0 };
            match self.block(rest, mark) {
                Block::Unfinished if rest.len() <= self.options.limits.size => return at,
                Block::Unfinished => {
                    text(rest, sink);
                    at = input.len();
                    self.enter(State::Text);
                }
                Block::Text => {
                    text(&rest[..mark], sink);
                    at += mark;
                    self.enter(State::Text);
                }
                Block::Document(start, end) => {
                    self.document(&rest[..end], start, sink);
                    at += end;
                    self.enter(State::Follows);
                }
            }
        }
        at
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.start = None;
        self.searched = 0;
        self.open = false;
    }

    /// Looks for a document behind the mark.
    fn block(&mut self, input: &[u8], mark: usize) -> Block {
        let start = match self.start {
            Some(start) => start,
            None => {
                let document = input[self.searched.max(mark)..].trim_ascii_start();
                let start = input.len() - document.len();
                self.searched = start;
                match document.strip_prefix(START) {
                    Some([]) => return Block::Unfinished,
                    Some([b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'/', ..]) => {}
                    None if START.starts_with(document) => return Block::Unfinished,
                    _ => return Block::Text,
                }
                self.start = Some(start);
                start
            }
        };
        if !self.open {
            let from = self.searched;
            let Some(tag) = memchr::memchr(b'>', &input[from..]) else {
                self.searched = input.len();
                return Block::Unfinished;
            };
            let end = from + tag + 1;
            if input[..end].ends_with(b"/>") {
                return Block::Document(start, end);
            }
            self.open = true;
            self.searched = end;
        }
        match memmem::find(&input[self.searched..], END) {
            Some(end) => Block::Document(start, self.searched + end + END.len()),
            None => {
                // The end may be there in part.
                self.searched = self.searched.max(input.len().saturating_sub(END.len() - 1));
                Block::Unfinished
            }
        }
    }

    /// Passes on what is in a document, or the text if there is another one in it.
    fn document(&self, block: &[u8], start: usize, sink: &mut impl FnMut(ConsoleEvent<'_>)) {
        // A document has no `<` in its texts: another mark means that the first one was cut off.
        let (text_end, start) = match memmem::rfind(&block[start..], MARK) {
            None => (0, start),
            Some(mark) => (start + mark, start + mark + MARK.len()),
        };
        text(&block[..text_end], sink);
        let items: Result<Vec<_>, Error> =
            Reader::with_options(&block[start..], self.options.clone()).collect();
        match items {
            Ok(items) => {
                for (stream, value) in items {
                    sink(ConsoleEvent::Record(stream.unwrap_or(Stream::Output), value));
                }
            }
            Err(_) => text(&block[text_end..], sink),
        }
    }
}

/// Shows how much is held back, not what.
impl fmt::Debug for ConsoleFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleFilter")
            .field("options", &self.options)
            .field("state", &self.state)
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}

fn text(bytes: &[u8], sink: &mut impl FnMut(ConsoleEvent<'_>)) {
    if !bytes.is_empty() {
        sink(ConsoleEvent::Text(bytes));
    }
}

/// How many bytes at the end may be the beginning of a mark.
fn partial_mark(input: &[u8]) -> usize {
    (1..MARK.len()).rev().find(|length| input.ends_with(&MARK[..*length])).unwrap_or(0)
}
