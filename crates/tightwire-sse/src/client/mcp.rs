//! Streamable HTTP transport of the Model Context Protocol (MCP), client side.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use bytes::Bytes;
use futures_core::Stream as _;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};

use super::request::{Refusal, is_media_type};
use super::transport::poll_body;
use super::{EventSource, EventSourceBuilder, IdleTimer, MIME_TYPE, Message};
use crate::error::{Error, Kind, Result};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// Session of an MCP client: the `Mcp-Session-Id` that the server assigned.
///
/// [`EventSourceBuilder::send_mcp`] stores the id of a response and sends it with all later requests. Clones share the
/// id, and an event stream of the session removes it when the server has ended the session.
///
/// # Requests without a message
///
/// Two other requests have the header `Mcp-Session-Id`, and `MCP-Protocol-Version`, for example as a default header of
/// the `reqwest::Client`. A GET request opens the stream of messages that belong to no request, and DELETE ends the
/// session. If the server does not support one of them, its status is 405: the [`Error::status`] of the first item of
/// the stream, and the status of the response to DELETE.
///
/// ```no_run
/// use futures_util::TryStreamExt;
/// use tightwire_sse::{EventSource, McpSession};
///
/// # async fn run(client: reqwest::Client, session: McpSession) -> Result<(), Box<dyn std::error::Error>> {
/// let url = "https://example.org/mcp";
/// if let Some(id) = session.id() {
///     let mut source = EventSource::from_request(client.get(url)).header("mcp-session-id", &id).build()?;
///     match source.events().try_next().await {
///         Ok(event) => println!("{event:?}"),
///         Err(error) if error.status() == Some(405) => println!("no such messages"),
///         Err(error) => return Err(error.into()),
///     }
///     client.delete(url).header("mcp-session-id", id).send().await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct McpSession {
    id: Arc<Mutex<Option<HeaderValue>>>,
}

impl McpSession {
    /// Returns a session without id, for the request `initialize`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the id, for requests that are sent without [`EventSourceBuilder::send_mcp`]. `None` before the first
    /// response, after [`Error::is_session_ended`], and if the server assigns none.
    pub fn id(&self) -> Option<HeaderValue> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<HeaderValue>> {
        self.id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kind of error for a refused request, and removes the id if the server has ended the session. A message
    /// without an id belongs to no session: its URL may be wrong.
    pub(super) fn refusal(&self, refusal: Refusal, status: StatusCode, is_resumption: bool) -> Refusal {
        let is_end = match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => is_resumption || self.id().is_some(),
            StatusCode::UNAUTHORIZED => is_resumption,
            _ => false,
        };
        if !is_end {
            return refusal;
        }
        *self.lock() = None;
        Kind::SessionEnded
    }
}

/// Response to an MCP message; see [`EventSourceBuilder::send_mcp`].
#[derive(Debug)]
#[non_exhaustive]
pub enum McpReply {
    /// The server accepted a notification or a response: status 202.
    Accepted,
    /// Body of a response of type `application/json`: one JSON-RPC message.
    Json(Bytes),
    /// Event stream of JSON-RPC messages. The first response is already open, without [`Message::Open`].
    ///
    /// If it ends or fails, the client resumes it with a GET request and `Last-Event-ID`. The server ends the stream
    /// after the response to the request: [`close`](EventSource::close) the client when it has received that.
    Events(Box<EventSource>),
}

