//! Finds CLIXML documents in the output of a program.

use memchr::memmem;

use super::{ReadOptions, Reader, Stream};
use crate::Error;
use crate::redacted::Redacted;
use crate::value::Value;

/// The line that PowerShell writes before documents.
const MARK: &[u8] = b"#< CLIXML";
const START: &[u8] = b"<Objs";
const END: &[u8] = b"</Objs>";

/// A part of the output of a program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConsoleEvent<'a> {
    /// Bytes outside of documents, unchanged. One text may arrive in several events.
    Text(&'a [u8]),
    /// An item of a document and its stream; [`Stream::Output`] if it names none.
    Record(Stream, Value),
}

/// Separates CLIXML documents from plain text in the output of a program.
///
/// A PowerShell whose standard error is not a terminal writes its records there as documents, each after a line `#<
/// CLIXML` (the mark), mixed with the output of other programs. The filter accepts the bytes in chunks of any size
/// and emits text and records.
///
/// Bytes of a document that are not UTF-8 become U+FFFD. A document that can't be read is emitted as text, unchanged. So is a document that does not end before the
/// next mark or within [`Limits::max_size`](super::Limits::max_size) bytes, which include its mark and the white space
/// before it. The filter buffers at most that many bytes of an incomplete document. Of other text it buffers only a
/// possible beginning of a mark and white space after a document. The chunk boundaries only affect where texts are
/// split.
///
/// ```
/// use psrp::clixml::{ConsoleEvent, ConsoleFilter, Stream};
///
/// let mut filter = ConsoleFilter::new();
/// let mut seen = Vec::new();
/// for chunk in ["make: ok\n#< CLI", "XML\r\n<Objs><S S=\"Error\">no</S></", "Objs>\nbye"] {
///     filter.push(chunk.as_bytes(), |event| match event {
///         ConsoleEvent::Record(stream, value) => seen.push(format!("{stream:?}: {}", value.as_str().unwrap())),
///         ConsoleEvent::Text(text) => seen.push(String::from_utf8_lossy(text).into_owned()),
///         _ => {}
///     });
/// }
/// filter.finish(|_| {});
/// assert_eq!(seen, ["make: ok\n", "Error: no", "\nbye"]);
/// ```
#[derive(Debug, Default)]
pub struct ConsoleFilter {
    options: ReadOptions,
    state: FilterState,
    /// Input that was not emitted yet.
    pending: Redacted<Vec<u8>>,
    /// Offset of the document in `pending`, once its beginning was found.
    start: Option<usize>,
    /// Bytes of `pending` that need not be searched again.
    searched: usize,
    /// Whether the start tag of the document was read completely.
    is_open: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FilterState {
    #[default]
    Text,
    /// `pending` begins with the mark.
    Marked,
    /// After a document; another one may follow.
    AfterDocument,
}

/// Why there is no complete document after a mark or document.
enum Block {
    /// A document may begin here, or has begun but not ended.
    Incomplete,
    /// Not a document.
    Text,
    /// A document that is interrupted by a mark at this offset.
    Interrupted(usize),
}

impl ConsoleFilter {
    /// Creates a filter with the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a filter that reads documents with these options.
    pub fn with_options(options: ReadOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Processes the next bytes of the output and passes complete events to `sink`.
    pub fn push(&mut self, input: &[u8], mut sink: impl FnMut(ConsoleEvent<'_>)) {
        if self.pending.is_empty() {
            let used = self.process(input, &mut sink);
            self.pending.extend_from_slice(&input[used..]);
        } else {
            let mut pending = std::mem::take(&mut self.pending);
            pending.extend_from_slice(input);
            let used = self.process(&pending, &mut sink);
            pending.drain(..used);
            self.pending = pending;
        }
    }

    /// Ends the output: emits all buffered bytes as text.
    pub fn finish(&mut self, mut sink: impl FnMut(ConsoleEvent<'_>)) {
        emit_text(&self.pending, &mut sink);
        self.pending.clear();
        self.enter(FilterState::Text);
    }

    /// Emits all complete events and returns the number of bytes consumed.
    fn process(&mut self, input: &[u8], sink: &mut impl FnMut(ConsoleEvent<'_>)) -> usize {
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            if self.state == FilterState::Text {
                let marked = memmem::find(rest, MARK);
                let end = marked.unwrap_or_else(|| rest.len() - partial_mark(rest));
                emit_text(&rest[..end], sink);
                at += end;
                if marked.is_none() {
                    return at;
                }
                self.enter(FilterState::Marked);
                continue;
            }
            let mark = if self.state == FilterState::Marked { MARK.len() } else { 0 };
            match self.find_document(rest, mark) {
                Err(Block::Incomplete) if rest.len() <= self.options.limits.size => return at,
                Ok((start, end)) if end <= self.options.limits.size => {
                    self.emit_document(&rest[..end], start, sink);
                    at += end;
                    self.enter(FilterState::AfterDocument);
                }
                Err(Block::Interrupted(end)) => {
                    emit_text(&rest[..end], sink);
                    at += end;
                    self.enter(FilterState::Marked);
                }
                // A document that is too long is text, too.
                Ok(_) | Err(Block::Incomplete | Block::Text) => {
                    emit_text(&rest[..mark], sink);
                    at += mark;
                    self.enter(FilterState::Text);
                }
            }
        }
        at
    }

    fn enter(&mut self, state: FilterState) {
        self.state = state;
        self.start = None;
        self.searched = 0;
        self.is_open = false;
    }

    /// Looks for a document after a mark of this length. Returns its start and end.
    fn find_document(&mut self, input: &[u8], mark: usize) -> Result<(usize, usize), Block> {
        let start = match self.start {
            Some(start) => start,
            None => {
                let document = input[self.searched.max(mark)..].trim_ascii_start();
                let start = input.len() - document.len();
                self.searched = start;
                match document.strip_prefix(START) {
                    Some([]) => return Err(Block::Incomplete),
                    Some([b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'/', ..]) => {}
                    None if START.starts_with(document) => return Err(Block::Incomplete),
                    _ => return Err(Block::Text),
                }
                self.start = Some(start);
                start
            }
        };
        if !self.is_open {
            self.searched = self.find_end(input, b">")?;
            if input[..self.searched].ends_with(b"/>") {
                return Ok((start, self.searched));
            }
            self.is_open = true;
        }
        Ok((start, self.find_end(input, END)?))
    }

    /// Looks for an end tag in the input that was not searched yet, and returns its end. A mark interrupts the document,
    /// because its text can't contain the `<` of a mark.
    fn find_end(&mut self, input: &[u8], end: &[u8]) -> Result<usize, Block> {
        let from = self.searched;
        self.searched = input.len();
        for at in memchr::memchr2_iter(MARK[0], end[0], &input[from..]).map(|at| from + at) {
            let rest = &input[at..];
            if rest.starts_with(end) {
                return Ok(at + end.len());
            }
            if rest.starts_with(MARK) {
                return Err(Block::Interrupted(at));
            }
            if MARK.starts_with(rest) || end.starts_with(rest) {
                self.searched = at;
                break;
            }
        }
        Err(Block::Incomplete)
    }

    /// Emits the items of a document, or the whole block as text if it can't be read.
    fn emit_document(&self, block: &[u8], start: usize, sink: &mut impl FnMut(ConsoleEvent<'_>)) {
        // `powershell.exe` writes the code page of the console; only characters of texts are lost.
        let text = String::from_utf8_lossy(&block[start..]);
        let items: Result<Vec<_>, Error> =
            Reader::with_options(text.as_bytes(), self.options.clone()).collect();
        match items {
            Ok(items) => {
                for (stream, value) in items {
                    sink(ConsoleEvent::Record(stream.unwrap_or(Stream::Output), value));
                }
            }
            Err(_) => emit_text(block, sink),
        }
    }
}

fn emit_text(bytes: &[u8], sink: &mut impl FnMut(ConsoleEvent<'_>)) {
    if !bytes.is_empty() {
        sink(ConsoleEvent::Text(bytes));
    }
}

/// Length of the longest suffix that is the beginning of a mark.
fn partial_mark(input: &[u8]) -> usize {
    (1..MARK.len()).rev().find(|length| input.ends_with(&MARK[..*length])).unwrap_or(0)
}
