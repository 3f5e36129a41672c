//! HTTP server: accepts connections and shuts down gracefully.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::FutureExt as _;
use futures_util::future::select_all;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{TlsAcceptor, rustls};

use super::access::RequestTracker;
use super::http1::{self, Rewind};
use super::listener::{Listen, Listener, Socket};
use super::message::{RequestParts, join_lines};
use super::respond::too_large;
use super::{Proxy, Scope};
use crate::Error;
use crate::error::Kind;

/// Maximum bytes buffered per connection besides one chunk: request headers, and output that is not sent yet.
const MAX_BUFFER: usize = 64 * 1024;
/// Delay of work that the first requests should not compete with.
const PREPARE_DELAY: Duration = Duration::from_millis(100);
/// Pause after a temporary error of `accept`.
const ACCEPT_BACKOFF: Duration = Duration::from_millis(100);

/// Configuration of a [`Server`].
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Maximum concurrent connections; others wait to be accepted. [`ServerHandle::replace`] does not change it.
    /// Default: 10,000.
    pub max_connections: usize,
    /// Timeout for the TLS handshake, the HTTP/2 preface and the header of each request, including the idle time before
    /// a request on an HTTP/1 connection. Default: 30 seconds.
    pub header_timeout: Duration,
    /// Closes a connection if the client does not accept any byte of a response within this time. Default: 60 seconds.
    pub send_timeout: Duration,
    /// Maximum header fields of a request, from 1 to 10,000. The response to a request with more is 431. Default: 100.
    pub max_header_fields: usize,
    /// Maximum time for responses in flight to complete during shutdown. Default: 30 seconds.
    pub drain: Duration,
    /// Emits a `tracing` event with the target `pypi_proxy::access` and the level `INFO` for each request. Default: on.
    pub access_log: bool,
    /// Enables TLS. Default: off.
    pub tls: Option<Tls>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            max_connections: 10_000,
            header_timeout: Duration::from_secs(30),
            send_timeout: Duration::from_secs(60),
            max_header_fields: http1::DEFAULT_MAX_FIELDS,
            drain: Duration::from_secs(30),
            access_log: true,
            tls: None,
        }
    }
}

/// Current proxy and configuration of a server.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) proxy: Proxy,
    pub(super) config: ServerConfig,
}

impl Live {
    fn new(proxy: Proxy, mut config: ServerConfig) -> Arc<Self> {
        config.max_header_fields = config.max_header_fields.clamp(1, 10_000);
        Arc::new(Self { proxy, config })
    }
}

/// Replaces the proxy of a running [`Server`]. Clones belong to the same server.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use pypi_proxy::page_cache;
/// use pypi_proxy::serve::{self, Proxy, Server, ServerConfig};
/// use pypi_proxy::upstream::Upstream;
///
/// # fn example(
/// #     index: Arc<Upstream>, pages: page_cache::Config, proxy: Proxy, listener: tokio::net::TcpListener,
/// # ) {
/// let server = Server::new(proxy, ServerConfig::default());
/// let handle = server.handle();
/// tokio::spawn(server.serve(listener, std::future::pending()));
/// // Later: the same index and pages, but another token for purging.
/// let config = serve::Config { admin_token: Some("0123456789".into()), ..Default::default() };
/// let proxy = handle.proxy().reconfigure(vec![index], pages, config);
/// handle.replace(proxy, ServerConfig::default());
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ServerHandle(watch::Sender<Arc<Live>>);

impl ServerHandle {
    /// Returns the current proxy.
    pub fn proxy(&self) -> Proxy {
        self.0.borrow().proxy.clone()
    }

    /// Serves all later requests with this proxy, also those on open connections. Requests in flight complete with the
    /// proxy that started them. The timeouts and limits of `config` apply to new connections and, on HTTP/1 connections
    /// without TLS, to later requests; TLS applies to new connections.
    pub fn replace(&self, proxy: Proxy, config: ServerConfig) {
        self.0.send_replace(Live::new(proxy, config));
    }
}

