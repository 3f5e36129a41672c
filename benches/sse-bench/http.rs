//! Event stream over HTTP on the loopback interface. The server sends prepared bytes, so that implementations only
//! differ in the decoder of the body stream of reqwest.

use std::hint::black_box;

use benches::event_stream::{Input, Stop};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

use crate::server::{Answer, Server};

/// Body stream of reqwest.
pub(crate) type BodyStream = stream::BoxStream<'static, reqwest::Result<Bytes>>;

/// Client with a persistent connection to a server, and the runtime of both, which has one thread.
pub(crate) struct Loopback {
    runtime: tokio::runtime::Runtime,
    client: reqwest::Client,
    url: String,
    stop: Stop,
}

impl Loopback {
    /// Starts a server on loopback that sends the input, one frame per chunk.
    pub(crate) fn new(input: &Input) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let server = runtime.block_on(Server::start(Answer::stream(input.clone()), 1))?;
        let client = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { runtime, client, url: server.url("/"), stop: input.stop })
    }

    /// Requests the stream and decodes it with `decode`.
    pub(crate) fn receive<F: Future<Output = u64>>(&self, decode: impl FnOnce(BodyStream, Stop) -> F) -> u64 {
        self.runtime.block_on(async {
            let response = self.client.get(&self.url).send().await;
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
