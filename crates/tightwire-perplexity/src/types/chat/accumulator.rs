//! Combines the chunks of a stream into one completion.

use std::collections::BTreeMap;

use tightwire_json::Value;
use tightwire_json::partial::Parser;

use super::completion::{Choice, Completion, FinishReason};
use super::content::{Content, Part};
use super::message::{Delta, Message, Role};
use super::reasoning::ReasoningStep;
use super::tool::{FunctionCall, ToolCall};
use crate::types::partial::GrowingJson;
use crate::types::{Extra, ObjectKind};

/// Combines the chunks of a stream into one [`Completion`], for every stream mode.
///
/// Text, reasoning steps and fragments of tool calls are appended per choice. Some servers repeat the whole
/// message in every chunk or send it at the end; the longer of that text and the appended text is used. For
/// usage, citations, search results and images the last received value is used.
///
/// # Examples
///
/// ```
/// use tightwire_perplexity::types::chat::Accumulator;
///
/// let mut accumulator = Accumulator::new();
/// for chunk in [
///     r#"{"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]}"#,
///     r#"{"id": "c", "choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]}"#,
/// ] {
///     accumulator.push(&tightwire_json::from_str(chunk)?);
/// }
/// assert!(accumulator.is_finished());
/// assert_eq!(accumulator.finish().text(), Some("Hello"));
/// # Ok::<(), tightwire_json::Error>(())
/// ```
///
/// # Incomplete JSON
///
/// The arguments of tool calls and the content of a structured output are JSON text. `partial_arguments` and
/// `partial_content` parse what arrived since their last call, and return the value so far. Each byte is parsed once.
/// Malformed text of a model is an error of these methods only; the completion contains it as text.
/// `finish_arguments` and `finish_content` return the complete value, which `tightwire_json::from_value` converts to a
/// type without parsing the text again.
///
/// ```
/// use tightwire_perplexity::types::chat::Accumulator;
///
/// let mut accumulator = Accumulator::new();
/// let mut cities = Vec::new();
/// for arguments in [r#"{\"city\": \"Par"#, r#"is\", \"days\": 3}"#] {
///     let chunk = format!(
///         r#"{{"choices": [{{"delta": {{"tool_calls": [{{"index": 0, "function": {{"arguments": "{arguments}"}}}}]}}}}]}}"#
///     );
///     accumulator.push(&tightwire_json::from_str(&chunk)?);
///     let Some(parser) = accumulator.partial_arguments(0)? else { continue };
///     let city = parser.value().and_then(|value| value.get("city")?.as_str()).unwrap_or_default();
///     cities.push((city.to_owned(), parser.is_final("/city")));
/// }
/// assert_eq!(cities, [("Par".to_owned(), false), ("Paris".to_owned(), true)]);
/// let arguments = accumulator.finish_arguments(0)?.expect("the call exists");
/// assert_eq!(arguments["days"], 3);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accumulator {
    /// All fields except `choices`.
    completion: Completion,
    /// Choices by index; the server chooses the indexes.
    choices: BTreeMap<u32, Slot>,
    is_finished: bool,
}

impl Accumulator {
    /// Creates an empty accumulator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a chunk.
    pub fn push(&mut self, chunk: &Completion) {
        let total = &mut self.completion;
        if total.id.is_empty() {
            total.id.clone_from(&chunk.id);
        }
        if total.model.is_empty() {
            total.model.clone_from(&chunk.model);
        }
        if total.created == 0 {
            total.created = chunk.created;
        }
        replace_list(&mut total.citations, &chunk.citations);
        replace_list(&mut total.search_results, &chunk.search_results);
        replace_list(&mut total.images, &chunk.images);
        replace_list(&mut total.related_questions, &chunk.related_questions);
        replace_list(&mut total.videos, &chunk.videos);
        replace(&mut total.status, &chunk.status);
        replace(&mut total.kind, &chunk.kind);
        replace(&mut total.usage, &chunk.usage);
        total.extra.merge(&chunk.extra);
        self.is_finished |= chunk.is_last();
        for choice in &chunk.choices {
            self.choices.entry(choice.index).or_default().push(choice);
        }
    }

    /// Returns the text of the first choice received so far.
    pub fn text(&self) -> &str {
        self.choices.values().next().map_or("", Slot::text)
    }

