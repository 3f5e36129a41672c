//! Conversion of chat requests to requests of the Agent API.

use std::fmt;

use super::common::{Effort, Role};
use super::input::{Input, InputContent, InputFile, InputItem, InputMessage, InputPart};
use super::output::FunctionCall;
use super::request::{Reasoning, Request};
use super::tool::{
    FinanceSearch, FunctionTool, ImageFilters, ImageSearch, NamedTool, Tool, WebFilters, WebSearch,
};
use crate::types::chat::{self, Content, Message, Part, ReasoningEffort, ResponseFormat, SearchType, Source};
use crate::types::{Extra, SearchMode};

/// A chat request as a request of the Agent API; see [`Request::from_chat`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Converted {
    /// Request of the Agent API.
    pub request: Request,
    /// The parts of the chat request that were lost or replaced.
    pub notes: Vec<Note>,
}

/// A part of a chat request that was lost or replaced. `Display` writes field and reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// Path of the field, such as `messages[1].content[0]`.
    pub field: String,
    /// Continues a sentence that begins with the field: `has no counterpart`.
    pub reason: &'static str,
    /// Whether the field was lost; otherwise its value was replaced.
    pub is_lost: bool,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.field, self.reason)
    }
}

const NO_COUNTERPART: &str = "has no counterpart";

/// Name of a schema that has none.
const SCHEMA_NAME: &str = "response";

