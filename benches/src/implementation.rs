//! Implementations: ours, a peer, or a limit of the machine.

use bench_report::model::{Role, Row};

/// One implementation of a row.
///
/// The name is its identity within the row and appears in the report, in filters (`sse/decode_simple_event/borrowed`)
/// and in file names.
#[derive(Clone, Debug)]
pub struct Impl {
    /// Its entry in the report, without the properties of the row.
    pub(crate) entry: Row,
    pub(crate) once: bool,
}

impl Impl {
    fn new(name: impl Into<String>, role: Role) -> Self {
        let (implementation, language) = (name.into(), "rust".to_owned());
        Self { entry: Row { implementation, role, language, ..Row::default() }, once: false }
    }

    /// A variant of ours, such as `borrowed` or `reader owned`. A wrong check value makes the command fail.
    pub fn ours(name: impl Into<String>) -> Self {
        Self::new(name, Role::Ours)
    }

    /// A peer, with the version that is linked. A wrong check value or a panic is recorded, and the run continues.
    pub fn peer(name: impl Into<String>, version: impl Into<String>) -> Self {
        let mut peer = Self::new(name, Role::Peer);
        peer.entry.version = Some(version.into());
        peer
    }

    /// A limit of the machine, such as `memory read`; shown beside the others but not compared.
    pub fn limit(name: impl Into<String>) -> Self {
        Self::new(name, Role::Limit)
    }

    /// Kind of work and result, such as `typed owned` or `reused buffer`. Mandatory, except for limits.
    ///
    /// Ours is only compared with peers of the same class, and a row has one implementation of ours per class.
    pub fn class(mut self, class: impl Into<String>) -> Self {
        self.entry.class = Some(class.into());
        self
    }

    /// Bytes per operation, if they differ from those of the row because formats differ in size.
    pub fn payload(mut self, bytes: u64) -> Self {
        self.entry.payload_bytes = Some(bytes);
        self
    }

    /// Uses the duration of the checked call as the only figure of the screening, for an operation that takes seconds.
    ///
    /// Allocations are not counted. Setup and warm-up are up to the suite.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }
}
