//! A call: a request that is sent when awaited.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::RawValue;

use super::Client;
use super::download::Download;
use super::exchange::{BodyMode, Exchange};
use super::headers::{self, IDEMPOTENCY_KEY};
use super::multipart::Form;
use super::plan::{Body, Label, Options, Plan};
use super::response;
use super::response::{Response, ResponseHead};
use super::span::CallSpan;
use super::timeouts::Timeouts;
use super::upload::UploadHook;
use crate::error::{Error, Result, is_failure};
use crate::retry::RetryPolicy;
#[cfg(feature = "schemars")]
use crate::types::chat::{Completion, Parsed};
use crate::types::codec;
use crate::types::files::Purpose;
#[cfg(feature = "schemars")]
use crate::types::responses;

/// A call of the API. Await it to send it, or set options first.
///
/// Nothing is sent before it is awaited; invalid options and requests are reported then. Dropping the future
/// cancels the call. The parameter `T` is the result: the decoded response, the same with status, headers and
/// raw body ([`Response`]), a stream of events ([`EventStream`](crate::stream::EventStream)), a [`Download`], or
/// `()`. `C` is the client: the calls of `blocking::Client` are sent with a blocking `send`.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example() -> tightwire_perplexity::Result<()> {
/// let client = tightwire_perplexity::Client::from_env()?;
/// let models = client
///     .request(http::Method::GET, "/v1/models")
///     .header("x-trace", "7")
///     .timeout(Duration::from_secs(10))
///     .max_retries(0)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is sent when it is awaited"]
pub struct Call<T, C = Client> {
    pub(crate) client: Client,
    pub(crate) plan: Result<Plan>,
    body_mode: BodyMode,
    /// Converts the completed exchange to the result.
    receive: fn(Exchange) -> Result<T>,
    caller: PhantomData<fn() -> C>,
}

impl<T, C> Call<T, C> {
    /// Applies a change to the request plan, unless an earlier option was invalid.
    pub(crate) fn edit(mut self, edit: impl FnOnce(&mut Plan) -> Result<()>) -> Self {
        self.plan = self.plan.and_then(|mut plan| edit(&mut plan).map(|()| plan));
        self
    }

    /// Applies a change to the request plan, unless an earlier option was invalid.
    fn set(self, change: impl FnOnce(&mut Plan)) -> Self {
        self.edit(|plan| {
            change(plan);
            Ok(())
        })
    }

    /// Changes the timeouts, starting from those of the client.
    fn edit_timeouts(self, change: impl FnOnce(&mut Timeouts)) -> Self {
        let of_client = self.client.inner.options.timeouts;
        self.set(|plan| change(plan.options.timeouts.get_or_insert(of_client)))
    }

    /// Returns the same request with another result.
    pub(crate) fn receive_as<U>(self, body_mode: BodyMode, receive: fn(Exchange) -> Result<U>) -> Call<U, C> {
        Call { client: self.client, plan: self.plan, body_mode, receive, caller: PhantomData }
    }

    /// Returns the same call for another type of client.
    pub(crate) fn for_client<D>(self) -> Call<T, D> {
        let Self { client, plan, body_mode, receive, .. } = self;
        Call { client, plan, body_mode, receive, caller: PhantomData }
    }

    /// Rejects a request that asks for a stream. `streaming` is the method for streams.
    pub(crate) fn without_stream(self, stream_field: Option<bool>, streaming: &str) -> Self {
        self.edit(|_| match stream_field {
            Some(true) => {
                Err(Error::invalid("stream", format!("must not be true; call `{streaming}` instead")))
            }
            _ => Ok(()),
        })
    }

    pub(crate) fn params(self, params: &impl Serialize) -> Self {
        self.edit(|plan| plan.add_params(params))
    }

    pub(crate) fn form(self, form: Result<Form>) -> Self {
        self.edit(|plan| {
            plan.body = Body::Form(form?);
            Ok(())
        })
    }

    /// Sends a form with the content of a file, which is read when the call is sent.
    pub(crate) fn form_of_file(self, purpose: Purpose, path: &Path) -> Self {
        self.set(|plan| plan.file = Some((purpose, path.to_owned())))
    }

    /// Applies the caller's options of a call that this one continues.
    pub(crate) fn continuing(self, options: &Options) -> Self {
        self.set(|plan| plan.options = options.of_continuation())
    }

    /// Marks a call that is billed even if its response is lost.
    pub(crate) fn billed(self) -> Self {
        self.set(|plan| plan.is_billed = true)
    }

