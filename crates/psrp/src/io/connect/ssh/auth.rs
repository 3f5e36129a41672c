//! SSH user authentication.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse, Prompt};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::{AgentClient, AgentStream};
use russh::keys::{HashAlg, PrivateKeyWithHashAlg, PublicKey};
use russh::{MethodKind, MethodSet};

use super::Ssh;
use super::handler::{ClientHandler, SshError};
use super::host_key::blocking;
use super::keys;
use super::prompt::{Secret, SshQuestion};
use super::state::{ConnectionError, SharedConnection};
use crate::error::Kind;
use crate::io::peer_text::peer_text;
use crate::{Error, terminal_safe};

/// Maximum rounds of authentication, and of prompts within keyboard-interactive authentication.
const MAX_ROUNDS: usize = 16;

type Agent = AgentClient<Box<dyn AgentStream + Send + Unpin>>;

/// Location of the SSH agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum AgentSocket {
    /// The socket in `SSH_AUTH_SOCK`.
    #[default]
    Environment,
    Path(PathBuf),
    Disabled,
}

/// Reason to end authentication or to start over. A method that the server refuses returns `Ok`, and the next one is
/// tried.
enum AuthEnd {
    Success,
    /// Accepted, but the server requires another method as well, which may be an earlier one.
    Partial,
    Failed(Error),
}

type Attempt<T = ()> = Result<T, AuthEnd>;

impl From<Error> for AuthEnd {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<russh::Error> for AuthEnd {
    fn from(error: russh::Error) -> Self {
        Self::Failed(SshError::Ssh(error).into())
    }
}

/// Authentication of one connection: remaining methods and past attempts.
pub(super) struct SshAuthentication<'a> {
    ssh: &'a Ssh,
    user: &'a str,
    handle: &'a mut Handle<ClientHandler>,
    shared: &'a SharedConnection,
    /// Methods that the server accepts next.
    methods: MethodSet,
    /// Attempted credentials and their results, for the error message.
    tried: Vec<String>,
    /// Key fingerprints and method names that are not tried again.
    used: BTreeSet<String>,
    rsa: Option<Option<HashAlg>>,
}

impl<'a> SshAuthentication<'a> {
    pub(super) fn new(
        ssh: &'a Ssh,
        user: &'a str,
        handle: &'a mut Handle<ClientHandler>,
        shared: &'a SharedConnection,
    ) -> Self {
        let (methods, tried, used) = (MethodSet::empty(), Vec::new(), BTreeSet::new());
        Self { ssh, user, handle, shared, methods, tried, used, rsa: None }
    }

    /// Tries all credentials until the server accepts. Fails with `is_denied` and the list of attempts if the server
    /// accepts none.
    pub(super) async fn run(mut self) -> Result<(), Error> {
        for _ in 0..MAX_ROUNDS {
            match self.round().await {
                Ok(()) => break,
                Err(AuthEnd::Success) => return Ok(()),
                Err(AuthEnd::Partial) => {}
                Err(AuthEnd::Failed(error)) => return Err(error),
            }
        }
        Err(self.denied())
    }

    async fn round(&mut self) -> Attempt {
        if self.used.insert("none".into()) {
            // The response lists the supported methods.
            let result = self.handle.authenticate_none(self.user).await?;
            self.record_result(None, result)?;
        }
        // Explicit keys come before default ones: servers limit the number of attempts.
        let ssh = self.ssh;
        if let Some(files) = &ssh.key_files {
            self.key_files(files).await?;
        }
        self.agent().await?;
        if ssh.key_files.is_none() {
            self.key_files(&keys::default_files()).await?;
        }
        self.password().await?;
        self.keyboard_interactive().await
    }

    fn accepts(&self, method: MethodKind) -> bool {
        self.methods.contains(&method)
    }

    /// Records the result of an attempt. A `None` name leaves it out of the error message.
    fn record_result(&mut self, name: Option<String>, result: AuthResult) -> Attempt {
        let AuthResult::Failure { remaining_methods, partial_success } = result else {
            return Err(AuthEnd::Success);
        };
        self.methods = remaining_methods;
        if let Some(name) = name {
            let outcome = if partial_success { "partial success" } else { "refused" };
            self.tried.push(format!("{name} ({outcome})"));
        }
        // russh reports a lost connection as a failure without remaining methods.
        match self.shared.error() {
            None | Some(ConnectionError::NoAuthMethodLeft) if partial_success => Err(AuthEnd::Partial),
            None | Some(ConnectionError::NoAuthMethodLeft) => Ok(()),
            Some(error @ ConnectionError::Disconnect(_)) => {
                Err(self.refusal(&format!("; {}", error.text())).into())
            }
            Some(error) => {
                let tried = self.tried.join(", ");
                let detail = format!("while authenticating {}: {}; tried: {tried}", self.user, error.text());
                Err(Error::with(Kind::Closed, detail).into())
            }
        }
    }

