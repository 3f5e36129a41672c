//! The local index that all servers use as their upstream: an HTTP server in this process that counts requests.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::data::{self, Data};

/// Rate limit of slow files in bytes per second, shared by all connections.
pub(crate) const SLOW: u64 = 30_000_000;

/// Maximum length of a request line or header.
const MAX_LINE: u64 = 16 << 10;

/// Bytes written at a time to a rate-limited response.
const CHUNK: u64 = 64 << 10;

#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dir: PathBuf,
    counts: Mutex<HashMap<String, usize>>,
    /// Time at which the next chunk of a slow file may be sent.
    next: Mutex<Instant>,
    /// The list of all names, generated on first use.
    all: Mutex<Option<Arc<String>>>,
}

impl Upstream {
    /// Serves requests in the background until the process ends.
    pub(crate) fn start(data: &Data) -> Result<Self> {
        let upstream = Self::listen(&data.dir)?;
        data.write_pages(&format!("http://{}", upstream.address))?;
        Ok(upstream)
    }

    /// Serves the files of a folder, including files added later, until the process ends.
    pub(crate) fn listen(dir: &Path) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("no port available for the index")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            dir: dir.to_owned(),
            counts: Mutex::default(),
            next: Mutex::new(Instant::now()),
            all: Mutex::default(),
        });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = serving.clone();
                // Errors are noticed by the server that sent the request.
                std::thread::spawn(move || shared.serve(&stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// Returns the URL of the index with the list of a large mirror.
    pub(crate) fn index(&self) -> String {
        format!("http://{}/simple/", self.address)
    }

    /// Returns the URL of the index with the list of all names.
    pub(crate) fn whole_index(&self) -> String {
        format!("http://{}/all/simple/", self.address)
    }

    /// Returns the number of GET requests for a path.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.shared.counts().get(path).copied().unwrap_or(0)
    }
}

/// Content of a path.
enum Content {
    /// The list of all names.
    List(Arc<String>),
    File {
        kind: &'static str,
        is_gzip: bool,
        is_slow: bool,
        path: PathBuf,
    },
}

const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// The relevant parts of a request.
#[derive(Default)]
struct Request {
    path: String,
    is_head: bool,
    is_last: bool,
    wants_json: bool,
    takes_gzip: bool,
    range: Option<(u64, Option<u64>)>,
    known: Option<String>,
}

