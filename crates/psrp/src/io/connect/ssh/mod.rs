//! Sessions over SSH.

mod auth;
mod gate;
mod keys;
mod known_hosts;
mod question;
mod state;
mod task;
mod transport;
mod trust;

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use russh::ChannelWriteHalf;
use russh::client::{self, Handle, Msg};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub use self::question::SshQuestion;
pub use self::transport::SshTransport;

use self::auth::{AgentPlace, Login};
use self::gate::Gate;
use self::question::{Ask, Secret};
use self::state::Shared;
use self::task::{Failure, Task};
use self::trust::{Policy, Trust};
use crate::Error;
use crate::error::Kind;
use crate::io::Connect;
use crate::outofproc::ReaderOptions;

/// Connects to the subsystem `powershell` of an SSH server.
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Options, RunspacePool, Ssh};
/// use psrp::message::PowerShell;
///
/// let server = Ssh::new("server.example.org").user("alice");
/// let pool = RunspacePool::open(&server, Options::new()).await?;
/// let output = pool.invoke(PowerShell::script("Get-Process")).await?;
/// pool.close().await?;
/// # Ok(())
/// # }
/// ```
///
/// # The server
///
/// PowerShell answers over SSH where the configuration of the server (`sshd_config`) has a line
///
/// ```text
/// Subsystem powershell /usr/bin/pwsh -sshs -NoLogo
/// ```
///
/// with the path of PowerShell, which on Windows has to be one without blanks: the short form
/// `c:/progra~1/powershell/7/pwsh.exe`. A server without the line answers with
/// [`is_unsupported`](Error::is_unsupported). With a wrong path the session ends at once with exit status 127; OpenSSH
/// keeps what subsystems write to their standard error to itself, others pass it on into the error.
///
/// # Whose server it is
///
/// The key of the server has to stand in a file of known hosts, under the name and port given here: plain or hashed, with
/// patterns, and not revoked. What is not known is refused with an error that names the key's fingerprint and the files or
/// line ([`is_untrusted`](Error::is_untrusted)); `ssh-keyscan` or a first login with `ssh` writes the line, or
/// [`accept_new`](Self::accept_new) does. Certificates of hosts are not supported; of lines with `@cert-authority` the
/// error tells.
///
/// # Who the user is
///
/// These ways are tried until the server is content, in this order:
///
/// 1. keys of the [files that were named](Self::key_file),
/// 2. keys and certificates of the [agent](Self::agent),
/// 3. if no files were named, `id_ed25519`, `id_ecdsa` and `id_rsa` in `~/.ssh`,
/// 4. the [password](Self::password),
/// 5. keyboard-interactive: hidden questions get the password once, all others go to [`ask`](Self::ask).
///
/// A server that wants several steps gets them. If all is refused, the error lists what was tried
/// ([`is_denied`](Error::is_denied)). RSA keys sign with SHA-2 only. Secrets are wiped from memory, and no error and no
/// `Debug` shows them.
///
/// # The configuration of OpenSSH
///
/// `~/.ssh/config` is not read. Where its aliases, jump hosts or certificates matter, let the program `ssh` do the
/// connecting; it carries the same session:
///
/// ```
/// use psrp::io::Child;
///
/// let server = Child::new("ssh").args(["-s", "server.example.org", "powershell"]);
/// ```
#[derive(Clone)]
pub struct Ssh {
    host: String,
    port: u16,
    user: Option<String>,
    subsystem: String,
    policy: Policy,
    known_hosts: Option<Vec<PathBuf>>,
    agent: AgentPlace,
    key_files: Option<Vec<PathBuf>>,
    passphrase: Option<Secret>,
    password: Option<Secret>,
    ask: Option<Ask>,
    connect_timeout: Duration,
    auth_timeout: Duration,
    close_timeout: Duration,
    keep_alive: Option<Duration>,
    max_unread: usize,
    reading: ReaderOptions,
}

impl Ssh {
    /// Default of [`connect_timeout`](Self::connect_timeout): 30 seconds.
    pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
    /// Default of [`auth_timeout`](Self::auth_timeout): 2 minutes.
    pub const DEFAULT_AUTH_TIMEOUT: Duration = Duration::from_secs(120);
    /// Default of [`close_timeout`](Self::close_timeout): 5 seconds.
    pub const DEFAULT_CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
    /// Default of [`max_unread`](Self::max_unread): 1 MiB.
    pub const DEFAULT_MAX_UNREAD: usize = 1 << 20;

