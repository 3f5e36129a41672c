//! Configuration of the client.

use std::fmt;
use std::time::Duration;

use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Client, IntoUrl, Request, RequestBuilder};

use super::event_source::Options;
use super::request::{RequestTemplate, check_last_event_id, check_scheme, take_last_event_id};
use super::transport::{Transport, default_client, has_tls, request_error};
use super::{Backoff, EventSource};
use crate::error::{Error, Kind, Result};
use crate::{Config, Ending};

/// Builder of an [`EventSource`]; see [`EventSource::builder`] and [`EventSource::from_request`].
///
/// The first invalid value is reported by [`build`](Self::build).
#[must_use = "call `build` to get the client"]
pub struct EventSourceBuilder {
    client: Option<Client>,
    request: Result<Request>,
    last_event_id: Option<String>,
    options: Options,
}

impl EventSource {
    /// Returns a builder for GET requests to this `http` or `https` URL.
    ///
    /// `https` requires a TLS feature of reqwest; without it, [`build`](EventSourceBuilder::build) fails.
    pub fn builder(url: impl IntoUrl) -> EventSourceBuilder {
        let url = url.into_url().map_err(request_error);
        EventSourceBuilder::new(None, url.map(|url| Request::new(Method::GET, url)))
    }

    /// Returns a builder for this request, with its `reqwest::Client`.
    ///
    /// Do not set a timeout for the request or its client: it would limit the duration of the whole stream. Use
    /// [`EventSourceBuilder::read_timeout`] instead.
    ///
    /// # Examples
    ///
    /// A completion of an LLM API, without retries. [`ResponseExt::events`](crate::ResponseExt::events) does the same
    /// with the response.
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
        Self { client, request, last_event_id: None, options: Options::default() }
    }

    /// Sets the HTTP client, with its proxies, TLS, connect timeout and redirect policy.
    ///
    /// Default: the defaults of reqwest, except that a redirect to the same URL, such as an empty `Location`, is an
    /// error immediately instead of after the maximum number of redirects.
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

    /// Sets a request header and replaces its previous values.
    ///
    /// Defaults: `Accept: text/event-stream` and `Cache-Control: no-cache`. `Last-Event-ID` is the same as
    /// [`last_event_id`](Self::last_event_id).
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

    /// Sets several request headers and replaces their previous values.
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

    /// Sets the body. It is sent on every connection and so cannot be a stream. Default: none.
    pub fn body(self, body: impl Into<Body>) -> Self {
        self.change(|request| {
            *request.body_mut() = Some(body.into());
            Ok(())
        })
    }

    /// Sets the `Last-Event-ID` of the first connection. Default: empty, which sends no header.
    pub fn last_event_id(mut self, id: impl Into<String>) -> Self {
        self.last_event_id = Some(id.into());
        self
    }

    /// Sets the limits of the decoder. Default: [`Config::new`].
    pub const fn decoder(mut self, config: Config) -> Self {
        self.options.decoder = config;
        self
    }

    /// Sets the handling of an incomplete event at the end of a response. Default: [`Ending::Strict`], as the standard
    /// requires, because the client reconnects and can receive the event again.
    pub const fn ending(mut self, ending: Ending) -> Self {
        self.options.ending = ending;
        self
    }

    /// Sets which content types are accepted; `None` is a missing header. Default: `text/event-stream` with any
    /// parameters, as the standard requires.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_sse::EventSource;
    ///
    /// let builder = EventSource::builder("https://example.org/prices")
    ///     .content_types(|value| value.is_none_or(|value| value.as_bytes().starts_with(b"text/")));
    /// ```
    pub const fn content_types(mut self, accepts: fn(Option<&HeaderValue>) -> bool) -> Self {
        self.options.content_types = accepts;
        self
    }

    /// Sets the delays between connections and the number of attempts. Default: [`Backoff::new`].
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.options.backoff = backoff;
        self
    }

    /// Sets the maximum time without data, before the response and within it. Any byte counts as data, even of a
    /// comment. When it elapses, the client reconnects.
    ///
    /// Default: none. Use more than twice the interval of the server's keep-alive comments.
    pub const fn read_timeout(mut self, timeout: Duration) -> Self {
        self.options.read_timeout = Some(timeout);
        self
    }

    /// Sets the maximum time without an event, before the response and within it. Comments do not count as events. When
    /// it elapses, the client reconnects.
    ///
    /// Default: none. Use it for a server that may send keep-alive comments, but no events, for example because its own
    /// source of events has failed. The time starts when the client waits for data after an event, so that the time
    /// in which the caller handles the event does not count.
    pub const fn event_timeout(mut self, timeout: Duration) -> Self {
        self.options.event_timeout = Some(timeout);
        self
    }

    /// Reports comments, except those longer than [`Config::max_event_size`]. Default: comments are skipped without
    /// buffering.
    pub const fn report_comments(mut self) -> Self {
        self.options.comments = true;
        self
    }

    /// Reconnects after a status from 500 to 599 and after 429 (Too Many Requests), with the delays of the
    /// [backoff](Self::backoff).
    ///
    /// Default: every status other than 200 is final, as in the HTML standard, except 429 and 503 with a valid
    /// `Retry-After` header. After these, the client reconnects with or without this setting; see
    /// [`max_retry_after`](Self::max_retry_after).
    pub const fn retry_server_errors(mut self) -> Self {
        self.options.retry_server_errors = true;
        self
    }

    /// Sets the maximum `Retry-After` delay of a response with status 429 or 503. With a longer one, the error is final.
    /// Default: 5 min.
    ///
    /// The header is a number of seconds or an HTTP date (RFC 9110, section 10.2.3). The client waits for this delay or
    /// for that of the [backoff](Self::backoff), whichever is longer. The attempt counts towards
    /// [`Backoff::max_attempts`].
    pub const fn max_retry_after(mut self, delay: Duration) -> Self {
        self.options.max_retry_after = delay;
        self
    }

    /// Sets the maximum size in bytes of [`Error::body`], the body of a response that is not an event stream. The rest
    /// of a larger body is not received. Default: 64 KiB.
    pub const fn max_error_body(mut self, size: usize) -> Self {
        self.options.error_body.size = size;
        self
    }

    /// Sets the maximum time to receive [`Error::body`]. The error then has the part that was received. Default: 5 s.
    pub const fn error_body_timeout(mut self, timeout: Duration) -> Self {
        self.options.error_body.timeout = timeout;
        self
    }

    /// Returns the client. It sends the first request when it is polled.
    ///
    /// # Errors
    ///
    /// [`Error::is_request`] for an invalid URL, header or id, an `https` URL without TLS support in reqwest, a body
    /// that is a stream, and if the default HTTP client cannot be built.
    pub fn build(self) -> Result<EventSource> {
        let mut request = self.request?;
        check_scheme(request.url().scheme(), has_tls())?;
        let header = take_last_event_id(request.headers_mut())?;
        let last_event_id = self.last_event_id.or(header).unwrap_or_default();
        check_last_event_id(&last_event_id)?;
        let request = RequestTemplate::new(request)?;
        let client = match self.client {
            Some(client) => client,
            None => default_client()?,
        };
        Ok(EventSource::new(request, Transport::reqwest(client), self.options, last_event_id))
    }

    /// Changes the request unless an earlier change failed.
    pub(super) fn change(mut self, change: impl FnOnce(&mut Request) -> Result<()>) -> Self {
        self.request = self.request.and_then(|mut request| change(&mut request).map(|()| request));
        self
    }
}

/// Wraps the error of the `http` crate, which does not contain any part of the header.
fn header_error(error: http::Error) -> Error {
    Error::with_source(Kind::Request, error)
}

/// Omits the URL, headers, body and ids, which may be secret.
impl fmt::Debug for EventSourceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSourceBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}
