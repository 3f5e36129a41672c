//! Comparison with the official Python SDK: this crate has its methods, parameters, types and events. The result is the
//! table `docs/perplexity-sdk.md`.
//!
//! `tests/data/perplexity-sdk.json` describes the SDK. After a change of it or of the types, set `UPDATE_TABLE=1` to write
//! the table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::shape::{ObjectShape, Shape};
use super::{batches, browser, chat, decisions, embeddings, files, models, responses, search, skills};
use crate::resources::*;
use crate::types::{Deleted, async_chat};

/// Types of a field or parameter: names of models, and allowed strings in single quotes.
type Kinds = Vec<String>;

#[derive(Deserialize)]
struct Sdk {
    version: String,
    methods: BTreeMap<String, Method>,
    models: BTreeMap<String, BTreeMap<String, Kinds>>,
}

#[derive(Deserialize)]
struct Method {
    http: String,
    parameters: BTreeMap<String, Kinds>,
    result: Kinds,
    events: Kinds,
}

/// Counterpart of a method.
struct Counterpart {
    /// Methods of this crate.
    methods: Vec<&'static str>,
    /// Request body and query parameters.
    request: Shape,
    /// Parameters that are arguments or call options.
    arguments: &'static [&'static str],
    result: Shape,
    events: Shape,
}

/// Defines the counterparts: `"method of the SDK" => Group::method, ... (request types; arguments) -> result, event`.
macro_rules! counterparts {
    ($(
        $sdk:literal => $($group:ident::$method:ident),+ ($($request:ty),*; $($argument:literal),*)
        $(-> $result:ty $(, $event:ty)?)?;
    )+) => {
        [$(($sdk, {
            $(let _ = $group::<crate::Client>::$method;)+
            Counterpart {
                methods: vec![$(concat!("`", stringify!($group), "::", stringify!($method), "`")),+],
                request: merged([$(Shape::of::<$request>()),*]),
                arguments: &[$($argument),*],
                result: merged([$(Shape::of::<$result>())?]),
                events: merged([$($(Shape::of::<$event>())?)?]),
            }
        })),+]
    };
}

fn counterparts() -> BTreeMap<&'static str, Counterpart> {
    BTreeMap::from(counterparts! {
        "async_.chat.completions.create" => AsyncChat::create (async_chat::Request;) -> async_chat::AsyncCompletion;
        // The parameters `x_*` are headers.
        "async_.chat.completions.get" => AsyncChat::retrieve, AsyncChat::retrieve_with
            (async_chat::GetParams; "api_request", "x_client_env", "x_client_name", "x_created_at_epoch_seconds",
             "x_request_time", "x_usage_tier", "x_user_id") -> async_chat::AsyncCompletion;
        "async_.chat.completions.list" => AsyncChat::list (async_chat::ListParams;) -> async_chat::List;
        "batches.cancel" => Batches::cancel (; "batch_id") -> batches::Batch;
        "batches.create" => Batches::create (batches::CreateRequest; "idempotency_key") -> batches::Batch;
        "batches.list" => Batches::list (batches::ListParams;) -> batches::List;
        "batches.retrieve" => Batches::retrieve (; "batch_id") -> batches::Batch;
        "browser.sessions.create" => Sessions::create (browser::CreateRequest;) -> browser::Session;
        "browser.sessions.delete" => Sessions::delete (; "session_id");
        "chat.completions.create" => Chat::create, Chat::stream (chat::Request;) -> chat::Completion, chat::Completion;
        "contextualized_embeddings.create" => Embeddings::create_contextualized
            (embeddings::ContextualizedRequest;) -> embeddings::ContextualizedResponse;
        "decisions.create" => Decisions::create (decisions::Request;) -> decisions::Response;
        "embeddings.create" => Embeddings::create (embeddings::Request;) -> embeddings::Response;
        "files.content" => Files::content (; "file_id");
        "files.create" => Files::create (; "file", "purpose") -> files::FileObject;
        "files.delete" => Files::delete (; "file_id") -> Deleted;
        "files.list" => Files::list (files::ListParams;) -> files::List;
        "files.retrieve" => Files::retrieve (; "file_id") -> files::FileObject;
        "models.list" => Models::list (;) -> models::List;
        "responses.cancel" => Responses::cancel (; "response_id") -> responses::Cancelled;
        "responses.create" => Responses::create, Responses::stream
            (responses::Request;) -> responses::Response, responses::Event;
        "responses.files.content" => ResponseFiles::content (; "file_id", "response_id");
        "responses.files.list" => ResponseFiles::list (; "response_id") -> responses::FileList;
        "responses.retrieve" => Responses::retrieve, Responses::retrieve_with, Responses::resume
            (responses::RetrieveParams; "response_id") -> responses::Response, responses::Event;
        "search.create" => Search::create (search::Request;) -> search::Response;
        "skills.create" => Skills::create (; "file") -> skills::ManagedSkill;
        "skills.delete" => Skills::delete (skills::ChangeParams; "skill_id");
        "skills.download" => Skills::download (skills::RevisionParams; "skill_id") -> skills::Download;
        "skills.list" => Skills::list (skills::ListParams;) -> skills::List;
        "skills.retrieve" => Skills::retrieve (skills::RevisionParams; "skill_id") -> skills::ManagedSkill;
        "skills.revisions.list" => Skills::revisions (skills::ListParams; "skill_id") -> skills::Revisions;
        "skills.update" => Skills::update (skills::ChangeParams; "skill_id", "file") -> skills::ManagedSkill;
    })
}

