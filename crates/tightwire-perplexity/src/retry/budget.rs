//! How much all calls of a client together may retry.

use std::sync::atomic::{AtomicU32, Ordering};

/// A bucket of tokens that every retry is paid from.
///
/// When a service is down, each caller that retries adds to its load. A bucket that all clones of a client share lets
/// single failures be retried and stops retrying once most calls fail. A retry after a 429 costs 5 tokens, any other
/// one 14; a call that succeeds gives back what its last retry cost, or one token if it needed none.
#[derive(Debug)]
pub struct RetryBudget {
    tokens: AtomicU32,
    capacity: u32,
}

impl RetryBudget {
    /// The capacity that suits a service with some hundred calls per second.
    pub const DEFAULT_CAPACITY: u32 = 500;

    const THROTTLED: u32 = 5;
    const FAILED: u32 = 14;

    /// A full bucket of `capacity` tokens.
    pub const fn new(capacity: u32) -> Self {
        Self { tokens: AtomicU32::new(capacity), capacity }
    }

    /// How many tokens are left.
    pub fn tokens(&self) -> u32 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// Pays for a retry; `None` if there is too little left.
    pub(super) fn withdraw(&self, throttled: bool) -> Option<u32> {
        let cost = if throttled { Self::THROTTLED } else { Self::FAILED };
        let paid =
            self.tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tokens| tokens.checked_sub(cost));
        paid.ok().map(|_| cost)
    }

    /// Gives back what the last retry cost.
    pub(super) fn deposit(&self, cost: u32) {
        let full = |tokens: u32| Some(tokens.saturating_add(cost.max(1)).min(self.capacity));
        // The closure never refuses.
        let _ = self.tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, full);
    }
}

impl Default for RetryBudget {
    /// A bucket of [`DEFAULT_CAPACITY`](Self::DEFAULT_CAPACITY) tokens.
    fn default() -> Self {
        Self::new(Self::DEFAULT_CAPACITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_paid_until_nothing_is_left() {
        let budget = RetryBudget::new(20);
        assert_eq!(budget.withdraw(false), Some(14));
        assert_eq!(budget.withdraw(false), None);
        assert_eq!(budget.withdraw(true), Some(5));
        assert_eq!(budget.withdraw(true), None);
        assert_eq!(budget.tokens(), 1);
    }

    #[test]
    fn success_fills_up_to_the_capacity() {
        let budget = RetryBudget::new(20);
        budget.withdraw(false);
        budget.deposit(0);
        assert_eq!(budget.tokens(), 7);
        budget.deposit(14);
        assert_eq!(budget.tokens(), 20);
    }
}
