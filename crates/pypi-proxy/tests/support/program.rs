//! The program under test.

use std::fs::File;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tightwire_json::Value;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::proxy::TIMEOUT;

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

/// Output of a program in a file, so that the program never waits for a reader.
pub(crate) struct Log(TempDir);

impl Log {
    pub(crate) fn new() -> (Self, Stdio) {
        let log = Self(tempfile::tempdir().unwrap());
        let file = File::create(log.0.path().join("log")).unwrap();
        (log, file.into())
    }

    /// Returns all complete lines.
    pub(crate) fn all(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.path().join("log")).unwrap();
        text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    /// Waits for the first line for which `find` returns a value.
    pub(crate) async fn find<T>(&self, child: &mut Child, find: impl Fn(&str) -> Option<T>) -> T {
        let deadline = Instant::now() + TIMEOUT * 2;
        loop {
            let is_running = child.try_wait().unwrap().is_none();
            let lines = self.all();
            if let Some(found) = lines.iter().find_map(|line| find(line)) {
                return found;
            }
            assert!(is_running && Instant::now() < deadline, "running: {is_running}, {lines:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A running proxy, its address, and its log.
pub(crate) struct Served {
    pub(crate) child: Child,
    /// Base URL, without a trailing slash.
    pub(crate) url: String,
    pub(crate) log: Log,
}

/// Starts the program with the cache below a folder and a log in JSON.
pub(crate) async fn serve(dir: &Path, env: &[(&str, &str)]) -> Served {
    let defaults = [("PYPI_PROXY_LISTEN", "127.0.0.1:0"), ("PYPI_PROXY_LOG_FORMAT", "json")];
    Served::start(program(dir, &[&defaults, env].concat(), &["serve"])).await
}

impl Served {
    pub(crate) async fn start(mut command: Command) -> Self {
        let (log, output) = Log::new();
        let mut child = command.stdout(Stdio::null()).stderr(output).spawn().unwrap();
        let address = |line: &str| match tightwire_json::from_str::<Value>(line) {
            Ok(event) => event["address"].as_str().map(str::to_owned),
            Err(_) => line.split_once("address=").map(|(_, address)| address.trim().to_owned()),
        };
        let url = format!("http://{}", log.find(&mut child, address).await);
        Self { child, url, log }
    }

    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Stops the program with a signal and checks that it succeeds. Returns its log.
    pub(crate) async fn end(mut self, signal: Signal) -> String {
        kill_process(Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap(), signal).unwrap();
        let status = timeout(TIMEOUT, self.child.wait()).await.expect("it ends").unwrap();
        let log = self.log.all().join("\n");
        assert!(status.success(), "{status}: {log}");
        log
    }

    /// Waits for an event in a log in JSON.
    pub(crate) async fn event(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let find = |line: &str| tightwire_json::from_str(line).ok().filter(&is_it);
        self.log.find(&mut self.child, find).await
    }

    /// Checks that every request succeeded, so that no client used a fallback.
    pub(crate) fn has_only_good_answers(&self) {
        for line in self.log.all() {
            let event: Value = tightwire_json::from_str(&line).unwrap();
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
