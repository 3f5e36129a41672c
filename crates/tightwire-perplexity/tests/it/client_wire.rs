//! Recorded exchanges of the official SDKs: the same calls send the same requests, and the recorded responses
//! decode as expected. `data/README.md` describes the recording.
#![cfg(feature = "client")]

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::Value;
use tightwire_perplexity::resources::PathStyle;
use tightwire_perplexity::stream::{EventStream, StreamItem};
use tightwire_perplexity::types::{async_chat, chat, responses, skills};
use tightwire_perplexity::{Call, Client, Download, Error};

use crate::support::{Script, Sent, Step};
use crate::wire;

/// The SDK whose calls are all covered.
const NEWEST: &str = "perplexityai (Python) 0.46.1";

/// Calls without a counterpart in this crate, with the reason.
const WITHOUT_COUNTERPART: &[(&str, &str)] = &[
    (
        "extras",
        "sets headers and query of one call; `client_requests.rs` has what is set here, under our names",
    ),
    ("redirect", "reqwest follows redirects, below the service that this test scripts"),
];

/// Calls of other SDKs with different values than here, with the reason.
const OTHER_VALUES: &[(&str, &str)] = &[
    ("responses-string", "one of them adds a member with the text of the answer"),
    ("stream-idonly", "they make an item of an event without data"),
    ("stream-norole", "a part without required members has them with their defaults here"),
    ("stream-ping", "they make an item of a ping"),
];

/// Attempts of one call.
struct Recording {
    name: String,
    scenario: String,
    attempts: Vec<Value>,
}

/// Returns the calls of the official SDKs, in order.
fn recordings() -> Vec<Recording> {
    let mut calls: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for line in include_str!("../data/perplexity-wire.jsonl").lines() {
        let line: Value = tightwire_json::from_str(line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let client = text("client");
        if client.contains("Python") || client.contains("Node") {
            calls.entry((text("scenario"), client)).or_default().push(line);
        }
    }
    let recording = |((scenario, client), attempts)| Recording {
        name: format!("{scenario} of {client}"),
        scenario,
        attempts,
    };
    calls.into_iter().map(recording).collect()
}

impl Recording {
    fn request(&self) -> &Value {
        &self.attempts[0]["request"]
    }

    fn is_newest(&self) -> bool {
        self.attempts[0]["client"] == NEWEST
    }

    /// Returns the SDK's result of the last response.
    fn outcome(&self) -> Option<&Value> {
        self.attempts.last()?.get("client_outcome").filter(|outcome| !outcome.is_null())
    }

    fn script(&self) -> Script {
        Script::new(self.attempts.iter().map(|attempt| {
            let Some(response) = attempt["response"].as_object() else { return Step::Broken };
            let pairs = response["headers"].as_array().unwrap().iter();
            let pairs: Vec<_> =
                pairs.map(|pair| (pair[0].as_str().unwrap(), pair[1].as_str().unwrap())).collect();
            let status = response["status"].as_u64().unwrap() as u16;
            Step::status(status, &pairs, response["body"].as_str().unwrap_or_default().to_owned())
        }))
    }
}

/// Result of a call.
#[derive(Debug)]
enum CallResult {
    Value(Value),
    Items(Vec<Value>, Option<Error>),
    Failed(Error),
}

fn to_value(value: &impl Serialize) -> Value {
    tightwire_json::from_str(&tightwire_json::to_string(value).unwrap()).unwrap()
}

impl CallResult {
    async fn of<T: Serialize + 'static>(call: Call<T>) -> Self {
        call.await.map_or_else(Self::Failed, |value| Self::Value(to_value(&value)))
    }

    /// A file, in the format of the recording.
    async fn of_file(call: Call<Download>) -> Self {
        let bytes = match call.await {
            Ok(download) => download.bytes(1 << 20).await,
            Err(error) => Err(error),
        };
        bytes.map_or_else(Self::Failed, |bytes| {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Self::Value(to_value(&BTreeMap::from([("bytes", hex)])))
        })
    }

    async fn of_stream<T: StreamItem + Serialize>(call: Call<EventStream<T>>) -> Self {
        let mut stream = match call.await {
            Ok(stream) => stream,
            Err(error) => return Self::Failed(error),
        };
        let mut items = Vec::new();
        while let Some(item) = stream.next().await {
            match item {
                Ok(item) => items.push(to_value(&item)),
                Err(error) => return Self::Items(items, Some(error)),
            }
        }
        Self::Items(items, None)
    }
}

