//! Endpoints of stored objects: asynchronous completions, browser sessions, files, batches, skills.

use http::StatusCode;
use tightwire_json::{Value, json};

use super::chat::Completion;
use super::error::{self, ApiError, ApiResult};
use super::input::Input;
use super::store::{Object, Store};
use super::{Call, State, text};
use crate::mock_response::MockResponse;
use crate::request::Request;

/// Fixed time of all skills, a string in this API.
const TIME: &str = "2024-01-01T00:00:00Z";
const WINDOW_SECONDS: u64 = 24 * 60 * 60;
const OUTPUT_NAME: &str = "results.jsonl";

/// Maximum characters of the name of a skill. Also the size in bytes that a skill counts toward the limit of
/// the store.
const MAX_NAME: usize = 64;

/// Creates an asynchronous completion: in progress after the first poll, completed after the second.
pub(crate) fn create_job(state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let key = input.text("idempotency_key")?;
    if let Some(known) = state.jobs.with_key(key) {
        return Ok(MockResponse::json(&known.view));
    }
    let inner = input.nested("request")?;
    let completion = Completion::of(state, &inner)?.complete();
    let (id, now) = (state.jobs.next_id(), state.now());
    let view = json!({
        "id": id,
        "model": completion["model"],
        "created_at": now,
        "status": "CREATED",
    });
    let later = [
        json!({"status": "IN_PROGRESS", "started_at": now + 1}),
        json!({"status": "COMPLETED", "completed_at": now + 2, "response": completion}),
    ];
    let response = MockResponse::json(&view);
    state.jobs.insert(Object {
        id,
        view,
        later: later.into(),
        idempotency_key: key.map(str::to_owned),
        bytes: call.request.body.len(),
        ..Object::default()
    });
    Ok(response)
}

/// Lists the jobs. Listing does not advance them.
pub(crate) fn list_jobs(store: &Store, call: &Call<'_>) -> ApiResult {
    let (jobs, has_more) = store.page(call, "next_token")?;
    let next = jobs.last().filter(|_| has_more).map(|job| job["id"].clone());
    Ok(MockResponse::json(&json!({"requests": jobs, "next_token": next})))
}

pub(crate) fn create_session(state: &mut State, _call: &Call<'_>) -> ApiResult {
    let id = state.sessions.next_id();
    let view = json!({"session_id": id, "status": "running"});
    state.sessions.insert(Object { id, ..Object::default() });
    Ok(MockResponse::json(&view))
}

pub(crate) fn list(store: &Store, call: &Call<'_>) -> ApiResult {
    let (page, has_more) = store.page(call, "after")?;
    let id = |object: Option<&Value>| object.map_or(Value::Null, |object| object["id"].clone());
    Ok(MockResponse::json(&json!({
        "object": "list",
        "first_id": id(page.first()),
        "last_id": id(page.last()),
        "data": page,
        "has_more": has_more,
    })))
}

fn insert_file(state: &mut State, name: &str, purpose: &str, content: bytes::Bytes) -> Value {
    let id = state.files.next_id();
    let view = json!({
        "id": id,
        "object": "file",
        "bytes": content.len(),
        "created_at": state.now(),
        "filename": name,
        "purpose": purpose,
    });
    let (bytes, file) = (content.len(), Some((name.to_owned(), content)));
    state.files.insert(Object { id, view: view.clone(), file, bytes, ..Object::default() });
    view
}

pub(crate) fn create_file(state: &mut State, call: &Call<'_>) -> ApiResult {
    let file = call.upload.as_ref().ok_or_else(error::no_file)?;
    Ok(MockResponse::json(&insert_file(state, &file.name, "batch", file.content.clone())))
}

pub(crate) fn delete_file(state: &mut State, call: &Call<'_>) -> ApiResult {
    state.files.delete(call)?;
    Ok(MockResponse::json(&json!({"id": call.ids[0], "object": "file", "deleted": true})))
}

/// Creates a batch. Each poll advances it by one status. Its output file exists from the beginning.
pub(crate) fn create_batch(state: &mut State, call: &Call<'_>) -> ApiResult {
    let input = Input::of(call.request)?;
    let key = call.request.header("idempotency-key");
    if let Some(known) = state.batches.with_key(key) {
        return Ok(MockResponse::json(&known.view));
    }
    let endpoint = input.required_text("endpoint")?;
    let input_file = input.required_text("input_file_id")?;
    let content = state.files.get(input_file)?.file.clone().unwrap_or_default().1;
    let results = results(&content);
    let total = results.lines().count();
    let output = insert_file(state, OUTPUT_NAME, "batch_output", results.into());
    let (id, now) = (state.batches.next_id(), state.now());
    let counts = |completed| json!({"total": total, "completed": completed, "failed": 0});
    let usage = |tokens| {
        json!({
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2 * tokens,
        })
    };
    let mut view = json!({
        "id": id,
        "object": "batch",
        "endpoint": endpoint,
        "completion_window": "24h",
        "created_at": now,
        "expires_at": now + WINDOW_SECONDS,
        "input_file_id": input_file,
        "status": "validating",
        "request_counts": counts(0),
        "usage": usage(0),
    });
    if let Some(metadata) = input.get("metadata") {
        view["metadata"] = metadata.clone();
    }
    let later = [
        json!({"status": "in_progress", "in_progress_at": now + 1}),
        json!({"status": "finalizing", "finalizing_at": now + 2}),
        json!({
            "status": "completed",
            "completed_at": now + 3,
            "output_file_id": output["id"],
            "request_counts": counts(total),
            "usage": usage(total),
        }),
    ];
    let response = MockResponse::json(&view);
    state.batches.insert(Object {
        id,
        view,
        later: later.into(),
        idempotency_key: key.map(str::to_owned),
        bytes: call.request.body.len(),
        ..Object::default()
    });
    Ok(response)
}

