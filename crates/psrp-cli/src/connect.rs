//! Opens connections from command line arguments.

use std::fs;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use http::Uri;
use psrp::client::Config;
use psrp::io::{
    Child, ClientLimits, Options, PoolEvent, Session, Socket, Ssh, SshQuestion, Wsman, WsmanBufferMode,
    WsmanCredentials, WsmanShell,
};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::args::{BufferMode, TargetArgs, WsmanAuth};
use crate::console::{ConsoleHost, Echo};
use crate::encoding;
use crate::exit::Failure;
use crate::interrupts::Interrupts;

pub(crate) const PASSWORD_VARIABLE: &str = "PSRP_PASSWORD";
const PROXY_VARIABLE: &str = "PSRP_PROXY";

pub(crate) async fn open(
    target: &TargetArgs,
    host: &Arc<ConsoleHost>,
    interrupts: &Interrupts,
) -> Result<Session, Failure> {
    let session = until_interrupted(connect(target, host, options(target, host)), host, interrupts).await?;
    show_records(&session, host);
    Ok(session)
}

/// Connects to a disconnected session. Also returns its pipelines.
pub(crate) async fn attach(
    target: &TargetArgs,
    id: Uuid,
    host: &Arc<ConsoleHost>,
    interrupts: &Interrupts,
) -> Result<(Session, Vec<Uuid>), Failure> {
    let connecting = async {
        let wsman = wsman(target, host).await.map_err(Failure::usage)?;
        let attached = attach_over(wsman, id, target, options(target, host)).await;
        attached.with_context(|| format!("can't connect to session {id}")).map_err(Failure::connection)
    };
    let (session, pipelines) = until_interrupted(connecting, host, interrupts).await?;
    show_records(&session, host);
    Ok((session, pipelines))
}

async fn attach_over(
    mut wsman: Wsman,
    id: Uuid,
    target: &TargetArgs,
    options: Options,
) -> anyhow::Result<(Session, Vec<Uuid>)> {
    let shells = wsman.shells().await?;
    let shell = shells.into_iter().find(|shell| shell.id == id).context("there is no such session")?;
    if let Some(resource) = shell.resource.filter(|_| target.configuration.is_none()) {
        wsman = wsman.configuration(resource);
    }
    let pipelines = wsman.pipelines(id).await?;
    Ok((Session::connect(&wsman, options.config(Config::new().pool_id(id))).await?, pipelines))
}

/// Lists the shells of a WSMan service.
pub(crate) async fn shells(
    target: &TargetArgs,
    host: &ConsoleHost,
    interrupts: &Interrupts,
) -> Result<Vec<WsmanShell>, Failure> {
    let listing = async {
        let wsman = wsman(target, host).await.map_err(Failure::usage)?;
        wsman.shells().await.context("can't list the sessions").map_err(Failure::connection)
    };
    until_interrupted(listing, host, interrupts).await
}

fn options(target: &TargetArgs, host: &Arc<ConsoleHost>) -> Options {
    let limits =
        ClientLimits { open_timeout: Duration::from_secs(target.connect_timeout), ..ClientLimits::default() };
    Options::new().host(Arc::<ConsoleHost>::clone(host)).ordered_host(true).limits(limits)
}

/// Waits for a connection or for Ctrl+C.
async fn until_interrupted<T>(
    connecting: impl Future<Output = Result<T, Failure>>,
    host: &ConsoleHost,
    interrupts: &Interrupts,
) -> Result<T, Failure> {
    tokio::select! {
        connected = connecting => connected,
        () = interrupts.wait() => Err(Failure::interrupted()),
        // During a password prompt, Ctrl+C is read as a key and raises no signal.
        () = host.interrupted() => Err(Failure::interrupted()),
    }
}

/// Shows the records of the session that belong to no pipeline.
fn show_records(session: &Session, host: &Arc<ConsoleHost>) {
    let (mut events, host) = (session.events(), Arc::clone(host));
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            if let PoolEvent::Record(event) = event {
                // The pipeline reports that the output can't be written.
                let _ = host.show(event).await;
            }
        }
    });
}

