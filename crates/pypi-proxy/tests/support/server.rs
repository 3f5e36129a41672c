//! The upstream of all tests: an HTTP server on loopback whose responses a test controls byte by byte.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use pypi_proxy::ByteRange;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::proxy::TIMEOUT;

/// Step of a response. The connection is closed after the last one.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Bytes),
    Wait(Duration),
    Gate(Arc<Semaphore>),
    Stall,
    /// Abort the connection instead of closing it.
    Reset,
    /// As the last step: wait for the next request on this connection.
    KeepAlive,
}

/// A request: its path and headers, and the number of earlier requests for this path.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) nth: usize,
}

impl Request {
    fn parse(head: &[u8], earlier: &[Self]) -> Self {
        let mut fields = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut fields);
        assert!(request.parse(head).unwrap().is_complete());
        let header = |field: &httparse::Header<'_>| {
            let name = HeaderName::from_bytes(field.name.as_bytes()).unwrap();
            (name, HeaderValue::from_bytes(field.value).unwrap())
        };
        let path = request.path.unwrap();
        // A client of an HTTP proxy sends a whole URL.
        let path =
            path.strip_prefix("http://").map_or(path, |rest| &rest[rest.find('/').unwrap()..]).to_owned();
        let nth = earlier.iter().filter(|request| request.path == path).count();
        let method = request.method.unwrap().to_owned();
        Self { method, path, nth, headers: request.headers.iter().map(header).collect() }
    }

    /// Returns the project of a request for its page: the last segment of the path.
    pub(crate) fn project(&self) -> &str {
        self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }

    /// Returns the value of a header; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the requested range of a file, `None` for the whole file.
    fn range(&self, len: usize) -> Option<Range<usize>> {
        match ByteRange::parse(self.header("range"), len as u64) {
            ByteRange::Part { start, end } => {
                Some(usize::try_from(start).unwrap()..usize::try_from(end).unwrap())
            }
            _ => None,
        }
    }

    /// First requested byte of a file; 0 without a range.
    pub(crate) fn from(&self, len: usize) -> usize {
        self.range(len).map_or(0, |range| range.start)
    }
}

/// An upstream that records its requests. Dropping it closes the listener and all connections.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: watch::Sender<()>,
}

impl Server {
    /// Responds to every request with these steps.
    pub(crate) fn start(response: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start_async(move |request| std::future::ready(response(&request)))
    }

    pub(crate) fn start_async<A>(response: impl Fn(Request) -> A + Send + Sync + 'static) -> Self
    where
        A: Future<Output = Vec<Step>> + Send + 'static,
    {
        let (listener, address) = listen();
        let (stop, mut stopped) = watch::channel(());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (response, seen) = (Arc::new(response), requests.clone());
        tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = tokio::select! {
                    _ = stopped.changed() => break,
                    // Otherwise ended connections would remain in memory.
                    Some(_) = connections.join_next() => continue,
                    accepted = listener.accept() => accepted.unwrap(),
                };
                let (response, seen) = (response.clone(), seen.clone());
                connections.spawn(async move {
                    let _ = serve(stream, &seen, &*response).await;
                });
            }
            drop(listener);
            connections.shutdown().await;
        });
        Self { address, requests, stop }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub(crate) fn count_of(&self, path: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|request| request.path == path).count()
    }

    /// Forgets the requests so far.
    pub(crate) fn clear(&self) {
        self.requests.lock().unwrap().clear();
    }

    pub(crate) fn last(&self) -> HeaderMap {
        self.requests().pop().unwrap().headers
    }

    /// Closes the listener and all connections, and waits until that is done.
    pub(crate) async fn stop(&self) {
        self.stop.send_replace(());
        self.stop.closed().await;
    }
}

async fn serve<A: Future<Output = Vec<Step>>>(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    response: &impl Fn(Request) -> A,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut is_kept = true;
    while is_kept {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_buf(&mut head).await? == 0 {
                return Ok(());
            }
        }
        let request = {
            let mut seen = seen.lock().unwrap();
            let request = Request::parse(&head, &seen);
            seen.push(request.clone());
            request
        };
        is_kept = false;
        for step in response(request).await {
            match step {
                Step::Send(bytes) => stream.write_all(&bytes).await?,
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Gate(gate) => gate.acquire().await.unwrap().forget(),
                Step::Stall => std::future::pending().await,
                Step::Reset => {
                    // Let the sent bytes arrive before the reset.
                    tokio::time::sleep(Duration::from_millis(30)).await;
                    return stream.set_zero_linger();
                }
                Step::KeepAlive => is_kept = true,
            }
        }
    }
    stream.shutdown().await
}

/// Listens on a free port of this machine. Returns the address as well.
pub(crate) fn listen() -> (TcpListener, SocketAddr) {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    (TcpListener::from_std(listener).unwrap(), address)
}

fn header(status: u16, headers: &[(&str, &str)]) -> String {
    let mut text = format!("HTTP/1.1 {status} x\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    text
}

/// Header of a response, after which the connection is closed.
pub(crate) fn head(status: u16, headers: &[(&str, &str)]) -> Step {
    Step::Send((header(status, headers) + "connection: close\r\n\r\n").into())
}

pub(crate) fn respond(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Vec<Step> {
    let body = body.into();
    let head = header(status, headers) + &format!("content-length: {}\r\n\r\n", body.len());
    vec![Step::Send(head.into()), Step::Send(body), Step::KeepAlive]
}

/// Responds with the requested range of a file, or the whole file.
pub(crate) fn ranged(request: &Request, headers: &[(&str, &str)], content: &Bytes) -> Vec<Step> {
    let len = content.len();
    let Some(range) = request.range(len) else { return respond(200, headers, content.clone()) };
    let place = format!("bytes {}-{}/{len}", range.start, range.end - 1);
    respond(206, &[headers, &[("content-range", &place)]].concat(), content.slice(range))
}

/// Sends a response in chunks of this size with a pause after each.
pub(crate) fn slowly(response: Vec<Step>, chunk: usize, pause: Duration) -> Vec<Step> {
    let mut steps = Vec::new();
    for step in response {
        let Step::Send(bytes) = step else {
            steps.push(step);
            continue;
        };
        for part in bytes.chunks(chunk) {
            steps.extend([Step::Send(bytes.slice_ref(part)), Step::Wait(pause)]);
        }
    }
    steps
}

/// A file in chunks of this size with pauses.
pub(crate) fn slow(content: &Bytes, chunk: usize, pause: Duration) -> Vec<Step> {
    slowly(respond(200, &[], content.clone()), chunk, pause)
}

/// Sends chunks on a new connection. Returns what the server sends until it closes the connection.
pub(crate) fn exchange(address: impl ToSocketAddrs, chunks: &[&[u8]]) -> Vec<u8> {
    exchange_with(address, chunks, false)
}

/// Like [`exchange`], but closes the sending side after the last chunk.
pub(crate) fn exchange_all(address: impl ToSocketAddrs, chunks: &[&[u8]]) -> Vec<u8> {
    exchange_with(address, chunks, true)
}

fn exchange_with(address: impl ToSocketAddrs, chunks: &[&[u8]], closes: bool) -> Vec<u8> {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    // The server may have rejected an earlier chunk and closed the connection.
    let _ = chunks.iter().try_for_each(|chunk| stream.write_all(chunk));
    if closes {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut read = Vec::new();
    if let Err(error) = stream.read_to_end(&mut read) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the connection stays open");
    }
    read
}
