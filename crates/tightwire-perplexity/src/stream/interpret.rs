//! Turns event stream bytes into items, without I/O.

use bytes::{Buf as _, Bytes};
use tightwire_json::Value;

use super::{Malformed, StreamItem};
use crate::error::{Error, Kind, is_failure, reports_error};
use crate::types::codec;

/// Default maximum event size, in bytes. Responses with reasoning and many results take some hundred
/// kilobytes.
pub(super) const DEFAULT_MAX_EVENT_SIZE: usize = 64 << 20;

/// Result of one decoding step.
#[derive(Debug)]
pub(super) enum Step<T> {
    Item(T),
    /// An event that could not be decoded; the stream continues.
    Skipped(Error),
    /// The stream failed.
    Failed(Error),
    /// The `[DONE]` event.
    Done,
    /// The chunk is used up.
    More,
}

/// Decodes the events of a stream and tracks its state.
#[derive(Debug)]
pub(super) struct Interpreter {
    decoder: tightwire_sse::Decoder,
    max_event_size: usize,
    pub(super) malformed: Malformed,
    /// Highest sequence number so far.
    pub(super) sequence: Option<u64>,
    /// Identifier of the response, once an item contained it.
    pub(super) response_id: Option<Box<str>>,
    /// The server has marked the response as complete, by `[DONE]` or a last item.
    pub(super) complete: bool,
}

impl Interpreter {
    pub(super) fn new() -> Self {
        Self {
            decoder: decoder(DEFAULT_MAX_EVENT_SIZE),
            max_event_size: DEFAULT_MAX_EVENT_SIZE,
            malformed: Malformed::End,
            sequence: None,
            response_id: None,
            complete: false,
        }
    }

    pub(super) fn set_max_event_size(&mut self, bytes: usize) {
        self.max_event_size = bytes;
        self.decoder = decoder(bytes);
    }

    /// Continues a stream whose connection was lost.
    pub(super) fn resume_from(&mut self, lost: &Self) {
        self.malformed = lost.malformed;
        self.set_max_event_size(lost.max_event_size);
        self.sequence = lost.sequence;
        self.response_id.clone_from(&lost.response_id);
    }

    pub(super) fn last_event_id(&self) -> &str {
        self.decoder.last_event_id()
    }

    /// Decodes the next event of `chunk`, which is advanced past it.
    pub(super) fn step<T: StreamItem>(&mut self, chunk: &mut Bytes) -> Step<T> {
        let mut rest: &[u8] = chunk;
        let step = loop {
            match self.decoder.next(&mut rest) {
                Ok(None) => break Step::<T>::More,
                Ok(Some(event)) => {
                    if let Some(step) = interpret(&event, self.malformed) {
                        break step;
                    }
                }
                Err(error) => {
                    break Step::Failed(Error::new(Kind::TooLarge(self.max_event_size)).with_source(error));
                }
            }
        };
        let used = chunk.len() - rest.len();
        chunk.advance(used);
        self.track(step)
    }

    /// Decodes a last event without its trailing empty line, which some servers omit, at the end of the body.
    ///
    /// An event that cannot be decoded was truncated and is dropped.
    pub(super) fn finish<T: StreamItem>(&mut self) -> Step<T> {
        let step = match self.decoder.finish_lenient() {
            Ok(event) => event.and_then(|event| interpret(&event, Malformed::Skip)).unwrap_or(Step::More),
            Err(error) => Step::Failed(Error::new(Kind::TooLarge(self.max_event_size)).with_source(error)),
        };
        self.track(if matches!(step, Step::Skipped(_)) { Step::More } else { step })
    }

    /// Records what an item says about the stream.
    fn track<T: StreamItem>(&mut self, step: Step<T>) -> Step<T> {
        match &step {
            Step::Item(item) => {
                self.complete |= item.is_last();
                self.sequence = self.sequence.max(item.sequence_number());
                if self.response_id.is_none() {
                    self.response_id = item.response_id().map(Into::into);
                }
            }
            Step::Done => self.complete |= T::ENDS_WITH_DONE,
            _ => {}
        }
        step
    }
}

fn decoder(max_event_size: usize) -> tightwire_sse::Decoder {
    tightwire_sse::Decoder::with_config(tightwire_sse::Config::new().max_event_size(max_event_size))
}

/// Returns `None` for events to ignore: keep-alives, and events without data.
fn interpret<T: StreamItem>(event: &tightwire_sse::EventRef<'_>, malformed: Malformed) -> Option<Step<T>> {
    let data = event.data();
    match event.event_type() {
        "ping" | "keepalive" => return None,
        "error" => return Some(Step::Failed(Error::stream(data))),
        _ if data.is_empty() => return None,
        _ if event.is_done() => return Some(Step::Done),
        _ if is_failure(data.as_bytes()) => return Some(Step::Failed(Error::stream(data))),
        _ => {}
    }
    Some(match codec().from_str::<T>(data) {
        Ok(item) if item.is_unexpected() && is_message(data) => Step::Failed(Error::stream(data)),
        Ok(item) => Step::Item(item),
        Err(_) if reports_error(data.as_bytes()) => Step::Failed(Error::stream(data)),
        Err(error) => {
            let error = Error::decode(Bytes::copy_from_slice(data.as_bytes()), error);
            match malformed {
                Malformed::End => Step::Failed(error),
                Malformed::Skip => Step::Skipped(error),
            }
        }
    })
}

