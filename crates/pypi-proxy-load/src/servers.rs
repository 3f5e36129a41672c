//! The servers under load: how they are started, and the URLs of their resources.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::output::Role;
use crate::{client, pause};

/// Timeout of the first response. Python servers start slowly on a busy machine.
const START: Duration = Duration::from_secs(90);
/// Grace period before a server is killed.
const END: Duration = Duration::from_secs(5);

/// URL layout of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A proxy: pages below a prefix, and files at the URLs on the pages.
    Proxy { prefix: &'static str },
    /// A folder, with format and coding in the file name.
    Folder,
}

/// A server under test.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) address: SocketAddr,
    pub(crate) layout: Layout,
    /// Path of a small static response.
    pub(crate) health: Option<&'static str>,
    /// True if the server is measured in one round only.
    pub(crate) is_slow: bool,
    /// Time from start to first response.
    pub(crate) startup: Option<Duration>,
    child: Option<Child>,
}

/// Parameters to start a server.
#[derive(Clone, Copy)]
pub(crate) struct ServerSpec<'p> {
    pub(crate) name: &'p str,
    pub(crate) role: Role,
    pub(crate) layout: Layout,
    pub(crate) health: Option<&'static str>,
    /// Path that answers with 200 when the server is ready; without one, any response shows that it is.
    pub(crate) ready: Option<&'p str>,
}

impl<'p> ServerSpec<'p> {
    /// Describes a proxy. It is ready when its health endpoint answers.
    pub(crate) fn proxy(name: &'p str, role: Role, prefix: &'static str, health: &'static str) -> Self {
        Self { name, role, layout: Layout::Proxy { prefix }, health: Some(health), ready: Some(health) }
    }
}

impl Server {
    /// Starts a program that will listen at `address`, and waits until it answers with 200. Fails if it cannot be
    /// started, exits, or does not answer in time.
    pub(crate) fn start(
        spec: &ServerSpec<'_>,
        address: SocketAddr,
        command: &mut Command,
        scratch: &Path,
    ) -> Result<Self> {
        fs::create_dir_all(scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        let log = File::create(scratch.join(format!("{}.log", spec.name.replace(' ', "-"))))?;
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let start = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let mut server = Self::running(spec, address);
        server.child = Some(child);
        while start.elapsed() < START {
            let response = client::request(address, "GET", spec.ready.unwrap_or("/"), &[]);
            if response.is_ok_and(|response| spec.ready.is_none() || response.status == 200) {
                server.startup = Some(start.elapsed());
                return Ok(server);
            }
            if let Some(child) = &mut server.child
                && let Some(status) = child.try_wait()?
            {
                bail!("{} exited ({status}) before its first response", spec.name);
            }
            pause(Duration::from_micros(500));
        }
        bail!("{} did not respond within {} s", spec.name, START.as_secs())
    }

    /// Creates a server that is already running. Its processor time and memory are unknown.
    pub(crate) fn running(spec: &ServerSpec<'_>, address: SocketAddr) -> Self {
        Self {
            name: spec.name.to_owned(),
            role: spec.role,
            address,
            layout: spec.layout,
            health: spec.health,
            is_slow: matches!(spec.name, "proxpi" | "devpi"),
            startup: None,
            child: None,
        }
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns the path of a project page, or of the project list if the name is empty.
    pub(crate) fn page(&self, project: &str, is_json: bool) -> String {
        match self.layout {
            Layout::Proxy { prefix } if project.is_empty() => prefix.to_owned(),
            Layout::Proxy { prefix } => format!("{prefix}{project}/"),
            Layout::Folder => {
                let name = if project.is_empty() { "list" } else { project };
                format!("/{name}.{}", if is_json { "json" } else { "html" })
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // SIGTERM, on which servers also stop their child processes.
        let _ = Command::new("kill").arg(child.id().to_string()).stderr(Stdio::null()).status();
        let start = Instant::now();
        while start.elapsed() < END {
            if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            pause(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Returns an unused loopback address.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind(("127.0.0.1", 0)).context("no free port")?.local_addr()?)
}

/// Returns a command with a minimal environment, so that no variable changes its behavior.
pub(crate) fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear();
    for name in ["PATH", "HOME", "LANG", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Creates an empty folder below `scratch`.
pub(crate) fn empty(scratch: &Path, name: &str) -> Result<PathBuf> {
    let dir = scratch.join(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot create {}", dir.display()))?;
    Ok(dir)
}
