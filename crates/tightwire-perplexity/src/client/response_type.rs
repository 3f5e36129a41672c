//! Response types of a call: the type parameter of [`Call`](crate::Call).

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::body::StreamingBody;
use super::codec;
use super::download::Download;
use super::exchange::{BodyMode, Exchange, ResponseBody};
use super::response::{Response, ResponseHead, TokenUsage};
use crate::error::{Error, Result};
use crate::stream::{EventStream, StreamItem};

/// How a [`Call`](crate::Call) returns its response. Sealed: implemented only by the types that `Call` lists.
pub trait ResponseType: Receive {}

pub(crate) mod sealed {
    use super::{BodyMode, Exchange, Result};

    /// Converts a completed exchange to the value that the caller receives.
    pub trait Receive: Send + Sync + 'static {
        type Output: Send;

        #[doc(hidden)]
        #[allow(private_interfaces, reason = "the trait is sealed")]
        const BODY_MODE: BodyMode;

        #[doc(hidden)]
        #[allow(private_interfaces, reason = "the trait is sealed")]
        fn receive(&self, exchange: Exchange) -> Result<Self::Output>;
    }
}

use sealed::Receive;

/// Decodes the response body as `T`.
pub struct Json<T> {
    usage: fn(&T) -> Option<TokenUsage>,
}

/// Decodes the response body as `T`, and also returns status, headers and the raw body.
pub struct Raw<T> {
    json: Json<T>,
}

/// Returns a stream of events, each decoded as `T`.
pub struct Events<T>(PhantomData<fn() -> T>);

/// Returns the response body as a [`Download`].
#[derive(Debug)]
pub struct File;

/// Discards the response body.
#[derive(Debug)]
pub struct Discard;

/// Returns status, headers and the raw body, without decoding it.
#[derive(Debug)]
pub struct Undecoded;

impl<T> Json<T> {
    pub(crate) fn new() -> Self {
        Self { usage: |_| None }
    }

    /// Sets the function that reads the token usage for tracing.
    pub(crate) fn with_usage(usage: fn(&T) -> Option<TokenUsage>) -> Self {
        Self { usage }
    }
}

impl<T> Raw<T> {
    pub(crate) fn new(json: Json<T>) -> Self {
        Self { json }
    }
}

impl<T> Events<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: DeserializeOwned + Send + 'static> Json<T> {
    fn decode(&self, exchange: Exchange) -> Result<Response<T>> {
        let Exchange { head, body, span, .. } = exchange;
        let body = body.into_buffered();
        match codec().from_slice(&body) {
            Ok(value) => {
                span.record_usage((self.usage)(&value));
                Ok(Response { head, body, value })
            }
            Err(error) => {
                let error = Error::decode::<T>(body, error).with_origin(head.origin());
                span.record_error(&error);
                Err(error)
            }
        }
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl<T: DeserializeOwned + Send + 'static> Receive for Json<T> {
    type Output = T;
    const BODY_MODE: BodyMode = BodyMode::Buffered;

    fn receive(&self, exchange: Exchange) -> Result<T> {
        self.decode(exchange).map(Response::into_value)
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl<T: DeserializeOwned + Send + 'static> Receive for Raw<T> {
    type Output = Response<T>;
    const BODY_MODE: BodyMode = BodyMode::Buffered;

    fn receive(&self, exchange: Exchange) -> Result<Response<T>> {
        self.json.decode(exchange)
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl<T: StreamItem> Receive for Events<T> {
    type Output = EventStream<T>;
    const BODY_MODE: BodyMode = BodyMode::Streaming;

    fn receive(&self, exchange: Exchange) -> Result<EventStream<T>> {
        Ok(EventStream::new(exchange))
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl Receive for File {
    type Output = Download;
    const BODY_MODE: BodyMode = BodyMode::Streaming;

    fn receive(&self, exchange: Exchange) -> Result<Download> {
        Ok(Download::new(exchange))
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl Receive for Discard {
    type Output = ();
    const BODY_MODE: BodyMode = BodyMode::Buffered;

    fn receive(&self, _exchange: Exchange) -> Result<()> {
        Ok(())
    }
}

#[allow(private_interfaces, reason = "the trait is sealed")]
impl Receive for Undecoded {
    type Output = Response<()>;
    const BODY_MODE: BodyMode = BodyMode::Buffered;

    fn receive(&self, exchange: Exchange) -> Result<Response<()>> {
        Ok(Response { head: exchange.head, body: exchange.body.into_buffered(), value: () })
    }
}

impl<A: Receive> ResponseType for A {}

// Implemented by hand because the derive would require `T: Clone`.
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
    /// Returns the body of a call that was made with [`BodyMode::Streaming`].
    pub(crate) fn into_streaming(self) -> (ResponseHead, Option<StreamingBody>) {
        match self.body {
            ResponseBody::Streaming(body) => (self.head, Some(body)),
            ResponseBody::Buffered(_) => (self.head, None),
        }
    }
}
