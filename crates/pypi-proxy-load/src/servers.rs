//! The servers under load: how they are started, the URLs of their resources, and their access logs.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bench_report::model::{Role, Row};
use bench_report::quantity::Quantity;
use memchr::memmem;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{client, pause, procfs};

/// Timeout of the first response. Python servers start slowly on a busy machine.
const START: Duration = Duration::from_secs(90);
/// Grace period before a server is killed.
const END: Duration = Duration::from_secs(5);

/// A server under test.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) version: Option<String>,
    pub(crate) address: SocketAddr,
    /// Path of the project list and prefix of the pages of a proxy; files have the URLs on the pages. `None` for a
    /// folder, with format and coding in the file name.
    pub(crate) prefix: Option<&'static str>,
    /// Path of a small static response.
    pub(crate) health: Option<&'static str>,
    /// Path that answers with 200 when the server is ready; without one, any response shows that it is.
    pub(crate) ready: Option<&'static str>,
    /// File with a line for each request. Unknown for servers that were not started here.
    pub(crate) log: Option<PathBuf>,
    /// Time from start to first response.
    pub(crate) startup: Option<Duration>,
    child: Option<Child>,
}

impl Server {
    /// Describes a proxy at an unused address. It is ready when its health endpoint answers.
    pub(crate) fn proxy(name: &str, role: Role, prefix: &'static str, health: &'static str) -> Result<Self> {
        let address = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?.local_addr()?;
        Ok(Self {
            name: name.to_owned(),
            role,
            version: None,
            address,
            prefix: Some(prefix),
            health: Some(health),
            ready: Some(health),
            log: None,
            startup: None,
            child: None,
        })
    }

    /// Starts the program of the server, and waits until it answers with 200. Fails if it cannot be started, exits, or
    /// does not answer in time.
    pub(crate) fn start(mut self, command: &mut Command, scratch: &Path) -> Result<Self> {
        let path = scratch.join(format!("{}.log", self.name.replace(' ', "-")));
        fs::write(&path, "").with_context(|| format!("cannot write {}", path.display()))?;
        let log = OpenOptions::new().append(true).open(&path)?;
        self.log.get_or_insert(path);
        let program = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let start = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let child = self.child.insert(child);
        while start.elapsed() < START {
            let response = client::request(self.address, "GET", self.ready.unwrap_or("/"), &[]);
            if response.is_ok_and(|response| self.ready.is_none() || response.status == 200) {
                self.startup = Some(start.elapsed());
                return Ok(self);
            }
            if let Some(status) = child.try_wait()? {
                bail!("{} exited ({status}) before its first response", self.name);
            }
            pause(Duration::from_micros(500));
        }
        bail!("{} did not respond within {} s", self.name, START.as_secs())
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Runs a task and returns the processor time that the server uses meanwhile, in nanoseconds.
    pub(crate) fn cpu_during<T>(&self, task: impl FnOnce() -> T) -> (T, Option<f64>) {
        let before = self.pid().map(procfs::cpu_time);
        let result = task();
        (result, self.pid().map(procfs::cpu_time).zip(before).map(|(after, before)| after - before))
    }

    /// Returns a row of the report without figures.
    pub(crate) fn row(&self, key: &str) -> Row {
        let language = match &*self.name {
            "groxpi" => "go",
            "proxpi" | "devpi" => "python",
            "pypi-proxy" => "rust",
            _ => "c",
        };
        Row {
            key: format!("pypi_proxy/{key}"),
            implementation: self.name.clone(),
            role: self.role,
            language: language.to_owned(),
            version: self.version.clone(),
            ..Row::default()
        }
    }

    /// Returns a row with a quantity that is not that of a response.
    pub(crate) fn row_with(&self, key: &str, quantity: Quantity, values: Vec<f64>) -> Row {
        let figures = BTreeMap::from([(quantity, values)]);
        Row { class: Some("program".to_owned()), figures, ..self.row(key) }
    }

    /// Sends a signal to the process that was started.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.pid().with_context(|| format!("{} was not started here", self.name))?;
        Ok(kill(Pid::from_raw(pid.try_into()?), signal)?)
    }

    /// Returns whether the server is a hundred times slower than others: more rounds would not change the comparison.
    pub(crate) fn is_slow(&self) -> bool {
        matches!(&*self.name, "proxpi" | "devpi")
    }

    pub(crate) fn is_proxy(&self) -> bool {
        self.prefix.is_some()
    }

    /// Returns the path of a project page, or of the project list if the name is empty.
    pub(crate) fn page(&self, project: &str, is_json: bool) -> String {
        match self.prefix {
            Some(prefix) if project.is_empty() => prefix.to_owned(),
            Some(prefix) => format!("{prefix}{project}/"),
            None => {
                let name = if project.is_empty() { "list" } else { project };
                format!("/{name}.{}", if is_json { "json" } else { "html" })
            }
        }
    }

    pub(crate) fn clear_log(&self) {
        // If this fails, more lines are counted.
        let _ = self.log.as_ref().map(|log| OpenOptions::new().write(true).truncate(true).open(log));
    }

    /// Checks that the access log has a line for each of these requests. Some servers write lines late.
    pub(crate) fn check_log(&self, requests: u64) -> Result<()> {
        const DELAY: Duration = Duration::from_secs(2);
        let Some(log) = &self.log else { return Ok(()) };
        let start = Instant::now();
        loop {
            let lines = logged(&fs::read(log)?);
            if lines >= requests {
                return Ok(());
            }
            ensure!(start.elapsed() < DELAY, "its access log has {lines} lines for {requests} responses");
            pause(DELAY / 10);
        }
    }
}

/// Returns the number of lines about requests.
fn logged(log: &[u8]) -> u64 {
    let is_request =
        |line: &&[u8]| [&b"GET "[..], b"HEAD "].iter().any(|word| memmem::find(line, word).is_some());
    log.split(|byte| *byte == b'\n').filter(is_request).count() as u64
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM, on which servers also stop their child processes.
        let _ = self.signal(Signal::SIGTERM);
        let Some(mut child) = self.child.take() else { return };
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

/// Returns the command of a program with a minimal environment.
pub(crate) fn program(path: impl AsRef<Path>) -> Command {
    isolated(Command::new(path.as_ref()))
}

/// Gives a command a minimal environment, so that no variable changes its behavior.
pub(crate) fn isolated(mut command: Command) -> Command {
    command.env_clear();
    command.envs(
        ["PATH", "HOME", "LANG", "TMPDIR"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command
}

/// Creates an empty folder below `scratch`.
pub(crate) fn empty(scratch: &Path, name: &str) -> Result<PathBuf> {
    let dir = scratch.join(name);
    bench_report::program::empty(&dir)?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_requests_are_counted() {
        let log = b"INFO start\nINFO method=GET path=\"/\"\n1.1.1.1 \"HEAD /x HTTP/1.1\" 200\nGET";
        assert_eq!(logged(log), 2);
    }
}
