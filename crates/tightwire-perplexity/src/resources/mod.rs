//! Endpoints of the API, grouped as in its documentation.
//!
//! Groups borrow the client and are free to create. The calls they return own their data. The parameter `C` is the type of
//! the client, [`Client`] or `blocking::Client`, and determines how a [`Call`] is sent.

mod chat;
mod objects;
mod responses;

use std::borrow::Cow;

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::chat::{AsyncChat, Chat};
pub use self::objects::{AuthTokens, Batches, Files, Sessions, Skills};
pub use self::responses::{ResponseFiles, Responses};
pub use crate::client::PathStyle;
use crate::client::{Call, Client, Plan, segment};
use crate::error::{Error, Result};
#[cfg(feature = "schemars")]
use crate::types::chat::{JsonSchema, ResponseFormat};
use crate::types::embeddings::{ContextualizedRequest, ContextualizedResponse};
use crate::types::{Invalid, decisions, embeddings, models, search};

/// Paths that start differently in a style.
const RENAMED: [(PathStyle, &str, &str); 3] = [
    (PathStyle::Sdk, "/v1/agent", "/v1/responses"),
    (PathStyle::V1, "/chat/completions", "/v1/sonar"),
    (PathStyle::V1, "/async/chat/completions", "/v1/async/sonar"),
];

/// Path parameters: names and values.
type PathParams<'a> = &'a [(&'static str, &'a str)];

impl Client {
    /// Creates a call. `{name}` in the path stands for the parameter `name`.
    fn call<T: DeserializeOwned + 'static, C>(
        &self,
        method: Method,
        path: &'static str,
        params: PathParams<'_>,
    ) -> Call<T, C> {
        Call::json(self, self.path(path, params).map(|path| Plan::new(method, path))).for_client()
    }

    fn get<T: DeserializeOwned + 'static, C>(
        &self,
        path: &'static str,
        params: PathParams<'_>,
    ) -> Call<T, C> {
        self.call(Method::GET, path, params)
    }

    /// Validates `body` and creates a POST request with it.
    fn post<T: DeserializeOwned + 'static, B: Serialize, C>(
        &self,
        path: &'static str,
        body: &B,
        validate: impl FnOnce(&B) -> Result<(), Invalid>,
    ) -> Call<T, C> {
        self.call(Method::POST, path, &[]).validate(|| validate(body)).json_body(body)
    }

    fn path(&self, path: &'static str, params: PathParams<'_>) -> Result<Cow<'static, str>> {
        let renamed = RENAMED
            .into_iter()
            .filter(|(style, ..)| *style == self.path_style())
            .find_map(|(_, start, other)| path.strip_prefix(start).map(|rest| format!("{other}{rest}")));
        let mut path = renamed.map_or(Cow::Borrowed(path), Cow::Owned);
        for (name, value) in params {
            path = path.replacen(&format!("{{{name}}}"), &segment(name, value)?, 1).into();
        }
        Ok(path)
    }
}

impl<T, C> Call<T, C> {
    /// Runs a local validation, unless the client has disabled it.
    fn validate(self, validate: impl FnOnce() -> Result<(), Invalid>) -> Self {
        let is_enabled = self.client.validates();
        self.edit(|_| if is_enabled { Ok(validate()?) } else { Ok(()) })
    }
}

/// Sets the output format to the schema of `T`, unless the request has one.
#[cfg(feature = "schemars")]
fn set_schema<T: schemars::JsonSchema>(format: &mut Option<ResponseFormat>) -> Result<()> {
    if format.is_none() {
        let schema = JsonSchema::of::<T>().map_err(|error| Error::unencodable("response_format", error))?;
        *format = Some(schema.into());
    }
    Ok(())
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::invalid(invalid.field().to_owned(), "failed validation").with_source(invalid)
    }
}

/// Defines a group of endpoints, and the method of the client that returns it.
macro_rules! group {
    ($(#[$doc:meta])* $name:ident, $method:ident) => {
        $crate::resources::group!($(#[$doc])* $name);

        impl $crate::Client {
            #[doc = concat!("Returns the endpoints of [`", stringify!($name), "`](crate::resources::", stringify!($name), ").")]
            pub fn $method(&self) -> $name<'_> {
                $name { client: self, caller: std::marker::PhantomData }
            }
        }

        #[cfg(feature = "blocking")]
        impl $crate::blocking::Client {
            #[doc = concat!("Returns the endpoints of [`", stringify!($name), "`](crate::resources::", stringify!($name), ").")]
            pub fn $method(&self) -> $name<'_, Self> {
                $name { client: self.api(), caller: std::marker::PhantomData }
            }
        }
    };
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name<'c, C = $crate::Client> {
            client: &'c $crate::Client,
            caller: std::marker::PhantomData<fn() -> C>,
        }
    };
}

use group;

group! {
    /// Web search without a model.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = tightwire_perplexity::types::search::Request::new("tides");
    /// let found = client.search().create(&request).await?;
    /// # Ok(())
    /// # }
    /// ```
    Search, search
}

impl<C> Search<'_, C> {
    /// Searches the web.
    pub fn create(&self, request: &search::Request) -> Call<search::Response, C> {
        self.client.post("/search", request, search::Request::validate).label("search", None)
    }
}

group! {
    /// Models of the Agent API.
    Models, models
}

impl<C> Models<'_, C> {
    /// Lists all models.
    pub fn list(&self) -> Call<models::List, C> {
        self.client.get("/v1/models", &[])
    }
}

group! {
    /// Decisions.
    Decisions, decisions
}

impl<C> Decisions<'_, C> {
    /// Requests decisions.
    pub fn create(&self, request: &decisions::Request) -> Call<decisions::Response, C> {
        let call = self.client.post("/v1/decisions", request, decisions::Request::validate);
        call.label("decide", Some(&request.model))
    }
}

group! {
    /// Embeddings.
    Embeddings, embeddings
}

impl<C> Embeddings<'_, C> {
    /// Requests embeddings of texts.
    pub fn create(&self, request: &embeddings::Request) -> Call<embeddings::Response, C> {
        let call = self.client.post("/v1/embeddings", request, embeddings::Request::validate);
        call.label("embeddings", Some(request.model.as_str()))
    }

    /// Requests embeddings of chunks in the context of their documents.
    pub fn create_contextualized(&self, request: &ContextualizedRequest) -> Call<ContextualizedResponse, C> {
        let path = "/v1/contextualizedembeddings";
        let call = self.client.post(path, request, ContextualizedRequest::validate);
        call.label("embeddings", Some(request.model.as_str()))
    }
}
