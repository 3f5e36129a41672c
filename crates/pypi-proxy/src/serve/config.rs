//! Configuration of the responses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::guard::Guard;

/// Configuration of a [`Proxy`](super::Proxy).
#[derive(Clone, Default)]
pub struct Config {
    pub(super) redirect_after: Option<Duration>,
    pub(super) admin_token: Option<String>,
    pub(super) binary_type: bool,
    pub(super) guard: Option<Arc<Guard>>,
}

impl Config {
    /// Returns the defaults: no redirects, no token, no authentication.
    pub fn new() -> Self {
        Self::default()
    }

    /// Redirects the client to the upstream if no byte of the file arrived within this time. The download continues in
    /// the background. Zero redirects every request for a file that is not stored. Never redirects to an index with
    /// credentials. Default: never.
    #[must_use]
    pub fn redirect_after(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.redirect_after = time.into();
        self
    }

    /// Requires this token as `Authorization: Bearer` to purge the cache. Default: none.
    #[must_use]
    pub fn admin_token(mut self, token: impl Into<Option<String>>) -> Self {
        self.admin_token = token.into();
        self
    }

    /// Sends all files as `application/octet-stream`. Default: off, the content type depends on the file format.
    #[must_use]
    pub fn binary_type(mut self, is_on: bool) -> Self {
        self.binary_type = is_on;
        self
    }

    /// Authenticates clients and limits their requests. `/livez` and `/readyz` stay public. Endpoints that require the
    /// admin token need no other login. Default: no authentication, no limits.
    #[must_use]
    pub fn guard(mut self, guard: impl Into<Option<Guard>>) -> Self {
        self.guard = guard.into().map(Arc::new);
        self
    }
}

/// Does not show the token.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("redirect_after", &self.redirect_after)
            .field("has_admin_token", &self.admin_token.is_some())
            .field("binary_type", &self.binary_type)
            .field("guard", &self.guard)
            .finish()
    }
}
