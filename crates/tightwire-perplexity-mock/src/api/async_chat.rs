//! Asynchronous chat completions.

use serde_json::{Value, json};

use super::chat::Completion;
use super::input::Input;
use super::state::State;
use super::{ApiResult, page, error};
use crate::api_response::ApiResponse;
use crate::request::Request;

/// An asynchronous completion: in progress after the first poll, completed after the second.
#[derive(Debug)]
pub(crate) struct Job {
    id: String,
    model: String,
    idempotency_key: Option<String>,
    created: u64,
    started: Option<u64>,
    completed: Option<u64>,
    completion: Value,
}

impl Job {
    fn summary(&self) -> Value {
        let status = match (self.started, self.completed) {
            (None, _) => "CREATED",
            (Some(_), None) => "IN_PROGRESS",
            (Some(_), Some(_)) => "COMPLETED",
        };
        let mut summary = json!({
            "id": self.id,
            "model": self.model,
            "created_at": self.created,
            "status": status,
        });
        for (name, time) in [("started_at", self.started), ("completed_at", self.completed)] {
            if let Some(time) = time {
                summary[name] = json!(time);
            }
        }
        summary
    }

    fn whole(&self) -> Value {
        let mut whole = self.summary();
        if self.completed.is_some() {
            whole["response"] = self.completion.clone();
        }
        whole
    }
}

pub(crate) fn create(state: &mut State, request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let inner = input.nested("request")?;
    let key = input.text("idempotency_key")?.map(str::to_owned);
    if key.is_some()
        && let Some(known) = state.jobs.values().find(|job| job.idempotency_key == key)
    {
        return Ok(ApiResponse::json(&known.summary()));
    }
    if inner.flag("stream")? {
        return Err(error::invalid("invalid_request", "Asynchronous requests cannot be streamed"));
    }
    let completion = Completion::of(state, &inner)?;
    let id = state.id("req_");
    let job = Job {
        id: id.clone(),
        model: inner.required_text("model")?.to_owned(),
        idempotency_key: key,
        created: state.now(),
        started: None,
        completed: None,
        completion: completion.whole(),
    };
    let created = job.summary();
    state.jobs.insert(id, request.body.len(), job);
    Ok(ApiResponse::json(&created))
}

/// Lists the jobs, newest first. Listing does not advance them.
pub(crate) fn list(state: &State, request: &Request) -> ApiResult {
    let jobs = state.jobs.values().rev().map(Job::summary).collect();
    let (requests, next) = page::token(request, "next_token", jobs)?;
    Ok(ApiResponse::json(&json!({"requests": requests, "next_token": next})))
}

pub(crate) fn get(state: &mut State, id: &str) -> ApiResult {
    let now = state.now();
    let job = state.jobs.get_mut(id).ok_or_else(|| error::not_found("Request", id))?;
    if job.started.is_none() {
        job.started = Some(now);
    } else if job.completed.is_none() {
        job.completed = Some(now);
    }
    Ok(ApiResponse::json(&job.whole()))
}
