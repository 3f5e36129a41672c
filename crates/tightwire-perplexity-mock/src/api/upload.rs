//! Multipart uploads.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use serde_json::json;

use super::error::{self, ApiError};
use crate::request::Request;

/// A multipart form: plain fields, and the part named `file`.
#[derive(Debug)]
pub(crate) struct Upload {
    fields: BTreeMap<String, String>,
    file: Option<UploadedFile>,
}

#[derive(Debug)]
pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) content: Bytes,
}

impl Upload {
    /// Returns `None` if the request is not a valid form.
    pub(crate) async fn of(request: &Request) -> Option<Self> {
        let boundary = multer::parse_boundary(request.header(CONTENT_TYPE.as_str())?).ok()?;
        let body = request.body.clone();
        let mut form = multer::Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
        let mut upload = Self { fields: BTreeMap::new(), file: None };
        while let Some(field) = form.next_field().await.ok()? {
            let name = field.name()?.to_owned();
            if name == "file" {
                let name = field.file_name().unwrap_or("upload").to_owned();
                upload.file = Some(UploadedFile { name, content: field.bytes().await.ok()? });
            } else {
                upload.fields.insert(name, field.text().await.ok()?);
            }
        }
        Some(upload)
    }

    pub(crate) fn field(&self, name: &str) -> Result<&str, ApiError> {
        self.fields.get(name).map(String::as_str).ok_or_else(|| missing(name))
    }
}

/// Returns the file of a form.
pub(crate) fn file(upload: Option<Upload>) -> Result<UploadedFile, ApiError> {
    upload.and_then(|upload| upload.file).ok_or_else(|| missing("file"))
}

pub(crate) fn missing(name: &str) -> ApiError {
    error::schema(&[json!("body"), json!(name)], "Field required", "missing")
}
