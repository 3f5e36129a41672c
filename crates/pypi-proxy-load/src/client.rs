//! HTTP client for single requests: the response, and when its first and last byte arrived.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime;

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Media type of project pages.
pub(crate) const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// Header of a request.
pub(crate) type Header = (&'static str, String);

/// Returns an `Accept` header.
pub(crate) fn accept(kind: &str) -> Header {
    ("Accept", kind.to_owned())
}

/// Response to a request, with its body still compressed.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// When the first and the last byte of the body arrived, counted from the start of the connection.
    pub(crate) first: Duration,
    pub(crate) last: Duration,
}

impl Response {
    /// Returns a header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the bytes of the whole response, without the framing of chunks.
    pub(crate) fn wire_len(&self) -> usize {
        let reason =
            hyper::StatusCode::from_u16(self.status).ok().and_then(|status| status.canonical_reason());
        let headers = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
        "HTTP/1.1 200 \r\n\r\n".len() + reason.map_or(0, str::len) + headers.sum::<usize>() + self.body.len()
    }
}

/// Sends a request on a new connection.
pub(crate) fn request(address: SocketAddr, method: &str, path: &str, headers: &[Header]) -> Result<Response> {
    let mut body = Vec::new();
    let response = exchange(address, method, path, headers, |part| body.extend_from_slice(part))?;
    Ok(Response { body, ..response })
}

/// Requests a path and fails if the status is not 200.
pub(crate) fn get(address: SocketAddr, path: &str, headers: &[Header]) -> Result<Response> {
    let response = request(address, "GET", path, headers)?;
    ensure!(response.status == 200, "{path}: status {}", response.status);
    Ok(response)
}

/// Downloads a file and compares it with its content as it arrives. The response has no body.
pub(crate) fn download(address: SocketAddr, path: &str, content: &[u8]) -> Result<Response> {
    let (mut at, mut is_same) = (0, true);
    let response = exchange(address, "GET", path, &[], |bytes| {
        is_same &= content.get(at..at + bytes.len()) == Some(bytes);
        at += bytes.len();
    })?;
    ensure!(response.status == 200, "{path}: status {}", response.status);
    ensure!(is_same && at == content.len(), "{path}: the bytes differ from those of the index");
    Ok(response)
}

fn exchange(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[Header],
    mut sink: impl FnMut(&[u8]),
) -> Result<Response> {
    let mut request = Request::builder().method(method).uri(path).header("Host", address.to_string());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    // Without `Connection: close`, the headers of the response are those that a load generator receives.
    let request = request.body(Empty::<Bytes>::new())?;
    let exchange = async {
        let start = Instant::now();
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut response = sender.send_request(request).await?;
        let mut first = None;
        while let Some(frame) = response.frame().await {
            if let Ok(data) = frame.context("incomplete response")?.into_data() {
                first.get_or_insert_with(|| start.elapsed());
                sink(&data);
            }
        }
        let last = start.elapsed();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        anyhow::Ok(Response { status, headers, body: Vec::new(), first: first.unwrap_or(last), last })
    };
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(async { tokio::time::timeout(TIMEOUT, exchange).await });
    result.context("timeout").and_then(|response| response).with_context(|| format!("{method} {path}"))
}
