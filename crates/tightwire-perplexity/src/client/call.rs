//! A call: a request that is sent when awaited.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::RawValue;

use super::Client;
use super::headers::{self, Accept, IDEMPOTENCY_KEY};
use super::plan::Plan;
use super::response_type::{Discard, Events, File, Json, Raw, ResponseType, Undecoded};
use super::timeouts::Timeouts;
use crate::error::{BoxError, Error, Result};
use crate::retry::RetryPolicy;
use crate::stream::StreamItem;

/// A call of the API. Await it to send it, or set options first.
///
/// Nothing is sent before it is awaited; invalid options and requests are reported then. Dropping the future
/// cancels the call. The type parameter selects the result: the decoded response ([`Json`]), the same with
/// status, headers and raw body ([`Raw`]), a stream of events ([`Events`]), a download ([`File`]), the raw
/// response ([`Undecoded`]), or nothing ([`Discard`]).
///
/// # Examples
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
pub struct Call<A> {
    client: Client,
    plan: Result<Plan>,
    response_type: A,
}

impl<A> Call<A> {
    pub(crate) fn new(client: &Client, plan: Result<Plan>, response_type: A) -> Self {
        Self { client: client.clone(), plan, response_type }
    }

    /// Changes the plan, unless an earlier option was invalid.
    fn edit(mut self, edit: impl FnOnce(&mut Plan) -> Result<()>) -> Self {
        self.plan = self.plan.and_then(|mut plan| edit(&mut plan).map(|()| plan));
        self
    }

    /// Changes the timeouts, starting from those of the client.
    fn edit_timeouts(self, change: impl FnOnce(&mut Timeouts)) -> Self {
        let of_client = self.client.inner.options.timeouts;
        self.edit(|plan| {
            change(plan.options.timeouts.get_or_insert(of_client));
            Ok(())
        })
    }

    /// Returns the same request with another response type.
    fn with_response_type<B>(self, response_type: B) -> Call<B> {
        Call { client: self.client, plan: self.plan, response_type }
    }

    pub(crate) fn into_parts(self) -> (Client, Result<Plan>, A) {
        (self.client, self.plan, self.response_type)
    }

    /// Sets or removes a header.
    fn edit_header(self, name: &str, value: Option<&str>, is_secret: bool) -> Self {
        self.edit(|plan| {
            let name = headers::parse_name(name)?;
            let mut value = value.map(headers::parse_value).transpose()?;
            if let Some(value) = &mut value {
                value.set_sensitive(is_secret);
            }
            plan.add_header((name, value));
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
        self.edit(|plan| {
            plan.add_query((name.into(), value.to_string()));
            Ok(())
        })
    }

    /// Adds a field to the JSON body. It overrides a field of the request with the same name. `()` is sent as
    /// `null`.
    ///
    /// The body must be a JSON object; a call without a body gets one.
    pub fn extra_body(self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.edit(|plan| {
            let invalid = |error: BoxError| {
                Error::invalid("extra_body", "cannot be encoded as JSON").with_source(error)
            };
            let text = tightwire_json::to_string(&value).map_err(|error| invalid(error.into()))?;
            let value = RawValue::from_string(text).map_err(|error| invalid(error.into()))?;
            plan.add_extra((name.into(), value));
            Ok(())
        })
    }

    /// Sets the body to the JSON encoding of `body`.
    pub fn json_body<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        self.plan = self.plan.and_then(|plan| plan.with_json(body));
        self
    }

    /// Sets one timeout for the response headers, for an attempt, and for the idle time of a stream.
    pub fn timeout(self, limit: Duration) -> Self {
        self.edit_timeouts(|timeouts| *timeouts = Timeouts { total: timeouts.total, ..Timeouts::each(limit) })
    }

    /// Replaces all timeouts of the client.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.edit_timeouts(|of_call| *of_call = timeouts)
    }

    /// Sets the timeout of the whole call: all attempts and the delays between them.
    pub fn total_timeout(self, limit: Duration) -> Self {
        self.edit_timeouts(|timeouts| timeouts.total = Some(limit))
    }

    /// Sets the maximum number of retries.
    pub fn max_retries(self, retries: u32) -> Self {
        self.edit(|plan| {
            plan.options.max_retries = Some(retries);
            Ok(())
        })
    }

    /// Replaces the retry policy of the client.
    pub fn retry_policy(self, policy: RetryPolicy) -> Self {
        self.edit(|plan| {
            plan.options.retry = Some(policy);
            Ok(())
        })
    }

    /// Sets the idempotency key, which lets the server recognize repeated attempts of one call.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.header(IDEMPOTENCY_KEY.as_str(), key)
    }
}

impl<A: ResponseType> Call<A> {
    /// Sends the call. The same as awaiting the call itself, without boxing the future.
    ///
    /// # Errors
    /// All kinds of [`Error`] except [`Error::is_config`].
    pub async fn send(self) -> Result<A::Output> {
        let exchange = self.client.exchange(self.plan?, A::BODY_MODE).await?;
        self.response_type.receive(exchange)
    }
}

impl<T> Call<Json<T>> {
    /// Also returns status, headers and the raw body.
    pub fn raw(self) -> Call<Raw<T>> {
        let (client, plan, json) = self.into_parts();
        Call { client, plan, response_type: Raw::new(json) }
    }

    /// Decodes the response as `U` instead.
    pub fn decode_as<U: DeserializeOwned>(self) -> Call<Json<U>> {
        self.with_response_type(Json::new())
    }

    /// Reads the response as a stream of events.
    pub fn events<U: StreamItem>(self) -> Call<Events<U>> {
        self.with_accept(Accept::Events).with_response_type(Events::new())
    }

    /// Reads the response as a file, or as the raw bytes of a stream.
    pub fn download(self) -> Call<File> {
        self.with_accept(Accept::Bytes).with_response_type(File)
    }

    /// Returns status, headers and the raw body without decoding it.
    pub fn undecoded(self) -> Call<Undecoded> {
        self.with_response_type(Undecoded)
    }

    /// Discards the response body.
    pub fn discard_body(self) -> Call<Discard> {
        self.with_response_type(Discard)
    }

    fn with_accept(mut self, accept: Accept) -> Self {
        self.plan = self.plan.map(|plan| plan.with_accept(accept));
        self
    }
}

impl<A: ResponseType> IntoFuture for Call<A> {
    type Output = Result<A::Output>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<A> fmt::Debug for Call<A> {
    /// Omits headers, query and body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Call");
        match &self.plan {
            Ok(plan) => out.field("method", plan.method()).field("path", &plan.path()),
            Err(error) => out.field("error", error),
        };
        out.finish_non_exhaustive()
    }
}
