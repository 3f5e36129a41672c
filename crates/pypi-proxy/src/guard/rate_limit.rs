//! Rate limiting per client: average rate and burst.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hashlink::LinkedHashMap;

/// Maximum number of clients with state. The least recently active clients are evicted, which resets their limit.
const MAX_CLIENTS: usize = 65_536;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ClientId {
    /// User or token owner, from any address.
    User(Arc<str>),
    V4(u32),
    /// The first 64 bits of an address, because a client usually controls the whole network.
    V6(u64),
    Unknown,
}

impl From<Option<IpAddr>> for ClientId {
    fn from(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Self::Unknown,
            Some(IpAddr::V4(address)) => Self::V4(address.to_bits()),
            Some(IpAddr::V6(address)) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// A token bucket per client, stored as the time at which it is full again (generic cell rate algorithm).
#[derive(Debug)]
pub(crate) struct RateLimiter {
    /// Average time between two requests.
    interval: Duration,
    /// Time to fill an empty bucket.
    depth: Duration,
    full: LinkedHashMap<ClientId, Duration>,
}

impl RateLimiter {
    /// Creates a limiter with an average rate and a burst, both at least 1.
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, depth: interval * burst.max(1), full: LinkedHashMap::new() }
    }

    /// Takes one token of a client. Returns the time until a token is available.
    pub(crate) fn acquire(&mut self, client: ClientId, now: Duration) -> Result<(), Duration> {
        let full = self.full.to_back(&client).copied().unwrap_or_default().max(now) + self.interval;
        let early = full.saturating_sub(now + self.depth);
        if !early.is_zero() {
            return Err(early);
        }
        self.full.insert(client, full);
        if self.full.len() > MAX_CLIENTS {
            self.full.pop_front();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn burst_is_granted_at_once_then_single_requests() {
        let mut limiter = RateLimiter::new(10, 3);
        for _ in 0..3 {
            assert_eq!(limiter.acquire(ClientId::Unknown, ms(5000)), Ok(()));
        }
        assert_eq!(limiter.acquire(ClientId::Unknown, ms(5000)), Err(ms(100)));
        assert_eq!(limiter.acquire(ClientId::Unknown, ms(5060)), Err(ms(40)));
        assert_eq!(limiter.acquire(ClientId::Unknown, ms(5100)), Ok(()));
        assert_eq!(limiter.acquire(ClientId::Unknown, ms(5100)), Err(ms(100)));
        // Other clients have separate buckets, and an idle bucket fills up to the burst only.
        assert_eq!(limiter.acquire(ClientId::V4(1), ms(5100)), Ok(()));
        let acquired = (0..10).filter(|_| limiter.acquire(ClientId::Unknown, ms(60_000)).is_ok()).count();
        assert_eq!(acquired, 3);
    }

    #[test]
    fn least_recently_active_clients_are_evicted() {
        let mut limiter = RateLimiter::new(1, 1);
        for client in 0..u32::try_from(MAX_CLIENTS).unwrap() {
            assert_eq!(limiter.acquire(ClientId::V4(client), ms(0)), Ok(()));
        }
        // A rejected request also counts as activity.
        assert!(limiter.acquire(ClientId::V4(0), ms(0)).is_err());
        assert_eq!(limiter.acquire(ClientId::Unknown, ms(0)), Ok(()));
        assert_eq!(limiter.full.len(), MAX_CLIENTS);
        assert_eq!(limiter.acquire(ClientId::V4(1), ms(0)), Ok(()));
        assert!(limiter.acquire(ClientId::V4(0), ms(0)).is_err());
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client() {
        let client = |text: &str| ClientId::from(Some(text.parse::<IpAddr>().unwrap()));
        assert_eq!(client("2001:db8:0:1::1"), client("2001:db8::1:ffff:0:0:1"));
        assert_ne!(client("2001:db8:0:1::1"), client("2001:db8:0:2::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.2"), client("192.0.2.1"));
    }

    proptest! {
        /// In any time span, at most rate times span plus one burst is granted, and a retry after the returned delay
        /// succeeds.
        #[test]
        fn rate_and_burst_are_never_exceeded(
            rate in 1_u32..50, burst in 1_u32..20, steps in prop::collection::vec(0_u64..400, 1..200),
        ) {
            let mut limiter = RateLimiter::new(rate, burst);
            let (mut now, mut granted) = (Duration::ZERO, Vec::new());
            for step in steps {
                now += ms(step);
                if let Err(wait) = limiter.acquire(ClientId::Unknown, now) {
                    prop_assert!(wait <= limiter.interval);
                    now += wait;
                    prop_assert_eq!(limiter.acquire(ClientId::Unknown, now), Ok(()));
                }
                granted.push(now);
            }
            for (index, start) in granted.iter().enumerate() {
                for (count, end) in (1_u32..).zip(&granted[index..]) {
                    prop_assert!(limiter.interval * count <= limiter.depth + (*end - *start));
                }
            }
        }
    }
}