impl Request {
    /// Converts a request of the retired chat completions. The README of the crate has a table of all fields and models.
    ///
    /// `sonar` becomes the model `perplexity/sonar` that must search the web, the other Sonar models become an effort, whose
    /// model the server selects. The notes say so, because the vendor's recommendations for models have changed: set
    /// [`model`](Self#structfield.model) or [`effort`](Self#structfield.effort) afterwards if another one is wanted.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::{chat, responses};
    ///
    /// let old = chat::Request::new("sonar", "Why is the sky blue?").max_tokens(400).top_k(4);
    /// let converted = responses::Request::from_chat(&old);
    /// assert_eq!(converted.request.model.as_deref(), Some("perplexity/sonar"));
    /// assert_eq!(converted.request.max_output_tokens, Some(400));
    /// let lost: Vec<_> = converted.notes.iter().filter(|note| note.is_lost).map(ToString::to_string).collect();
    /// assert_eq!(lost, ["top_k has no counterpart"]);
    /// ```
    pub fn from_chat(chat: &chat::Request) -> Converted {
        let mut notes = Notes(Vec::new());
        // All fields, so that a new one is not forgotten.
        let chat::Request {
            messages,
            model,
            stream,
            stream_mode,
            max_tokens,
            temperature,
            top_p,
            top_k,
            n,
            best_of,
            frequency_penalty,
            presence_penalty,
            stop,
            logprobs,
            top_logprobs,
            cum_logprobs,
            diverse_first_token,
            tools,
            tool_choice,
            parallel_tool_calls,
            web_search_options,
            search_mode,
            search_recency_filter,
            search_domain_filter,
            search_language_filter,
            search_after_date_filter,
            search_before_date_filter,
            last_updated_after_filter,
            last_updated_before_filter,
            updated_after_timestamp,
            updated_before_timestamp,
            num_search_results,
            disable_search,
            enable_search_classifier,
            safe_search,
            country,
            latitude,
            longitude,
            language_preference,
            response_formatting_locale,
            return_images,
            return_related_questions,
            num_images,
            image_domain_filter,
            image_format_filter,
            has_image_url: _,
            reasoning_effort,
            response_format,
            response_metadata,
            thread_id,
            use_threads,
            user_original_query,
            file_workspace_id,
            ranking_model,
            search_tenant,
            media_response,
            search_internal_properties,
            debug_pro_search,
            force_new_agent,
            inputs,
            prompt_token_length,
            extra,
        } = chat;
        let mut request = Self {
            input: input(messages, &mut notes),
            stream: *stream,
            max_output_tokens: *max_tokens,
            temperature: *temperature,
            top_p: *top_p,
            parallel_tool_calls: *parallel_tool_calls,
            language_preference: language_preference.clone(),
            ..Self::default()
        };
        notes.model(&mut request, model);

        let options = web_search_options.clone().unwrap_or_default();
        let mut location = options.user_location.unwrap_or_default();
        location.country = location.country.or_else(|| country.clone());
        location.latitude = location.latitude.or(*latitude);
        location.longitude = location.longitude.or(*longitude);
        let filters = WebFilters {
            search_domain_filter: search_domain_filter.clone(),
            search_recency_filter: search_recency_filter.clone(),
            search_after_date_filter: search_after_date_filter.clone(),
            search_before_date_filter: search_before_date_filter.clone(),
            last_updated_after_filter: last_updated_after_filter.clone(),
            last_updated_before_filter: last_updated_before_filter.clone(),
            ..WebFilters::default()
        };
        let search = WebSearch {
            filters: Some(filters).filter(|filters| *filters != WebFilters::default()),
            max_results: *num_search_results,
            search_context_size: options.search_context_size,
            user_location: Some(location).filter(|location| *location != Default::default()),
            ..WebSearch::default()
        };
        let (searches, has_functions) =
            (*disable_search != Some(true), tools.as_ref().is_some_and(|it| !it.is_empty()));
        let mut list: Vec<Tool> = Vec::new();
        if searches && (request.model.is_some() || search != WebSearch::default()) {
            list.push(search.into());
        }
        if searches && request.model.is_some() && !has_functions && *enable_search_classifier != Some(true) {
            request.tool_choice = Some(NamedTool::new().kind("web_search").into());
        }
        if !searches && request.model.is_none() {
            if has_functions {
                notes.lost("disable_search", true, "has no counterpart beside an effort with functions");
            } else {
                request.max_tool_calls = Some(0);
            }
        }
        match search_mode {
            Some(SearchMode::Sec) => list.push(FinanceSearch::new().into()),
            mode => notes.lost(
                "search_mode",
                mode.as_ref().is_some_and(|mode| *mode != SearchMode::Web),
                NO_COUNTERPART,
            ),
        }
        let media = media_response.clone().unwrap_or_default().overrides.unwrap_or_default();
        let returns_images = *return_images == Some(true) || media.return_images == Some(true);
        if returns_images {
            let formats = image_format_filter.iter().flatten().map(|format| format.as_str().into());
            let filters = ImageFilters {
                domain_filter: image_domain_filter.clone(),
                format_filter: image_format_filter.is_some().then(|| formats.collect()),
                safe_search: *safe_search,
                ..ImageFilters::default()
            };
            let filters = Some(filters).filter(|filters| *filters != ImageFilters::default());
            list.push(ImageSearch { filters, max_results: *num_images, ..ImageSearch::default() }.into());
        }
        for (index, tool) in tools.iter().flatten().enumerate() {
            let chat::Function { name, description, parameters, strict, extra } = &tool.function;
            notes.unknown(&format!("tools[{index}]."), &tool.extra);
            notes.unknown(&format!("tools[{index}].function."), extra);
            let description = Some(description.clone()).filter(|text| !text.is_empty());
            let parameters = parameters.as_object().cloned();
            let function =
                FunctionTool { description, parameters, strict: *strict, ..FunctionTool::new(&**name) };
            list.push(function.into());
        }
        request.tools = Some(list).filter(|list| !list.is_empty());
        if let Some(choice) = tool_choice {
            request.tool_choice = Some(choice.as_str().into());
        }

        request.reasoning =
            reasoning_effort.as_ref().map(|effort: &ReasoningEffort| Reasoning::new(effort.as_str()));
        match response_format {
            Some(ResponseFormat::JsonSchema(format)) => {
                let mut format = format.clone();
                format.json_schema.name.get_or_insert_with(|| SCHEMA_NAME.to_owned());
                request.response_format = Some(format.into());
            }
            Some(ResponseFormat::Text(_)) | None => {}
            Some(_) => notes.lost("response_format", true, NO_COUNTERPART),
        }
        request.metadata = response_metadata.as_ref().map(|metadata| {
            let text = |value: &tightwire_json::Value| {
                value.as_str().map_or_else(|| value.to_string(), str::to_owned)
            };
            metadata.iter().map(|(name, value)| (name.clone(), text(value))).collect()
        });

        for (field, is_set) in [
            ("stream_mode", stream_mode.as_ref().is_some_and(|mode| *mode != chat::StreamMode::Concise)),
            ("top_k", top_k.is_some_and(|count| count > 0)),
            ("n", n.is_some_and(|count| count > 1)),
            ("best_of", best_of.is_some_and(|count| count > 1)),
            ("frequency_penalty", frequency_penalty.is_some_and(|penalty| penalty != 0.0)),
            ("presence_penalty", presence_penalty.is_some_and(|penalty| penalty != 0.0)),
            ("stop", stop.is_some()),
            ("logprobs", *logprobs == Some(true)),
            ("top_logprobs", top_logprobs.is_some_and(|count| count > 0)),
            ("cum_logprobs", *cum_logprobs == Some(true)),
            ("diverse_first_token", *diverse_first_token == Some(true)),
            (
                "web_search_options.image_results_enhanced_relevance",
                options.image_results_enhanced_relevance == Some(true),
            ),
            ("search_language_filter", search_language_filter.is_some()),
            ("updated_after_timestamp", updated_after_timestamp.is_some()),
            ("updated_before_timestamp", updated_before_timestamp.is_some()),
            ("response_formatting_locale", response_formatting_locale.is_some()),
            ("return_related_questions", *return_related_questions == Some(true)),
            ("media_response.overrides.return_videos", media.return_videos == Some(true)),
            ("thread_id", thread_id.is_some()),
            ("use_threads", *use_threads == Some(true)),
            ("user_original_query", user_original_query.is_some()),
            ("file_workspace_id", file_workspace_id.is_some()),
            ("ranking_model", ranking_model.is_some()),
            ("search_tenant", search_tenant.is_some()),
            ("search_internal_properties", search_internal_properties.is_some()),
            ("_debug_pro_search", debug_pro_search.is_some()),
            ("_force_new_agent", force_new_agent.is_some()),
            ("_inputs", inputs.is_some()),
            ("_prompt_token_length", prompt_token_length.is_some()),
        ] {
            notes.lost(field, is_set, NO_COUNTERPART);
        }
        let several =
            options.search_type.is_some_and(|kind| kind == SearchType::Pro) && request.effort.is_none();
        notes.lost(
            "web_search_options.search_type",
            several,
            "is replaced by `max_steps` or an effort, which is not set",
        );
        notes.lost("safe_search", *safe_search == Some(true) && !returns_images, "applies to images only");
        notes.unknown("web_search_options.", &options.extra);
        if let Some(response) = media_response {
            notes.unknown("media_response.", &response.extra);
            notes.unknown("media_response.overrides.", &media.extra);
        }
        notes.unknown("", extra);
        Converted { request, notes: notes.0 }
    }
}

