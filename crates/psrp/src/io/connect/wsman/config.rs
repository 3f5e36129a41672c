//! Where a service is, and how it is talked to.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;
use zeroize::Zeroizing;

use super::answer::WsmanShell;
use super::http::Http;
use super::session::Session;
use super::soap::{self, Style};
use super::transport::WsmanTransport;
use crate::Error;
use crate::error::Kind;
use crate::io::Connect;

/// Envelopes below this have no room for data.
const MIN_ENVELOPE_SIZE: usize = 8192;

/// Who a service is told that the client is.
#[derive(Clone)]
pub struct WsmanCredentials {
    pub(super) method: Method,
    pub(super) user: String,
    pub(super) password: Zeroizing<String>,
}

/// How credentials are shown to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Basic,
    #[cfg(feature = "negotiate")]
    Negotiate(super::negotiate::Packages),
}

impl WsmanCredentials {
    /// Name and password, sent as they are with each request (RFC 7617). Windows takes them for local users if its
    /// service is configured for that.
    pub fn basic(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Method::Basic, user, password)
    }

    /// Kerberos (RFC 4559), never NTLM. The user is `DOMAIN\user`, `user@domain.example.org` or `user`. With the feature
    /// `negotiate`.
    ///
    /// The key distribution centre is taken from the environment variable `SSPI_KDC_URL` or from `/etc/krb5.conf`. If none
    /// is known for the user's domain the authentication fails ([`Error::is_denied`]).
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
        Self::new(Method::Negotiate(super::negotiate::Packages::Kerberos), user, password)
    }

    /// NTLM alone (RFC 4559), which does not prove the identity of the server. With the feature `negotiate`.
    #[cfg(feature = "negotiate")]
    pub fn ntlm(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Method::Negotiate(super::negotiate::Packages::Ntlm), user, password)
    }

    /// As [`kerberos`](Self::kerberos), and NTLM if there is no key distribution centre or it fails. An attacker who keeps
    /// the client from reaching the centre gets NTLM. With the feature `negotiate`.
    #[cfg(feature = "negotiate")]
    pub fn kerberos_or_ntlm(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Method::Negotiate(super::negotiate::Packages::KerberosOrNtlm), user, password)
    }

    fn new(method: Method, user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { method, user: user.into(), password: Zeroizing::new(password.into()) }
    }
}

/// Shows neither user nor password.
impl fmt::Debug for WsmanCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WsmanCredentials").field("method", &self.method).finish_non_exhaustive()
    }
}

/// What certificates are believed.
#[derive(Clone, Debug, Default)]
pub(super) enum Trust {
    /// Those that the platform believes.
    #[default]
    Platform,
    /// Those that are signed by one of these, in PEM.
    Only(Arc<[u8]>),
    /// All.
    Anything,
}

/// Runspace pools over WS-Management, the protocol of Windows Remote Management (MS-WSMV, DSP0226).
///
/// [`Connect::connect`] makes no connection yet: the first packet does, which opens a shell, or takes one over. Which of
/// both, and which shell, the packet itself tells. Proxies are not used, and redirections not followed.
///
/// # Security
///
/// Inside of TLS, messages are as they are, and NTLM and Kerberos are bound to the certificate of the server (RFC 5929).
/// Without it, they encrypt the messages, which keeps them from being read or changed; but NTLM uses RC4, and proves that
/// the server knows the user, not which server it is. Credentials are not delegated, so that scripts can't log on to
/// further servers with them.
///
/// ```no_run
/// use std::time::Duration;
///
/// use psrp::io::{Wsman, WsmanCredentials};
///
/// let credentials = WsmanCredentials::basic("administrator", "correct horse battery staple");
/// let wsman = Wsman::https("server.example.org", credentials)
///     .configuration("PowerShell.7")
///     .operation_timeout(Duration::from_secs(60));
/// ```
#[derive(Clone)]
pub struct Wsman {
    host: String,
    pub(super) is_tls: bool,
    port: Option<u16>,
    path: String,
    configuration: String,
    locale: String,
    pub(super) credentials: WsmanCredentials,
    pub(super) trust: Trust,
    pub(super) is_plain_basic_allowed: bool,
    pub(super) are_clear_secrets_allowed: bool,
    max_envelope_size: usize,
    pub(super) max_response_size: usize,
    operation_timeout: Duration,
    pub(super) connect_timeout: Duration,
    grace: Duration,
    pub(super) shell_name: Option<String>,
    pub(super) idle_timeout: Option<Duration>,
    pub(super) has_no_profile: bool,
}

