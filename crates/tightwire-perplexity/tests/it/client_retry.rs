//! Retries, on a paused clock.
#![cfg(feature = "client")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use tightwire_perplexity::retry::{Classify, Jitter, Outcome, Repeat, RetryBudget, RetryPolicy};
use tightwire_perplexity::{Client, Connect, Proxy, TimeoutPhase, Timeouts};

use crate::support::{Script, Step, get, refusing};

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[tokio::test(start_paused = true)]
async fn delays_double() {
    let script = Script::new([Step::failed(500), Step::Broken, Step::ok("1")]);
    let answer = get(&script.client()).raw().await.unwrap();
    assert_eq!(*answer.value(), 1);
    assert_eq!(answer.head().retries(), 2);
    assert_eq!(answer.head().elapsed(), seconds(1.5));
    assert_eq!(script.times(), [0, 500, 1500]);
}

#[tokio::test(start_paused = true)]
async fn last_error_is_returned() {
    let script = Script::new([Step::Broken, Step::failed(502), Step::failed(503), Step::ok("1")]);
    let error = get(&script.client()).await.unwrap_err();
    assert!(error.is_server_error() && error.is_retryable());
    assert_eq!(error.attempts(), 3);
    assert_eq!(error.to_string(), "Service Unavailable (503 internal_server, request id rid-1, attempts 3)");
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn server_determines_the_delay() {
    let wishes = [("retry-after-ms", "20"), ("retry-after", "7")];
    let script = Script::new([
        Step::status(429, &wishes, ""),
        Step::status(400, &[("x-should-retry", "true"), ("retry-after", "2")], ""),
        Step::ok("1"),
    ]);
    get(&script.client()).await.unwrap();
    assert_eq!(script.times(), [0, 20, 2020]);
}

#[test]
fn zero_delay_needs_no_timer() {
    // Creating a timer panics without a time driver.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let script = Script::new([Step::Broken, Step::ok("1")]);
        let policy = RetryPolicy { initial_delay: Duration::ZERO, ..RetryPolicy::new() };
        let client = script.builder().timeouts(Timeouts::none()).retry_policy(policy).build().unwrap();
        assert_eq!(get(&client).raw().await.unwrap().head().retries(), 1);
    });
}

#[tokio::test(start_paused = true)]
async fn delay_above_the_maximum_fails_immediately() {
    let script = Script::new([Step::status(429, &[("retry-after", "61")], "slow down"), Step::ok("1")]);
    let error = get(&script.client()).await.unwrap_err();
    assert!(error.is_rate_limit());
    assert_eq!(error.retry_after(), Some(seconds(61.0)));
    assert_eq!(script.times(), [0]);
}

#[tokio::test(start_paused = true)]
async fn outcomes_that_are_not_retried() {
    let refused = || Step::status(500, &[("x-should-retry", "false")], "");
    for step in [Step::failed(400), Step::failed(401), Step::failed(404), Step::failed(422), refused()] {
        let script = Script::new([step, Step::ok("1")]);
        let error = get(&script.client()).await.unwrap_err();
        assert_eq!(error.attempts(), 1, "{error}");
    }
    let script = Script::new([Step::failed(500), Step::ok("1")]);
    assert!(get(&script.client()).max_retries(0).await.unwrap_err().is_server_error());
    let script = Script::new([Step::ok("not JSON"), Step::ok("1")]);
    assert!(get(&script.client()).await.unwrap_err().is_decode());
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempt_timeout_elapses_without_a_response() {
    let script = Script::new([Step::Silent, Step::ok("1").after(seconds(2.0)), Step::ok("1")]);
    let client = script.builder().timeout(seconds(1.0)).build().unwrap();
    assert_eq!(get(&client).await.unwrap(), 1);
    assert_eq!(script.times(), [0, 1500, 3500]);
}

#[tokio::test(start_paused = true)]
async fn attempt_timeout_includes_the_body() {
    let timeouts = Timeouts { headers: Some(seconds(1.0)), attempt: Some(seconds(5.0)), ..Timeouts::new() };
    // The handle keeps the body of the second response open.
    let (endless, _feed) = Step::fed();
    let script = Script::new([Step::Silent, endless]);
    let client = script.builder().timeouts(timeouts).max_retries(0).build().unwrap();
    for phase in [TimeoutPhase::Headers, TimeoutPhase::Attempt] {
        let error = get(&client).await.unwrap_err();
        assert_eq!(error.timeout_phase(), Some(phase));
    }
    assert_eq!(script.times(), [0, 1000]);
}

#[tokio::test(start_paused = true)]
async fn total_timeout_covers_attempts_and_delays() {
    let script = Script::new([Step::Silent, Step::Silent]);
    let client = script.builder().timeout(seconds(10.0)).build().unwrap();
    let start = tokio::time::Instant::now();
    let error = get(&client).total_timeout(seconds(12.0)).await.unwrap_err();
    assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Total));
    assert_eq!(start.elapsed(), seconds(12.0));
    assert_eq!(script.times(), [0, 10_500]);

    // The delay would exceed the deadline, so the last error is returned immediately.
    let script = Script::new([Step::failed(500), Step::failed(503), Step::ok("1")]);
    let error = get(&script.client()).total_timeout(seconds(1.2)).await.unwrap_err();
    assert_eq!(error.status().unwrap(), 503);
    assert_eq!(script.times(), [0, 500]);
}