struct Notes(Vec<Note>);

impl Notes {
    /// Notes that a field is lost, if it is set.
    fn lost(&mut self, field: impl Into<String>, is_set: bool, reason: &'static str) {
        if is_set {
            self.0.push(Note { field: field.into(), reason, is_lost: true });
        }
    }

    /// Notes that the unknown fields of an object are lost. `path` ends with a period unless it is empty.
    fn unknown(&mut self, path: &str, extra: &Extra) {
        for (name, _) in extra.iter() {
            self.lost(format!("{path}{name}"), true, "is unknown");
        }
    }

    /// Sets the model, or the effort that replaces it.
    fn model(&mut self, request: &mut Request, name: &str) {
        let (effort, reason) = match name {
            "sonar" => (None, "`sonar` is replaced by `perplexity/sonar` with a web search"),
            "sonar-pro" => (Some(Effort::Low), "`sonar-pro` is replaced by the effort `low`"),
            "sonar-reasoning" => (Some(Effort::Low), "`sonar-reasoning` is replaced by the effort `low`"),
            "sonar-reasoning-pro" => {
                (Some(Effort::Low), "`sonar-reasoning-pro` is replaced by the effort `low`")
            }
            "sonar-deep-research" => {
                (Some(Effort::High), "`sonar-deep-research` is replaced by the effort `high`")
            }
            _ => {
                request.model = Some(name.to_owned());
                return self.lost("model", !name.contains('/'), "is no Sonar model");
            }
        };
        if effort.is_none() {
            request.model = Some("perplexity/sonar".to_owned());
        }
        request.effort = effort;
        self.0.push(Note { field: "model".to_owned(), reason, is_lost: false });
    }
}

