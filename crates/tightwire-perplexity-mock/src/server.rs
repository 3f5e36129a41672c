//! The server: listening, connections, stopping.

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
use crate::log::{Counts, Limits, Log};
use crate::request::Request;
use crate::scenario::Scenario;
use crate::service::Service;
use crate::wire::{Socket, Wire};

/// How the server is run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Where it listens; a free port of the loopback interface by default.
    pub address: SocketAddr,
    /// The longest body of a request that is read, in bytes; 64 MiB by default. A longer one gets status 413.
    pub max_body_size: usize,
    /// How many requests are kept for [`Mock::requests`]; the newest 10,000 by default. 0 keeps none.
    pub max_requests: usize,
    /// How long the bodies of the kept requests may be together, in bytes; 256 MiB by default. The oldest requests
    /// make room.
    pub max_record_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            max_body_size: 64 << 20,
            max_requests: 10_000,
            max_record_bytes: 256 << 20,
        }
    }
}

impl Config {
    /// Sets [`address`](Self::address).
    #[must_use]
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Sets [`max_body_size`](Self::max_body_size).
    #[must_use]
    pub fn max_body_size(mut self, bytes: usize) -> Self {
        self.max_body_size = bytes;
        self
    }

    /// Sets [`max_requests`](Self::max_requests).
    #[must_use]
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.max_requests = requests;
        self
    }

    /// Sets [`max_record_bytes`](Self::max_record_bytes).
    #[must_use]
    pub fn max_record_bytes(mut self, bytes: usize) -> Self {
        self.max_record_bytes = bytes;
        self
    }
}

/// A running server. Dropping it stops it and closes its connections: at once if it has a thread, otherwise as soon as
/// the runtime gets to its task.
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
    /// Starts a server with default settings on the runtime of the caller. Its delays follow the clock of that
    /// runtime, which a test may pause.
    ///
    /// # Errors
    ///
    /// If no port can be listened on.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time enabled.
    pub async fn start(scenario: Scenario) -> Result<Self> {
        Self::start_with(scenario, Config::default()).await
    }

    /// As [`start`](Self::start), with settings.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    pub async fn start_with(scenario: Scenario, config: Config) -> Result<Self> {
        let listener = TcpListener::bind(config.address).await.map_err(Error::start)?;
        let address = listener.local_addr().map_err(Error::start)?;
        let service = service(scenario, &config);
        let task = tokio::spawn(serve(listener, Arc::clone(&service)));
        Ok(Self { address, service, stop: Stop::Task(task) })
    }

    /// Starts a server on a thread of its own, for callers without a runtime.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on, or the thread not be started.
    pub fn start_blocking(scenario: Scenario, config: Config) -> Result<Self> {
        let service = service(scenario, &config);
        let (signal, stopped) = oneshot::channel();
        let served = Arc::clone(&service);
        let start = || {
            let listener = std::net::TcpListener::bind(config.address)?;
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
                        // An error means that the handle is gone, which ends the server as well.
                        _ = stopped => {}
                    }
                });
            };
            let thread = thread::Builder::new().name("perplexity-mock".to_owned()).spawn(run)?;
            Ok((address, thread))
        };
        let (address, thread) = start().map_err(Error::start)?;
        Ok(Self { address, service, stop: Stop::Thread { signal: Some(signal), thread: Some(thread) } })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for clients, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests received so far, in the order in which their bodies were complete.
    pub fn requests(&self) -> Vec<Request> {
        self.service.log.requests()
    }

    /// As [`requests`](Self::requests), and forgets them. The counts stay.
    pub fn take_requests(&self) -> Vec<Request> {
        self.service.log.take()
    }

    /// How many requests were received.
    pub fn request_count(&self) -> u64 {
        self.counts().requests
    }

    /// How many connections were accepted, closed ones included.
    pub fn connection_count(&self) -> u64 {
        self.counts().connections
    }

    /// All counts at one moment.
    pub fn counts(&self) -> Counts {
        self.service.log.counts()
    }

    /// Waits until the counts fulfil a condition, such as that no connection is open.
    pub async fn wait_for(&self, condition: impl FnMut(&Counts) -> bool) -> Counts {
        self.service.log.wait_for(condition).await
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        match &mut self.stop {
            Stop::Task(task) => task.abort(),
            Stop::Thread { signal, thread } => {
                // The thread may have ended by itself, in a panic that is reported by then.
                let _ = signal.take().map(|signal| signal.send(()));
                let _ = thread.take().map(thread::JoinHandle::join);
            }
        }
    }
}

fn service(scenario: Scenario, config: &Config) -> Arc<Service> {
    let limits = Limits { requests: config.max_requests, bytes: config.max_record_bytes };
    Arc::new(Service::new(scenario, config.max_body_size, Log::new(limits)))
}

async fn serve(listener: TcpListener, service: Arc<Service>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, Arc::clone(&service)));
                }
                // Accepting fails when the client has gone already, or file descriptors are short for a while.
                Err(error) => if !is_of_one_connection(&error) {
                    sleep(Duration::from_millis(10)).await;
                },
            },
            // Finished connections are let go; their outcome is the client's business.
            Some(_) = connections.join_next() => {}
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}

/// Counts a connection out when it ends, in whatever way.
struct Open<'a>(&'a Log);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.closed();
    }
}

async fn connection(stream: TcpStream, service: Arc<Service>) {
    let number = service.log.opened();
    let _open = Open(&service.log);
    // Without it the pieces of a stream wait for acknowledgements. Where it fails they are late, which is all.
    let _ = stream.set_nodelay(true);
    let wire = Arc::new(Wire::default());
    let answers = service_fn(|request| service.answer(request, number, Arc::clone(&wire)));
    // Connections break here on purpose, on either side.
    let _ = http1::Builder::new()
        .auto_date_header(false)
        .serve_connection(TokioIo::new(Socket::new(stream, Arc::clone(&wire))), answers)
        .await;
}
