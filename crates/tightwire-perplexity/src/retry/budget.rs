//! Retry budget shared by all calls of a client.

use std::sync::atomic::{AtomicU32, Ordering};

/// Token bucket that limits the retries of all calls together.
///
/// When a service is down, retries add to its load. The budget, shared by all clones of a client, lets single
/// failures be retried and stops retrying once most calls fail. A retry after a 429 costs 5 tokens, any other
/// retry 14. A successful call refunds the cost of its last retry, or one token if it needed none.
#[derive(Debug)]
pub struct RetryBudget {
    tokens: AtomicU32,
    capacity: u32,
}

impl RetryBudget {
    /// Default capacity, in tokens. Suits clients with some hundred calls per second.
    pub const DEFAULT_CAPACITY: u32 = 500;

    const THROTTLED: u32 = 5;
    const FAILED: u32 = 14;

    /// Creates a full bucket of `capacity` tokens.
    pub const fn new(capacity: u32) -> Self {
        Self { tokens: AtomicU32::new(capacity), capacity }
    }

    /// Returns the remaining tokens.
    pub fn tokens(&self) -> u32 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// Takes the cost of a retry. Returns `None` if too few tokens are left.
    pub(super) fn withdraw(&self, throttled: bool) -> Option<u32> {
        let cost = if throttled { Self::THROTTLED } else { Self::FAILED };
        let paid =
            self.tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tokens| tokens.checked_sub(cost));
        paid.ok().map(|_| cost)
    }

    /// Refunds the cost of the last retry, at least one token.
    pub(super) fn deposit(&self, cost: u32) {
        let full = |tokens: u32| Some(tokens.saturating_add(cost.max(1)).min(self.capacity));
        // The closure always returns `Some`.
        let _ = self.tokens.fetch_update(Ordering::Relaxed, Ordering::Relaxed, full);
    }
}

impl Default for RetryBudget {
    /// Creates a bucket of [`DEFAULT_CAPACITY`](Self::DEFAULT_CAPACITY) tokens.
    fn default() -> Self {
        Self::new(Self::DEFAULT_CAPACITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_cost_tokens_until_the_bucket_is_empty() {
        let budget = RetryBudget::new(20);
        assert_eq!(budget.withdraw(false), Some(14));
        assert_eq!(budget.withdraw(false), None);
        assert_eq!(budget.withdraw(true), Some(5));
        assert_eq!(budget.withdraw(true), None);
        assert_eq!(budget.tokens(), 1);
    }

    #[test]
    fn success_refunds_up_to_the_capacity() {
        let budget = RetryBudget::new(20);
        budget.withdraw(false);
        budget.deposit(0);
        assert_eq!(budget.tokens(), 7);
        budget.deposit(14);
        assert_eq!(budget.tokens(), 20);
    }
}