impl Wsman {
    /// Default of [`max_envelope_size`](Self::max_envelope_size): 153,600 bytes, which all versions of Windows take.
    pub const DEFAULT_MAX_ENVELOPE_SIZE: usize = 153_600;
    /// Default of [`max_response_size`](Self::max_response_size): 16 MiB.
    pub const DEFAULT_MAX_RESPONSE_SIZE: usize = 16 << 20;
    /// Default of [`operation_timeout`](Self::operation_timeout): 20 seconds.
    pub const DEFAULT_OPERATION_TIMEOUT: Duration = Duration::from_secs(20);
    /// Default of [`connect_timeout`](Self::connect_timeout): 30 seconds.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`grace`](Self::grace): 30 seconds.
    pub const DEFAULT_GRACE: Duration = Duration::from_secs(30);

    /// A service with TLS, at port 5986 of this host, which is a name or an address.
    pub fn https(host: impl Into<String>, credentials: WsmanCredentials) -> Self {
        Self {
            host: host.into(),
            is_tls: true,
            port: None,
            path: "/wsman".into(),
            configuration: "Microsoft.PowerShell".into(),
            locale: "en-US".into(),
            credentials,
            trust: Trust::default(),
            is_plain_basic_allowed: false,
            are_clear_secrets_allowed: false,
            max_envelope_size: Self::DEFAULT_MAX_ENVELOPE_SIZE,
            max_response_size: Self::DEFAULT_MAX_RESPONSE_SIZE,
            operation_timeout: Self::DEFAULT_OPERATION_TIMEOUT,
            connect_timeout: Self::DEFAULT_CONNECT_TIMEOUT,
            grace: Self::DEFAULT_GRACE,
            shell_name: None,
            idle_timeout: None,
            has_no_profile: false,
        }
    }

    /// A service without TLS, at port 5985. Messages are encrypted by what the authentication negotiates;
    /// [basic](WsmanCredentials::basic) negotiates nothing and is refused, unless
    /// [`danger_allow_basic_without_tls`](Self::danger_allow_basic_without_tls) is called.
    pub fn http(host: impl Into<String>, credentials: WsmanCredentials) -> Self {
        Self { is_tls: false, ..Self::https(host, credentials) }
    }

    /// The port. Default: 5986 with TLS, 5985 without.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// The path of the service. Default: `/wsman`.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The name of the session configuration, or a whole resource URI. Default: `Microsoft.PowerShell`, which is Windows
    /// PowerShell; `PowerShell.7` is PowerShell 7.
    #[must_use]
    pub fn configuration(mut self, name: impl Into<String>) -> Self {
        self.configuration = name.into();
        self
    }

    /// The language that the service is asked to answer in, by RFC 3066. Default: `en-US`.
    #[must_use]
    pub fn locale(mut self, tag: impl Into<String>) -> Self {
        self.locale = tag.into();
        self
    }

    /// Believes certificates that are signed by one of these alone, instead of those that the platform believes. The
    /// text is one or more certificates in PEM.
    #[must_use]
    pub fn trusted_certificates(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.trust = Trust::Only(pem.as_ref().into());
        self
    }

    /// Believes every certificate: one that is self-signed, expired or of another host. Whoever is between client and
    /// server can then be the server, and learns the password with [basic](WsmanCredentials::basic) authentication.
    #[must_use]
    pub fn danger_accept_invalid_certificates(mut self) -> Self {
        self.trust = Trust::Anything;
        self
    }

