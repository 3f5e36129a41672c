//! Peers without Perplexity-specific code: reqwest and hyper-util.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Request, StatusCode, Uri};
use http_body::Body;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::repeat::Operation;
use crate::server::Server;
use crate::workload::{Workload, headers};

fn encoded(workload: &Workload) -> Option<Vec<u8>> {
    let body = workload.body.as_ref()?;
    Some(serde_json::to_vec(&**body).expect("the body can be encoded"))
}

/// reqwest with the minimum configuration of the row.
#[derive(Clone)]
pub(crate) struct Reqwest {
    client: reqwest::Client,
    url: Arc<str>,
    workload: Arc<Workload>,
}

impl Reqwest {
    pub(crate) fn new(workload: &Workload, server: &Server) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .default_headers(headers())
            .timeout(Duration::from_secs(30))
            .build()
            .expect("the settings are valid");
        Self { client, url: server.url(workload.path()).into(), workload: Arc::new(workload.clone()) }
    }

    async fn send(&self) -> (StatusCode, Bytes) {
        let mut request = self.client.request(self.workload.method(), &*self.url);
        for (name, value) in self.workload.headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = encoded(&self.workload) {
            request = request.body(body);
        }
        let response = request.send().await.expect("the server answers");
        (response.status(), response.bytes().await.expect("the connection holds"))
    }
}

impl Operation for Reqwest {
    async fn once(&self) -> u64 {
        let (mut status, mut body) = self.send().await;
        for _ in 0..self.workload.retries {
            if status == StatusCode::TOO_MANY_REQUESTS {
                (status, body) = self.send().await;
            }
        }
        self.workload.check(status.as_u16(), &body)
    }
}

/// Creates the client of hyper-util.
pub(crate) fn hyper_client<B: Body<Data: Send> + Send>() -> Client<HttpConnector, B> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new()).build(connector)
}

/// The client of hyper-util: a connection pool, without URL handling, redirects or timeouts.
#[derive(Clone)]
pub(crate) struct HyperUtil {
    client: Client<HttpConnector, Full<Bytes>>,
    uri: Uri,
    headers: HeaderMap,
    workload: Arc<Workload>,
}

impl HyperUtil {
    pub(crate) fn new(workload: &Workload, server: &Server) -> Self {
        Self {
            client: hyper_client(),
            uri: server.url(workload.path()).parse().expect("the URL is valid"),
            headers: headers(),
            workload: Arc::new(workload.clone()),
        }
    }
}

impl Operation for HyperUtil {
    async fn once(&self) -> u64 {
        let mut request = Request::new(Full::from(encoded(&self.workload).unwrap_or_default()));
        *request.method_mut() = self.workload.method();
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        for (name, value) in self.workload.headers {
            request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let response = self.client.request(request).await.expect("the server answers");
        let (head, body) = response.into_parts();
        let body = body.collect().await.expect("the connection holds").to_bytes();
        self.workload.check(head.status.as_u16(), &body)
    }
}
