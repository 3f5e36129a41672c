//! How much a client may ask: requests a second on average, and so many at once.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hashlink::LinkedHashMap;

/// The most clients that are remembered. Of more, those are forgotten that have asked for nothing the longest, as if they
/// had never asked.
const MAX_CLIENTS: usize = 65_536;

/// Whom requests are counted for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// Whoever has logged in by this name, from wherever.
    User(Arc<str>),
    V4(u32),
    /// The network of an address, 64 bits: whoever has one address of it has them all.
    V6(u64),
    Unknown,
}

impl From<Option<IpAddr>> for Client {
    fn from(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Self::Unknown,
            Some(IpAddr::V4(address)) => Self::V4(address.to_bits()),
            Some(IpAddr::V6(address)) => Self::V6((address.to_bits() >> 64) as u64),
        }
    }
}

/// A token bucket for each client, kept as the time at which it is full again (the generic cell rate algorithm).
#[derive(Debug)]
pub(super) struct Limiter {
    /// Between two requests, on average.
    interval: Duration,
    /// Until an empty bucket is full.
    depth: Duration,
    full: LinkedHashMap<Client, Duration>,
}

impl Limiter {
    /// So many requests a second, and so many at once; neither is 0.
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.max(1);
        Self { interval, depth: interval * burst.max(1), full: LinkedHashMap::new() }
    }

    /// Takes one request of a client at this time.
    ///
    /// # Errors
    ///
    /// Tells after what time there will be one, if there is none left.
    pub(super) fn take(&mut self, client: Client, now: Duration) -> Result<(), Duration> {
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
    fn a_burst_is_taken_at_once_and_then_one_at_a_time() {
        let mut limiter = Limiter::new(10, 3);
        for _ in 0..3 {
            assert_eq!(limiter.take(Client::Unknown, ms(5000)), Ok(()));
        }
        assert_eq!(limiter.take(Client::Unknown, ms(5000)), Err(ms(100)));
        assert_eq!(limiter.take(Client::Unknown, ms(5060)), Err(ms(40)));
        assert_eq!(limiter.take(Client::Unknown, ms(5100)), Ok(()));
        assert_eq!(limiter.take(Client::Unknown, ms(5100)), Err(ms(100)));
        // Others have buckets of their own, and one that is left alone gets full, not more.
        assert_eq!(limiter.take(Client::V4(1), ms(5100)), Ok(()));
        let taken = (0..10).filter(|_| limiter.take(Client::Unknown, ms(60_000)).is_ok()).count();
        assert_eq!(taken, 3);
    }

    #[test]
    fn clients_are_forgotten_in_the_order_in_which_they_asked() {
        let mut limiter = Limiter::new(1, 1);
        for client in 0..u32::try_from(MAX_CLIENTS).unwrap() {
            assert_eq!(limiter.take(Client::V4(client), ms(0)), Ok(()));
        }
        // Asking in vain counts as well.
        assert!(limiter.take(Client::V4(0), ms(0)).is_err());
        assert_eq!(limiter.take(Client::Unknown, ms(0)), Ok(()));
        assert_eq!(limiter.full.len(), MAX_CLIENTS);
        assert_eq!(limiter.take(Client::V4(1), ms(0)), Ok(()));
        assert!(limiter.take(Client::V4(0), ms(0)).is_err());
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        let client = |text: &str| Client::from(Some(text.parse::<IpAddr>().unwrap()));
        assert_eq!(client("2001:db8:0:1::1"), client("2001:db8::1:ffff:0:0:1"));
        assert_ne!(client("2001:db8:0:1::1"), client("2001:db8:0:2::1"));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
        assert_ne!(client("192.0.2.2"), client("192.0.2.1"));
    }

    proptest! {
        /// In any span of time no more is granted than its rate and one burst, and whoever waits as told is not refused.
        #[test]
        fn no_more_is_granted_than_was_promised(
            rate in 1_u32..50, burst in 1_u32..20, steps in prop::collection::vec(0_u64..400, 1..200),
        ) {
            let mut limiter = Limiter::new(rate, burst);
            let (mut now, mut granted) = (Duration::ZERO, Vec::new());
            for step in steps {
                now += ms(step);
                if let Err(wait) = limiter.take(Client::Unknown, now) {
                    prop_assert!(wait <= limiter.interval);
                    now += wait;
                    prop_assert_eq!(limiter.take(Client::Unknown, now), Ok(()));
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