/// Returns whether the data, which is no part of a response, is an error message without the name `error`.
fn is_message(data: &str) -> bool {
    codec().from_str::<Value>(data).is_ok_and(|value| {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_event = kind.starts_with("response.") && !matches!(kind, "response.failed" | "response.error");
        let is_text = |name| value.get(name).is_some_and(|value| value.is_string() || value.is_array());
        let is_object = |name| value.get(name).is_some_and(Value::is_object);
        !is_event && (["detail", "message", "errors", "msg"].into_iter().any(is_text) || is_object("detail"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the numbers `n` of the items, and the errors.
    fn items<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut interpreter = Interpreter::new();
        interpreter.malformed = Malformed::Skip;
        let mut items = Vec::new();
        for piece in pieces {
            let mut chunk = Bytes::copy_from_slice(piece);
            loop {
                match interpreter.step::<Value>(&mut chunk) {
                    Step::Item(item) => items.push(item["n"].to_string()),
                    Step::Skipped(error) => items.push(error.to_string()),
                    Step::Failed(error) => {
                        items.push(error.to_string());
                        return items;
                    }
                    Step::Done => return items,
                    Step::More => break,
                }
            }
        }
        if let Step::Item(item) = interpreter.finish::<Value>() {
            items.push(item["n"].to_string());
        }
        items
    }

    #[test]
    fn data_that_resembles_an_error() {
        for data in [
            "{\"n\":1,\"choices\":[],\"error\":null}",
            "{\"n\":1,\"type\":\"response.failed\",\"error\":{\"message\":\"x\"}}",
            "{\"n\":1,\"error\":null}",
            "{\"n\":1,\"list\":[\"error\"]}",
        ] {
            assert_eq!(items([format!("data: {data}\n\n").as_bytes()]), ["1"], "{data}");
        }
        assert_eq!(items([&b"event: x\ndata: {\"n\":1,\"error\":{}}\n\n"[..]]), ["1"]);
    }

    #[test]
    fn errors_in_a_stream_have_their_message() {
        use crate::types::{chat::Completion, responses::Event};

        for data in [
            r#"{"type":"error","error":{"message":"broken","code":500}}"#,
            r#"{"type":"error","code":"server_error","message":"broken","param":null,"sequence_number":2}"#,
            r#"{"id":"a","choices":[{"index":0,"finish_reason":"error"}],"error":{"message":"broken"}}"#,
            r#"{"object":"error","message":"broken","type":"InternalServerError","code":500}"#,
            r#"{"error":"broken"}"#,
            r#"{"error":{"message":"broken"}}"#,
            r#"{"error":{"message":"broken"},"response":{}}"#,
            r#"{"detail":"broken"}"#,
            r#"{"detail":[{"msg":"broken"}]}"#,
            r#"{"message":"broken"}"#,
            r#"{"error":["broken"]}"#,
            r#"{"error":{"error":{"message":"broken"}}}"#,
            r#"{"detail":{"message":"broken","code":7}}"#,
            r#"{"success":false,"errors":[{"code":7,"message":"broken"}]}"#,
            r#"{"code":429,"msg":"broken"}"#,
            r#"{"type":"response.error","message":"broken"}"#,
            r#"{"type":"response.failed","message":"broken"}"#,
        ] {
            let wire = |name: &str| Bytes::from(format!("{name}data: {data}\n\n"));
            for name in ["", "event: message\n", "event: response.created\n", "event: error\n"] {
                let steps = [
                    match Interpreter::new().step::<Completion>(&mut wire(name)) {
                        Step::Failed(error) => Some(error),
                        _ => None,
                    },
                    match Interpreter::new().step::<Event>(&mut wire(name)) {
                        Step::Failed(error) => Some(error),
                        _ => None,
                    },
                ];
                for error in steps {
                    let error = error.unwrap_or_else(|| panic!("{name:?} {data}"));
                    assert!(error.is_stream() && error.message() == Some("broken"), "{error}: {data}");
                }
            }
        }
        for data in [
            r#"{"type":"response.failed","error":{"message":"broken"}}"#,
            r#"{"type":"response.failed","error":"broken"}"#,
            r#"{"type":"response.failed"}"#,
            r#"{"type":"response.of_the_future","message":"error"}"#,
            r#"{"type":"response.output_item.done","item":{"type":"mcp_call","error":"broken"}}"#,
            r#"{"type":"response.completed","response":{"id":"r","error":null}}"#,
            r#"{"type":"response.output_text.delta","delta":"\"error\""}"#,
        ] {
            let step = Interpreter::new().step::<Event>(&mut Bytes::from(format!("data: {data}\n\n")));
            assert!(matches!(step, Step::Item(_)), "{data}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(items([&bytes[..]]), items(bytes.chunks(1)));
        }
    }
}
