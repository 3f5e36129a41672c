//! Property tests of all types.

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tightwire_json::{Map, Value};

use super::arbitrary::any_value;
use super::*;

/// Bounds of every tested type.
trait Wire: Serialize + DeserializeOwned + PartialEq + Clone + std::fmt::Debug + Send + Sync {}

impl<T: Serialize + DeserializeOwned + PartialEq + Clone + std::fmt::Debug + Send + Sync> Wire for T {}

/// Checks that a value decodes from its encoding, also with reordered fields and from a buffered [`Value`].
fn round_trips<T: Wire>(value: &T) -> Result<(), TestCaseError> {
    let text = tightwire_json::to_string(value).unwrap();
    let again: T =
        tightwire_json::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))?;
    prop_assert_eq!(&again, value, "{}", text);
    let dynamic: Value = tightwire_json::from_str(&text).unwrap();
    prop_assert_eq!(&tightwire_json::from_str::<T>(&dynamic.to_string()).unwrap(), value, "{}", dynamic);
    prop_assert_eq!(&T::deserialize(dynamic).unwrap(), value, "{}", text);
    Ok(())
}

/// Checks that unknown fields and `null` decode, and that they are encoded again with the feature `extra`.
fn tolerates_members<T: Wire>(value: &T) -> Result<(), TestCaseError> {
    let Value::Object(object) = tightwire_json::from_str(&tightwire_json::to_string(value).unwrap()).unwrap()
    else {
        return Ok(());
    };
    let decode = |object: &Map<String, Value>| {
        let text = Value::Object(object.clone()).to_string();
        tightwire_json::from_str::<T>(&text).map_err(|error| TestCaseError::fail(format!("{error}: {text}")))
    };
    let mut with_more = object.clone();
    with_more.insert("of_the_future".to_owned(), tightwire_json::from_str(r#"{"a": [1, null]}"#).unwrap());
    let again = encode(&decode(&with_more)?);
    if cfg!(feature = "extra") {
        prop_assert_eq!(Value::Object(with_more), again);
    } else {
        for (name, value) in &object {
            prop_assert_eq!(again.get(name), Some(value));
        }
    }
    for name in object.keys() {
        let mut with_null = object.clone();
        with_null.insert(name.clone(), Value::Null);
        let again = encode(&decode(&with_null)?);
        if cfg!(feature = "extra") {
            prop_assert!(again.get(name).is_some(), "{} is lost", name);
        }
    }
    Ok(())
}

/// Checks that replacing any nested value leads to a decoding error or to a value that round-trips.
fn survives_changes<T: Wire>(value: &T, place: usize, other: &Value) -> Result<(), TestCaseError> {
    let mut changed = encode(value);
    let mut place = place % count(&changed);
    replace(&mut changed, &mut place, other);
    match tightwire_json::from_str::<T>(&changed.to_string()) {
        Ok(understood) => round_trips(&understood),
        Err(error) => {
            prop_assert!(error.is_data(), "{error}: {}", changed);
            Ok(())
        }
    }
}

/// Returns the number of values in a tree, including the root.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(object) => object.values().map(count).sum(),
        _ => 0,
    }
}

/// Replaces the value at `place`, counted in the order of [`count`].
fn replace(value: &mut Value, place: &mut usize, other: &Value) {
    if *place == 0 {
        *value = other.clone();
    }
    // Wraps around after the replacement, so that nothing else is replaced.
    *place = place.wrapping_sub(1);
    if *place == usize::MAX {
        return;
    }
    let children: Vec<&mut Value> = match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(object) => object.values_mut().collect(),
        _ => return,
    };
    for child in children {
        replace(child, place, other);
        if *place == usize::MAX {
            return;
        }
    }
}

fn encode<T: Wire>(value: &T) -> Value {
    tightwire_json::from_str(&tightwire_json::to_string(value).unwrap()).unwrap()
}

macro_rules! properties {
    ($($ty:ty,)*) => {
        $(check::<$ty>();)*
    };
}

fn check<T: Wire + arbitrary::Arbitrary>() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let strategy = (any_value::<T>(), any::<usize>(), any_value::<Option<Value>>());
    let result = runner.run(&strategy, |(value, place, other)| {
        round_trips(&value)?;
        tolerates_members(&value)?;
        survives_changes(&value, place, &other.unwrap_or_default())
    });
    if let Err(error) = result {
        panic!("{}: {error}", std::any::type_name::<T>());
    }
}

