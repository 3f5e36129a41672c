//! Browser sessions: `/v1/browser/sessions`.

use super::wire::{object, open_enum};

object! {
    /// Request body of `POST /v1/browser/sessions`. It has no fields.
    pub struct CreateRequest: request, new {}
}

open_enum! {
    /// Status of a browser session.
    pub enum SessionStatus {
        Running = "running",
        Stopped = "stopped",
    }
}

object! {
    /// A browser session.
    pub struct Session: response {
        /// Identifier of the session.
        session_id: Option<String>,
        /// Current status.
        status: Option<SessionStatus>,
    }
}
