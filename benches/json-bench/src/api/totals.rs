//! Check values of decoded values: lengths and numbers of their first and last parts. Part of the timed operation.

use tightwire_perplexity::types::{chat, search};

use super::plain;
use crate::types::Check;

fn length<T: AsRef<str>>(text: Option<&T>) -> u64 {
    text.map_or(0, |text| text.as_ref().len() as u64)
}

impl Check for chat::Usage {
    fn check(&self) -> u64 {
        self.completion_tokens + self.total_tokens + self.cost.as_ref().map_or(0, cost)
    }
}

/// Returns the cost in thousandths of a cent, which is an integer in the documents.
fn cost(cost: &chat::Cost) -> u64 {
    (cost.total_cost * 1e5).round() as u64
}

impl Check for plain::UsageInfo {
    fn check(&self) -> u64 {
        self.completion_tokens + self.total_tokens + (self.cost.total_cost * 1e5).round() as u64
    }
}

impl Check for chat::Completion {
    fn check(&self) -> u64 {
        let contents: u64 = self
            .choices
            .iter()
            .filter_map(|choice| choice.delta.as_ref())
            .map(|delta| content(delta.content.as_ref()))
            .sum();
        let citation = self.citations.as_ref().and_then(|citations| citations.last());
        contents + self.created as u64 + length(citation) + self.usage.as_ref().map_or(0, Check::check)
    }
}

impl Check for plain::StreamChunk {
    fn check(&self) -> u64 {
        let contents: u64 =
            self.choices.iter().map(|choice| plain_content(choice.delta.content.as_ref())).sum();
        let citation = self.citations.as_ref().and_then(|citations| citations.last());
        contents + self.created as u64 + length(citation) + self.usage.as_ref().map_or(0, Check::check)
    }
}

fn content(content: Option<&chat::Content>) -> u64 {
    match content {
        Some(chat::Content::Text(text)) => text.len() as u64,
        Some(chat::Content::Parts(parts)) => parts.iter().map(part).sum(),
        _ => 0,
    }
}

fn part(part: &chat::Part) -> u64 {
    match part {
        chat::Part::Text(part) => part.text.len() as u64,
        chat::Part::Image(part) => part.image_url.url().map_or(0, str::len) as u64,
        _ => 0,
    }
}

fn plain_content(content: Option<&plain::Content>) -> u64 {
    match content {
        Some(plain::Content::Text(text)) => text.len() as u64,
        Some(plain::Content::Parts(parts)) => parts.iter().map(plain_part).sum(),
        None => 0,
    }
}

fn plain_part(part: &plain::Part) -> u64 {
    match part {
        plain::Part::Text { text } => text.len() as u64,
        plain::Part::ImageUrl { image_url: plain::Source::Plain(url) } => url.len() as u64,
        _ => 0,
    }
}

impl Check for chat::Message {
    fn check(&self) -> u64 {
        self.role.as_str().len() as u64 + content(self.content.as_ref())
    }
}

impl Check for plain::ChatMessage {
    fn check(&self) -> u64 {
        self.role.len() as u64 + plain_content(self.content.as_ref())
    }
}

/// Implements [`Check`] for a type of the client and its plain struct, which have the same fields.
macro_rules! both {
    ($ours:ty, $plain:ty, |$value:ident| $check:expr) => {
        both!($ours, |$value| $check);
        both!($plain, |$value| $check);
    };
    ($type:ty, |$value:ident| $check:expr) => {
        impl Check for $type {
            fn check(&self) -> u64 {
                let $value = self;
                $check
            }
        }
    };
}

both!(chat::ToolCall, plain::ToolCall, |call| {
    let arguments = call.function.as_ref().and_then(|function| function.arguments.as_ref());
    length(call.id.as_ref()) + length(call.kind.as_ref()) + length(arguments)
});

both!(chat::ReasoningStep, plain::ReasoningStep, |step| {
    let last = step.web_search.as_ref().and_then(|search| search.search_results.last());
    step.thought.len() as u64 + last.map_or(0, |last| last.url.len() as u64 + length(last.snippet.as_ref()))
});

both!(search::Response, plain::SearchResponse, |response| {
    let pages: u64 = response.results.iter().map(|page| length(page.last_updated.as_ref())).sum();
    pages + length(response.server_time.as_ref())
});
