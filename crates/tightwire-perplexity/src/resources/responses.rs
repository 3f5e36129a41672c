//! `/v1/responses`.

use http::Method;

use super::group;
use crate::client::{Call, Download};
use crate::stream::EventStream;
use crate::types::responses::{Cancelled, Event, FileList, Request, Response, RetrieveParams};
use crate::wait::Wait;

group! {
    /// The Agent API.
    ///
    /// # Examples
    /// ```no_run
    /// use tightwire_perplexity::types::responses::Request;
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = Request::new("openai/gpt-5", "Who found the first pulsar?");
    /// let response = client.responses().stream(&request).await?.accumulate().await?;
    /// println!("{}", response.output_text());
    /// # Ok(())
    /// # }
    /// ```
    Responses, responses
}

impl<'c, C> Responses<'c, C> {
    /// Requests a response, or starts one in the background.
    pub fn create(&self, request: &Request) -> Call<Response, C> {
        self.requesting(request).without_stream(request.stream, "stream").decode_as()
    }

    /// Requests a streamed response. The field `stream` of the request may be unset.
    pub fn stream(&self, request: &Request) -> Call<EventStream<Event>, C> {
        self.requesting(request).streaming(request.stream)
    }

    fn requesting(&self, request: &Request) -> Call<(), C> {
        let model = request.model.as_ref().or(request.models.as_ref().and_then(|models| models.first()));
        let call = self.client.post("/v1/responses", request, Request::validate);
        call.label("chat", model.map(String::as_str))
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
        self.client.get("/v1/responses/{id}", &[("id", id)]).validate(|| params.validate()).params(params)
    }

    /// Cancels a background response. Fails if it has ended.
    pub fn cancel(&self, id: &str) -> Call<Cancelled, C> {
        self.client.call(Method::POST, "/v1/responses/{id}/cancel", &[("id", id)])
    }

    /// Waits until a response has ended or requires action of the caller.
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
        self.client.get("/v1/responses/{response_id}/files", &[("response_id", response_id)])
    }

    /// Downloads a file.
    pub fn content(&self, response_id: &str, file_id: &str) -> Call<Download, C> {
        let params = [("response_id", response_id), ("file_id", file_id)];
        self.client.get::<(), _>("/v1/responses/{response_id}/files/{file_id}/content", &params).download()
    }
}
