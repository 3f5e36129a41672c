//! Partial messages.

use std::collections::HashMap;

use uuid::Uuid;

use super::lane::Lane;
use crate::error::{Error, Kind};
use crate::fragment::{Assembler, AssemblerOptions, OutOfOrder, Priority};

/// Assemblers of all streams with a partial message, with a limit of their total size.
pub(crate) struct Inbox {
    assemblers: HashMap<Lane, Assembler>,
    options: AssemblerOptions,
    partial: usize,
    max_partial: usize,
}

impl Inbox {
    pub(super) fn new(max_object_size: usize, max_partial: usize) -> Self {
        Self {
            assemblers: HashMap::new(),
            options: AssemblerOptions::new().max_object_size(max_object_size),
            partial: 0,
            max_partial,
        }
    }

    /// Removes the assembler of a stream, or creates one. Return it with [`Inbox::put`].
    pub(crate) fn take(&mut self, target: Option<Uuid>, priority: Priority) -> Assembler {
        // Most messages arrive as a whole: skips hashing the identifier.
        let existing = match self.assemblers.is_empty() {
            true => None,
            false => self.assemblers.remove(&Lane { target, priority }),
        };
        match existing {
            Some(assembler) => {
                self.partial -= assembler.buffered_bytes();
                assembler
            }
            None => Assembler::with_options(self.options),
        }
    }

    /// Stores an assembler that has buffered input. Fails if all partial messages together exceed the limit.
    pub(crate) fn put(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        assembler: Assembler,
    ) -> Result<(), Error> {
        if assembler.is_idle() {
            return Ok(());
        }
        self.partial += assembler.buffered_bytes();
        self.assemblers.insert(Lane { target, priority }, assembler);
        if self.partial > self.max_partial {
            return Err(Error::with(Kind::Limit, "bytes of partial messages"));
        }
        Ok(())
    }

    /// Returns whether any message is partially received.
    pub(crate) fn is_pending(&self) -> bool {
        !self.assemblers.is_empty()
    }

    /// Skips fragments out of order from now on: after a reconnect, the rest of a message may arrive whose start was
    /// lost.
    pub(crate) fn skip_out_of_order(&mut self) {
        self.options = self.options.out_of_order(OutOfOrder::Skip);
        self.clear();
    }

    pub(crate) fn remove(&mut self, target: Option<Uuid>) {
        for priority in [Priority::Default, Priority::PromptResponse] {
            self.take(target, priority);
        }
    }

    pub(super) fn clear(&mut self) {
        self.assemblers.clear();
        self.partial = 0;
    }
}