    /// The subsystem `powershell` of a host, by name or address, at port 22.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            port: 22,
            user: None,
            subsystem: "powershell".into(),
            policy: Policy::default(),
            known_hosts: None,
            agent: AgentPlace::default(),
            key_files: None,
            passphrase: None,
            password: None,
            ask: None,
            connect_timeout: Self::DEFAULT_CONNECT_TIMEOUT,
            auth_timeout: Self::DEFAULT_AUTH_TIMEOUT,
            close_timeout: Self::DEFAULT_CLOSE_TIMEOUT,
            keep_alive: None,
            max_unread: Self::DEFAULT_MAX_UNREAD,
            reading: ReaderOptions::new(),
        }
    }

    /// The port. Default: 22.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Who logs in. Default: the user of this process, from `USER` or `USERNAME`.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The name of the subsystem. Default: `powershell`.
    #[must_use]
    pub fn subsystem(mut self, name: impl Into<String>) -> Self {
        self.subsystem = name.into();
        self
    }

    /// Looks for the key of the host in these files only. A file that is not there is empty; one that can't be read is an
    /// error. Default: `known_hosts` and `known_hosts2` in `~/.ssh`, `ssh_known_hosts` and `ssh_known_hosts2` of the system.
    #[must_use]
    pub fn known_hosts(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.known_hosts = Some(files.into_iter().map(Into::into).collect());
        self
    }

    /// Accepts the key of a host of which nothing is known, and writes it to the first file of known hosts.
    ///
    /// Whoever answers the first connection is trusted from then on. Keys that differ from known ones, even in their type,
    /// and revoked keys are still refused.
    #[must_use]
    pub fn accept_new(mut self) -> Self {
        self.policy = Policy::AcceptNew;
        self
    }

    /// Accepts every key: whoever sits between can read and change everything, and gets the password if one is sent. For
    /// tests.
    #[must_use]
    pub fn danger_accept_any_key(mut self) -> Self {
        self.policy = Policy::AcceptAny;
        self
    }

    /// The socket (on Windows the pipe) of an agent. Default: what `SSH_AUTH_SOCK` names, on Windows the pipe of the
    /// system's agent otherwise.
    #[must_use]
    pub fn agent(mut self, socket: impl Into<PathBuf>) -> Self {
        self.agent = AgentPlace::Path(socket.into());
        self
    }

    /// Asks no agent.
    #[must_use]
    pub fn without_agent(mut self) -> Self {
        self.agent = AgentPlace::None;
        self
    }

    /// A file with a private key, after those that were named before; the default files are not tried then. The format is
    /// that of `ssh-keygen`; PKCS #8 and older ones are read too. On Unix nobody but its owner may be able to read it.
    #[must_use]
    pub fn key_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.key_files.get_or_insert_default().push(file.into());
        self
    }

    /// Uses no file with a private key, unless some are named after this.
    #[must_use]
    pub fn without_key_files(mut self) -> Self {
        self.key_files = Some(Vec::new());
        self
    }

    /// What decrypts encrypted key files.
    #[must_use]
    pub fn passphrase(mut self, passphrase: impl Into<String>) -> Self {
        self.passphrase = Some(Secret::new(passphrase));
        self
    }

    /// The password of the user.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(Secret::new(password));
        self
    }

    /// Who is asked for a passphrase or password that was not given, and what the server asks beyond that. `None` means
    /// that there is no answer. It runs on a thread of its own and may wait for a user;
    /// [`auth_timeout`](Self::auth_timeout) goes on meanwhile.
    #[must_use]
    pub fn ask(mut self, answer: impl Fn(SshQuestion<'_>) -> Option<String> + Send + Sync + 'static) -> Self {
        self.ask = Some(Ask::new(answer));
        self
    }

    /// Limits the time until the server has shown its key, and once more that until the subsystem has started. Default:
    /// [`DEFAULT_CONNECT_TIMEOUT`](Self::DEFAULT_CONNECT_TIMEOUT), 30 seconds.
    #[must_use]
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time;
        self
    }

    /// Limits the time of the login, that of a user who is asked included. Default:
    /// [`DEFAULT_AUTH_TIMEOUT`](Self::DEFAULT_AUTH_TIMEOUT), 2 minutes.
    #[must_use]
    pub fn auth_timeout(mut self, time: Duration) -> Self {
        self.auth_timeout = time;
        self
    }

    /// Limits the wait for the server to end the session when the client does, and for its exit status when it does.
    /// Default: [`DEFAULT_CLOSE_TIMEOUT`](Self::DEFAULT_CLOSE_TIMEOUT), 5 seconds.
    #[must_use]
    pub fn close_timeout(mut self, time: Duration) -> Self {
        self.close_timeout = time;
        self
    }

    /// Asks for a sign of life whenever the server was silent for so long; after three without an answer the session ends
    /// ([`is_timeout`](Error::is_timeout)). Default: never asks, so that silence ends nothing.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = Some(interval);
        self
    }

    /// Reads no more from the server while this many bytes of output wait to be taken. One packet of SSH, of about 32 KiB,
    /// can come on top. Default: [`DEFAULT_MAX_UNREAD`](Self::DEFAULT_MAX_UNREAD), 1 MiB.
    #[must_use]
    pub fn max_unread(mut self, bytes: usize) -> Self {
        self.max_unread = bytes;
        self
    }

    /// Limits of what is read.
    #[must_use]
    pub fn reader_options(mut self, options: ReaderOptions) -> Self {
        self.reading = options;
        self
    }

    fn place(&self) -> String {
        match self.port {
            22 => self.host.clone(),
            port if self.host.contains(':') => format!("[{}]:{port}", self.host),
            port => format!("{}:{port}", self.host),
        }
    }

    async fn shake_hands(&self, shared: &Arc<Shared>) -> Result<Handle<Task>, Error> {
        let files = self.known_hosts.clone().unwrap_or_else(known_hosts::default_files);
        let trust = Trust::read(self.policy, files, &self.host, self.port).await?;
        let config = client::Config {
            client_id: russh::SshId::Standard(concat!("SSH-2.0-psrp_", env!("CARGO_PKG_VERSION")).into()),
            preferred: russh::Preferred { key: trust.algorithms(), ..russh::Preferred::DEFAULT },
            ..client::Config::default()
        };
        let socket = TcpStream::connect((self.host.as_str(), self.port)).await?;
        // Small packets wait for nothing: what is worth gathering is gathered above.
        socket.set_nodelay(true)?;
        let task = Task { shared: Arc::clone(shared), trust };
        Ok(client::connect_stream(config.into(), Gate::new(socket, Arc::clone(shared)), task).await?)
    }

    async fn start(&self, handle: &Handle<Task>, shared: &Shared) -> Result<ChannelWriteHalf<Msg>, Error> {
        let lost = |error: russh::Error| match shared.fault() {
            Some(fault) => Error::with(Kind::Closed, fault.text()),
            None => Failure::Ssh(error).into(),
        };
        // Dropping the half that reads leaves all that arrives to the task.
        let (_, channel) = handle.channel_open_session().await.map_err(lost)?.split();
        channel.request_subsystem(true, self.subsystem.as_str()).await.map_err(lost)?;
        match shared.answer().await {
            Some(true) => Ok(channel),
            Some(false) => {
                let detail = format!("{} has no subsystem {}", self.place(), self.subsystem);
                Err(Error::with(Kind::Unsupported, detail))
            }
            None => {
                Err(shared.ending(&self.what()).unwrap_or_else(|| Error::with(Kind::Closed, self.what())))
            }
        }
    }

    /// What ends when the session does.
    fn what(&self) -> String {
        format!("{} on {}", self.subsystem, self.place())
    }

    async fn within<T>(
        &self,
        limit: Duration,
        what: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        timeout(limit, work).await.unwrap_or_else(|_| {
            let detail = format!("{what} at {} within {} ms", self.place(), limit.as_millis());
            Err(Error::with(Kind::Timeout, detail))
        })
    }
}

