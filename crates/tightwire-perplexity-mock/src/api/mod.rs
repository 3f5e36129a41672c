//! The built-in API: routes requests to the endpoints.

mod async_chat;
mod batches;
mod browser;
mod chat;
mod decisions;
mod embeddings;
mod files;
mod input;
mod models;
mod page;
mod error;
mod response_events;
mod responses;
mod schema;
mod search;
mod skills;
mod state;
mod text;
mod upload;

use std::sync::{Mutex, PoisonError};

use http::HeaderValue;

use crate::pattern::PathPattern;
use crate::api_response::ApiResponse;
use crate::request::Request;
use error::ApiError;
use state::State;
use upload::Upload;

/// A response or an error response.
type ApiResult = Result<ApiResponse, ApiError>;

/// The built-in API and its state.
#[derive(Debug, Default)]
pub(crate) struct Api {
    state: Mutex<State>,
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
    pub(crate) async fn answer(&self, request: &Request) -> ApiResponse {
        let upload = Upload::of(request).await;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let serial = state.begin();
        let mut reply = route(&mut state, request, upload).unwrap_or_else(ApiResponse::from);
        let id = HeaderValue::from_str(&format!("req-{serial}")).expect("ASCII is a valid value");
        reply.headers.insert("x-request-id", id);
        reply
    }
}

fn route(state: &mut State, request: &Request, upload: Option<Upload>) -> ApiResult {
    let segments = request.segments();
    let path: Vec<&str> = segments.iter().map(String::as_str).collect();
    match (request.method.as_str(), path.as_slice()) {
        ("POST", ["chat", "completions"] | ["v1", "sonar"]) => chat::create(state, request),
        ("POST", ["async", "chat", "completions"] | ["v1", "async", "sonar"]) => {
            async_chat::create(state, request)
        }
        ("GET", ["async", "chat", "completions"] | ["v1", "async", "sonar"]) => {
            async_chat::list(state, request)
        }
        ("GET", ["async", "chat", "completions", id] | ["v1", "async", "sonar", id]) => {
            async_chat::get(state, id)
        }
        ("POST", ["search"]) => search::create(state, request),
        ("POST", ["v1", "responses" | "agent"]) => responses::create(state, request),
        ("GET", ["v1", "responses" | "agent", id]) => responses::retrieve(state, request, id),
        ("POST", ["v1", "responses" | "agent", id, "cancel"]) => responses::cancel(state, id),
        ("GET", ["v1", "responses" | "agent", id, "files"]) => responses::files(state, id),
        ("GET", ["v1", "responses" | "agent", id, "files", file, "content"]) => {
            responses::file_content(state, id, file)
        }
        ("POST", ["v1", "embeddings"]) => embeddings::create(request),
        ("POST", ["v1", "contextualizedembeddings"]) => embeddings::create_contextualized(request),
        ("POST", ["v1", "browser", "sessions"]) => browser::create(state),
        ("DELETE", ["v1", "browser", "sessions", id]) => browser::delete(state, id),
        ("GET", ["v1", "models"]) => Ok(models::list()),
        ("POST", ["v1", "files"]) => files::create(state, upload),
        ("GET", ["v1", "files"]) => files::list(state, request),
        ("GET", ["v1", "files", id]) => files::retrieve(state, id),
        ("DELETE", ["v1", "files", id]) => files::delete(state, id),
        ("GET", ["v1", "files", id, "content"]) => files::content(state, id),
        ("POST", ["v1", "batches"]) => batches::create(state, request),
        ("GET", ["v1", "batches"]) => batches::list(state, request),
        ("GET", ["v1", "batches", id]) => batches::retrieve(state, id),
        ("POST", ["v1", "batches", id, "cancel"]) => batches::cancel(state, id),
        ("POST", ["v1", "decisions"]) => decisions::create(request),
        ("POST", ["v1", "skills"]) => skills::create(state, upload),
        ("GET", ["v1", "skills"]) => skills::list(state, request),
        ("GET", ["v1", "skills", id]) => skills::retrieve(state, request, id),
        ("PUT", ["v1", "skills", id]) => skills::update(state, request, id, upload),
        ("DELETE", ["v1", "skills", id]) => skills::delete(state, request, id),
        ("GET", ["v1", "skills", id, "download"]) => skills::download(state, request, id),
        ("GET", ["v1", "skills", id, "revisions"]) => skills::revisions(state, request, id),
        _ if is_known(&path) => Err(error::method_not_allowed()),
        _ => Err(error::no_such_path()),
    }
}

fn is_known(path: &[&str]) -> bool {
    PATHS.iter().filter_map(|pattern| PathPattern::parse(pattern)).any(|pattern| pattern.matches(path))
}
