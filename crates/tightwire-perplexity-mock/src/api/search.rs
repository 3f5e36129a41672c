//! Search endpoint, and the search results of other endpoints.

use serde_json::{Value, json};

use super::error;
use super::error::ApiResult;
use super::input::Input;
use super::store::Counters;
use crate::api_response::ApiResponse;
use crate::request::Request;

/// Number of results per query.
const RESULTS: u64 = 3;

pub(crate) fn create(counters: &mut Counters, request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let queries = input.texts("query")?;
    if queries.is_empty() || queries.iter().any(|query| query.trim().is_empty()) {
        return Err(error::invalid("invalid_query", "A query must not be empty"));
    }
    let limit = input.count("max_results")?.unwrap_or(10);
    let is_people = input.text("search_type")? == Some("people");
    if limit == 0 || limit > 20 && !is_people {
        return Err(error::invalid("invalid_max_results", "max_results must be from 1 to 20"));
    }
    let results: Vec<Value> = queries
        .iter()
        .flat_map(|query| {
            (1..=RESULTS.min(limit)).map(move |number| {
                json!({
                    "title": format!("{query}: result {number}"),
                    "url": format!("https://example.org/{number}"),
                    "snippet": format!("What page {number} says about {query}"),
                    "date": "2024-01-01",
                    // Recordings have this field with the value null.
                    "last_updated": null,
                })
            })
        })
        .collect();
    let mut body = json!({"id": counters.id("search-"), "results": results});
    if input.flag("display_server_time")? {
        body["server_time"] = json!("2024-01-01T00:00:00Z");
    }
    Ok(ApiResponse::json(&body))
}

/// Returns the pages cited by responses.
pub(crate) fn cited() -> Vec<Value> {
    (1..=2)
        .map(|number| {
            json!({
                "title": format!("Page {number}"),
                "url": format!("https://example.org/{number}"),
                "date": "2024-01-01",
                "last_updated": "2024-02-01",
                "snippet": format!("What page {number} says"),
                "source": "web",
            })
        })
        .collect()
}
