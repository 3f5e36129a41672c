//! A chunk of a streamed response, and a request.

use std::hint::black_box;

use tightwire_perplexity::types::chat::{Completion, Request};

const PART: &str = r#"{"id":"5d2a9c70","model":"sonar-pro","created":1763424000,"usage":{"prompt_tokens":7,"completion_tokens":21,"total_tokens":28,"search_context_size":"low"},"object":"chat.completion.chunk","citations":["https://example.org/a","https://example.org/b"],"search_results":[{"title":"A \"title\"","url":"https://example.org/a","date":"2024-01-01"}],"choices":[{"index":0,"finish_reason":null,"message":{"role":"assistant","content":"Why the sky is"},"delta":{"role":"assistant","content":" blue"}}]}"#;

pub(crate) fn chunk_decode() -> impl FnMut() -> u64 {
    || {
        tightwire_json::from_slice::<Completion>(black_box(PART.as_bytes()))
            .map_or(0, |part| black_box(part).choices.len() as u64)
    }
}

pub(crate) fn request_encode() -> impl FnMut() -> u64 {
    let (request, mut buffer) = (Request::new("sonar", "Why is the sky \"blue\"?"), Vec::new());
    move || {
        buffer.clear();
        tightwire_json::to_buf(&mut buffer, black_box(&request))
            .map_or(0, |()| black_box(&buffer).len() as u64)
    }
}
