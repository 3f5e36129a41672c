//! Implementations: ours, a peer, or a limit of the machine.

use bench_report::model::Role;

/// One implementation of a row.
///
/// The name is its identity within the row and appears in the report, in filters (`sse/decode_simple_event/borrowed`)
/// and in file names.
#[derive(Clone, Debug)]
pub struct Impl {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) language: String,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    pub(crate) payload: Option<u64>,
    pub(crate) once: bool,
}

impl Impl {
    pub(crate) fn new(name: impl Into<String>, role: Role, language: &str) -> Self {
        Self {
            name: name.into(),
            role,
            language: language.to_owned(),
            version: None,
            class: None,
            payload: None,
            once: false,
        }
    }

    /// A variant of ours, such as `borrowed` or `reader owned`. A wrong check value makes the command fail.
    pub fn ours(name: impl Into<String>) -> Self {
        Self::new(name, Role::Ours, "rust")
    }

    /// A peer, with the version that is linked. A wrong check value or a panic is recorded, and the run continues.
    pub fn peer(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..Self::new(name, Role::Peer, "rust") }
    }

    /// A limit of the machine, such as `memory read`; shown beside the others but not compared.
    pub fn limit(name: impl Into<String>) -> Self {
        Self::new(name, Role::Limit, "rust")
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

    /// Uses the duration of the checked call as the only figure of the screening, for an operation that takes seconds.
    ///
    /// Allocations are not counted. Setup and warm-up are up to the suite.
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }
}
