//! Connections to servers.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use http::Uri;
use psrp::io::{Child, Options, RunspacePool, Socket, Ssh, SshQuestion, Wsman, WsmanCredentials};
use psrp::value::SecureString;
use zeroize::Zeroizing;

use crate::Failure;
use crate::args::{TargetArgs, WsmanAuth};
use crate::console::{ConsoleHost, Refusal};
use crate::interrupts::Interrupts;
use crate::screen::Screen;

/// The variable of the environment that may have the password.
const PASSWORD: &str = "PSRP_PASSWORD";

/// Opens a pool at the server.
pub(crate) async fn open(
    target: &TargetArgs,
    host: &Arc<Screen>,
    interrupts: &Interrupts,
) -> Result<RunspacePool, Failure> {
    let options = Options::new()
        .host(Arc::<Screen>::clone(host))
        .ordered_host(true)
        .open_timeout(Duration::from_secs(target.connect_timeout));
    tokio::select! {
        pool = connect(target, host, options) => pool,
        () = interrupts.wait() => Err(Failure::interrupted()),
        // At a prompt for a password the key raises no signal.
        () = host.interrupted() => Err(Failure::interrupted()),
    }
}

async fn connect(target: &TargetArgs, host: &Arc<Screen>, options: Options) -> Result<RunspacePool, Failure> {
    let opened = if let Some(path) = &target.socket {
        RunspacePool::open(&Socket::new(path), options).await
    } else if let Some(id) = target.pid {
        RunspacePool::open(&Socket::of_process(id).map_err(Failure::connection)?, options).await
    } else if let Some(place) = &target.ssh {
        let ssh = ssh(target, place, host).map_err(Failure::usage)?;
        RunspacePool::open(&ssh, options).await
    } else if let Some(url) = &target.wsman {
        let wsman = wsman(target, url, host).await.map_err(Failure::usage)?;
        RunspacePool::open(&wsman, options).await
    } else {
        RunspacePool::open(&child(target).map_err(Failure::usage)?, options).await
    };
    opened.context("there is no session").map_err(Failure::connection)
}

/// A command of its own, or PowerShell on this machine.
fn child(target: &TargetArgs) -> anyhow::Result<Child> {
    let child = match &target.child {
        None => Child::default(),
        Some(command) => {
            let words = shlex::split(command).context("a quotation mark of --child is never closed")?;
            ensure!(!words.is_empty(), "--child has no command");
            Child::new(&words[0]).args(&words[1..])
        }
    };
    // It is no business of scripts.
    let child = child.env_remove(PASSWORD);
    Ok(if target.foreground { child } else { child.own_process_group() })
}

fn ssh(target: &TargetArgs, place: &str, host: &Arc<Screen>) -> anyhow::Result<Ssh> {
    let SshPlace { user, host: name, port } = SshPlace::parse(place)?;
    let mut ssh = Ssh::new(name).connect_timeout(Duration::from_secs(target.connect_timeout));
    if let Some(port) = port {
        ssh = ssh.port(port);
    }
    if let Some(user) = target.user.as_deref().or(user) {
        ssh = ssh.user(user);
    }
    for file in &target.identity {
        ssh = ssh.key_file(file);
    }
    if target.accept_new {
        ssh = ssh.accept_new();
    }
    if let Some(password) = given_password(target)? {
        ssh = ssh.password(password);
    }
    // The questions come on a thread that may wait.
    let (host, runtime) = (Arc::clone(host), tokio::runtime::Handle::current());
    Ok(ssh.ask(move |question| {
        let secret = |question: String| -> Result<Option<String>, Refusal> {
            let password = runtime.block_on(host.read_password(question))?;
            Ok(revealed(&password))
        };
        // Without an answer the login fails, and tells what was tried.
        match question {
            SshQuestion::Passphrase { file } => secret(format!("Passphrase of {}: ", file.display())).ok()?,
            SshQuestion::Password { user, host } => secret(format!("Password of {user} at {host}: ")).ok()?,
            SshQuestion::Prompt { text, echo: false } => secret(text.to_owned()).ok()?,
            SshQuestion::Prompt { text, echo: true } => runtime.block_on(host.read_line(text)).ok(),
            _ => None,
        }
    }))
}

/// `[USER@]HOST[:PORT]`, with an address of IPv6 in brackets where a port follows.
#[derive(Debug, PartialEq, Eq)]
struct SshPlace<'a> {
    user: Option<&'a str>,
    host: &'a str,
    port: Option<u16>,
}

