//! Tracing span of a call, with the attribute names of OpenTelemetry's `gen_ai` and HTTP conventions.
//!
//! Spans and events have the target `perplexity`. They contain no content of requests and responses.

use crate::client::plan::Plan;
use crate::client::response::TokenUsage;
use crate::client::url::BaseUrl;
use crate::error::Error;

/// Span of one call. A no-op without the feature `tracing`.
#[derive(Debug, Clone)]
pub(crate) struct CallSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl CallSpan {
    pub(crate) fn new(plan: &Plan, base: &BaseUrl) -> Self {
        use tracing::field::Empty;
        let (operation, model) = (plan.label.operation, plan.label.model.as_deref());
        let span = tracing::info_span!(
            target: "perplexity",
            "perplexity.call",
            otel.name = Empty,
            otel.kind = "client",
            gen_ai.operation.name = operation,
            gen_ai.provider.name = "perplexity",
            gen_ai.system = "perplexity",
            gen_ai.request.model = model,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            http.request.method = plan.method().as_str(),
            http.request.resend_count = Empty,
            http.response.status_code = Empty,
            server.address = base.as_url().host_str(),
            server.port = base.as_url().port_or_known_default(),
            url.path = plan.path(),
            perplexity.request_id = Empty,
            perplexity.time_to_first_item = Empty,
            error.type = Empty,
        );
        if !span.is_disabled() {
            match model {
                Some(model) => {
                    span.record("otel.name", tracing::field::display(format_args!("{operation} {model}")))
                }
                None => span.record("otel.name", operation),
            };
        }
        Self { span }
    }

    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        use tracing::Instrument as _;
        future.instrument(self.span.clone()).await
    }

    pub(crate) fn record_response(&self, status: http::StatusCode, request_id: Option<&str>, attempts: u32) {
        self.span.record("http.response.status_code", status.as_u16());
        if let Some(id) = request_id {
            self.span.record("perplexity.request_id", id);
        }
        if attempts > 1 {
            self.span.record("http.request.resend_count", attempts - 1);
        }
    }

    pub(crate) fn record_error(&self, error: &Error) {
        if self.span.is_disabled() {
            return;
        }
        if let Some(status) = error.status() {
            self.record_response(status, error.request_id(), error.attempts());
        }
        self.span.record("error.type", error.class());
    }

    pub(crate) fn record_usage(&self, usage: Option<TokenUsage>) {
        if let Some(usage) = usage {
            self.span.record("gen_ai.usage.input_tokens", usage.input);
            self.span.record("gen_ai.usage.output_tokens", usage.output);
        }
    }

    pub(crate) fn record_first_item(&self, after: std::time::Duration) {
        self.span.record("perplexity.time_to_first_item", after.as_secs_f64());
    }

    pub(crate) fn record_retry(&self, attempt: u32, delay: std::time::Duration) {
        let delay = delay.as_secs_f64();
        tracing::debug!(target: "perplexity", parent: &self.span, attempt, delay, "request is sent again");
    }
}

#[cfg(not(feature = "tracing"))]
#[allow(clippy::unused_self, reason = "the span is the receiver where there is one")]
impl CallSpan {
    pub(crate) fn new(_plan: &Plan, _base: &BaseUrl) -> Self {
        Self {}
    }

    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        future.await
    }

    pub(crate) fn record_response(
        &self,
        _status: http::StatusCode,
        _request_id: Option<&str>,
        _attempts: u32,
    ) {
    }

    pub(crate) fn record_error(&self, _error: &Error) {}

    pub(crate) fn record_usage(&self, _usage: Option<TokenUsage>) {}

    pub(crate) fn record_first_item(&self, _after: std::time::Duration) {}

    pub(crate) fn record_retry(&self, _attempt: u32, _delay: std::time::Duration) {}
}
