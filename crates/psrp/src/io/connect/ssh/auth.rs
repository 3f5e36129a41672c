//! How the user logs in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use russh::client::{AuthResult, Handle, KeyboardInteractiveAuthResponse, Prompt};
use russh::keys::agent::AgentIdentity;
use russh::keys::agent::client::{AgentClient, AgentStream};
use russh::keys::{HashAlg, PrivateKeyWithHashAlg, PublicKey};
use russh::{MethodKind, MethodSet};

use super::Ssh;
use super::keys::{self, NoKey};
use super::question::Secret;
use super::state::{Fault, Shared};
use super::task::{Failure, Task};
use super::trust::blocking;
use crate::error::Kind;
use crate::io::remote::remote_text;
use crate::{Error, terminal_safe};

/// Rounds of questions of one keyboard-interactive login, and of logins that are each one step of all.
const ROUNDS: usize = 16;

type Agent = AgentClient<Box<dyn AgentStream + Send + Unpin>>;

/// Where the agent of the user is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum AgentPlace {
    /// Where `SSH_AUTH_SOCK` says.
    #[default]
    Environment,
    /// At this socket.
    Path(PathBuf),
    /// Nowhere.
    None,
}

/// What the server said to one method.
enum Answer {
    /// The user is in.
    In,
    /// That was one step, more are needed.
    Partly,
    Refused,
}

/// One login: what is left to try, and what was tried.
pub(super) struct Login<'a> {
    ssh: &'a Ssh,
    user: &'a str,
    handle: &'a mut Handle<Task>,
    shared: &'a Shared,
    /// What goes on, as the server has said last.
    methods: MethodSet,
    /// What was tried, and what became of it.
    tried: Vec<String>,
    /// Fingerprints of keys and names of methods that need no second try.
    used: BTreeSet<String>,
    rsa: Option<Option<HashAlg>>,
}

impl<'a> Login<'a> {
    pub(super) fn new(ssh: &'a Ssh, user: &'a str, handle: &'a mut Handle<Task>, shared: &'a Shared) -> Self {
        let (methods, tried, used) = (MethodSet::empty(), Vec::new(), BTreeSet::new());
        Self { ssh, user, handle, shared, methods, tried, used, rsa: None }
    }

    /// Tries everything that there is until the server is content.
    ///
    /// # Errors
    ///
    /// Fails if it never is: `is_denied`, with what was tried.
    pub(super) async fn run(mut self) -> Result<(), Error> {
        // It tells which methods there are.
        let result = self.handle.authenticate_none(self.user).await.map_err(ssh)?;
        if matches!(self.note(None, result)?, Answer::In) {
            return Ok(());
        }
        for _ in 0..ROUNDS {
            match self.round().await? {
                Answer::In => return Ok(()),
                Answer::Partly => {}
                Answer::Refused => break,
            }
        }
        Err(self.denied())
    }

    /// Tries each way once; a step that succeeds begins the next round, for what it leads to may stand earlier.
    async fn round(&mut self) -> Result<Answer, Error> {
        let given = self.ssh.key_files.is_some();
        let files = self.ssh.key_files.clone().unwrap_or_else(keys::default_files);
        // Keys that were named come before those that happen to be there: servers count how often one tries.
        for step in 0..5 {
            let answer = match step {
                0 if given => self.files(&files).await?,
                1 => self.agent().await?,
                2 if !given => self.files(&files).await?,
                3 => self.password().await?,
                4 => self.questions().await?,
                _ => Answer::Refused,
            };
            if !matches!(answer, Answer::Refused) {
                return Ok(answer);
            }
        }
        Ok(Answer::Refused)
    }

    fn takes(&self, method: MethodKind) -> bool {
        self.methods.contains(&method)
    }

    /// Writes down what came of a method, whose name is `None` if it is not worth a word.
    fn note(&mut self, name: Option<String>, result: AuthResult) -> Result<Answer, Error> {
        let AuthResult::Failure { remaining_methods, partial_success } = result else {
            return Ok(Answer::In);
        };
        self.methods = remaining_methods;
        if let Some(name) = name {
            let outcome = if partial_success { "accepted as one step" } else { "refused" };
            self.tried.push(format!("{name} ({outcome})"));
        }
        // A connection that has ended looks like a failure with which no method is left.
        match self.shared.fault() {
            None | Some(Fault::NoMethod) if partial_success => Ok(Answer::Partly),
            None | Some(Fault::NoMethod) => Ok(Answer::Refused),
            Some(fault @ Fault::Disconnect(_)) => Err(self.refusal(&format!("; {}", fault.text()))),
            Some(fault) => {
                let tried = self.tried.join(", ");
                let detail = format!("while {} logs in: {}; tried: {tried}", self.user, fault.text());
                Err(Error::with(Kind::Closed, detail))
            }
        }
    }