impl Connect for Ssh {
    type Transport = SshTransport;

    async fn connect(&self) -> Result<SshTransport, Error> {
        let name = || std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok();
        let Some(user) = self.user.clone().or_else(name) else {
            return Err(Error::with(Kind::State, "nobody is named to log in"));
        };
        let shared = Shared::new(self.max_unread);
        // Whatever fails, and if this future is dropped: the task of the connection ends.
        let abandon = Abandon(Some(Arc::clone(&shared)));
        let mut handle = self
            .within(self.connect_timeout, "no connection", self.shake_hands(&shared))
            .await
            .map_err(|error| self.unreachable(error))?;
        self.within(self.auth_timeout, "no login", Login::new(self, &user, &mut handle, &shared).run())
            .await?;
        let channel = self.within(self.connect_timeout, "no start", self.start(&handle, &shared)).await?;
        let transport = SshTransport::new(
            shared,
            handle,
            &channel,
            self.what(),
            self.reading,
            self.close_timeout,
            self.keep_alive,
        );
        abandon.keep();
        Ok(transport)
    }
}

impl Ssh {
    /// Says whom an error of the connection is about.
    fn unreachable(&self, error: Error) -> Error {
        match error.is_io() || error.is_closed() {
            true => Error::with(Kind::Io, format!("no connection to {}", self.place())).caused_by(error),
            false => error,
        }
    }
}

/// Ends a connection that nobody gets.
struct Abandon(Option<Arc<Shared>>);

impl Abandon {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Abandon {
    fn drop(&mut self) {
        if let Some(shared) = &self.0 {
            shared.abandon();
        }
    }
}

/// Shows no secret.
impl fmt::Debug for Ssh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ssh")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("subsystem", &self.subsystem)
            .field("policy", &self.policy)
            .field("known_hosts", &self.known_hosts)
            .field("agent", &self.agent)
            .field("key_files", &self.key_files)
            .field("passphrase", &self.passphrase)
            .field("password", &self.password)
            .field("ask", &self.ask)
            .finish_non_exhaustive()
    }
}
