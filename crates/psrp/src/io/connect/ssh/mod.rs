//! Connector for PowerShell over SSH.

mod auth;
mod config;
mod handler;
mod host_key;
mod keys;
mod known_hosts;
mod prompt;
mod state;
mod transport;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use russh::ChannelWriteHalf;
use russh::client::{self, Handle, Msg};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub use self::prompt::SshQuestion;
pub use self::transport::SshTransport;

use self::auth::{AgentSocket, SshAuthentication};
use self::handler::{ClientHandler, SshError, error_text};
use self::host_key::{HostKeyPolicy, HostKeyVerifier};
use self::prompt::{PromptHandler, Secret, secret};
use self::state::{BackpressureSocket, SharedConnection};
use self::transport::halves;
use crate::Error;
use crate::error::Kind;
use crate::io::Connect;
use crate::outofproc::ReaderOptions;

/// Connects to the subsystem `powershell` of an SSH server.
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Options, Session, Ssh};
/// use psrp::message::PowerShell;
///
/// let server = Ssh::new("server.example.org").user("alice");
/// let session = Session::open(&server, Options::new()).await?;
/// let output = session.invoke(PowerShell::script("Get-Process")).await?;
/// session.close().await?;
/// # Ok(())
/// # }
/// ```
///
/// # The server
///
/// The server's configuration (`sshd_config`) needs a line for PowerShell:
///
/// ```text
/// Subsystem powershell /usr/bin/pwsh -sshs -NoLogo
/// ```
///
/// The path is PowerShell's. On Windows it must not contain spaces: use the short form
/// `c:/progra~1/powershell/7/pwsh.exe`. Without this line, connecting fails with
/// [`is_unsupported`](Error::is_unsupported). With a wrong path, the session ends immediately with exit status 127.
/// OpenSSH does not forward a subsystem's standard error; if a server does, it is part of the error.
///
/// # Host keys
///
/// The server's host key must be in a known-hosts file under the given host name and port. Hashed names, patterns and
/// revoked keys are supported. Connecting to a server with an unknown or changed key fails with
/// [`is_untrusted`](Error::is_untrusted); the error contains the key's fingerprint and the files or the conflicting
/// line. To add a host, use `ssh-keyscan`, log in once with `ssh`, or set [`accept_new`](Self::accept_new). Host
/// certificates are not supported; the error mentions matching `@cert-authority` lines.
///
/// # Authentication
///
/// Methods are tried in this order until the server accepts:
///
/// 1. keys from the files set by [`key_file`](Self::key_file),
/// 2. keys and certificates of the [agent](Self::agent),
/// 3. without `key_file`: `id_ed25519`, `id_ecdsa` and `id_rsa` in `~/.ssh`,
/// 4. the [password](Self::password),
/// 5. keyboard-interactive: the first hidden prompt gets the password, all others go to [`ask`](Self::ask).
///
/// Several methods are used if the server requires them. If authentication fails, the error lists the attempts
/// ([`is_denied`](Error::is_denied)). RSA keys sign with SHA-2 only. Secrets are wiped from memory and are never part
/// of errors or `Debug` output.
///
/// # OpenSSH configuration
///
/// [`from_config`](Self::from_config) reads names, users, ports, keys and jump hosts of `~/.ssh/config`. If you need its
/// other settings or certificates, run the program `ssh` instead, which can transport the same session:
///
/// ```
/// use psrp::io::Child;
///
/// let server = Child::new("ssh").args(["-s", "server.example.org", "powershell"]);
/// ```
#[derive(Clone, Debug)]
pub struct Ssh {
    host: String,
    port: u16,
    user: Option<String>,
    subsystem: String,
    policy: HostKeyPolicy,
    known_hosts: Option<Vec<PathBuf>>,
    agent: AgentSocket,
    key_files: Option<Vec<PathBuf>>,
    passphrase: Option<Secret>,
    password: Option<Secret>,
    ask: Option<PromptHandler>,
    jump: Option<Box<Self>>,
    connect_timeout: Duration,
    auth_timeout: Duration,
    close_timeout: Duration,
    keep_alive: Option<Duration>,
    max_unread: usize,
    reader_options: ReaderOptions,
}

