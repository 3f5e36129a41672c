//! Uploaded files and batch output files.

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::store::{Counters, Store};
use super::upload::{self, Upload};
use super::{error, page};
use crate::api_response::ApiResponse;
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
pub(crate) fn insert(
    counters: &mut Counters,
    store: &mut Store<File>,
    name: &str,
    purpose: &'static str,
    content: Bytes,
) -> String {
    let id = counters.id("file_");
    let file = File { id: id.clone(), name: name.to_owned(), purpose, created: counters.now(), content };
    store.insert(id.clone(), file.content.len(), file);
    id
}

pub(crate) fn create(counters: &mut Counters, store: &mut Store<File>, upload: Option<Upload>) -> ApiResult {
    let form = upload.ok_or_else(|| upload::missing("file"))?;
    if form.field("purpose")? != "batch" {
        return Err(error::invalid("invalid_purpose", "purpose must be 'batch'"));
    }
    let file = upload::file(Some(form))?;
    let id = insert(counters, store, &file.name, "batch", file.content);
    retrieve(store, &id)
}

/// Newest first, unless the query asks for ascending order.
pub(crate) fn list(store: &Store<File>, request: &Request) -> ApiResult {
    let purpose = request.query_value("purpose");
    let is_wanted = |file: &&File| purpose.as_deref().is_none_or(|purpose| purpose == file.purpose);
    let mut files: Vec<Value> = store.values().filter(is_wanted).map(File::view).collect();
    if request.query_value("order").as_deref() != Some("asc") {
        files.reverse();
    }
    page::after(request, files)
}

fn find<'a>(store: &'a Store<File>, id: &str) -> Result<&'a File, ApiError> {
    store.get(id).ok_or_else(|| error::not_found("File", id))
}

pub(crate) fn retrieve(store: &Store<File>, id: &str) -> ApiResult {
    Ok(ApiResponse::json(&find(store, id)?.view()))
}

pub(crate) fn content(store: &Store<File>, id: &str) -> ApiResult {
    let file = find(store, id)?;
    let mut reply = ApiResponse::bytes("application/octet-stream", file.content.clone());
    // Omit the header if the name is not a valid header value.
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", file.name)) {
        reply.headers.insert(CONTENT_DISPOSITION, disposition);
    }
    Ok(reply)
}

pub(crate) fn delete(store: &mut Store<File>, id: &str) -> ApiResult {
    store.remove(id).ok_or_else(|| error::not_found("File", id))?;
    Ok(ApiResponse::json(&json!({"id": id, "object": "file", "deleted": true})))
}
