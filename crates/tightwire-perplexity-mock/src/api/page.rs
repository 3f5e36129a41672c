//! Pages of lists, in both styles of the API.

use serde_json::{Value, json};

use super::refusal::{self, Refusal};
use crate::reply::Reply;
use crate::request::Request;

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

fn limit(request: &Request) -> Result<usize, Refusal> {
    let Some(text) = request.query_value("limit") else { return Ok(DEFAULT_LIMIT) };
    match text.parse() {
        Ok(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
        _ => Err(refusal::schema(
            &[json!("query"), json!("limit")],
            "Input should be an integer from 1 to 100",
            "int_range",
        )),
    }
}

/// A page that begins after the object that `after` names.
pub(crate) fn after(request: &Request, objects: Vec<Value>) -> Result<Reply, Refusal> {
    let limit = limit(request)?;
    let start = match request.query_value("after") {
        None => 0,
        Some(id) => {
            let known = objects.iter().position(|object| object["id"] == id.as_str());
            known.ok_or_else(|| {
                refusal::invalid("invalid_cursor", &format!("No object '{id}' in this list"))
            })? + 1
        }
    };
    let has_more = objects.len() > start + limit;
    let page: Vec<Value> = objects.into_iter().skip(start).take(limit).collect();
    let id = |object: Option<&Value>| object.map_or(Value::Null, |object| object["id"].clone());
    Ok(Reply::json(&json!({
        "object": "list",
        "first_id": id(page.first()),
        "last_id": id(page.last()),
        "data": page,
        "has_more": has_more,
    })))
}

/// A page that begins where the token in the query member `parameter` says, and the token of the next page.
pub(crate) fn token(
    request: &Request,
    parameter: &str,
    objects: Vec<Value>,
) -> Result<(Vec<Value>, Option<String>), Refusal> {
    let limit = limit(request)?;
    let start = match request.query_value(parameter) {
        None => 0,
        Some(token) => token
            .strip_prefix("page-")
            .and_then(|start| start.parse::<usize>().ok())
            .filter(|start| *start < objects.len())
            .ok_or_else(|| refusal::invalid("invalid_page_token", "The page token is not valid"))?,
    };
    let end = start + limit;
    let next = (end < objects.len()).then(|| format!("page-{end}"));
    Ok((objects.into_iter().skip(start).take(limit).collect(), next))
}
