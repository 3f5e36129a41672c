//! Methods that the pools of client and server have in common.

/// Implements the common methods for a `RunspacePool` whose fields have the same names and types in both roles.
macro_rules! pool_methods {
    () => {
        impl RunspacePool {
            /// Returns the identifier of the pool, which the client chooses. At the server it is nil until the first
            /// message.
            pub fn id(&self) -> Uuid {
                self.link.pool_id
            }

            /// Returns the state of the pool.
            pub fn state(&self) -> RunspacePoolState {
                self.state
            }

            /// Returns the minimum number of runspaces agreed with the peer.
            pub fn min_runspaces(&self) -> i32 {
                self.init.min_runspaces
            }

            /// Returns the maximum number of runspaces agreed with the peer.
            pub fn max_runspaces(&self) -> i32 {
                self.init.max_runspaces
            }

            /// Returns the capabilities of the peer once they are received.
            pub fn peer(&self) -> Option<&SessionCapability> {
                self.peer.as_ref()
            }

            /// Returns whether secure strings can be sent: there is a session key, or the protocol is 2.4 or later and
            /// needs none.
            pub fn has_key(&self) -> bool {
                self.link.has_key()
            }

            /// Returns the bytes of all pending output, including messages that wait for the session key. The limit is
            /// [`SessionLimits::max_pending_bytes`].
            pub fn pending_bytes(&self) -> usize {
                self.link.outbox.pending_bytes()
            }

            /// Returns the bytes of pending output of one pipeline, or of the pool alone with `None`. Check it before
            /// sending more (backpressure).
            pub fn pending_bytes_of(&self, pipeline: Option<Uuid>) -> usize {
                self.link.outbox.pending_bytes_of(pipeline)
            }

            /// Returns the common protocol version, or the own one while the peer's is unknown.
            pub(super) fn protocol(&self) -> Version {
                let own = self.capability.protocol_version;
                self.peer.as_ref().map_or(own, |peer| own.min(peer.protocol_version))
            }

            pub(super) fn require_opened(&self, action: &str) -> Result<(), Error> {
                if self.state == RunspacePoolState::Opened {
                    return Ok(());
                }
                Err(invalid_state(action, "pool", self.state))
            }

            /// Decrypts the secure strings of a value.
            ///
            /// Only needed for strings received before the key whose total size exceeded
            /// [`SessionLimits::max_event_bytes`]. All others are decrypted automatically when they are received or
            /// when the key is exchanged.
            ///
            /// # Errors
            ///
            /// Fails if there is no key yet ([`Error::is_no_key`]) and if a string is not encrypted with it
            /// ([`Error::is_crypto`]).
            pub fn decrypt(&self, value: &Value) -> Result<(), Error> {
                self.link.decrypt(value)
            }

            /// Returns a handle to a pipeline.
            ///
            /// # Errors
            ///
            /// Fails if it does not exist ([`Error::is_state`]).
            pub fn pipeline(&mut self, id: Uuid) -> Result<Pipeline<'_>, Error> {
                if !self.pipelines.contains_key(&id) {
                    return Err(Error::with(Kind::State, "no such pipeline"));
                }
                Ok(Pipeline { pool: self, id })
            }

            /// Returns all pipelines and their states in arbitrary order. A pipeline exists until the client has closed
            /// it and the server has confirmed.
            pub fn pipelines(&self) -> impl ExactSizeIterator<Item = (Uuid, PipelineState)> {
                self.pipelines.iter().map(|(id, entry)| (*id, entry.state))
            }

            /// Returns the next event, `None` if there are no more.
            pub fn poll_event(&mut self) -> Option<Event> {
                self.events.pop_with_size().map(|(event, _)| event)
            }

            /// Returns the next event and the bytes it counts towards [`SessionLimits::max_event_bytes`].
            #[cfg(feature = "tokio")]
            pub(crate) fn poll_sized_event(&mut self) -> Option<(Event, usize)> {
                self.events.pop_with_size()
            }
        }

        /// Shows states, but no message content.
        impl std::fmt::Debug for RunspacePool {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct("RunspacePool")
                    .field("id", &self.id())
                    .field("state", &self.state)
                    .field("pipelines", &self.pipelines.len())
                    .field("has_key", &self.has_key())
                    .field("pending_bytes", &self.pending_bytes())
                    .finish_non_exhaustive()
            }
        }

        impl Pipeline<'_> {
            /// Returns the identifier of the pipeline.
            pub fn id(&self) -> Uuid {
                self.id
            }

            /// Returns the state of the pipeline.
            pub fn state(&self) -> PipelineState {
                // `RunspacePool::pipeline` creates this only for an existing entry, and the pool stays borrowed.
                self.pool.pipelines[&self.id].state
            }

            /// Returns the bytes of pending output of this pipeline. Check it before sending more (backpressure).
            pub fn pending_bytes(&self) -> usize {
                self.pool.pending_bytes_of(Some(self.id))
            }
        }
    };
}

pub(crate) use pool_methods;

/// A pending request of the client and the change that its response allows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request {
    SetMin(i32),
    SetMax(i32),
    GetAvailable,
    Reset,
}