    fn skip(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.tried.contains(&what) {
            self.tried.push(what);
        }
    }

    fn denied(&self) -> Error {
        let methods: Vec<&str> = self.methods.iter().map(<&str>::from).collect();
        let asks = match methods.is_empty() {
            true => String::new(),
            false => format!("; the server takes {}", methods.join(", ")),
        };
        self.refusal(&asks)
    }

    fn refusal(&self, more: &str) -> Error {
        let tried = match self.tried.is_empty() {
            true => "nothing, for there is nothing to log in with".to_owned(),
            false => self.tried.join(", "),
        };
        Error::with(Kind::Denied, format!("to {} on {}; tried: {tried}{more}", self.user, self.ssh.host))
    }

    /// What to sign with an RSA key. `None` if the server takes nothing better than SHA-1.
    async fn rsa_hash(&mut self) -> Result<Option<HashAlg>, Error> {
        if self.rsa.is_none() {
            // A server that does not say may still know.
            let best = self.handle.best_supported_rsa_hash().await.map_err(ssh)?;
            self.rsa = Some(best.unwrap_or(Some(HashAlg::Sha512)));
        }
        Ok(self.rsa.flatten())
    }

    /// The hash for a key, or `None` if the key was used or can't be.
    async fn hash_for(&mut self, key: &PublicKey, name: &str) -> Result<Option<Option<HashAlg>>, Error> {
        if !self.used.insert(key.fingerprint(HashAlg::Sha256).to_string()) {
            return Ok(None);
        }
        if !key.algorithm().is_rsa() {
            return Ok(Some(None));
        }
        let hash = self.rsa_hash().await?;
        if hash.is_none() {
            self.skip(format!("{name} (the server would take RSA with SHA-1 only)"));
        }
        Ok(hash.map(Some))
    }

    async fn files(&mut self, files: &[PathBuf]) -> Result<Answer, Error> {
        for path in files {
            if !self.takes(MethodKind::PublicKey) {
                break;
            }
            let answer = self.file(path).await?;
            if !matches!(answer, Answer::Refused) {
                return Ok(answer);
            }
        }
        Ok(Answer::Refused)
    }

    async fn file(&mut self, path: &Path) -> Result<Answer, Error> {
        let name = format!("key file {}", path.display());
        if !self.used.insert(name.clone()) {
            return Ok(Answer::Refused);
        }
        let (file, passphrase, ask) = (path.to_owned(), self.ssh.passphrase.clone(), self.ssh.ask.clone());
        let key = match blocking(move || keys::load(&file, passphrase.as_ref(), ask.as_ref())).await? {
            Ok(key) => key,
            Err(NoKey::Missing) => {
                self.skip(format!("{name} (is not there)"));
                return Ok(Answer::Refused);
            }
            Err(NoKey::Unusable(reason)) => {
                self.skip(format!("{name} ({reason})"));
                return Ok(Answer::Refused);
            }
        };
        let Some(hash) = self.hash_for(key.public_key(), &name).await? else { return Ok(Answer::Refused) };
        let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
        let result = self.handle.authenticate_publickey(self.user, key).await.map_err(ssh)?;
        self.note(Some(name), result)
    }

    async fn agent(&mut self) -> Result<Answer, Error> {
        if !self.takes(MethodKind::PublicKey) {
            return Ok(Answer::Refused);
        }
        let mut agent = match agent(&self.ssh.agent).await {
            Ok(Some(agent)) => agent,
            Ok(None) => return Ok(Answer::Refused),
            Err(reason) => {
                self.skip(format!("agent ({reason})"));
                return Ok(Answer::Refused);
            }
        };
        // For keys that may be used for some hosts only. An agent that can't has no such keys.
        if let Some(binding) = self.handle.agent_session_binding() {
            let _ = agent.bind_session(binding, false).await;
        }
        let identities = match agent.request_identities().await {
            Ok(identities) => identities,
            Err(error) => {
                self.skip(format!("agent ({})", terminal_safe(&error.to_string())));
                return Ok(Answer::Refused);
            }
        };
        if identities.is_empty() {
            self.skip("agent (has no keys)");
        }
        for identity in identities {
            if !self.takes(MethodKind::PublicKey) {
                break;
            }
            let answer = self.identity(&mut agent, identity).await?;
            if !matches!(answer, Answer::Refused) {
                return Ok(answer);
            }
        }
        Ok(Answer::Refused)
    }