/// HTTP server of a proxy.
#[derive(Debug)]
pub struct Server {
    live: watch::Sender<Arc<Live>>,
    listeners: Vec<Listener>,
    admin: Vec<Listener>,
}

impl Server {
    /// Creates a server of this proxy.
    pub fn new(proxy: Proxy, config: ServerConfig) -> Self {
        Self { live: watch::Sender::new(Live::new(proxy, config)), listeners: Vec::new(), admin: Vec::new() }
    }

    /// Returns a handle that replaces the proxy while the server runs.
    pub fn handle(&self) -> ServerHandle {
        ServerHandle(self.live.clone())
    }

    /// Adds a listener, besides the one of [`Self::serve`]. TLS, timeouts and the maximum number of connections apply
    /// to each listener separately.
    #[must_use]
    pub fn listen(mut self, listener: impl Into<Listener>) -> Self {
        self.listeners.push(listener.into());
        self
    }

    /// Serves metrics, `/health`, the status page and purging at this listener instead of those of [`Self::serve`] and
    /// [`Self::listen`]. `/livez` and `/readyz` are available at all. May be called several times. Default: none.
    #[must_use]
    pub fn admin(mut self, listener: impl Into<Listener>) -> Self {
        self.admin.push(listener.into());
        self
    }

    /// Accepts HTTP/1.1 and HTTP/2 connections until `shutdown` is ready, then waits for the responses in flight.
    /// HTTP/2 without TLS requires prior knowledge.
    ///
    /// Errors of single connections are ignored. If the system is short of memory, file handles or network resources,
    /// the server pauses for 100 milliseconds and continues.
    ///
    /// # Errors
    ///
    /// Fails if a listener is unusable.
    pub async fn serve(
        mut self,
        listener: impl Into<Listener>,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let scope = if self.admin.is_empty() { Scope::All } else { Scope::Index };
        let public =
            std::iter::once(listener.into()).chain(self.listeners.drain(..)).map(|public| (public, scope));
        let admin = self.admin.drain(..).map(|admin| (admin, Scope::Admin));
        let listeners: Vec<_> = public.chain(admin).collect();
        let server = Arc::new(self);
        if let Some(bucket) = server.live.borrow().proxy.0.store.bucket() {
            bucket.test_in_background();
        }
        let indexes: Vec<_> = {
            let live = server.live.borrow();
            live.proxy.0.all_upstreams().map(|(_, index)| index.clone()).collect()
        };
        tokio::spawn(async move {
            tokio::time::sleep(PREPARE_DELAY).await;
            let prepare = move || indexes.iter().for_each(|index| index.prepare());
            tokio::task::spawn_blocking(prepare).await
        });
        let graceful = GracefulShutdown::new();
        let (close, closing) = watch::channel(());
        let accepting = listeners
            .iter()
            .map(|(listener, scope)| Box::pin(server.accept_all(listener, *scope, &graceful, &closing)));
        let result = tokio::select! {
            () = shutdown => Ok(()),
            (error, ..) = select_all(accepting) => Err(error),
        };
        drop((listeners, close, closing));
        let live = server.live.borrow().clone();
        let ended = async {
            graceful.shutdown().await;
            if let Some(bucket) = live.proxy.0.store.bucket() {
                bucket.settle().await;
            }
        };
        let _ = tokio::time::timeout(live.config.drain, ended).await;
        result
    }

