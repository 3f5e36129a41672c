//! Typed access to JSON bodies, with the API's validation errors, and to uploaded files.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use tightwire_json::{Map, Value, json};

use super::error::{self, ApiError};
use crate::request::Request;

/// An object of the body. A `null` field counts as absent.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) fields: Map<String, Value>,
    /// Path of the object, for error responses.
    location: Vec<Value>,
}

impl Input {
    pub(crate) fn of(request: &Request) -> Result<Self, ApiError> {
        let location = vec![json!("body")];
        match tightwire_json::from_slice(&request.body) {
            Ok(Value::Object(fields)) => Ok(Self { fields, location }),
            Ok(_) => Err(error::schema(&location, "Input should be an object", "dict_type")),
            Err(error) => {
                let place = [json!("body"), json!(error.column())];
                Err(error::schema(&place, "JSON decode error", "json_invalid"))
            }
        }
    }

    pub(crate) fn nested(&self, name: &str) -> Result<Self, ApiError> {
        let mut location = self.location.clone();
        location.push(json!(name));
        match self.required(name)? {
            Value::Object(fields) => Ok(Self { fields: fields.clone(), location }),
            _ => Err(self.wrong(name, "Input should be an object", "dict_type")),
        }
    }

    pub(crate) fn wrong(&self, name: &str, message: &str, kind: &str) -> ApiError {
        let mut location = self.location.clone();
        location.push(json!(name));
        error::schema(&location, message, kind)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    pub(crate) fn required(&self, name: &str) -> Result<&Value, ApiError> {
        self.get(name).ok_or_else(|| self.wrong(name, "Field required", "missing"))
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid string", "string_type");
        self.get(name).map(|value| value.as_str().ok_or_else(wrong)).transpose()
    }

    pub(crate) fn required_text(&self, name: &str) -> Result<&str, ApiError> {
        self.required(name)?;
        Ok(self.text(name)?.unwrap_or_default())
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid boolean", "bool_type");
        Ok(self.get(name).map(|value| value.as_bool().ok_or_else(wrong)).transpose()?.unwrap_or(false))
    }

    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid integer", "int_type");
        self.get(name).map(|value| value.as_u64().ok_or_else(wrong)).transpose()
    }

    /// Returns a required list of 1 to `max` items. A value that is not a list is treated as a list of one
    /// item.
    pub(crate) fn list(&self, name: &str, max: usize) -> Result<&[Value], ApiError> {
        let list = match self.required(name)? {
            Value::Array(items) => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        if list.is_empty() || list.len() > max {
            return Err(error::invalid("invalid_input", &format!("{name} must have from 1 to {max} items")));
        }
        Ok(list)
    }

    /// Returns a string or a list of 1 to `max` strings.
    pub(crate) fn texts(&self, name: &str, max: usize) -> Result<Vec<&str>, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid string or list of strings", "string_type");
        self.list(name, max)?.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
    }
}

/// The part of a multipart form that is named `file`.
#[derive(Debug)]
pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) content: Bytes,
}

/// Returns `None` if the request is not a valid form with a file.
pub(crate) async fn uploaded_file(request: &Request) -> Option<UploadedFile> {
    let boundary = multer::parse_boundary(request.header(CONTENT_TYPE.as_str())?).ok()?;
    let body = request.body.clone();
    let mut form = multer::Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
    loop {
        let field = form.next_field().await.ok()??;
        if field.name() == Some("file") {
            let name = field.file_name().unwrap_or("upload").to_owned();
            return Some(UploadedFile { name, content: field.bytes().await.ok()? });
        }
    }
}
