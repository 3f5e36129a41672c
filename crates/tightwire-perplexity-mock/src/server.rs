//! The server: listening, connections, shutdown.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use crate::error::{Error, Result};
use crate::log::{Counts, Log};
use crate::request::Request;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::socket::{ConnectionState, Socket};

/// Server configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address to listen on. Default: a free port on the loopback interface.
    pub address: SocketAddr,
    /// Maximum size of request bodies, in bytes. Larger ones get status 413. Default: 32 MiB.
    pub max_body_size: usize,
    /// Maximum recorded requests; the oldest are evicted. 0 disables the record. Default: 10,000.
    pub max_requests: usize,
    /// Maximum total size of the recorded bodies, in bytes; the oldest requests are evicted. Default: 256
    /// MiB.
    pub max_record_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            max_body_size: 32 << 20,
            max_requests: 10_000,
            max_record_bytes: 256 << 20,
        }
    }
}

/// A running server. Dropping it stops the server and closes its connections: immediately if it runs on its
/// own thread, otherwise when the runtime processes the aborted task.
///
/// ```
/// use tightwire_perplexity_mock::{Mock, Scenario};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
/// # runtime.block_on(async {
/// let mock = Mock::start(Scenario::api()).await?;
/// println!("{}/chat/completions", mock.url());
/// assert_eq!(mock.request_count(), 0);
/// # Ok::<(), tightwire_perplexity_mock::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    service: Arc<Service>,
    stop: Stop,
}

#[derive(Debug)]
enum Stop {
    Task(JoinHandle<()>),
    Thread { signal: Option<oneshot::Sender<()>>, thread: Option<thread::JoinHandle<()>> },
}

impl Mock {
    /// Starts a server with the default configuration on the caller's runtime. Its delays use that runtime's
    /// clock, which tests may pause.
    ///
    /// # Errors
    ///
    /// If no port can be bound.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime with I/O and time enabled.
    pub async fn start(scenario: Scenario) -> Result<Self> {
        Self::start_with(scenario, Config::default()).await
    }

    /// Same as [`start`](Self::start), with a configuration.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    ///
    /// # Panics
    ///
    /// Same as [`start`](Self::start).
    pub async fn start_with(scenario: Scenario, config: Config) -> Result<Self> {
        let listener = TcpListener::bind(config.address).await.map_err(Error::Start)?;
        let address = listener.local_addr().map_err(Error::Start)?;
        let service = Arc::new(Service::new(scenario, config));
        let task = tokio::spawn(serve(listener, Arc::clone(&service)));
        Ok(Self { address, service, stop: Stop::Task(task) })
    }

    /// Starts a server on its own thread, for callers without a runtime.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound or the thread cannot be started.
    pub fn start_blocking(scenario: Scenario, config: Config) -> Result<Self> {
        let address = config.address;
        let service = Arc::new(Service::new(scenario, config));
        let (signal, stopped) = oneshot::channel();
        let served = Arc::clone(&service);
        let start = || {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let listener = {
                let _context = runtime.enter();
                TcpListener::from_std(listener)?
            };
            let run = move || {
                runtime.block_on(async {
                    tokio::select! {
                        () = serve(listener, served) => {}
                        // An error means that the handle was dropped, which stops the server as well.
                        _ = stopped => {}
                    }
                });
            };
            let thread = thread::Builder::new().name("perplexity-mock".to_owned()).spawn(run)?;
            Ok((address, thread))
        };
        let (address, thread) = start().map_err(Error::Start)?;
        Ok(Self { address, service, stop: Stop::Thread { signal: Some(signal), thread: Some(thread) } })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL for clients, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the recorded requests, in the order in which their bodies were complete.
    pub fn requests(&self) -> Vec<Request> {
        self.service.log.requests()
    }

    /// Returns the recorded requests and removes them. The counts are unchanged.
    pub fn take_requests(&self) -> Vec<Request> {
        self.service.log.take()
    }

    /// Returns the number of requests received.
    pub fn request_count(&self) -> u64 {
        self.counts().requests
    }

    /// Returns the number of connections accepted, including closed ones.
    pub fn connection_count(&self) -> u64 {
        self.counts().connections
    }

    /// Returns a consistent snapshot of all counts.
    pub fn counts(&self) -> Counts {
        self.service.log.counts()
    }

    /// Waits until the counts satisfy a condition, for example that no connection is open.
    pub async fn wait_for(&self, condition: impl FnMut(&Counts) -> bool) -> Counts {
        self.service.log.wait_for(condition).await
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        match &mut self.stop {
            Stop::Task(task) => task.abort(),
            Stop::Thread { signal, thread } => {
                // The thread may have ended with a panic, which was already reported.
                let _ = signal.take().map(|signal| signal.send(()));
                let _ = thread.take().map(thread::JoinHandle::join);
            }
        }
    }
}

async fn serve(listener: TcpListener, service: Arc<Service>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&service)));
                }
                // Accepting fails if the client is already gone, or while file descriptors are exhausted.
                Err(error) => match error.kind() {
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset => {}
                    _ => sleep(Duration::from_millis(10)).await,
                },
            },
            // Removes finished connections. Their outcome does not matter to the server.
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Decrements the count of open connections on drop.
struct OpenConnection<'a>(&'a Log);

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.0.closed();
    }
}

async fn connection(stream: TcpStream, service: Arc<Service>) {
    let number = service.log.opened();
    let _open = OpenConnection(&service.log);
    // Without it, stream chunks wait for acknowledgements. If it fails, they are only delayed.
    let _ = stream.set_nodelay(true);
    let connection = Arc::new(ConnectionState::default());
    let handler = service_fn(|request| service.handle(request, number, Arc::clone(&connection)));
    // Connection errors are expected, because faults are injected.
    let _ = http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(Socket::new(stream, Arc::clone(&connection))), handler)
        .await;
}
