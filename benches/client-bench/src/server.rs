//! The server of the rows: HTTP/1.1 on the loopback interface, on the runtime of the client that it answers.

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

/// The body of most answers.
pub const STATUS: &str = r#"{"status": "ok"}"#;
/// The answer to a request with a body.
pub const POSTED: &str = r#"{"id": "test-123", "status": "completed"}"#;
/// What the large answer repeats.
pub const CHUNK: &str = r#"{"chunk": "data"}"#;
/// How often it does.
pub const CHUNKS: usize = 1000;

/// How a server answers all requests.
#[derive(Debug, Clone)]
pub enum Answer {
    /// With [`STATUS`].
    Status,
    /// With [`POSTED`], after it has read the body of the request.
    Posted,
    /// With 17,000 bytes whose length is not announced, so that they come in chunked transfer coding.
    Large,
    /// As [`Status`](Self::Status), if the request has the row's header.
    Demanding,
    /// As [`Status`](Self::Status) for every other request, beginning with the second; 429 for the others.
    EverySecond(Arc<AtomicU64>),
    /// With a stream of events, one frame per chunk of the input.
    Events(Input),
}

impl Answer {
    /// See [`EverySecond`](Self::EverySecond).
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
    /// Binds a port and answers requests as soon as there are `crowd` connections.
    ///
    /// # Errors
    ///
    /// When there is no port.
    pub async fn start(answer: Answer, crowd: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let server = Self { address: listener.local_addr()?, accepted: Arc::default() };
        tokio::spawn(accept(listener, answer, crowd, Arc::clone(&server.accepted)));
        Ok(server)
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many connections were made so far.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }
}

async fn accept(listener: TcpListener, answer: Answer, crowd: usize, accepted: Arc<AtomicU64>) {
    let mut waiting = Vec::with_capacity(crowd);
    while let Ok((socket, _)) = listener.accept().await {
        waiting.push(socket);
        if accepted.fetch_add(1, Ordering::Relaxed) + 1 >= crowd as u64 {
            for socket in waiting.drain(..) {
                tokio::spawn(serve(socket, answer.clone()));
            }
        }
    }
}

async fn serve(socket: TcpStream, answer: Answer) {
    // Go's server does the same by default. Where it fails, the row is slow and tells.
    let _ = socket.set_nodelay(true);
    let respond = service_fn(|request| respond(request, &answer));
    // A client that goes away is the normal end of a connection here.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), respond).await;
}

async fn respond(
    request: Request<Incoming>,
    answer: &Answer,
) -> Result<Response<impl Body<Data = Bytes, Error: Into<BoxError>> + use<>>, hyper::Error> {
    let (status, text) = match answer {
        Answer::Status => (StatusCode::OK, STATUS),
        Answer::Posted => {
            let mut body = request.into_body();
            while let Some(frame) = body.frame().await {
                drop(frame?);
            }
            (StatusCode::OK, POSTED)
        }
        Answer::Demanding if request.headers().contains_key("x-custom-header") => (StatusCode::OK, STATUS),
        Answer::Demanding => (StatusCode::BAD_REQUEST, ""),
        Answer::EverySecond(requests) if requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => {
            (StatusCode::TOO_MANY_REQUESTS, "")
        }
        Answer::EverySecond(_) => (StatusCode::OK, STATUS),
        Answer::Large => {
            let input = Input::whole(CHUNK.repeat(CHUNKS), Stop::End);
            return Ok(frames("application/json", &input));
        }
        Answer::Events(input) => return Ok(frames("text/event-stream", input)),
    };
    let mut response = Response::new(Either::Left(Full::from(text)));
    *response.status_mut() = status;
    if !text.is_empty() {
        response.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    }
    Ok(response)
}

/// An answer whose length is not announced.
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
