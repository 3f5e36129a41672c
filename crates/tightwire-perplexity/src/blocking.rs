//! Blocking client, for programs without an async runtime.

use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::client::{self, Call};
use crate::error::{Error, Result};
use crate::stream::{EventStream, StreamItem};

/// Runs the calls of a [`Client`](crate::Client) on an internal runtime with one thread.
///
/// Must not be used or dropped inside async code, because it blocks the thread.
///
/// # Examples
/// ```no_run
/// use tightwire_perplexity::types::chat::Request;
///
/// let client = tightwire_perplexity::blocking::Client::new(tightwire_perplexity::Client::from_env()?)?;
/// let request = Request::new("sonar", "Why is the sky blue?");
/// let completion = client.run(|api| api.chat().create(&request))?;
/// for chunk in client.stream(|api| api.chat().stream(&request))? {
///     print!("{}", chunk?.delta_text().unwrap_or_default());
/// }
/// # Ok::<(), tightwire_perplexity::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    api: client::Client,
    runtime: Arc<Runtime>,
}

impl Client {
    /// Wraps a client.
    ///
    /// # Errors
    /// [`Error::is_config`] if the runtime cannot be started.
    pub fn new(api: client::Client) -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("perplexity").enable_all().build();
        let runtime =
            runtime.map_err(|error| Error::config("the runtime cannot be started").with_source(error))?;
        Ok(Self { api, runtime: Arc::new(runtime) })
    }

    /// Returns the wrapped client.
    pub fn api(&self) -> &client::Client {
        &self.api
    }

    /// Sends a call and waits for its response.
    ///
    /// # Errors
    /// Same as [`Call::send`].
    ///
    /// # Panics
    /// Panics inside async code.
    pub fn run<T>(&self, call: impl FnOnce(&client::Client) -> Call<T>) -> Result<T> {
        self.runtime.block_on(call(&self.api).send())
    }

    /// Waits for any future, such as a [`Wait`](crate::Wait) or a download.
    ///
    /// # Panics
    /// Panics inside async code.
    pub fn wait<F: IntoFuture>(&self, future: F) -> F::Output {
        self.runtime.block_on(async { future.await })
    }

    /// Sends a call and returns an iterator over its stream.
    ///
    /// # Errors
    /// Same as [`Call::send`].
    ///
    /// # Panics
    /// Panics inside async code.
    pub fn stream<T: StreamItem>(
        &self,
        call: impl FnOnce(&client::Client) -> Call<EventStream<T>>,
    ) -> Result<Iter<T>> {
        Ok(Iter { stream: self.run(call)?, runtime: Arc::clone(&self.runtime) })
    }
}

/// Blocking iterator over a stream. Dropping it closes the connection.
#[derive(Debug)]
pub struct Iter<T> {
    stream: EventStream<T>,
    runtime: Arc<Runtime>,
}

impl<T> Iter<T> {
    /// Returns the underlying stream.
    pub fn get_ref(&self) -> &EventStream<T> {
        &self.stream
    }

    /// Accepts partial responses; see [`EventStream::allow_partial`].
    #[must_use]
    pub fn allow_partial(self) -> Self
    where
        T: StreamItem,
    {
        Self { stream: self.stream.allow_partial(), runtime: self.runtime }
    }
}

impl<T: StreamItem> Iterator for Iter<T> {
    type Item = Result<T>;

    /// # Panics
    /// Panics inside async code.
    fn next(&mut self) -> Option<Result<T>> {
        let Self { stream, runtime } = self;
        runtime.block_on(stream.next())
    }
}
