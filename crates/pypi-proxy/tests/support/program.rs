//! The program under test.

use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::proxy::TIMEOUT;
use super::until;

/// Command with the cache below a folder and an empty environment.
pub(crate) fn program(dir: &Path, env: &[(&str, &str)], args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"));
    command.env_clear().env("HOME", dir).envs(env.iter().copied());
    command.args(args).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a command. Returns its exit code and output.
pub(crate) async fn run(dir: &Path, env: &[(&str, &str)], args: &[&str]) -> (i32, String) {
    let output = timeout(TIMEOUT * 2, program(dir, env, args).output()).await;
    let Output { status, mut stdout, stderr } = output.expect("it ends").unwrap();
    stdout.extend(stderr);
    (status.code().unwrap(), String::from_utf8(stdout).unwrap())
}

/// Lines that a program writes.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// Collects lines, and waits for the first one for which `find` returns a value.
    pub(crate) async fn collect<T: Send + 'static>(
        from: impl AsyncRead + Send + Unpin + 'static,
        mut find: impl FnMut(&str) -> Option<T> + Send + 'static,
    ) -> (Self, T) {
        let lines = Self::default();
        let (sender, found) = oneshot::channel();
        let (all, mut sender) = (lines.clone(), Some(sender));
        // Keep reading, because a full pipe would block the program.
        tokio::spawn(async move {
            let mut from = BufReader::new(from).lines();
            while let Ok(Some(line)) = from.next_line().await {
                let found = sender.as_ref().and_then(|_| find(&line));
                all.0.lock().unwrap().push(line);
                if let Some(found) = found {
                    let _ = sender.take().unwrap().send(found);
                }
            }
        });
        let found = timeout(TIMEOUT * 2, found).await.expect("it takes too long");
        let found = found.unwrap_or_else(|_| panic!("it has ended: {:?}", lines.all()));
        (lines, found)
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Waits for an event in JSON.
    pub(crate) async fn event(&self, is_it: impl Fn(&Value) -> bool) -> Value {
        let find = || self.all().iter().filter_map(|line| serde_json::from_str(line).ok()).find(&is_it);
        until("an event is logged", async || find().is_some()).await;
        find().unwrap()
    }
}

/// A running proxy that logs in JSON.
pub(crate) struct Served {
    pub(crate) child: Child,
    /// Without a trailing slash.
    pub(crate) url: String,
    pub(crate) log: Lines,
}

/// Starts the program with the cache below a folder.
pub(crate) async fn serve(dir: &Path, env: &[(&str, &str)]) -> Served {
    let mut command = program(dir, &[("PYPI_PROXY_LISTEN", "127.0.0.1:0")], &["serve"]);
    command.envs(env.iter().copied());
    Served::start(command).await
}

impl Served {
    pub(crate) async fn start(mut command: Command) -> Self {
        command.env("PYPI_PROXY_LOG_FORMAT", "json").stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let address = |line: &str| {
            let event: Value = serde_json::from_str(line).ok()?;
            event["address"].as_str().map(|address| format!("http://{address}"))
        };
        let (log, url) = Lines::collect(child.stderr.take().unwrap(), address).await;
        Self { child, url, log }
    }

    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Kills the program.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Stops the program and checks that it succeeds.
    pub(crate) async fn end(mut self) {
        kill_process(Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap(), Signal::TERM).unwrap();
        let status = timeout(TIMEOUT, self.child.wait()).await.expect("it ends").unwrap();
        assert!(status.success(), "{status}: {:?}", self.log.all());
    }

    /// Checks that every request succeeded, so that no client used a fallback.
    pub(crate) fn has_only_good_answers(&self) {
        for line in self.log.all() {
            let event: Value = serde_json::from_str(&line).unwrap();
            let is_answer = event["target"] == "pypi_proxy::access";
            let is_good = event["level"] == "INFO"
                && (!is_answer || event["status"].as_u64().unwrap() < 400 && event["whole"] == true);
            assert!(is_good, "{line}");
        }
    }

    /// Peak memory in bytes, or `None` if the system does not report it.
    pub(crate) fn peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }
}
