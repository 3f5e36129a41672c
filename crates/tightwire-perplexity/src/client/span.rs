//! Tracing span of a call, with the attribute names of OpenTelemetry's `gen_ai` and HTTP conventions.
//!
//! Spans and events have the target `perplexity`. They contain no content of requests and responses.

use std::time::Duration;

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

impl CallSpan {
    #[cfg(feature = "tracing")]
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
            http.request.method = plan.method.as_str(),
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

    #[cfg(not(feature = "tracing"))]
    pub(crate) fn new(_plan: &Plan, _base: &BaseUrl) -> Self {
        Self {}
    }

    pub(crate) async fn run<F: Future>(&self, future: F) -> F::Output {
        #[cfg(feature = "tracing")]
        let future = tracing::Instrument::instrument(future, self.span.clone());
        future.await
    }

    #[cfg(feature = "tracing")]
    fn record(&self, field: &'static str, value: impl tracing::Value) {
        self.span.record(field, value);
    }

    #[cfg(not(feature = "tracing"))]
    #[allow(clippy::unused_self, reason = "there is no span")]
    fn record<V>(&self, _field: &'static str, _value: V) {}

    pub(crate) fn record_response(&self, status: http::StatusCode, request_id: Option<&str>, attempts: u32) {
        self.record("http.response.status_code", status.as_u16());
        if let Some(id) = request_id {
            self.record("perplexity.request_id", id);
        }
        if attempts > 1 {
            self.record("http.request.resend_count", attempts - 1);
        }
    }

    pub(crate) fn record_error(&self, error: &Error) {
        if let Some(status) = error.status() {
            self.record_response(status, error.request_id(), error.attempts());
        }
        self.record("error.type", error.class());
    }

    pub(crate) fn record_usage(&self, usage: Option<TokenUsage>) {
        if let Some(usage) = usage {
            self.record("gen_ai.usage.input_tokens", usage.input);
            self.record("gen_ai.usage.output_tokens", usage.output);
        }
    }

    pub(crate) fn record_first_item(&self, after: Duration) {
        self.record("perplexity.time_to_first_item", after.as_secs_f64());
    }

    pub(crate) fn record_retry(&self, attempt: u32, delay: Duration) {
        let delay = delay.as_secs_f64();
        #[cfg(feature = "tracing")]
        tracing::debug!(target: "perplexity", parent: &self.span, attempt, delay, "request is sent again");
        #[cfg(not(feature = "tracing"))]
        let _ = (attempt, delay);
    }
}