impl<'a> SshPlace<'a> {
    fn parse(text: &'a str) -> anyhow::Result<Self> {
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, text),
        };
        let (host, port) = if let Some(rest) = place.strip_prefix('[') {
            let (host, port) = rest.split_once(']').context("a bracket of --ssh is never closed")?;
            let port = port.strip_prefix(':').or_else(|| port.is_empty().then_some(""));
            (host, port.context("what follows the brackets of --ssh is no port")?)
        } else {
            match place.split_once(':') {
                // More than one colon: an address without a port.
                Some((_, port)) if port.contains(':') => (place, ""),
                Some((host, port)) => (host, port),
                None => (place, ""),
            }
        };
        ensure!(!host.is_empty() && user != Some(""), "--ssh has the form [USER@]HOST[:PORT]");
        let port = match port {
            "" => None,
            port => Some(port.parse().ok().context("the port of --ssh is no number up to 65535")?),
        };
        Ok(Self { user, host, port })
    }
}

async fn wsman(target: &TargetArgs, url: &str, host: &ConsoleHost) -> anyhow::Result<Wsman> {
    let url = WsmanPlace::parse(url)?;
    let user = target.user.clone().unwrap_or_default();
    let password = match given_password(target)? {
        Some(password) => password,
        None => {
            let password = host.read_password(format!("Password of {user} at {}: ", url.host)).await;
            let password = password.context("there is no password")?;
            revealed(&password).unwrap_or_default()
        }
    };
    let credentials = match target.auth {
        WsmanAuth::Kerberos => WsmanCredentials::kerberos(user, password),
        WsmanAuth::KerberosOrNtlm => WsmanCredentials::kerberos_or_ntlm(user, password),
        WsmanAuth::Ntlm => WsmanCredentials::ntlm(user, password),
        WsmanAuth::Basic => WsmanCredentials::basic(user, password),
    };
    let mut wsman = match url.is_tls {
        true => Wsman::https(url.host, credentials),
        false => Wsman::http(url.host, credentials),
    };
    wsman = wsman.connect_timeout(Duration::from_secs(target.connect_timeout));
    if let Some(port) = url.port {
        wsman = wsman.port(port);
    }
    if let Some(path) = url.path {
        wsman = wsman.path(path);
    }
    if let Some(file) = &target.ca {
        let pem = fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
        wsman = wsman.trusted_certificates(pem);
    }
    Ok(wsman)
}

#[derive(Debug, PartialEq, Eq)]
struct WsmanPlace {
    is_tls: bool,
    host: String,
    port: Option<u16>,
    path: Option<String>,
}

impl WsmanPlace {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let url: Uri = text.parse().ok().context("--wsman is no URL")?;
        let is_tls = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => bail!("--wsman has to begin with https:// or http://"),
        };
        let authority = url.authority().context("--wsman names no host")?;
        ensure!(!authority.as_str().contains('@'), "the user stands in --user, not in --wsman");
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let path = Some(url.path()).filter(|path| !matches!(*path, "" | "/")).map(ToOwned::to_owned);
        Ok(Self { is_tls, host, port: authority.port_u16(), path })
    }
}

/// The password of a file or of the environment.
fn given_password(target: &TargetArgs) -> anyhow::Result<Option<String>> {
    match &target.password_file {
        Some(file) => password_of(file).map(Some),
        None => match std::env::var(PASSWORD) {
            Ok(password) => Ok(Some(password)),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => bail!("{PASSWORD} is no UTF-8"),
        },
    }
}

fn password_of(file: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))?;
    let text = Zeroizing::new(text);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn revealed(password: &SecureString) -> Option<String> {
    password.reveal().map(|text| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_ssh() {
        for (text, user, host, port) in [
            ("server", None, "server", None),
            ("ada@server", Some("ada"), "server", None),
            ("ada@corp@server:2222", Some("ada@corp"), "server", Some(2222)),
            ("::1", None, "::1", None),
            ("ada@[::1]:22", Some("ada"), "::1", Some(22)),
            ("[::1]", None, "::1", None),
        ] {
            assert_eq!(SshPlace::parse(text).unwrap(), SshPlace { user, host, port }, "{text}");
        }
        for text in ["", "@server", "ada@", "server:ssh", "server:70000", "[::1", "[::1]22"] {
            assert!(SshPlace::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn places_of_wsman() {
        let place = |is_tls, host: &str, port, path: Option<&str>| WsmanPlace {
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
            assert_eq!(WsmanPlace::parse(text).unwrap(), expected, "{text}");
        }
        for text in ["server", "ftp://server", "https://ada:secret@server", "https://"] {
            assert!(WsmanPlace::parse(text).is_err(), "{text}");
        }
    }
}
