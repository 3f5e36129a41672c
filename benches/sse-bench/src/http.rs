//! Event stream over HTTP on the loopback interface. The server sends prepared bytes, so that implementations only
//! differ in the decoder of the body stream of reqwest.

use std::convert::Infallible;
use std::hint::black_box;
use std::net::SocketAddr;
use std::pin::pin;

use benches::event_stream::Input;
use bytes::Bytes;
use eventsource_stream::Eventsource as _;
use futures_util::{Stream, StreamExt as _, stream};
use http_body_util::StreamBody;
use hyper::body::Frame;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tightwire_sse::{BytesDecoder, EventStreamExt as _};
use tokio::net::TcpListener;

use crate::tally::Tally;

/// Server, client with a persistent connection, and the runtime of both, which has one thread.
#[derive(Debug)]
pub struct Loopback {
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    address: SocketAddr,
    input: Input,
}

impl Loopback {
    /// Starts a server on loopback that sends the input, one frame per chunk.
    pub fn new(input: &Input) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener, input.clone()));
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { runtime, client, address, input: input.clone() })
    }

    /// Requests the stream and decodes it with `decode`. `data` returns the data of an event.
    fn receive<T, E, S>(&self, decode: impl FnOnce(BodyStream) -> S, data: impl Fn(&T) -> Option<&str>) -> u64
    where
        S: Stream<Item = Result<T, E>>,
        E: std::fmt::Debug,
    {
        self.runtime.block_on(async {
            let response = self.client.get(format!("http://{}/", self.address)).send().await;
            let body = response.expect("the server responds").bytes_stream().boxed();
            let mut tally = Tally::new(self.input.stop);
            let mut events = pin!(decode(body));
            while let Some(event) = events.next().await {
                let event = black_box(event.expect("the stream is well formed"));
                if data(&event).is_some_and(|data| tally.add(data).is_break()) {
                    break;
                }
            }
            tally.value()
        })
    }

    /// Lower bound: receives the bytes without decoding and returns their number.
    pub fn bytes_only(&self) -> u64 {
        self.runtime.block_on(async {
            let response = self.client.get(format!("http://{}/", self.address)).send().await;
            let mut body = response.expect("the server responds").bytes_stream();
            let mut len = 0;
            while let Some(chunk) = body.next().await {
                len += black_box(chunk.expect("the connection does not fail")).len() as u64;
            }
            len
        })
    }

    /// Decodes with the adaptor of tightwire-sse.
    pub fn ours(&self) -> u64 {
        self.receive(|body| body.sse(), |event| Some(event.data()))
    }

    /// Decodes with [`BytesDecoder`].
    pub fn ours_shared(&self) -> u64 {
        self.runtime.block_on(async {
            let response = self.client.get(format!("http://{}/", self.address)).send().await;
            let mut body = response.expect("the server responds").bytes_stream();
            let mut tally = Tally::new(self.input.stop);
            let mut decoder = BytesDecoder::new();
            while let Some(chunk) = body.next().await {
                decoder.push(chunk.expect("the connection does not fail"));
                while let Some(event) = decoder.next().expect("the stream is well formed") {
                    if tally.add(black_box(event).data()).is_break() {
                        return tally.value();
                    }
                }
            }
            tally.value()
        })
    }

    /// Decodes with eventsource-stream.
    pub fn eventsource_stream(&self) -> u64 {
        self.receive(|body| body.eventsource(), |event| Some(event.data.as_str()))
    }

    /// Decodes with sseer.
    pub fn sseer(&self) -> u64 {
        self.receive(sseer::EventStream::new, |event| Some(&event.data))
    }

    /// Decodes with sse-stream.
    pub fn sse_stream(&self) -> u64 {
        self.receive(sse_stream::SseByteStream::new, |block| block.data.as_deref())
    }

    /// Decodes with sse-core.
    pub fn sse_core(&self) -> u64 {
        self.receive(sse_core::SseStream::new, |event| match event {
            sse_core::SseEvent::Message(message) => Some(message.data.as_str()),
            sse_core::SseEvent::Retry(_) => None,
        })
    }
}

/// Body stream of reqwest.
type BodyStream = stream::BoxStream<'static, reqwest::Result<Bytes>>;

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
