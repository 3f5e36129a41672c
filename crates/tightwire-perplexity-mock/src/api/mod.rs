//! The built-in API: routes requests to the endpoints.

mod async_chat;
mod batches;
mod browser;
mod chat;
mod decisions;
mod embeddings;
mod error;
mod files;
mod input;
mod models;
mod page;
mod response_events;
mod responses;
mod schema;
mod search;
mod skills;
mod store;
mod text;
mod upload;

use std::sync::{Mutex, PoisonError};

use http::HeaderValue;

use crate::api_response::ApiResponse;
use crate::pattern::PathPattern;
use crate::request::Request;
use error::ApiResult;
use store::{Counters, Store};
use upload::Upload;

/// The built-in API and its state.
#[derive(Debug, Default)]
pub(crate) struct Api {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counters: Counters,
    jobs: Store<async_chat::Job>,
    responses: Store<responses::Run>,
    sessions: Store<()>,
    files: Store<files::File>,
    batches: Store<batches::Batch>,
    skills: Store<skills::Skill>,
}

/// All paths, to distinguish an unknown path (404) from an unsupported method (405).
const PATHS: &[&str] = &[
    "/chat/completions",
    "/v1/sonar",
    "/async/chat/completions",
    "/async/chat/completions/*",
    "/v1/async/sonar",
    "/v1/async/sonar/*",
    "/search",
    "/v1/responses",
    "/v1/agent",
    "/v1/responses/*",
    "/v1/agent/*",
    "/v1/responses/*/cancel",
    "/v1/agent/*/cancel",
    "/v1/responses/*/files",
    "/v1/agent/*/files",
    "/v1/responses/*/files/*/content",
    "/v1/agent/*/files/*/content",
    "/v1/embeddings",
    "/v1/contextualizedembeddings",
    "/v1/browser/sessions",
    "/v1/browser/sessions/*",
    "/v1/models",
    "/v1/files",
    "/v1/files/*",
    "/v1/files/*/content",
    "/v1/batches",
    "/v1/batches/*",
    "/v1/batches/*/cancel",
    "/v1/decisions",
    "/v1/skills",
    "/v1/skills/*",
    "/v1/skills/*/download",
    "/v1/skills/*/revisions",
];

impl Api {
    pub(crate) async fn handle(&self, request: &Request) -> ApiResponse {
        let upload = Upload::of(request).await;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.counters.next_request();
        let mut response = route(&mut state, request, upload).unwrap_or_else(ApiResponse::from);
        let id = HeaderValue::from_str(&format!("req-{number}")).expect("ASCII is a valid value");
        response.headers.insert("x-request-id", id);
        response
    }
}

fn route(state: &mut State, request: &Request, upload: Option<Upload>) -> ApiResult {
    let State {
        counters,
        jobs,
        responses: runs,
        sessions,
        files: stored_files,
        batches: stored_batches,
        skills: stored_skills,
    } = state;
    let segments = request.segments();
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match (request.method.as_str(), path.as_slice()) {
        ("POST", ["chat", "completions"] | ["v1", "sonar"]) => chat::create(counters, request),
        ("POST", ["async", "chat", "completions"] | ["v1", "async", "sonar"]) => {
            async_chat::create(counters, jobs, request)
        }
        ("GET", ["async", "chat", "completions"] | ["v1", "async", "sonar"]) => {
            async_chat::list(jobs, request)
        }
        ("GET", ["async", "chat", "completions", id] | ["v1", "async", "sonar", id]) => {
            async_chat::get(counters, jobs, id)
        }
        ("POST", ["search"]) => search::create(counters, request),
        ("POST", ["v1", "responses" | "agent"]) => responses::create(counters, runs, request),
        ("GET", ["v1", "responses" | "agent", id]) => responses::retrieve(runs, request, id),
        ("POST", ["v1", "responses" | "agent", id, "cancel"]) => responses::cancel(runs, id),
        ("GET", ["v1", "responses" | "agent", id, "files"]) => responses::files(runs, id),
        ("GET", ["v1", "responses" | "agent", id, "files", file, "content"]) => {
            responses::file_content(runs, id, file)
        }
        ("POST", ["v1", "embeddings"]) => embeddings::create(request),
        ("POST", ["v1", "contextualizedembeddings"]) => embeddings::create_contextualized(request),
        ("POST", ["v1", "browser", "sessions"]) => browser::create(counters, sessions),
        ("DELETE", ["v1", "browser", "sessions", id]) => browser::delete(sessions, id),
        ("GET", ["v1", "models"]) => Ok(models::list()),
        ("POST", ["v1", "files"]) => files::create(counters, stored_files, upload),
        ("GET", ["v1", "files"]) => files::list(stored_files, request),
        ("GET", ["v1", "files", id]) => files::retrieve(stored_files, id),
        ("DELETE", ["v1", "files", id]) => files::delete(stored_files, id),
        ("GET", ["v1", "files", id, "content"]) => files::content(stored_files, id),
        ("POST", ["v1", "batches"]) => batches::create(counters, stored_files, stored_batches, request),
        ("GET", ["v1", "batches"]) => batches::list(stored_batches, request),
        ("GET", ["v1", "batches", id]) => batches::retrieve(counters, stored_files, stored_batches, id),
        ("POST", ["v1", "batches", id, "cancel"]) => batches::cancel(counters, stored_batches, id),
        ("POST", ["v1", "decisions"]) => decisions::create(request),
        ("POST", ["v1", "skills"]) => skills::create(counters, stored_skills, upload),
        ("GET", ["v1", "skills"]) => skills::list(stored_skills, request),
        ("GET", ["v1", "skills", id]) => skills::retrieve(stored_skills, request, id),
        ("PUT", ["v1", "skills", id]) => skills::update(stored_skills, request, id, upload),
        ("DELETE", ["v1", "skills", id]) => skills::delete(stored_skills, request, id),
        ("GET", ["v1", "skills", id, "download"]) => skills::download(stored_skills, request, id),
        ("GET", ["v1", "skills", id, "revisions"]) => skills::revisions(stored_skills, request, id),
        _ if is_known(&path) => Err(error::method_not_allowed()),
        _ => Err(error::no_such_path()),
    }
}

fn is_known(path: &[&str]) -> bool {
    PATHS.iter().filter_map(|pattern| PathPattern::parse(pattern)).any(|pattern| pattern.matches(path))
}
