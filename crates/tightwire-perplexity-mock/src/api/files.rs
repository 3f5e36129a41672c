//! Uploaded files, and those that batches write.

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde_json::{Value, json};

use super::refusal::Refusal;
use super::state::State;
use super::upload::{self, Upload};
use super::{Outcome, page, refusal};
use crate::reply::Reply;
use crate::request::Request;

#[derive(Debug)]
pub(crate) struct File {
    id: String,
    name: String,
    purpose: &'static str,
    created: u64,
    pub(crate) content: Bytes,
}

impl File {
    fn view(&self) -> Value {
        json!({
            "id": self.id,
            "object": "file",
            "bytes": self.content.len(),
            "created_at": self.created,
            "filename": self.name,
            "purpose": self.purpose,
        })
    }
}

/// Stores a file and returns its identifier.
pub(crate) fn store(state: &mut State, name: &str, purpose: &'static str, content: Bytes) -> String {
    let id = state.id("file_");
    let file = File { id: id.clone(), name: name.to_owned(), purpose, created: state.now(), content };
    state.files.insert(id.clone(), file.content.len(), file);
    id
}

pub(crate) fn create(state: &mut State, upload: Option<Upload>) -> Outcome {
    let form = upload.ok_or_else(|| upload::missing("file"))?;
    if form.field("purpose")? != "batch" {
        return Err(refusal::invalid("invalid_purpose", "purpose must be 'batch'"));
    }
    let file = upload::file(Some(form))?;
    let id = store(state, &file.name, "batch", file.content);
    retrieve(state, &id)
}

/// The newest first unless asked for otherwise.
pub(crate) fn list(state: &State, request: &Request) -> Outcome {
    let purpose = request.query_value("purpose");
    let is_wanted = |file: &&File| purpose.as_deref().is_none_or(|purpose| purpose == file.purpose);
    let mut files: Vec<Value> = state.files.values().filter(is_wanted).map(File::view).collect();
    if request.query_value("order").as_deref() != Some("asc") {
        files.reverse();
    }
    page::after(request, files)
}

fn find<'a>(state: &'a State, id: &str) -> Result<&'a File, Refusal> {
    state.files.get(id).ok_or_else(|| refusal::not_found("File", id))
}

pub(crate) fn retrieve(state: &State, id: &str) -> Outcome {
    Ok(Reply::json(&find(state, id)?.view()))
}

pub(crate) fn content(state: &State, id: &str) -> Outcome {
    let file = find(state, id)?;
    let mut reply = Reply::bytes("application/octet-stream", file.content.clone());
    // A name that no header can carry goes without.
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", file.name)) {
        reply.headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(reply)
}

pub(crate) fn delete(state: &mut State, id: &str) -> Outcome {
    state.files.remove(id).ok_or_else(|| refusal::not_found("File", id))?;
    Ok(Reply::json(&json!({"id": id, "object": "file", "deleted": true})))
}