/// Returns one line per request of an input file.
fn results(content: &[u8]) -> String {
    let content = String::from_utf8_lossy(content);
    let requests = content.lines().filter(|line| !line.trim().is_empty());
    let result = |(index, line): (usize, &str)| {
        let request: Value = tightwire_json::from_str(line).unwrap_or_default();
        let prompt = text::prompt(&request["body"]["input"]);
        let result = json!({
            "id": format!("batch_req_{}", index + 1),
            "custom_id": request["custom_id"],
            "response": {"status_code": 200, "body": {"output_text": text::reply_to(&prompt)}},
            "error": null,
        });
        format!("{result}\n")
    };
    requests.enumerate().map(result).collect()
}

/// Returns the fields of a skill that the revision determines. The name is that of the bundle.
fn revision(number: u64, bundle: &str) -> Value {
    let name: String = bundle.strip_suffix(".zip").unwrap_or(bundle).chars().take(MAX_NAME).collect();
    let revision = format!("r{number}");
    json!({
        "name": name,
        "description": format!("What {name} does"),
        "revision": revision,
        "latest_revision": revision,
    })
}

pub(crate) fn create_skill(state: &mut State, call: &Call<'_>) -> ApiResult {
    let file = call.upload.as_ref().ok_or_else(error::no_file)?;
    let id = state.skills.next_id();
    let mut view = revision(1, &file.name);
    super::store::merge(&mut view, &json!({"skill_id": id, "created_at": TIME, "updated_at": TIME}));
    let response = MockResponse::json(&view);
    state.skills.insert(Object { id, view, bytes: MAX_NAME, ..Object::default() });
    Ok(response)
}

pub(crate) fn list_skills(store: &Store, call: &Call<'_>) -> ApiResult {
    let (skills, has_more) = store.page(call, "page_token")?;
    let next = skills.last().filter(|_| has_more).map(|skill| skill["skill_id"].clone());
    Ok(MockResponse::json(&json!({"skills": skills, "next_page_token": next})))
}

/// Rejects a change that is based on another revision than the latest.
fn expect_latest(skill: &Object, request: &Request) -> Result<(), ApiError> {
    let expected = request.query_value("expected_revision");
    let expected = expected.ok_or_else(|| error::wrong_query("expected_revision", "Field required"))?;
    if skill.view["latest_revision"] == expected {
        return Ok(());
    }
    Err(error::typed(StatusCode::CONFLICT, "conflict", "The skill has another revision by now"))
}

pub(crate) fn update_skill(state: &mut State, call: &Call<'_>) -> ApiResult {
    let skill = state.skills.get_mut(call.ids[0])?;
    expect_latest(skill, call.request)?;
    let file = call.upload.as_ref().ok_or_else(error::no_file)?;
    let latest = skill.view["revision"].as_str().and_then(|revision| revision[1..].parse().ok());
    super::store::merge(&mut skill.view, &revision(latest.unwrap_or(0) + 1, &file.name));
    Ok(MockResponse::json(&skill.view))
}

pub(crate) fn delete_skill(state: &mut State, call: &Call<'_>) -> ApiResult {
    expect_latest(state.skills.get(call.ids[0])?, call.request)?;
    state.skills.delete(call)
}

pub(crate) fn download_skill(state: &mut State, call: &Call<'_>) -> ApiResult {
    let skill = &state.skills.get(call.ids[0])?.view;
    let url = format!("https://example.org/skills/{}.zip", call.ids[0]);
    let body = json!({"download_url": url, "name": skill["name"], "revision": skill["revision"]});
    Ok(MockResponse::json(&body))
}

/// Lists the latest revision. Earlier ones are not stored.
pub(crate) fn skill_revisions(state: &mut State, call: &Call<'_>) -> ApiResult {
    let skill = &state.skills.get(call.ids[0])?.view;
    let revision = json!({"revision": skill["revision"], "name": skill["name"], "created_at": TIME});
    Ok(MockResponse::json(&json!({"revisions": [revision]})))
}