    /// Accepts connections until the listener becomes unusable.
    async fn accept_all(
        self: &Arc<Self>,
        listener: &impl Listen,
        scope: Scope,
        graceful: &GracefulShutdown,
        closing: &watch::Receiver<()>,
    ) -> io::Error {
        let max_connections = self.live.borrow().config.max_connections;
        let permits = Arc::new(Semaphore::new(max_connections));
        let mut is_failing = false;
        loop {
            let Ok(permit) = permits.clone().acquire_owned().await else {
                return io::Error::other("the connection limiter was closed");
            };
            match listener.accept().await {
                Ok(stream) => {
                    is_failing = false;
                    let (server, watcher, closing) = (self.clone(), graceful.watcher(), closing.clone());
                    tokio::spawn(async move {
                        server.connection(stream, scope, watcher, closing).await;
                        drop(permit);
                    });
                }
                // The client has disconnected. The next connection may already be waiting.
                Err(error) if is_client_error(&error) => {}
                Err(error) if is_listener_error(&error) => return error,
                Err(error) => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(%error, "connections can't be accepted at the moment");
                    }
                    tokio::time::sleep(ACCEPT_BACKOFF).await;
                }
            }
        }
    }

    /// Serves a connection until it ends. Errors are not logged, because they are caused by the client.
    async fn connection(
        &self,
        stream: Socket,
        scope: Scope,
        watcher: Watcher,
        mut closing: watch::Receiver<()>,
    ) {
        let mut live = self.live.subscribe();
        let peer = stream.peer();
        let closing = async move {
            // Nothing is ever sent: the channel closes at shutdown.
            let _ = closing.changed().await;
        };
        let mut closing = std::pin::pin!(closing.fuse());
        let handshake = {
            let config = &live.borrow().config;
            config.tls.clone().map(|tls| (tls, config.header_timeout))
        };
        if let Some((tls, timeout)) = handshake {
            if let Ok(Ok(stream)) = tokio::time::timeout(timeout, tls.accept(stream)).await {
                let stream = Rewind::new(BytesMut::new(), stream);
                Self::serve_with_hyper(stream, live, peer, scope, watcher, closing).await;
            }
            return;
        }
        if let Some(stream) = http1::serve(stream, &mut live, peer, scope, closing.as_mut()).await {
            Self::serve_with_hyper(stream, live, peer, scope, watcher, closing).await;
        }
    }

    /// Serves a connection with hyper. The protocol is detected before, because hyper waits for the HTTP/2 preface
    /// without a timeout.
    async fn serve_with_hyper(
        mut stream: Rewind<impl AsyncRead + AsyncWrite + Send + Unpin + 'static>,
        live: watch::Receiver<Arc<Live>>,
        peer: Option<IpAddr>,
        scope: Scope,
        watcher: Watcher,
        closing: Pin<&mut impl Future<Output = ()>>,
    ) {
        let config = live.borrow().config.clone();
        let is_http2 = tokio::select! {
            biased;
            result = tokio::time::timeout(config.header_timeout, stream.is_http2()) => result,
            () = closing => return,
        };
        let builder = auto::Builder::new(TokioExecutor::new());
        let mut builder = match is_http2 {
            Ok(Ok(true)) => builder.http2_only(),
            Ok(Ok(false)) => builder.http1_only(),
            Ok(Err(_)) | Err(_) => return,
        };
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(config.header_timeout)
            .max_buf_size(MAX_BUFFER)
            .max_headers(config.max_header_fields)
            .pipeline_flush(true);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(config.header_timeout);
        let current = live.clone();
        let service = service_fn(move |request| {
            let live = current.borrow().clone();
            async move {
                let Live { proxy, config } = &*live;
                let headers = join_lines(request.headers());
                let parts = RequestParts::of(&request, &headers);
                let client = proxy.client(peer, &parts);
                let tracker = RequestTracker::start(proxy.clone(), client, &parts, config.access_log);
                // HTTP/2 limits the size of a header, but not the number of fields.
                let response = if request.headers().len() > config.max_header_fields {
                    proxy.reject(too_large())
                } else {
                    proxy.respond_to(&parts, client, scope).await
                };
                Ok::<_, Infallible>(tracker.track(response))
            }
        });
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(config.send_timeout));
        let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).into_owned();
        let ended = watcher.watch(connection).await;
        // Hyper has sent the response 431 itself.
        let is_too_large = |error: &hyper::Error| error.is_parse_too_large();
        if ended.is_err_and(|error| error.downcast_ref().is_some_and(is_too_large)) {
            let live = live.borrow().clone();
            RequestTracker::too_large(&live.proxy, peer, live.config.access_log).0.finish();
        }
    }
}

