//! Writing an answer (RFC 9112, 4 to 7).

#[cfg(any(target_os = "linux", target_os = "android"))]
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, IoSlice, Write as _};
use std::ops::Range;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http_body::Body as _;
use tokio::net::TcpStream;

use super::super::access::Access;
use super::super::answer::{Answer, Value};
use super::super::body::{Body, Source};
use super::patience::Patience;
use crate::Error;
use crate::store::{Piece, Reader, read_at};

/// A body that is not larger is sent together with its head.
const SMALL: u64 = 16 * 1024;
/// The most bytes of a file that are sent at once: while they are read from a disk, other connections wait.
const PIECE: u64 = 1024 * 1024;

/// The time of day as header fields have it.
pub(super) struct Clock {
    second: u64,
    text: Vec<u8>,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { second: u64::MAX, text: Vec::with_capacity(29) }
    }

    fn now(&mut self) -> &[u8] {
        let now = SystemTime::now();
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if second != self.second {
            self.second = second;
            self.text.clear();
            put(&mut self.text, format_args!("{}", httpdate::HttpDate::from(now)));
        }
        &self.text
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing into a vector does not fail.
    let _ = out.write_fmt(text);
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// How a client knows where the body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// There is none, or the answer says so itself.
    Told,
    Length(u64),
    Chunked,
}

fn framing(answer: &Answer, is_head: bool) -> Framing {
    let is_empty =
        is_head || answer.status == StatusCode::NOT_MODIFIED || answer.status == StatusCode::NO_CONTENT;
    if is_empty || answer.get(&CONTENT_LENGTH).is_some() {
        return Framing::Told;
    }
    answer.body.size_hint().exact().map_or(Framing::Chunked, Framing::Length)
}

fn write_head(out: &mut Vec<u8>, answer: &Answer, framing: Framing, is_kept: bool, clock: &mut Clock) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(answer.status.as_str().as_bytes());
    out.push(b' ');
    let reason = answer.reason.or(answer.status.canonical_reason());
    out.extend_from_slice(reason.unwrap_or_default().as_bytes());
    for (name, value) in &answer.fields {
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        match value {
            Value::Static(text) => out.extend_from_slice(text.as_bytes()),
            Value::Shared(value) => out.extend_from_slice(value.as_bytes()),
            Value::Number(number) => put_number(out, *number),
            Value::Date(time) => put(out, format_args!("{}", httpdate::HttpDate::from(*time))),
        }
    }
    match framing {
        Framing::Told => {}
        Framing::Length(len) => {
            out.extend_from_slice(b"\r\ncontent-length: ");
            put_number(out, len);
        }
        Framing::Chunked => out.extend_from_slice(b"\r\ntransfer-encoding: chunked"),
    }
    if !is_kept {
        out.extend_from_slice(b"\r\nconnection: close");
    }
    out.extend_from_slice(b"\r\ndate: ");
    out.extend_from_slice(clock.now());
    out.extend_from_slice(b"\r\n\r\n");
}

/// Where answers are written to.
pub(super) struct Writer<'c> {
    pub(super) stream: &'c TcpStream,
    pub(super) patience: &'c mut Patience,
    /// How long a client may take nothing.
    pub(super) timeout: Duration,
    /// Memory for what is written.
    pub(super) memory: &'c mut Vec<u8>,
    pub(super) clock: &'c mut Clock,
}