/// The total timeout ends streams and downloads while data arrives, and the wait for a job.
#[tokio::test(start_paused = true)]
async fn total_timeout_covers_streams_downloads_and_jobs() {
    type Outcome = Result<(), tightwire_perplexity::Error>;

    let (stream, stream_feed) = Step::fed();
    let (file, file_feed) = Step::fed();
    let job = || Step::ok("{\"id\":\"r\",\"status\":\"in_progress\"}");
    let script = Script::new([stream, file, job(), job(), job()]);
    let client = script.builder().total_timeout(seconds(10.0)).build().unwrap();
    let reading = async {
        let mut numbers = get(&client).events::<tightwire_json::Value>().await?;
        loop {
            tokio::time::sleep(seconds(1.0)).await;
            stream_feed.send("data: 1\n\n");
            numbers.next().await.unwrap()?;
        }
    };
    let downloading = async {
        let mut file = client.files().content("f").await?;
        loop {
            tokio::time::sleep(seconds(1.0)).await;
            file_feed.send("data");
            futures_util::StreamExt::next(&mut file).await.unwrap()?;
        }
    };
    let waiting = async { client.responses().wait("r").interval(seconds(3.0)).await.map(drop) };
    let cases: [std::pin::Pin<Box<dyn Future<Output = Outcome>>>; 3] =
        [Box::pin(reading), Box::pin(downloading), Box::pin(waiting)];
    for case in cases {
        let start = tokio::time::Instant::now();
        let error = case.await.unwrap_err();
        assert_eq!(error.timeout_phase(), Some(TimeoutPhase::Total));
        assert_eq!(start.elapsed(), seconds(10.0));
    }
    assert!(stream_feed.is_cancelled() && file_feed.is_cancelled());
    assert_eq!(script.times(), [0, 10_000, 20_000, 23_000, 27_500]);
}

