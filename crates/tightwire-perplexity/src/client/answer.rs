//! What calls give.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::body::LiveBody;
use super::codec;
use super::download::Download;
use super::exchange::{Delivery, Exchange, Payload};
use super::response::{Response, ResponseHead};
use crate::error::{Error, Result};
use crate::stream::{EventStream, StreamItem, TokenUsage};

/// What a call gives. Implemented by the types that [`Call`](crate::Call) lists and by no others.
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

/// An answer whose body is not decoded.
#[derive(Debug)]
pub struct Undecoded;

impl<T> Json<T> {
    pub(crate) fn new() -> Self {
        Self { usage: |_| None }
    }

    /// `usage` finds what traces tell about the answer.
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
        let Exchange { head, payload, span, .. } = exchange;
        let body = payload.into_whole();
        match codec().from_slice(&body) {
            Ok(value) => {
                span.used((self.usage)(&value));
                Ok(Response { head, body, value })
            }
            Err(error) => {
                let error = Error::decode::<T>(body, error).with_origin(head.origin());
                span.failed(&error);
                Err(error)
            }
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

#[allow(private_interfaces, reason = "the trait is sealed")]
impl Receive for Undecoded {
    type Output = Response<()>;
    const DELIVERY: Delivery = Delivery::Whole;

    fn receive(&self, exchange: Exchange) -> Result<Response<()>> {
        Ok(Response { head: exchange.head, body: exchange.payload.into_whole(), value: () })
    }
}

impl<A: Receive> Answer for A {}

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
    pub(crate) fn into_live(self) -> (ResponseHead, Option<LiveBody>) {
        match self.payload {
            Payload::Live(body) => (self.head, Some(body)),
            Payload::Whole(_) => (self.head, None),
        }
    }
}
