//! `/chat/completions` and `/async/chat/completions`.

#[cfg(feature = "schemars")]
use serde::de::DeserializeOwned;

use super::group;
#[cfg(feature = "schemars")]
use super::set_schema;
use crate::client::Call;
use crate::stream::EventStream;
use crate::types::async_chat::{self, AsyncCompletion, GetParams, List, ListParams};
#[cfg(feature = "schemars")]
use crate::types::chat::Parsed;
use crate::types::chat::{Completion, Request};
use crate::wait::Wait;

group! {
    /// Chat completions: ended by Perplexity on 2026-09-27 ([`Error::is_retired`](crate::Error::is_retired)), and still
    /// offered by some gateways. Use [`Responses`](crate::resources::Responses) instead;
    /// [`Request::from_chat`](crate::types::responses::Request::from_chat) converts requests.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tightwire_perplexity::types::chat::Request;
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = Request::new("sonar", "Why is the sky blue?");
    /// let response = client.chat().create(&request).await?;
    /// println!("{}", response.text().unwrap_or_default());
    ///
    /// let mut text = client.chat().stream(&request).await?.text();
    /// while let Some(piece) = text.next().await {
    ///     print!("{}", piece?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Chat, chat
}

impl<C> Chat<'_, C> {
    /// Requests a completion.
    pub fn create(&self, request: &Request) -> Call<Completion, C> {
        let call = self.client.post("/chat/completions", request, Request::validate);
        call.label("chat", Some(&request.model)).without_stream(request.stream, "stream")
    }

    /// Requests a completion whose text is a JSON value, and decodes it as `T`.
    ///
    /// The schema of `T` becomes [`response_format`](Request#structfield.response_format), unless the request already has
    /// one. A text that does not match `T` is an [`is_decode`](crate::Error::is_decode) error:
    /// [`path`](crate::Error::path) is the path of the unexpected value in the text of the completion, and
    /// [`body`](crate::Error::body) the whole response.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tightwire_perplexity::types::chat::Request;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Moon {
    ///     name: String,
    ///     /// Diameter in kilometres. The model receives this comment as a description.
    ///     diameter: f64,
    /// }
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = Request::new("sonar", "Which is the largest moon of Jupiter?");
    /// let answer = client.chat().parse::<Moon>(&request).await?;
    /// println!("{}, from {:?}", answer.value.name, answer.completion.citations);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "schemars")]
    pub fn parse<T>(&self, request: &Request) -> Call<Parsed<T>, C>
    where
        T: DeserializeOwned + schemars::JsonSchema + 'static,
    {
        let mut request = request.clone();
        let schema = set_schema::<T>(&mut request.response_format);
        self.create(&request).edit(|_| schema).parsed()
    }

    /// Requests a streamed completion. The field `stream` of the request may be unset.
    pub fn stream(&self, request: &Request) -> Call<EventStream<Completion>, C> {
        let call = self.client.post::<(), _, _>("/chat/completions", request, Request::validate);
        call.label("chat", Some(&request.model)).streaming(request.stream)
    }
}

group! {
    /// Asynchronous chat completions, which have ended like [`Chat`]. Use
    /// [`background`](crate::types::responses::Request#structfield.background) instead.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tightwire_perplexity::types::async_chat::Request;
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = Request::ask("sonar-deep-research", "What is known about tea?");
    /// let job = client.async_chat().create(&request).await?;
    /// let job = client.async_chat().wait(&job.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    AsyncChat, async_chat
}

impl<C> AsyncChat<'_, C> {
    /// Creates an asynchronous completion.
    pub fn create(&self, request: &async_chat::Request) -> Call<AsyncCompletion, C> {
        let call = self.client.post("/async/chat/completions", request, async_chat::Request::validate);
        call.label("chat", Some(&request.request.model))
    }

    /// Lists asynchronous completions.
    pub fn list(&self, params: &ListParams) -> Call<List, C> {
        self.client.get("/async/chat/completions", &[]).params(params)
    }

    /// Retrieves an asynchronous completion, with its response once completed.
    pub fn retrieve(&self, id: &str) -> Call<AsyncCompletion, C> {
        self.retrieve_with(id, &GetParams::default())
    }

    /// Same as [`retrieve`](Self::retrieve), with query parameters.
    pub fn retrieve_with(&self, id: &str, params: &GetParams) -> Call<AsyncCompletion, C> {
        self.client.get("/async/chat/completions/{id}", &[("id", id)]).params(params)
    }

    /// Waits until an asynchronous completion has ended.
    pub fn wait(&self, id: &str) -> Wait<AsyncCompletion> {
        self.retrieve(id).for_client().wait()
    }
}
