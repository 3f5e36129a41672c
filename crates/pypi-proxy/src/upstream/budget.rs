//! Memory for what is decompressed.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// What is reserved at a time.
const UNIT: u64 = 64 * 1024;

/// Memory for pages and metadata of wheels while they are decompressed and read, from indexes, the disk or a bucket. Clones
/// share it.
///
/// What needs more than is left waits. One page at a time may exceed the budget, so that pages that wait for each other
/// come to an end.
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

    /// A budget of this many bytes, in steps of 64 KiB.
    pub fn new(bytes: u64) -> Self {
        let max = usize::try_from(bytes / UNIT).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        let units = Arc::new(Semaphore::new(max));
        Self(Arc::new(Inner { max_units: max, units, overdraft: Arc::default() }))
    }

    /// Bytes that are in use now, without those of the page that exceeds the budget.
    pub fn used(&self) -> u64 {
        (self.0.max_units - self.0.units.available_permits().min(self.0.max_units)) as u64 * UNIT
    }

    /// What one page uses of it: nothing yet.
    pub(crate) fn share(&self) -> Share {
        Share { budget: self.clone(), bytes: 0, units: None, overdraft: None }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

/// What one page uses of a budget, until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Budget,
    bytes: u64,
    units: Option<OwnedSemaphorePermit>,
    /// Held by the one that exceeds the budget.
    overdraft: Option<OwnedMutexGuard<()>>,
}

impl Share {
    /// Waits until there is room for more bytes.
    pub(crate) async fn grow(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        let held = self.units.as_ref().map_or(0, OwnedSemaphorePermit::num_permits) as u64;
        let missing = self.bytes.div_ceil(UNIT).saturating_sub(held);
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
    fn one_page_at_a_time_exceeds_the_budget() {
        let budget = Budget::new(10 * UNIT);
        let (mut first, mut second, mut third) = (budget.share(), budget.share(), budget.share());
        assert!(first.grow(6 * UNIT).now_or_never().is_some());
        assert!(second.grow(4 * UNIT).now_or_never().is_some());
        assert_eq!(budget.used(), 10 * UNIT);
        // The budget is used up: one goes on, the others wait.
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
    fn small_steps_add_up_to_units() {
        let budget = Budget::new(UNIT);
        let mut share = budget.share();
        for _ in 0..UNIT {
            assert!(share.grow(1).now_or_never().is_some());
        }
        assert_eq!(budget.used(), UNIT);
        let mut other = Budget::new(0).share();
        assert!(other.grow(u64::MAX).now_or_never().is_some());
    }

    #[tokio::test]
    async fn pages_that_wait_for_each_other_come_to_an_end() {
        for max in [0, 1, 7, 100] {
            let budget = Budget::new(max * UNIT);
            let pages = (0..20).map(|number| {
                let budget = budget.clone();
                tokio::spawn(async move {
                    let mut share = budget.share();
                    for _ in 0..number {
                        share.grow(UNIT).await;
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
