//! Parser of scenario files (TOML).

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Deserialize;
use tightwire_json::Value;
use toml::Spanned;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::mock_response::{Content, Effect, Framing, MockResponse, Position, final_status};
use crate::rule::{Rule, is_pattern};
use crate::scenario::{Auth, Scenario, Unmatched};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    auth: Option<RawAuth>,
    #[serde(default)]
    unmatched: Unmatched,
    #[serde(default)]
    chat: bool,
    #[serde(default)]
    rule: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "expected \"any-key\", \"off\" or { keys = [..] }")]
enum RawAuth {
    Word(RawAuthWord),
    Keys { keys: Vec<String> },
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawAuthWord {
    AnyKey,
    Off,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    path: Spanned<String>,
    method: Option<Spanned<String>>,
    #[serde(default)]
    headers: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    query: BTreeMap<String, String>,
    #[serde(default)]
    body: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    cycle: bool,
    answer: Spanned<Vec<Spanned<RawResponse>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawResponse {
    #[serde(default)]
    api: bool,
    json: Option<Value>,
    text: Option<String>,
    base64: Option<Spanned<String>>,
    events: Option<Vec<Spanned<RawEvent>>>,
    status: Option<Spanned<u16>>,
    #[serde(default)]
    headers: BTreeMap<String, Spanned<String>>,
    times: Option<NonZeroU32>,
    #[serde(default)]
    steps: Vec<Spanned<RawStep>>,
    #[serde(default)]
    chunked: bool,
    content_length: Option<u64>,
    cut: Option<NonZeroUsize>,
    pause_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEvent {
    event: Option<String>,
    id: Option<String>,
    retry: Option<u32>,
    comment: Option<String>,
    data: Option<String>,
    json: Option<Value>,
    raw: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    at: RawPosition,
    effect: RawEffect,
    ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"head\" or a number of bytes")]
enum RawPosition {
    Head(Head),
    Body(usize),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Head {
    Head,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum RawEffect {
    Wait,
    Stall,
    Reset,
    Close,
}

/// Error message and its position.
type Violation = (String, Range<usize>);

pub(crate) fn parse(text: &str) -> Result<Scenario> {
    let raw: RawScenario = toml::from_str(text)
        .map_err(|error| Error::scenario(error.message(), text, error.span().unwrap_or_default()))?;
    scenario(raw).map_err(|(message, span)| Error::scenario(message, text, span))
}

fn scenario(raw: RawScenario) -> Result<Scenario, Violation> {
    let auth = match raw.auth {
        None | Some(RawAuth::Word(RawAuthWord::AnyKey)) => Auth::AnyKey,
        Some(RawAuth::Word(RawAuthWord::Off)) => Auth::Off,
        Some(RawAuth::Keys { keys }) => Auth::Keys(keys),
    };
    let rules = raw.rule.into_iter().map(rule).collect::<Result<_, _>>()?;
    Ok(Scenario { rules, auth, unmatched: raw.unmatched, has_chat: raw.chat })
}

fn violation<T>(message: impl Into<String>, at: &Spanned<T>) -> Violation {
    (message.into(), at.span())
}

fn header_name<T>(name: &str, value: &Spanned<T>) -> Result<HeaderName, Violation> {
    name.parse().map_err(|_| violation(format!("{name:?} is not a header name"), value))
}

fn rule(raw: RawRule) -> Result<Rule, Violation> {
    if !is_pattern(raw.path.get_ref()) {
        return Err(violation("a path must start with / and may have ** only at its end", &raw.path));
    }
    let method = raw
        .method
        .map(|method| method.get_ref().parse::<Method>().map_err(|_| violation("not a method", &method)));
    let headers =
        raw.headers.into_iter().map(|(name, value)| Ok((header_name(&name, &value)?, value.into_inner())));
    let is_pointer = |text: &str| text.is_empty() || text.starts_with('/');
    if let Some((_, value)) = raw.body.iter().find(|(pointer, _)| !is_pointer(pointer)) {
        return Err(violation("body fields must be JSON pointers", value));
    }
    if raw.answer.get_ref().is_empty() {
        return Err(violation("a rule must have an answer", &raw.answer));
    }
    let responses = raw.answer.into_inner().into_iter().map(|raw| {
        let span = raw.span();
        response(raw.into_inner(), span)
    });
    Ok(Rule {
        path: raw.path.into_inner(),
        method: method.transpose()?,
        headers: headers.collect::<Result<_, _>>()?,
        query: raw.query.into_iter().collect(),
        body: raw.body.into_iter().map(|(pointer, value)| (pointer, value.into_inner())).collect(),
        responses: responses.collect::<Result<_, _>>()?,
        cycles: raw.cycle,
    })
}

fn response(raw: RawResponse, span: Range<usize>) -> Result<MockResponse, Violation> {
    let kinds = [raw.api, raw.json.is_some(), raw.text.is_some(), raw.base64.is_some(), raw.events.is_some()];
    if kinds.into_iter().filter(|is_set| *is_set).count() > 1 {
        return Err(("an answer must have only one of api, json, text, base64 and events".into(), span));
    }
    let mut response = if raw.api {
        MockResponse::api()
    } else if let Some(value) = &raw.json {
        MockResponse::json(value)
    } else if let Some(text) = raw.text {
        plain(text.into())
    } else if let Some(encoded) = raw.base64 {
        let decoded = STANDARD.decode(encoded.get_ref());
        plain(decoded.map_err(|_| violation("invalid base64", &encoded))?.into())
    } else if let Some(raw) = raw.events {
        MockResponse::events(raw.into_iter().map(event).collect::<Result<Vec<_>, _>>()?)
    } else {
        MockResponse::with(Content::Pieces(Vec::new()))
    };
    if let Some(status) = raw.status {
        let known = final_status(*status.get_ref());
        response.status =
            Some(known.ok_or_else(|| violation("the status must be from 200 to 999", &status))?);
    }
    for (name, value) in raw.headers {
        let text = HeaderValue::from_str(value.get_ref());
        let text = text.map_err(|_| violation("not a header value", &value))?;
        response.headers.insert(header_name(&name, &value)?, text);
    }
    response.times = raw.times;
    for raw in raw.steps {
        response = step(response, raw)?;
    }
    response.framing = match (raw.chunked, raw.content_length) {
        (true, Some(_)) => return Err(("chunked and content_length are mutually exclusive".into(), span)),
        (true, None) => Framing::Chunked,
        (false, Some(length)) => Framing::Length(length),
        (false, None) => response.framing,
    };
    response.chunk = raw.cut;
    response.pause = Duration::from_millis(raw.pause_ms.unwrap_or_default());
    Ok(response)
}

fn plain(body: Bytes) -> MockResponse {
    let mut response = MockResponse::with(Content::Pieces(vec![body]));
    response.headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

fn step(response: MockResponse, raw: Spanned<RawStep>) -> Result<MockResponse, Violation> {
    let span = raw.span();
    let raw = raw.into_inner();
    let at = match raw.at {
        RawPosition::Head(Head::Head) => Position::Head,
        RawPosition::Body(byte) => Position::Body(byte),
    };
    let effect = match (raw.effect, raw.ms) {
        (RawEffect::Wait, Some(ms)) => Effect::Wait(Duration::from_millis(ms)),
        (RawEffect::Wait, None) => return Err(("the effect wait requires ms".into(), span)),
        (_, Some(_)) => return Err(("only the effect wait may have ms".into(), span)),
        (RawEffect::Stall, None) => Effect::Stall,
        (RawEffect::Reset, None) => Effect::Reset,
        (RawEffect::Close, None) => Effect::Close,
    };
    Ok(response.step(at, effect))
}

fn event(raw: Spanned<RawEvent>) -> Result<Event, Violation> {
    let span = raw.span();
    let raw = raw.into_inner();
    if raw.data.is_some() && raw.json.is_some() {
        return Err(("an event must have only one of data and json".into(), span));
    }
    let fields = [
        ("", raw.comment),
        ("event", raw.event),
        ("id", raw.id),
        ("retry", raw.retry.map(|millis| millis.to_string())),
        ("data", raw.data.or_else(|| raw.json.map(|value| value.to_string()))),
    ];
    let mut fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?))).peekable();
    match (raw.raw, fields.peek()) {
        (Some(_), Some(_)) => Err(("a raw event must not have other fields".into(), span)),
        (Some(text), None) => Ok(Event::raw(&text)),
        (None, None) => Err(("an event must have at least one field".into(), span)),
        (None, Some(_)) => Ok(fields.fold(Event::default(), |event, (name, value)| event.with(name, &value))),
    }
}
