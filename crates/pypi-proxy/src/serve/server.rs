//! Connections.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use futures_util::FutureExt as _;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_io_timeout::TimeoutStream;

use super::access::Access;
use super::answer::Asked;
use super::http1::{self, Manner, Rewind};
use super::refuse::too_large;
use super::{Proxy, Scope, Tls};

/// The most bytes of a connection in memory, but for one chunk: the headers of a request, and what waits to be sent.
const MAX_BUFFER: usize = 64 * 1024;
/// How long accepting pauses after an error that may pass.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How connections are treated.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    max_connections: usize,
    header_timeout: Duration,
    send_timeout: Duration,
    max_header_fields: usize,
    drain: Duration,
    access_log: bool,
    tls: Option<Tls>,
}

impl ServerConfig {
    /// Default of [`ServerConfig::max_connections`]: 10,000.
    pub const DEFAULT_MAX_CONNECTIONS: usize = 10_000;
    /// Default of [`ServerConfig::header_timeout`]: 30 seconds.
    pub const DEFAULT_HEADER_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`ServerConfig::send_timeout`]: 60 seconds.
    pub const DEFAULT_SEND_TIMEOUT: Duration = Duration::from_secs(60);
    /// Default of [`ServerConfig::max_header_fields`]: 100.
    pub const DEFAULT_MAX_HEADER_FIELDS: usize = http1::DEFAULT_MAX_FIELDS;
    /// Default of [`ServerConfig::drain`]: 30 seconds.
    pub const DEFAULT_DRAIN: Duration = Duration::from_secs(30);

    /// The defaults.
    pub const fn new() -> Self {
        Self {
            max_connections: Self::DEFAULT_MAX_CONNECTIONS,
            header_timeout: Self::DEFAULT_HEADER_TIMEOUT,
            send_timeout: Self::DEFAULT_SEND_TIMEOUT,
            max_header_fields: Self::DEFAULT_MAX_HEADER_FIELDS,
            drain: Self::DEFAULT_DRAIN,
            access_log: true,
            tls: None,
        }
    }

    /// The most connections at a time; more wait to be accepted. Default: [`Self::DEFAULT_MAX_CONNECTIONS`].
    #[must_use]
    pub fn max_connections(mut self, count: usize) -> Self {
        self.max_connections = count;
        self
    }

    /// How long a client may take for the TLS handshake, for the preface of HTTP/2, for the header of a request, and for
    /// beginning one on an idle connection of HTTP/1. Default: [`Self::DEFAULT_HEADER_TIMEOUT`].
    #[must_use]
    pub fn header_timeout(mut self, time: Duration) -> Self {
        self.header_timeout = time;
        self
    }

    /// How long a client may take nothing of an answer before its connection is closed. Default:
    /// [`Self::DEFAULT_SEND_TIMEOUT`].
    #[must_use]
    pub fn send_timeout(mut self, time: Duration) -> Self {
        self.send_timeout = time;
        self
    }

    /// Maximum header fields of a request, from 1 to 10,000. A request with more is answered with 431. Default:
    /// [`Self::DEFAULT_MAX_HEADER_FIELDS`].
    #[must_use]
    pub fn max_header_fields(mut self, count: usize) -> Self {
        self.max_header_fields = count.clamp(1, 10_000);
        self
    }

    /// Serves over TLS. Default: no.
    #[must_use]
    pub fn tls(mut self, tls: impl Into<Option<Tls>>) -> Self {
        self.tls = tls.into();
        self
    }

    /// How long answers may take to end when the server does. Default: [`Self::DEFAULT_DRAIN`].
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Whether each request is an event of `tracing`, with the target `pypi_proxy::access` and the level `INFO`. Default:
    /// yes.
    #[must_use]
    pub fn access_log(mut self, is_on: bool) -> Self {
        self.access_log = is_on;
        self
    }
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// A proxy behind a listener.
#[derive(Debug)]
pub struct Server {
    proxy: Proxy,
    config: ServerConfig,
    admin: Option<TcpListener>,
}

impl Server {
    /// Serves this proxy.
    pub fn new(proxy: Proxy, config: ServerConfig) -> Self {
        Self { proxy, config, admin: None }
    }

    /// Serves metrics, `/health`, the status page and purging at this listener, and no longer at that of [`Self::serve`];
    /// `/livez` and `/readyz` are at both. The configuration applies to each listener: TLS, timeouts, and the number of
    /// connections, so that clients of one take no connections of the other. Default: none.
    #[must_use]
    pub fn admin(mut self, listener: impl Into<Option<TcpListener>>) -> Self {
        self.admin = listener.into();
        self
    }

    /// Accepts connections of HTTP/1.1 and HTTP/2 (without TLS: with prior knowledge) until `shutdown` is ready, and lets
    /// the answers that have begun end.
    ///
    /// An error of one connection, or a lack of memory, of open files or of the network, is no reason to end: the server
    /// waits for 100 milliseconds and goes on.
    ///
    /// # Errors
    ///
    /// Fails if the listener is not usable at all.
    pub async fn serve(
        mut self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let (drain, admin) = (self.config.drain, self.admin.take());
        let server = Arc::new(self);
        let graceful = GracefulShutdown::new();
        let (close, closing) = watch::channel(());
        let sampler = tokio::spawn(server.proxy.clone().keep_history());
        let scope = if admin.is_some() { Scope::Index } else { Scope::All };
        let admin_error = async {
            match &admin {
                Some(admin) => server.accept_all(admin, Scope::Admin, &graceful, &closing).await,
                None => std::future::pending().await,
            }
        };
        let result = tokio::select! {
            () = shutdown => Ok(()),
            error = server.accept_all(&listener, scope, &graceful, &closing) => Err(error),
            error = admin_error => Err(error),
        };
        sampler.abort();
        drop((listener, admin, close, closing));
        let ended = async {
            graceful.shutdown().await;
            server.proxy.settle().await;
        };
        let _ = tokio::time::timeout(drain, ended).await;
        result
    }