impl Writer<'_> {
    /// Writes an answer. After an error nothing more can be written, so that a client never takes a part for the whole.
    pub(super) async fn write(
        &mut self,
        answer: Answer,
        is_head: bool,
        is_kept: bool,
        access: &mut Access,
    ) -> io::Result<()> {
        let framing = framing(&answer, is_head);
        let mut out = std::mem::take(self.memory);
        out.clear();
        write_head(&mut out, &answer, framing, is_kept, self.clock);
        let result = self.send(&mut out, answer.body, framing, access).await;
        *self.memory = out;
        if result.is_ok() {
            access.ended();
        }
        result
    }

    async fn send(
        &mut self,
        out: &mut Vec<u8>,
        body: Body,
        framing: Framing,
        access: &mut Access,
    ) -> io::Result<()> {
        let mut frames = Frames { is_chunked: framing == Framing::Chunked, left: body.size_hint().exact() };
        match body.into_whole() {
            Whole::Bytes(bytes) => {
                let len = bytes.len() as u64;
                if len <= SMALL {
                    out.extend_from_slice(&bytes);
                    self.write_all(out, &[]).await?;
                } else {
                    self.write_all(out, &bytes).await?;
                }
                access.sent(len);
                Ok(())
            }
            Whole::File(file, range) => self.send_file(out, &file, range, access).await,
            Whole::Growing(reader) => self.grow(out, reader, &mut frames, access).await,
            Whole::Other(body) => self.stream(out, body, &mut frames, access).await,
        }
    }

    async fn send_file(
        &mut self,
        out: &mut Vec<u8>,
        file: &Source,
        range: Range<u64>,
        access: &mut Access,
    ) -> io::Result<()> {
        let len = range.end - range.start;
        if len <= SMALL {
            // One call less.
            let begin = out.len();
            out.resize(begin + usize::try_from(len).unwrap_or_default(), 0);
            read_at(file.as_file(), &mut out[begin..], range.start)?;
            self.write_all(out, &[]).await?;
            access.sent(len);
            return Ok(());
        }
        self.write_more(out).await?;
        self.send_part(file, range, access).await
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    async fn send_part(&mut self, file: &Source, range: Range<u64>, access: &mut Access) -> io::Result<()> {
        let mut at = range.start;
        while at < range.end {
            let sent = self.send_piece(file.as_file(), at, (range.end - at).min(PIECE)).await?;
            if sent == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            at += sent;
            access.sent(sent);
            tokio::task::coop::consume_budget().await;
        }
        Ok(())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    async fn send_part(&mut self, file: &Source, range: Range<u64>, access: &mut Access) -> io::Result<()> {
        let mut frames = Frames { is_chunked: false, left: Some(range.end - range.start) };
        self.stream(&[], Body::of_source(file.clone(), range), &mut frames, access).await
    }

    /// A file that grows, as it does.
    async fn grow(
        &mut self,
        head: &[u8],
        mut reader: Reader,
        frames: &mut Frames,
        access: &mut Access,
    ) -> io::Result<()> {
        // Who waits for the first byte is told at once that it will come.
        self.write_all(head, &[]).await?;
        loop {
            match reader.piece().await {
                Ok(Some(Piece::Bytes(bytes))) => self.write_frame(&bytes, frames, access).await?,
                Ok(Some(Piece::File(file, range))) => {
                    let len = range.end - range.start;
                    let begin = frames.begin(len)?;
                    self.write_all(begin.as_bytes(), &[]).await?;
                    self.send_part(&Source::Disk(file), range, access).await?;
                    self.write_all(frames.end(), &[]).await?;
                }
                Ok(None) => return self.write_all(frames.last()?, &[]).await,
                Err(error) => return Err(broken(error)),
            }
        }
    }

    async fn write_frame(
        &mut self,
        bytes: &[u8],
        frames: &mut Frames,
        access: &mut Access,
    ) -> io::Result<()> {
        let begin = frames.begin(bytes.len() as u64)?;
        self.write_all(begin.as_bytes(), bytes).await?;
        self.write_all(frames.end(), &[]).await?;
        access.sent(bytes.len() as u64);
        Ok(())
    }

    /// Writes a head that a file follows, so that both may be in one packet.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    async fn write_more(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        use rustix::net::{SendFlags, send};

        while !bytes.is_empty() {
            let stream = self.stream;
            let sent =
                self.write_with(|| Ok(send(stream, bytes, SendFlags::MORE | SendFlags::NOSIGNAL)?)).await?;
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    async fn write_more(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes, &[]).await
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    async fn send_piece(&mut self, file: &File, at: u64, len: u64) -> io::Result<u64> {
        let stream = self.stream;
        // At most a piece.
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let sent = self
            .write_with(|| {
                let mut at = at;
                Ok(rustix::fs::sendfile(stream, file, Some(&mut at), len)?)
            })
            .await?;
        Ok(sent as u64)
    }

    /// Frames as they come.
    async fn stream(
        &mut self,
        head: &[u8],
        body: Body,
        frames: &mut Frames,
        access: &mut Access,
    ) -> io::Result<()> {
        self.write_all(head, &[]).await?;
        let mut body = std::pin::pin!(body);
        while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            let mut bytes = frame.map_err(broken)?.into_data().unwrap_or_default();
            // More than was told would be taken for the next answer.
            bytes.truncate(frames.room());
            if !bytes.is_empty() {
                self.write_frame(&bytes, frames, access).await?;
            }
        }
        self.write_all(frames.last()?, &[]).await
    }

    async fn write_all(&mut self, mut first: &[u8], mut second: &[u8]) -> io::Result<()> {
        while !(first.is_empty() && second.is_empty()) {
            let stream = self.stream;
            let sent = if second.is_empty() {
                self.write_with(|| stream.try_write(first)).await?
            } else {
                let both = [IoSlice::new(first), IoSlice::new(second)];
                self.write_with(|| stream.try_write_vectored(&both)).await?
            };
            if sent == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            let of_first = sent.min(first.len());
            first = &first[of_first..];
            second = &second[sent - of_first..];
        }
        Ok(())
    }

    /// Tries to write until something was written, or the client has taken nothing for too long.
    async fn write_with(&mut self, mut write: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match self.stream.try_io(tokio::io::Interest::WRITABLE, &mut write) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => return result,
            }
            self.patience.renew(self.timeout);
            let (stream, patience) = (self.stream, &mut *self.patience);
            poll_fn(|cx| {
                if let Poll::Ready(result) = stream.poll_write_ready(cx) {
                    return Poll::Ready(result);
                }
                patience.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
            })
            .await?;
        }
    }
}

/// The end of an answer whose body fails.
fn broken(error: Error) -> io::Error {
    Access::broken(&error);
    io::Error::other(error)
}

/// What is around the bytes of a body whose length is told, or of which each piece has its length in front.
struct Frames {
    is_chunked: bool,
    /// Bytes that were told and are still to come.
    left: Option<u64>,
}

impl Frames {
    /// What goes in front of so many bytes.
    fn begin(&mut self, len: u64) -> io::Result<String> {
        if self.is_chunked {
            return Ok(format!("{len:x}\r\n"));
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(len).ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(String::new())
    }

    /// How many bytes may still come.
    fn room(&self) -> usize {
        match self.left {
            Some(left) if !self.is_chunked => usize::try_from(left).unwrap_or(usize::MAX),
            _ => usize::MAX,
        }
    }

    /// What goes behind them.
    fn end(&self) -> &'static [u8] {
        if self.is_chunked { b"\r\n" } else { b"" }
    }

    /// What goes behind all of them, if they are all.
    fn last(&self) -> io::Result<&'static [u8]> {
        match self.left {
            _ if self.is_chunked => Ok(b"0\r\n\r\n"),
            Some(left) if left > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(b""),
        }
    }
}

/// A body as far as it is known before it is read.
pub(in super::super) enum Whole {
    Bytes(Bytes),
    File(Source, Range<u64>),
    Growing(Reader),
    Other(Body),
}
