//! Event stream over HTTP on the loopback interface. The server sends prepared bytes, so that implementations only
//! differ in the decoder of the body stream of reqwest.

use std::convert::Infallible;
use std::hint::black_box;
use std::net::SocketAddr;

use benches::event_stream::{Input, Stop};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Body stream of reqwest.
pub(crate) type BodyStream = stream::BoxStream<'static, reqwest::Result<Bytes>>;

/// Server, client with a persistent connection, and the runtime of both, which has one thread.
pub(crate) struct Loopback {
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    address: SocketAddr,
    stop: Stop,
}

impl Loopback {
    /// Starts a server on loopback that sends the input, one frame per chunk.
    pub(crate) fn new(input: &Input) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener, input.clone()));
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { runtime, client, address, stop: input.stop })
    }

    /// Requests the stream and decodes it with `decode`.
    pub(crate) fn receive<F: Future<Output = u64>>(&self, decode: impl FnOnce(BodyStream, Stop) -> F) -> u64 {
        self.runtime.block_on(async {
            let response = self.client.get(format!("http://{}/", self.address)).send().await;
            decode(response.expect("the server responds").bytes_stream().boxed(), self.stop).await
        })
    }
}

/// Lower bound: receives the bytes without decoding and returns their number.
pub(crate) async fn bytes_only(mut body: BodyStream, _: Stop) -> u64 {
    let mut len = 0;
    while let Some(chunk) = body.next().await {
        len += black_box(chunk.expect("the connection does not fail")).len() as u64;
    }
    len
}

async fn serve(listener: TcpListener, input: Input) {
    while let Ok((socket, _)) = listener.accept().await {
        let input = input.clone();
        let respond = service_fn(move |_| {
            let frames = input.chunks().map(|chunk| Ok::<_, Infallible>(Frame::data(chunk)));
            let response = hyper::Response::builder()
                .header(hyper::header::CONTENT_TYPE, "text/event-stream")
                .body(StreamBody::new(stream::iter(frames)));
            std::future::ready(response)
        });
        let connection =
            hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), respond);
        tokio::spawn(async {
            // The error is ignored: clients stop reading early.
            drop(connection.await);
        });
    }
}
