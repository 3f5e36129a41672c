//! Every endpoint of every resource has a type in the table of `cargo xtask conformance perplexity`.
#![cfg(feature = "client")]

use std::any::type_name;
use std::collections::BTreeSet;

use tightwire_perplexity::types::{
    async_chat, batches, chat, decisions, embeddings, files, responses, search, skills,
};
use tightwire_perplexity::{Call, Client, Discard, Events, File, Json, PathStyle, ResponseType};

use crate::support::{Script, Step};
use crate::wire::response_check;

/// Sources of the resources, by module name.
const SOURCES: [(&str, &str); 8] = [
    ("batches", include_str!("../../src/resources/batches.rs")),
    ("chat", include_str!("../../src/resources/chat.rs")),
    ("embeddings", include_str!("../../src/resources/embeddings.rs")),
    ("files", include_str!("../../src/resources/files.rs")),
    ("models", include_str!("../../src/resources/models.rs")),
    ("responses", include_str!("../../src/resources/responses.rs")),
    ("sessions", include_str!("../../src/resources/sessions.rs")),
    ("skills", include_str!("../../src/resources/skills.rs")),
];

/// Returns the methods of the resources that create a call, as `Group::method`.
fn methods() -> BTreeSet<String> {
    let mut methods = BTreeSet::new();
    for (_, source) in SOURCES {
        let mut group = "";
        for part in source.split("\nimpl").skip(1) {
            let head = part.split('{').next().unwrap_or_default();
            if let Some(name) = head.rsplit(' ').find(|word| word.contains("<'")) {
                group = name.split('<').next().unwrap_or_default();
            }
            for function in part.split("    pub fn ").skip(1) {
                let signature = function.split('{').next().unwrap_or_default();
                if signature.contains("-> Call<") {
                    let name = signature.split(['(', '<']).next().unwrap_or_default();
                    methods.insert(format!("{group}::{name}"));
                }
            }
        }
    }
    methods
}