/// Returns the shape of values that may have any of these shapes.
fn merged(shapes: impl IntoIterator<Item = Shape>) -> Shape {
    let mut all = Shape::default();
    for shape in shapes {
        all.objects.extend(shape.objects);
        all.values.extend(shape.values);
        all.is_text |= shape.is_text;
        all.is_untyped |= shape.is_untyped;
    }
    all
}

struct Comparison<'a> {
    sdk: &'a Sdk,
    /// Compared models, with the names of their counterparts.
    compared: BTreeSet<(&'a str, Vec<&'static str>)>,
    /// Fields, models and strings that this crate lacks.
    missing: BTreeSet<String>,
    /// Fields with a type in the SDK that are untyped in this crate.
    untyped: BTreeSet<String>,
}

impl<'a> Comparison<'a> {
    /// Compares the parameters or fields of `name` with those of objects.
    fn fields(&mut self, name: &str, fields: &'a BTreeMap<String, Kinds>, objects: &[&ObjectShape]) {
        for (field, kinds) in fields {
            let path = format!("{name}.{field}");
            let tags = objects.iter().filter_map(|object| object.tag).filter(|(tag, _)| tag == field);
            let values: Vec<_> = tags.map(|(_, value)| value).collect();
            if !values.is_empty() {
                self.kinds(&path, kinds, &Shape { values, ..Shape::default() });
                continue;
            }
            let of_field =
                |object: &&ObjectShape| object.fields.iter().find(|(name, _)| name == field).copied();
            let shapes: Vec<_> = objects.iter().filter_map(of_field).map(|(_, shape)| shape()).collect();
            if shapes.is_empty() {
                self.missing.insert(path);
            } else {
                self.kinds(&path, kinds, &merged(shapes));
            }
        }
    }

    /// Compares the types of the field or result at `path`.
    fn kinds(&mut self, path: &str, kinds: &'a Kinds, ours: &Shape) {
        if ours.is_untyped && ours.objects.is_empty() {
            if !kinds.is_empty() {
                self.untyped.insert(path.to_owned());
            }
            return;
        }
        for kind in kinds {
            let sdk = self.sdk;
            let Some((model, fields)) = sdk.models.get_key_value(kind) else {
                if !ours.is_text && !ours.values.contains(&kind.trim_matches('\'')) {
                    self.missing.insert(format!("{path} {kind}"));
                }
                continue;
            };
            let has_tag = |object: &&ObjectShape| {
                let Some((tag, value)) = object.tag else { return true };
                fields.get(tag).is_some_and(|kinds| kinds.is_empty() || kinds.contains(&format!("'{value}'")))
            };
            let objects: Vec<_> = ours.objects.iter().filter(has_tag).collect();
            let names = objects.iter().map(|object| object.name).collect();
            if objects.is_empty() {
                self.missing.insert(format!("{path} {model}"));
            } else if self.compared.insert((model.as_str(), names)) {
                self.fields(model, fields, &objects);
            }
        }
    }
}

