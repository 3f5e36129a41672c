//! `/v1/batches`.

use super::group;
use crate::client::{Call, Json, Plan, segment};
use crate::types::batches::{Batch, CreateRequest, List, ListParams};
use crate::wait::Wait;

group! {
    /// Batches of requests; see [`Client::batches`](crate::Client::batches).
    ///
    /// # Examples
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// use tightwire_perplexity::types::batches::CreateRequest;
    ///
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// let batch = client.batches().create(&CreateRequest::new("file-1")).idempotency_key("tea-1").await?;
    /// let batch = client.batches().wait(&batch.id).deadline(Duration::from_secs(24 * 60 * 60)).await?;
    /// # Ok(())
    /// # }
    /// ```
    Batches
}

impl Batches<'_> {
    /// Creates a batch.
    pub fn create(&self, request: &CreateRequest) -> Call<Json<Batch>> {
        let plan = self.client.posting("/v1/batches", request, CreateRequest::validate);
        Call::new(self.client, plan, Json::new())
    }

    /// Lists batches.
    pub fn list(&self, params: &ListParams) -> Call<Json<List>> {
        Call::new(self.client, Plan::get("/v1/batches").with_params(params), Json::new())
    }

    /// Retrieves a batch.
    pub fn retrieve(&self, id: &str) -> Call<Json<Batch>> {
        let plan = segment("id", id).map(|id| Plan::get(format!("/v1/batches/{id}")));
        Call::new(self.client, plan, Json::new())
    }

    /// Cancels a batch.
    pub fn cancel(&self, id: &str) -> Call<Json<Batch>> {
        let plan = segment("id", id).map(|id| Plan::post(format!("/v1/batches/{id}/cancel")));
        Call::new(self.client, plan, Json::new())
    }

    /// Waits until a batch has ended.
    pub fn wait(&self, id: &str) -> Wait<Batch> {
        self.retrieve(id).wait()
    }
}