/// Fails if a type is missing from the lists below, because it would not be tested.
#[test]
fn every_type_is_listed() {
    const LISTED: &str = include_str!("tests.rs");
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/types");
    let (mut folders, mut count) = (vec![root.clone()], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let resource = path.strip_prefix(&root).unwrap().iter().next().unwrap();
            let resource = std::path::Path::new(resource).file_stem().unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            // Wire types are defined inside macros, therefore indented.
            for line in text.lines() {
                let line =
                    line.strip_prefix("    pub struct ").or_else(|| line.strip_prefix("    pub enum "));
                let Some(line) = line.filter(|_| resource != "wire") else { continue };
                let name = line.split(|char: char| !char.is_alphanumeric()).next().unwrap();
                let entry = match resource {
                    "common" => format!("\n        {name},"),
                    _ => format!("\n        {resource}::{name},"),
                };
                assert!(LISTED.contains(&entry), "{resource}::{name} has no properties");
                count += 1;
            }
        }
    }
    assert!(count > 100, "only {count} types were found");
}

#[test]
fn async_chat_types() {
    properties! {
        async_chat::Request,
        async_chat::Status,
        async_chat::AsyncCompletion,
        async_chat::Summary,
        async_chat::List,
        async_chat::ListParams,
        async_chat::GetParams,
    }
}

#[test]
fn batches_types() {
    properties! {
        batches::CreateRequest,
        batches::Endpoint,
        batches::CompletionWindow,
        batches::Status,
        batches::Batch,
        batches::Errors,
        batches::BatchError,
        batches::RequestCounts,
        batches::Usage,
        batches::InputTokens,
        batches::OutputTokens,
        batches::List,
        batches::ListParams,
    }
}

#[test]
fn browser_types() {
    properties! {
        browser::CreateRequest,
        browser::SessionStatus,
        browser::Session,
    }
}

#[test]
fn chat_types() {
    properties! {
        chat::Completion,
        chat::CompletionStatus,
        chat::ChunkKind,
        chat::Choice,
        chat::FinishReason,
        chat::Image,
        chat::Usage,
        chat::Cost,
        chat::Content,
        chat::Part,
        chat::TextPart,
        chat::ImagePart,
        chat::FilePart,
        chat::PdfPart,
        chat::VideoPart,
        chat::Source,
        chat::Url,
        chat::DeltaChunk,
        chat::DeltaChoice,
        chat::ResponseFormat,
        chat::TextFormat,
        chat::JsonSchemaFormat,
        chat::JsonSchema,
        chat::RegexFormat,
        chat::Regex,
        chat::Role,
        chat::Message,
        chat::Delta,
        chat::StepKind,
        chat::ReasoningStep,
        chat::StepSearch,
        chat::FetchedPages,
        chat::CodeRun,
        chat::AgentProgress,
        chat::BrowserAgent,
        chat::BrowserTool,
        chat::AttachmentSearch,
        chat::ResultSource,
        chat::PublicResult,
        chat::Request,
        chat::StreamMode,
        chat::ReasoningEffort,
        chat::SearchType,
        chat::WebSearchOptions,
        chat::UserLocation,
        chat::MediaResponse,
        chat::MediaOverrides,
        chat::ToolKind,
        chat::ToolChoice,
        chat::Tool,
        chat::Function,
        chat::Schema,
        chat::ToolCall,
        chat::FunctionCall,
    }
}

#[test]
fn common_types() {
    properties! {
        ObjectKind,
        SearchContextSize,
        SearchMode,
        Recency,
        TextOrList,
        NumberOrText,
        Deleted,
    }
}

#[test]
fn decisions_types() {
    properties! {
        decisions::Request,
        decisions::Question,
        decisions::Noul,
        decisions::NoulCriteria,
        decisions::Choice,
        decisions::Score,
        decisions::Response,
        decisions::Answer,
        decisions::NoulAnswer,
        decisions::ChoiceAnswer,
        decisions::ScoreAnswer,
        decisions::Usage,
    }
}

#[test]
fn embeddings_types() {
    properties! {
        embeddings::Request,
        embeddings::ContextualizedRequest,
        embeddings::Model,
        embeddings::EncodingFormat,
        embeddings::Response,
        embeddings::ContextualizedResponse,
        embeddings::DocumentEmbeddings,
        embeddings::Embedding,
        embeddings::Usage,
        embeddings::Cost,
    }
}

#[test]
fn files_types() {
    properties! {
        files::Purpose,
        files::Order,
        files::FileObject,
        files::List,
        files::ListParams,
    }
}

#[test]
fn models_types() {
    properties! {
        models::List,
        models::Model,
    }
}