/// Converts a conversation. A single question becomes a string.
fn input(messages: &[Message], notes: &mut Notes) -> Input {
    let mut items = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let path = format!("messages[{index}]");
        notes.lost(format!("{path}.reasoning_steps"), message.reasoning_steps.is_some(), NO_COUNTERPART);
        notes.unknown(&format!("{path}."), &message.extra);
        let (texts, parts) = match &message.content {
            Some(content) => (content.texts().collect::<String>(), content.parts()),
            None => (String::new(), &[][..]),
        };
        match message.role {
            chat::Role::Tool => {
                items.push(InputItem::function_output(
                    message.tool_call_id.clone().unwrap_or_default(),
                    texts,
                ));
            }
            // The server accepts only text of the model.
            chat::Role::Assistant => {
                let has_others = parts.iter().any(|part| part.as_text().is_none());
                notes.lost(format!("{path}.content"), has_others, "has parts that are no text");
                if !texts.is_empty() {
                    items.push(InputItem::assistant(texts));
                }
                for call in message.tool_calls.iter().flatten() {
                    let function = call.function.clone().unwrap_or_default();
                    let arguments = function.arguments.unwrap_or_else(|| "{}".to_owned());
                    let (id, name) = (call.id.clone().unwrap_or_default(), function.name.unwrap_or_default());
                    items.push(FunctionCall::new(id, name, arguments).into());
                }
            }
            _ => {
                let content = match &message.content {
                    Some(Content::Parts(parts)) => {
                        let parts = parts.iter().enumerate().filter_map(|(index, part)| {
                            let path = format!("{path}.content[{index}]");
                            let converted = input_part(part);
                            notes.lost(&*path, converted.is_none(), NO_COUNTERPART);
                            let (extra, source) = match part {
                                Part::Text(part) => (&part.extra, None),
                                Part::Image(part) => (&part.extra, Some(&part.image_url)),
                                Part::File(part) => (&part.extra, Some(&part.file_url)),
                                Part::Pdf(part) => (&part.extra, Some(&part.pdf_url)),
                                _ => return converted,
                            };
                            notes.unknown(&format!("{path}."), extra);
                            if let Some(Source::Object(url)) = source {
                                notes.unknown(&format!("{path}.url."), &url.extra);
                            }
                            converted
                        });
                        InputContent::Parts(parts.collect())
                    }
                    _ => texts.into(),
                };
                items.push(InputMessage::new(Role::from(message.role.as_str()), content).into());
            }
        }
    }
    match &items[..] {
        [InputItem::Message(InputMessage { role: Role::User, content: InputContent::Text(text), .. })] => {
            Input::Text(text.clone())
        }
        _ => Input::Items(items),
    }
}

/// Converts a content part; `None` if the Agent API has no such part.
fn input_part(part: &Part) -> Option<InputPart> {
    match part {
        Part::Text(part) => Some(InputPart::text(&*part.text)),
        Part::Image(part) => Some(InputPart::image(part.image_url.url()?)),
        Part::File(part) => file(&part.file_url, part.file_name.clone()),
        Part::Pdf(part) => file(&part.pdf_url, None),
        _ => None,
    }
}

