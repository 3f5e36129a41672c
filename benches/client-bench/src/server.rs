//! Server of the rows: HTTP/1.1 on the loopback interface, on the same runtime as the client.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use benches::event_stream::{Input, Stop};

/// Body of most responses.
pub const STATUS: &str = r#"{"status": "ok"}"#;
/// Response to a request with a body.
pub const POSTED: &str = r#"{"id": "test-123", "status": "completed"}"#;
/// Repeated part of the large response.
pub const CHUNK: &str = "{\"chunk\": \"data\"}\n";
/// Number of repetitions, for the published 18 KB.
pub const CHUNKS: usize = 1024;

/// Response of the server to all requests.
#[derive(Debug, Clone)]
pub enum ServerResponse {
    /// [`STATUS`].
    Status,
    /// [`POSTED`], after reading the request body.
    Posted,
    /// 18,432 bytes without `Content-Length`, so chunked.
    Large,
    /// Same as [`Status`](Self::Status) if the request has the row's header, else 400.
    RequiresHeader,
    /// 429 and [`STATUS`] in turn.
    EverySecond(Arc<AtomicU64>),
    /// An event stream, one frame per chunk of the input.
    Events(Input),
}

impl ServerResponse {
    /// Creates an [`EverySecond`](Self::EverySecond) response.
    pub fn every_second() -> Self {
        Self::EverySecond(Arc::default())
    }
}

/// A running server. It ends with its runtime.
#[derive(Debug, Clone)]
pub struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicU64>,
}

impl Server {
    /// Binds a port. The server responds after `connections` connections were accepted.
    pub async fn start(answer: ServerResponse, connections: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let server = Self { address: listener.local_addr()?, accepted: Arc::default() };
        tokio::spawn(accept(listener, answer, connections, Arc::clone(&server.accepted)));
        Ok(server)
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the number of connections accepted so far.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, answer: ServerResponse, connections: usize, accepted: Arc<AtomicU64>) {
    let mut waiting = Vec::with_capacity(connections);
    while let Ok((socket, _)) = listener.accept().await {
        waiting.push(socket);
        if accepted.fetch_add(1, Ordering::Relaxed) + 1 >= connections as u64 {
            for socket in waiting.drain(..) {
                tokio::spawn(serve(socket, answer.clone()));
            }
        }
    }
}

async fn serve(socket: TcpStream, answer: ServerResponse) {
    // Go's server sets it by default. If it fails, the row is visibly slow.
    let _ = socket.set_nodelay(true);
    let respond = service_fn(|request| respond(request, &answer));
    // Clients end their connections by disconnecting.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), respond).await;
}

async fn respond(
    request: Request<Incoming>,
    answer: &ServerResponse,
) -> Result<Response<impl Body<Data = Bytes, Error: Into<BoxError>> + use<>>, hyper::Error> {
    let (status, text) = match answer {
        ServerResponse::Status => (StatusCode::OK, STATUS),
        ServerResponse::Posted => {
            let mut body = request.into_body();
            while let Some(frame) = body.frame().await {
                drop(frame?);
            }
            (StatusCode::OK, POSTED)
        }
        ServerResponse::RequiresHeader if request.headers().contains_key("x-custom-header") => {
            (StatusCode::OK, STATUS)
        }
        ServerResponse::RequiresHeader => (StatusCode::BAD_REQUEST, ""),
        ServerResponse::EverySecond(requests)
            if requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) =>
        {
            (StatusCode::TOO_MANY_REQUESTS, "")
        }
        ServerResponse::EverySecond(_) => (StatusCode::OK, STATUS),
        ServerResponse::Large => {
            let input = Input::whole(CHUNK.repeat(CHUNKS), Stop::End);
            return Ok(frames("application/json", &input));
        }
        ServerResponse::Events(input) => return Ok(frames("text/event-stream", input)),
    };
    let mut response = Response::new(Either::Left(Full::from(text)));
    *response.status_mut() = status;
    if !text.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    }
    Ok(response)
}

/// Creates a response without `Content-Length`.
fn frames(
    content_type: &'static str,
    input: &Input,
) -> Response<Either<Full<Bytes>, StreamBody<stream::Iter<Frames>>>> {
    let frames: Frames = Box::new(input.chunks().map(|chunk| Ok(Frame::data(chunk))));
    let mut response = Response::new(Either::Right(StreamBody::new(stream::iter(frames))));
    response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    response
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

type Frames = Box<dyn Iterator<Item = Result<Frame<Bytes>, Infallible>> + Send>;
