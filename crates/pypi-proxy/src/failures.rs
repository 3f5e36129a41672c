//! The last failures of indexes and of the bucket, for the status page.

use std::collections::VecDeque;
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::Error;
use crate::error::Chain;

/// Maximum number of failures; the oldest ones are dropped.
pub(crate) const MAX_FAILURES: usize = 50;
/// Maximum length of each text in characters; longer ones are cut.
const MAX_TEXT: usize = 300;

/// A failure without secrets. Repetitions of the same failure are one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Time of the last repetition.
    pub(crate) at: SystemTime,
    /// Project, file or operation.
    pub(crate) subject: Box<str>,
    pub(crate) cause: Box<str>,
    pub(crate) count: u64,
}

/// The last failures of one part of the proxy, from the oldest to the newest.
#[derive(Debug, Default)]
pub(crate) struct FailureLog(Mutex<VecDeque<Failure>>);

impl FailureLog {
    /// Records a failure. `origin` is the URL of the index with masked credentials, if it is known.
    #[cold]
    pub(crate) fn record(&self, subject: &str, origin: Option<String>, error: &Error) {
        let cause = match origin {
            Some(origin) => format!("{origin}: {}", Chain(error)),
            None => Chain(error).to_string(),
        };
        self.add(SystemTime::now(), cut(subject, MAX_TEXT), cut(&cause, MAX_TEXT));
    }

    fn add(&self, at: SystemTime, subject: &str, cause: &str) {
        let mut log = self.0.lock();
        let same = log.iter().position(|known| &*known.subject == subject && &*known.cause == cause);
        let count = same.and_then(|same| log.remove(same)).map_or(0, |known| known.count) + 1;
        if log.len() >= MAX_FAILURES {
            log.pop_front();
        }
        log.push_back(Failure { at, subject: subject.into(), cause: cause.into(), count });
    }

    pub(crate) fn all(&self) -> Vec<Failure> {
        self.0.lock().iter().cloned().collect()
    }
}

/// Returns at most the first `max` characters.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::Kind;

    #[test]
    fn the_log_is_bounded_and_joins_repetitions() {
        let log = FailureLog::default();
        let time = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for number in 0..60 {
            log.add(time(number), &format!("project-{number}"), "timeout");
        }
        log.add(time(70), "project-30", "timeout");
        log.add(time(71), "project-30", "another cause");
        let all = log.all();
        assert_eq!(all.len(), MAX_FAILURES);
        assert_eq!((&*all[0].subject, all[0].count), ("project-11", 1));
        assert_eq!((&*all[48].subject, all[48].count, all[48].at), ("project-30", 2, time(70)));
        assert_eq!((&*all[49].cause, all[49].count), ("another cause", 1));
    }

    #[test]
    fn texts_are_cut() {
        let log = FailureLog::default();
        log.record(&"ä".repeat(1000), Some("x".repeat(1000)), &Error::with(Kind::Upstream, "y"));
        let failure = log.all().remove(0);
        assert_eq!((failure.subject.chars().count(), failure.cause.chars().count()), (MAX_TEXT, MAX_TEXT));
    }
}
