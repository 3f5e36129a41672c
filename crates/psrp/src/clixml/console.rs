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
/// Bytes are never lost: a document that can't be read is text. So is one that does not end before the next mark, or within
/// [`Limits::max_size`](super::Limits::max_size) bytes, its mark and the white space in front of it included. At most that
/// many bytes are buffered until the end of a document is there; of other text at most what may be the beginning of the mark,
/// and white space behind a document. How the bytes are divided changes nothing but where texts are cut.
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
    /// How many bytes of what is held back need not be looked at again: white space at first, then a part of the document
    /// that has no end of its start tag, then one that has neither the end of the document nor a mark.
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
    /// No document, or one that is too long.
    Text,
    /// A document that does not end before the mark that is here.
    Cut(usize),
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
                Block::Document(start, end) if end <= self.options.limits.size => {
                    self.document(&rest[..end], start, sink);
                    at += end;
                    self.enter(State::Follows);
                }
                Block::Cut(end) => {
                    text(&rest[..end], sink);
                    at += end;
                    self.enter(State::Marked);
                }
                Block::Unfinished | Block::Text | Block::Document(..) => {
                    text(&rest[..mark], sink);
                    at += mark;
                    self.enter(State::Text);
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
            match find(&input[self.searched..], b">") {
                Found::Nothing(searched) => {
                    self.searched += searched;
                    return Block::Unfinished;
                }
                Found::Mark(at) => return Block::Cut(self.searched + at),
                Found::End(at) => self.searched += at,
            }
            if input[..self.searched].ends_with(b"/>") {
                return Block::Document(start, self.searched);
            }
            self.open = true;
        }
        match find(&input[self.searched..], END) {
            Found::Nothing(searched) => {
                self.searched += searched;
                Block::Unfinished
            }
            Found::Mark(at) => Block::Cut(self.searched + at),
            Found::End(at) => Block::Document(start, self.searched + at),
        }
    }

    /// Passes on what is in a document, or its text if it can't be read.
    fn document(&self, block: &[u8], start: usize, sink: &mut impl FnMut(ConsoleEvent<'_>)) {
        let items: Result<Vec<_>, Error> =
            Reader::with_options(&block[start..], self.options.clone()).collect();
        match items {
            Ok(items) => {
                for (stream, value) in items {
                    sink(ConsoleEvent::Record(stream.unwrap_or(Stream::Output), value));
                }
            }
            Err(_) => text(block, sink),
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

/// What comes first in a part of a document.
enum Found {
    /// Neither; so many bytes need not be looked at again.
    Nothing(usize),
    /// A mark begins here. A document has no `<` in its texts: it was cut off.
    Mark(usize),
    /// The end that was looked for ends here.
    End(usize),
}

/// Looks for an end or a mark. Each byte is looked at once, however many there are of either.
fn find(input: &[u8], end: &[u8]) -> Found {
    for at in memchr::memchr2_iter(MARK[0], end[0], input) {
        let rest = &input[at..];
        if rest.starts_with(end) {
            return Found::End(at + end.len());
        }
        if rest.starts_with(MARK) {
            return Found::Mark(at);
        }
        if MARK.starts_with(rest) || end.starts_with(rest) {
            return Found::Nothing(at);
        }
    }
    Found::Nothing(input.len())
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
