//! Implementations: ours, a peer, or a limit of the machine.

use serde::Serialize;

/// The role of an implementation in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    #[default]
    /// This workspace. A wrong check value ends the run with an error.
    Ours,
    /// Another library. A wrong check value or a panic is recorded, and the run continues.
    Peer,
    /// A limit of the machine, such as its memory bandwidth; shown beside the others but not compared as a competitor.
    Limit,
}

/// One implementation of a row.
///
/// The name is its identity within the row and appears in the report, in filters (`sse/decode_simple_event/borrowed`)
/// and in file names.
#[derive(Clone, Debug)]
pub struct Impl {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) payload: Option<u64>,
    pub(crate) once: bool,
}

impl Impl {
    fn new(name: impl Into<String>, role: Role) -> Self {
        Self { name: name.into(), role, version: None, class: None, payload: None, once: false }
    }

    /// A variant of ours, such as `borrowed` or `reader owned`.
    pub fn ours(name: impl Into<String>) -> Self {
        Self::new(name, Role::Ours)
    }

    /// A peer, with the version that is linked.
    pub fn peer(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..Self::new(name, Role::Peer) }
    }

    /// A limit of the machine, such as `memory read`.
    pub fn limit(name: impl Into<String>) -> Self {
        Self::new(name, Role::Limit)
    }

    /// Kind of work and result, such as `typed owned` or `reused buffer`. Mandatory, except for limits.
    ///
    /// Ours is only compared with peers of the same class, and a row has one implementation of ours per class.
    pub fn class(mut self, class: impl Into<String>) -> Self {
        self.class = Some(class.into());
        self
    }

    /// Bytes per operation, if they differ from those of the row because formats differ in size.
    pub fn payload(mut self, bytes: u64) -> Self {
        self.payload = Some(bytes);
        self
    }

    /// Uses the duration of the checked call as the only figure, for an operation that is too slow to sample.
    ///
    /// Allocations are not counted. Setup and warm-up are up to the suite.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }
}
