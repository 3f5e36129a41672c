//! Memory budget for decompressed pages.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Granularity of reservations in bytes.
const UNIT: u64 = 64 * 1024;

/// Memory budget for pages and wheel metadata from indexes, disk and bucket while they are decompressed and parsed.
/// Clones share it.
///
/// A reservation that exceeds the budget waits. One page at a time may exceed the budget, so that pages waiting for
/// each other cannot deadlock.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_units: usize,
    units: Arc<Semaphore>,
    overdraft: Arc<Mutex<()>>,
}

impl Budget {
    /// Default of [`Budget::new`]: 512 MiB.
    pub const DEFAULT_BYTES: u64 = 512 << 20;

    /// Creates a budget of this many bytes, rounded down to 64 KiB.
    pub fn new(bytes: u64) -> Self {
        let max = Self::units(bytes);
        let units = Arc::new(Semaphore::new(max));
        Self(Arc::new(Inner { max_units: max, units, overdraft: Arc::default() }))
    }

    /// Returns whether [`Budget::new`] creates a budget of the same size for this many bytes.
    pub(crate) fn has_size(&self, bytes: u64) -> bool {
        Self::units(bytes) == self.0.max_units
    }

    fn units(bytes: u64) -> usize {
        usize::try_from(bytes / UNIT).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
    }

    /// Returns the reserved bytes, without those of the page that exceeds the budget.
    pub fn used(&self) -> u64 {
        (self.0.max_units - self.0.units.available_permits().min(self.0.max_units)) as u64 * UNIT
    }

    /// Creates an empty reservation for one page.
    pub(crate) fn reserve(&self) -> Reservation {
        Reservation { budget: self.clone(), bytes: 0, units: None, overdraft: None }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

/// Memory reserved for one page; released when dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Budget,
    bytes: u64,
    units: Option<OwnedSemaphorePermit>,
    /// Locked by the page that exceeds the budget.
    overdraft: Option<OwnedMutexGuard<()>>,
}

impl Reservation {
    /// Reserves more bytes; waits until they are available.
    pub(crate) async fn grow(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        let reserved = self.units.as_ref().map_or(0, OwnedSemaphorePermit::num_permits) as u64;
        let missing = self.bytes.div_ceil(UNIT).saturating_sub(reserved);
        if missing == 0 || self.overdraft.is_some() {
            return;
        }
        let Inner { max_units, units, overdraft } = &*self.budget.0;
        let fits = missing <= *max_units as u64;
        let missing = u32::try_from(missing).unwrap_or(u32::MAX);
        let more = async {
            if fits {
                units.clone().acquire_many_owned(missing).await.ok()
            } else {
                std::future::pending().await
            }
        };
        tokio::select! {
            biased;
            more = more => match (&mut self.units, more) {
                (Some(units), Some(more)) => units.merge(more),
                (units, more) => *units = more,
            },
            guard = overdraft.clone().lock_owned() => self.overdraft = Some(guard),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn one_page_at_a_time_may_exceed_the_budget() {
        let budget = Budget::new(10 * UNIT);
        let (mut first, mut second, mut third) = (budget.reserve(), budget.reserve(), budget.reserve());
        assert!(first.grow(6 * UNIT).now_or_never().is_some());
        assert!(second.grow(4 * UNIT).now_or_never().is_some());
        assert_eq!(budget.used(), 10 * UNIT);
        // The budget is exhausted: one page continues, the others wait.
        assert!(second.grow(1).now_or_never().is_some());
        assert!(first.grow(1).now_or_never().is_none());
        assert!(third.grow(1).now_or_never().is_none());
        assert!(second.grow(100 * UNIT).now_or_never().is_some());
        assert_eq!(budget.used(), 10 * UNIT);
        drop(second);
        assert_eq!(budget.used(), 6 * UNIT);
        assert!(third.grow(4 * UNIT).now_or_never().is_some());
        drop((first, third));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn small_reservations_add_up_to_units() {
        let budget = Budget::new(UNIT);
        let mut reservation = budget.reserve();
        for _ in 0..UNIT {
            assert!(reservation.grow(1).now_or_never().is_some());
        }
        assert_eq!(budget.used(), UNIT);
        let mut other = Budget::new(0).reserve();
        assert!(other.grow(u64::MAX).now_or_never().is_some());
    }

    #[tokio::test]
    async fn pages_waiting_for_each_other_do_not_deadlock() {
        for max in [0, 1, 7, 100] {
            let budget = Budget::new(max * UNIT);
            let pages = (0..20).map(|number| {
                let budget = budget.clone();
                tokio::spawn(async move {
                    let mut reservation = budget.reserve();
                    for _ in 0..number {
                        reservation.grow(UNIT).await;
                        tokio::task::yield_now().await;
                    }
                })
            });
            for page in pages.collect::<Vec<_>>() {
                page.await.unwrap();
            }
            assert_eq!(budget.used(), 0);
        }
    }
}
