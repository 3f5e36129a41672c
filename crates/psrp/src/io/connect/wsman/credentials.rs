//! Credentials of the client and trust in the server's certificate.

use std::sync::Arc;

use zeroize::Zeroizing;

use crate::redacted::Redacted;

/// User name, password and authentication method.
#[derive(Clone, Debug)]
pub struct WsmanCredentials {
    pub(super) method: AuthMethod,
    pub(super) user: Redacted<String>,
    pub(super) password: Redacted<Zeroizing<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthMethod {
    Basic,
    #[cfg(feature = "negotiate")]
    Negotiate(Mechanisms),
}

#[cfg(feature = "negotiate")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mechanisms {
    Kerberos,
    Ntlm,
    KerberosOrNtlm,
}

impl WsmanCredentials {
    /// Basic authentication (RFC 7617): user name and password are sent in clear text with each request. Windows accepts
    /// it for local users if its service is configured accordingly.
    pub fn basic(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Basic, user, password)
    }

    /// Kerberos (RFC 4559), never NTLM. The user is `DOMAIN\user`, `user@domain.example.org` or `user`. Requires the
    /// feature `negotiate`.
    ///
    /// The key distribution centre is configured by the environment variable `SSPI_KDC_URL` or `/etc/krb5.conf`.
    /// Authentication fails with [`Error::is_denied`](crate::Error::is_denied) if none is known for the user's domain.
    ///
    /// ```no_run
    /// use psrp::io::{Wsman, WsmanCredentials};
    ///
    /// let credentials = WsmanCredentials::kerberos("user@domain.example.org", "correct horse battery staple");
    /// let wsman = Wsman::http("server.domain.example.org", credentials);
    ///
    /// // Only where the server's identity does not matter, or TLS shows it:
    /// let credentials = WsmanCredentials::ntlm("user", "correct horse battery staple");
    /// let wsman = Wsman::https("192.0.2.7", credentials);
    /// ```
    #[cfg(feature = "negotiate")]
    pub fn kerberos(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Negotiate(Mechanisms::Kerberos), user, password)
    }

    /// NTLM only (RFC 4559). It does not prove the identity of the server. Requires the feature `negotiate`.
    #[cfg(feature = "negotiate")]
    pub fn ntlm(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Negotiate(Mechanisms::Ntlm), user, password)
    }

    /// Kerberos, with fallback to NTLM if there is no key distribution centre or Kerberos fails. An attacker who blocks
    /// the connection to the centre can force NTLM. Requires the feature `negotiate`.
    #[cfg(feature = "negotiate")]
    pub fn kerberos_or_ntlm(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(AuthMethod::Negotiate(Mechanisms::KerberosOrNtlm), user, password)
    }

    fn new(method: AuthMethod, user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { method, user: Redacted(user.into()), password: Redacted(Zeroizing::new(password.into())) }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) enum CertificateTrust {
    #[default]
    Platform,
    /// Certificates signed by one of these (PEM).
    Only(Arc<[u8]>),
    All,
}
