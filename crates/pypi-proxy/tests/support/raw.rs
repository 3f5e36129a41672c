//! Server with protocol faults: wrong lengths, stalls and aborted connections.

use std::io::{Read as _, Write as _};
use std::net::ToSocketAddrs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Recorder;
use super::listener::TestListener;
use super::proxy::TIMEOUT;

/// Step of a response. The connection is closed after the last one.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Bytes),
    Wait(Duration),
    /// Wait forever.
    Stall,
    /// Abort the connection instead of closing it.
    Reset,
}

/// A request: its path, its header in lower case, and the number of earlier requests for this path.
#[derive(Clone, Debug)]
pub(crate) struct RawRequest {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) nth: usize,
}

impl RawRequest {
    /// First requested byte; 0 without a range.
    pub(crate) fn from(&self) -> usize {
        let Some((_, rest)) = self.head.split_once("\r\nrange: bytes=") else { return 0 };
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap();
        rest[..digits].parse().unwrap_or(0)
    }
}

/// Upstream that a test controls byte by byte.
pub(crate) type Raw = Recorder<RawRequest>;

impl Raw {
    pub(crate) async fn start(response: impl Fn(&RawRequest) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let requests: Arc<Mutex<Vec<RawRequest>>> = Arc::default();
        let (response, seen) = (Arc::new(response), requests.clone());
        let accepting = TestListener::start(move |stream| {
            let (response, seen) = (response.clone(), seen.clone());
            async move {
                let _ = serve(stream, &seen, &*response).await;
            }
        })
        .await;
        Self { accepting, requests }
    }

    /// Number of requests for this path.
    pub(crate) fn count(&self, path: &str) -> usize {
        self.requests.lock().unwrap().iter().filter(|request| request.path == path).count()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<RawRequest>>,
    response: &(dyn Fn(&RawRequest) -> Vec<Step> + Send + Sync),
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = {
        let mut seen = seen.lock().unwrap();
        let nth = seen.iter().filter(|request| request.path == path).count();
        seen.push(RawRequest { path, head, nth });
        seen.last().unwrap().clone()
    };
    for step in response(&request) {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Stall => std::future::pending().await,
            Step::Reset => {
                // Let the sent bytes arrive before the reset.
                tokio::time::sleep(Duration::from_millis(30)).await;
                stream.set_zero_linger()?;
                return Ok(());
            }
        }
    }
    stream.shutdown().await
}

/// Header of a response.
pub(crate) fn head(status: &str, headers: &[(&str, &str)]) -> Step {
    let mut text = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    Step::Send((text + "\r\n").into())
}

/// A file in chunks of this size with pauses.
pub(crate) fn slow(content: &Bytes, chunk: usize, pause: Duration) -> Vec<Step> {
    let mut steps = vec![head("200 OK", &[("content-length", &content.len().to_string())])];
    for chunk in content.chunks(chunk) {
        steps.extend([Step::Send(Bytes::copy_from_slice(chunk)), Step::Wait(pause)]);
    }
    steps
}

/// Sends chunks on a new connection. Returns what the server sends until it closes the connection.
pub(crate) fn exchange(address: impl ToSocketAddrs, chunks: &[&[u8]]) -> Vec<u8> {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    send(&mut stream, chunks);
    received(stream)
}

/// Like [`exchange`], but closes the sending side after the last chunk.
pub(crate) fn exchange_all(address: impl ToSocketAddrs, chunks: &[&[u8]]) -> Vec<u8> {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    send(&mut stream, chunks);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    received(stream)
}

fn send(stream: &mut std::net::TcpStream, chunks: &[&[u8]]) {
    stream.set_nodelay(true).unwrap();
    // The server may have rejected an earlier chunk and closed the connection.
    let _ = chunks.iter().try_for_each(|chunk| stream.write_all(chunk));
}

fn received(mut stream: std::net::TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut read = Vec::new();
    if let Err(error) = stream.read_to_end(&mut read) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the connection stays open");
    }
    read
}

/// A complete response.
pub(crate) fn reply(status: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Vec<Step> {
    let body = body.into();
    let len = body.len().to_string();
    let mut all = headers.to_vec();
    all.push(("content-length", &len));
    vec![head(status, &all), Step::Send(body)]
}
