//! Browser sessions.

use http::StatusCode;
use serde_json::json;

use super::error;
use super::error::ApiResult;
use super::store::{Counters, Store};
use crate::api_response::ApiResponse;

pub(crate) fn create(counters: &mut Counters, store: &mut Store<()>) -> ApiResult {
    let id = counters.id("sess_");
    store.insert(id.clone(), 0, ());
    Ok(ApiResponse::json(&json!({"session_id": id, "status": "running"})))
}

pub(crate) fn delete(store: &mut Store<()>, id: &str) -> ApiResult {
    store.remove(id).ok_or_else(|| error::not_found("Session", id))?;
    Ok(ApiResponse::empty(StatusCode::NO_CONTENT))
}