impl EventSourceBuilder {
    /// Sends the body as an MCP message over Streamable HTTP (MCP 2025-11-25, section "Transports"): a POST request with
    /// the id of the session. Stores a session id that the server assigns.
    ///
    /// The message is sent only once, because a repetition could have its effect twice. An interrupted event stream is
    /// resumed with GET requests that have the other headers of this one, the session id and `Last-Event-ID`, with the
    /// delays of the [backoff](Self::backoff). If the server has sent no event id, the stream fails with
    /// [`Error::is_request`] after the delay.
    ///
    /// `Accept` is set, and so is `Content-Type: application/json` unless there is another. Set `MCP-Protocol-Version`
    /// with [`header`](Self::header). An event can have an id without data; skip events whose data is empty.
    ///
    /// # Errors
    ///
    /// Those of [`build`](Self::build), and:
    ///
    /// - [`Error::is_transport`] and [`Error::is_timeout`] if the response is not received. It is unknown whether the
    ///   server has received the message.
    /// - [`Error::is_status`] for another status than 200 and 202. With 404 and 410 it is also
    ///   [`Error::is_session_ended`] if the session had an id: it is removed, and the client has to initialize a new
    ///   session. So it is with 401, 404 and 410 when the client resumes an event stream.
    /// - [`Error::is_content_type`] if the response is neither JSON nor an event stream.
    /// - [`Error::is_limit`] if a JSON response is larger than [`Config::max_event_size`](crate::Config::max_event_size).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use futures_util::TryStreamExt;
    /// use tightwire_sse::{EventSource, McpReply, McpSession};
    ///
    /// # async fn run() -> tightwire_sse::Result<()> {
    /// let client = reqwest::Client::new();
    /// let mut session = McpSession::new();
    /// let request = client
    ///     .post("https://example.org/mcp")
    ///     .header("mcp-protocol-version", "2025-11-25")
    ///     .body(r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#);
    /// match EventSource::from_request(request).send_mcp(&mut session).await? {
    ///     McpReply::Json(message) => println!("{message:?}"),
    ///     McpReply::Events(mut source) => {
    ///         while let Some(event) = source.events().try_next().await? {
    ///             println!("{}", event.data());
    ///             // A real client closes it after the response with its request id.
    ///             source.close();
    ///         }
    ///     }
    ///     _ => {}
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn send_mcp(self, session: &mut McpSession) -> Result<McpReply> {
        let builder = self.change(|request| {
            *request.method_mut() = Method::POST;
            let headers = request.headers_mut();
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
            if let Some(id) = session.id() {
                headers.insert(SESSION_ID, id);
            }
            Ok(())
        });
        let mut source = builder.build()?;
        let timeouts = [source.options().read_timeout, source.options().event_timeout];
        let mut timer = IdleTimer::new(timeouts.into_iter().flatten().min());
        let mut connecting = source.connect()?;
        let response = poll_fn(|cx| match connecting.as_mut().poll(cx) {
            Poll::Ready(result) => Poll::Ready(result.map_err(|failure| failure.error)),
            Poll::Pending => timer.poll_elapsed(cx).map(|()| Err(Error::new(Kind::Timeout))),
        });
        let response = response.await?;
        if let Some(id) = response.headers().get(SESSION_ID) {
            *session.lock() = Some(id.clone());
        }
        match response.status() {
            StatusCode::ACCEPTED => return Ok(McpReply::Accepted),
            StatusCode::OK if is_json(response.headers()) => {
                let timer = IdleTimer::new(source.options().read_timeout);
                let limit = source.options().decoder.max_event_size;
                return Ok(McpReply::Json(receive(response.into_body(), limit, timer).await?));
            }
            _ => {}
        }
        let headers = source.resume_with_get(response, session.clone());
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static(MIME_TYPE));
        if let Some(id) = session.id() {
            headers.insert(SESSION_ID, id);
        }
        match poll_fn(|cx| Pin::new(&mut source).poll_next(cx)).await {
            // The message must not be sent again.
            Some(Err(error) | Ok(Message::Reconnecting { error, .. })) => Err(error),
            _ => Ok(McpReply::Events(Box::new(source))),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| is_media_type(value.as_bytes(), "application/json"))
}

/// Receives a body of at most `limit` bytes.
async fn receive(mut body: reqwest::Body, limit: usize, mut timer: IdleTimer) -> Result<Bytes> {
    let mut received = Vec::new();
    poll_fn(|cx| {
        let length = received.len();
        let result = poll_body(&mut body, &mut received, limit, cx);
        if result.is_ready() {
            return result;
        }
        if received.len() > length {
            timer.reset();
        }
        timer.poll_elapsed(cx).map(|()| Err(Error::new(Kind::Timeout)))
    })
    .await?;
    Ok(received.into())
}

/// Omits the id, which is a secret.
impl fmt::Debug for McpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSession").field("has_id", &self.id().is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::time::Duration;

    use futures_util::stream;
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_read_timeout_of_a_json_response_restarts_with_each_chunk() {
        for (delay, is_received) in [(9, true), (11, false)] {
            let chunks = stream::unfold(0, move |sent| async move {
                sleep(Duration::from_secs(delay)).await;
                (sent < 3).then_some((Ok::<_, Infallible>("a"), sent + 1))
            });
            let timer = IdleTimer::new(Some(Duration::from_secs(10)));
            match receive(reqwest::Body::wrap_stream(chunks), 3, timer).await {
                Ok(body) => assert!(is_received && body == "aaa"),
                Err(error) => assert!(!is_received && error.is_timeout(), "{error}"),
            }
        }
    }
}