    /// Accepts connections for as long as the listener is usable.
    async fn accept_all(
        self: &Arc<Self>,
        listener: &impl Listen,
        scope: Scope,
        graceful: &GracefulShutdown,
        closing: &watch::Receiver<()>,
    ) -> io::Error {
        let permits = Arc::new(Semaphore::new(self.config.max_connections));
        let mut is_failing = false;
        loop {
            let Ok(permit) = permits.clone().acquire_owned().await else {
                return io::Error::other("the limit of connections was closed");
            };
            match listener.accept().await {
                Ok(stream) => {
                    is_failing = false;
                    let _ = stream.set_nodelay(true);
                    let (server, watcher, closing) = (self.clone(), graceful.watcher(), closing.clone());
                    tokio::spawn(async move {
                        server.connection(stream, scope, watcher, closing).await;
                        drop(permit);
                    });
                }
                // The client has gone. The next one may be there already.
                Err(error) if is_of_client(&error) => {}
                Err(error) if is_of_listener(&error) => return error,
                Err(error) => {
                    if !std::mem::replace(&mut is_failing, true) {
                        tracing::warn!(%error, "connections can't be accepted for now");
                    }
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Serves a connection to its end. What goes wrong with it is the client's business.
    async fn connection(
        &self,
        stream: TcpStream,
        scope: Scope,
        watcher: Watcher,
        mut closing: watch::Receiver<()>,
    ) {
        let config = &self.config;
        let client = stream.peer_addr().ok().map(|address| address.ip());
        let closing = async move {
            // Nothing is ever sent: the other end goes when the server does.
            let _ = closing.changed().await;
        };
        let mut closing = std::pin::pin!(closing.fuse());
        if let Some(tls) = &config.tls {
            let accepted = tokio::time::timeout(config.header_timeout, tls.accept(stream)).await;
            if let Ok(Ok(stream)) = accepted {
                let stream = Rewind::new(BytesMut::new(), stream);
                self.general(stream, client, scope, watcher, closing).await;
            }
            return;
        }
        let manner = Manner {
            header_timeout: config.header_timeout,
            send_timeout: config.send_timeout,
            max_fields: config.max_header_fields,
            client,
            is_logged: config.access_log,
            scope,
        };
        if let Some(stream) = http1::serve(stream, &self.proxy, manner, closing.as_mut()).await {
            self.general(stream, client, scope, watcher, closing).await;
        }
    }

    /// The same for whatever a client may send: hyper serves it. The protocol is known before hyper reads, because hyper
    /// waits for the preface of HTTP/2 without a deadline.
    async fn general(
        &self,
        mut stream: Rewind<impl AsyncRead + AsyncWrite + Send + Unpin + 'static>,
        client: Option<IpAddr>,
        scope: Scope,
        watcher: Watcher,
        closing: Pin<&mut impl Future<Output = ()>>,
    ) {
        let config = &self.config;
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
        let (proxy, is_logged, max_fields) =
            (self.proxy.clone(), config.access_log, config.max_header_fields);
        let service = service_fn(move |request| {
            let proxy = proxy.clone();
            async move {
                let asked = Asked::of(&request);
                let client = proxy.client(client, &asked);
                let access = Access::begin(proxy.clone(), client, &asked, is_logged);
                // HTTP/2 limits the bytes of a header, not its fields.
                let answer = if request.headers().len() > max_fields {
                    proxy.refuse(too_large())
                } else {
                    proxy.answer_to(&asked, client, scope).await
                };
                Ok::<_, Infallible>(access.watch(answer))
            }
        });
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(config.send_timeout));
        let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).into_owned();
        let ended = watcher.watch(connection).await;
        // Hyper has answered with 431 itself.
        let is_too_large = |error: &hyper::Error| error.is_parse_too_large();
        if ended.is_err_and(|error| error.downcast_ref().is_some_and(is_too_large)) {
            Access::too_large(&self.proxy, client, is_logged).0.ended();
        }
    }
}

/// Where connections come from.
trait Listen {
    fn accept(&self) -> impl Future<Output = io::Result<TcpStream>> + Send;
}

impl Listen for TcpListener {
    async fn accept(&self) -> io::Result<TcpStream> {
        Self::accept(self).await.map(|(stream, _)| stream)
    }
}

/// Whether one connection has failed before it was accepted.
fn is_of_client(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

/// Whether the listener itself is not usable, so that no later attempt can succeed.
fn is_of_listener(error: &io::Error) -> bool {
    use rustix::io::Errno;

    let fatal = [Errno::BADF, Errno::FAULT, Errno::INVAL, Errno::NOTSOCK];
    error.raw_os_error().is_some_and(|code| fatal.contains(&Errno::from_raw_os_error(code)))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use rustix::io::Errno;

    use super::*;
    use crate::pages::{self, Pages};
    use crate::serve::Config;
    use crate::store::{self, Store};

    /// A listener whose attempts fail with these errors; after the last one nothing happens.
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
        async fn accept(&self) -> io::Result<TcpStream> {
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
        let proxy =
            Proxy::new(Vec::new(), Pages::new(Vec::new(), pages::Config::new()), store, Config::new());
        let server = Arc::new(Server::new(proxy, ServerConfig::new()));
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
    async fn a_listener_that_is_not_usable_ends_the_server() {
        let listener = Failing::new([Errno::NOMEM, Errno::BADF]);
        let ended = accept_all(&listener).await.unwrap();
        assert_eq!(Errno::from_io_error(&ended), Some(Errno::BADF));
    }
}