/// Returns whether only one connection has failed, before it was accepted.
fn is_client_error(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

/// Returns whether the listener itself is unusable.
fn is_listener_error(error: &io::Error) -> bool {
    use rustix::io::Errno;

    let fatal = [Errno::BADF, Errno::FAULT, Errno::INVAL, Errno::NOTSOCK];
    error.raw_os_error().is_some_and(|code| fatal.contains(&Errno::from_raw_os_error(code)))
}

/// Certificate chain and private key of a server.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// Reads the certificate chain, with the server's certificate first, and the private key from PEM (RFC 7468).
    ///
    /// # Errors
    ///
    /// Fails if a certificate or the key is missing, or if they do not match ([`Error::is_config`]).
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, Error> {
        let wrong = |what: &str| Error::with(Kind::Config, what.to_owned());
        let chain = CertificateDer::pem_slice_iter(certificates)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong("invalid certificates").caused_by(error))?;
        if chain.is_empty() {
            return Err(wrong("no certificate found"));
        }
        // The cause is omitted, because it could contain parts of the key.
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("no valid private key found"))?;
        let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| wrong("the certificate and the private key do not match").caused_by(error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    async fn accept(&self, stream: Socket) -> io::Result<TlsStream<Socket>> {
        self.0.accept(stream).await
    }
}

/// Shows no content.
impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use rustix::io::Errno;

    use super::*;
    use crate::page_cache::{self, PageCache};
    use crate::serve::Config;
    use crate::store::{self, Store};

    /// A listener that fails with these errors and then never returns.
    struct Failing(Mutex<VecDeque<Errno>>);

    impl Failing {
        fn new(errors: impl IntoIterator<Item = Errno>) -> Self {
            Self(Mutex::new(errors.into_iter().collect()))
        }

        fn left(&self) -> usize {
            self.0.lock().unwrap().len()
        }
    }

    impl Listen for Failing {
        async fn accept(&self) -> io::Result<Socket> {
            let error = self.0.lock().unwrap().pop_front();
            match error {
                Some(error) => Err(error.into()),
                None => std::future::pending().await,
            }
        }
    }

    async fn accept_all(listener: &Failing) -> Option<io::Error> {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(store::Config::new(dir.path().join("cache"))).unwrap();
        let pages = PageCache::new(Vec::new(), page_cache::Config::default());
        let proxy = Proxy::new(Vec::new(), pages, store, Config::default());
        let server = Arc::new(Server::new(proxy, ServerConfig::default()));
        let (_close, closing) = watch::channel(());
        let graceful = GracefulShutdown::new();
        let accepting = server.accept_all(listener, Scope::All, &graceful, &closing);
        tokio::time::timeout(Duration::from_secs(3600), accepting).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn transient_errors_of_accept_do_not_end_the_server() {
        let transient = [
            Errno::NOMEM,
            Errno::NOBUFS,
            Errno::PROTO,
            Errno::NETDOWN,
            Errno::NETUNREACH,
            Errno::HOSTUNREACH,
            Errno::MFILE,
            Errno::NFILE,
            Errno::CONNABORTED,
            Errno::PERM,
        ];
        let listener = Failing::new(transient);
        let ended = accept_all(&listener).await;
        assert!(ended.is_none(), "{ended:?}");
        assert_eq!(listener.left(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_unusable_listener_ends_the_server() {
        let listener = Failing::new([Errno::NOMEM, Errno::BADF]);
        let ended = accept_all(&listener).await.unwrap();
        assert_eq!(Errno::from_io_error(&ended), Some(Errno::BADF));
    }
}