    /// Returns the tool calls of the first choice received so far. The text of the last arguments may be incomplete.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.choices.values().next().map_or(&[], |slot| tool_calls(slot.message.as_ref(), &slot.calls))
    }

    /// Parses the text of the first choice that has been received so far as JSON, for structured output. Returns the
    /// parser, which has the partial value. `None` if there is no choice yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not the beginning of a JSON document within the default limits. The text remains
    /// available from [`text`](Self::text).
    pub fn partial_content(&mut self) -> tightwire_json::Result<Option<&Parser>> {
        let Some((text, parser)) = self.first().map(Slot::content) else { return Ok(None) };
        parser.update(text).map(Some)
    }

    /// Returns the value of the text of the first choice, which must be a complete JSON document. Continues after the
    /// part that [`partial_content`](Self::partial_content) has parsed. `None` if there is no choice.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a complete JSON document within the default limits.
    pub fn finish_content(&mut self) -> tightwire_json::Result<Option<Value>> {
        let Some((text, parser)) = self.first().map(Slot::content) else { return Ok(None) };
        parser.finish(text).map(Some)
    }

    /// Parses the arguments of a tool call of the first choice that have been received so far. Returns the parser, which
    /// has the partial value. `call` is the position in [`tool_calls`](Self::tool_calls). `None` if there is no such call yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments are not the beginning of a JSON document within the default limits. Their text
    /// remains part of the completion.
    pub fn partial_arguments(&mut self, call: usize) -> tightwire_json::Result<Option<&Parser>> {
        let Some((text, parser)) = self.first().and_then(|slot| slot.arguments(call)) else {
            return Ok(None);
        };
        parser.update(text).map(Some)
    }

    /// Returns the complete arguments of a tool call of the first choice. Continues after the part that
    /// [`partial_arguments`](Self::partial_arguments) has parsed. Like [`FunctionCall::parse`], returns an empty object
    /// if the arguments are missing or empty. `None` if there is no such call.
    ///
    /// # Errors
    ///
    /// Returns an error if the arguments are not a complete JSON document within the default limits.
    pub fn finish_arguments(&mut self, call: usize) -> tightwire_json::Result<Option<Value>> {
        let Some((text, parser)) = self.first().and_then(|slot| slot.arguments(call)) else {
            return Ok(None);
        };
        parser.finish(if text.is_empty() { "{}" } else { text }).map(Some)
    }

    fn first(&mut self) -> Option<&mut Slot> {
        self.choices.values_mut().next()
    }

    /// Returns whether the stream is complete: a chunk was marked as the last one, or a choice has a finish
    /// reason. If the stream ends while this is `false`, the completion is truncated.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the completion received so far. The `delta` of its choices is `None`.
    pub fn finish(self) -> Completion {
        let choices = self.choices.into_iter().map(|(index, slot)| slot.finish(index)).collect();
        Completion { choices, object: Some(ObjectKind::Completion), ..self.completion }
    }
}

impl<'a> Extend<&'a Completion> for Accumulator {
    fn extend<I: IntoIterator<Item = &'a Completion>>(&mut self, parts: I) {
        for chunk in parts {
            self.push(chunk);
        }
    }
}

fn replace<T: Clone>(total: &mut Option<T>, chunk: &Option<T>) {
    if chunk.is_some() {
        total.clone_from(chunk);
    }
}

/// Replaces a list, unless the new one is empty.
fn replace_list<T: Clone>(total: &mut Option<Vec<T>>, chunk: &Option<Vec<T>>) {
    if chunk.as_ref().is_some_and(|chunk| total.is_none() || !chunk.is_empty()) {
        total.clone_from(chunk);
    }
}

/// State of one choice.
#[derive(Debug, Clone, Default, PartialEq)]
struct Slot {
    role: Option<Role>,
    tool_call_id: Option<String>,
    /// Concatenated text of the deltas.
    appended: String,
    parts: Vec<Part>,
    steps: Vec<ReasoningStep>,
    calls: Calls,
    /// Last complete message.
    message: Option<Message>,
    finish_reason: Option<FinishReason>,
    choice_extra: Extra,
    delta_extra: Extra,
    content_json: GrowingJson,
    /// By position of the tool call.
    arguments_json: Vec<GrowingJson>,
}