/// A form with one file. Its boundary is random.
#[derive(Debug, PartialEq)]
struct Form {
    disposition: String,
    filename: String,
    kind: String,
    content: String,
}

impl Form {
    fn of(body: &str) -> Self {
        let (boundary, part) = body.split_once("\r\n").unwrap();
        let (head, rest) = part.split_once("\r\n\r\n").unwrap();
        let (content, end) = rest.split_once(&format!("\r\n{boundary}")).unwrap();
        assert_eq!(end.trim(), "--");
        let header = |name: &str| {
            let mut headers = head.split("\r\n").map(|line| line.split_once(": ").unwrap());
            headers.find(|(found, _)| found.eq_ignore_ascii_case(name)).unwrap().1.to_owned()
        };
        let disposition = header("content-disposition");
        let filename = disposition.split("filename=").nth(1).unwrap().trim_matches('"').to_owned();
        Self { disposition, filename, kind: header("content-type"), content: content.to_owned() }
    }
}

/// Creates the call of a recorded request; `None` if there is no counterpart.
async fn call(client: &Client, request: &Value) -> Option<CallResult> {
    fn body<T: DeserializeOwned>(request: &Value) -> T {
        tightwire_json::from_str(&request["body"].to_string()).unwrap()
    }

    let target = request["target"].as_str().unwrap();
    let url = reqwest::Url::parse(&format!("https://example.org{target}")).unwrap();
    let query: BTreeMap<_, _> = url.query_pairs().into_owned().collect();
    let segments: Vec<_> = url.path_segments().unwrap().collect();
    let id = segments
        .iter()
        .copied()
        .find(|segment| segment.contains('_') || segment.contains('%'))
        .unwrap_or_default();
    // The call encodes it again.
    let id = &*id.replace("%2F", "/").replace("%20", " ").replace("%3F", "?");
    let wants_stream =
        request["body"]["stream"] == true || query.get("stream").is_some_and(|value| value == "true");
    let params = || {
        let mut params = skills::ListParams::default();
        params.limit = query.get("limit").map(|limit| limit.parse().unwrap());
        params
    };
    let revision = || {
        let mut params = skills::RevisionParams::default();
        params.revision = query.get("revision").cloned();
        params
    };
    let change = || skills::ChangeParams::new(&*query["expected_revision"]);
    Some(match (request["method"].as_str().unwrap(), &segments[..]) {
        ("POST", ["chat", "completions"]) => {
            let request = body::<chat::Request>(request);
            match wants_stream {
                true => CallResult::of_stream(client.chat().stream(&request)).await,
                false => CallResult::of(client.chat().create(&request)).await,
            }
        }
        ("POST", ["async", ..]) => CallResult::of(client.async_chat().create(&body(request))).await,
        ("GET", ["async", "chat", "completions"]) => {
            CallResult::of(client.async_chat().list(&Default::default())).await
        }
        ("GET", ["async", ..]) => {
            let mut params = async_chat::GetParams::default();
            params.local_mode = query.get("local_mode").map(|value| value == "true");
            CallResult::of(client.async_chat().retrieve_with(id, &params)).await
        }
        ("POST", ["search"]) => CallResult::of(client.search().create(&body(request))).await,
        ("POST", ["v1", "responses"]) => {
            let request = body::<responses::Request>(request);
            match wants_stream {
                true => CallResult::of_stream(client.responses().stream(&request)).await,
                false => CallResult::of(client.responses().create(&request)).await,
            }
        }
        ("POST", ["v1", "responses", _, "cancel"]) => CallResult::of(client.responses().cancel(id)).await,
        ("GET", ["v1", "responses", _]) if wants_stream => {
            let after = query["starting_after"].parse().unwrap();
            CallResult::of_stream(client.responses().resume(id, after)).await
        }
        ("GET", ["v1", "responses", _]) => {
            let mut params = responses::RetrieveParams::default();
            params.format = query.get("format").map(|format| format.as_str().into());
            CallResult::of(client.responses().retrieve_with(id, &params)).await
        }
        ("GET", ["v1", "responses", _, "files"]) => CallResult::of(client.responses().files().list(id)).await,
        ("GET", ["v1", "responses", _, "files", file, _]) => {
            CallResult::of_file(client.responses().files().content(id, file)).await
        }
        ("POST", ["v1", "embeddings"]) => CallResult::of(client.embeddings().create(&body(request))).await,
        ("POST", ["v1", "contextualizedembeddings"]) => {
            CallResult::of(client.embeddings().create_contextualized(&body(request))).await
        }
        ("POST", ["v1", "browser", "sessions"]) => CallResult::of(client.browser_sessions().create()).await,
        ("DELETE", ["v1", "browser", ..]) => CallResult::of(client.browser_sessions().delete(id)).await,
        ("GET", ["v1", "models"]) => CallResult::of(client.models().list()).await,
        ("POST", ["v1", "decisions"]) => CallResult::of(client.decisions().create(&body(request))).await,
        ("GET", ["v1", "files", _]) => CallResult::of(client.files().retrieve(id)).await,
        ("GET", ["v1", "files", _, "content"]) => CallResult::of_file(client.files().content(id)).await,
        ("DELETE", ["v1", "files", _]) => CallResult::of(client.files().delete(id)).await,
        ("POST", ["v1", "batches"]) => CallResult::of(client.batches().create(&body(request))).await,
        ("GET", ["v1", "batches", _]) => CallResult::of(client.batches().retrieve(id)).await,
        ("POST", ["v1", "batches", _, "cancel"]) => CallResult::of(client.batches().cancel(id)).await,
        ("GET", ["v1", "skills"]) => CallResult::of(client.skills().list(&params())).await,
        ("GET", ["v1", "skills", _]) => CallResult::of(client.skills().retrieve(id, &revision())).await,
        ("GET", ["v1", "skills", _, "download"]) => {
            CallResult::of(client.skills().download(id, &revision())).await
        }
        ("GET", ["v1", "skills", _, "revisions"]) => {
            CallResult::of(client.skills().revisions(id, &params())).await
        }
        ("DELETE", ["v1", "skills", _]) => CallResult::of(client.skills().delete(id, &change())).await,
        ("POST", ["v1", "skills"]) => {
            let form = Form::of(request["body_text"].as_str().unwrap());
            CallResult::of(client.skills().create(&form.filename, form.content.as_bytes())).await
        }
        // Other SDKs: their forms equal those of the newest.
        ("POST" | "PUT", ["v1", "skills" | "files", ..]) => return None,
        ("GET", ["v1", "files" | "batches"]) => return None,
        (method, _) => panic!("no call makes {method} {target}"),
    })
}