    /// Names the call for tracing.
    pub(crate) fn label(self, operation: &'static str, model: Option<&str>) -> Self {
        self.set(|plan| plan.label = Label { operation, model: model.map(str::to_owned) })
    }

    pub(crate) fn accept(self, accept: HeaderValue) -> Self {
        self.set(|plan| plan.accept = accept)
    }

    /// Sets or removes a header.
    fn edit_header(self, name: &str, value: Option<&str>, is_secret: bool) -> Self {
        self.edit(|plan| {
            let name = headers::parse_name(name)?;
            let mut value = value.map(headers::parse_value).transpose()?;
            if let Some(value) = &mut value {
                value.set_sensitive(is_secret);
            }
            plan.options.headers.push((name, value));
            Ok(())
        })
    }

    /// Sets a header. It overrides those of the client and the operation.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.edit_header(name, Some(value), false)
    }

    /// Sets a header whose value is redacted in debug output.
    pub fn secret_header(self, name: &str, value: &str) -> Self {
        self.edit_header(name, Some(value), true)
    }

    /// Removes a header that the client or the operation sends.
    pub fn without_header(self, name: &str) -> Self {
        self.edit_header(name, None, false)
    }

    /// Sets a query parameter. It overrides those of the client and the operation.
    pub fn query(self, name: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        self.set(|plan| plan.options.query.push((name.into(), value.to_string())))
    }

    /// Adds a field to the JSON body. It overrides a field of the request with the same name. `()` is sent as
    /// `null`.
    ///
    /// The body must be a JSON object; a call without a body gets one.
    pub fn extra_body(self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.edit(|plan| {
            let text =
                tightwire_json::to_string(&value).map_err(|error| Error::unencodable("extra_body", error))?;
            let value =
                RawValue::from_string(text).map_err(|error| Error::unencodable("extra_body", error))?;
            plan.extras.push((name.into(), value));
            Ok(())
        })
    }

    /// Sets the body to the JSON encoding of `body`.
    pub fn json_body<B: Serialize + ?Sized>(self, body: &B) -> Self {
        self.edit(|plan| plan.set_json(body))
    }

    /// Sets one timeout for the response headers, for an attempt, and for the idle time of a stream.
    pub fn timeout(self, limit: Duration) -> Self {
        self.edit_timeouts(|timeouts| *timeouts = Timeouts { total: timeouts.total, ..Timeouts::each(limit) })
    }

    /// Replaces all timeouts of the client.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.edit_timeouts(|of_call| *of_call = timeouts)
    }

    /// Sets the timeout of everything: all attempts, the delays between them, and the response to its end, also of a
    /// stream or download; for [`wait`](Self::wait), all polls. See [`Timeouts::total`].
    pub fn total_timeout(self, limit: Duration) -> Self {
        self.edit_timeouts(|timeouts| timeouts.total = Some(limit))
    }

    /// Sets the maximum number of retries.
    pub fn max_retries(self, retries: u32) -> Self {
        self.set(|plan| plan.options.max_retries = Some(retries))
    }

    /// Replaces the retry policy of the client.
    pub fn retry_policy(self, policy: RetryPolicy) -> Self {
        self.set(|plan| plan.options.retry = Some(policy))
    }

    /// Calls `report` while the request body is sent, with the number of bytes sent so far and the total. The last call of
    /// an attempt has two equal numbers; a retry starts again. Bytes count as sent once the connection has accepted them,
    /// so the numbers are ahead of the server by the size of the send buffers.
    ///
    /// The body is sent as a stream of known length: tower layers do not see its bytes, and a redirect that requires the
    /// body again is an error.
    pub fn on_upload(self, report: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        self.set(|plan| plan.options.on_upload = Some(UploadHook(Arc::new(report))))
    }

    /// Sets the idempotency key, which lets the server recognize repeated attempts of one call.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header(IDEMPOTENCY_KEY.as_str(), key)
    }
}

impl<T> Call<T> {
    /// Sends the call. The same as awaiting the call itself, without boxing the future.
    ///
    /// # Errors
    ///
    /// All kinds of [`Error`] except [`Error::is_config`].
    pub async fn send(self) -> Result<T> {
        let exchange = self.client.exchange(self.plan?, self.body_mode).await?;
        (self.receive)(exchange)
    }
}

