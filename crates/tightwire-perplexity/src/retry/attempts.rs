//! The attempts of one call, and the decision about the next one.

use std::time::Duration;

use super::{Outcome, Repeat, RetryPolicy};

/// The attempts of one call.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    policy: &'a RetryPolicy,
    repeatable: bool,
    made: u32,
    /// What the latest retry cost of the budget.
    paid: u32,
}

impl<'a> Attempts<'a> {
    /// `idempotent` tells whether the call may be repeated under [`Repeat::Idempotent`].
    pub(crate) fn new(policy: &'a RetryPolicy, idempotent: bool) -> Self {
        Self { policy, repeatable: idempotent || policy.repeat == Repeat::Any, made: 0, paid: 0 }
    }

    /// An attempt begins. Returns how many there were before.
    pub(crate) fn begin(&mut self) -> u32 {
        self.made += 1;
        self.made - 1
    }

    /// How many attempts have begun.
    pub(crate) fn made(&self) -> u32 {
        self.made
    }

    /// An attempt failed. Returns how long to wait before the next one, `None` if there is to be none.
    ///
    /// `left` is the time until the deadline of the call: a wait that goes past it is pointless.
    pub(crate) fn failed(&mut self, outcome: &Outcome<'_>, left: Option<Duration>) -> Option<Duration> {
        if !self.repeatable {
            return None;
        }
        let delay = self.policy.delay(outcome, self.made - 1, self.policy.now(), self.policy.draw())?;
        if left.is_some_and(|left| delay >= left) {
            return None;
        }
        if let Some(budget) = &self.policy.budget {
            let throttled = matches!(outcome, Outcome::Status { status, .. } if status.as_u16() == 429);
            self.paid = budget.withdraw(throttled)?;
        }
        Some(delay)
    }

    /// The call succeeded.
    pub(crate) fn succeeded(&self) {
        if let Some(budget) = &self.policy.budget {
            budget.deposit(self.paid);
        }
    }
}
