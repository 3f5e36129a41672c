//! API keys, which the API calls authentication tokens: `/generate_auth_token`, `/revoke_auth_token`.

use super::Secret;
use super::wire::object;

object! {
    /// Request body of `POST /generate_auth_token`.
    pub struct GenerateRequest: request {
        /// Name that tells the purpose of the key.
        token_name: optional String,
    }

    /// A new API key.
    pub struct AuthToken: response {
        /// The key. It cannot be retrieved again.
        auth_token: Secret,
        /// Creation time, in Unix seconds.
        created_at_epoch_seconds: i64,
        /// Name of the key.
        token_name: Option<String>,
    }

    /// Request body of `POST /revoke_auth_token`.
    pub struct RevokeRequest: request, new {
        /// Key that becomes invalid.
        auth_token: required Secret,
    }
}