    fn record_skipped(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.tried.contains(&what) {
            self.tried.push(what);
        }
    }

    fn denied(&self) -> Error {
        let methods: Vec<&str> = self.methods.iter().map(<&str>::from).collect();
        let accepted = match methods.is_empty() {
            true => String::new(),
            false => format!("; the server accepts {}", methods.join(", ")),
        };
        self.refusal(&accepted)
    }

    fn refusal(&self, more: &str) -> Error {
        let tried = match self.tried.is_empty() {
            true => "nothing (no credentials are configured)".to_owned(),
            false => self.tried.join(", "),
        };
        Error::with(Kind::Denied, format!("for {} on {}; tried: {tried}{more}", self.user, self.ssh.host))
    }

    /// Returns the best hash for RSA signatures that the server supports, or `None` for SHA-1 only.
    async fn rsa_hash(&mut self) -> Attempt<Option<HashAlg>> {
        if self.rsa.is_none() {
            // A server that does not announce its algorithms may still support SHA-512.
            let best = self.handle.best_supported_rsa_hash().await?;
            self.rsa = Some(best.unwrap_or(Some(HashAlg::Sha512)));
        }
        Ok(self.rsa.flatten())
    }

    /// Returns the signature hash for a key (`None` if not RSA), or `None` if the key was already tried or is unusable.
    async fn hash_for(&mut self, key: &PublicKey, name: &str) -> Attempt<Option<Option<HashAlg>>> {
        if !self.used.insert(key.fingerprint(HashAlg::Sha256).to_string()) {
            return Ok(None);
        }
        if !key.algorithm().is_rsa() {
            return Ok(Some(None));
        }
        let hash = self.rsa_hash().await?;
        if hash.is_none() {
            self.record_skipped(format!("{name} (the server supports RSA with SHA-1 only)"));
        }
        Ok(hash.map(Some))
    }

    async fn key_files(&mut self, files: &[PathBuf]) -> Attempt {
        for path in files {
            if self.accepts(MethodKind::PublicKey) {
                self.key_file(path).await?;
            }
        }
        Ok(())
    }

    async fn key_file(&mut self, path: &Path) -> Attempt {
        let name = format!("key file {}", path.display());
        if !self.used.insert(name.clone()) {
            return Ok(());
        }
        let (file, passphrase, ask) = (path.to_owned(), self.ssh.passphrase.clone(), self.ssh.ask.clone());
        let key = match blocking(move || keys::load(&file, passphrase.as_ref(), ask.as_ref())).await? {
            Ok(key) => key,
            Err(reason) => {
                self.record_skipped(format!("{name} ({reason})"));
                return Ok(());
            }
        };
        let Some(hash) = self.hash_for(key.public_key(), &name).await? else {
            return Ok(());
        };
        let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
        let result = self.handle.authenticate_publickey(self.user, key).await?;
        self.record_result(Some(name), result)
    }

    async fn agent(&mut self) -> Attempt {
        if !self.accepts(MethodKind::PublicKey) {
            return Ok(());
        }
        let mut agent = match connect_agent(&self.ssh.agent).await {
            Ok(Some(agent)) => agent,
            Ok(None) => return Ok(()),
            Err(reason) => {
                self.record_skipped(format!("agent ({reason})"));
                return Ok(());
            }
        };
        // Required for keys restricted to certain hosts. Agents without support have no such keys.
        if let Some(binding) = self.handle.agent_session_binding() {
            let _ = agent.bind_session(binding, false).await;
        }
        let identities = match agent.request_identities().await {
            Ok(identities) => identities,
            Err(error) => {
                self.record_skipped(format!("agent ({})", terminal_safe(&error.to_string())));
                return Ok(());
            }
        };
        if identities.is_empty() {
            self.record_skipped("agent (has no keys)");
        }
        for identity in identities {
            if self.accepts(MethodKind::PublicKey) {
                self.agent_key(&mut agent, identity).await?;
            }
        }
        Ok(())
    }

