//! The last failures of indexes and of the bucket, for the log and the status page.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;

use crate::Error;
use crate::error::Chain;
use crate::upstream::PAUSED;

/// Maximum number of failures; the oldest ones are dropped.
pub(crate) const MAX_FAILURES: usize = 50;
/// Maximum length of each text in characters; longer ones are cut.
const MAX_TEXT: usize = 300;

/// At most this many failures are logged per interval.
const MAX_LINES: u32 = 10;
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Minimum time between two log lines about the same failure.
const REPEAT_INTERVAL: Duration = Duration::from_secs(60);

/// A failure without secrets. Repetitions of the same failure are one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Time of the last repetition.
    pub(crate) at: SystemTime,
    /// Project, file or operation.
    pub(crate) subject: Box<str>,
    pub(crate) cause: Box<str>,
    pub(crate) count: u64,
    /// Time of the last log line about the failure.
    pub(crate) logged: Option<Instant>,
}

/// The last failures of one part of the proxy, from the oldest to the newest. Logs them at a limited rate.
#[derive(Debug, Default)]
pub(crate) struct FailureLog(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: VecDeque<Failure>,
    /// Start of the current interval of [`LOG_INTERVAL`], and the lines logged in it.
    interval: Option<(Instant, u32)>,
    /// Failures that were not logged since the last line.
    unlogged: u64,
}

impl FailureLog {
    /// Records and logs a failure, unless no request was sent. `origin` is the URL of the index with masked credentials, if
    /// it is known.
    #[cold]
    pub(crate) fn record(&self, subject: &str, origin: Option<String>, error: &Error) {
        // The failures that caused a pause were recorded.
        if error.is_offline() || error.detail() == Some(PAUSED) {
            return;
        }
        let (subject, chain) = (cut(subject, MAX_TEXT), Chain(error).to_string());
        let cause = match &origin {
            Some(origin) => format!("{origin}: {chain}"),
            None => chain.clone(),
        };
        if let Some(unlogged) = self.add(SystemTime::now(), Instant::now(), subject, cut(&cause, MAX_TEXT)) {
            let (index, error) = (origin.unwrap_or_default(), cut(&chain, MAX_TEXT));
            tracing::warn!(subject, index, error, unlogged, "a request to an index or the bucket failed");
        }
    }

    /// Adds a failure. If it is to be logged, returns the number of earlier ones that were not.
    fn add(&self, at: SystemTime, now: Instant, subject: &str, cause: &str) -> Option<u64> {
        let mut state = self.0.lock();
        let State { failures, interval, unlogged } = &mut *state;
        let same = failures.iter().position(|known| &*known.subject == subject && &*known.cause == cause);
        let known = same.and_then(|same| failures.remove(same));
        if failures.len() >= MAX_FAILURES {
            failures.pop_front();
        }
        let (start, lines) = interval.filter(|(start, _)| now < *start + LOG_INTERVAL).unwrap_or((now, 0));
        let last = known.as_ref().and_then(|known| known.logged);
        let is_logged = lines < MAX_LINES && last.is_none_or(|last| now >= last + REPEAT_INTERVAL);
        *interval = Some((start, lines + u32::from(is_logged)));
        let (count, logged) =
            (known.map_or(0, |known| known.count) + 1, if is_logged { Some(now) } else { last });
        failures.push_back(Failure { at, subject: subject.into(), cause: cause.into(), count, logged });
        if is_logged {
            return Some(std::mem::take(unlogged));
        }
        *unlogged += 1;
        None
    }

    pub(crate) fn all(&self) -> Vec<Failure> {
        self.0.lock().failures.iter().cloned().collect()
    }
}

/// Returns at most the first `max` characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn the_log_is_bounded_and_joins_repetitions() {
        let (log, now) = (FailureLog::default(), Instant::now());
        let time = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for number in 0..60 {
            log.add(time(number), now, &format!("project-{number}"), "timeout");
        }
        log.add(time(70), now, "project-30", "timeout");
        log.add(time(71), now, "project-30", "another cause");
        let all = log.all();
        assert_eq!(all.len(), MAX_FAILURES);
        assert_eq!((&*all[0].subject, all[0].count), ("project-11", 1));
        assert_eq!((&*all[48].subject, all[48].count, all[48].at), ("project-30", 2, time(70)));
        assert_eq!((&*all[49].cause, all[49].count), ("another cause", 1));
    }

    #[test]
    fn log_lines_are_limited() {
        let (log, start) = (FailureLog::default(), Instant::now());
        let add = |seconds, subject: &str| {
            log.add(SystemTime::UNIX_EPOCH, start + Duration::from_secs(seconds), subject, "timeout")
        };
        assert_eq!((add(0, "a"), add(1, "a"), add(59, "a"), add(60, "a")), (Some(0), None, None, Some(2)));
        let logged = (0..20).filter(|number| add(61, &format!("p-{number}")).is_some()).count();
        assert_eq!(logged, 9, "and one before in the same interval");
        assert_eq!((add(68, "b"), add(69, "b")), (None, Some(12)));
    }

    #[test]
    fn requests_that_were_not_sent_are_not_recorded() {
        let log = FailureLog::default();
        for error in [Error::new(Kind::Offline), Error::with(Kind::Upstream, PAUSED)] {
            log.record("six", None, &error);
        }
        assert!(log.all().is_empty());
    }

    #[test]
    fn texts_are_cut() {
        let log = FailureLog::default();
        log.record(&"ä".repeat(1000), Some("x".repeat(1000)), &Error::with(Kind::Upstream, "y"));
        let failure = log.all().remove(0);
        assert_eq!((failure.subject.chars().count(), failure.cause.chars().count()), (MAX_TEXT, MAX_TEXT));
    }
}