impl<T, C> Call<T, C> {
    /// Decodes the response as `U` instead.
    pub fn decode_as<U: DeserializeOwned + 'static>(self) -> Call<U, C> {
        self.receive_as(BodyMode::Buffered, |exchange| decode(exchange).map(Response::into_value))
    }

    /// Reads the response as a file, or as the raw bytes of a stream.
    pub fn download(self) -> Call<Download, C> {
        let call = self.accept(HeaderValue::from_static("application/octet-stream"));
        call.receive_as(BodyMode::Streaming, |exchange| Ok(Download::new(exchange)))
    }

    /// Returns status, headers and the raw body without decoding it.
    pub fn undecoded(self) -> Call<Response<()>, C> {
        self.receive_as(BodyMode::Buffered, |exchange| {
            Ok(Response { head: exchange.head, body: exchange.body.into_buffered(), value: () })
        })
    }

    /// Discards the response body, unless it reports an error.
    pub fn discard_body(self) -> Call<(), C> {
        self.receive_as(BodyMode::Buffered, |exchange| {
            let Exchange { head, body, span, client, .. } = exchange;
            let body = body.into_buffered();
            if !is_failure(&body) {
                return Ok(());
            }
            Err(failed(Error::unexpected(body, head.headers(), None), &head, &client, &span))
        })
    }
}

impl<T: DeserializeOwned + 'static> Call<T> {
    /// Creates a call that decodes a JSON response.
    pub(crate) fn json(client: &Client, plan: Result<Plan>) -> Self {
        let body_mode = BodyMode::Buffered;
        let call: Call<()> =
            Call { client: client.clone(), plan, body_mode, receive: |_| Ok(()), caller: PhantomData };
        call.decode_as()
    }
}

impl<T: DeserializeOwned + 'static, C> Call<T, C> {
    /// Returns status, headers and the raw body in addition to the decoded value.
    pub fn raw(self) -> Call<Response<T>, C> {
        self.receive_as(BodyMode::Buffered, decode)
    }
}

#[cfg(feature = "schemars")]
impl<C> Call<responses::Response, C> {
    /// Decodes the text of the response in addition.
    pub(crate) fn parsed<T: DeserializeOwned + 'static>(self) -> Call<responses::Parsed<T>, C> {
        self.receive_as(BodyMode::Buffered, |exchange| {
            // The message of a response that failed says more than its text.
            let parsed =
                decode_and(exchange, |response: responses::Response| match response.into_result() {
                    Ok(response) => Ok(Ok(responses::Parsed { value: response.parse()?, response })),
                    Err(error) => Ok(Err(error)),
                })?;
            let origin = parsed.head.origin();
            parsed.into_value().map_err(|error| error.with_origin(origin))
        })
    }
}

#[cfg(feature = "schemars")]
impl<C> Call<Completion, C> {
    /// Decodes the text of the completion in addition.
    pub(crate) fn parsed<T: DeserializeOwned + 'static>(self) -> Call<Parsed<T>, C> {
        self.receive_as(BodyMode::Buffered, |exchange| {
            let parsed = decode_and(exchange, |completion: Completion| {
                Ok(Parsed { value: completion.parse()?, completion })
            });
            parsed.map(Response::into_value)
        })
    }
}

fn decode<T: DeserializeOwned + 'static>(exchange: Exchange) -> Result<Response<T>> {
    decode_and(exchange, Ok)
}

/// Decodes a response and converts it.
fn decode_and<T: DeserializeOwned + 'static, U>(
    exchange: Exchange,
    convert: impl FnOnce(T) -> tightwire_json::Result<U>,
) -> Result<Response<U>> {
    let Exchange { head, body, span, client, .. } = exchange;
    let body = body.into_buffered();
    let error = match codec().from_slice::<T>(&body) {
        Ok(decoded) if response::is_unexpected(&decoded, &body) => {
            Error::unexpected(body, head.headers(), None)
        }
        Ok(decoded) => {
            span.record_usage(response::usage(&decoded));
            match convert(decoded) {
                Ok(value) => return Ok(Response { head, body, value }),
                Err(error) => Error::decode(body, error),
            }
        }
        Err(error) => Error::unexpected(body, head.headers(), Some(error)),
    };
    Err(failed(error, &head, &client, &span))
}

/// Completes the error of a response, and records it.
fn failed(error: Error, head: &ResponseHead, client: &Client, span: &CallSpan) -> Error {
    let error = error.with_origin(head.origin()).redacted(client.key());
    span.record_error(&error);
    error
}

impl<T: 'static> IntoFuture for Call<T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<T, C> fmt::Debug for Call<T, C> {
    /// Omits headers, query and body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Call");
        match &self.plan {
            Ok(plan) => out.field("method", &plan.method).field("path", &plan.path()),
            Err(error) => out.field("error", error),
        };
        out.finish_non_exhaustive()
    }
}