/// Returns the table.
fn table(comparison: &Comparison<'_>, counterparts: &BTreeMap<&str, Counterpart>) -> String {
    let sdk = comparison.sdk;
    let mut text = format!(
        "# Comparison with the Python SDK\n\n\
         Methods, parameters, types and events of `perplexityai` {} (Python), and their counterparts in\n\
         `tightwire-perplexity`. A unit test of that crate writes this page. It fails if the page is out of date, or if the crate\n\
         lacks a method, a parameter, a field, an allowed string or an event.\n\n\
         ## Methods\n\n\
         | Python SDK | request | `tightwire-perplexity` | parameters |\n\
         | --- | --- | --- | --- |\n",
        sdk.version
    );
    for (name, method) in &sdk.methods {
        let (methods, parameters) = (counterparts[&**name].methods.join(", "), method.parameters.len());
        let _ = writeln!(text, "| `{name}` | `{}` | {methods} | {parameters} |", method.http);
    }
    text += "\nThe parameters of `async_.chat.completions.get` that begin with `x_` are headers: `Call::header`.\n";
    text += "\n## Events\n\n| event | type of `types::responses` |\n| --- | --- |\n";
    for object in &Shape::of::<responses::Event>().objects {
        let (_, event) = object.tag.unwrap_or_default();
        let _ = writeln!(text, "| `{event}` | `{}` |", object.name);
    }
    let models: BTreeSet<_> = comparison.compared.iter().map(|(model, _)| *model).collect();
    let fields: usize = models.iter().map(|model| sdk.models[*model].len()).sum();
    let _ = write!(
        text,
        "\nStreams of `chat.completions.create` consist of `Completion` chunks.\n\n\
         ## Types\n\n\
         {} types with {fields} fields were compared, including the strings that the SDK allows. Unknown strings, fields and\n\
         variants are accepted, too.\n",
        models.len()
    );
    let untyped: Vec<_> = comparison.untyped.iter().map(|path| format!("`{path}`")).collect();
    if !untyped.is_empty() {
        let _ = writeln!(
            text,
            "\nFields without a type in `tightwire-perplexity`, as JSON values: {}.",
            untyped.join(", ")
        );
    }
    text
}

#[test]
fn python_sdk_is_covered() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path| fs::read_to_string(package.join(path)).unwrap_or_default();
    let sdk: Sdk = tightwire_json::from_str(&read("tests/data/perplexity-sdk.json")).unwrap();
    let counterparts = counterparts();
    assert!(sdk.methods.keys().eq(counterparts.keys()), "the methods of the SDK have changed");

    let mut comparison = Comparison {
        sdk: &sdk,
        compared: BTreeSet::new(),
        missing: BTreeSet::new(),
        untyped: BTreeSet::new(),
    };
    for (name, method) in &sdk.methods {
        let ours = &counterparts[&**name];
        let argument =
            |name: &&'static str| (*name, (|| Shape { is_text: true, ..Shape::default() }) as fn() -> Shape);
        let arguments =
            ObjectShape { name: "", tag: None, fields: ours.arguments.iter().map(argument).collect() };
        let objects: Vec<_> = ours.request.objects.iter().chain([&arguments]).collect();
        comparison.fields(name, &method.parameters, &objects);
        comparison.kinds(name, &method.result, &ours.result);
        comparison.kinds(name, &method.events, &ours.events);
    }
    assert!(comparison.missing.is_empty(), "this crate lacks {:#?}", comparison.missing);

    let (table, path) = (table(&comparison, &counterparts), "../../docs/perplexity-sdk.md");
    if std::env::var_os("UPDATE_TABLE").is_some() {
        fs::write(package.join(path), &table).unwrap();
    }
    assert!(read(path) == table, "docs/perplexity-sdk.md is out of date: run this test with UPDATE_TABLE=1");
}