/// Removes `null` fields, which equal absent ones. The Python SDK sends some.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            members.map(|(name, value)| (name.clone(), without_nulls(value))).collect()
        }
        Value::Array(values) => values.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// Returns the differences between a request and the recorded one.
fn differences(sent: &Sent, recorded: &Value) -> Vec<String> {
    let target = sent.url.strip_prefix("https://example.org").unwrap();
    let split = |target: &str| -> (String, BTreeSet<String>) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        (path.to_owned(), query.split('&').filter(|pair| !pair.is_empty()).map(str::to_owned).collect())
    };
    let form =
        sent.headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"));
    let body = tightwire_json::from_str::<Value>(&sent.body).unwrap_or_default();
    // The JavaScript SDK sends no body where the others send an empty object.
    let expected = match &recorded["body"] {
        Value::Null if body == Value::Object(tightwire_json::Map::new()) => body.clone(),
        recorded => without_nulls(recorded),
    };
    let kind = |kind: &str| kind.split(';').next().unwrap_or_default().to_owned();
    let recorded_kind = recorded["headers"]
        .as_array()
        .unwrap()
        .iter()
        .find(|pair| pair[0].as_str().unwrap().eq_ignore_ascii_case("content-type"));
    let recorded_kind = recorded_kind.map(|pair| kind(pair[1].as_str().unwrap()));
    let sent_kind = sent.headers.get("content-type").map(|value| kind(value.to_str().unwrap()));
    let mut differences = Vec::new();
    let mut note = |is_same: bool, what: String| {
        if !is_same {
            differences.push(what);
        }
    };
    let recorded_target = recorded["target"].as_str().unwrap();
    note(recorded["method"] == sent.method, format!("method {}", sent.method));
    note(split(target) == split(recorded_target), format!("target {target}, recorded {recorded_target}"));
    if form {
        let (sent, recorded) = (Form::of(&sent.body), Form::of(recorded["body_text"].as_str().unwrap()));
        note(sent == recorded, format!("form {sent:?}, recorded {recorded:?}"));
    } else {
        note(without_nulls(&body) == expected, format!("body {body}, recorded {expected}"));
    }
    note(sent.headers["authorization"] == "Bearer test-key", "key".to_owned());
    // Some SDKs send the content type without a body.
    note(sent_kind.is_none() || sent_kind == recorded_kind, format!("content type {sent_kind:?}"));
    note(sent_kind.is_some() != sent.body.is_empty(), "a type without a body, or the reverse".to_owned());
    differences
}

