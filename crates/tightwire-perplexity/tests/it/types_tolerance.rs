//! Unknown, missing and unusual input decodes, and requests are validated.

use tightwire_json::{ErrorDetails as _, Value};
use tightwire_perplexity::types::chat::{self, Completion, Content, Message, Part, Role, Source};
use tightwire_perplexity::types::responses::{self, Event, InputItem, OutputItem, Skill, Tool};
use tightwire_perplexity::types::{Invalid, TextOrList, batches, decisions, search};

#[track_caller]
fn decode<T: serde::de::DeserializeOwned>(text: &str) -> T {
    tightwire_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn assert_kept<T: serde::de::DeserializeOwned + serde::Serialize>(text: &str) {
    assert_eq!(tightwire_json::to_string(&decode::<T>(text)).unwrap(), text);
}

#[test]
fn all_fields_may_be_missing() {
    assert_eq!(decode::<Completion>("{}"), Completion::default());
    assert_eq!(decode::<responses::Response>("{}"), responses::Response::default());
    assert_eq!(decode::<search::Response>("{}"), search::Response::default());
    let chunk: Completion =
        decode(r#"{"choices": [{"delta": {"content": null}, "message": null}], "created": 1.0}"#);
    assert_eq!(chunk.text(), None);
    assert_eq!(chunk.created, 1);
}

#[test]
fn unknown_values_and_other_json_types_round_trip() {
    let message = r#"{"role":"critic","content":"no"}"#;
    assert_eq!(decode::<Message>(message).role, Role::Other("critic".into()));
    assert_kept::<Message>(message);
    assert_kept::<OutputItem>(r#"{"payload":[1,null],"type":"of_the_future"}"#);
    assert_kept::<Tool>(r#"{"settings":{},"type":"teleport"}"#);
    let event: Event = decode(r#"{"type": "response.of_the_future", "sequence_number": 9, "x": 1}"#);
    assert_eq!((event.tag(), event.sequence_number()), (Some("response.of_the_future"), Some(9)));
    for text in [
        r#"{"type":"hologram","url":"https://example.org"}"#,
        // No tag, and a tag that is not a string.
        r#"{"text":"a"}"#,
        r#"{"type":7}"#,
        // Both forms of a URL, with all types of an option.
        r#"{"type":"image_url","image_url":"https://example.org"}"#,
        r#"{"type":"image_url","image_url":{"url":"https://example.org"}}"#,
        r#"{"type":"video_url","video_url":{"url":"https://example.org","frame_interval":5}}"#,
        r#"{"type":"video_url","video_url":{"url":"https://example.org","frame_interval":"auto"}}"#,
    ] {
        assert_kept::<Part>(text);
    }
    for text in ["null", "true", "-1", "1.5", "\"text\"", "[1,[]]", "{}"] {
        assert_kept::<Part>(text);
        assert_kept::<OutputItem>(text);
    }
    for text in ["null", "true", "-1", "1.5", r#"{"a":1}"#, "18446744073709551615"] {
        assert_kept::<Content>(text);
        assert_kept::<TextOrList>(text);
    }
    for text in ["7", "true", "[]"] {
        assert_kept::<Source>(text);
    }
}

#[test]
fn tag_may_be_the_last_field() {
    let part: Part = decode(r#"{"image_url": {"url": "https://example.org"}, "type": "image_url"}"#);
    let Part::Image(image) = &part else { panic!("{part:?}") };
    assert_eq!(image.image_url.url(), Some("https://example.org"));
    let item: OutputItem =
        decode(r#"{"call_id": "c", "name": "f", "arguments": "{}", "type": "function_call"}"#);
    assert!(matches!(item, OutputItem::FunctionCall(call) if call.call_id == "c"));
}

/// The Agent API writes the type last. Such objects are decoded like others, without being buffered.
#[test]
fn the_place_of_the_type_does_not_matter() {
    let first = [
        r#"{"type":"response.output_item.done","sequence_number":1,"item":{"type":"message","id":"m","content":[{"type":"output_text","text":"a"}]}}"#,
        r#"{"type":"response.output_item.done","item":{"type":"of_the_future","x":[1]}}"#,
        r#"{"type":"response.of_the_future","x":{"type":"y"}}"#,
        r#"{"type":"response.output_text.delta","item_id":"m","unknown":1,"delta":"a"}"#,
    ];
    let last = [
        r#"{"item":{"content":[{"text":"a","type":"output_text"}],"id":"m","type":"message"},"sequence_number":1,"type":"response.output_item.done"}"#,
        r#"{"item":{"x":[1],"type":"of_the_future"},"type":"response.output_item.done"}"#,
        r#"{"x":{"type":"y"},"type":"response.of_the_future"}"#,
        r#"{"delta":"a","unknown":1, "type" : "response.output_text.delta" ,"item_id":"m"}"#,
    ];
    for (first, last) in first.into_iter().zip(last) {
        let decode = |text| test_support::counting::allocations(|| decode::<Event>(text));
        let ((first_count, event), (last_count, same)) = (decode(first), decode(last));
        assert_eq!(event, same);
        assert!(last_count <= first_count, "{last_count} instead of {first_count} allocations: {last}");
        // Another deserializer.
        let value = self::decode::<Value>(last);
        assert_eq!(tightwire_json::from_value::<Event>(value).unwrap(), event);
    }
    for text in [
        r#"{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":5}]}}"#,
        r#"{"item":{"content":[{"text":5,"type":"output_text"}],"type":"message"},"type":"response.output_item.done"}"#,
    ] {
        let error = tightwire_json::from_str::<Event>(text).unwrap_err();
        assert_eq!(error.path().unwrap().to_string(), "item.content[0].text", "{error}");
    }
}

#[test]
fn errors_do_not_contain_values() {
    for text in [r#"{"type": "text", "text": ["secret"]}"#, r#"{"text": {"secret": 1}, "type": "text"}"#] {
        let error = tightwire_json::from_str::<Part>(text).unwrap_err();
        assert!(error.is_data());
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}

#[test]
fn input_item_without_a_type_is_a_message() {
    let item: InputItem = decode(r#"{"role": "user", "content": "hi"}"#);
    assert_eq!(item, InputItem::user("hi"));
    assert_eq!(
        tightwire_json::to_string(&item).unwrap(),
        r#"{"type":"message","role":"user","content":"hi"}"#
    );
}

#[test]
fn last_of_duplicate_fields_wins() {
    let message: Message = decode(r#"{"role": "user", "role": "system", "content": "a", "content": "b"}"#);
    assert_eq!(message, Message::system("b"));
}

#[test]
fn tag_is_written_once() {
    let part: Part = decode(r#"{"type": "text", "type": "of_the_future", "text": "a"}"#);
    assert_eq!(tightwire_json::to_string(&part).unwrap(), r#"{"type":"text","text":"a"}"#);
}

#[test]
fn null_and_absent_differ() {
    let request = chat::Request::new("sonar", "a").null("max_tokens");
    let body: Value = decode(&tightwire_json::to_string(&request).unwrap());
    assert_eq!(body.get("max_tokens"), Some(&Value::Null));
    assert_eq!(body.get("temperature"), None);
    assert_eq!(decode::<chat::Request>(&body.to_string()), request);
    // A value takes precedence over an earlier null.
    assert!(tightwire_json::to_string(&request.max_tokens(5)).unwrap().ends_with(r#""max_tokens":5}"#));

    let request = batches::CreateRequest::new("f");
    for (request, end) in [(request.clone(), r#""f"}"#), (request.null("metadata"), r#""metadata":null}"#)] {
        let body = tightwire_json::to_string(&request).unwrap();
        assert!(body.ends_with(end), "{body}");
        assert_eq!(decode::<batches::CreateRequest>(&body), request);
    }
}

#[test]
fn extra_fields_of_requests_take_precedence() {
    let request = chat::Request::new("sonar", "a").extra_field("model", "other").extra_field("x", 1);
    let body: Value = decode(&tightwire_json::to_string(&request).unwrap());
    assert_eq!((&body["model"], &body["x"]), (&Value::from("other"), &Value::from(1)));
}

#[test]
fn debug_redacts_credentials() {
    let server = responses::McpServer::new("s", "https://example.org")
        .authorization("sesame")
        .headers([("X-Key".to_owned(), "sesame".into())]);
    assert!(!format!("{server:?}").contains("sesame"));
    assert!(tightwire_json::to_string(&server).unwrap().contains(r#""authorization":"sesame""#));
}

#[track_caller]
fn assert_invalid(result: Result<(), Invalid>, field: &str, is: fn(&Invalid) -> bool) {
    let invalid = result.unwrap_err();
    assert_eq!(invalid.field(), field);
    assert!(is(&invalid), "{invalid:?}");
    assert!(invalid.to_string().starts_with(field), "{invalid}");
}

#[test]
fn chat_requests_are_validated() {
    let request = || chat::Request::new("sonar", "a");
    assert_eq!(request().validate(), Ok(()));
    assert_invalid(chat::Request::new("", "a").validate(), "model", Invalid::is_empty);
    assert_invalid(chat::Request::new("sonar", []).validate(), "messages", Invalid::is_empty);
    assert_invalid(request().temperature(2.5).validate(), "temperature", Invalid::is_range);
    assert_invalid(request().temperature(f64::NAN).validate(), "temperature", Invalid::is_range);
    assert_invalid(request().max_tokens(0).validate(), "max_tokens", Invalid::is_range);
    let request = tightwire_perplexity::types::async_chat::Request::ask("", "a");
    assert_invalid(request.validate(), "request.model", Invalid::is_empty);
}

#[test]
fn search_requests_are_validated() {
    assert_eq!(search::Request::new(["a", "b"]).validate(), Ok(()));
    let nothing: [&str; 0] = [];
    for query in [TextOrList::from(""), nothing.into(), ["a", ""].into()] {
        assert_invalid(search::Request::new(query).validate(), "query", Invalid::is_empty);
    }
}

#[test]
fn agent_requests_are_validated() {
    use responses::{FetchUrl, McpServer, Request, RetrieveParams};

    assert_eq!(Request::new(["a/b", "c/d"], "hi").validate(), Ok(()));
    assert_eq!(Request::with_preset("pro-search", "hi").validate(), Ok(()));
    assert_invalid(Request::new("a/b", "").validate(), "input", Invalid::is_empty);
    assert_invalid(Request::new("", "hi").validate(), "model", Invalid::is_empty);
    assert_invalid(Request::new(["a"; 6], "hi").validate(), "models", Invalid::is_too_long);
    assert_invalid(Request::new("a", "hi").max_steps(101).validate(), "max_steps", Invalid::is_range);

    let with_tool =
        |tool: Tool| Request::new("a", "hi").tools([Tool::from(FetchUrl::new()), tool]).validate();
    assert_invalid(with_tool(FetchUrl::new().max_urls(11).into()), "tools[1].max_urls", Invalid::is_range);
    let label = |label: &str| with_tool(McpServer::new(label, "https://example.org").into());
    assert_eq!(label("a-Z_0"), Ok(()));
    assert_invalid(label("a b"), "tools[1].server_label", Invalid::is_form);
    assert_invalid(label(&"a".repeat(65)), "tools[1].server_label", Invalid::is_too_long);

    let inline = |len: usize| Skill::from(responses::InlineSkill::new("n", "d", "i".repeat(len)));
    let with_skills = |skills: Vec<Skill>| Request::new("a", "hi").skills(skills).validate();
    assert_invalid(with_skills(vec![inline(65_537)]), "skills[0].instructions", Invalid::is_too_long);
    assert_invalid(with_skills(vec![inline(60_000); 5]), "skills", Invalid::is_too_long);

    let format = chat::ResponseFormat::json_schema(Value::Bool(true));
    let field = "response_format.json_schema.name";
    assert_invalid(Request::new("a", "hi").response_format(format).validate(), field, Invalid::is_empty);

    assert_eq!(RetrieveParams::events_after(0).validate(), Ok(()));
    assert_invalid(RetrieveParams::events_after(1 << 53).validate(), "starting_after", Invalid::is_range);
    assert_invalid(RetrieveParams::default().stream(true).validate(), "starting_after", Invalid::is_empty);
}

#[test]
fn decision_requests_are_validated() {
    let request = decisions::Request::new("m", "s").question("q", decisions::Choice::default());
    assert_invalid(request.validate(), "questions.q.criteria", Invalid::is_empty);
    assert_invalid(decisions::Request::new("m", "s").validate(), "questions", Invalid::is_empty);
}