impl Ssh {
    /// Creates a connector for a host name or address, with port 22 and subsystem `powershell`.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: 22,
            user: None,
            subsystem: "powershell".into(),
            policy: HostKeyPolicy::default(),
            known_hosts: None,
            agent: AgentSocket::default(),
            key_files: None,
            passphrase: None,
            password: None,
            ask: None,
            jump: None,
            connect_timeout: Duration::from_secs(30),
            auth_timeout: Duration::from_secs(120),
            close_timeout: Duration::from_secs(5),
            keep_alive: None,
            max_unread: 1 << 20,
            reader_options: ReaderOptions::new(),
        }
    }

    setters! {
        /// Sets the port. Default: 22.
        port(port: u16) => port = port;
        /// Sets the user name. Default: `USER` or `USERNAME` of the environment.
        user(user: impl Into<String>) => user = Some(user.into());
        /// Sets the name of the subsystem. Default: `powershell`.
        subsystem(name: impl Into<String>) => subsystem = name.into();
        /// Sets the known-hosts files to search. Missing files count as empty; unreadable ones are errors. Default:
        /// `known_hosts` and `known_hosts2` in `~/.ssh`, then the system's `ssh_known_hosts` and `ssh_known_hosts2`.
        known_hosts(files: impl IntoIterator<Item = impl Into<PathBuf>>) => known_hosts = Some(files.into_iter().map(Into::into).collect());
        /// Accepts and saves the key of an unknown host on first use, to the first known-hosts file.
        ///
        /// The first connection is not authenticated: its key is trusted from then on. Keys that differ from known ones
        /// (even in type) and revoked keys are still refused.
        accept_new() => policy = HostKeyPolicy::AcceptNew;
        /// Accepts every host key. For tests only: an attacker in the middle can read and modify all data, including a
        /// password.
        danger_accept_any_key() => policy = HostKeyPolicy::AcceptAny;
        /// Sets the socket of the SSH agent (a named pipe on Windows). Default: `SSH_AUTH_SOCK`; on Windows without it,
        /// the pipe of the OpenSSH agent service.
        agent(socket: impl Into<PathBuf>) => agent = AgentSocket::Path(socket.into());
        /// Connects through another server, like `ssh -J`, with the credentials of its connector. If that has no function
        /// to [`ask`](Self::ask), no [`known_hosts`](Self::known_hosts) or no policy for unknown keys, those of this
        /// connector apply. Default: none.
        jump(server: Self) => jump = Some(Box::new(server));
        /// Disables the SSH agent.
        without_agent() => agent = AgentSocket::Disabled;
    }

    /// Adds a private key file; the default files are then not used. Files are tried in the order in which they were
    /// added. Supported are the format of `ssh-keygen`, PKCS #8 and older formats. On Unix only the owner may have read
    /// access.
    #[must_use]
    pub fn key_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.key_files.get_or_insert_default().push(file.into());
        self
    }

    setters! {
        /// Disables private key files, except those added afterwards.
        without_key_files() => key_files = Some(Vec::new());
        /// Sets the passphrase of encrypted key files.
        passphrase(passphrase: impl Into<String>) => passphrase = Some(secret(passphrase));
        /// Sets the user's password.
        password(password: impl Into<String>) => password = Some(secret(password));
        /// Sets a function that supplies missing passphrases and passwords and answers to the server's prompts. It
        /// returns `None` if there is no answer. It runs on a blocking thread and may wait for the user, but
        /// [`auth_timeout`](Self::auth_timeout) still applies.
        ask(answer: impl Fn(SshQuestion<'_>) -> Option<String> + Send + Sync + 'static) => ask = Some(PromptHandler(Arc::new(answer)));
        /// Sets the timeout for connecting and verifying the host key, and again for starting the subsystem. Default:
        /// 30 seconds.
        connect_timeout(time: Duration) => connect_timeout = time;
        /// Sets the timeout for authentication, including the time the user takes to answer prompts. Default: 2
        /// minutes.
        auth_timeout(time: Duration) => auth_timeout = time;
        /// Sets how long to wait for the server to close the session, and for its exit status after the end of the
        /// output. Default: 5 seconds.
        close_timeout(time: Duration) => close_timeout = time;
        /// Sends a keep-alive message after this time without data from the server. After three unanswered messages the
        /// session fails with [`is_timeout`](Error::is_timeout). Default: none, so an idle connection never times out.
        keep_alive(interval: Duration) => keep_alive = Some(interval);
        /// Sets the maximum bytes of unread output. At the limit, reading from the server stops; one more SSH packet of
        /// about 32 KiB may be buffered. Default: 1 MiB.
        max_unread(bytes: usize) => max_unread = bytes;
        /// Sets the limits for reading packets.
        reader_options(options: ReaderOptions) => reader_options = options;
    }

    fn address(&self) -> String {
        match self.port {
            22 => self.host.clone(),
            port if self.host.contains(':') => format!("[{}]:{port}", self.host),
            port => format!("{}:{port}", self.host),
        }
    }

    async fn handshake(
        &self,
        jump: Option<&Login>,
        shared: &Arc<SharedConnection>,
    ) -> Result<Handle<ClientHandler>, Error> {
        let files = self.known_hosts.clone().unwrap_or_else(known_hosts::default_files);
        let verifier =
            HostKeyVerifier::read(self.policy, files, &self.host, self.port, self.ask.clone()).await?;
        let config = client::Config {
            client_id: russh::SshId::Standard(concat!("SSH-2.0-psrp_", env!("CARGO_PKG_VERSION")).into()),
            preferred: russh::Preferred { key: verifier.algorithms(), ..russh::Preferred::DEFAULT },
            ..client::Config::default()
        };
        let socket = BackpressureSocket::new(self.socket(jump).await?, Arc::clone(shared));
        let handler = ClientHandler { shared: Arc::clone(shared), verifier };
        Ok(client::connect_stream(config.into(), socket, handler).await?)
    }

    /// Connects directly, or through the jump host.
    async fn socket(&self, jump: Option<&Login>) -> Result<Box<dyn Socket>, Error> {
        let Some(jump) = jump else {
            let socket = TcpStream::connect((self.host.as_str(), self.port)).await?;
            // The layer above already combines small writes.
            socket.set_nodelay(true)?;
            return Ok(Box::new(socket));
        };
        let opening = jump.handle.channel_open_direct_tcpip(&*self.host, self.port.into(), "127.0.0.1", 0);
        let channel = opening.await.map_err(|error| {
            Error::with(Kind::Io, "the jump host refuses the connection").caused_by(error_text(&error))
        })?;
        // Dropping the read half leaves incoming data to the handler.
        let (_, channel) = channel.split();
        let (reader, writer) = halves(&jump.abandon.0, &channel);
        Ok(Box::new(tokio::io::join(reader, writer)))
    }

    /// Connects and authenticates, first at the jump host.
    fn log_in(&self) -> LoginFuture<'_> {
        Box::pin(async move {
            let Some(user) = self.user.clone().or_else(local_user) else {
                return Err(Error::with(Kind::State, "no user name (set it with Ssh::user)"));
            };
            let jump = match &self.jump {
                Some(jump) => Some(Box::new(jump.with_defaults_of(self).log_in().await?)),
                None => None,
            };
            let shared = SharedConnection::new(self.max_unread);
            // Ends the connection's task on errors and if this future is dropped.
            let abandon = AbandonOnDrop(Arc::clone(&shared));
            let mut handle =
                self.within(self.connect_timeout, "connect to", self.handshake(jump.as_deref(), &shared))
                    .await
                    .map_err(|error| match error.is_io() || error.is_closed() {
                        true => Error::with(Kind::Io, format!("can't connect to {}", self.address()))
                            .caused_by(error),
                        false => error,
                    })?;
            self.within(
                self.auth_timeout,
                "authenticate at",
                SshAuthentication::new(self, &user, &mut handle, &shared).run(),
            )
            .await?;
            Ok(Login { handle, abandon, jump })
        })
    }

    /// Returns the connector of a jump host, with the settings of its target that it lacks.
    fn with_defaults_of(&self, target: &Self) -> Self {
        let mut jump = self.clone();
        jump.ask = jump.ask.or_else(|| target.ask.clone());
        jump.known_hosts = jump.known_hosts.or_else(|| target.known_hosts.clone());
        if jump.policy == HostKeyPolicy::default() {
            jump.policy = target.policy;
        }
        jump
    }

    async fn start_subsystem(
        &self,
        handle: &Handle<ClientHandler>,
        shared: &SharedConnection,
    ) -> Result<ChannelWriteHalf<Msg>, Error> {
        let connection_error = |error: russh::Error| match shared.error() {
            Some(error) => Error::with(Kind::Closed, error.text()),
            None => SshError::Ssh(error).into(),
        };
        // Dropping the read half leaves incoming data to the handler.
        let (_, channel) = handle.channel_open_session().await.map_err(connection_error)?.split();
        channel.request_subsystem(true, self.subsystem.as_str()).await.map_err(connection_error)?;
        let response = shared.wait_until(|state| match state.subsystem_response {
            None if !state.closed => None,
            response => Some(response),
        });
        match response.await {
            Some(true) => Ok(channel),
            Some(false) => {
                let detail = format!("{} has no subsystem {}", self.address(), self.subsystem);
                Err(Error::with(Kind::Unsupported, detail))
            }
            None => Err(shared
                .end_error(&self.session_name())
                .unwrap_or_else(|| Error::with(Kind::Closed, self.session_name()))),
        }
    }

    fn session_name(&self) -> String {
        format!("{} on {}", self.subsystem, self.address())
    }

    async fn within<T>(
        &self,
        limit: Duration,
        action: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        timeout(limit, work).await.unwrap_or_else(|_| {
            let detail = format!("{action} {} (limit: {} ms)", self.address(), limit.as_millis());
            Err(Error::with(Kind::Timeout, detail))
        })
    }
}

impl Connect for Ssh {
    type Transport = SshTransport;

    async fn connect(&self) -> Result<SshTransport, Error> {
        let login = self.log_in().await?;
        let starting = self.start_subsystem(&login.handle, &login.abandon.0);
        let channel = self.within(self.connect_timeout, "start the subsystem at", starting).await?;
        Ok(SshTransport::new(self, login, &channel))
    }
}

/// Connection with an authenticated user.
struct Login {
    handle: Handle<ClientHandler>,
    abandon: AbandonOnDrop,
    /// Connection that carries this one.
    jump: Option<Box<Self>>,
}

type LoginFuture<'a> = Pin<Box<dyn Future<Output = Result<Login, Error>> + Send + 'a>>;

/// Stream below a connection: a socket or a channel of a jump host.
trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

/// Returns the name of the user of this process.
fn local_user() -> Option<String> {
    std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok()
}

/// Ends the connection at once when dropped.
struct AbandonOnDrop(Arc<SharedConnection>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
