//! Sessions of a browser: `/v1/browser/sessions`.

use super::wire::{object, open_enum};

object! {
    /// The body of a request for a session, which has no members.
    pub struct CreateRequest: body {}
}

impl CreateRequest {
    /// Asks for a session.
    pub fn new() -> Self {
        Self::default()
    }
}

open_enum! {
    /// Whether a session can be used.
    pub enum SessionStatus {
        /// It can.
        Running = "running",
        /// It has ended.
        Stopped = "stopped",
    }
}

object! {
    /// A session.
    pub struct Session: answer {
        /// Its identifier.
        session_id: may String,
        /// Whether it can be used.
        status: may SessionStatus,
    }
}
