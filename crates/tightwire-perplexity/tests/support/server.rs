//! An HTTP/1.1 and HTTP/2 server with TLS, whose responses are computed from the requests.

#![allow(dead_code, reason = "what is used depends on the features")]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rcgen::CertifiedKey;
use reqwest::Body;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A self-signed certificate for the loopback address.
pub(crate) struct Identity {
    /// The certificate, as PEM.
    pub(crate) authority: String,
    config: ServerConfig,
}

impl Identity {
    /// `protocols` are the ALPN protocols, in order of preference.
    pub(crate) fn new(protocols: &[&str]) -> Self {
        let CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        let config = ServerConfig::builder().with_no_client_auth();
        let mut config = config.with_single_cert(vec![cert.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self { authority: cert.pem(), config }
    }
}

/// A running server; it ends with the runtime.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// HTTP version and `Accept-Encoding` of each request.
    requests: Arc<Mutex<Vec<(Version, String)>>>,
}

impl Server {
    /// Starts the server: with TLS if there is an identity, otherwise without.
    pub(crate) async fn start(
        identity: Option<&Identity>,
        answer: impl Fn(&Request<Incoming>) -> Response<Body> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let acceptor = identity.map(|identity| TlsAcceptor::from(Arc::new(identity.config.clone())));
        let (this, answer) = (server.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                this.connections.fetch_add(1, Ordering::Relaxed);
                let (this, answer, acceptor) = (this.clone(), Arc::clone(&answer), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => this.serve(stream, answer).await,
                        // A client that does not trust the certificate disconnects.
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                this.serve(stream, answer).await;
                            }
                        }
                    }
                });
            }
        });
        server
    }

    async fn serve(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        answer: Arc<impl Fn(&Request<Incoming>) -> Response<Body> + Send + Sync + 'static>,
    ) {
        let service = service_fn(|request: Request<Incoming>| {
            let encodings = request.headers().get("accept-encoding");
            let encodings = encodings.map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
            self.requests.lock().unwrap().push((request.version(), encodings));
            let response = answer(&request);
            async { Ok::<_, Infallible>(response) }
        });
        // Some tests interrupt connections.
        let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
    }

    pub(crate) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn versions(&self) -> Vec<Version> {
        self.requests.lock().unwrap().iter().map(|(version, _)| *version).collect()
    }

    /// Returns the `Accept-Encoding` of the last request.
    pub(crate) fn encodings(&self) -> String {
        self.requests.lock().unwrap().last().map(|(_, encodings)| encodings.clone()).unwrap()
    }
}
