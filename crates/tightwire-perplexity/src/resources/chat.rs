//! `/chat/completions` and `/async/chat/completions`.

use super::group;
use crate::client::{Call, Client, Events, Json, PathStyle, Plan, TokenUsage, segment};
use crate::error::{Error, Result};
use crate::types::async_chat::{self, AsyncCompletion, GetParams, List, ListParams};
use crate::types::chat::{Completion, Request};
use crate::wait::Wait;

group! {
    /// Chat completions; see [`Client::chat`].
    ///
    /// # Examples
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
    Chat
}

impl Chat<'_> {
    /// Requests a completion.
    pub fn create(&self, request: &Request) -> Call<Json<Completion>> {
        let plan = match request.stream {
            Some(true) => Err(Error::invalid("stream", "must not be true; call `stream` instead")),
            _ => self.plan(request),
        };
        Call::new(self.client, plan, Json::with_usage(usage))
    }

    /// Requests a streamed completion. The field `stream` of the request may be unset.
    pub fn stream(&self, request: &Request) -> Call<Events<Completion>> {
        let plan = self.plan(request).and_then(|plan| plan.streaming(request.stream));
        Call::new(self.client, plan, Events::new())
    }

    fn plan(&self, request: &Request) -> Result<Plan> {
        let path = match self.client.path_style() {
            PathStyle::Sdk => "/chat/completions",
            PathStyle::V1 => "/v1/sonar",
        };
        let plan = self.client.posting(path, request, Request::validate)?;
        Ok(plan.with_label("chat", Some(&request.model)))
    }
}

fn usage(completion: &Completion) -> Option<TokenUsage> {
    let usage = completion.usage.as_ref()?;
    Some(TokenUsage { input: usage.prompt_tokens, output: usage.completion_tokens })
}

group! {
    /// Asynchronous chat completions; see [`Client::async_chat`].
    ///
    /// # Examples
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
    AsyncChat
}

impl AsyncChat<'_> {
    /// Creates an asynchronous completion.
    pub fn create(&self, request: &async_chat::Request) -> Call<Json<AsyncCompletion>> {
        let plan = self.client.posting(path(self.client), request, async_chat::Request::validate);
        let plan = plan.map(|plan| plan.with_label("chat", Some(&request.request.model)));
        Call::new(self.client, plan, Json::new())
    }

    /// Lists asynchronous completions.
    pub fn list(&self, params: &ListParams) -> Call<Json<List>> {
        Call::new(self.client, Plan::get(path(self.client)).with_params(params), Json::new())
    }

    /// Retrieves an asynchronous completion, with its response once completed.
    pub fn retrieve(&self, id: &str) -> Call<Json<AsyncCompletion>> {
        self.retrieve_with(id, &GetParams::default())
    }

    /// Same as [`retrieve`](Self::retrieve), with query parameters.
    pub fn retrieve_with(&self, id: &str, params: &GetParams) -> Call<Json<AsyncCompletion>> {
        let plan = segment("id", id)
            .and_then(|id| Plan::get(format!("{}/{id}", path(self.client))).with_params(params));
        Call::new(self.client, plan, Json::new())
    }

    /// Waits until an asynchronous completion has ended.
    pub fn wait(&self, id: &str) -> Wait<AsyncCompletion> {
        self.retrieve(id).wait()
    }
}

fn path(client: &Client) -> &'static str {
    match client.path_style() {
        PathStyle::Sdk => "/async/chat/completions",
        PathStyle::V1 => "/v1/async/sonar",
    }
}