/// Kind of a response body.
#[derive(Debug)]
enum Body {
    /// JSON that is decoded as the type of this name.
    Json(&'static str),
    Events,
    File,
    Discard,
}

trait Kind {
    fn body() -> Body;
}

impl<T> Kind for Json<T> {
    fn body() -> Body {
        Body::Json(type_name::<T>())
    }
}

impl<T> Kind for Events<T> {
    fn body() -> Body {
        Body::Events
    }
}

impl Kind for File {
    fn body() -> Body {
        Body::File
    }
}

impl Kind for Discard {
    fn body() -> Body {
        Body::Discard
    }
}

/// One call: method, path and kind of response.
#[derive(Debug)]
struct Endpoint {
    name: &'static str,
    method: String,
    path: String,
    body: Body,
}

/// Sends one call per method.
struct Calls {
    style: PathStyle,
    endpoints: Vec<Endpoint>,
}

impl Calls {
    async fn add<A: ResponseType + Kind>(&mut self, name: &'static str, call: impl Fn(&Client) -> Call<A>) {
        let script = Script::new([Step::ok("{}")]);
        let client = script.builder().path_style(self.style).without_validation().build().unwrap();
        // Ignore the result: an empty response does not decode as most types.
        let _ = call(&client).max_retries(0).await;
        let sent = &script.sent()[0];
        let url = sent.url.strip_prefix("https://example.org/base").unwrap();
        let path = url.split('?').next().unwrap().to_owned();
        self.endpoints.push(Endpoint { name, method: sent.method.clone(), path, body: A::body() });
    }
}

async fn endpoints(style: PathStyle) -> Vec<Endpoint> {
    let mut calls = Calls { style, endpoints: Vec::new() };
    let chat = chat::Request::new("sonar", "hey");
    calls.add("Chat::create", |client| client.chat().create(&chat)).await;
    calls.add("Chat::stream", |client| client.chat().stream(&chat)).await;
    let request = async_chat::Request::ask("sonar", "hey");
    calls.add("AsyncChat::create", |client| client.async_chat().create(&request)).await;
    calls.add("AsyncChat::list", |client| client.async_chat().list(&Default::default())).await;
    calls.add("AsyncChat::retrieve", |client| client.async_chat().retrieve("a")).await;
    calls
        .add("AsyncChat::retrieve_with", |client| client.async_chat().retrieve_with("a", &Default::default()))
        .await;
    let request = search::Request::new("tides");
    calls.add("Search::create", |client| client.search().create(&request)).await;
    calls.add("Models::list", |client| client.models().list()).await;
    let request = decisions::Request::new("m", "state");
    calls.add("Decisions::create", |client| client.decisions().create(&request)).await;
    let request = embeddings::Request::new("m", "text");
    calls.add("Embeddings::create", |client| client.embeddings().create(&request)).await;
    let request = embeddings::ContextualizedRequest::new("m", [["text"]]);
    calls
        .add("Embeddings::create_contextualized", |client| {
            client.embeddings().create_contextualized(&request)
        })
        .await;
    calls.add("Files::create", |client| client.files().create(files::Purpose::Batch, "a.jsonl", b"{}")).await;
    calls.add("Files::list", |client| client.files().list(&Default::default())).await;
    calls.add("Files::retrieve", |client| client.files().retrieve("a")).await;
    calls.add("Files::delete", |client| client.files().delete("a")).await;
    calls.add("Files::content", |client| client.files().content("a")).await;
    let request = batches::CreateRequest::new("file");
    calls.add("Batches::create", |client| client.batches().create(&request)).await;
    calls.add("Batches::list", |client| client.batches().list(&Default::default())).await;
    calls.add("Batches::retrieve", |client| client.batches().retrieve("a")).await;
    calls.add("Batches::cancel", |client| client.batches().cancel("a")).await;
    let request = responses::Request::new("openai/gpt-5", "hey");
    calls.add("Responses::create", |client| client.responses().create(&request)).await;
    calls.add("Responses::stream", |client| client.responses().stream(&request)).await;
    calls.add("Responses::retrieve", |client| client.responses().retrieve("a")).await;
    calls
        .add("Responses::retrieve_with", |client| client.responses().retrieve_with("a", &Default::default()))
        .await;
    calls.add("Responses::resume", |client| client.responses().resume("a", 1)).await;
    calls.add("Responses::cancel", |client| client.responses().cancel("a")).await;
    calls.add("ResponseFiles::list", |client| client.responses().files().list("a")).await;
    calls.add("ResponseFiles::content", |client| client.responses().files().content("a", "b")).await;
    calls.add("Sessions::create", |client| client.browser_sessions().create()).await;
    calls.add("Sessions::delete", |client| client.browser_sessions().delete("a")).await;
    let (revision, change) = (skills::RevisionParams::default(), skills::ChangeParams::new("r"));
    calls.add("Skills::create", |client| client.skills().create("a.zip", b"")).await;
    calls.add("Skills::list", |client| client.skills().list(&Default::default())).await;
    calls.add("Skills::retrieve", |client| client.skills().retrieve("a", &revision)).await;
    calls.add("Skills::update", |client| client.skills().update("a", &change, "a.zip", b"")).await;
    calls.add("Skills::download", |client| client.skills().download("a", &revision)).await;
    calls.add("Skills::delete", |client| client.skills().delete("a", &change)).await;
    calls.add("Skills::revisions", |client| client.skills().revisions("a", &Default::default())).await;
    calls.endpoints
}

/// A new method of a resource must be added here, and its endpoint to the table.
#[tokio::test(start_paused = true)]
async fn every_endpoint_has_a_type() {
    for style in [PathStyle::Sdk, PathStyle::V1] {
        let endpoints = endpoints(style).await;
        let called: BTreeSet<_> = endpoints.iter().map(|endpoint| endpoint.name.to_owned()).collect();
        assert_eq!(called, methods());
        for endpoint in endpoints {
            let check = response_check(&endpoint.method, &endpoint.path).map(|check| check.type_name);
            match endpoint.body {
                Body::Json(name) => assert_eq!(check, Some(name), "{endpoint:?}"),
                // Events of a stream have the same path as the buffered response.
                Body::Events => assert!(check.is_some(), "{endpoint:?}"),
                Body::File | Body::Discard => assert_eq!(check, None, "{endpoint:?}"),
            }
        }
    }
}