impl Shared {
    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader)? {
            if !request.is_head {
                *self.counts().entry(request.path.clone()).or_default() += 1;
            }
            self.respond(stream, &request)?;
            if request.is_last {
                break;
            }
        }
        Ok(())
    }

    fn find(&self, request: &Request) -> Option<Content> {
        let path = request.path.split('?').next().unwrap_or_default();
        let (is_slow, folder) = match path.strip_prefix("/slow/") {
            Some(file) => (true, Some(file)),
            None => (false, path.strip_prefix("/files/")),
        };
        if let Some(file) = folder {
            let path = self.dir.join("files").join(file);
            let is_plain = !file.contains('/') && !file.starts_with('.');
            let file = Content::File { kind: "application/octet-stream", is_gzip: false, is_slow, path };
            return is_plain.then_some(file);
        }
        let (end, kind) = if request.wants_json { ("json", JSON) } else { ("html", "text/html") };
        let (is_whole, path) = match path.strip_prefix("/all") {
            Some(path) => (true, path),
            None => (false, path),
        };
        let name = path.trim_end_matches('/').strip_prefix("/simple")?;
        if name.is_empty() && is_whole {
            let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
            let make = || Arc::new(data::json_list(&data::names(data::ALL_NAMES)));
            return Some(Content::List(all.get_or_insert_with(make).clone()));
        }
        let name = if name.is_empty() { "list" } else { name.trim_start_matches('/') };
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_gzip = request.takes_gzip;
        let path = self.dir.join(format!("{name}.{end}{}", if is_gzip { ".gz" } else { "" }));
        is_plain.then_some(Content::File { kind, is_gzip, is_slow: false, path })
    }

    fn respond(&self, mut stream: &TcpStream, request: &Request) -> io::Result<()> {
        let is_present =
            |content: &Content| !matches!(content, Content::File { path, .. } if !path.is_file());
        let Some(content) = self.find(request).filter(is_present) else {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        };
        let (kind, is_gzip, len) = match &content {
            Content::List(list) => (JSON, false, list.len() as u64),
            Content::File { kind, is_gzip, path, .. } => (*kind, *is_gzip, path.metadata()?.len()),
        };
        let tag = format!("\"{len}-{}\"", u8::from(is_gzip));
        if request.known.as_deref() == Some(&tag) {
            return write!(stream, "HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n");
        }
        let range = request.range.map(|(start, end)| (start, end.map_or(len, |end| len.min(end + 1))));
        let range = range.filter(|(start, end)| start < end);
        let (start, end) = range.unwrap_or((0, len));
        let mut head = match range {
            Some(_) => {
                format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{}/{len}\r\n", end - 1)
            }
            None => "HTTP/1.1 200 OK\r\n".to_owned(),
        };
        head += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\nETag: {tag}\r\n", end - start);
        head += "Cache-Control: max-age=600, public\r\nAccept-Ranges: bytes\r\n";
        head += "Last-Modified: Sun, 01 Jun 2025 12:34:56 GMT\r\n";
        if kind != "application/octet-stream" {
            head += "Vary: Accept, Accept-Encoding\r\n";
        }
        if is_gzip {
            head += "Content-Encoding: gzip\r\n";
        }
        stream.write_all((head + "\r\n").as_bytes())?;
        if request.is_head {
            return Ok(());
        }
        match content {
            Content::List(list) => stream.write_all(list.as_bytes()),
            Content::File { path, is_slow, .. } => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(start))?;
                let mut left = end - start;
                while left > 0 {
                    let count = if is_slow { left.min(CHUNK) } else { left };
                    if is_slow {
                        self.wait_for(count);
                    }
                    let sent = io::copy(&mut (&file).take(count), &mut stream)?;
                    if sent == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    left -= sent;
                }
                Ok(())
            }
        }
    }

    /// Waits until `count` more bytes may be sent.
    #[allow(clippy::disallowed_methods, reason = "each connection has its own thread")]
    fn wait_for(&self, count: u64) {
        let at = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let at = (*next).max(Instant::now());
            *next = at + Duration::from_nanos(count * 1_000_000_000 / SLOW);
            at
        };
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
    }
}

/// Reads the next request of a connection. Returns `None` at its end.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    let mut request = Request::default();
    let mut next = |line: &mut String| {
        line.clear();
        reader.by_ref().take(MAX_LINE).read_line(line)
    };
    if next(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    request.is_head = words.next() == Some("HEAD");
    request.path = words.next().unwrap_or_default().to_owned();
    request.is_last = words.next().is_some_and(|version| version.trim() == "HTTP/1.0");
    loop {
        if next(&mut line)? == 0 {
            return Ok(None);
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "accept" => request.wants_json = value.contains("json"),
            "accept-encoding" => request.takes_gzip = value.contains("gzip"),
            "connection" => request.is_last = value.eq_ignore_ascii_case("close"),
            "if-none-match" => request.known = Some(value.to_owned()),
            "range" => {
                let range = value.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
                request.range = range.and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok())));
            }
            _ => {}
        }
    }
    Ok(Some(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelined_requests_are_read() {
        let wire = b"GET /simple/ HTTP/1.1\r\nAccept: x+json;q=1\r\nACCEPT-ENCODING: gzip, br\r\n\r\n\
                     HEAD /files/x HTTP/1.1\r\nRange: bytes=5-\r\nConnection: Close\r\nIf-None-Match: \"1\"\r\n\r\nGET";
        let mut reader = &wire[..];
        let first = read_request(&mut reader).unwrap().unwrap();
        assert!(first.path == "/simple/" && first.wants_json && first.takes_gzip && !first.is_last);
        let second = read_request(&mut reader).unwrap().unwrap();
        assert!(second.is_head && second.is_last && !second.wants_json);
        assert_eq!((second.range, second.known.as_deref()), (Some((5, None)), Some("\"1\"")));
        assert!(read_request(&mut reader).unwrap().is_none(), "the rest is no request");
    }
}
