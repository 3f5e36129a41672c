//! Talks to `psrp_server.rs` as a program: by the client of `psrp`, and by psrpcore's.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use psrp::Value;
use psrp::io::{Child, Options, RunspacePool};
use psrp::message::{GetCommandMetadata, PipelineState, PowerShell};
use test_support::optional;

/// The program. Cargo builds it before it runs all tests of this package; where only this one is named, it is built here.
fn program() -> PathBuf {
    static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let name = format!("psrp_server{}", std::env::consts::EXE_SUFFIX);
        let profile = test.ancestors().nth(2).unwrap();
        let program = profile.join("examples").join(name);
        if !program.exists() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--quiet", "--package", "examples", "--example", "psrp_server"]);
            cargo.arg("--target-dir").arg(profile.parent().unwrap());
            if profile.ends_with("release") {
                cargo.arg("--release");
            }
            assert!(cargo.status().unwrap().success(), "the example psrp_server can't be built");
        }
        program
    });
    PROGRAM.clone()
}

#[tokio::test]
async fn statements_are_run_by_a_child() {
    let child = Child::new(program());
    let pool = RunspacePool::open(&child, Options::new()).await.unwrap();
    let output =
        pool.invoke(PowerShell::script("1..3; Write-Output text\nWrite-Warning careful")).await.unwrap();
    assert_eq!(output.output, [Value::from(1), Value::from(2), Value::from(3), Value::from("text")]);
    assert_eq!(output.warnings[0].message, "careful");
    let output = pool.invoke(PowerShell::script("Write-Output before; throw away")).await.unwrap();
    assert_eq!((output.state, output.output.len()), (PipelineState::Failed, 1));
    assert_eq!(output.reason.unwrap().message().unwrap(), &"away");
    let commands = pool.get_command_metadata(GetCommandMetadata::new(["*-host", "Write-O*t"])).await.unwrap();
    let names: Vec<_> = commands.iter().map(|command| command.name.to_string()).collect();
    assert_eq!(names, ["Read-Host", "Write-Host", "Write-Output"]);
    pool.close().await.unwrap();
}

/// What PowerShell prints with these arguments.
fn powershell(arguments: &[&str]) -> Option<String> {
    let output = Command::new(optional::powershell_for_tests()?).args(arguments).output().unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_client_of_powershell_takes_information() {
    let server = program();
    let Some(printed) = powershell(&["-client", server.to_str().unwrap(), "Write-Information x", "7..7"])
    else {
        return;
    };
    let count = |start: &str| printed.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("information x"), count("state Completed")), (1, 2), "{printed}");
}

#[test]
fn the_client_of_powershell_counts_free_runspaces() {
    let script = format!(
        "$pool = [Real]::Pool('{}', 1, 4); $pool.GetAvailableRunspaces(); $pool.SetMaxRunspaces(3); \
         $pool.GetAvailableRunspaces(); $pool.Close()",
        program().display()
    );
    let Some(printed) = powershell(&["-Command", &script]) else { return };
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["4", "True", "3"]);
}

#[test]
fn the_client_of_powershell_sends_and_takes_secrets() {
    const COMMAND: &str = "ps:$s = [Security.SecureString]::new(); $s.AppendChar('x'); [void]$ps.AddCommand('Test')\
        .AddParameter('Text', $s).AddParameter('Login', [pscredential]::new('ada', $s))";

    let server = program();
    let arguments = ["-client", server.to_str().unwrap(), COMMAND, "host", "Read-Host -AsSecureString"];
    let Some(printed) = powershell(&arguments) else { return };
    // PowerShell prints the hexadecimal digits of UTF-16.
    let count = |text: &str| printed.matches(text).count();
    let counts = [
        count("<SS>7800</SS>"),
        count("<SS N=\"Password\">7800</SS>"),
        count("<SS>680069006400640065006e00</SS>"),
    ];
    assert_eq!((counts, count("state Completed")), ([1, 1, 1], 2), "{printed}");
}

#[cfg(unix)]
#[test]
fn the_client_of_powershell_comes_over_ssh() {
    let daemon = Path::new("/usr/sbin/sshd");
    if !daemon.is_file() {
        return optional::skip("no sshd");
    }
    let Some(powershell) = optional::powershell_for_tests() else { return };
    // What its service makes, for one that is started by root. Others need none.
    let _ = std::fs::create_dir_all("/run/sshd");
    let files = tempfile::tempdir().unwrap();
    let path = |name: &str| files.path().join(name).display().to_string();
    for name in ["host", "user"] {
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path(name));
        assert!(command.status().unwrap().success());
    }
    let config = format!(
        "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n\
         Subsystem powershell {}\n",
        path("host"),
        path("user.pub"),
        program().display()
    );
    std::fs::write(path("config"), config).unwrap();
    // The client's OpenSSH starts the server by itself, so that there is no port to choose.
    let script = format!(
        "$options = @{{ ProxyCommand = '{} -i -f {}'; UserKnownHostsFile = '/dev/null'; \
         StrictHostKeyChecking = 'no'; LogLevel = 'ERROR' }}
         $session = New-PSSession -HostName localhost -KeyFilePath {} -Options $options
         \"$($session.Transport) $($session.State)\"
         Invoke-Command -Session $session {{ 1..3 }}
         Remove-PSSession $session",
        daemon.display(),
        path("config"),
        path("user")
    );
    let output = Command::new(powershell).args(["-Command", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "SSH Opened\n1\n2\n3\n", "{output:?}");
}

/// `PSRP_PYTHON` names a Python interpreter with psrpcore and pypsrp, whose versions stand with the client.
#[test]
fn the_client_of_psrpcore_gets_along_with_it() {
    const CASES: usize = 17;

    let Some(python) = optional::variable("PSRP_PYTHON") else { return };
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/psrp/tests/peers/psrpcore_client.py");
    let output = Command::new(python)
        .arg(client)
        .arg(program())
        .env("PYTHONIOENCODING", "utf-8")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let (done, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{done}{complaint}");
    assert_eq!(done.lines().filter(|line| line.starts_with("ok ")).count(), CASES, "{done}");
}
