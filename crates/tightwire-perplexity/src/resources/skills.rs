//! `/v1/skills`.

use http::Method;

use super::group;
use crate::client::{Accept, Call, Discard, Form, Json, Plan, Upload, random, segment};
use crate::types::skills::{
    ChangeParams, Download, List, ListParams, ManagedSkill, RevisionParams, Revisions,
};

group! {
    /// Stored skills; see [`Client::skills`](crate::Client::skills).
    Skills
}

impl Skills<'_> {
    /// Creates a skill from a zip bundle.
    pub fn create(&self, filename: &str, bundle: &[u8]) -> Call<Json<ManagedSkill>> {
        let plan = self.form(filename, bundle).map(|form| Plan::post("/v1/skills").with_form(form));
        Call::new(self.client, plan, Json::new())
    }

    /// Lists skills.
    pub fn list(&self, params: &ListParams) -> Call<Json<List>> {
        Call::new(self.client, Plan::get("/v1/skills").with_params(params), Json::new())
    }

    /// Retrieves the metadata of a skill.
    pub fn retrieve(&self, id: &str, params: &RevisionParams) -> Call<Json<ManagedSkill>> {
        let plan = segment("id", id).and_then(|id| Plan::get(format!("/v1/skills/{id}")).with_params(params));
        Call::new(self.client, plan, Json::new())
    }

    /// Uploads a new revision of a skill.
    pub fn update(
        &self,
        id: &str,
        params: &ChangeParams,
        filename: &str,
        bundle: &[u8],
    ) -> Call<Json<ManagedSkill>> {
        let plan = segment("id", id).and_then(|id| {
            let plan = Plan::new(Method::PUT, format!("/v1/skills/{id}")).with_params(params)?;
            Ok(plan.with_form(self.form(filename, bundle)?))
        });
        Call::new(self.client, plan, Json::new())
    }

    /// Retrieves the download URL of a skill's files.
    pub fn download(&self, id: &str, params: &RevisionParams) -> Call<Json<Download>> {
        let plan = segment("id", id)
            .and_then(|id| Plan::get(format!("/v1/skills/{id}/download")).with_params(params));
        Call::new(self.client, plan, Json::new())
    }

    /// Deletes a skill.
    pub fn delete(&self, id: &str, params: &ChangeParams) -> Call<Discard> {
        let plan = segment("id", id).and_then(|id| {
            let plan = Plan::new(Method::DELETE, format!("/v1/skills/{id}")).with_params(params)?;
            Ok(plan.with_accept(Accept::Anything))
        });
        Call::new(self.client, plan, Discard)
    }

    /// Lists the revisions of a skill.
    pub fn revisions(&self, id: &str, params: &ListParams) -> Call<Json<Revisions>> {
        let plan = segment("id", id)
            .and_then(|id| Plan::get(format!("/v1/skills/{id}/revisions")).with_params(params));
        Call::new(self.client, plan, Json::new())
    }

    fn form(&self, filename: &str, bundle: &[u8]) -> crate::Result<Form> {
        Form::new(&[], &Upload { filename, content: bundle }, random())
    }
}
