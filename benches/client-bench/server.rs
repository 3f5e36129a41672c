//! Server of the rows, also of those of the suite `sse` over HTTP: HTTP/1.1 on the loopback interface, on the same runtime as the client.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use benches::event_stream::Input;
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// Response of the server to all requests.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) content_type: &'static str,
    pub(crate) body: Input,
    /// Sends the chunks of the body as frames, without `Content-Length`.
    pub(crate) is_chunked: bool,
    /// Header without which the server responds with 400.
    pub(crate) required_header: Option<&'static str>,
    /// Responds with 429 to every other request.
    pub(crate) is_limited: bool,
}

impl Answer {
    /// Returns an event stream, whose chunks are frames.
    pub(crate) fn stream(body: Input) -> Self {
        Self {
            content_type: "text/event-stream",
            body,
            is_chunked: true,
            required_header: None,
            is_limited: false,
        }
    }
}

/// A running server. It ends with its runtime.
pub(crate) struct Server {
    address: SocketAddr,
    /// Number of connections accepted so far.
    pub(crate) accepted: Arc<AtomicU64>,
}

impl Server {
    /// Binds a port. The server responds after `connections` connections were accepted.
    pub(crate) async fn start(answer: Answer, connections: usize) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let server = Self { address: listener.local_addr()?, accepted: Arc::default() };
        tokio::spawn(accept(listener, Arc::new(answer), connections, Arc::clone(&server.accepted)));
        Ok(server)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

async fn accept(listener: TcpListener, answer: Arc<Answer>, connections: usize, accepted: Arc<AtomicU64>) {
    let requests = Arc::<AtomicU64>::default();
    let mut waiting = Vec::with_capacity(connections);
    while let Ok((socket, _)) = listener.accept().await {
        waiting.push(socket);
        if accepted.fetch_add(1, Ordering::Relaxed) + 1 >= connections as u64 {
            for socket in waiting.drain(..) {
                tokio::spawn(serve(socket, Arc::clone(&answer), Arc::clone(&requests)));
            }
        }
    }
}

async fn serve(socket: TcpStream, answer: Arc<Answer>, requests: Arc<AtomicU64>) {
    // Go's server sets it by default. If it fails, the row is visibly slow.
    let _ = socket.set_nodelay(true);
    let respond = service_fn(|request| respond(request, &answer, &requests));
    // Clients end their connections by disconnecting.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), respond).await;
}

type Frames = Box<dyn Iterator<Item = Result<Frame<Bytes>, Infallible>> + Send>;

async fn respond(
    request: Request<Incoming>,
    answer: &Answer,
    requests: &AtomicU64,
) -> Result<Response<Either<Full<Bytes>, StreamBody<stream::Iter<Frames>>>>, hyper::Error> {
    let is_invalid = answer.required_header.is_some_and(|name| !request.headers().contains_key(name));
    let mut body = request.into_body();
    while let Some(frame) = body.frame().await {
        drop(frame?);
    }
    let is_refused = answer.is_limited && requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
    if is_invalid || is_refused {
        let mut response = Response::new(Either::Left(Full::default()));
        *response.status_mut() =
            if is_invalid { StatusCode::BAD_REQUEST } else { StatusCode::TOO_MANY_REQUESTS };
        return Ok(response);
    }
    let mut response = Response::new(if answer.is_chunked {
        let frames: Frames = Box::new(answer.body.chunks().map(|chunk| Ok(Frame::data(chunk))));
        Either::Right(StreamBody::new(stream::iter(frames)))
    } else {
        Either::Left(Full::from(answer.body.bytes.clone()))
    });
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    Ok(response)
}
