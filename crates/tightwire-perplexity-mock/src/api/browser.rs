//! Browser sessions.

use http::StatusCode;
use serde_json::json;

use super::state::State;
use super::{Outcome, refusal};
use crate::reply::Reply;

pub(crate) fn create(state: &mut State) -> Outcome {
    let id = state.id("sess_");
    state.sessions.insert(id.clone(), 0, ());
    Ok(Reply::json(&json!({"session_id": id, "status": "running"})))
}

pub(crate) fn delete(state: &mut State, id: &str) -> Outcome {
    state.sessions.remove(id).ok_or_else(|| refusal::not_found("Session", id))?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
