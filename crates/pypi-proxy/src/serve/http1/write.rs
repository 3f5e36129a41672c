//! Writes responses (RFC 9112, sections 4 to 7).

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

use super::super::access::RequestTracker;
use super::super::body::{FileHandle, ResponseBody};
use super::super::listener::Socket;
use super::super::message::{ProxyResponse, Value};
use super::connection::Deadline;
use crate::Error;
use crate::store::{FileChunk, Reader, read_at};

/// Maximum size of a body that is sent in one write with the header.
const INLINE_MAX: u64 = 16 * 1024;
/// Maximum bytes per `sendfile` call, because other connections wait while it reads from a disk.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SENDFILE_MAX: u64 = 1024 * 1024;

/// Cached value of the header `Date`.
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
    // Writing to a vector can't fail.
    let _ = out.write_fmt(text);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    /// No body, or `Content-Length` is already among the header fields.
    Implicit,
    Length(u64),
    Chunked,
}

fn framing(response: &ProxyResponse, is_head: bool) -> Framing {
    let is_empty =
        is_head || response.status == StatusCode::NOT_MODIFIED || response.status == StatusCode::NO_CONTENT;
    if is_empty || response.get(&CONTENT_LENGTH).is_some() {
        return Framing::Implicit;
    }
    response.body.size_hint().exact().map_or(Framing::Chunked, Framing::Length)
}

fn write_head(
    out: &mut Vec<u8>,
    response: &ProxyResponse,
    framing: Framing,
    keep_alive: bool,
    clock: &mut Clock,
) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(response.status.as_str().as_bytes());
    out.push(b' ');
    let reason = response.reason.or(response.status.canonical_reason());
    out.extend_from_slice(reason.unwrap_or_default().as_bytes());
    for (name, value) in &response.fields {
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        match value {
            Value::Static(text) => out.extend_from_slice(text.as_bytes()),
            Value::Shared(value) => out.extend_from_slice(value.as_bytes()),
            Value::Number(number) => put(out, format_args!("{number}")),
            Value::Date(time) => put(out, format_args!("{}", httpdate::HttpDate::from(*time))),
        }
    }
    match framing {
        Framing::Implicit => {}
        Framing::Length(len) => {
            out.extend_from_slice(b"\r\ncontent-length: ");
            put(out, format_args!("{len}"));
        }
        Framing::Chunked => out.extend_from_slice(b"\r\ntransfer-encoding: chunked"),
    }
    if !keep_alive {
        out.extend_from_slice(b"\r\nconnection: close");
    }
    out.extend_from_slice(b"\r\ndate: ");
    out.extend_from_slice(clock.now());
    out.extend_from_slice(b"\r\n\r\n");
}

/// State of the output of a connection, reused between responses.
pub(super) struct Output {
    pub(super) deadline: Deadline,
    pub(super) timeout: Duration,
    pub(super) buffer: Vec<u8>,
    pub(super) clock: Clock,
}

impl Output {
    /// Writes a response. After an error the connection must be closed, so that the client detects the truncated
    /// response.
    pub(super) async fn write(
        &mut self,
        stream: &Socket,
        response: ProxyResponse,
        (is_head, keep_alive): (bool, bool),
        tracker: &mut RequestTracker,
    ) -> io::Result<()> {
        let framing = framing(&response, is_head);
        let mut out = std::mem::take(&mut self.buffer);
        out.clear();
        write_head(&mut out, &response, framing, keep_alive, &mut self.clock);
        let body = response.body;
        let framing =
            BodyFraming { is_chunked: framing == Framing::Chunked, remaining: body.size_hint().exact() };
        let mut writer = Writer { stream, output: self, tracker, framing };
        let result = writer.send(&mut out, body).await;
        self.buffer = out;
        if result.is_ok() {
            tracker.finish();
        }
        result
    }
}

struct Writer<'c> {
    stream: &'c Socket,
    output: &'c mut Output,
    tracker: &'c mut RequestTracker,
    framing: BodyFraming,
}