    /// Sends name and password, and everything else, for everybody on the way to read.
    #[must_use]
    pub fn danger_allow_basic_without_tls(mut self) -> Self {
        self.is_plain_basic_allowed = true;
        self
    }

    /// Sends secure strings in the clear where neither TLS nor the authentication encrypts messages, and the server has
    /// protocol 2.4 or later, which does not encrypt them either. By default, requests and input with secure strings fail
    /// there ([`Error::is_unsupported`]).
    #[must_use]
    pub fn danger_allow_clear_secrets(mut self) -> Self {
        self.are_clear_secrets_allowed = true;
        self
    }

    /// The largest envelope that is sent, and that the service is asked to send, in bytes. Less than 8,192
    /// counts as that. Windows takes 512,000 since Windows 8. Default:
    /// [`DEFAULT_MAX_ENVELOPE_SIZE`](Self::DEFAULT_MAX_ENVELOPE_SIZE), 153,600.
    #[must_use]
    pub fn max_envelope_size(mut self, bytes: usize) -> Self {
        self.max_envelope_size = bytes.max(MIN_ENVELOPE_SIZE);
        self
    }

    /// Limits answers to so many bytes, whatever the service was asked for; a request whose answer is larger fails
    /// ([`Error::is_limit`]). Default: [`DEFAULT_MAX_RESPONSE_SIZE`](Self::DEFAULT_MAX_RESPONSE_SIZE), 16 MiB.
    #[must_use]
    pub fn max_response_size(mut self, bytes: usize) -> Self {
        self.max_response_size = bytes;
        self
    }

    /// How long the service may work on one request. It is also how often a connection that waits for output is heard
    /// of: the service answers that there is none yet. Default:
    /// [`DEFAULT_OPERATION_TIMEOUT`](Self::DEFAULT_OPERATION_TIMEOUT), 20 seconds.
    #[must_use]
    pub fn operation_timeout(mut self, time: Duration) -> Self {
        self.operation_timeout = time;
        self
    }

    /// How long making a connection may take. Default:
    /// [`DEFAULT_CONNECT_TIMEOUT`](Self::DEFAULT_CONNECT_TIMEOUT), 30 seconds.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// How long after its operation timeout a request fails if the service has not answered it. Default:
    /// [`DEFAULT_GRACE`](Self::DEFAULT_GRACE), 30 seconds.
    #[must_use]
    pub fn grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }

    /// What the shell is called in lists. Default: nothing.
    #[must_use]
    pub fn shell_name(mut self, name: impl Into<String>) -> Self {
        self.shell_name = Some(name.into());
        self
    }

    /// How long the shell is kept when nobody is connected to it or uses it. Default: what the service has, 2 hours in
    /// Windows.
    #[must_use]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = Some(time);
        self
    }

    /// Does not load the profile of the user.
    #[must_use]
    pub fn no_profile(mut self) -> Self {
        self.has_no_profile = true;
        self
    }

    /// The shells of the service, of all kinds and states, as far as the user may see them. The identifier of one that
    /// is disconnected is what [`Config::pool_id`](crate::client::Config::pool_id) needs to connect to it.
    ///
    /// # Errors
    ///
    /// Fails as [`Connect::connect`] and the packets of a [`WsmanTransport`].
    pub async fn shells(&self) -> Result<Vec<WsmanShell>, Error> {
        self.session()?.shells().await
    }

    /// The pipelines of a shell, in no order.
    ///
    /// # Errors
    ///
    /// As [`shells`](Self::shells).
    pub async fn pipelines(&self, shell: Uuid) -> Result<Vec<Uuid>, Error> {
        self.session()?.commands(shell).await
    }

    pub(super) fn endpoint(&self) -> String {
        let (scheme, port) = if self.is_tls { ("https", 5986) } else { ("http", 5985) };
        let port = self.port.unwrap_or(port);
        let path = self.path.trim_start_matches('/');
        match self.host.contains(':') && !self.host.starts_with('[') {
            true => format!("{scheme}://[{}]:{port}/{path}", self.host),
            false => format!("{scheme}://{}:{port}/{path}", self.host),
        }
    }

    /// How long a request may take in all.
    pub(super) fn request_timeout(&self) -> Duration {
        self.operation_timeout.saturating_add(self.grace)
    }

    /// Whether messages are encrypted by neither TLS nor the authentication.
    pub(super) fn is_plain(&self) -> bool {
        self.credentials.method == Method::Basic && !self.is_tls
    }

    fn style(&self) -> Style {
        let resource = match self.configuration.contains("://") {
            true => self.configuration.clone(),
            false => format!("http://schemas.microsoft.com/powershell/{}", self.configuration),
        };
        Style {
            endpoint: self.endpoint().into(),
            resource: resource.into(),
            locale: self.locale.as_str().into(),
            session_id: Uuid::new_v4(),
            max_envelope_size: self.max_envelope_size,
            operation_timeout: self.operation_timeout,
        }
    }

    fn session(&self) -> Result<Session, Error> {
        if self.is_plain() && !self.is_plain_basic_allowed {
            return Err(Error::with(
                Kind::Denied,
                "basic authentication would show the password without TLS",
            ));
        }
        let style = self.style();
        if soap::max_data(&style) < crate::fragment::Fragmenter::MIN_FRAGMENT_SIZE {
            return Err(Error::with(Kind::Limit, "envelopes without room for data"));
        }
        Ok(Session::new(Http::new(self)?, style, self.clone()))
    }
}

