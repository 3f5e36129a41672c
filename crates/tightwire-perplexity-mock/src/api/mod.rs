//! The built-in API: routes requests to the endpoints.

mod chat;
mod error;
mod input;
mod objects;
mod responses;
mod schema;
mod stateless;
mod store;
mod strict;
mod text;

use std::sync::{Mutex, PoisonError};

use http::HeaderValue;

use crate::mock_response::MockResponse;
use crate::request::Request;
use crate::rule::{matched_ids, sdk_path};
use error::{ApiError, ApiResult};
use input::UploadedFile;
use store::Store;

/// Time of the first request. It advances by one second per request, so that responses do not depend on a
/// clock.
const EPOCH: u64 = 1_700_000_000;

#[derive(Debug)]
pub(crate) struct Api {
    state: Mutex<State>,
    /// Whether chat completions are available.
    has_chat: bool,
}

#[derive(Debug)]
struct State {
    /// Number of the current request, from 1.
    request: u64,
    jobs: Store,
    responses: Store,
    sessions: Store,
    files: Store,
    batches: Store,
    skills: Store,
}

impl Default for State {
    fn default() -> Self {
        Self {
            request: 0,
            jobs: Store::new("Request", "req_"),
            responses: Store::new("Response", "resp_"),
            sessions: Store::new("Session", "sess_"),
            files: Store::new("File", "file_"),
            batches: Store::new("Batch", "batch_"),
            skills: Store::new("Skill", "sk_"),
        }
    }
}

impl State {
    /// Returns the API's own time, in Unix seconds.
    fn now(&self) -> u64 {
        EPOCH + self.request - 1
    }
}

struct Call<'a> {
    request: &'a Request,
    /// Path segments that matched a `*` of the route.
    ids: Vec<&'a str>,
    upload: Option<UploadedFile>,
}

type Handler = fn(&mut State, &Call<'_>) -> ApiResult;

/// Method, path and handler of every endpoint.
const ROUTES: &[(&str, &str, Handler)] = &[
    ("POST", "/chat/completions", chat::create),
    ("POST", "/async/chat/completions", objects::create_job),
    ("GET", "/async/chat/completions", |state, call| objects::list_jobs(&state.jobs, call)),
    ("GET", "/async/chat/completions/*", |state, call| state.jobs.poll(call)),
    ("POST", "/search", stateless::search),
    ("POST", "/v1/responses", responses::create),
    ("GET", "/v1/responses/*", responses::retrieve),
    ("POST", "/v1/responses/*/cancel", responses::cancel),
    ("GET", "/v1/responses/*/files", responses::files),
    ("GET", "/v1/responses/*/files/*/content", |state, call| state.responses.content(call)),
    ("POST", "/v1/embeddings", stateless::embeddings),
    ("POST", "/v1/contextualizedembeddings", stateless::contextualized_embeddings),
    ("POST", "/v1/browser/sessions", objects::create_session),
    ("DELETE", "/v1/browser/sessions/*", |state, call| state.sessions.delete(call)),
    ("GET", "/v1/models", stateless::models),
    ("POST", "/v1/files", objects::create_file),
    ("GET", "/v1/files", |state, call| objects::list(&state.files, call)),
    ("GET", "/v1/files/*", |state, call| state.files.poll(call)),
    ("DELETE", "/v1/files/*", objects::delete_file),
    ("GET", "/v1/files/*/content", |state, call| state.files.content(call)),
    ("POST", "/v1/batches", objects::create_batch),
    ("GET", "/v1/batches", |state, call| objects::list(&state.batches, call)),
    ("GET", "/v1/batches/*", |state, call| state.batches.poll(call)),
    ("POST", "/v1/batches/*/cancel", |state, call| Ok(MockResponse::json(&state.batches.cancel(call)?.view))),
    ("POST", "/v1/decisions", stateless::decisions),
    ("POST", "/generate_auth_token", stateless::generate_auth_token),
    ("POST", "/revoke_auth_token", stateless::revoke_auth_token),
    ("POST", "/v1/skills", objects::create_skill),
    ("GET", "/v1/skills", |state, call| objects::list_skills(&state.skills, call)),
    ("GET", "/v1/skills/*", |state, call| state.skills.poll(call)),
    ("PUT", "/v1/skills/*", objects::update_skill),
    ("DELETE", "/v1/skills/*", objects::delete_skill),
    ("GET", "/v1/skills/*/download", objects::download_skill),
    ("GET", "/v1/skills/*/revisions", objects::skill_revisions),
];

impl Api {
    pub(crate) fn new(has_chat: bool) -> Self {
        Self { state: Mutex::default(), has_chat }
    }

    pub(crate) async fn handle(&self, request: &Request) -> MockResponse {
        let upload = input::uploaded_file(request).await;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.request += 1;
        let response = route(&mut state, request, upload, self.has_chat);
        let mut response = response.unwrap_or_else(ApiError::into_response);
        let id = HeaderValue::from_str(&format!("req-{}", state.request)).expect("ASCII is a valid value");
        response.headers.insert("x-request-id", id);
        response
    }
}

fn route(state: &mut State, request: &Request, upload: Option<UploadedFile>, has_chat: bool) -> ApiResult {
    let segments = request.segments();
    let path = sdk_path(segments.iter().map(String::as_str).collect());
    if !has_chat && matches!(path[..], ["chat", "completions"] | ["async", "chat", "completions", ..]) {
        return Err(error::retired());
    }
    let mut is_known = false;
    for (method, pattern, handler) in ROUTES {
        let Some(ids) = matched_ids(pattern, &path) else { continue };
        if request.method == *method {
            return handler(state, &Call { request, ids, upload });
        }
        is_known = true;
    }
    Err(if is_known { error::method_not_allowed() } else { error::no_such_path() })
}
