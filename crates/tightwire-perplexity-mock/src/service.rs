//! From one request to its response.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use serde_json::json;
use tokio::time::sleep;

use crate::answer::{Answer, Content, Framing};
use crate::api::Api;
use crate::fault::{Effect, Position, Step};
use crate::log::Log;
use crate::playback::{BreakOff, Pace, Playback};
use crate::reply::Reply;
use crate::request::Request;
use crate::rule::Progress;
use crate::scenario::{Scenario, Unmatched};
use crate::wire::Wire;

/// What all connections of a server share.
#[derive(Debug)]
pub(crate) struct Service {
    scenario: Scenario,
    progress: Mutex<Vec<Progress>>,
    api: Api,
    max_body_size: usize,
    pub(crate) log: Log,
}

impl Service {
    pub(crate) fn new(scenario: Scenario, max_body_size: usize, log: Log) -> Self {
        let progress = Mutex::new(vec![Progress::default(); scenario.rules.len()]);
        Self { scenario, progress, api: Api::default(), max_body_size, log }
    }

    /// Answers one request. An error ends the connection without a response.
    pub(crate) async fn answer(
        &self,
        request: http::Request<Incoming>,
        connection: u64,
        wire: Arc<Wire>,
    ) -> Result<Response<Playback>, BreakOff> {
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, self.max_body_size).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Ok(respond(too_large(), &Answer::api(), wire));
            }
            // The client is gone.
            Err(_) => return Err(BreakOff),
        };
        let request = Request::new(head, body, connection);
        self.log.record(&request);
        if !self.scenario.auth.admits(&request) {
            return Ok(respond(Reply::unauthorized(), &Answer::api(), wire));
        }
        let answer = self.choose(&request);
        let reply = match &answer.content {
            Content::Api => self.api.answer(&request).await,
            Content::Pieces(pieces) => Reply { pieces: pieces.clone(), ..Reply::empty(StatusCode::OK) },
        };
        play_head(&answer.steps, &wire).await?;
        Ok(respond(reply, &answer, wire))
    }

    fn choose(&self, request: &Request) -> Answer {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        self.scenario
            .rules
            .iter()
            .zip(&mut *progress)
            .filter(|(rule, _)| rule.matches(request))
            .find_map(|(rule, progress)| rule.next(progress))
            .cloned()
            .unwrap_or_else(|| match self.scenario.unmatched {
                Unmatched::Api => Answer::api(),
                Unmatched::NotFound => Answer::error(404, "no_rule", "No rule of the scenario applies"),
            })
    }
}

fn too_large() -> Reply {
    let body = json!({"error": {"message": "Request body is too large", "type": "too_large", "code": 413}});
    Reply::json(&body).with_status(StatusCode::PAYLOAD_TOO_LARGE)
}

/// Runs the steps that come before the head.
async fn play_head(steps: &[Step], wire: &Wire) -> Result<(), BreakOff> {
    for step in steps.iter().filter(|step| step.at == Position::Head) {
        match step.effect {
            Effect::Wait(delay) => sleep(delay).await,
            Effect::Stall => pending().await,
            Effect::Close => return Err(BreakOff),
            Effect::Reset => {
                wire.reset_at_end();
                return Err(BreakOff);
            }
        }
    }
    Ok(())
}

/// Applies what the answer says to a whole response. [`Answer::api`] says nothing by itself.
fn respond(reply: Reply, answer: &Answer, wire: Arc<Wire>) -> Response<Playback> {
    let Reply { status, mut headers, pieces, is_stream } = reply;
    let status = answer.status.unwrap_or(status);
    // Every value in place of what the response would have.
    for name in answer.headers.keys() {
        headers.remove(name);
    }
    headers.extend(answer.headers.clone());
    let available = pieces.iter().map(Bytes::len).sum::<usize>();
    let length = match answer.framing {
        Framing::Length(length) => Some(length),
        Framing::Natural if !is_stream => Some(available as u64),
        Framing::Natural | Framing::Chunked => None,
    };
    let has_body = status != StatusCode::NO_CONTENT && status != StatusCode::NOT_MODIFIED;
    if let Some(length) = length.filter(|_| has_body)
        && !headers.contains_key(TRANSFER_ENCODING)
    {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    let pace = Pace { chunk: answer.chunk, pause: answer.pause };
    let pieces = if has_body { pieces } else { Vec::new() };
    let mut steps = answer.steps.clone();
    if has_body && length.is_some_and(|length| length > available as u64) {
        // Ended by hyper, the body would be thrown away as far as it is not written yet.
        steps.push(Step { at: Position::Body(available), effect: Effect::Close });
    }
    let mut response = Response::new(Playback::new(pieces, &steps, pace, wire));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
