//! `/v1/responses`.

use super::group;
use crate::client::{Accept, Call, Client, Events, File, Json, PathStyle, Plan, TokenUsage, segment};
use crate::error::{Error, Result};
use crate::types::responses::{Cancelled, Event, FileList, Request, Response, RetrieveParams};
use crate::wait::Wait;

group! {
    /// The Agent API; see [`Client::responses`].
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
    Responses
}

impl<'c> Responses<'c> {
    /// Requests a response, or starts one in the background.
    pub fn create(&self, request: &Request) -> Call<Json<Response>> {
        let plan = match request.stream {
            Some(true) => Err(Error::invalid("stream", "must not be true; call `stream` instead")),
            _ => self.plan(request),
        };
        Call::new(self.client, plan, Json::with_usage(usage))
    }

    /// Requests a streamed response. The field `stream` of the request may be unset.
    pub fn stream(&self, request: &Request) -> Call<Events<Event>> {
        let plan = self.plan(request).and_then(|plan| plan.streaming(request.stream));
        Call::new(self.client, plan, Events::new())
    }

    /// Retrieves a response.
    pub fn retrieve(&self, id: &str) -> Call<Json<Response>> {
        self.retrieve_with(id, &RetrieveParams::default())
    }

    /// Same as [`retrieve`](Self::retrieve), with query parameters; `stream` must not be true.
    pub fn retrieve_with(&self, id: &str, params: &RetrieveParams) -> Call<Json<Response>> {
        let plan = match params.stream {
            Some(true) => Err(Error::invalid("stream", "must not be true; call `resume` instead")),
            _ => self.retrieving(id, params),
        };
        Call::new(self.client, plan, Json::with_usage(usage))
    }

    /// Streams the events of a response after the one with this sequence number.
    pub fn resume(&self, id: &str, starting_after: u64) -> Call<Events<Event>> {
        let params = RetrieveParams::events_after(starting_after);
        let plan = self.retrieving(id, &params).map(|plan| plan.with_accept(Accept::Events));
        Call::new(self.client, plan, Events::new())
    }

    /// Cancels a background response. Fails if it has ended.
    pub fn cancel(&self, id: &str) -> Call<Json<Cancelled>> {
        let plan = segment("id", id).map(|id| Plan::post(format!("{}/{id}/cancel", path(self.client))));
        Call::new(self.client, plan, Json::new())
    }

    /// Waits until a response has ended or requires action of the caller.
    pub fn wait(&self, id: &str) -> Wait<Response> {
        self.retrieve(id).wait()
    }

    /// Files that a model created for a response.
    pub fn files(&self) -> ResponseFiles<'c> {
        ResponseFiles::new(self.client)
    }

    fn plan(&self, request: &Request) -> Result<Plan> {
        let plan = self.client.posting(path(self.client), request, Request::validate)?;
        let model = request.model.as_ref().or(request.models.as_ref().and_then(|models| models.first()));
        Ok(plan.with_label("chat", model.map(String::as_str)))
    }

    fn retrieving(&self, id: &str, params: &RetrieveParams) -> Result<Plan> {
        if self.client.validates() {
            params.validate()?;
        }
        Plan::get(format!("{}/{}", path(self.client), segment("id", id)?)).with_params(params)
    }
}

fn usage(response: &Response) -> Option<TokenUsage> {
    let usage = response.usage.as_ref()?;
    Some(TokenUsage { input: usage.input_tokens, output: usage.output_tokens })
}

fn path(client: &Client) -> &'static str {
    match client.path_style() {
        PathStyle::Sdk => "/v1/responses",
        PathStyle::V1 => "/v1/agent",
    }
}

group! {
    /// Files that models created for responses; see [`Responses::files`].
    ResponseFiles
}

impl ResponseFiles<'_> {
    /// Lists the files of a response.
    pub fn list(&self, response_id: &str) -> Call<Json<FileList>> {
        let plan = segment("response_id", response_id)
            .map(|id| Plan::get(format!("{}/{id}/files", path(self.client))));
        Call::new(self.client, plan, Json::new())
    }

    /// Downloads a file.
    pub fn content(&self, response_id: &str, file_id: &str) -> Call<File> {
        let plan = segment("response_id", response_id).and_then(|response| {
            let file = segment("file_id", file_id)?;
            let path = format!("{}/{response}/files/{file}/content", path(self.client));
            Ok(Plan::get(path).with_accept(Accept::Bytes))
        });
        Call::new(self.client, plan, File)
    }
}
