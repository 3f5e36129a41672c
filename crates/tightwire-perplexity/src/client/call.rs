//! A call that is ready to be sent, and what it gives.

use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use http::HeaderValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Client;
use super::answer::{Answer, Events, File, Json, Nothing, Raw, Undecoded};
use super::headers::{self, Accept, IDEMPOTENCY_KEY};
use super::plan::Plan;
use super::timeouts::Timeouts;
use crate::error::{Error, Result};
use crate::retry::RetryPolicy;
use crate::stream::StreamItem;

/// A call that is ready to be sent: await it, or change its options first.
///
/// Nothing is sent before it is awaited, and mistakes of options and of the request are reported then. Dropping the
/// future cancels the call. What the call gives is decided by `A`: a decoded answer ([`Json`]), the same with status,
/// headers and bytes ([`Raw`]), a stream ([`Events`]), a file ([`File`]), bytes ([`Undecoded`]) or
/// [`Nothing`].
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
    answer: A,
}

impl<A> Call<A> {
    pub(crate) fn new(client: &Client, plan: Result<Plan>, answer: A) -> Self {
        Self { client: client.clone(), plan, answer }
    }

    /// Changes the plan unless something is wrong with it already.
    fn edit(mut self, edit: impl FnOnce(&mut Plan) -> Result<()>) -> Self {
        self.plan = self.plan.and_then(|mut plan| edit(&mut plan).map(|()| plan));
        self
    }

    /// Changes the time limits, which are those of the client at first.
    fn limit(self, change: impl FnOnce(&mut Timeouts)) -> Self {
        let of_client = self.client.inner.timeouts;
        self.edit(|plan| {
            change(plan.options.timeouts.get_or_insert(of_client));
            Ok(())
        })
    }

    /// The same request with another answer.
    fn answering<B>(self, answer: B) -> Call<B> {
        Call { client: self.client, plan: self.plan, answer }
    }

    pub(crate) fn into_parts(self) -> (Client, Result<Plan>, A) {
        (self.client, self.plan, self.answer)
    }

    /// Sets a header; it wins over those of the client and of the operation.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.edit(|plan| {
            plan.add_header((headers::parse_name(name)?, Some(headers::parse_value(value)?)));
            Ok(())
        })
    }

    /// Sets a header whose value no debug output shows.
    pub fn secret_header(self, name: &str, value: &str) -> Self {
        self.edit(|plan| {
            let mut value = headers::parse_value(value)?;
            value.set_sensitive(true);
            plan.add_header((headers::parse_name(name)?, Some(value)));
            Ok(())
        })
    }

    /// Leaves out a header that the client or the operation would send.
    pub fn without_header(self, name: &str) -> Self {
        self.edit(|plan| {
            plan.add_header((headers::parse_name(name)?, None));
            Ok(())
        })
    }

    /// Sets a parameter of the query; it wins over those of the client and of the operation.
    pub fn query(self, name: impl Into<Cow<'static, str>>, value: impl fmt::Display) -> Self {
        self.edit(|plan| {
            plan.add_query((name.into(), value.to_string()));
            Ok(())
        })
    }

    /// Sets a parameter of the query to a list, which is sent as one value with commas.
    pub fn query_list<V: fmt::Display>(
        self,
        name: impl Into<Cow<'static, str>>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
        self.query(name, values.join(","))
    }

    /// Adds a member to the body; it wins over the member of the request with the same name. `()` is sent as `null`.
    ///
    /// The body has to be an object. A call without a body gets one.
    pub fn extra_body(self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.edit(|plan| {
            let invalid = |error| Error::invalid("extra_body", "has no JSON form").with_source(error);
            let text = tightwire_json::to_string(&value).map_err(invalid)?;
            let value = tightwire_json::RawValue::from_string(text)
                .map_err(|error| Error::invalid("extra_body", "has no JSON form").with_source(error))?;
            plan.add_extra((name.into(), value));
            Ok(())
        })
    }

    /// Sets the body.
    pub fn json_body<T: Serialize + ?Sized>(mut self, body: &T) -> Self {
        self.plan = self.plan.and_then(|plan| plan.with_json(body));
        self
    }

    /// Sets the same limit for the headers, for one attempt, and for the silence between two reads of a stream.
    pub fn timeout(self, limit: Duration) -> Self {
        self.limit(|timeouts| *timeouts = Timeouts { total: timeouts.total, ..Timeouts::each(limit) })
    }

    /// Replaces all time limits of the client.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.limit(|of_call| *of_call = timeouts)
    }

    /// Limits how long all attempts may take together, waits included.
    pub fn total_timeout(self, limit: Duration) -> Self {
        self.limit(|timeouts| timeouts.total = Some(limit))
    }

    /// Sets how often the call is sent again.
    pub fn max_retries(self, retries: u32) -> Self {
        self.edit(|plan| {
            plan.options.max_retries = Some(retries);
            Ok(())
        })
    }

    /// Replaces the policy of the client.
    pub fn retry_policy(self, policy: RetryPolicy) -> Self {
        self.edit(|plan| {
            plan.options.retry = Some(policy);
            Ok(())
        })
    }

    /// Sends a key by which the server recognizes attempts of one call, the same with each of them.
    pub fn idempotency_key(self, key: &str) -> Self {
        self.edit(|plan| {
            let key: HeaderValue = headers::parse_value(key)?;
            plan.add_header((IDEMPOTENCY_KEY, Some(key)));
            Ok(())
        })
    }
}

impl<A: Answer> Call<A> {
    /// Sends the call. Awaiting the call itself does the same, with a future on the heap.
    ///
    /// # Errors
    /// Every kind that [`Error`] has predicates for.
    pub async fn send(self) -> Result<A::Output> {
        let exchange = self.client.exchange(self.plan?, A::DELIVERY).await?;
        self.answer.receive(exchange)
    }
}

impl<T> Call<Json<T>> {
    /// Gives status, headers and bytes besides the decoded answer.
    pub fn raw(self) -> Call<Raw<T>> {
        let (client, plan, json) = self.into_parts();
        Call { client, plan, answer: Raw::new(json) }
    }

    /// Decodes the answer as `U` instead.
    pub fn decode_as<U: DeserializeOwned>(self) -> Call<Json<U>> {
        self.answering(Json::new())
    }

    /// Takes the answer as a stream of events.
    pub fn events<U: StreamItem>(self) -> Call<Events<U>> {
        self.accepting(Accept::Events).answering(Events::new())
    }

    /// Takes the answer as a file, or as the bytes of a stream for a decoder of the caller.
    pub fn download(self) -> Call<File> {
        self.accepting(Accept::Bytes).answering(File)
    }

    /// Gives status, headers and bytes, and decodes nothing.
    pub fn undecoded(self) -> Call<Undecoded> {
        self.answering(Undecoded)
    }

    /// Does not look at the body of the answer.
    pub fn nothing(self) -> Call<Nothing> {
        self.answering(Nothing)
    }

    fn accepting(mut self, accept: Accept) -> Self {
        self.plan = self.plan.map(|plan| plan.accepting(accept));
        self
    }
}

impl<A: Answer> IntoFuture for Call<A> {
    type Output = Result<A::Output>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<A> fmt::Debug for Call<A> {
    /// Leaves out headers, query and body.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Call");
        match &self.plan {
            Ok(plan) => out.field("method", plan.method()).field("path", &plan.path()),
            Err(error) => out.field("error", error),
        };
        out.finish_non_exhaustive()
    }
}
