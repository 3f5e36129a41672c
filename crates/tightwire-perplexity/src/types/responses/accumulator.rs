//! Combines the events of a stream into one response.

use std::collections::BTreeMap;

use tightwire_json::Value;
use tightwire_json::partial::Parser;

use super::common::{Role, Status};
use super::event::Event;
use super::output::{OutputContent, OutputItem, OutputMessage, OutputText};
use super::response::{Response, Usage};
use super::tool::is_reserved;
use crate::types::partial::GrowingJson;

/// Combines the events of a stream into one [`Response`].
///
/// The result is the response of the last event that contains one. Items and texts that it lacks, as in a truncated
/// stream, are those of the item and text events.
///
/// # Examples
///
/// ```
/// use tightwire_perplexity::types::responses::Accumulator;
///
/// let mut accumulator = Accumulator::new();
/// for event in [
///     r#"{"type": "response.created", "sequence_number": 0, "response": {"id": "r", "status": "in_progress"}}"#,
///     r#"{"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m", "delta": "Hel"}"#,
///     r#"{"type": "response.output_text.delta", "sequence_number": 2, "item_id": "m", "delta": "lo"}"#,
/// ] {
///     accumulator.push(&tightwire_json::from_str(event)?);
/// }
/// // The connection is lost: a resumed stream starts after event 2.
/// assert_eq!(accumulator.last_sequence_number(), Some(2));
/// assert!(!accumulator.is_finished());
/// assert_eq!(accumulator.finish().output_text(), "Hello");
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Accumulator {
    /// Last complete response.
    response: Response,
    /// Output items by index; the server chooses the indexes.
    items: BTreeMap<u32, OutputItem>,
    texts: BTreeMap<(u32, u32), Text>,
    usage: Option<Usage>,
    last_sequence_number: Option<u64>,
    is_finished: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Text {
    item_id: String,
    text: String,
    json: GrowingJson,
}

impl Accumulator {
    /// Creates an empty accumulator.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event.
    pub fn push(&mut self, event: &Event) {
        self.last_sequence_number = event.sequence_number().or(self.last_sequence_number);
        self.is_finished |= event.is_final();
        match event {
            Event::Created(_) | Event::InProgress(_) => self.push_response(event.response()),
            Event::Completed(_) => self.push_end(event, Status::Completed),
            Event::Incomplete(_) => self.push_end(event, Status::Incomplete),
            Event::Cancelled(_) => self.push_end(event, Status::Cancelled),
            Event::Failed(_) => self.push_end(event, Status::Failed),
            Event::Unknown(_) => self.push_response(event.unknown_end().as_ref()),
            // A repeated beginning does not replace the item.
            Event::OutputItemAdded(event) => {
                self.items.entry(event.output_index).or_insert_with(|| event.item.clone());
            }
            Event::OutputItemDone(event) => {
                self.items.insert(event.output_index, event.item.clone());
            }
            Event::OutputTextDelta(event) => {
                self.text(event.output_index, event.content_index, &event.item_id)
                    .text
                    .push_str(&event.delta);
            }
            Event::OutputTextDone(event) => {
                let text = self.text(event.output_index, event.content_index, &event.item_id);
                // `null` stands for the text of the deltas.
                if !event.text.is_empty() {
                    text.json.replace(&text.text, &event.text);
                    text.text.clone_from(&event.text);
                }
            }
            Event::SearchResults(event) => self.push_usage(event.usage.as_ref()),
            Event::ImageSearchResults(event) => self.push_usage(event.usage.as_ref()),
            Event::FinanceSearchResults(event) => self.push_usage(event.usage.as_ref()),
            _ => {}
        }
    }

    /// Returns the text of all messages received so far.
    pub fn output_text(&self) -> String {
        self.clone().finish().output_text()
    }

    /// Parses the text of the first content part, as received in text events, as JSON and returns the parser with the
    /// value so far. For structured output. Each byte is parsed once. `None` if there is no text yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not the beginning of a JSON document within the default limits. The text remains
    /// available from [`output_text`](Self::output_text).
    pub fn partial_output(&mut self) -> tightwire_json::Result<Option<&Parser>> {
        let Some(Text { text, json, .. }) = self.texts.values_mut().next() else { return Ok(None) };
        json.update(text).map(Some)
    }

    /// Returns the value of the text of the first content part, as received in text events, which must be a complete
    /// JSON document. Continues after the part that [`partial_output`](Self::partial_output) has parsed. `None` if
    /// there is no text.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a complete JSON document within the default limits.
    pub fn finish_output(&mut self) -> tightwire_json::Result<Option<Value>> {
        let Some(Text { text, json, .. }) = self.texts.values_mut().next() else { return Ok(None) };
        json.finish(text).map(Some)
    }

    /// Returns the sequence number of the last event. A stream can be resumed after it.
    pub fn last_sequence_number(&self) -> Option<u64> {
        self.last_sequence_number
    }

    /// Returns whether the final event was received. If the stream ends while this is `false`, the response
    /// is truncated.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the response received so far.
    pub fn finish(self) -> Response {
        let Self { mut response, items, texts, usage, .. } = self;
        if response.usage.is_none() {
            response.usage = usage;
        }
        if response.output.is_empty() {
            response.output = merged(items, &texts);
            return response;
        }
        let output = &mut response.output;
        for (index, item) in items {
            match item {
                OutputItem::Message(message) => add_message(output, (index, 0), message, String::new()),
                OutputItem::FunctionCall(call) => {
                    let is_same = |item: &OutputItem| match item {
                        OutputItem::FunctionCall(it) => it.call_id == call.call_id && it.name == call.name,
                        _ => false,
                    };
                    if !is_reserved(&call.name) && !output.iter().any(is_same) {
                        output.push(OutputItem::FunctionCall(call));
                    }
                }
                // Most other items have no identifier.
                item if output.iter().all(|it| it.tag() != item.tag()) => output.push(item),
                _ => {}
            }
        }
        for (&place, text) in &texts {
            let content =
                vec![OutputContent::Text(OutputText { text: text.text.clone(), ..OutputText::default() })];
            let (id, role) = (text.item_id.clone(), Role::Assistant);
            let message = OutputMessage { id, role, content, ..OutputMessage::default() };
            add_message(output, place, message, text_before(&texts, place));
        }
        response
    }

    /// Adds the last event of a stream. The event decides if it has no response with a status.
    fn push_end(&mut self, event: &Event, status: Status) {
        self.push_response(event.response());
        let is_running =
            matches!(self.response.status, Status::Queued | Status::InProgress | Status::Cancelling);
        if is_running || self.response.status.as_str().is_empty() {
            self.response.status = status;
        }
        if let Some(error) = event.error() {
            self.response.error = Some(error.clone());
        }
    }

    fn push_response(&mut self, response: Option<&Response>) {
        if let Some(response) = response {
            let known = std::mem::replace(&mut self.response, response.clone());
            let own = &mut self.response;
            for (text, known) in [(&mut own.id, known.id), (&mut own.model, known.model)] {
                if text.is_empty() {
                    *text = known;
                }
            }
        }
    }

    fn push_usage(&mut self, usage: Option<&Usage>) {
        if usage.is_some() {
            self.usage = usage.cloned();
        }
    }

    fn text(&mut self, output_index: u32, content_index: u32, item_id: &str) -> &mut Text {
        let text = self.texts.entry((output_index, content_index)).or_default();
        if text.item_id.is_empty() {
            item_id.clone_into(&mut text.item_id);
        }
        text
    }
}

/// Returns the items with their texts. Texts without a message at their index become one, also beside another item.
fn merged(items: BTreeMap<u32, OutputItem>, texts: &BTreeMap<(u32, u32), Text>) -> Vec<OutputItem> {
    let mut items: BTreeMap<_, _> = items.into_iter().map(|(index, item)| ((index, false), item)).collect();
    for (&(output_index, content_index), text) in texts {
        let message = || OutputMessage {
            id: text.item_id.clone(),
            role: Role::Assistant,
            status: Status::InProgress,
            ..OutputMessage::default()
        };
        let is_other =
            items.get(&(output_index, false)).is_some_and(|item| !matches!(item, OutputItem::Message(_)));
        let item = items.entry((output_index, is_other)).or_insert_with(|| OutputItem::Message(message()));
        if let OutputItem::Message(message) = item {
            let so_far = text_before(texts, (output_index, content_index)) + &text.text;
            set_text(message, content_index, &text.text, &so_far);
        }
    }
    items.into_values().collect()
}

/// Returns the text of the parts of a message before this one.
fn text_before(texts: &BTreeMap<(u32, u32), Text>, (index, part): (u32, u32)) -> String {
    texts.range((index, 0)..(index, part)).map(|(_, text)| &*text.text).collect()
}

/// Adds the texts of a message that was received, from this part on, to that of the last response, in which a part or an
/// end may be missing: the one with its identifier, at its index if one of them has none, or with the same beginning.
/// Without any, the whole message is added. `so_far` is the text of the parts before.
fn add_message(
    output: &mut Vec<OutputItem>,
    (index, first_part): (u32, u32),
    received: OutputMessage,
    mut so_far: String,
) {
    let first = received.texts().next().unwrap_or_default();
    let position = |is_same: &dyn Fn(&OutputMessage) -> bool| {
        output.iter().position(|item| matches!(item, OutputItem::Message(it) if is_same(it)))
    };
    let has_no_id = |item: &OutputItem| match item {
        OutputItem::Message(message) => message.id.is_empty() || received.id.is_empty(),
        _ => false,
    };
    let index = index as usize;
    let found = position(&|it| it.id == received.id && !it.id.is_empty())
        .or_else(|| output.get(index).is_some_and(has_no_id).then_some(index))
        .or_else(|| position(&|it| it.texts().any(|text| !text.is_empty() && first.starts_with(text))));
    if let Some(OutputItem::Message(message)) = found.and_then(|found| output.get_mut(found)) {
        for (part, text) in (first_part..=u32::MAX).zip(received.texts()) {
            so_far.push_str(text);
            set_text(message, part, text, &so_far);
        }
        return;
    }
    let is_known = |text: &str| output.iter().flat_map(OutputItem::texts).any(|known| known.contains(text));
    if !received.texts().all(is_known) {
        output.push(OutputItem::Message(received));
    }
}

/// Completes the text of a content part, unless the message has it in other parts: `so_far` is the text up to its end. A
/// text that does not begin with that of the part is another version of it.
fn set_text(message: &mut OutputMessage, content_index: u32, text: &str, so_far: &str) {
    let known: String = message.texts().collect();
    let is_same = known.contains(so_far.strip_suffix(text).unwrap_or(so_far));
    let is_known = known.contains(if is_same { so_far } else { text });
    match message.content.get_mut(content_index as usize) {
        _ if is_known => {}
        Some(OutputContent::Text(part)) if text.starts_with(&part.text) => text.clone_into(&mut part.text),
        None => {
            let part = OutputText { text: text.to_owned(), ..OutputText::default() };
            message.content.push(OutputContent::Text(part));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accumulate(events: &[&str]) -> Accumulator {
        let mut accumulator = Accumulator::new();
        for event in events {
            accumulator.push(&tightwire_json::from_str(event).unwrap());
        }
        accumulator
    }

    const DELTA: &str = r#"{"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m",
        "output_index": 4000000000, "content_index": 4000000000, "delta": "Hi"}"#;

    #[test]
    fn a_stream_that_is_cut_off_leaves_its_items() {
        let accumulator = accumulate(&[
            r#"{"type": "response.output_item.added", "sequence_number": 0, "output_index": 0,
                "item": {"type": "search_results", "results": [{"id": 1}]}}"#,
            DELTA,
            r#"{"type": "response.of_the_future"}"#,
        ]);
        assert_eq!(accumulator.last_sequence_number(), Some(1));
        let response = accumulator.finish();
        assert_eq!(response.output.len(), 2);
        assert_eq!(response.output_text(), "Hi");
    }

    #[test]
    fn the_last_index_is_an_index_like_others() {
        let delta = DELTA.replace("4000000000", &u32::MAX.to_string());
        let last =
            r#"{"type": "response.completed", "response": {"output": [{"type": "message", "id": "m"}]}}"#;
        assert_eq!(accumulate(&[&delta, last]).finish().output_text(), "Hi");
    }

    #[test]
    fn texts_are_not_lost_among_others() {
        let delta = |part: u32, text: &str| {
            format!(
                r#"{{"type": "response.output_text.delta", "item_id": "m", "content_index": {part}, "delta": "{text}"}}"#
            )
        };
        let item =
            |kind: &str, item: &str| format!(r#"{{"type": "response.output_item.{kind}", "item": {item}}}"#);
        let message = |texts: &[&str]| {
            let part = |text: &&str| format!(r#"{{"type": "output_text", "text": "{text}"}}"#);
            let parts: Vec<_> = texts.iter().map(part).collect();
            format!(r#"{{"type": "message", "id": "m", "content": [{}]}}"#, parts.join(","))
        };
        let last = |item: &str| {
            format!(
                r#"{{"type": "response.incomplete", "response": {{"status": "incomplete", "output": [{item}]}}}}"#
            )
        };
        let search = item("done", r#"{"type": "search_results", "results": []}"#);
        let (call, null) = (
            |name: &str| {
                let call = format!(r#"{{"type": "function_call", "name": "{name}"}}"#);
                format!(
                    r#"{{"type": "response.output_item.done", "output_index": {}, "item": {call}}}"#,
                    name.len()
                )
            },
            "null",
        );
        let two = [delta(0, "Yes, yes"), delta(1, "yes")];
        for (events, expected, calls) in [
            // A part that others contain.
            (vec![two[0].clone(), two[1].clone(), last("")], "Yes, yesyes", 0),
            (vec![item("added", &message(&[])), two[0].clone(), two[1].clone(), last("")], "Yes, yesyes", 0),
            (vec![two[0].clone(), two[1].clone(), last(&message(&["Yes, yes"]))], "Yes, yesyes", 0),
            (vec![two[0].clone(), two[1].clone(), last(&message(&["Yes", ", yesyes"]))], "Yes, yesyes", 0),
            (vec![two[0].clone(), two[1].clone(), last(&message(&["No, yes"]))], "No, yes", 0),
            // Another item at the same index.
            (vec![search.clone(), delta(0, "Hi"), last("")], "Hi", 0),
            (vec![delta(0, "Hi"), item("done", null), last("")], "Hi", 0),
            // A repeated beginning.
            (vec![item("done", &message(&["Hi"])), item("added", &message(&[])), last("")], "Hi", 0),
            // Calls without an identifier.
            (vec![call("f"), call("gg"), last(&message(&["Hi"]))], "Hi", 2),
        ] {
            let response = accumulate(&events.iter().map(String::as_str).collect::<Vec<_>>()).finish();
            assert_eq!(response.output_text(), expected, "{events:?}");
            assert_eq!(response.function_calls().count(), calls, "{events:?}");
        }
    }

    #[test]
    fn items_that_are_done_replace_deltas() {
        let response = accumulate(&[
            r#"{"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m", "delta": "Hi"}"#,
            r#"{"type": "response.output_text.done", "sequence_number": 2, "item_id": "m", "text": "Hi there"}"#,
            r#"{"type": "response.output_item.done", "sequence_number": 3, "item":
                {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi there"}]}}"#,
        ])
        .finish();
        assert_eq!(response.output_text(), "Hi there");
        assert_eq!(response.output.len(), 1);
    }

    #[test]
    fn the_last_event_does_not_lose_what_only_other_events_have() {
        let created =
            r#"{"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress"}}"#;
        let deltas = [(0, 0, "a", "Hello"), (0, 1, "a", "world"), (1, 0, "b", "more")].map(|(item, part, id, text)| {
            format!(r#"{{"type": "response.output_text.delta", "output_index": {item}, "content_index": {part}, "item_id": "{id}", "delta": "{text}"}}"#)
        });
        let message =
            |id: &str, texts: &str| format!(r#"{{"type": "message", "id": "{id}", "content": [{texts}]}}"#);
        let text = |text: &str| format!(r#"{{"type": "output_text", "text": "{text}"}}"#);
        for (output, expected) in [
            (format!("{},{}", message("a", &text("Hel")), message("b", "")), "Helloworldmore"),
            // The order and the division into parts may differ.
            (
                format!("{},{}", message("b", &text("more")), message("a", &text("Helloworld"))),
                "moreHelloworld",
            ),
            // Another version of the text is not completed.
            (
                format!("{},{}", message("a", &text("Hi")), message("b", &text("more and more"))),
                "Hiworldmore and more",
            ),
        ] {
            let last = format!(r#"{{"type": "response.completed", "response": {{"output": [{output}]}}}}"#);
            let events = [created].into_iter().chain(deltas.iter().map(String::as_str)).chain([&*last]);
            let accumulator = accumulate(&events.collect::<Vec<_>>());
            assert_eq!(accumulator.output_text(), expected);
            let response = accumulator.finish();
            assert_eq!((&*response.id, &*response.model, &response.status), ("r", "m", &Status::Completed));
            assert_eq!(response.output_text(), expected);
        }
        for (kind, status) in [
            ("completed", "completed"),
            ("incomplete", "incomplete"),
            ("cancelled", "cancelled"),
            ("failed", "failed"),
        ] {
            let last = [
                format!(r#"{{"type": "response.{kind}"}}"#),
                format!(r#"{{"type": "response.{kind}", "response": {{}}}}"#),
            ];
            for last in &last {
                assert_eq!(accumulate(&[created, last]).finish().status.as_str(), status);
            }
            let last = format!(r#"{{"type": "response.{kind}", "response": {{"status": "napping"}}}}"#);
            assert_eq!(accumulate(&[created, &last]).finish().status.as_str(), "napping");
        }
    }

    #[test]
    fn items_that_the_last_event_lacks_are_not_lost() {
        let done = |index: u32, item: &str| {
            format!(r#"{{"type": "response.output_item.done", "output_index": {index}, "item": {item}}}"#)
        };
        let message = |id: &str, text: &str| {
            format!(
                r#"{{"type": "message", "id": "{id}", "content": [{{"type": "output_text", "text": "{text}"}}]}}"#
            )
        };
        let call = |name: &str| {
            format!(
                r#"{{"type": "function_call", "call_id": "{name}", "name": "{name}", "arguments": "{{}}"}}"#
            )
        };
        let search = r#"{"type": "search_results", "results": [{"id": 1, "url": "u"}]}"#;
        for (output, text) in [
            (message("a", "Hello"), "Hellomore"),
            (message("b", "mo"), "moreHello"),
            (format!("{search},{}", message("b", "more")), "moreHello"),
            (format!("{search},{}", message("", "Hi")), "Himore"),
            (search.to_owned(), "Hellomore"),
            (format!("{},{}", call("weather"), message("x", "Hello, more")), "Hello, more"),
            // Another identifier and another index.
            (format!("{search},{search},{search},{search},{}", message("x", "Hel")), "Hellomore"),
        ] {
            let last = format!(r#"{{"type": "response.completed", "response": {{"output": [{output}]}}}}"#);
            let events = [
                done(0, search),
                done(1, &message("a", "Hello")),
                done(2, &message("b", "more")),
                done(3, &call("weather")),
                done(4, &call("search_web")),
                last,
            ];
            let response = accumulate(&events.each_ref().map(String::as_str)).finish();
            assert_eq!(response.output_text(), text, "{output}");
            assert_eq!((response.function_calls().count(), response.sources().len()), (1, 1), "{output}");
        }
    }

    #[test]
    fn failures_are_part_of_the_answer() {
        let accumulator = accumulate(&[
            r#"{"type": "response.created", "sequence_number": 0, "response": {"id": "r", "status": "in_progress"}}"#,
            r#"{"type": "response.failed", "sequence_number": 1, "error": {"message": "no", "code": 500}}"#,
        ]);
        assert!(accumulator.is_finished());
        let response = accumulator.finish();
        assert_eq!((&*response.id, &response.status), ("r", &Status::Failed));
        assert_eq!(response.error.unwrap().message, "no");
    }

    #[test]
    fn structured_output_is_decoded_while_it_arrives() {
        let mut accumulator = Accumulator::new();
        assert!(accumulator.partial_output().unwrap().is_none());
        let mut push = |event: &str| {
            accumulator.push(&tightwire_json::from_str(event).unwrap());
            let parser = accumulator.partial_output().unwrap().unwrap();
            (parser.value().cloned(), parser.is_complete())
        };
        let value = |text| Some(tightwire_json::from_str::<Value>(text).unwrap());
        let delta = |text| format!(r#"{{"type": "response.output_text.delta", "delta": "{text}"}}"#);
        assert_eq!(push(&delta("[1, ")), (value("[1]"), false));
        assert_eq!(push(&delta("[\\\"a")), (value(r#"[1, ["a"]]"#), false));
        assert_eq!(push(&delta("b\\\"]]")), (value(r#"[1, ["ab"]]"#), true));
        let done = r#"{"type": "response.output_text.done", "text": "[1, [\"ab\"]]"}"#;
        assert_eq!(push(done), (value(r#"[1, ["ab"]]"#), true));
        let other = r#"{"type": "response.output_text.done", "text": "[2]"}"#;
        assert_eq!(push(other), (value("[2]"), true));
        assert_eq!(accumulator.finish_output().unwrap(), value("[2]"));
    }
}
