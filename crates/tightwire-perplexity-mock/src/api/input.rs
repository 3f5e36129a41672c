//! Typed access to the fields of a JSON body, with the API's validation errors.

use serde_json::{Map, Value, json};

use super::error::{self, ApiError};
use crate::request::Request;

/// An object of the body. A `null` field counts as absent.
#[derive(Debug)]
pub(crate) struct Input {
    members: Map<String, Value>,
    /// Path of the object, for error responses.
    location: Vec<Value>,
}

impl Input {
    pub(crate) fn of(request: &Request) -> Result<Self, ApiError> {
        let location = vec![json!("body")];
        match serde_json::from_slice(&request.body) {
            Ok(Value::Object(members)) => Ok(Self { members, location }),
            Ok(_) => Err(error::schema(&location, "Input should be an object", "dict_type")),
            Err(_) if request.body.is_empty() => Err(error::schema(&location, "Field required", "missing")),
            Err(error) => {
                let place = [json!("body"), json!(error.column())];
                Err(error::schema(&place, "JSON decode error", "json_invalid"))
            }
        }
    }

    /// Returns a nested object.
    pub(crate) fn nested(&self, name: &str) -> Result<Self, ApiError> {
        match self.required(name)? {
            Value::Object(members) => Ok(Self { members: members.clone(), location: self.place(name) }),
            _ => Err(self.wrong(name, "Input should be an object", "dict_type")),
        }
    }

    fn place(&self, name: &str) -> Vec<Value> {
        let mut place = self.location.clone();
        place.push(json!(name));
        place
    }

    pub(crate) fn wrong(&self, name: &str, message: &str, kind: &str) -> ApiError {
        error::schema(&self.place(name), message, kind)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
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

    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid number", "float_type");
        self.get(name).map(|value| value.as_f64().ok_or_else(wrong)).transpose()
    }

    pub(crate) fn list(&self, name: &str) -> Result<Option<&[Value]>, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid list", "list_type");
        self.get(name).map(|value| value.as_array().map(Vec::as_slice).ok_or_else(wrong)).transpose()
    }

    /// Returns a string or a list of strings.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<&str>, ApiError> {
        let wrong = || self.wrong(name, "Input should be a valid string or list of strings", "string_type");
        match self.required(name)? {
            Value::String(text) => Ok(vec![text]),
            Value::Array(items) => items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect(),
            _ => Err(wrong()),
        }
    }
}
