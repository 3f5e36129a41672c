//! Log of refusals that matter for security: events with the target `pypi_proxy::audit`.

use std::net::IpAddr;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::Level;

use crate::failures::cut;
use crate::guard::{ClientId, RateLimiter};
use crate::metrics::named;

/// Maximum number of events of one kind at once. Further events are logged once per second, so that clients can't fill
/// the disk.
const BURST: u32 = 60;
/// Maximum length of a path in characters; longer ones are cut.
const MAX_PATH: usize = 512;

named! {
    /// Kind of a refusal.
    pub(crate) enum AuditEvent {
        Login = "login",
        RateLimit = "rate_limit",
        Rule = "rule",
        Purge = "purge",
        FileHost = "file_host",
        Hash = "hash",
    }
}

/// Fields of an event; unknown ones are left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refusal<'a> {
    pub(crate) client: Option<IpAddr>,
    /// User or token owner.
    pub(crate) user: Option<&'a str>,
    /// Path of the request.
    pub(crate) path: Option<&'a str>,
    /// Project and name of a file.
    pub(crate) file: Option<&'a str>,
    pub(crate) rule: Option<&'a str>,
}

/// Rate limit of one kind of event.
struct Limit {
    limiter: RateLimiter,
    /// Events that were not logged since the last one.
    suppressed: u64,
}

impl Limit {
    fn new() -> Self {
        Self { limiter: RateLimiter::new(1, BURST), suppressed: 0 }
    }

    /// Returns the number of suppressed events before this one, or `None` if this one is suppressed.
    fn admit(&mut self, now: Duration) -> Option<u64> {
        if self.limiter.acquire(ClientId::Unknown, now).is_err() {
            self.suppressed += 1;
            return None;
        }
        Some(std::mem::take(&mut self.suppressed))
    }
}

struct Limits {
    start: Instant,
    each: [Mutex<Limit>; AuditEvent::ALL.len()],
}

/// One for the process: the disk is shared as well.
static LIMITS: LazyLock<Limits> = LazyLock::new(|| Limits {
    start: Instant::now(),
    each: AuditEvent::ALL.map(|_| Mutex::new(Limit::new())),
});

/// Logs a refusal, unless there were too many of this kind.
#[cold]
pub(crate) fn record(event: AuditEvent, refusal: Refusal<'_>) {
    if !tracing::enabled!(target: "pypi_proxy::audit", Level::WARN) {
        return;
    }
    let admitted = LIMITS.each[event as usize].lock().admit(LIMITS.start.elapsed());
    let Some(suppressed) = admitted else { return };
    let Refusal { client, user, path, file, rule } = refusal;
    let path = path.map(|path| cut(path, MAX_PATH));
    tracing::warn!(
        target: "pypi_proxy::audit",
        event = event.name(),
        client = client.map(tracing::field::display),
        user,
        path,
        file,
        rule,
        suppressed,
        "refused"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_limited_and_suppressed_ones_are_counted() {
        let mut limit = Limit::new();
        let start = Duration::from_secs(100);
        let admitted = (0..BURST + 10).filter(|_| limit.admit(start).is_some()).count();
        assert_eq!(admitted, BURST as usize);
        assert_eq!(limit.admit(start + Duration::from_millis(900)), None);
        assert_eq!(limit.admit(start + Duration::from_secs(1)), Some(11));
        assert_eq!(limit.admit(start + Duration::from_secs(1)), None);
        assert_eq!(limit.admit(start + Duration::from_secs(2)), Some(1));
    }
}