async fn connect(target: &TargetArgs, host: &Arc<ConsoleHost>, options: Options) -> Result<Session, Failure> {
    let opened = if let Some(path) = &target.socket {
        Session::open(&Socket::new(path), options).await
    } else if let Some(id) = target.pid {
        Session::open(&Socket::of_process(id).map_err(Failure::connection)?, options).await
    } else if let Some(place) = &target.ssh {
        let ssh = ssh(target, place, host).map_err(Failure::usage)?;
        Session::open(&ssh, options).await
    } else if target.wsman.is_some() {
        let wsman = wsman(target, host).await.map_err(Failure::usage)?;
        Session::open(&wsman, options).await
    } else {
        Session::open(&child(target).map_err(Failure::usage)?, options).await
    };
    opened.context("can't open a session").map_err(Failure::connection)
}

/// Command of `--child`, or PowerShell on this machine.
fn child(target: &TargetArgs) -> anyhow::Result<Child> {
    let child = match &target.child {
        None => Child::default(),
        Some(command) => {
            let words = shlex::split(command).context("--child has an unclosed quotation mark")?;
            ensure!(!words.is_empty(), "--child is empty");
            Child::new(&words[0]).args(&words[1..])
        }
    };
    // Scripts must not see the passwords.
    let child = child.env_remove(PASSWORD_VARIABLE).env_remove(PROXY_VARIABLE);
    Ok(if target.foreground { child } else { child.own_process_group() })
}

fn ssh(target: &TargetArgs, destination: &str, host: &Arc<ConsoleHost>) -> anyhow::Result<Ssh> {
    let configured = |destination: &str| {
        let ssh = Ssh::from_config(destination, target.ssh_config.as_deref())?;
        anyhow::Ok(ssh.connect_timeout(Duration::from_secs(target.connect_timeout)))
    };
    let mut ssh = configured(destination)?;
    if let Some(jump) = &target.jump {
        ssh = ssh.jump(configured(jump)?);
    }
    if let Some(user) = &target.user {
        ssh = ssh.user(user);
    }
    if let Some(name) = &target.subsystem {
        ssh = ssh.subsystem(name);
    }
    for file in &target.identity {
        ssh = ssh.key_file(file);
    }
    if target.accept_new {
        ssh = ssh.accept_new();
    }
    if let Some(password) = configured_password(target)? {
        ssh = ssh.password(password);
    }
    // Questions are asked on a blocking thread.
    let (host, runtime) = (Arc::clone(host), tokio::runtime::Handle::current());
    Ok(ssh.ask(move |question| {
        let is_host_key = matches!(question, SshQuestion::HostKey { .. });
        if is_host_key && !host.is_interactive() {
            // Input that is no terminal is for the script.
            let hint = "to trust and save an unknown host key, set --accept-new".to_owned();
            let _ = runtime.block_on(host.print_error(hint));
            return None;
        }
        let (question, echo) = match question {
            SshQuestion::Passphrase { file } => (format!("Passphrase of {}: ", file.display()), Echo::Hidden),
            SshQuestion::Password { user, host } => (format!("Password of {user} at {host}: "), Echo::Hidden),
            SshQuestion::Prompt { text, echo: false } => (text.to_owned(), Echo::Hidden),
            SshQuestion::Prompt { text, echo: true } => (text.to_owned(), Echo::Shown),
            SshQuestion::HostKey { host, algorithm, fingerprint } => {
                let key =
                    format!("The {algorithm} key of {host} is unknown. Its fingerprint is {fingerprint}.\n");
                (key + "Trust and save it (yes/no)? ", Echo::Shown)
            }
            _ => return None,
        };
        // Without an answer the login fails with an error that lists the attempted methods.
        runtime.block_on(host.ask(question, echo)).ok().map(|answer| answer.to_string())
    }))
}

async fn wsman(target: &TargetArgs, host: &ConsoleHost) -> anyhow::Result<Wsman> {
    let url = WsmanUrl::parse(target.wsman.as_deref().context("--wsman is missing")?)?;
    let credentials = match &target.certificate {
        Some(file) => certificate(file, target.certificate_key.as_deref())?,
        None => credentials(target, &url.host, host).await?,
    };
    let mut wsman = match url.is_tls {
        true => Wsman::https(url.host, credentials),
        false => Wsman::http(url.host, credentials),
    };
    wsman = wsman
        .connect_timeout(Duration::from_secs(target.connect_timeout))
        .operation_timeout(Duration::from_secs(target.operation_timeout))
        .connect_retries(target.connect_retries);
    if let Some(port) = url.port {
        wsman = wsman.port(port);
    }
    if let Some(path) = url.path {
        wsman = wsman.path(path);
    }
    if let Some(proxy) = target.proxy.clone().or_else(|| std::env::var(PROXY_VARIABLE).ok()) {
        wsman = wsman.proxy(proxy);
    }
    if let Some(name) = &target.configuration {
        wsman = wsman.configuration(name);
    }
    if let Some(file) = &target.ca {
        let pem = fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
        wsman = wsman.trusted_certificates(pem);
    }
    if let Some(mode) = target.buffer_mode {
        wsman = wsman.buffer_mode(match mode {
            BufferMode::Block => WsmanBufferMode::Block,
            BufferMode::Drop => WsmanBufferMode::Drop,
        });
    }
    if target.insecure_skip_verify {
        wsman = wsman.danger_accept_invalid_certificates();
    }
    Ok(wsman)
}