/// Returns whether the calls of a scenario fail. `client_replies.rs` checks the kinds of errors, and the items of
/// streams up to an error.
fn fails(scenario: &str) -> bool {
    let is_status = ["e4", "e5", "empty500", "noretry500"].iter().any(|start| scenario.starts_with(start));
    is_status || matches!(scenario, "badjson200" | "text200")
}

/// Returns the difference between the result of a call and the expected one.
fn unexpected_result(scenario: &str, outcome: &CallResult) -> Option<String> {
    let is_expected = match outcome {
        CallResult::Failed(error) => fails(scenario) && (error.is_api() || error.is_decode()),
        CallResult::Value(_) => !fails(scenario),
        CallResult::Items(_, end) => {
            end.is_some() == matches!(scenario, "stream-error" | "stream-errdata" | "stream-badjson")
        }
    };
    (!is_expected).then(|| format!("outcome {outcome:?}"))
}

/// Returns the values that differ from those that the recorded SDK received. `null` equals absent.
fn other_values(outcome: &CallResult, recorded: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |ours: &Value, theirs: &Value, path: &str| {
        wire::compare(theirs, ours, &format!("value {path}"), true, &mut found);
        wire::compare(ours, theirs, &format!("recorded {path}"), true, &mut found);
    };
    match outcome {
        CallResult::Value(value) => {
            // Recorded as `parsed` if the call also returned status and headers.
            let recorded = recorded.get("value").or_else(|| recorded.get("parsed"));
            compare(value, recorded.unwrap_or(&Value::Null), "$");
        }
        CallResult::Items(items, _) => {
            for (index, item) in items.iter().enumerate() {
                compare(item, &recorded["items"][index], &format!("${index}"));
            }
        }
        // Some SDKs return a value where this crate fails; `fails` lists these calls.
        CallResult::Failed(_) => {}
    }
    found
}

#[tokio::test(start_paused = true)]
async fn recorded_calls() {
    let (mut calls, mut values, mut problems) = (0, 0, Vec::new());
    let mut left_out = BTreeSet::new();
    for recording in recordings() {
        // Other tests cover these changes of a request; redirects are handled by reqwest.
        let is_covered = matches!(&*recording.scenario, "extras" | "redirect" | "redirect2");
        // Some recordings contain only the first attempt.
        let last = recording.attempts.last().unwrap()["response"]["status"].as_u64().unwrap_or_default();
        if is_covered || last != 200 && last != 204 && !fails(&recording.scenario) {
            left_out.extend(recording.is_newest().then_some(recording.scenario));
            continue;
        }
        let script = recording.script();
        let retries = recording.attempts.len() as u32 - 1;
        let client = script.builder().api_key("test-key").base_url("https://example.org");
        let client = client.path_style(PathStyle::Sdk).max_retries(retries);
        let Some(outcome) = call(&client.build().unwrap(), recording.request()).await else {
            left_out.extend(recording.is_newest().then_some(recording.scenario));
            continue;
        };
        calls += 1;
        let sent = script.sent();
        let mut found: Vec<String> = unexpected_result(&recording.scenario, &outcome).into_iter().collect();
        if sent.len() != recording.attempts.len() {
            found.push(format!("{} attempts of {}", sent.len(), recording.attempts.len()));
        }
        let is_other = OTHER_VALUES.iter().any(|(scenario, _)| *scenario == recording.scenario);
        if let Some(recorded) = recording.outcome().filter(|_| recording.is_newest() || !is_other) {
            found.extend(other_values(&outcome, recorded));
            values += 1;
        }
        let pairs = sent.iter().zip(&recording.attempts);
        found.extend(pairs.flat_map(|(sent, attempt)| differences(sent, &attempt["request"])));
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", recording.name)));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(calls > 100, "{calls} calls were compared");
    assert!(values > 100, "{values} outcomes were compared");
    let known: BTreeSet<_> = WITHOUT_COUNTERPART.iter().map(|(scenario, _)| (*scenario).to_owned()).collect();
    assert_eq!(left_out, known);
}