impl Slot {
    fn push(&mut self, choice: &Choice) {
        replace(&mut self.finish_reason, &choice.finish_reason);
        self.choice_extra.merge(&choice.extra);
        if let Some(message) = &choice.message {
            self.push_message(message);
        }
        if let Some(delta) = &choice.delta {
            self.push_delta(delta);
        }
    }

    /// Merges a complete message, without losing fields of an earlier one.
    fn push_message(&mut self, message: &Message) {
        if message.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty()) {
            self.arguments_json.clear();
        }
        let replaced = self.message.as_ref().map_or(0, |total| len(&total.content));
        if len(&message.content) >= replaced {
            let new = longer(Some(message), &self.appended);
            self.content_json.replace(longer(self.message.as_ref(), &self.appended), new);
        }
        let Some(total) = &mut self.message else {
            self.message = Some(message.clone());
            return;
        };
        if message.role != "" {
            total.role.clone_from(&message.role);
        }
        if len(&message.content) >= len(&total.content) {
            total.content.clone_from(&message.content);
        }
        replace(&mut total.tool_call_id, &message.tool_call_id);
        replace_list(&mut total.reasoning_steps, &message.reasoning_steps);
        replace_list(&mut total.tool_calls, &message.tool_calls);
        total.extra.merge(&message.extra);
    }

    fn push_delta(&mut self, delta: &Delta) {
        if self.role.as_ref().is_none_or(|role| *role == "") {
            replace(&mut self.role, &delta.role);
        }
        replace(&mut self.tool_call_id, &delta.tool_call_id);
        match &delta.content {
            Some(Content::Text(text)) => {
                let total = self.message.as_ref().and_then(Message::text).unwrap_or_default();
                let was_shorter = self.appended.len() <= total.len();
                self.appended.push_str(text);
                if was_shorter {
                    self.content_json.replace(total, longer(self.message.as_ref(), &self.appended));
                }
            }
            Some(Content::Parts(parts)) => self.parts.extend_from_slice(parts),
            Some(Content::Unknown(_)) | None => {}
        }
        self.steps.extend_from_slice(delta.reasoning_steps.as_deref().unwrap_or_default());
        for fragment in delta.tool_calls.iter().flatten() {
            self.calls.push(fragment);
        }
        self.delta_extra.merge(&delta.extra);
    }

    fn text(&self) -> &str {
        longer(self.message.as_ref(), &self.appended)
    }

    /// Returns the text and its parser.
    fn content(&mut self) -> (&str, &mut GrowingJson) {
        (longer(self.message.as_ref(), &self.appended), &mut self.content_json)
    }

    /// Returns the arguments of the tool call at a position, and their parser.
    fn arguments(&mut self, call: usize) -> Option<(&str, &mut GrowingJson)> {
        let function = tool_calls(self.message.as_ref(), &self.calls).get(call)?.function.as_ref();
        let text = function.and_then(|function| function.arguments.as_deref()).unwrap_or_default();
        if self.arguments_json.len() <= call {
            self.arguments_json.resize_with(call + 1, GrowingJson::default);
        }
        Some((text, &mut self.arguments_json[call]))
    }

    fn finish(self, index: u32) -> Choice {
        let mut message = self.message.unwrap_or_default();
        if message.role == "" {
            message.role = self.role.unwrap_or(Role::Assistant);
        }
        if message.tool_call_id.is_none() {
            message.tool_call_id = self.tool_call_id;
        }
        let is_text = matches!(message.content, None | Some(Content::Text(_)));
        if is_text && !self.parts.is_empty() {
            let mut parts = self.parts;
            if !self.appended.is_empty() {
                parts.insert(0, Part::text(self.appended));
            }
            message.content = Some(Content::Parts(parts));
        } else if is_text && (message.content.is_none() || self.appended.len() > len(&message.content)) {
            let has_text = !self.appended.is_empty() || self.calls.list.is_empty();
            message.content = has_text.then_some(Content::Text(self.appended));
        }
        if message.reasoning_steps.as_ref().is_none_or(|steps| steps.len() < self.steps.len()) {
            message.reasoning_steps = Some(self.steps).filter(|steps| !steps.is_empty());
        }
        if message.tool_calls.as_ref().is_none_or(Vec::is_empty) {
            message.tool_calls = Some(self.calls.list).filter(|calls| !calls.is_empty());
        }
        message.extra.merge(&self.delta_extra);
        let message = Some(message);
        Choice { delta: None, index, message, finish_reason: self.finish_reason, extra: self.choice_extra }
    }
}

