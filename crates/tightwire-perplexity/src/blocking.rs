//! Blocking client, for programs without an async runtime.
//!
//! It has the builder, endpoints, calls and types of the async client. The differences: [`Call::send`] blocks instead of
//! being awaited, and streams are iterated over with `for`. [`Client::block_on`] waits for everything else.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use tightwire_perplexity::blocking::Client;
//! use tightwire_perplexity::types::responses::{Request, WebSearch};
//!
//! let client = Client::builder().api_key("pplx-0123456789abcdef0123456789abcdef").timeout(Duration::from_secs(60)).build()?;
//! let request = Request::new("perplexity/sonar", "Why is the sky blue?").tools([WebSearch::new()]);
//! let response = client.responses().create(&request).max_retries(4).send()?;
//! println!("{}", response.output_text());
//!
//! for piece in client.responses().stream(&request).send()?.text() {
//!     print!("{}", piece?);
//! }
//! # Ok::<(), tightwire_perplexity::Error>(())
//! ```
//!
//! All blocking clients of a process share one internal thread, which starts with the first call. Whatever blocks panics
//! inside async code, because it would block the thread of the runtime.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::OnceLock;

use futures_core::Stream;
use http::Method;
use tokio::runtime::{Builder, Runtime};

use crate::client;
use crate::error::{Error, Result};
use crate::pages::{Items, Page};
use crate::stream::{Accumulate, AccumulatingStream, EventStream, ResumingStream, StreamItem, TextStream};

/// Builder of a blocking [`Client`].
pub type ClientBuilder = client::ClientBuilder<Client>;

/// Call of a blocking [`Client`].
pub type Call<T> = client::Call<T, Client>;

/// Returns the runtime of all blocking clients.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).thread_name("perplexity").enable_all().build();
    let runtime =
        runtime.map_err(|error| Error::config("the runtime cannot be started").with_source(error))?;
    Ok(RUNTIME.get_or_init(|| runtime))
}

/// Blocking client of the Perplexity API. Cloning is cheap: clones share connections and settings.
///
/// # Examples
///
/// ```no_run
/// use tightwire_perplexity::types::batches::ListParams;
///
/// let client = tightwire_perplexity::blocking::Client::from_env()?;
/// for batch in client.batches().list(&ListParams::default()).items() {
///     println!("{}", batch?.id);
/// }
/// let response = client.block_on(client.responses().wait("resp_1"))?;
/// # Ok::<(), tightwire_perplexity::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    api: client::Client,
}

impl Client {
    /// Creates a client with this API key. Other settings come from the environment, see
    /// [`Client::from_env`](crate::Client::from_env).
    ///
    /// # Errors
    ///
    /// Same as [`ClientBuilder::build`](crate::ClientBuilder::build).
    pub fn new(api_key: impl Into<String>) -> Result<Self> {
        Self::builder().api_key(api_key).build()
    }

    /// Creates a client from the environment; see [`Client::from_env`](crate::Client::from_env).
    ///
    /// # Errors
    ///
    /// Same as [`ClientBuilder::build`](crate::ClientBuilder::build).
    pub fn from_env() -> Result<Self> {
        Self::builder().build()
    }

    /// Returns a builder with default settings.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Returns the async client.
    pub fn api(&self) -> &client::Client {
        &self.api
    }

    /// Creates a request to any path of the API; see [`Client::request`](crate::Client::request).
    pub fn request(&self, method: Method, path: &str) -> Call<tightwire_json::Value> {
        self.api.request(method, path).for_client()
    }

    /// Waits for a future of this crate, such as a [`Wait`](crate::Wait), [`EventStream::accumulate`] or
    /// [`Download::bytes`](crate::Download::bytes).
    ///
    /// # Errors
    ///
    /// The error of the future, or [`Error::is_config`] if the internal thread cannot be started.
    ///
    /// # Panics
    ///
    /// Panics inside async code.
    pub fn block_on<T>(&self, future: impl IntoFuture<Output = Result<T>>) -> Result<T> {
        runtime()?.block_on(async { future.await })
    }
}

impl From<client::Client> for Client {
    /// Uses the settings and connections of an async client.
    fn from(api: client::Client) -> Self {
        Self { api }
    }
}

impl<T> client::Call<T, Client> {
    /// Sends the call and waits for its result.
    ///
    /// # Errors
    ///
    /// All kinds of [`Error`]. [`Error::is_config`] if the internal thread cannot be started.
    ///
    /// # Panics
    ///
    /// Panics inside async code.
    pub fn send(self) -> Result<T> {
        runtime()?.block_on(self.for_client::<client::Client>().send())
    }
}

/// Blocking iterator over a stream. Dropping it drops the stream, which cancels the request.
///
/// # Panics
///
/// The iterator panics inside async code.
#[derive(Debug)]
pub struct Iter<S> {
    stream: S,
}

impl<S> Iter<S> {
    /// Returns the underlying stream.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }
}

impl<S: Stream<Item = Result<T>> + Unpin, T> Iterator for Iter<S> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        match runtime() {
            Ok(runtime) => runtime.block_on(poll_fn(|context| Pin::new(&mut self.stream).poll_next(context))),
            Err(error) => Some(Err(error)),
        }
    }
}

macro_rules! iterable {
    ($($stream:ty $(, $parameter:ident: $bound:ident)?;)+) => {$(
        impl$(<$parameter: $bound>)? IntoIterator for $stream {
            type Item = <Self as Stream>::Item;
            type IntoIter = Iter<Self>;

            fn into_iter(self) -> Iter<Self> {
                Iter { stream: self }
            }
        }

        /// The stream can be used after the loop.
        impl$(<$parameter: $bound>)? IntoIterator for &mut $stream {
            type Item = <Self as Stream>::Item;
            type IntoIter = Iter<Self>;

            fn into_iter(self) -> Iter<Self> {
                Iter { stream: self }
            }
        }
    )+};
}

iterable! {
    EventStream<T>, T: StreamItem;
    TextStream<T>, T: StreamItem;
    AccumulatingStream<T>, T: Accumulate;
    ResumingStream;
    Items<P>, P: Page;
    client::Download;
}
