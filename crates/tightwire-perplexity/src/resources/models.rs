//! Endpoints with one operation: `/search`, `/v1/models`, `/v1/decisions`.

use super::group;
use crate::client::{Call, Json, Plan};
use crate::types::{decisions, models, search};

group! {
    /// Web search without a model; see [`Client::search`](crate::Client::search).
    ///
    /// # Examples
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let request = tightwire_perplexity::types::search::Request::new("tides");
    /// let found = client.search().create(&request).await?;
    /// # Ok(())
    /// # }
    /// ```
    Search
}

impl Search<'_> {
    /// Searches the web.
    pub fn create(&self, request: &search::Request) -> Call<Json<search::Response>> {
        let plan = self.client.posting("/search", request, search::Request::validate);
        Call::new(self.client, plan.map(|plan| plan.with_label("search", None)), Json::new())
    }
}

group! {
    /// Models of the Agent API; see [`Client::models`](crate::Client::models).
    Models
}

impl Models<'_> {
    /// Lists all models.
    pub fn list(&self) -> Call<Json<models::List>> {
        Call::new(self.client, Ok(Plan::get("/v1/models")), Json::new())
    }
}

group! {
    /// Decisions; see [`Client::decisions`](crate::Client::decisions).
    Decisions
}

impl Decisions<'_> {
    /// Requests decisions.
    pub fn create(&self, request: &decisions::Request) -> Call<Json<decisions::Response>> {
        let plan = self.client.posting("/v1/decisions", request, decisions::Request::validate);
        Call::new(self.client, plan.map(|plan| plan.with_label("decide", Some(&request.model))), Json::new())
    }
}