/// Function calls, reassembled from fragments.
#[derive(Debug, Clone, Default, PartialEq)]
struct Calls {
    list: Vec<ToolCall>,
    /// Positions in `list`, so that finding the call of a fragment does not take linear time.
    by_index: BTreeMap<u32, usize>,
    by_id: BTreeMap<String, usize>,
}

impl Calls {
    /// Adds a fragment to the call with its index, else to the call with its id, or, without an id, to the
    /// last call.
    fn push(&mut self, fragment: &ToolCall) {
        let id = fragment.id.as_deref().filter(|id| !id.is_empty());
        let position = match (fragment.index, id) {
            (Some(index), _) => self.by_index.get(&index).copied(),
            (None, Some(id)) => self.by_id.get(id).copied(),
            (None, None) => self.list.len().checked_sub(1),
        };
        let position = position.unwrap_or(self.list.len());
        if let Some(index) = fragment.index {
            self.by_index.entry(index).or_insert(position);
        }
        if let Some(id) = id {
            self.by_id.entry(id.to_owned()).or_insert(position);
        }
        let Some(call) = self.list.get_mut(position) else {
            self.list.push(fragment.clone());
            return;
        };
        if call.id.as_ref().is_none_or(String::is_empty) {
            replace(&mut call.id, &fragment.id);
        }
        replace(&mut call.kind, &fragment.kind);
        call.extra.merge(&fragment.extra);
        if let Some(fragment) = &fragment.function {
            append_call(call.function.get_or_insert_default(), fragment);
        }
    }
}

/// Appends a fragment's arguments. Servers send the function name whole, and may repeat it.
fn append_call(call: &mut FunctionCall, fragment: &FunctionCall) {
    if let Some(arguments) = &fragment.arguments {
        call.arguments.get_or_insert_default().push_str(arguments);
    }
    if call.name.as_ref().is_none_or(String::is_empty) {
        replace(&mut call.name, &fragment.name);
    }
    call.extra.merge(&fragment.extra);
}

/// Returns the calls of the complete message, else those reassembled from fragments.
fn tool_calls<'a>(message: Option<&'a Message>, fragments: &'a Calls) -> &'a [ToolCall] {
    let complete = message.and_then(|message| message.tool_calls.as_deref());
    complete.filter(|calls| !calls.is_empty()).unwrap_or(&fragments.list)
}

/// Returns the longer of the complete message's text and the appended text.
fn longer<'a>(message: Option<&'a Message>, appended: &'a str) -> &'a str {
    let total = message.and_then(Message::text).unwrap_or_default();
    if total.len() >= appended.len() { total } else { appended }
}

/// Returns the text length, or the number of parts.
fn len(content: &Option<Content>) -> usize {
    match content {
        Some(Content::Text(text)) => text.len(),
        Some(Content::Parts(parts)) => parts.len(),
        Some(Content::Unknown(_)) | None => 0,
    }
}

#[cfg(test)]
mod tests {
    use tightwire_json::ErrorDetails as _;

    use super::*;

    fn accumulate(parts: &[&str]) -> Completion {
        let mut accumulator = Accumulator::new();
        for chunk in parts {
            accumulator.push(&tightwire_json::from_str(chunk).unwrap());
        }
        let text = accumulator.text().to_owned();
        let completion = accumulator.finish();
        assert_eq!(completion.text().unwrap_or_default(), text);
        completion
    }

    #[test]
    fn the_role_comes_once_and_texts_are_appended() {
        let completion = accumulate(&[
            r#"{"id": "a", "created": 7, "model": "m",
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": "x"}}]}"#,
            r#"{"id": "a", "choices": [{"index": 0, "delta": {"content": "y"}}]}"#,
            r#"{"choices": []}"#,
        ]);
        assert_eq!((&*completion.id, completion.created, &*completion.model), ("a", 7, "m"));
        assert_eq!(completion.message(), Some(&Message::assistant("xy")));
        assert_eq!(completion.object, Some(ObjectKind::Completion));
    }

