//! Tests the program `psrp_server.rs` with the clients of `psrp`, PowerShell and psrpcore.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use psrp::Value;
use psrp::io::{Child, Options, Session};
use psrp::message::{GetCommandMetadata, PipelineState, PowerShell};
use test_support::optional;

/// Path of the program. Cargo builds it with all tests of this package; if only this test is run, it is built here.
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

/// Returns what PowerShell's client prints for these statements; `None` without PowerShell.
fn client_output(statements: &[&str]) -> Option<String> {
    let server = program();
    optional::powershell_output(&[&["-client", server.to_str().unwrap()], statements].concat())
}

fn count_lines(printed: &str, start: &str) -> usize {
    printed.lines().filter(|line| line.starts_with(start)).count()
}

#[tokio::test]
async fn a_child_process_runs_statements() {
    let child = Child::new(program());
    let pool = Session::open(&child, Options::new()).await.unwrap();
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

#[test]
fn powershell_receives_information_records() {
    let Some(printed) = client_output(&["Write-Information x", "7..7"]) else { return };
    let counts = ["information x", "state Completed"].map(|start| count_lines(&printed, start));
    assert_eq!(counts, [1, 2], "{printed}");
}

#[test]
fn powershell_redirects_streams() {
    const SCRIPT: &str =
        "Write-Error e; Write-Output o; Write-Warning w; Write-Verbose v; Write-Debug d; Write-Information i";

    let redirect = |streams: &str, target: &str| {
        let merge = |stream: &str| format!("$c.MergeMyResults('{stream}', '{target}'); ");
        let merges: String = streams.split(' ').map(merge).collect();
        format!("ps:$c = $ps.AddScript('{SCRIPT}').Commands.Commands[0]; {merges}")
    };
    let (all, none) = (redirect("All", "Output"), redirect("Warning Verbose Debug Information", "Null"));
    let Some(printed) = client_output(&[SCRIPT, &all, &none]) else { return };
    let words = printed.lines().map(|line| line.rsplit_once(" |").map_or(line, |(start, _)| start));
    let words: Vec<_> = words.map(|line| line.split(' ').next().unwrap()).collect();
    let runs: Vec<_> = words.split(|word| *word == ">").skip(1).map(|run| run.join(" ")).collect();
    let records = ["Error", "Warning", "Verbose", "Debug"]
        .map(|name| format!("Deserialized.System.Management.Automation.{name}Record"));
    let [error, rest @ ..] = &records;
    assert_eq!(
        runs,
        [
            "System.String error warning verbose debug information state".to_owned(),
            format!(
                "{error} System.String {} System.Management.Automation.PSCustomObject state",
                rest.join(" ")
            ),
            "System.String error state closed".to_owned(),
        ],
        "{printed}"
    );
}

#[test]
fn powershell_stops_pipelines() {
    let stops = [0, 1, 10, 100].map(|time| format!("stop:{time} Start-Sleep 600"));
    let statements: Vec<&str> = stops.iter().flat_map(|stop| [stop, "7..7"]).collect();
    let Some(printed) = client_output(&statements) else { return };
    let counts =
        ["state Stopped", "state Completed", "closed Closed"].map(|start| count_lines(&printed, start));
    assert_eq!(counts, [4, 4, 1], "{printed}");
}

#[test]
fn powershell_uses_session_features() {
    // PowerShell's client sometimes hangs when it closes a session with a running pipeline, with any server.
    let script = r#"
        foreach ($i in 1..10) { $r = [Real]::Open('PROGRAM'); $r.Close(); $r.RunspaceStateInfo.State }
        $r = [Real]::Open('PROGRAM')
        $r.ResetRunspaceState()
        $outer = $r.CreatePipeline('7..7; Start-Sleep 600'); $outer.InvokeAsync()
        while ($outer.Output.Count -eq 0) { [Threading.Thread]::Sleep(1) }
        $r.CreateNestedPipeline('Write-Output nested', $false).Invoke()
        $outer.Stop(); $outer.PipelineStateInfo.State
        $ps = [powershell]::Create(); $ps.Runspace = $r
        [void]$ps.AddScript('Write-Output again'); $ps.Invoke(); $ps.Invoke()
        $ps = [powershell]::Create(); $ps.Runspace = $r
        [void]$ps.AddCommand('Get-Command').AddParameter('Name', @('*-Host', 'no')).AddParameter('CommandType', 'All')
        $special = $ps.GetType().GetProperty('IsGetCommandMetadataSpecialPipeline', 36)
        $special.SetValue($ps, $true)
        foreach ($c in $ps.Invoke()) { "$($c.Count) $($c.Name) $($c.CommandType)" }
        $r.Close(); $r.RunspaceStateInfo.State
        $pool = [Real]::Pool('PROGRAM', 1, 4)
        $pool.SetMinRunspaces(2); $pool.SetMinRunspaces(9); $pool.GetMinRunspaces(); $pool.GetMaxRunspaces()
        $pool.Close()"#;
    let Some(printed) =
        optional::powershell_output(&["-Command", &script.replace("PROGRAM", program().to_str().unwrap())])
    else {
        return;
    };
    let mut expected = vec!["Closed"; 10];
    expected.extend([
        "nested",
        "Stopped",
        "again",
        "again",
        "2  ",
        "1 Read-Host 8",
        "1 Write-Host 8",
        "Closed",
    ]);
    expected.extend(["True", "False", "2", "4"]);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn the_server_exits_when_powershell_is_killed() {
    let Some(engine) = optional::powershell_for_tests() else { return };
    let ended = std::env::temp_dir().join(format!("psrp-server-ended-{}", std::process::id()));
    let server = format!("sh -c '{}; echo $? > {}'", program().display(), ended.display());
    let mut client = Command::new(engine)
        .args(["-client", &server, "Write-Output ready", "Start-Sleep 600"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(client.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "> Start-Sleep 600"));
    client.kill().unwrap();
    client.wait().unwrap();
    // Waits for the exit code without a timeout.
    let code = loop {
        match std::fs::read_to_string(&ended) {
            Ok(code) if !code.is_empty() => break code,
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    std::fs::remove_file(&ended).unwrap();
    assert_eq!(code.trim(), "0");
}

#[test]
fn powershell_manages_runspace_counts() {
    let script = format!(
        "$pool = [Real]::Pool('{}', 1, 4); $pool.GetAvailableRunspaces(); $pool.SetMaxRunspaces(3); \
         $pool.GetAvailableRunspaces(); $pool.Close()",
        program().display()
    );
    let Some(printed) = optional::powershell_output(&["-Command", &script]) else { return };
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["4", "True", "3"]);
}

#[test]
fn powershell_exchanges_secure_strings() {
    const COMMAND: &str = "ps:$s = [Security.SecureString]::new(); $s.AppendChar('x'); [void]$ps.AddCommand('Test')\
        .AddParameter('Text', $s).AddParameter('Login', [pscredential]::new('ada', $s))";

    let Some(printed) = client_output(&[COMMAND, "host", "Read-Host -AsSecureString"]) else { return };
    // PowerShell prints UTF-16 as hexadecimal digits.
    let counts = [
        "<SS>7800</SS>",
        "<SS N=\"Password\">7800</SS>",
        "<SS>680069006400640065006e00</SS>",
        "state Completed",
    ]
    .map(|text| printed.matches(text).count());
    assert_eq!(counts, [1, 1, 1, 2], "{printed}");
}

#[cfg(unix)]
#[test]
fn powershell_connects_over_ssh() {
    let daemon = Path::new("/usr/sbin/sshd");
    if !daemon.is_file() {
        return optional::skip("no sshd");
    }
    let Some(powershell) = optional::powershell_for_tests() else { return };
    // Required if sshd runs as root; normally created by its service.
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
    // The client's OpenSSH starts the server itself, so that no port is needed.
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

/// `PSRP_PYTHON` names a Python interpreter with psrpcore and pypsrp. The required versions are listed in the client
/// script.
#[test]
fn psrpcore_runs_all_cases() {
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
