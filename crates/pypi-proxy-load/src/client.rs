//! HTTP client for single requests: the response, and when its first and last byte arrived.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Timeout for connecting and for each read.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Response to a request, with its body still compressed.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Bytes of the status line and the headers.
    pub(crate) head_len: usize,
    /// Bytes on the wire, including headers and chunk framing.
    pub(crate) wire_len: usize,
    /// When the first and last byte of the body arrived, counted from the request.
    pub(crate) timing: Timing,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) first: Duration,
    pub(crate) last: Duration,
}

impl Response {
    /// Returns a header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Sends a request on a new connection.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
) -> Result<Response> {
    let mut body = Vec::new();
    let mut response = exchange(address, method, path, headers, |part| body.extend_from_slice(part))?;
    response.body = body;
    Ok(response)
}

/// Downloads a file. `sink` receives the bytes of the body as they arrive. Fails if the status is not 200, or the body
/// does not have the announced length.
pub(crate) fn download(address: SocketAddr, path: &str, sink: impl FnMut(&[u8])) -> Result<Timing> {
    let response = exchange(address, "GET", path, &[], sink)?;
    ensure!(response.status == 200, "{path}: status {}", response.status);
    Ok(response.timing)
}

/// Downloads a file and compares it with its content.
pub(crate) fn download_same(address: SocketAddr, path: &str, content: &[u8]) -> Result<Timing> {
    let (mut at, mut is_same) = (0, true);
    let timing = download(address, path, |bytes| {
        is_same &= content.get(at..at + bytes.len()) == Some(bytes);
        at += bytes.len();
    })?;
    ensure!(is_same && at == content.len(), "{path}: the bytes differ from those of the index");
    Ok(timing)
}

fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    sink: impl FnMut(&[u8]),
) -> Result<Response> {
    let start = Instant::now();
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_nodelay(true)?;
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    read(stream, method == "HEAD", start, sink).with_context(|| format!("{method} {path}"))
}

/// Reads a response until its body is complete.
fn read(
    mut stream: impl Read,
    is_head: bool,
    start: Instant,
    mut sink: impl FnMut(&[u8]),
) -> Result<Response> {
    let mut buffer = vec![0; 256 << 10];
    let mut head = Vec::new();
    let (head_len, rest) = loop {
        let count = stream.read(&mut buffer)?;
        ensure!(count > 0, "the response ends inside its headers");
        head.extend_from_slice(&buffer[..count]);
        if let Some(at) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            break (at + 4, head.split_off(at + 4));
        }
    };
    let (status, headers) = parse_head(&head)?;
    let has_body = !is_head && status != 304;
    let find = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let is_chunked = find("transfer-encoding").is_some_and(|value| value.contains("chunked"));
    let len: Option<usize> = find("content-length").map(str::parse).transpose()?;
    let len = if has_body { len.filter(|_| !is_chunked) } else { Some(0) };
    let (mut chunks, mut count, mut first, mut wire_len) = (Chunks::default(), 0, None, head_len);
    let mut take = |part: &[u8]| -> Result<bool> {
        wire_len += part.len();
        let decoded;
        let whole = if has_body && is_chunked {
            decoded = chunks.decode(part)?;
            &decoded
        } else {
            part
        };
        if !whole.is_empty() {
            first.get_or_insert_with(|| start.elapsed());
            count += whole.len();
            sink(whole);
        }
        Ok(chunks.is_done || len.is_some_and(|len| count >= len))
    };
    let mut is_whole = take(&rest)?;
    while !is_whole {
        let read = stream.read(&mut buffer).context("incomplete response")?;
        if read == 0 {
            break;
        }
        is_whole = take(&buffer[..read])?;
    }
    ensure!(len.is_none_or(|len| count == len), "received {count} bytes of {len:?}");
    ensure!(!has_body || !is_chunked || chunks.is_done, "the body ends after {count} bytes");
    let last = start.elapsed();
    let timing = Timing { first: first.unwrap_or(last), last };
    Ok(Response { status, headers, body: Vec::new(), head_len, wire_len, timing })
}

fn parse_head(head: &[u8]) -> Result<(u16, Vec<(String, String)>)> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status line")?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Ok((status.parse().with_context(|| format!("status {status:?}"))?, headers))
}

/// Decoder of the chunked transfer coding.
#[derive(Debug, Default)]
struct Chunks {
    line: Vec<u8>,
    left: usize,
    /// True if the line end after a chunk is expected.
    expects_line_end: bool,
    is_done: bool,
}

impl Chunks {
    fn decode(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        while !bytes.is_empty() && !self.is_done {
            if self.left > 0 {
                let (now, later) = bytes.split_at(self.left.min(bytes.len()));
                out.extend_from_slice(now);
                self.left -= now.len();
                self.expects_line_end = self.left == 0;
                bytes = later;
                continue;
            }
            let (byte, later) = (bytes[0], &bytes[1..]);
            bytes = later;
            if byte != b'\n' {
                self.line.push(byte);
                ensure!(self.line.len() < 100, "the chunk size is too long");
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if text.is_empty() && self.expects_line_end {
                self.expects_line_end = false;
                continue;
            }
            let Ok(len) = usize::from_str_radix(text.split(';').next().unwrap_or_default(), 16) else {
                bail!("invalid chunk size {text:?}");
            };
            self.left = len;
            self.is_done = len == 0;
        }
        Ok(out)
    }
}

/// Resolves a link on a page to a path on the same server.
pub(crate) fn resolve(page: &str, link: &str) -> String {
    let link = link.split('#').next().unwrap_or_default();
    if let Some((_, rest)) = link.split_once("://") {
        return rest.find('/').map_or("/".to_owned(), |at| rest[at..].to_owned());
    }
    if link.starts_with('/') {
        return link.to_owned();
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_can_be_split_anywhere() {
        let wire = b"5\r\nhello\r\n1;x=y\r\n \r\n6\r\nworld!\r\n0\r\n\r\n";
        for size in 1..wire.len() {
            let mut chunks = Chunks::default();
            let body: Vec<u8> = wire.chunks(size).flat_map(|part| chunks.decode(part).unwrap()).collect();
            assert_eq!(body, b"hello world!");
            assert!(chunks.is_done);
        }
    }

    #[test]
    fn truncated_responses_are_errors() {
        let read = |wire: &[u8]| {
            let mut body = Vec::new();
            read(wire, false, Instant::now(), |part| body.extend_from_slice(part)).map(|_| body)
        };
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
        assert_eq!(read(whole).unwrap(), b"abc");
        assert!(read(&whole[..whole.len() - 1]).is_err());
        assert!(read(&whole[..20]).is_err());
        let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
        assert!(read(chunked).is_err());
    }

    #[test]
    fn links_are_resolved() {
        assert_eq!(resolve("/simple/six/", "six.whl#sha256=00"), "/simple/six/six.whl");
        assert_eq!(resolve("/user/x/+simple/six/", "../../+f/six.whl"), "/user/x/+f/six.whl");
        assert_eq!(resolve("/simple/six/", "/files/six.whl"), "/files/six.whl");
        assert_eq!(resolve("/simple/six/", "http://127.0.0.1:1/files/six.whl"), "/files/six.whl");
    }
}
