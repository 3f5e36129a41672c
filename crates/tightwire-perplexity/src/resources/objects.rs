//! Endpoints of stored objects: batches, files, skills, browser sessions and API keys.

use std::path::Path;

use http::{HeaderValue, Method};

use super::group;
use crate::client::{Call, Download, Form, random};
use crate::types::Deleted;
use crate::types::auth_tokens::{AuthToken, GenerateRequest, RevokeRequest};
use crate::types::batches::{self, Batch};
use crate::types::browser::{CreateRequest, Session};
use crate::types::files::{self, FileObject, Purpose};
use crate::types::skills::{self, ChangeParams, ManagedSkill, RevisionParams, Revisions};
use crate::wait::Wait;

/// Value of `Accept` where the response has no content.
const ANY_TYPE: HeaderValue = HeaderValue::from_static("*/*");

group! {
    /// Batches of requests.
    ///
    /// # Examples
    ///
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
    Batches, batches
}

impl<C> Batches<'_, C> {
    /// Creates a batch.
    pub fn create(&self, request: &batches::CreateRequest) -> Call<Batch, C> {
        self.client.post("/v1/batches", request, batches::CreateRequest::validate)
    }

    /// Lists batches.
    pub fn list(&self, params: &batches::ListParams) -> Call<batches::List, C> {
        self.client.get("/v1/batches", &[]).params(params)
    }

    /// Retrieves a batch.
    pub fn retrieve(&self, id: &str) -> Call<Batch, C> {
        self.client.get("/v1/batches/{id}", &[("id", id)])
    }

    /// Cancels a batch.
    pub fn cancel(&self, id: &str) -> Call<Batch, C> {
        self.client.call(Method::POST, "/v1/batches/{id}/cancel", &[("id", id)])
    }

    /// Waits until a batch has ended.
    pub fn wait(&self, id: &str) -> Wait<Batch> {
        self.retrieve(id).for_client().wait()
    }
}

group! {
    /// Files.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// use tightwire_perplexity::types::files::Purpose;
    ///
    /// let file = client.files().create(Purpose::Batch, "requests.jsonl", b"{}\n").await?;
    /// let content = client.files().content(&file.id).await?.bytes(1 << 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    Files, files
}

impl<C> Files<'_, C> {
    /// Uploads a file. The content is copied once and shared by all attempts.
    pub fn create(&self, purpose: Purpose, filename: &str, content: &[u8]) -> Call<FileObject, C> {
        let form = Form::new(&[("purpose", purpose.as_str())], filename, content, random());
        self.client.call(Method::POST, "/v1/files", &[]).form(form)
    }

    /// Uploads the file at `path`, under its own name. It is read into memory when the call is sent, on a thread of the
    /// runtime for blocking work, and shared by all attempts.
    ///
    /// A file that cannot be read is an [`is_invalid_request`](crate::Error::is_invalid_request) error with the field
    /// `file`. [`Call::on_upload`] reports the progress.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: tightwire_perplexity::Client) -> tightwire_perplexity::Result<()> {
    /// use tightwire_perplexity::types::files::Purpose;
    ///
    /// let upload = client.files().create_from_path(Purpose::Batch, "requests.jsonl");
    /// let file = upload.on_upload(|sent, total| eprintln!("{sent} of {total} bytes")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_from_path(&self, purpose: Purpose, path: impl AsRef<Path>) -> Call<FileObject, C> {
        self.client.call(Method::POST, "/v1/files", &[]).form_of_file(purpose, path.as_ref())
    }

    /// Lists files.
    pub fn list(&self, params: &files::ListParams) -> Call<files::List, C> {
        self.client.get("/v1/files", &[]).params(params)
    }

    /// Retrieves the metadata of a file.
    pub fn retrieve(&self, id: &str) -> Call<FileObject, C> {
        self.client.get("/v1/files/{id}", &[("id", id)])
    }

    /// Deletes a file.
    pub fn delete(&self, id: &str) -> Call<Deleted, C> {
        self.client.call(Method::DELETE, "/v1/files/{id}", &[("id", id)])
    }

    /// Downloads a file.
    pub fn content(&self, id: &str) -> Call<Download, C> {
        self.client.get::<(), _>("/v1/files/{id}/content", &[("id", id)]).download()
    }
}

group! {
    /// Stored skills.
    Skills, skills
}

impl<C> Skills<'_, C> {
    /// Creates a skill from a zip bundle.
    pub fn create(&self, filename: &str, bundle: &[u8]) -> Call<ManagedSkill, C> {
        let form = Form::new(&[], filename, bundle, random());
        self.client.call(Method::POST, "/v1/skills", &[]).form(form)
    }

    /// Lists skills.
    pub fn list(&self, params: &skills::ListParams) -> Call<skills::List, C> {
        self.client.get("/v1/skills", &[]).params(params)
    }

    /// Retrieves the metadata of a skill.
    pub fn retrieve(&self, id: &str, params: &RevisionParams) -> Call<ManagedSkill, C> {
        self.client.get("/v1/skills/{id}", &[("id", id)]).params(params)
    }

    /// Uploads a new revision of a skill.
    pub fn update(
        &self,
        id: &str,
        params: &ChangeParams,
        filename: &str,
        bundle: &[u8],
    ) -> Call<ManagedSkill, C> {
        let form = Form::new(&[], filename, bundle, random());
        self.client.call(Method::PUT, "/v1/skills/{id}", &[("id", id)]).params(params).form(form)
    }

    /// Retrieves the download URL of a skill's files.
    pub fn download(&self, id: &str, params: &RevisionParams) -> Call<skills::Download, C> {
        self.client.get("/v1/skills/{id}/download", &[("id", id)]).params(params)
    }

    /// Deletes a skill.
    pub fn delete(&self, id: &str, params: &ChangeParams) -> Call<(), C> {
        let call = self.client.call::<(), _>(Method::DELETE, "/v1/skills/{id}", &[("id", id)]);
        call.params(params).accept(ANY_TYPE).discard_body()
    }

    /// Lists the revisions of a skill.
    pub fn revisions(&self, id: &str, params: &skills::ListParams) -> Call<Revisions, C> {
        self.client.get("/v1/skills/{id}/revisions", &[("id", id)]).params(params)
    }
}

group! {
    /// Browser sessions.
    Sessions, browser_sessions
}

impl<C> Sessions<'_, C> {
    /// Starts a session.
    pub fn create(&self) -> Call<Session, C> {
        self.client.post("/v1/browser/sessions", &CreateRequest::new(), |_| Ok(()))
    }

    /// Ends a session.
    pub fn delete(&self, id: &str) -> Call<(), C> {
        let call = self.client.call::<(), _>(Method::DELETE, "/v1/browser/sessions/{id}", &[("id", id)]);
        call.accept(ANY_TYPE).discard_body()
    }
}

group! {
    /// API keys of the group that the key of the client belongs to.
    AuthTokens, auth_tokens
}

impl<C> AuthTokens<'_, C> {
    /// Generates a key.
    pub fn generate(&self, request: &GenerateRequest) -> Call<AuthToken, C> {
        self.client.post("/generate_auth_token", request, |_| Ok(()))
    }

    /// Revokes a key for ever.
    pub fn revoke(&self, auth_token: &str) -> Call<(), C> {
        let request = &RevokeRequest::new(auth_token);
        let call = self.client.post::<(), _, _>("/revoke_auth_token", request, |_| Ok(()));
        call.accept(ANY_TYPE).discard_body()
    }
}