    #[test]
    fn the_last_metadata_remain() {
        let completion = accumulate(&[
            r#"{"choices": [], "usage": {"prompt_tokens": 1}, "citations": ["a"], "images": [{"width": 1}]}"#,
            r#"{"choices": [], "usage": {"prompt_tokens": 2}, "citations": ["a", "b"], "search_results": []}"#,
            r#"{"choices": [], "usage": null, "citations": [], "images": null}"#,
        ]);
        assert_eq!(completion.usage.unwrap().prompt_tokens, 2);
        assert_eq!(completion.citations.unwrap(), ["a", "b"]);
        assert_eq!(completion.images.unwrap().len(), 1);
        assert_eq!(completion.search_results, Some(Vec::new()));
    }

    #[test]
    fn fragments_of_calls_are_joined() {
        let completion = accumulate(&[
            r#"{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "type": "function",
                "function": {"name": "f", "arguments": "{\"x\""}}]}}]}"#,
            r#"{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "id": "b",
                "function": {"name": "g"}}]}}]}"#,
            r#"{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
                "finish_reason": "tool_calls"}]}"#,
        ]);
        let message = completion.message().unwrap();
        assert_eq!(message.content, None);
        let calls = message.tool_calls.as_ref().unwrap();
        assert_eq!(calls.len(), 2);
        let function = calls[0].function.as_ref().unwrap();
        assert_eq!((function.name.as_deref(), function.arguments.as_deref()), (Some("f"), Some("{\"x\":1}")));
        assert_eq!(completion.choices[0].finish_reason.as_ref().unwrap(), &"tool_calls");
    }

    #[test]
    fn fragments_without_index_continue_the_last_call() {
        let completion = accumulate(&[
            r#"{"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "1"}}]}}]}"#,
            r#"{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "2"}}]}}]}"#,
            r#"{"choices": [{"delta": {"tool_calls": [{"id": "b", "function": {"name": "g", "arguments": "3"}}]}}]}"#,
        ]);
        let calls = completion.message().unwrap().tool_calls.clone().unwrap();
        let arguments =
            calls.iter().map(|call| call.function.as_ref().unwrap().arguments.as_deref().unwrap());
        assert_eq!(arguments.collect::<Vec<_>>(), ["12", "3"]);
    }

    #[test]
    fn choices_are_told_apart_by_their_index() {
        let completion = accumulate(&[
            r#"{"choices": [{"index": 0, "delta": {"content": "a"}},
                {"index": 4000000000, "delta": {"content": "b"}}]}"#,
            r#"{"choices": [{"index": 4000000000, "delta": {"content": "c"}}]}"#,
        ]);
        assert_eq!(completion.choices.len(), 2);
        assert_eq!(completion.choices[1].message.as_ref().unwrap().text(), Some("bc"));
    }

    #[test]
    fn concise_streams_end_with_the_whole_message() {
        let parts = [
            r#"{"object": "chat.reasoning", "choices": [{"delta": {"reasoning_steps": [{"thought": "t"}]}}]}"#,
            r#"{"object": "chat.reasoning.done", "choices": [{"message": {"role": "assistant",
                "reasoning_steps": [{"thought": "t"}, {"thought": "u"}]}}]}"#,
            r#"{"object": "chat.completion.chunk", "choices": [{"delta": {"content": "Hi"}}]}"#,
            r#"{"object": "chat.completion.done", "choices": [{"message": {"role": "assistant", "content": "Hi!"}}]}"#,
        ];
        let completion = accumulate(&parts);
        let message = completion.message().unwrap();
        assert_eq!(message.text(), Some("Hi!"));
        assert_eq!(message.reasoning_steps.as_ref().unwrap().len(), 2);

        let mut accumulator = Accumulator::new();
        accumulator.push(&tightwire_json::from_str(parts[0]).unwrap());
        assert!(!accumulator.is_finished());
        accumulator.push(&tightwire_json::from_str(parts[3]).unwrap());
        assert!(accumulator.is_finished());
    }

    fn push(accumulator: &mut Accumulator, choice: &str) {
        accumulator.push(&tightwire_json::from_str(&format!(r#"{{"choices": [{choice}]}}"#)).unwrap());
    }

    fn argument_delta(index: usize, arguments: &str) -> String {
        let arguments = tightwire_json::to_string(arguments).unwrap();
        format!(
            r#"{{"delta": {{"tool_calls": [{{"index": {index}, "function": {{"arguments": {arguments}}}}}]}}}}"#
        )
    }

    #[test]
    fn arguments_are_decoded_while_they_arrive() {
        let mut accumulator = Accumulator::new();
        assert!(accumulator.partial_arguments(0).unwrap().is_none());
        let arguments = r#"{"city": "S\u00e3o Paulo", "days": [1, 2]}"#;
        for at in 0..arguments.len() {
            push(&mut accumulator, &argument_delta(0, &arguments[at..=at]));
            push(&mut accumulator, &argument_delta(1, if at == 0 { "{'" } else { "x" }));
            let parser = accumulator.partial_arguments(0).unwrap().unwrap();
            assert_eq!(parser.is_complete(), at + 1 == arguments.len());
            if let Some(city) = parser.value().and_then(|value| value.get("city")?.as_str()) {
                assert!("S\u{e3}o Paulo".starts_with(city));
            }
            // The parser of the second call has failed, which has no effect on the first.
            assert_eq!(accumulator.partial_arguments(1).unwrap_err().offset(), Some(1));
        }
        let expected: Value = tightwire_json::from_str(arguments).unwrap();
        assert_eq!(accumulator.clone().finish_arguments(0).unwrap(), Some(expected));
        assert!(accumulator.finish_arguments(1).unwrap_err().is_syntax());
        assert!(accumulator.finish_arguments(2).unwrap().is_none());
        let completion = accumulator.finish();
        let calls = completion.message().unwrap().tool_calls.clone().unwrap();
        assert!(calls[1].function.as_ref().unwrap().arguments.as_ref().unwrap().starts_with("{'xx"));
    }

    #[test]
    fn empty_arguments_are_an_empty_object() {
        let mut accumulator = Accumulator::new();
        push(&mut accumulator, r#"{"delta": {"tool_calls": [{"id": "a", "function": {"name": "f"}}]}}"#);
        assert_eq!(accumulator.partial_arguments(0).unwrap().unwrap().value(), None);
        assert_eq!(accumulator.finish_arguments(0).unwrap(), Some(tightwire_json::from_str("{}").unwrap()));
    }

    #[test]
    fn the_calls_of_a_complete_message_replace_fragments() {
        let mut accumulator = Accumulator::new();
        push(&mut accumulator, &argument_delta(0, "[1,"));
        assert!(!accumulator.partial_arguments(0).unwrap().unwrap().is_complete());
        push(&mut accumulator, r#"{"message": {"tool_calls": [{"function": {"arguments": "{}"}}]}}"#);
        assert!(accumulator.partial_arguments(0).unwrap().unwrap().is_complete());
    }

    /// The value of the content is that of the text, whatever replaces it.
    #[test]
    fn structured_output_is_decoded_while_it_arrives() {
        let delta = |text: &str| {
            format!(r#"{{"delta": {{"content": {}}}}}"#, tightwire_json::to_string(text).unwrap())
        };
        let message = |text: &str| {
            format!(r#"{{"message": {{"content": {}}}}}"#, tightwire_json::to_string(text).unwrap())
        };
        let parts =
            r#"{"message": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}}"#;
        let cases: [&[String]; 6] = [
            &[delta("[1, "), delta("\"a"), delta("b\"]")],
            &[delta("[1, "), message("[1, \"a"), delta("\"a"), message("[1, \"ab\"]")],
            &[delta("[1, \"a"), message("[2, \"ab\"]")],
            &[message("[3, \"a"), delta("[1, \"abc"), delta("\"]"), message("[4]")],
            &[message("[5, 6]"), message("[7")],
            &[message("7"), delta("\""), parts.to_owned(), delta("ab\"")],
        ];
        for case in cases {
            let mut accumulator = Accumulator::new();
            assert!(accumulator.partial_content().unwrap().is_none());
            for choice in case {
                push(&mut accumulator, choice);
                let mut parser = Parser::new();
                parser.push(accumulator.text()).unwrap();
                let actual = accumulator.partial_content().unwrap().unwrap();
                assert_eq!(actual.value(), parser.value(), "{case:?}");
                assert_eq!(actual.incomplete(), parser.incomplete(), "{case:?}");
            }
            let expected: Value = tightwire_json::from_str(accumulator.text()).unwrap();
            assert_eq!(accumulator.finish_content().unwrap(), Some(expected), "{case:?}");
        }
    }
}