    async fn agent_key(&mut self, agent: &mut Agent, identity: AgentIdentity) -> Attempt {
        let key = identity.public_key().into_owned();
        let print = key.fingerprint(HashAlg::Sha256);
        let (name, result) = match identity {
            AgentIdentity::PublicKey { key, .. } => {
                let name = format!("agent's key {print}");
                let Some(hash) = self.hash_for(&key, &name).await? else { return Ok(()) };
                (name, self.handle.authenticate_publickey_with(self.user, key, hash, agent).await)
            }
            AgentIdentity::Certificate { certificate, .. } => {
                let name = format!("agent's certificate of {print}");
                if !self.used.insert(name.clone()) {
                    return Ok(());
                }
                let hash = if key.algorithm().is_rsa() { self.rsa_hash().await? } else { None };
                (name, self.handle.authenticate_certificate_with(self.user, certificate, hash, agent).await)
            }
        };
        match result {
            Ok(result) => self.record_result(Some(name), result),
            Err(_) if self.shared.error().is_none() => {
                self.record_skipped(format!("{name} (the agent did not sign)"));
                Ok(())
            }
            Err(_) => {
                let ended =
                    AuthResult::Failure { remaining_methods: MethodSet::empty(), partial_success: false };
                self.record_result(Some(name), ended)
            }
        }
    }

    async fn password(&mut self) -> Attempt {
        if !self.accepts(MethodKind::Password) || !self.used.insert("password".into()) {
            return Ok(());
        }
        let password = match (&self.ssh.password, &self.ssh.ask) {
            (Some(password), _) => Some(password.clone()),
            (None, Some(ask)) => {
                let (ask, user, host) = (ask.clone(), self.user.to_owned(), self.ssh.host.clone());
                blocking(move || ask.call(SshQuestion::Password { user: &user, host: &host })).await?
            }
            (None, None) => None,
        };
        let Some(password) = password else { return Ok(()) };
        // russh wipes its copy.
        let result = self.handle.authenticate_password(self.user, password.0.as_str()).await?;
        self.record_result(Some("password".into()), result)
    }

    /// Keyboard-interactive authentication (RFC 4256).
    async fn keyboard_interactive(&mut self) -> Attempt {
        let can_answer = self.ssh.password.is_some() || self.ssh.ask.is_some();
        let name = "keyboard-interactive";
        if !can_answer || !self.accepts(MethodKind::KeyboardInteractive) || !self.used.insert(name.into()) {
            return Ok(());
        }
        // The password is sent only once: another prompt for it means that it was wrong.
        let mut password = self.ssh.password.clone();
        let mut unanswered = None;
        let mut response = self.handle.authenticate_keyboard_interactive_start(self.user, None).await?;
        for _ in 0..MAX_ROUNDS {
            let prompts = match response {
                KeyboardInteractiveAuthResponse::Success => return Err(AuthEnd::Success),
                KeyboardInteractiveAuthResponse::Failure { remaining_methods, partial_success } => {
                    let name = match unanswered {
                        Some(text) => format!("{name} without an answer to {text:?}"),
                        None => name.to_owned(),
                    };
                    return self.record_result(
                        Some(name),
                        AuthResult::Failure { remaining_methods, partial_success },
                    );
                }
                KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => prompts,
            };
            let mut answers = Vec::new();
            for prompt in &prompts {
                let answer = self.prompt_answer(prompt, &mut password).await?;
                if answer.is_none() {
                    unanswered = Some(peer_text(&prompt.prompt));
                }
                answers.push(answer.map_or_else(String::new, |secret| secret.0.to_string()));
            }
            response = self.handle.authenticate_keyboard_interactive_respond(answers).await?;
        }
        Err(Error::with(Kind::Limit, format!("more than {MAX_ROUNDS} rounds of prompts")).into())
    }

    async fn prompt_answer(
        &self,
        prompt: &Prompt,
        password: &mut Option<Secret>,
    ) -> Result<Option<Secret>, Error> {
        if !prompt.echo
            && let Some(password) = password.take()
        {
            return Ok(Some(password));
        }
        let Some(ask) = self.ssh.ask.clone() else { return Ok(None) };
        let (text, echo) = (prompt.prompt.clone(), prompt.echo);
        blocking(move || ask.call(SshQuestion::Prompt { text: &text, echo })).await
    }
}

/// Connects to the agent. Returns `None` if it is disabled.
async fn connect_agent(place: &AgentSocket) -> Result<Option<Agent>, String> {
    let path = match place {
        AgentSocket::Disabled => return Ok(None),
        AgentSocket::Path(path) => path.clone(),
        AgentSocket::Environment => match std::env::var_os("SSH_AUTH_SOCK").filter(|path| !path.is_empty()) {
            Some(path) => path.into(),
            // Pipe of the Windows OpenSSH agent service.
            None if cfg!(windows) => r"\\.\pipe\openssh-ssh-agent".into(),
            None => return Err("SSH_AUTH_SOCK is not set".into()),
        },
    };
    #[cfg(unix)]
    let agent = AgentClient::connect_uds(&path).await;
    #[cfg(windows)]
    let agent = AgentClient::connect_named_pipe(&path).await;
    match agent {
        Ok(agent) => Ok(Some(agent.dynamic())),
        Err(error) => {
            Err(format!("{} does not answer: {}", path.display(), terminal_safe(&error.to_string())))
        }
    }
}
