//! PowerShell over WS-Management.
//!
//! `soap` writes request envelopes and `response` parses responses, with `xml` and `fault`; none of them does I/O.
//! `http` sends envelopes. For NTLM and Kerberos, `connection_pool` authenticates connections with `negotiate` and
//! `bindings`, and `encryption` has the format of encrypted messages. `session` has the operations of a service, and
//! `transport` maps packets to operations.

#[cfg(feature = "negotiate")]
mod bindings;
#[cfg(feature = "negotiate")]
mod connection_pool;
mod credentials;
#[cfg(feature = "negotiate")]
mod encryption;
mod fault;
mod http;
mod messages;
#[cfg(feature = "negotiate")]
mod negotiate;
mod response;
mod session;
mod soap;
mod transport;
mod xml;

use std::future::Future;
use std::time::Duration;

use uuid::Uuid;

pub use self::credentials::WsmanCredentials;
pub use self::fault::WsmanFault;
pub use self::response::WsmanShell;
pub use self::transport::WsmanTransport;

use self::credentials::{AuthMethod, CertificateTrust};
use self::session::WsmanSession;
use crate::Error;
use crate::io::Connect;
use crate::redacted::Redacted;

/// Minimum envelope size, in bytes. Smaller envelopes have no room for data.
const MIN_ENVELOPE_SIZE: usize = 8192;

/// Connects to runspace pools over WS-Management, the protocol of Windows Remote Management (MS-WSMV, DSP0226).
///
/// [`Connect::connect`] does not open a connection yet. The first packet does: depending on its message, it creates a
/// shell or connects to an existing one. Redirects are not followed.
///
/// # Security
///
/// With TLS, messages are not encrypted again, and NTLM and Kerberos are bound to the server's certificate (RFC 5929).
/// Without TLS, NTLM and Kerberos encrypt the messages. NTLM then uses RC4, and proves only that the server knows the
/// user, not its identity. Credentials are not delegated: scripts cannot use them to log on to other servers.
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
#[derive(Clone, Debug)]
pub struct Wsman {
    host: String,
    is_tls: bool,
    port: Option<u16>,
    path: String,
    configuration: String,
    credentials: WsmanCredentials,
    trust: CertificateTrust,
    is_plain_basic_allowed: bool,
    are_clear_secrets_allowed: bool,
    max_envelope_size: usize,
    max_response_size: usize,
    operation_timeout: Duration,
    connect_timeout: Duration,
    connect_retries: u32,
    proxy: Option<Redacted<String>>,
    grace: Duration,
    idle_timeout: Option<Duration>,
    buffer_mode: Option<WsmanBufferMode>,
}

/// Behavior of a shell without a client when its output buffer is full ([`Wsman::buffer_mode`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WsmanBufferMode {
    /// Its pipelines wait until a client receives their output.
    Block,
    /// It discards the oldest output.
    Drop,
}

impl Wsman {
    /// Creates a connector with TLS for a host name or address, with port 5986.
    pub fn https(host: impl Into<String>, credentials: WsmanCredentials) -> Self {
        Self {
            host: host.into(),
            is_tls: true,
            port: None,
            path: "/wsman".into(),
            configuration: "Microsoft.PowerShell".into(),
            credentials,
            trust: CertificateTrust::default(),
            is_plain_basic_allowed: false,
            are_clear_secrets_allowed: false,
            max_envelope_size: 153_600,
            max_response_size: 16 << 20,
            operation_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(30),
            connect_retries: 0,
            proxy: None,
            grace: Duration::from_secs(30),
            idle_timeout: None,
            buffer_mode: None,
        }
    }

    /// Creates a connector without TLS, with port 5985. Kerberos and NTLM encrypt the messages.
    /// [Basic](WsmanCredentials::basic) authentication does not, and is refused unless
    /// [`danger_allow_basic_without_tls`](Self::danger_allow_basic_without_tls) is set.
    pub fn http(host: impl Into<String>, credentials: WsmanCredentials) -> Self {
        Self { is_tls: false, ..Self::https(host, credentials) }
    }

