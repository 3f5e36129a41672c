//! Pagination, in both styles of the API.

use serde_json::{Value, json};

use super::error::{self, ApiError};
use crate::api_response::ApiResponse;
use crate::request::Request;

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

fn limit(request: &Request) -> Result<usize, ApiError> {
    let Some(text) = request.query_value("limit") else { return Ok(DEFAULT_LIMIT) };
    match text.parse() {
        Ok(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
        _ => Err(error::schema(
            &[json!("query"), json!("limit")],
            "Input should be an integer from 1 to 100",
            "int_range",
        )),
    }
}

/// Returns the page after the object that the parameter `after` names.
pub(crate) fn after(request: &Request, objects: Vec<Value>) -> Result<ApiResponse, ApiError> {
    let limit = limit(request)?;
    let start = match request.query_value("after") {
        None => 0,
        Some(id) => {
            let known = objects.iter().position(|object| object["id"] == id.as_str());
            known
                .ok_or_else(|| error::invalid("invalid_cursor", &format!("No object '{id}' in this list")))?
                + 1
        }
    };
    let has_more = objects.len() > start + limit;
    let page: Vec<Value> = objects.into_iter().skip(start).take(limit).collect();
    let id = |object: Option<&Value>| object.map_or(Value::Null, |object| object["id"].clone());
    Ok(ApiResponse::json(&json!({
        "object": "list",
        "first_id": id(page.first()),
        "last_id": id(page.last()),
        "data": page,
        "has_more": has_more,
    })))
}

/// Returns the page at the token in the query parameter `parameter`, and the token of the next page.
pub(crate) fn token(
    request: &Request,
    parameter: &str,
    objects: Vec<Value>,
) -> Result<(Vec<Value>, Option<String>), ApiError> {
    let limit = limit(request)?;
    let start = match request.query_value(parameter) {
        None => 0,
        Some(token) => token
            .strip_prefix("page-")
            .and_then(|start| start.parse::<usize>().ok())
            .filter(|start| *start < objects.len())
            .ok_or_else(|| error::invalid("invalid_page_token", "The page token is not valid"))?,
    };
    let end = start + limit;
    let next = (end < objects.len()).then(|| format!("page-{end}"));
    Ok((objects.into_iter().skip(start).take(limit).collect(), next))
}
