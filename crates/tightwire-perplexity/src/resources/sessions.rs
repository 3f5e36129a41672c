//! `/v1/browser/sessions`.

use http::Method;

use super::group;
use crate::client::{Accept, Call, Discard, Json, Plan, segment};
use crate::types::browser::{CreateRequest, Session};

group! {
    /// Browser sessions; see [`Client::browser_sessions`](crate::Client::browser_sessions).
    Sessions
}

impl Sessions<'_> {
    /// Starts a session.
    pub fn create(&self) -> Call<Json<Session>> {
        let plan = Plan::post("/v1/browser/sessions").with_json(&CreateRequest::new());
        Call::new(self.client, plan, Json::new())
    }

    /// Ends a session.
    pub fn delete(&self, id: &str) -> Call<Discard> {
        let plan = segment("id", id).map(|id| {
            Plan::new(Method::DELETE, format!("/v1/browser/sessions/{id}")).with_accept(Accept::Anything)
        });
        Call::new(self.client, plan, Discard)
    }
}
