//! Configuration of the responses.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::guard::Guard;

/// Configuration of a [`Proxy`](super::Proxy).
#[derive(Clone, Default)]
pub struct Config {
    /// Redirects the client to the upstream if no byte of the file arrived within this time. The download continues in
    /// the background. Zero redirects every request for a file that is not stored. Never redirects to an index with
    /// credentials. Default: never.
    pub redirect_after: Option<Duration>,
    /// Requires this token as `Authorization: Bearer` to purge the cache. Default: none.
    pub admin_token: Option<String>,
    /// Sends all files as `application/octet-stream`. Default: off, the content type depends on the file format.
    pub binary_type: bool,
    /// Authenticates clients and limits their requests. `/livez` and `/readyz` stay public. Endpoints that require the
    /// admin token need no other login. Default: no authentication, no limits.
    pub guard: Option<Arc<Guard>>,
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
