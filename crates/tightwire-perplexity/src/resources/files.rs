//! `/v1/files`.

use http::Method;

use super::group;
use crate::client::{Accept, Call, File, Form, Json, Plan, Upload, random, segment};
use crate::types::Deleted;
use crate::types::files::{FileObject, List, ListParams, Purpose};

group! {
    /// Files; see [`Client::files`](crate::Client::files).
    ///
    /// # Examples
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// use tightwire_perplexity::types::files::Purpose;
    ///
    /// let file = client.files().create(Purpose::Batch, "requests.jsonl", b"{}\n").await?;
    /// let content = client.files().content(&file.id).await?.bytes(1 << 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    Files
}

impl Files<'_> {
    /// Uploads a file. The content is copied once and shared by all attempts.
    pub fn create(&self, purpose: Purpose, filename: &str, content: &[u8]) -> Call<Json<FileObject>> {
        let file = Upload { filename, content };
        let form = Form::new(&[("purpose", purpose.as_str())], &file, random());
        Call::new(self.client, form.map(|form| Plan::post("/v1/files").with_form(form)), Json::new())
    }

    /// Lists files.
    pub fn list(&self, params: &ListParams) -> Call<Json<List>> {
        Call::new(self.client, Plan::get("/v1/files").with_params(params), Json::new())
    }

    /// Retrieves the metadata of a file.
    pub fn retrieve(&self, id: &str) -> Call<Json<FileObject>> {
        let plan = segment("id", id).map(|id| Plan::get(format!("/v1/files/{id}")));
        Call::new(self.client, plan, Json::new())
    }

    /// Deletes a file.
    pub fn delete(&self, id: &str) -> Call<Json<Deleted>> {
        let plan = segment("id", id).map(|id| Plan::new(Method::DELETE, format!("/v1/files/{id}")));
        Call::new(self.client, plan, Json::new())
    }

    /// Downloads a file.
    pub fn content(&self, id: &str) -> Call<File> {
        let plan = segment("id", id)
            .map(|id| Plan::get(format!("/v1/files/{id}/content")).with_accept(Accept::Bytes));
        Call::new(self.client, plan, File)
    }
}
