//! The program under test.

use std::path::Path;
use std::process::{Output, Stdio};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// Command with the cache below a folder and an empty environment.
pub(crate) fn program(dir: &Path, env: &[(&str, &str)], args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"));
    command.env_clear().env("HOME", dir).envs(env.iter().copied());
    command.args(args).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a command. Returns its exit code and output.
pub(crate) async fn run(dir: &Path, env: &[(&str, &str)], args: &[&str]) -> (i32, String) {
    let Output { status, mut stdout, stderr } = program(dir, env, args).output().await.unwrap();
    stdout.extend(stderr);
    (status.code().unwrap(), String::from_utf8(stdout).unwrap())
}

/// A running proxy and its address.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) url: String,
    log: tokio::task::JoinHandle<()>,
}

pub(crate) async fn serve(dir: &Path, env: &[(&str, &str)]) -> Served {
    let mut command = program(dir, env, &["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut log = Vec::new();
    let url = loop {
        let line = lines.next_line().await.unwrap();
        let Some(line) = line else { panic!("it has ended: {log:?}") };
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if let Some(address) = event["address"].as_str() {
            break format!("http://{address}");
        }
        log.push(line);
    };
    // Keep reading, because a full pipe would block the program.
    let log = tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    Served { child, url, log }
}

impl Served {
    /// Kills the program.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
        self.log.await.unwrap();
    }

    /// Peak memory in bytes, or `None` if the system does not report it.
    pub(crate) fn peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    }
}
