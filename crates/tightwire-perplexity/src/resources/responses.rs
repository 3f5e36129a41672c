//! `/v1/agent`, also known as `/v1/responses`.

use http::Method;
#[cfg(feature = "schemars")]
use serde::de::DeserializeOwned;

use super::group;
#[cfg(feature = "schemars")]
use super::set_schema;
use crate::client::{Call, Download};
use crate::stream::EventStream;
#[cfg(feature = "schemars")]
use crate::types::responses::Parsed;
use crate::types::responses::{Cancelled, Event, FileList, Request, Response, RetrieveParams};
use crate::wait::Wait;

group! {
    /// The Agent API: `/v1/agent`, or its alias `/v1/responses` with [`PathStyle::Sdk`](crate::resources::PathStyle).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tightwire_perplexity::types::responses::{Request, WebSearch};
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = Request::new("perplexity/sonar", "Who found the first pulsar?").tools([WebSearch::new()]);
    /// let response = client.responses().create(&request).await?;
    /// println!("{}", response.output_text());
    ///
    /// let mut text = client.responses().stream(&request).await?.text();
    /// while let Some(piece) = text.next().await {
    ///     print!("{}", piece?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A long run in the background:
    ///
    /// ```no_run
    /// use tightwire_perplexity::types::responses::{Effort, Request};
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = Request::with_effort(Effort::High, "How did tea spread?").background(true);
    /// let started = client.responses().create(&request).await?;
    /// let response = client.responses().wait(&started.id).await?.into_result()?;
    /// println!("{}", response.output_text());
    /// # Ok(())
    /// # }
    /// ```
    Responses, responses
}

impl<'c, C> Responses<'c, C> {
    /// Requests a response, or starts one in the background. Check its status: see [`Response::into_result`].
    ///
    /// A call that the server may have processed is not retried, because the response may be running, and is billed; see
    /// [`Repeat`](crate::retry::Repeat).
    pub fn create(&self, request: &Request) -> Call<Response, C> {
        self.requesting(request).without_stream(request.stream, "stream").decode_as()
    }

    /// Requests a response whose text is a JSON value, and decodes it as `T`.
    ///
    /// The schema of `T`, which must be an object, becomes [`response_format`](Request#structfield.response_format),
    /// unless the request already has one. A response that failed is the error of
    /// [`into_result`](Response::into_result). A text that does not match `T` is an [`is_decode`](crate::Error::is_decode)
    /// error: [`path`](crate::Error::path) is the path of the unexpected value in the text of the response, and
    /// [`body`](crate::Error::body) the whole response.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use tightwire_perplexity::types::responses::{Request, WebSearch};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Moon {
    ///     name: String,
    ///     /// Diameter in kilometres. The model receives this comment as a description.
    ///     diameter: f64,
    /// }
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let question = "Which is the largest moon of Jupiter?";
    /// let request = Request::new("perplexity/sonar", question).tools([WebSearch::new()]);
    /// let answer = client.responses().parse::<Moon>(&request).await?;
    /// println!("{}, from {:?}", answer.value.name, answer.response.sources());
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

    /// Requests a streamed response. The field `stream` of the request may be unset.
    pub fn stream(&self, request: &Request) -> Call<EventStream<Event>, C> {
        self.requesting(request).streaming(request.stream)
    }

    fn requesting(&self, request: &Request) -> Call<(), C> {
        let model = request.model.as_ref().or(request.models.as_ref().and_then(|models| models.first()));
        let call = self.client.post("/v1/agent", request, Request::validate);
        call.label("chat", model.map(String::as_str)).billed()
    }

    /// Retrieves a response.
    pub fn retrieve(&self, id: &str) -> Call<Response, C> {
        self.retrieve_with(id, &RetrieveParams::default())
    }

    /// Same as [`retrieve`](Self::retrieve), with query parameters; `stream` must not be true.
    pub fn retrieve_with(&self, id: &str, params: &RetrieveParams) -> Call<Response, C> {
        self.retrieving(id, params).without_stream(params.stream, "resume").decode_as()
    }

    /// Streams the events of a response after the one with this sequence number.
    pub fn resume(&self, id: &str, starting_after: u64) -> Call<EventStream<Event>, C> {
        self.retrieving(id, &RetrieveParams::events_after(starting_after)).events()
    }

    fn retrieving(&self, id: &str, params: &RetrieveParams) -> Call<(), C> {
        self.client.get("/v1/agent/{id}", &[("id", id)]).validate(|| params.validate()).params(params)
    }

    /// Cancels a background response. [`wait`](Self::wait) for its end: some responses complete nevertheless. Fails with
    /// status 400 if the response has ended or does not exist.
    pub fn cancel(&self, id: &str) -> Call<Cancelled, C> {
        self.client.call(Method::POST, "/v1/agent/{id}/cancel", &[("id", id)])
    }

    /// Waits until a response has ended, successfully or not, or requires action of the caller.
    pub fn wait(&self, id: &str) -> Wait<Response> {
        self.retrieve(id).for_client().wait()
    }

    /// Files that a model created for a response.
    pub fn files(&self) -> ResponseFiles<'c, C> {
        ResponseFiles { client: self.client, caller: self.caller }
    }
}

group! {
    /// Files that models created for responses; see [`Responses::files`].
    ResponseFiles
}

impl<C> ResponseFiles<'_, C> {
    /// Lists the files of a response.
    pub fn list(&self, response_id: &str) -> Call<FileList, C> {
        self.client.get("/v1/agent/{response_id}/files", &[("response_id", response_id)])
    }

    /// Downloads a file.
    pub fn content(&self, response_id: &str, file_id: &str) -> Call<Download, C> {
        let params = [("response_id", response_id), ("file_id", file_id)];
        self.client.get::<(), _>("/v1/agent/{response_id}/files/{file_id}/content", &params).download()
    }
}