#[test]
fn responses_types() {
    properties! {
        responses::Event,
        responses::ResponseEvent,
        responses::FailedEvent,
        responses::ItemEvent,
        responses::TextDeltaEvent,
        responses::TextDoneEvent,
        responses::ReasoningEvent,
        responses::SearchQueriesEvent,
        responses::SearchResultsEvent,
        responses::FetchQueriesEvent,
        responses::FetchResultsEvent,
        responses::ImageQueriesEvent,
        responses::ImageResultsEvent,
        responses::SkillLoadedEvent,
        responses::Input,
        responses::InputItem,
        responses::Role,
        responses::InputMessage,
        responses::InputContent,
        responses::CallOutput,
        responses::InputPart,
        responses::InputText,
        responses::InputImage,
        responses::ImageDetail,
        responses::InputFile,
        responses::InputReasoning,
        responses::ReasoningText,
        responses::ReasoningKind,
        responses::McpTools,
        responses::McpTool,
        responses::McpToolAnnotations,
        responses::McpCall,
        responses::ApprovalRequest,
        responses::ApprovalResponse,
        responses::Approval,
        responses::ApprovalMode,
        responses::ApprovalRules,
        responses::ApprovalFilter,
        responses::AllowedTools,
        responses::OutputItem,
        responses::OutputMessage,
        responses::OutputContent,
        responses::OutputText,
        responses::Annotation,
        responses::SearchResults,
        responses::SearchResult,
        responses::ImageResults,
        responses::FetchResults,
        responses::FetchedPage,
        responses::FunctionCall,
        responses::FunctionCallOutput,
        responses::ToolSearch,
        responses::SkillLoaded,
        responses::AdvisorResult,
        responses::UnknownItem,
        responses::Namespace,
        responses::NamespaceFunction,
        responses::TokenUsage,
        responses::OutputTokens,
        responses::Request,
        responses::Reasoning,
        responses::Effort,
        responses::ServiceTier,
        responses::Profile,
        responses::ProfileKind,
        responses::RetrieveFormat,
        responses::RetrieveParams,
        responses::Response,
        responses::Status,
        responses::ResponseError,
        responses::Usage,
        responses::Cost,
        responses::InputTokens,
        responses::ToolCallDetails,
        responses::Cancelled,
        responses::ResponseFile,
        responses::FileList,
        responses::SandboxResults,
        responses::Language,
        responses::RunStatus,
        responses::RunResult,
        responses::SandboxOperation,
        responses::Skill,
        responses::BuiltinSkill,
        responses::BuiltinName,
        responses::InlineSkill,
        responses::CustomSkill,
        responses::Tool,
        responses::ToolChoice,
        responses::ToolMode,
        responses::NamedTool,
        responses::WebSearch,
        responses::WebFilters,
        responses::WebSearchType,
        responses::UserLocation,
        responses::ImageSearch,
        responses::ImageFilters,
        responses::ImageFormat,
        responses::FetchUrl,
        responses::PeopleSearch,
        responses::FinanceSearch,
        responses::Sandbox,
        responses::FunctionTool,
        responses::McpServer,
        responses::Connector,
    }
}

#[test]
fn search_types() {
    properties! {
        search::Request,
        search::SearchType,
        search::Response,
        search::SearchResult,
    }
}

#[test]
fn skills_types() {
    properties! {
        skills::ManagedSkill,
        skills::Summary,
        skills::List,
        skills::Revision,
        skills::Revisions,
        skills::Download,
        skills::ListParams,
        skills::RevisionParams,
        skills::ChangeParams,
    }
}

/// Whatever a server sends, in whatever order, adds up to an answer that can be written and read.
#[test]
fn any_parts_add_up() {
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }, |(
        parts in any_value::<Vec<chat::Completion>>(),
        events in any_value::<Vec<responses::Event>>(),
    )| {
        let mut accumulator = chat::Accumulator::new();
        accumulator.extend(&parts);
        prop_assert_eq!(accumulator.is_finished(), parts.iter().any(chat::Completion::is_last));
        round_trips(&accumulator.finish())?;

        let mut accumulator = responses::Accumulator::new();
        for event in &events {
            accumulator.push(event);
        }
        prop_assert_eq!(accumulator.is_finished(), events.iter().any(responses::Event::is_final));
        round_trips(&accumulator.finish())?;
    });
}

/// However a text is cut into deltas, they add up to it.
#[test]
fn deltas_add_up_to_the_text() {
    proptest!(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }, |(
        deltas in proptest::collection::vec(".{0,8}", 0..8),
        repeats in any::<bool>(),
    )| {
        let mut accumulator = chat::Accumulator::new();
        let mut so_far = String::new();
        for delta in &deltas {
            so_far += delta;
            let choice = chat::Choice {
                delta: Some(chat::Delta { content: Some(delta.as_str().into()), ..Default::default() }),
                message: repeats.then(|| chat::Message::assistant(so_far.as_str())),
                ..Default::default()
            };
            accumulator.push(&chat::Completion { choices: vec![choice], ..Default::default() });
            prop_assert_eq!(accumulator.text(), &so_far);
        }
        let whole = accumulator.finish();
        prop_assert_eq!(whole.text().unwrap_or_default(), so_far);
    });
}
