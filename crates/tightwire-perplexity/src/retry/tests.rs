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
fn delays_double_up_to_the_maximum_less_the_jitter() {
    for (jitter, random, expected) in [
        (Jitter::None, 77, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]),
        (Jitter::Quarter, 0, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]),
        (Jitter::Quarter, u32::MAX, [0.375, 0.75, 1.5, 3.0, 6.0, 6.0]),
        (Jitter::Full, 0, [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]),
        (Jitter::Full, u32::MAX, [0.0; 6]),
    ] {
        let policy = RetryPolicy { jitter, ..RetryPolicy::new() };
        let delay = |index| policy.backoff(index, random).as_secs_f64();
        assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(delay), expected);
    }
}

#[test]
fn server_requested_delay_above_the_maximum() {
    let long = [("retry-after", "61")];
    assert_eq!(delay(&RetryPolicy::new(), 429, &long), None);
    let policy = RetryPolicy { max_retry_after: Duration::MAX, ..RetryPolicy::new() };
    assert_eq!(delay(&policy, 429, &long), seconds(61.0));
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
        let policy = RetryPolicy { initial_delay: initial, max_delay: max, ..RetryPolicy::new() };
        let full = RetryPolicy { jitter: Jitter::None, ..policy.clone() }.backoff(index, random);
        let wait = policy.backoff(index, random);
        prop_assert!(wait <= full && full <= max);
        prop_assert!(wait >= full - full / 4);
    }
}
