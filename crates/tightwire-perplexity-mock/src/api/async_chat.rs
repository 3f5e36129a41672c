//! Asynchronous chat completions.

use serde_json::{Value, json};

use super::chat::Completion;
use super::error::ApiResult;
use super::input::Input;
use super::store::{Counters, Store};
use super::{error, page};
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

pub(crate) fn create(counters: &mut Counters, store: &mut Store<Job>, request: &Request) -> ApiResult {
    let input = Input::of(request)?;
    let inner = input.nested("request")?;
    let key = input.text("idempotency_key")?.map(str::to_owned);
    if key.is_some()
        && let Some(known) = store.values().find(|job| job.idempotency_key == key)
    {
        return Ok(ApiResponse::json(&known.summary()));
    }
    if inner.flag("stream")? {
        return Err(error::invalid("invalid_request", "Asynchronous requests cannot be streamed"));
    }
    let completion = Completion::of(counters, &inner)?;
    let id = counters.id("req_");
    let job = Job {
        id: id.clone(),
        model: inner.required_text("model")?.to_owned(),
        idempotency_key: key,
        created: counters.now(),
        started: None,
        completed: None,
        completion: completion.whole(),
    };
    let created = job.summary();
    store.insert(id, request.body.len(), job);
    Ok(ApiResponse::json(&created))
}

/// Lists the jobs, newest first. Listing does not advance them.
pub(crate) fn list(store: &Store<Job>, request: &Request) -> ApiResult {
    let jobs = store.values().rev().map(Job::summary).collect();
    let (requests, next) = page::token(request, "next_token", jobs)?;
    Ok(ApiResponse::json(&json!({"requests": requests, "next_token": next})))
}

pub(crate) fn get(counters: &Counters, store: &mut Store<Job>, id: &str) -> ApiResult {
    let now = counters.now();
    let job = store.get_mut(id).ok_or_else(|| error::not_found("Request", id))?;
    if job.started.is_none() {
        job.started = Some(now);
    } else if job.completed.is_none() {
        job.completed = Some(now);
    }
    Ok(ApiResponse::json(&job.whole()))
}
