//! Messages that were received in part.

use std::collections::HashMap;

use uuid::Uuid;

use crate::error::{Error, Kind};
use crate::fragment::{Assembler, AssemblerOptions, OutOfOrder, Priority};

type Lane = (Option<Uuid>, Priority);

/// An assembler for each stream that a message is open on, with a limit of what all of them hold.
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

    /// Takes the assembler of a stream out, to be given back by [`Inbox::put`].
    pub(crate) fn take(&mut self, target: Option<Uuid>, priority: Priority) -> Assembler {
        // Hardly any message comes in parts: spares the hash of an identifier.
        let known = match self.assemblers.is_empty() {
            true => None,
            false => self.assemblers.remove(&(target, priority)),
        };
        match known {
            Some(assembler) => {
                self.partial -= assembler.held_bytes();
                assembler
            }
            None => Assembler::with_options(self.options),
        }
    }

    /// Keeps an assembler if it waits for the rest of something.
    pub(crate) fn put(
        &mut self,
        target: Option<Uuid>,
        priority: Priority,
        assembler: Assembler,
    ) -> Result<(), Error> {
        if assembler.is_idle() {
            return Ok(());
        }
        self.partial += assembler.held_bytes();
        self.assemblers.insert((target, priority), assembler);
        if self.partial > self.max_partial {
            return Err(Error::with(Kind::Limit, "bytes of messages that were received in part"));
        }
        Ok(())
    }

    /// Whether a message is there in part.
    pub(crate) fn is_pending(&self) -> bool {
        !self.assemblers.is_empty()
    }

    /// After a reconnect the rest of a message whose start is lost may arrive.
    pub(crate) fn tolerate_lost_fragments(&mut self) {
        self.options = self.options.out_of_order(OutOfOrder::Skip);
        self.clear();
    }

    pub(crate) fn forget(&mut self, target: Option<Uuid>) {
        for priority in [Priority::Default, Priority::PromptResponse] {
            self.take(target, priority);
        }
    }

    pub(super) fn clear(&mut self) {
        self.assemblers.clear();
        self.partial = 0;
    }
}