fn certificate(file: &Path, key: Option<&Path>) -> anyhow::Result<WsmanCredentials> {
    let read = |file: &Path| {
        let text = fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()));
        text.map(Zeroizing::new)
    };
    let key = key.map(read).transpose()?;
    Ok(WsmanCredentials::certificate(&read(file)?, key.as_ref().map_or("", |key| key.as_str())))
}

async fn credentials(
    target: &TargetArgs,
    server: &str,
    host: &ConsoleHost,
) -> anyhow::Result<WsmanCredentials> {
    let user = target.user.clone().unwrap_or_default();
    let password = match configured_password(target)? {
        Some(password) => password,
        None => {
            let question = format!("Password of {user} at {server}: ");
            host.ask(question, Echo::Hidden).await.context("can't read the password")?.to_string()
        }
    };
    Ok(match target.auth {
        WsmanAuth::Kerberos => WsmanCredentials::kerberos(user, password),
        WsmanAuth::KerberosOrNtlm => WsmanCredentials::kerberos_or_ntlm(user, password),
        WsmanAuth::Ntlm => WsmanCredentials::ntlm(user, password),
        WsmanAuth::Basic => WsmanCredentials::basic(user, password),
    })
}

#[derive(Debug, PartialEq, Eq)]
struct WsmanUrl {
    is_tls: bool,
    host: String,
    port: Option<u16>,
    path: Option<String>,
}

impl WsmanUrl {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let url: Uri = text.parse().ok().context("--wsman is not a valid URL")?;
        let is_tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => bail!("--wsman must begin with https:// or http://"),
        };
        let authority = url.authority().context("--wsman has no host")?;
        ensure!(!authority.as_str().contains('@'), "--wsman must not contain a user name (use --user)");
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let path = Some(url.path()).filter(|path| !matches!(*path, "" | "/")).map(ToOwned::to_owned);
        Ok(Self { is_tls, host, port: authority.port_u16(), path })
    }
}

/// Returns whether no password is needed, or a file or the environment has it.
pub(crate) fn has_password(target: &TargetArgs) -> anyhow::Result<bool> {
    Ok(target.certificate.is_some() || configured_password(target)?.is_some())
}

/// Returns the password from the file or the environment.
fn configured_password(target: &TargetArgs) -> anyhow::Result<Option<String>> {
    if let Some(file) = &target.password_file {
        let bytes = fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
        let text = encoding::decode(&Zeroizing::new(bytes))
            .context("--password-file is not valid UTF-8 or UTF-16")?;
        let text = Zeroizing::new(text);
        return Ok(Some(text.lines().next().unwrap_or_default().to_owned()));
    }
    match std::env::var(PASSWORD_VARIABLE) {
        Ok(password) => Ok(Some(password)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => bail!("{PASSWORD_VARIABLE} is not valid UTF-8"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wsman_urls_are_parsed() {
        let place = |is_tls, host: &str, port, path: Option<&str>| WsmanUrl {
            is_tls,
            host: host.into(),
            port,
            path: path.map(Into::into),
        };
        for (text, expected) in [
            ("https://server.example.org", place(true, "server.example.org", None, None)),
            ("http://server:8080/", place(false, "server", Some(8080), None)),
            ("https://[::1]:1/power", place(true, "::1", Some(1), Some("/power"))),
        ] {
            assert_eq!(WsmanUrl::parse(text).unwrap(), expected, "{text}");
        }
        for text in ["server", "ftp://server", "https://ada:secret@server", "https://"] {
            assert!(WsmanUrl::parse(text).is_err(), "{text}");
        }
    }
}
