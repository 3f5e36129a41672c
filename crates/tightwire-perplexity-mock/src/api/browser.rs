//! Browser sessions.

use http::StatusCode;
use serde_json::json;

use super::state::State;
use super::{ApiResult, error};
use crate::api_response::ApiResponse;

pub(crate) fn create(state: &mut State) -> ApiResult {
    let id = state.id("sess_");
    state.sessions.insert(id.clone(), 0, ());
    Ok(ApiResponse::json(&json!({"session_id": id, "status": "running"})))
}

pub(crate) fn delete(state: &mut State, id: &str) -> ApiResult {
    state.sessions.remove(id).ok_or_else(|| error::not_found("Session", id))?;
    Ok(ApiResponse::empty(StatusCode::NO_CONTENT))
}