impl Connect for Wsman {
    type Transport = WsmanTransport;

    /// # Errors
    ///
    /// Fails if the host or path make no URL ([`Error::is_unsupported`]), if the certificates to be trusted are none
    /// ([`Error::is_untrusted`]), and if the password would be sent without TLS ([`Error::is_denied`]).
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, Error>> + Send {
        std::future::ready(self.session().map(WsmanTransport::new))
    }
}

/// Shows neither user nor password.
impl fmt::Debug for Wsman {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wsman")
            .field("endpoint", &self.endpoint())
            .field("configuration", &self.configuration)
            .field("credentials", &self.credentials)
            .field("trust", &self.trust)
            .field("max_envelope_size", &self.max_envelope_size)
            .field("max_response_size", &self.max_response_size)
            .field("operation_timeout", &self.operation_timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_addresses_make_an_endpoint() {
        let credentials = || WsmanCredentials::basic("user", "secret");
        let of = |wsman: Wsman| wsman.endpoint();
        assert_eq!(of(Wsman::https("a.example.org", credentials())), "https://a.example.org:5986/wsman");
        assert_eq!(of(Wsman::http("10.0.0.1", credentials())), "http://10.0.0.1:5985/wsman");
        assert_eq!(of(Wsman::http("::1", credentials()).port(1).path("a/b")), "http://[::1]:1/a/b");
        assert_eq!(of(Wsman::https("[::1]", credentials())), "https://[::1]:5986/wsman");
    }

    #[test]
    fn no_secret_is_shown() {
        let wsman = Wsman::http("a.example.org", WsmanCredentials::basic("someone", "secret"));
        let shown = format!("{wsman:?}");
        assert!(!shown.contains("secret") && !shown.contains("someone"), "{shown}");
    }

    #[tokio::test]
    async fn passwords_are_not_sent_in_the_clear() {
        let wsman = Wsman::http("a.example.org", WsmanCredentials::basic("user", "secret"));
        assert!(wsman.connect().await.unwrap_err().is_denied());
        assert!(wsman.shells().await.unwrap_err().is_denied());
        assert!(wsman.danger_allow_basic_without_tls().connect().await.is_ok());
    }

    #[tokio::test]
    async fn what_is_no_host_or_certificate_is_told() {
        let credentials = || WsmanCredentials::basic("user", "secret");
        let error = Wsman::https("a b", credentials()).connect().await.unwrap_err();
        assert!(error.is_unsupported(), "{error}");
        for pem in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let wsman = Wsman::https("a.example.org", credentials()).trusted_certificates(pem);
            assert!(wsman.connect().await.unwrap_err().is_untrusted(), "{pem:?}");
        }
    }
}
