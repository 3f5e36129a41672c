//! `/v1/embeddings` and `/v1/contextualizedembeddings`.

use super::group;
use crate::client::{Call, Json};
use crate::types::embeddings::{ContextualizedRequest, ContextualizedResponse, Request, Response};

group! {
    /// Embeddings; see [`Client::embeddings`](crate::Client::embeddings).
    Embeddings
}

impl Embeddings<'_> {
    /// Asks for embeddings of texts.
    pub fn create(&self, request: &Request) -> Call<Json<Response>> {
        let plan = self.client.posting("/v1/embeddings", request, Request::validate);
        let plan = plan.map(|plan| plan.labelled("embeddings", Some(request.model.as_str())));
        Call::new(self.client, plan, Json::new())
    }

    /// Asks for embeddings of the chunks of documents, each in the context of its document.
    pub fn create_contextualized(
        &self,
        request: &ContextualizedRequest,
    ) -> Call<Json<ContextualizedResponse>> {
        let path = "/v1/contextualizedembeddings";
        let plan = self.client.posting(path, request, ContextualizedRequest::validate);
        let plan = plan.map(|plan| plan.labelled("embeddings", Some(request.model.as_str())));
        Call::new(self.client, plan, Json::new())
    }
}
