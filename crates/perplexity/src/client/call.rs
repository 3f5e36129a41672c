//! A call that is ready to be sent, and what it gives.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use http::HeaderValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Client;
use super::download::Download;
use super::exchange::{Delivery, Exchange, Payload};
use super::headers::{self, Accept, IDEMPOTENCY_KEY};
use super::plan::Plan;
use super::response::Response;
use super::timeouts::Timeouts;
use crate::error::{Error, Result};
use crate::retry::RetryPolicy;
use crate::stream::{EventStream, StreamItem, TokenUsage};

/// A call that is ready to be sent: await it, or change its options first.
///
/// Nothing is sent before it is awaited, and mistakes of options and of the request are reported then. Dropping the
/// future cancels the call. What the call gives is decided by `A`: a decoded answer ([`Json`]), the same with status,
/// headers and bytes ([`Raw`]), a stream ([`Events`]), a file ([`Download`]) or [`Nothing`].
///
/// # Examples
/// ```no_run
/// use std::time::Duration;
///
/// # async fn example() -> perplexity::Result<()> {
/// let client = perplexity::Client::from_env()?;
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

/// What a call gives. Implemented by the types that [`Call`] lists and by no others.
pub trait Answer: Receive {}

pub(crate) mod sealed {
    use super::{Delivery, Exchange, Result};

    /// How an exchange becomes what the caller gets.
    pub trait Receive: Send + Sync + 'static {
        type Output: Send;

        #[doc(hidden)]
        #[allow(private_interfaces, reason = "the trait is sealed")]
        const DELIVERY: Delivery;

        #[doc(hidden)]
        #[allow(private_interfaces, reason = "the trait is sealed")]
        fn receive(&self, exchange: Exchange) -> Result<Self::Output>;
    }
}

use sealed::Receive;

/// An answer that is decoded as `T`.
pub struct Json<T> {
    usage: fn(&T) -> Option<TokenUsage>,
}

/// An answer that is decoded as `T`, with status, headers and bytes.
pub struct Raw<T> {
    json: Json<T>,
}

/// An answer that is a stream of events, each decoded as `T`.
pub struct Events<T>(PhantomData<fn() -> T>);

/// An answer that is a file.
#[derive(Debug)]
pub struct File;

/// An answer whose body does not matter.
#[derive(Debug)]
pub struct Nothing;

impl<T> Json<T> {
    pub(crate) fn new() -> Self {
        Self { usage: |_| None }
    }

    /// `usage` finds what traces tell about the answer.
    pub(crate) fn with_usage(usage: fn(&T) -> Option<TokenUsage>) -> Self {
        Self { usage }
    }
}

impl<T> Events<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: DeserializeOwned + Send + 'static> Json<T> {
    fn decode(&self, exchange: Exchange) -> Result<Response<T>> {
        let Exchange { head, payload, span, .. } = exchange;
        let body = payload.into_whole();
        match json::from_slice(&body) {
            Ok(value) => {
                span.used((self.usage)(&value));
                Ok(Response { head, body, value })
            }
            Err(error) => Err(Error::decode::<T>(body, error).with_origin(head.origin())),
        }
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl<T: DeserializeOwned + Send + 'static> Receive for Json<T> {
    type Output = T;
    const DELIVERY: Delivery = Delivery::Whole;

    fn receive(&self, exchange: Exchange) -> Result<T> {
        self.decode(exchange).map(Response::into_value)
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl<T: DeserializeOwned + Send + 'static> Receive for Raw<T> {
    type Output = Response<T>;
    const DELIVERY: Delivery = Delivery::Whole;

    fn receive(&self, exchange: Exchange) -> Result<Response<T>> {
        self.json.decode(exchange)
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl<T: StreamItem> Receive for Events<T> {
    type Output = EventStream<T>;
    const DELIVERY: Delivery = Delivery::Live;

    fn receive(&self, exchange: Exchange) -> Result<EventStream<T>> {
        Ok(EventStream::new(exchange))
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl Receive for File {
    type Output = Download;
    const DELIVERY: Delivery = Delivery::Live;

    fn receive(&self, exchange: Exchange) -> Result<Download> {
        Ok(Download::new(exchange))
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl Receive for Nothing {
    type Output = ();
    const DELIVERY: Delivery = Delivery::Whole;

    fn receive(&self, _exchange: Exchange) -> Result<()> {
        Ok(())
    }
}

impl<A: Receive> Answer for A {}

impl<A> Call<A> {
    pub(crate) fn new(client: &Client, plan: Result<Plan>, answer: A) -> Self {
        Self { client: client.clone(), plan, answer }
    }

    /// Changes the plan unless something is wrong with it already.
    fn edit(mut self, edit: impl FnOnce(&mut Plan) -> Result<()>) -> Self {
        self.plan = self.plan.and_then(|mut plan| edit(&mut plan).map(|()| plan));
        self
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
            let text = json::to_string(&value).map_err(invalid)?;
            let value = json::RawValue::from_string(text)
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
        self.edit(|plan| {
            let total = plan.options.timeouts.and_then(|timeouts| timeouts.total);
            plan.options.timeouts = Some(Timeouts { total, ..Timeouts::each(limit) });
            Ok(())
        })
    }

    /// Replaces all time limits of the client.
    pub fn timeouts(self, timeouts: Timeouts) -> Self {
        self.edit(|plan| {
            plan.options.timeouts = Some(timeouts);
            Ok(())
        })
    }

    /// Limits how long all attempts may take together, waits included.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        let of_client = self.client.inner.timeouts;
        self.plan = self.plan.map(|mut plan| {
            plan.options.timeouts.get_or_insert(of_client).total = Some(limit);
            plan
        });
        self
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
        Call { client, plan, answer: Raw { json } }
    }

    /// Decodes the answer as `U` instead.
    pub fn decode_as<U: DeserializeOwned>(self) -> Call<Json<U>> {
        self.answering(Json::new())
    }

    /// Takes the answer as a stream of events.
    pub fn events<U: StreamItem>(self) -> Call<Events<U>> {
        self.accepting(Accept::Events).answering(Events::new())
    }

    /// Takes the answer as a file.
    pub fn download(self) -> Call<File> {
        self.accepting(Accept::Bytes).answering(File)
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

// Derived code would ask the same of `T`.
impl<T> Clone for Json<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Json<T> {}

macro_rules! debug_by_name {
    ($($name:ident),+) => {$(
        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )+};
}

debug_by_name!(Json, Raw, Events);

impl Exchange {
    /// The body of a call that was answered live.
    pub(crate) fn into_live(self) -> (super::ResponseHead, Option<super::body::LiveBody>) {
        match self.payload {
            Payload::Live(body) => (self.head, Some(body)),
            Payload::Whole(_) => (self.head, None),
        }
    }
}
