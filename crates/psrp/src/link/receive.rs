//! Receives fragments for the pool and its pipelines, on client and server.

use uuid::Uuid;

use super::error::peer_error_record;
use super::messages::Link;
use crate::error::{Error, Kind};
use crate::fragment::Priority;
use crate::message::Message;
use crate::record::ErrorRecord;

/// Receive state of a pipeline.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiveState {
    /// Fragment bytes received so far.
    bytes: usize,
    /// A message was malformed or exceeded a limit: further input is dropped.
    is_input_failed: bool,
}

/// A client's or server's pool, as the receiver of messages.
pub(crate) trait PoolReceiver {
    fn link(&mut self) -> &mut Link;

    /// Returns `None` if the pipeline does not exist.
    fn receive_state(&mut self, id: Uuid) -> Option<&mut ReceiveState>;

    /// Maximum fragment bytes received for one pipeline.
    fn max_data_per_command(&self) -> usize;

    /// Returns whether the pool has ended. Remaining input is ignored then.
    fn has_ended(&self) -> bool;

    /// Processes a message, `None` for one of another pool. Returns only errors that break the pool: a message that is
    /// malformed or exceeds a limit fails its pipeline instead.
    fn deliver(&mut self, message: Option<&Message<'_>>) -> Result<(), Error>;

    /// Fails a pipeline whose input cannot be decoded.
    fn fail_unreadable(&mut self, id: Uuid, reason: ErrorRecord);

    /// Breaks the pool and returns the error.
    fn fail_pool(&mut self, error: Error) -> Error;
}

/// Processes fragments for a pipeline, or for the pool with `None`. Malformed fragments and message headers, and those
/// that exceed a limit, fail the target pipeline or the pool.
pub(crate) fn receive(
    pool: &mut impl PoolReceiver,
    priority: Priority,
    target: Option<Uuid>,
    mut bytes: &[u8],
) -> Result<(), Error> {
    if let Some(id) = target {
        let max = pool.max_data_per_command();
        let Some(state) = pool.receive_state(id) else { return Ok(()) };
        state.bytes = state.bytes.saturating_add(bytes.len());
        if state.is_input_failed {
            return Ok(());
        }
        if state.bytes > max {
            fail_pipeline_input(pool, id, &Error::with(Kind::Limit, "bytes received for one pipeline"));
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
                let is_over = |id| pool.receive_state(id).is_none_or(|state| state.is_input_failed);
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
            fail_pipeline_input(pool, id, &error);
            Ok(())
        }
        (result, _) => result.map_err(|error| pool.fail_pool(error)),
    }
}

/// Fails a pipeline whose input cannot be decoded. Its further input is dropped.
pub(crate) fn fail_pipeline_input(pool: &mut impl PoolReceiver, id: Uuid, error: &Error) {
    let Some(state) = pool.receive_state(id) else { return };
    state.is_input_failed = true;
    pool.link().inbox.remove(Some(id));
    pool.fail_unreadable(id, peer_error_record(error));
}
