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
use serde_json::{Value, json};

use crate::repeat::Operation;
use crate::server::Server;
use crate::workload::{Workload, headers};

fn body(workload: &Workload) -> Option<Arc<Value>> {
    let body = || json!({"messages": [{"content": "Hello", "role": "user"}], "model": "sonar"});
    workload.posts.then(|| Arc::new(body()))
}

/// reqwest with the minimum configuration of the row.
#[derive(Debug, Clone)]
pub struct Reqwest {
    client: reqwest::Client,
    url: Arc<str>,
    workload: Arc<Workload>,
    body: Option<Arc<Value>>,
}

impl Reqwest {
    /// Creates a client of this server.
    pub fn new(workload: &Workload, server: &Server) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .default_headers(headers())
            .timeout(Duration::from_secs(30))
            .build()
            .expect("the settings are valid");
        Self {
            client,
            url: server.url(workload.path).into(),
            workload: Arc::new(workload.clone()),
            body: body(workload),
        }
    }

    async fn send(&self) -> (StatusCode, Bytes) {
        let mut request = self.client.request(self.workload.method.clone(), &*self.url);
        for (name, value) in self.workload.headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = &self.body {
            request = request.body(serde_json::to_vec(&**body).expect("the body can be encoded"));
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
#[derive(Debug, Clone)]
pub struct HyperUtil {
    client: Client<HttpConnector, Full<Bytes>>,
    uri: Uri,
    headers: HeaderMap,
    workload: Arc<Workload>,
    body: Option<Arc<Value>>,
}

impl HyperUtil {
    /// Creates a client of this server.
    pub fn new(workload: &Workload, server: &Server) -> Self {
        Self {
            client: hyper_client(),
            uri: server.url(workload.path).parse().expect("the URL is valid"),
            headers: headers(),
            workload: Arc::new(workload.clone()),
            body: body(workload),
        }
    }
}

impl Operation for HyperUtil {
    async fn once(&self) -> u64 {
        let encoded = |body: &Arc<Value>| serde_json::to_vec(&**body).expect("the body can be encoded");
        let mut request = Request::new(Full::from(self.body.as_ref().map(encoded).unwrap_or_default()));
        *request.method_mut() = self.workload.method.clone();
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
