//! `/v1/embeddings` and `/v1/contextualizedembeddings`.

use super::group;
use crate::client::{Call, Json};
use crate::types::embeddings::{ContextualizedRequest, ContextualizedResponse, Request, Response};

group! {
    /// Embeddings; see [`Client::embeddings`](crate::Client::embeddings).
    Embeddings
}

impl Embeddings<'_> {
    /// Requests embeddings of texts.
    pub fn create(&self, request: &Request) -> Call<Json<Response>> {
        let plan = self.client.posting("/v1/embeddings", request, Request::validate);
        let plan = plan.map(|plan| plan.with_label("embeddings", Some(request.model.as_str())));
        Call::new(self.client, plan, Json::new())
    }

    /// Requests embeddings of chunks in the context of their documents.
    pub fn create_contextualized(
        &self,
        request: &ContextualizedRequest,
    ) -> Call<Json<ContextualizedResponse>> {
        let path = "/v1/contextualizedembeddings";
        let plan = self.client.posting(path, request, ContextualizedRequest::validate);
        let plan = plan.map(|plan| plan.with_label("embeddings", Some(request.model.as_str())));
        Call::new(self.client, plan, Json::new())
    }
}
