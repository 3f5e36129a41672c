//! Handles requests.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use tokio::time::sleep;

use crate::api::Api;
use crate::log::Log;
use crate::mock_response::{Content, Effect, Framing, MockResponse, Position, Step};
use crate::playback::{ConnectionClosed, Pacing, Playback};
use crate::request::Request;
use crate::rule::Progress;
use crate::scenario::{Scenario, Unmatched};
use crate::server::Config;
use crate::socket::ConnectionState;

/// State shared by all connections.
#[derive(Debug)]
pub(crate) struct Service {
    scenario: Scenario,
    progress: Mutex<Vec<Progress>>,
    api: Api,
    max_body_size: usize,
    pub(crate) log: Log,
}

impl Service {
    pub(crate) fn new(scenario: Scenario, config: Config) -> Self {
        let progress = Mutex::new(vec![Progress::default(); scenario.rules.len()]);
        let (api, max_body_size) = (Api::new(scenario.has_chat), config.max_body_size);
        Self { scenario, progress, api, max_body_size, log: Log::new(config) }
    }

    /// Handles one request. An error closes the connection without a response.
    pub(crate) async fn handle(
        &self,
        request: http::Request<Incoming>,
        connection_number: u64,
        connection: Arc<ConnectionState>,
    ) -> Result<Response<Playback>, ConnectionClosed> {
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, self.max_body_size).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let response = MockResponse::error(413, "payload_too_large", "Request body is too large");
                return Ok(respond(response, &MockResponse::api(), connection));
            }
            // The client closed the connection.
            Err(_) => return Err(ConnectionClosed),
        };
        let request = Request::new(head, body, connection_number);
        self.log.record(&request);
        if !self.scenario.auth.admits(&request) {
            // The page of the API's gateway.
            let page = "<html><head><title>401 Authorization Required</title></head></html>";
            let response = MockResponse::bytes("text/html", page).with_status(401);
            return Ok(respond(response, &MockResponse::api(), connection));
        }
        let response = self.choose(&request);
        let base = match &response.content {
            Content::Api => self.api.handle(&request).await,
            Content::Pieces(_) => response.clone(),
        };
        play_head(&response.steps, &connection).await?;
        Ok(respond(base, &response, connection))
    }

    fn choose(&self, request: &Request) -> MockResponse {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        self.scenario
            .rules
            .iter()
            .zip(&mut *progress)
            .filter(|(rule, _)| rule.matches(request))
            .find_map(|(rule, progress)| rule.next(progress))
            .cloned()
            .unwrap_or_else(|| match self.scenario.unmatched {
                Unmatched::Api => MockResponse::api(),
                Unmatched::NotFound => MockResponse::error(404, "no_rule", "No rule of the scenario applies"),
            })
    }
}

/// Runs the faults that come before the response head.
async fn play_head(steps: &[Step], connection: &ConnectionState) -> Result<(), ConnectionClosed> {
    for step in steps.iter().filter(|step| step.at == Position::Head) {
        match step.effect {
            Effect::Wait(delay) => sleep(delay).await,
            Effect::Stall => pending().await,
            Effect::Close => return Err(ConnectionClosed),
            Effect::Reset => {
                connection.reset_at_end();
                return Err(ConnectionClosed);
            }
        }
    }
    Ok(())
}

/// Applies the script to a response. [`MockResponse::api`] changes nothing.
fn respond(
    base: MockResponse,
    script: &MockResponse,
    connection: Arc<ConnectionState>,
) -> Response<Playback> {
    let MockResponse { content, status, mut headers, framing, .. } = base;
    let pieces = match content {
        Content::Pieces(pieces) => pieces,
        Content::Api => Vec::new(),
    };
    let status = script.status.or(status).unwrap_or(StatusCode::OK);
    // Replace all values of these headers.
    for name in script.headers.keys() {
        headers.remove(name);
    }
    headers.extend(script.headers.clone());
    let available = pieces.iter().map(Bytes::len).sum::<usize>();
    let length = match (script.framing, framing) {
        (Framing::Length(length), _) => Some(length),
        (Framing::Natural, Framing::Natural) => Some(available as u64),
        _ => None,
    };
    let has_body = status != StatusCode::NO_CONTENT && status != StatusCode::NOT_MODIFIED;
    if let Some(length) = length.filter(|_| has_body)
        && !headers.contains_key(TRANSFER_ENCODING)
    {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let pacing = Pacing { chunk: script.chunk, pause: script.pause };
    let pieces = if has_body { pieces } else { Vec::new() };
    let mut steps = script.steps.clone();
    if has_body && length.is_some_and(|length| length > available as u64) {
        // If hyper ended the body, it would discard bytes that are not written yet.
        steps.push(Step { at: Position::Body(available), effect: Effect::Close });
    }
    let mut response = Response::new(Playback::new(pieces, &steps, pacing, connection));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
