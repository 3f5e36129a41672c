//! Runs the program with the WS-Management service of the library's tests. It is skipped with a message without
//! `PSRP_PYTHON`, a Python interpreter with the packages of the library's `tests/peers/requirements.txt`.

#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use test_support::optional;

use crate::cli::{Run, psrp};

const PASSWORD: &str = "correct horse";

/// A running service, stopped on drop.
struct Service {
    child: Child,
    port: u16,
}

impl Service {
    /// Starts the service. Returns `None` if the test is skipped.
    fn start() -> Option<Self> {
        Some(Self::from(python()?.args(["--auth", "negotiate"])))
    }

    async fn psrp(&self, subcommand: &str, arguments: &[&str], input: &str) -> Run {
        let mut command = psrp(subcommand);
        let url = format!("http://127.0.0.1:{}", self.port);
        command.args(["--wsman", &url, "--user", "EXAMPLE\\user", "--auth", "ntlm"]);
        Run::of(command.args(arguments).env("PSRP_PASSWORD", PASSWORD), input).await
    }

    /// Starts a script without a client, and returns the identifier of its session.
    async fn disconnected(&self, arguments: &[&str]) -> String {
        let run = self.psrp("run", arguments, "").await;
        assert_eq!((run.err.as_str(), run.code), ("", Some(0)));
        run.out.trim().to_owned()
    }
}

impl From<&mut Command> for Service {
    fn from(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the service can be started");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("PORT ").expect("a port").parse().unwrap();
        Self { child, port }
    }
}

/// Returns the command of the service, `None` if the test is skipped.
fn python() -> Option<Command> {
    let mut command = Command::new(optional::variable("PSRP_PYTHON")?);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../psrp/tests/peers/wsman.py"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
    Some(command)
}

impl Drop for Service {
    fn drop(&mut self) {
        // It serves until its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn sessions_are_disconnected_listed_and_received() {
    let Some(service) = Service::start() else { return };
    let id = service.disconnected(&["--disconnect", "Write-Output a; Write-Warning careful; 1..2"]).await;
    let failing = service.disconnected(&["--disconnect=drop", "Write-Output b; throw bad"]).await;

    let list = service.psrp("sessions", &["--json"], "").await;
    let lines: Vec<serde_json::Value> =
        list.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = |id: &str| {
        serde_json::json!({
            "id": id, "name": "Fake", "state": "Disconnected", "owner": "user", "idle": 3661,
            "configuration": "Microsoft.PowerShell",
        })
    };
    assert_eq!(lines, [expected(&id), expected(&failing)], "{list:?}");
    let row = "Disconnected  1:01:01  user   Microsoft.PowerShell  Fake";
    let table = format!(
        "{:36}  STATE         IDLE     OWNER  CONFIGURATION         NAME\n{id}  {row}\n{failing}  {row}\n",
        "ID"
    );
    service.psrp("sessions", &[], "").await.is(0, &table, "");

    service.psrp("receive", &[&id], "").await.is(0, "a\n1\n2\n", "WARNING: careful\n");
    let received = service.psrp("receive", &["--json", &failing], "").await;
    received.is(1, "\"b\"\n", "error: bad\n  RuntimeException\n");
    let gone = service.psrp("receive", &[&id], "").await;
    gone.is(3, "", &format!("psrp: can't connect to session {id}: there is no such session\n"));
    service.psrp("sessions", &["--json"], "").await.is(0, "", "");
}

#[tokio::test]
async fn a_shell_enters_a_disconnected_session() {
    let Some(service) = Service::start() else { return };
    let id = service.disconnected(&["--disconnect", "Write-Output before"]).await;
    let shell = service.psrp("shell", &["--plain", "--session", &id], "Write-Output within\nexit\n").await;
    shell.is(0, "before\nwithin\n", "");
    assert_eq!(service.psrp("sessions", &["--json"], "").await.out, "");
}