impl Writer<'_> {
    async fn send(&mut self, out: &mut Vec<u8>, body: ResponseBody) -> io::Result<()> {
        match body.into_source() {
            BodySource::Bytes(bytes) => {
                let len = bytes.len() as u64;
                if len <= INLINE_MAX {
                    out.extend_from_slice(&bytes);
                    self.write_all(out, &[]).await?;
                } else {
                    self.write_all(out, &bytes).await?;
                }
                self.tracker.add_sent(len);
                Ok(())
            }
            BodySource::File(file, range) => self.send_file(out, &file, range).await,
            BodySource::Growing(reader) => self.grow(out, reader).await,
            BodySource::Stream(body) => self.stream(out, body).await,
        }
    }

    async fn send_file(&mut self, out: &mut Vec<u8>, file: &FileHandle, range: Range<u64>) -> io::Result<()> {
        let len = range.end - range.start;
        if len <= INLINE_MAX {
            // Saves a system call.
            let begin = out.len();
            out.resize(begin + usize::try_from(len).unwrap_or_default(), 0);
            read_at(file.as_file(), &mut out[begin..], range.start)?;
            self.write_all(out, &[]).await?;
            self.tracker.add_sent(len);
            return Ok(());
        }
        self.write_more(out).await?;
        self.send_part(file, range).await
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    async fn send_part(&mut self, file: &FileHandle, range: Range<u64>) -> io::Result<()> {
        let mut at = range.start;
        while at < range.end {
            let sent = self.send_chunk(file.as_file(), at, (range.end - at).min(SENDFILE_MAX)).await?;
            if sent == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            at += sent;
            self.tracker.add_sent(sent);
            tokio::task::coop::consume_budget().await;
        }
        Ok(())
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    async fn send_part(&mut self, file: &FileHandle, range: Range<u64>) -> io::Result<()> {
        let mut body = std::pin::pin!(ResponseBody::from_handle(file.clone(), range));
        while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            let bytes = frame.map_err(body_error)?.into_data().unwrap_or_default();
            self.write_all(&bytes, &[]).await?;
            self.tracker.add_sent(bytes.len() as u64);
        }
        Ok(())
    }

    /// Sends a file while it is being downloaded.
    async fn grow(&mut self, head: &[u8], mut reader: Reader) -> io::Result<()> {
        // Send the header at once: the first byte of the body may take a while.
        self.write_all(head, &[]).await?;
        loop {
            match reader.next_chunk().await {
                Ok(Some(FileChunk::Bytes(bytes))) => self.write_frame(&bytes).await?,
                Ok(Some(FileChunk::File(file, range))) => {
                    let len = range.end - range.start;
                    let begin = self.framing.begin(len)?;
                    self.write_all(begin.as_bytes(), &[]).await?;
                    self.send_part(&FileHandle::Disk(file), range).await?;
                    self.write_all(self.framing.end(), &[]).await?;
                }
                Ok(None) => return self.write_all(self.framing.finish()?, &[]).await,
                Err(error) => return Err(body_error(error)),
            }
        }
    }

    async fn write_frame(&mut self, bytes: &[u8]) -> io::Result<()> {
        let begin = self.framing.begin(bytes.len() as u64)?;
        self.write_all(begin.as_bytes(), bytes).await?;
        self.write_all(self.framing.end(), &[]).await?;
        self.tracker.add_sent(bytes.len() as u64);
        Ok(())
    }

    /// Writes a header before a file, with `MSG_MORE` so that both can share a packet.
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
    async fn send_chunk(&mut self, file: &File, at: u64, len: u64) -> io::Result<u64> {
        let stream = self.stream;
        // At most `SENDFILE_MAX`.
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let sent = self
            .write_with(|| {
                let mut at = at;
                Ok(rustix::fs::sendfile(stream, file, Some(&mut at), len)?)
            })
            .await?;
        Ok(sent as u64)
    }

    /// Sends the frames of a body as they arrive.
    async fn stream(&mut self, head: &[u8], body: ResponseBody) -> io::Result<()> {
        self.write_all(head, &[]).await?;
        let mut body = std::pin::pin!(body);
        while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            let mut bytes = frame.map_err(body_error)?.into_data().unwrap_or_default();
            // The client would take excess bytes for the next response.
            bytes.truncate(self.framing.capacity());
            if !bytes.is_empty() {
                self.write_frame(&bytes).await?;
            }
        }
        self.write_all(self.framing.finish()?, &[]).await
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

    /// Retries a write until it makes progress, or fails with `TimedOut` when the deadline passes.
    async fn write_with(&mut self, mut write: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match self.stream.try_write_io(&mut write) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => return result,
            }
            self.output.deadline.extend(self.output.timeout);
            let (stream, deadline) = (self.stream, &mut self.output.deadline);
            poll_fn(|cx| {
                if let Poll::Ready(result) = stream.poll_write_ready(cx) {
                    return Poll::Ready(result);
                }
                deadline.poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
            })
            .await?;
        }
    }
}

/// Logs the error of a body and converts it.
fn body_error(error: Error) -> io::Error {
    RequestTracker::log_error(&error);
    io::Error::other(error)
}

/// Adds chunk headers, or checks the number of bytes against `Content-Length`.
struct BodyFraming {
    is_chunked: bool,
    /// Remaining bytes of `Content-Length`.
    remaining: Option<u64>,
}

impl BodyFraming {
    /// Returns the bytes before a chunk of this length.
    fn begin(&mut self, len: u64) -> io::Result<String> {
        if self.is_chunked {
            return Ok(format!("{len:x}\r\n"));
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.checked_sub(len).ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(String::new())
    }

    /// Returns the maximum number of bytes that may still be sent.
    fn capacity(&self) -> usize {
        match self.remaining {
            Some(remaining) if !self.is_chunked => usize::try_from(remaining).unwrap_or(usize::MAX),
            _ => usize::MAX,
        }
    }

    /// Returns the bytes after a chunk.
    fn end(&self) -> &'static [u8] {
        if self.is_chunked { b"\r\n" } else { b"" }
    }

    /// Returns the bytes at the end of the body. Fails if the body is incomplete.
    fn finish(&self) -> io::Result<&'static [u8]> {
        match self.remaining {
            _ if self.is_chunked => Ok(b"0\r\n\r\n"),
            Some(remaining) if remaining > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(b""),
        }
    }
}

/// A body in the form in which it is sent.
pub(in super::super) enum BodySource {
    Bytes(Bytes),
    File(FileHandle, Range<u64>),
    Growing(Reader),
    Stream(ResponseBody),
}