    async fn identity(&mut self, agent: &mut Agent, identity: AgentIdentity) -> Result<Answer, Error> {
        let key = identity.public_key().into_owned();
        let print = key.fingerprint(HashAlg::Sha256);
        let (name, result) = match identity {
            AgentIdentity::PublicKey { key, .. } => {
                let name = format!("agent's key {print}");
                let Some(hash) = self.hash_for(&key, &name).await? else { return Ok(Answer::Refused) };
                (name, self.handle.authenticate_publickey_with(self.user, key, hash, agent).await)
            }
            AgentIdentity::Certificate { certificate, .. } => {
                let name = format!("agent's certificate of {print}");
                if !self.used.insert(name.clone()) {
                    return Ok(Answer::Refused);
                }
                let hash = if key.algorithm().is_rsa() { self.rsa_hash().await? } else { None };
                (name, self.handle.authenticate_certificate_with(self.user, certificate, hash, agent).await)
            }
        };
        match result {
            Ok(result) => self.note(Some(name), result),
            Err(_) if self.shared.fault().is_none() => {
                self.skip(format!("{name} (the agent does not sign)"));
                Ok(Answer::Refused)
            }
            Err(_) => {
                let ended =
                    AuthResult::Failure { remaining_methods: MethodSet::empty(), partial_success: false };
                self.note(Some(name), ended)
            }
        }
    }

    async fn password(&mut self) -> Result<Answer, Error> {
        if !self.takes(MethodKind::Password) || !self.used.insert("password".into()) {
            return Ok(Answer::Refused);
        }
        let password = match (&self.ssh.password, &self.ssh.ask) {
            (Some(password), _) => Some(password.clone()),
            (None, Some(ask)) => ask.password(self.user, &self.ssh.host).await?,
            (None, None) => None,
        };
        let Some(password) = password else { return Ok(Answer::Refused) };
        // The library wipes its copy.
        let result = self.handle.authenticate_password(self.user, password.0.as_str()).await.map_err(ssh)?;
        self.note(Some("password".into()), result)
    }

    /// The method keyboard-interactive (RFC 4256).
    async fn questions(&mut self) -> Result<Answer, Error> {
        let can_answer = self.ssh.password.is_some() || self.ssh.ask.is_some();
        let name = "keyboard-interactive";
        if !can_answer || !self.takes(MethodKind::KeyboardInteractive) || !self.used.insert(name.into()) {
            return Ok(Answer::Refused);
        }
        // Said once: a server that asks again did not like it.
        let mut password = self.ssh.password.clone();
        let mut unanswered = None;
        let mut response =
            self.handle.authenticate_keyboard_interactive_start(self.user, None).await.map_err(ssh)?;
        for _ in 0..ROUNDS {
            let prompts = match response {
                KeyboardInteractiveAuthResponse::Success => return Ok(Answer::In),
                KeyboardInteractiveAuthResponse::Failure { remaining_methods, partial_success } => {
                    let name = match unanswered {
                        Some(text) => format!("{name} without an answer to {text:?}"),
                        None => name.to_owned(),
                    };
                    return self.note(Some(name), AuthResult::Failure { remaining_methods, partial_success });
                }
                KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => prompts,
            };
            let mut answers = Vec::new();
            for prompt in &prompts {
                let answer = self.answer(prompt, &mut password).await?;
                if answer.is_none() {
                    unanswered = Some(remote_text(&prompt.prompt));
                }
                answers.push(answer.map_or_else(String::new, |secret| secret.0.to_string()));
            }
            response = self.handle.authenticate_keyboard_interactive_respond(answers).await.map_err(ssh)?;
        }
        Err(Error::with(Kind::Limit, format!("the server asks more than {ROUNDS} times")))
    }

    async fn answer(&self, prompt: &Prompt, password: &mut Option<Secret>) -> Result<Option<Secret>, Error> {
        if !prompt.echo
            && let Some(password) = password.take()
        {
            return Ok(Some(password));
        }
        match &self.ssh.ask {
            Some(ask) => ask.prompt(&prompt.prompt, prompt.echo).await,
            None => Ok(None),
        }
    }
}

fn ssh(error: russh::Error) -> Error {
    Failure::Ssh(error).into()
}

/// The agent, if there should be one, or why it can't be had.
async fn agent(place: &AgentPlace) -> Result<Option<Agent>, String> {
    let path = match place {
        AgentPlace::None => return Ok(None),
        AgentPlace::Path(path) => path.clone(),
        AgentPlace::Environment => match std::env::var_os("SSH_AUTH_SOCK").filter(|path| !path.is_empty()) {
            Some(path) => path.into(),
            // Where the service of Windows listens.
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
