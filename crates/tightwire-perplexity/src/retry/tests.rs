//! Tests of the retry policy.

use http::HeaderValue;
use proptest::prelude::*;

use super::*;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

fn delay(policy: &RetryPolicy, status: u16, pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
    let headers = headers(pairs);
    let status = StatusCode::from_u16(status).unwrap();
    policy.delay(&Outcome::Status { status, headers: &headers }, 0, NOW, 0)
}

fn seconds(seconds: f64) -> Option<Duration> {
    Some(Duration::from_secs_f64(seconds))
}

#[test]
fn statuses() {
    let policy = RetryPolicy::new();
    for status in 300..=599 {
        let expected = matches!(status, 408 | 409 | 429 | 500..=599);
        assert_eq!(delay(&policy, status, &[]).is_some(), expected, "{status}");
    }
}

#[test]
fn header_overrides_the_status() {
    let policy = RetryPolicy::new();
    assert_eq!(delay(&policy, 400, &[("x-should-retry", "true")]), seconds(0.5));
    assert_eq!(delay(&policy, 500, &[("x-should-retry", "false")]), None);
    assert_eq!(delay(&policy, 500, &[("x-should-retry", "maybe")]), seconds(0.5));
}

#[test]
fn classifier_comes_first() {
    let policy = RetryPolicy::new().classify(|outcome| match outcome {
        Outcome::Status { status, .. } if status.as_u16() == 404 => Some(true),
        Outcome::Connection => Some(false),
        _ => None,
    });
    assert_eq!(delay(&policy, 404, &[("x-should-retry", "false")]), seconds(0.5));
    assert_eq!(delay(&policy, 500, &[]), seconds(0.5));
    assert_eq!(policy.delay(&Outcome::Connection, 0, NOW, 0), None);
}

#[test]
fn delays_double_up_to_the_maximum() {
    let policy = RetryPolicy::new().max_retries(u32::MAX);
    let waits: Vec<_> = (0..6).map(|index| policy.backoff(index, 0).as_secs_f64()).collect();
    assert_eq!(waits, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]);
    let waits: Vec<_> = (0..6).map(|index| policy.backoff(index, u32::MAX).as_secs_f64()).collect();
    assert_eq!(waits, [0.375, 0.75, 1.5, 3.0, 6.0, 6.0]);
    assert_eq!(policy.backoff(u32::MAX, 0), Duration::from_secs(8));
}

#[test]
fn jitter_modes() {
    let policy = RetryPolicy::new().jitter(Jitter::Full);
    assert_eq!(policy.backoff(1, u32::MAX), Duration::ZERO);
    assert_eq!(policy.backoff(1, 0), Duration::from_secs(1));
    let policy = RetryPolicy::new().jitter(Jitter::None);
    assert_eq!(policy.backoff(1, 77), Duration::from_secs(1));
}

#[test]
fn server_requested_delay_replaces_the_backoff() {
    let policy = RetryPolicy::new();
    assert_eq!(delay(&policy, 429, &[("retry-after-ms", "20")]), seconds(0.02));
    assert_eq!(delay(&policy, 429, &[("retry-after", "60")]), seconds(60.0));
    assert_eq!(delay(&policy, 429, &[("retry-after", "0")]), seconds(0.0));
    assert_eq!(delay(&policy, 429, &[("retry-after", "soon")]), seconds(0.5));
}

#[test]
fn server_requested_delay_above_the_maximum() {
    let long = [("retry-after", "61")];
    assert_eq!(delay(&RetryPolicy::new(), 429, &long), None);
    let policy = RetryPolicy::new().long_retry_after(LongRetryAfter::Backoff);
    assert_eq!(delay(&policy, 429, &long), seconds(0.5));
    let policy = RetryPolicy::new().max_retry_after(Duration::MAX);
    assert_eq!(delay(&policy, 429, &long), seconds(61.0));
}

#[test]
fn retries_are_counted() {
    let policy = RetryPolicy::new();
    let mut attempts = Attempts::new(&policy, false);
    let mut waits = 0;
    attempts.begin();
    while attempts.failed(&Outcome::Connection, None).is_some() {
        waits += 1;
        attempts.begin();
    }
    assert_eq!((waits, attempts.made()), (2, 3));
    let policy = RetryPolicy::never();
    let mut attempts = Attempts::new(&policy, true);
    attempts.begin();
    assert_eq!(attempts.failed(&Outcome::Connection, None), None);
}

#[test]
fn deadline_ends_retrying() {
    let policy = RetryPolicy::new().jitter(Jitter::None);
    let mut attempts = Attempts::new(&policy, true);
    attempts.begin();
    assert_eq!(attempts.failed(&Outcome::Connection, seconds(0.5)), None);
    assert_eq!(attempts.failed(&Outcome::Connection, seconds(0.6)), seconds(0.5));
    assert_eq!(attempts.failed(&Outcome::Timeout(TimeoutPhase::Total), None), None);
    assert_eq!(attempts.failed(&Outcome::Timeout(TimeoutPhase::Headers), None), seconds(0.5));
}

#[test]
fn repeat_idempotent_retries_only_idempotent_calls() {
    let policy = RetryPolicy::new().repeat(Repeat::Idempotent);
    for idempotent in [false, true] {
        let mut attempts = Attempts::new(&policy, idempotent);
        attempts.begin();
        assert_eq!(attempts.failed(&Outcome::Connection, None).is_some(), idempotent);
    }
}

#[test]
fn budget_is_shared_and_refunded() {
    let budget = Arc::new(RetryBudget::new(15));
    let policy = RetryPolicy::new().budget(Arc::clone(&budget));
    let mut first = Attempts::new(&policy, true);
    first.begin();
    assert!(first.failed(&Outcome::Connection, None).is_some());
    let clone = policy.clone();
    let mut second = Attempts::new(&clone, true);
    second.begin();
    assert!(second.failed(&Outcome::Connection, None).is_none());
    first.succeeded();
    assert_eq!(budget.tokens(), 15);
}

proptest! {
    #[test]
    fn delays_stay_within_bounds(
        initial in any::<u64>(),
        max in any::<u64>(),
        index in any::<u32>(),
        random in any::<u32>(),
    ) {
        let (initial, max) = (Duration::from_nanos(initial), Duration::from_nanos(max));
        let policy = RetryPolicy::new().initial_delay(initial).max_delay(max);
        let full = policy.clone().jitter(Jitter::None).backoff(index, random);
        let wait = policy.backoff(index, random);
        prop_assert!(wait <= full && full <= max);
        prop_assert!(wait >= full - full / 4);
    }
}
