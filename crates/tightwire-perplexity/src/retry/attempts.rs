//! Attempt counter of one call.

use std::time::{Duration, SystemTime};

use super::{Outcome, Repeat, RetryPolicy};

/// Counts the attempts of one call and decides about retries.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    repeatable: bool,
    made: u32,
    /// Tokens that the last retry took from the budget.
    paid: u32,
}

impl<'a> Attempts<'a> {
    /// `idempotent` is whether the call may be retried under [`Repeat::Idempotent`].
    pub(crate) fn new(policy: &'a RetryPolicy, idempotent: bool) -> Self {
        Self { policy, repeatable: idempotent || policy.repeat == Repeat::Any, made: 0, paid: 0 }
    }

    /// Starts an attempt.
    pub(crate) fn begin(&mut self) {
        self.made += 1;
    }

    /// Returns the number of attempts started.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    /// Records a failed attempt. Returns the delay before the next one, or `None` to give up.
    ///
    /// `left` is the time until the deadline of the call; a delay beyond it would be useless.
    pub(crate) fn failed(&mut self, outcome: &Outcome<'_>, left: Option<Duration>) -> Option<Duration> {
        if !self.repeatable {
            return None;
        }
        let delay = self.policy.delay(outcome, self.made - 1, SystemTime::now(), fastrand::u32(..))?;
        if left.is_some_and(|left| delay >= left) {
            return None;
        }
        if let Some(budget) = &self.policy.budget {
            let throttled = matches!(outcome, Outcome::Status { status, .. } if status.as_u16() == 429);
            self.paid = budget.withdraw(throttled)?;
        }
        Some(delay)
    }

    /// Records a successful attempt.
    pub(crate) fn succeeded(&self) {
        if let Some(budget) = &self.policy.budget {
            budget.deposit(self.paid);
        }
    }
}