    setters! {
        /// Sets the port. Default: 5986 with TLS, 5985 without.
        port(port: u16) => port = Some(port);
        /// Sets the path of the service. Default: `/wsman`.
        path(path: impl Into<String>) => path = path.into();
        /// Sets the session configuration, by name or as a complete resource URI. Default: `Microsoft.PowerShell`,
        /// which is Windows PowerShell; `PowerShell.7` is PowerShell 7.
        configuration(name: impl Into<String>) => configuration = name.into();
        /// Trusts only these certificates and those signed by them (one or more PEM certificates, of authorities or the
        /// server's own) instead of those trusted by the platform.
        trusted_certificates(pem: impl AsRef<[u8]>) => trust = CertificateTrust::Only(pem.as_ref().into());
        /// Accepts every certificate, including self-signed and expired ones and those of other hosts. An attacker in
        /// the middle can then impersonate the server, and learns the password with [basic](WsmanCredentials::basic)
        /// authentication.
        danger_accept_invalid_certificates() => trust = CertificateTrust::All;
        /// Allows basic authentication without TLS: password and messages can be read by anyone on the network path.
        danger_allow_basic_without_tls() => is_plain_basic_allowed = true;
        /// Allows sending secure strings unencrypted if neither TLS nor the authentication encrypts messages and the
        /// server has protocol 2.4 or later, which does not encrypt them itself. By default, requests and input with
        /// secure strings then fail with [`Error::is_unsupported`].
        danger_allow_clear_secrets() => are_clear_secrets_allowed = true;
        /// Sets the maximum size of envelopes, in bytes, for both directions. Values below 8,192 are raised to 8,192.
        /// Windows 8 and later accept 512,000. Default: 153,600, which all versions accept.
        max_envelope_size(bytes: usize) => max_envelope_size = bytes.max(MIN_ENVELOPE_SIZE);
        /// Sets the maximum bytes of a response, independently of the size requested from the service. A larger
        /// response fails the request with [`Error::is_limit`]. Default: 16 MiB.
        max_response_size(bytes: usize) => max_response_size = bytes;
        /// Sets the operation timeout that is sent to the service. If there is no output, the service responds to a
        /// `Receive` request after this time, and the request is repeated. Default: 20 seconds.
        operation_timeout(time: Duration) => operation_timeout = time;
        /// Sets the timeout for opening a connection. Default: 30 seconds.
        connect_timeout(time: Duration) => connect_timeout = time;
        /// Sets how many times opening a connection is repeated if it fails, also in the middle of a session: after one
        /// second, then after twice as long each time, up to 30 seconds. A request that was sent is never repeated, and
        /// neither is a connection to a server with an untrusted certificate. Default: 0.
        connect_retries(count: u32) => connect_retries = count;
        /// Connects through an HTTP proxy: `http://proxy.example.org:3128`, with `user:password@` before the host if it
        /// requires a login. NTLM and Kerberos then need TLS, because they authenticate a connection, not a request. Key
        /// distribution centres are contacted directly. Default: none; the environment is not used.
        proxy(url: impl Into<String>) => proxy = Some(Redacted(url.into()));
        /// Sets the time added to the operation timeout after which an unanswered request fails. Default: 30 seconds.
        grace(time: Duration) => grace = time;
        /// Sets how long the service retains a shell that is disconnected or idle. Default: the setting of the service,
        /// 2 hours on Windows.
        idle_timeout(time: Duration) => idle_timeout = Some(time);
        /// Sets what a shell does with its output while this client is disconnected. Default: the setting of the
        /// service, [`Block`](WsmanBufferMode::Block) on Windows.
        buffer_mode(mode: WsmanBufferMode) => buffer_mode = Some(mode);
    }

    /// Lists the shells of the service that the user may see, of all types and states. To connect to a disconnected
    /// one, pass its identifier to [`Config::pool_id`](crate::client::Config::pool_id).
    ///
    /// # Errors
    ///
    /// Fails like [`Connect::connect`] and the operations of a [`WsmanTransport`].
    pub async fn shells(&self) -> Result<Vec<WsmanShell>, Error> {
        WsmanSession::new(self.clone())?.shells().await
    }

    /// Lists the pipelines of a shell, in no particular order.
    ///
    /// # Errors
    ///
    /// Fails like [`shells`](Self::shells).
    pub async fn pipelines(&self, shell: Uuid) -> Result<Vec<Uuid>, Error> {
        WsmanSession::new(self.clone())?.commands(shell).await
    }

    fn endpoint(&self) -> String {
        let (scheme, port) = if self.is_tls { ("https", 5986) } else { ("http", 5985) };
        let port = self.port.unwrap_or(port);
        let path = self.path.trim_start_matches('/');
        match self.host.contains(':') && !self.host.starts_with('[') {
            true => format!("{scheme}://[{}]:{port}/{path}", self.host),
            false => format!("{scheme}://{}:{port}/{path}", self.host),
        }
    }

    fn resource(&self) -> String {
        match self.configuration.contains("://") {
            true => self.configuration.clone(),
            false => format!("http://schemas.microsoft.com/powershell/{}", self.configuration),
        }
    }

    /// Returns whether messages are encrypted neither by TLS nor by the authentication.
    fn is_plain(&self) -> bool {
        self.credentials.method == AuthMethod::Basic && !self.is_tls
    }
}

impl Connect for Wsman {
    type Transport = WsmanTransport;

    /// # Errors
    ///
    /// Fails with [`Error::is_unsupported`] if host and path do not form a valid URL or the proxy or the client
    /// certificate cannot be used, with [`Error::is_untrusted`] if the trusted certificates are not valid, and with
    /// [`Error::is_denied`] if the password would be sent without TLS.
    fn connect(&self) -> impl Future<Output = Result<Self::Transport, Error>> + Send {
        std::future::ready(WsmanSession::new(self.clone()).map(WsmanTransport::new))
    }
}