/// Converts a document: a URL, or its content in base64 with or without a `data` URL.
fn file(source: &Source, filename: Option<String>) -> Option<InputPart> {
    let url = source.url()?;
    let part = if url.starts_with("http") {
        InputFile { file_url: Some(url.to_owned()), ..InputFile::default() }
    } else {
        let data = url.split_once(";base64,").map_or(url, |(_, data)| data);
        InputFile { file_data: Some(data.to_owned()), ..InputFile::default() }
    };
    Some(InputFile { filename, ..part }.into())
}

#[cfg(test)]
mod tests {
    use tightwire_json::{Value, json};

    use super::*;
    use crate::types::arbitrary::Arbitrary as _;
    use crate::types::shape::Shape;

    fn convert(chat: Value) -> (Value, Vec<String>) {
        let chat: chat::Request = tightwire_json::from_value(chat).unwrap();
        let Converted { request, notes } = Request::from_chat(&chat);
        let lost = notes.iter().filter(|note| note.is_lost).map(|note| note.field.clone()).collect();
        (tightwire_json::to_value(&request).unwrap(), lost)
    }

    fn question(fields: Value) -> Value {
        let mut chat = json!({"model": "sonar-pro", "messages": [{"role": "user", "content": "Why?"}]});
        for (name, value) in fields.as_object().unwrap() {
            chat[name.as_str()] = value.clone();
        }
        chat
    }

    #[test]
    fn models_become_models_or_efforts() {
        for (model, expected) in [
            (
                "sonar",
                json!({"model": "perplexity/sonar", "tools": [{"type": "web_search"}],
                "tool_choice": {"type": "web_search"}}),
            ),
            ("sonar-pro", json!({"effort": "low"})),
            ("sonar-reasoning-pro", json!({"effort": "low"})),
            ("sonar-deep-research", json!({"effort": "high"})),
        ] {
            let chat = chat::Request::new(model, "Why?");
            let converted = Request::from_chat(&chat);
            assert_eq!(converted.notes.len(), 1);
            assert!(!converted.notes[0].is_lost && converted.notes[0].to_string().contains(model));
            let mut request = tightwire_json::to_value(&converted.request).unwrap();
            assert_eq!(request.as_object_mut().unwrap().remove("input"), Some("Why?".into()));
            assert_eq!(request, expected, "{model}");
        }
        let (request, lost) = convert(question(json!({"model": "openai/gpt-5", "disable_search": true})));
        assert_eq!((request, lost.len()), (json!({"input": "Why?", "model": "openai/gpt-5"}), 0));
        let (request, _) = convert(question(json!({"disable_search": true})));
        assert_eq!(request, json!({"input": "Why?", "effort": "low", "max_tool_calls": 0}));
        let (_, lost) = convert(question(json!({"model": "gpt-5"})));
        assert_eq!(lost, ["model"]);
    }

