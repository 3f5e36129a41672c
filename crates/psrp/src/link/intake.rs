//! What either end does with the fragments that arrive.

use uuid::Uuid;

use super::{Link, record_of};
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::message::Message;
use crate::record::ErrorRecord;

/// What has come for one pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Intake {
    /// In fragments.
    bytes: usize,
    /// A message was malformed or exceeded a limit: the rest is dropped.
    is_given_up: bool,
}

/// A pool of either end, as far as fragments go.
pub(crate) trait Receiver {
    fn link(&mut self) -> &mut Link;

    /// `None` if there is no such pipeline.
    fn intake(&mut self, id: Uuid) -> Option<&mut Intake>;

    /// The most bytes of fragments for one pipeline.
    fn max_data_per_command(&self) -> usize;

    /// Whether the pool has ended, so that the rest does not matter.
    fn has_ended(&self) -> bool;

    /// Takes a message, `None` for one of another pool. Errors are those of the pool; a message of a pipeline that is
    /// malformed or exceeds a limit fails that pipeline instead.
    fn deliver(&mut self, message: Option<&Message<'_>>) -> Result<(), Error>;

    /// Fails a pipeline whose messages can't be read.
    fn fail_unread(&mut self, id: Uuid, reason: ErrorRecord);

    /// Ends the pool because of an error.
    fn fail_pool(&mut self, error: Error) -> Error;
}

/// Takes fragments for a pipeline, or for the pool itself. Fragments and headers of messages that are malformed or exceed a
/// limit fail the pipeline that they were sent to, or else the pool.
pub(crate) fn receive(
    pool: &mut impl Receiver,
    priority: Priority,
    target: Option<Uuid>,
    mut bytes: &[u8],
) -> Result<(), Error> {
    if let Some(id) = target {
        let max = pool.max_data_per_command();
        let Some(intake) = pool.intake(id) else { return Ok(()) };
        intake.bytes = intake.bytes.saturating_add(bytes.len());
        if intake.is_given_up {
            return Ok(());
        }
        if intake.bytes > max {
            give_up(pool, id, &Error::with(Kind::Limit, "too much data for one command"));
            return Ok(());
        }
    }
    let mut assembler = pool.link().inbox.take(target, priority);
    let result = loop {
        match assembler.next(&mut bytes) {
            Ok(Some(message)) => {
                let message = match pool.link().accept(message) {
                    Ok(message) => message,
                    Err(error) => break Err(error),
                };
                pool.deliver(message.as_ref()).map_err(|error| pool.fail_pool(error))?;
                let is_over = |id| pool.intake(id).is_none_or(|intake| intake.is_given_up);
                if target.is_some_and(is_over) || pool.has_ended() {
                    return Ok(());
                }
            }
            Ok(None) => break pool.link().inbox.put(target, priority, assembler),
            Err(error) => break Err(error),
        }
    };
    match (result, target) {
        (Err(error), Some(id)) => {
            give_up(pool, id, &error);
            Ok(())
        }
        (result, _) => result.map_err(|error| pool.fail_pool(error)),
    }
}

/// Fails a pipeline whose messages can't be read. What else comes for it is dropped.
pub(crate) fn give_up(pool: &mut impl Receiver, id: Uuid, error: &Error) {
    let Some(intake) = pool.intake(id) else { return };
    intake.is_given_up = true;
    pool.link().inbox.forget(Some(id));
    pool.fail_unread(id, record_of(error));
}
