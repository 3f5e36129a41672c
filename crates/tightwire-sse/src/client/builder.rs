//! Configuration of the client.

use std::fmt;
use std::time::Duration;

use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Client, IntoUrl, Request, RequestBuilder};

use super::request::{Template, check_last_event_id, check_scheme, take_last_event_id};
use super::retry::Retry;
use super::silence::Silence;
use super::source::Settings;
use super::transport::{Transport, default_client, has_tls, request_error};
use super::{Backoff, EventSource};
use crate::Config;
use crate::error::{Error, Kind, Result};

/// Configures an [`EventSource`]; see [`EventSource::builder`] and [`EventSource::from_request`].
///
/// The first invalid value is kept and reported by [`build`](Self::build).
#[must_use = "call `build` to get the client"]
pub struct EventSourceBuilder {
    client: Option<Client>,
    request: Result<Request>,
    last_event_id: Option<String>,
    decoder: Config,
    backoff: Backoff,
    read_timeout: Option<Duration>,
    comments: bool,
    retry_server_errors: bool,
}

impl EventSource {
    /// Starts to configure a client that sends GET requests to this URL, which is `http` or `https`.
    ///
    /// `https` needs one of reqwest's TLS features; without them [`build`](EventSourceBuilder::build) fails.
    pub fn builder(url: impl IntoUrl) -> EventSourceBuilder {
        let url = url.into_url().map_err(request_error);
        EventSourceBuilder::new(None, url.map(|url| Request::new(Method::GET, url)))
    }

    /// Starts to configure a client from a request, whose `reqwest::Client` it takes over.
    ///
    /// A timeout of the request or of its client covers the whole stream and would cut it off; use
    /// [`EventSourceBuilder::read_timeout`] instead.
    ///
    /// # Examples
    ///
    /// A completion of an LLM API, which must not be asked for twice:
    ///
    /// ```no_run
    /// # fn run() -> tightwire_sse::Result<()> {
    /// let request = reqwest::Client::new()
    ///     .post("https://example.org/v1/chat/completions")
    ///     .bearer_auth("secret")
    ///     .body(r#"{"stream": true, "messages": []}"#);
    /// let source = tightwire_sse::EventSource::from_request(request)
    ///     .backoff(tightwire_sse::Backoff::new().max_attempts(0))
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_request(request: RequestBuilder) -> EventSourceBuilder {
        let (client, request) = request.build_split();
        EventSourceBuilder::new(Some(client), request.map_err(request_error))
    }
}

impl EventSourceBuilder {
    fn new(client: Option<Client>, request: Result<Request>) -> Self {
        Self {
            client,
            request,
            last_event_id: None,
            decoder: Config::new(),
            backoff: Backoff::new(),
            read_timeout: None,
            comments: false,
            retry_server_errors: false,
        }
    }

    /// Sets the HTTP client, with its proxies, TLS, connect timeout and redirect policy.
    ///
    /// Default: one with the defaults of reqwest, except that a redirect to the URL it came from, which is
    /// what an empty `Location` means, is refused at once rather than after the limit of redirects.
    pub fn client(mut self, client: Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Sets the method. Default: GET.
    pub fn method(self, method: Method) -> Self {
        self.change(|request| {
            *request.method_mut() = method;
            Ok(())
        })
    }

    /// Sets a request header, in place of any value it has.
    ///
    /// `Accept` and `Cache-Control` are sent as `text/event-stream` and `no-cache` unless set here. A
    /// `Last-Event-ID` has the meaning of [`last_event_id`](Self::last_event_id).
    pub fn header<K, V>(self, name: K, value: V) -> Self
    where
        K: TryInto<HeaderName, Error: Into<http::Error>>,
        V: TryInto<HeaderValue, Error: Into<http::Error>>,
    {
        self.change(|request| {
            let name = name.try_into().map_err(|error| header_error(error.into()))?;
            let value = value.try_into().map_err(|error| header_error(error.into()))?;
            request.headers_mut().insert(name, value);
            Ok(())
        })
    }

    /// Sets several request headers, in place of any values they have.
    pub fn headers(self, headers: HeaderMap) -> Self {
        self.change(|request| {
            let target = request.headers_mut();
            for name in headers.keys() {
                target.remove(name);
            }
            target.extend(headers);
            Ok(())
        })
    }

    /// Sets the body, which is sent again on every connection so it cannot be a stream. Default: none.
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.change(|request| {
            *request.body_mut() = Some(body.into());
            Ok(())
        })
    }

    /// Presets the id that the first connection resumes after, as if an event with it had been received.
    /// Default: empty, which sends no `Last-Event-ID`.
    pub fn last_event_id(mut self, id: impl Into<String>) -> Self {
        self.last_event_id = Some(id.into());
        self
    }

    /// Sets the limits of the decoder. Default: [`Config::new`].
    pub const fn decoder(mut self, config: Config) -> Self {
        self.decoder = config;
        self
    }

    /// Sets how long to wait between connections, and how many to make. Default: [`Backoff::new`].
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Limits how long the server may be silent, before its response and inside of it. Any byte ends the
    /// silence, even a part of a comment. After it the connection counts as lost.
    ///
    /// Default: no limit. Choose more than twice the interval of the server's keep-alive comments.
    pub const fn read_timeout(mut self, silence: Duration) -> Self {
        self.read_timeout = Some(silence);
        self
    }

    /// Makes the client report comments, except those longer than [`Config::max_event_size`]. Default: all
    /// are skipped without being stored.
    pub const fn report_comments(mut self) -> Self {
        self.comments = true;
        self
    }

    /// Makes the client connect again after a status from 500 to 599. Default: the rule of the HTML standard,
    /// by which every status but 200 is final.
    pub const fn retry_server_errors(mut self) -> Self {
        self.retry_server_errors = true;
        self
    }

    /// Returns the client, which sends its first request when it is polled.
    ///
    /// # Errors
    ///
    /// [`Error::is_request`] for an invalid URL, header or id, an `https` URL in a build without TLS, a body that
    /// cannot be sent twice, and when the default HTTP client cannot be built.
    pub fn build(self) -> Result<EventSource> {
        let mut request = self.request?;
        check_scheme(request.url().scheme(), has_tls())?;
        let header = take_last_event_id(request.headers_mut())?;
        let last_event_id = self.last_event_id.or(header).unwrap_or_default();
        check_last_event_id(&last_event_id)?;
        let request = Template::new(request)?;
        let client = match self.client {
            Some(client) => client,
            None => default_client()?,
        };
        let settings = Settings {
            request,
            transport: Transport::reqwest(client),
            decoder: self.decoder,
            comments: self.comments,
            retry_server_errors: self.retry_server_errors,
        };
        let silence = Silence::new(self.read_timeout);
        Ok(EventSource::new(settings, Retry::new(self.backoff), silence, last_event_id))
    }

    /// Changes the request unless an earlier change failed.
    fn change(mut self, change: impl FnOnce(&mut Request) -> Result<()>) -> Self {
        self.request = self.request.and_then(|mut request| change(&mut request).map(|()| request));
        self
    }
}

/// The error of the `http` crate names no part of the header.
fn header_error(error: http::Error) -> Error {
    Error::with_source(Kind::Request, error)
}

/// Shows neither the URL nor the headers, body or ids, which may be secret.
impl fmt::Debug for EventSourceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSourceBuilder")
            .field("decoder", &self.decoder)
            .field("backoff", &self.backoff)
            .field("read_timeout", &self.read_timeout)
            .finish_non_exhaustive()
    }
}