    #[test]
    fn options_move_to_tools_and_lost_ones_are_reported() {
        let (request, lost) = convert(question(json!({
            "max_tokens": 9, "temperature": 0.5, "stream": true, "reasoning_effort": "high",
            "search_domain_filter": ["example.org"], "search_recency_filter": "day", "num_search_results": 5,
            "web_search_options": {"search_context_size": "high", "search_type": "pro", "user_location": {"city": "Ulm"}},
            "country": "DE", "search_mode": "sec", "return_images": true, "num_images": 2, "safe_search": true,
            "image_format_filter": ["png"], "response_metadata": {"a": "b", "c": 1},
            "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}],
            "tool_choice": "required", "response_format": {"type": "json_schema", "json_schema": {"schema": {}}},
            "n": 1, "presence_penalty": 0, "stop": ["x"], "top_k": 3, "return_related_questions": true,
            "search_language_filter": ["de"], "of_the_future": 1,
        })));
        assert_eq!(
            request,
            json!({
                "input": "Why?", "effort": "low", "max_output_tokens": 9, "temperature": 0.5, "stream": true,
                "reasoning": {"effort": "high"}, "metadata": {"a": "b", "c": "1"}, "tool_choice": "required",
                "response_format": {"type": "json_schema", "json_schema": {"schema": {}, "name": "response"}},
                "tools": [
                    {"type": "web_search", "max_results": 5, "search_context_size": "high",
                        "filters": {"search_domain_filter": ["example.org"], "search_recency_filter": "day"},
                        "user_location": {"country": "DE", "city": "Ulm"}},
                    {"type": "finance_search"},
                    {"type": "image_search", "max_results": 2, "filters": {"format_filter": ["png"], "safe_search": true}},
                    {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
                ],
            })
        );
        assert_eq!(
            lost,
            ["top_k", "stop", "search_language_filter", "return_related_questions", "of_the_future"]
        );
        let regex = json!({"type": "regex", "regex": {"regex": "x"}});
        let (_, lost) = convert(question(json!({"search_mode": "academic", "response_format": regex})));
        assert_eq!(lost, ["search_mode", "response_format"]);
    }

    #[test]
    fn unknown_fields_of_nested_objects_are_reported() {
        let (_, lost) = convert(question(json!({
            "messages": [{"role": "user", "name": "x", "content": [
                {"type": "text", "text": "What?", "a": 1},
                {"type": "image_url", "image_url": {"url": "https://example.org/i.png", "detail": "low"}},
            ]}],
            "tools": [{"type": "function", "b": 1, "function": {"name": "f", "c": 1}}],
            "web_search_options": {"d": 1}, "media_response": {"e": 1, "overrides": {"f": 1}},
        })));
        let message =
            ["name", "content[0].a", "content[1].url.detail"].map(|name| format!("messages[0].{name}"));
        let others = ["tools[0].b", "tools[0].function.c", "web_search_options.d"].map(str::to_owned);
        let media = ["media_response.e", "media_response.overrides.f"].map(str::to_owned);
        assert_eq!(lost, [&message[..], &others, &media].concat());
    }

    #[test]
    fn conversations_become_items() {
        let (request, lost) = convert(question(json!({"messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "What?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/i.png"}},
                {"type": "pdf_url", "pdf_url": "data:application/pdf;base64,AAAA"},
                {"type": "file_url", "file_url": "https://example.org/f", "file_name": "f"},
                {"type": "video_url", "video_url": "https://example.org/v"},
            ]},
            {"role": "assistant", "content": null, "tool_calls":
                [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "22"},
            {"role": "assistant", "content": "Sunny."},
        ]})));
        assert_eq!(
            request["input"],
            json!([
                {"type": "message", "role": "system", "content": "Be brief."},
                {"type": "message", "role": "user", "content": [
                    {"type": "input_text", "text": "What?"},
                    {"type": "input_image", "image_url": "https://example.org/i.png"},
                    {"type": "input_file", "file_data": "AAAA"},
                    {"type": "input_file", "file_url": "https://example.org/f", "filename": "f"},
                ]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "22"},
                {"type": "message", "role": "assistant", "content": "Sunny."},
            ])
        );
        assert_eq!(lost, ["messages[1].content[4]"]);
    }

    /// README.md has a row for every field and model.
    #[test]
    fn the_readme_has_all_fields() {
        let readme = include_str!("../../../README.md");
        let mut shape = Shape::default();
        chat::Request::describe(&mut shape);
        let models = ["sonar", "sonar-pro", "sonar-reasoning", "sonar-reasoning-pro", "sonar-deep-research"];
        for name in shape.objects[0].fields.iter().map(|(name, _)| *name).chain(models) {
            assert!(readme.contains(&format!("`{name}`")), "README.md has no `{name}`");
        }
    }
}