#[tokio::test(start_paused = true)]
async fn streams_are_retried_until_their_headers_arrive() {
    let (step, feed) = Step::fed();
    feed.send("data: 1\n\n");
    feed.fail();
    let script = Script::new([Step::failed(503), Step::Broken, step, Step::ok("never")]);
    let mut stream = get(&script.client()).events::<tightwire_json::Value>().await.unwrap();
    assert_eq!(stream.head().retries(), 2);
    assert_eq!(stream.next().await.unwrap().unwrap(), 1);
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(error.is_connection());
    assert_eq!(error.request_id(), Some("rid-1"));
    assert!(stream.next().await.is_none());
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn idempotency_key_is_the_same_for_all_attempts() {
    let script = Script::new([Step::failed(500), Step::ok("1"), Step::ok("1"), Step::ok("1")]);
    let client = script.builder().automatic_idempotency_keys().build().unwrap();
    client.request(Method::POST, "/x").await.unwrap();
    client.request(Method::POST, "/x").idempotency_key("mine").await.unwrap();
    get(&client).await.unwrap();
    let keys: Vec<_> =
        script.sent().iter().map(|sent| sent.headers.get("idempotency-key").cloned()).collect();
    assert_eq!(keys[0].as_ref().unwrap().len(), 32);
    assert_eq!(keys[0], keys[1]);
    assert_eq!(keys[2].as_ref().unwrap(), "mine");
    assert_eq!(keys[3], None);
}

#[tokio::test(start_paused = true)]
async fn repeat_idempotent_retries_only_idempotent_calls() {
    let policy = RetryPolicy { repeat: Repeat::Idempotent, ..RetryPolicy::new() };
    let script = Script::new([500, 500, 500].map(Step::failed).into_iter().chain([Step::ok("1")]));
    let client = script.builder().retry_policy(policy).build().unwrap();
    assert_eq!(client.request(Method::POST, "/x").await.unwrap_err().attempts(), 1);
    let call = client.request(Method::POST, "/x").idempotency_key("k").without_header("idempotency-key");
    assert_eq!(call.await.unwrap_err().attempts(), 1);
    assert_eq!(client.request(Method::POST, "/x").idempotency_key("k").await.unwrap(), 1);
}

/// A response of the Agent API may be running and is billed, even if the client does not receive it.
#[tokio::test(start_paused = true)]
async fn responses_are_created_once_unless_the_policy_allows_more() {
    const ANSWER: &str = r#"{"id":"r","status":"completed"}"#;
    let request = &tightwire_perplexity::types::responses::Request::new("perplexity/sonar", "Why?");
    let says_so = || Step::status(503, &[("x-should-retry", "true")], "");
    for (first, attempts) in [
        (Step::failed(502), 1),
        (Step::Broken, 1),
        (Step::failed(429), 2),
        (Step::status(429, &[("retry-after", "3")], ""), 2),
        (says_so(), 2),
    ] {
        let script = Script::new([first, Step::ok(ANSWER)]);
        let answer = script.client().responses().create(request).raw().await;
        assert_eq!(answer.map_or_else(|error| error.attempts(), |it| it.head().retries() + 1), attempts);
    }
    let any = RetryPolicy { repeat: Repeat::Any, jitter: Jitter::None, ..RetryPolicy::new() };
    let classify: Arc<Classify> = Arc::new(|_| Some(true));
    let classified = RetryPolicy { classify: Some(classify), ..RetryPolicy::new() };
    for policy in [any, classified] {
        let script = Script::new([Step::failed(502), Step::Broken, Step::ok(ANSWER)]);
        script.client().responses().create(request).retry_policy(policy).await.unwrap();
    }
    let script = Script::new([Step::failed(502), Step::ok(ANSWER)]);
    script.client().responses().create(request).idempotency_key("k").await.unwrap();
}

#[tokio::test]
async fn a_refused_connection_is_always_retried() {
    let (_socket, address) = refusing();
    let policy =
        RetryPolicy { initial_delay: Duration::ZERO, repeat: Repeat::Idempotent, ..RetryPolicy::new() };
    let client = Client::builder().without_environment().api_key("k").base_url(format!("http://{address}"));
    let client = client.connect(Connect { proxy: Proxy::None, ..Connect::default() }).retry_policy(policy);
    let error = client.build().unwrap().request(Method::POST, "/x").await.unwrap_err();
    assert!(error.is_connection() && error.attempts() == 3, "{error}");
}

#[tokio::test(start_paused = true)]
async fn exhausted_budget_stops_all_retries() {
    let budget = Arc::new(RetryBudget::new(20));
    let policy = RetryPolicy { budget: Some(Arc::clone(&budget)), ..RetryPolicy::new() };
    let script = Script::new([Step::failed(500), Step::failed(500), Step::failed(500), Step::ok("1")]);
    let client = script.builder().retry_policy(policy).build().unwrap();
    assert_eq!(get(&client).await.unwrap_err().attempts(), 2);
    assert_eq!(get(&client.clone()).await.unwrap_err().attempts(), 1);
    assert_eq!(budget.tokens(), 6);
    get(&client).await.unwrap();
    assert_eq!(budget.tokens(), 7);
}

#[tokio::test(start_paused = true)]
async fn hook_and_classifier_see_outcomes() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let classify: Arc<Classify> = Arc::new(|outcome| match outcome {
        Outcome::Status { status, .. } if *status == 404 => Some(true),
        _ => None,
    });
    let policy = RetryPolicy { jitter: Jitter::None, classify: Some(classify), ..RetryPolicy::new() };
    let script = Script::new([Step::failed(404), Step::Broken, Step::ok("1")]);
    let client = script.builder().retry_policy(policy).on_retry(move |event| {
        log.lock().unwrap().push(format!("{} {:?} {:?}", event.attempt, event.delay, event.outcome));
    });
    get(&client.build().unwrap()).await.unwrap();
    let seen = seen.lock().unwrap();
    assert_eq!(*seen, ["1 500ms Status(404)", "2 1s Connection"]);
}
