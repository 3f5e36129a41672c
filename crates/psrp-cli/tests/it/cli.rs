//! Runs the program `psrp` with a server in the test process and, if it is installed, with PowerShell.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use psrp::host::{ChoiceDescription, ConsoleColor, HostRequest, HostResult};
use psrp::io::Lines;
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve};
use psrp::message::CreatePipeline;
use psrp::outofproc::Role;
use psrp::record::{ErrorCategory, ErrorRecord, InformationalRecord, InvocationCall, InvocationInfo};
use psrp::value::Progress;
use psrp::{Object, Value};
use test_support::optional;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::process::{Child, Command};

/// Timeout of a run.
const LIMIT: Duration = Duration::from_secs(60);

/// Sequences that must never reach a terminal.
const CONTROL_SEQUENCES: &str = "\x1b[2J\x1b]0;title\x07\u{9b}31mred\u{202e}";

/// Server whose scripts are one command per line.
struct CommandServer;

impl Handler for CommandServer {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, mut input: Input) -> Outcome {
        for command in create.power_shell.statements().flatten() {
            if command.text == *"TabExpansion2" {
                pipeline.output(completion()).await?;
            }
            if !command.is_script {
                continue;
            }
            for line in command.text.to_string().lines() {
                let (command_name, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
                if command_name == "arguments" {
                    for parameter in &command.parameters {
                        let name = parameter.name.clone().map_or(Value::Nil, Value::from);
                        let builder = Object::builder().extended("Name", name);
                        pipeline.output(builder.extended("Value", parameter.value.clone()).build()).await?;
                    }
                    continue;
                }
                run_command(command_name, argument, &pipeline, &mut input).await?;
            }
        }
        Ok(())
    }
}

/// Completion of `sa` with the cursor at its end.
fn completion() -> Object {
    let candidate = Object::custom([("CompletionText", "say "), ("ListItemText", "say")]);
    let range = Object::builder().adapted("ReplacementIndex", 0).adapted("ReplacementLength", 2);
    range.adapted("CompletionMatches", Object::list([candidate])).build()
}

async fn run_command(command_name: &str, argument: &str, pipeline: &Pipeline, input: &mut Input) -> Outcome {
    match command_name {
        "\"$PWD\"" => pipeline.output("/srv").await?,
        "say" => pipeline.output(argument).await?,
        "count" => {
            for number in 0..argument.parse().unwrap() {
                pipeline.output(number).await?;
            }
        }
        "object" => {
            let object = Object::builder()
                .type_names(["System.Management.Automation.PSCustomObject", "System.Object"])
                .extended("Name", "sshd")
                .extended("Id", 4242)
                .build();
            pipeline.output(object).await?;
        }
        "error" => pipeline.error(error(argument)).await?,
        "warn" => pipeline.warning(InformationalRecord::new(argument)).await?,
        "fail" => return Err(ErrorRecord::new(argument, ErrorCategory::InvalidOperation).into()),
        "input" => {
            while let Some(value) = input.next().await {
                pipeline.output(value).await?;
            }
        }
        "ask" => {
            let request = HostRequest::Write1 { text: argument.into() };
            pipeline.host(request).await?;
            let line = pipeline.host(HostRequest::ReadLine).await?;
            pipeline.output(HostResult::to_value(&line)).await?;
        }
        "secret" => match pipeline.host(HostRequest::ReadLineAsSecureString).await? {
            HostResult::Secure(secret) => {
                let length = secret.reveal().map_or(-1, |text| text.chars().count() as i32);
                pipeline.output(length).await?;
            }
            _ => pipeline.output(Value::Nil).await?,
        },
        "choose" => {
            let choices = vec![
                ChoiceDescription::new(format!("&Yes {argument}"), argument),
                ChoiceDescription::new("&No", argument),
            ];
            let (caption, message) = (argument.into(), argument.into());
            let request = HostRequest::PromptForChoice { caption, message, choices, default_choice: 1 };
            let choice = pipeline.host(request).await?;
            pipeline.output(HostResult::to_value(&choice)).await?;
        }
        "green" => {
            let (foreground, background) = (ConsoleColor::Green, ConsoleColor::Black);
            pipeline.host(HostRequest::WriteLine3 { foreground, background, text: argument.into() }).await?;
        }
        "progress" => {
            let record = Progress { percent_complete: 50, ..Progress::new(1, argument, "half") };
            pipeline.progress(record).await?;
        }
        "exit" => {
            let exit_code = argument.parse().unwrap();
            pipeline.host(HostRequest::SetShouldExit { exit_code }).await?;
        }
        "sleep" => tokio::time::sleep(Duration::from_secs(argument.parse().unwrap())).await,
        "stall" => {
            pipeline.output("stalled").await?;
            tokio::time::sleep(Duration::from_secs(argument.parse().unwrap())).await;
        }
        "stubborn" => {
            let _stopping = pipeline.stopping();
            pipeline.output("started").await?;
            tokio::time::sleep(Duration::from_secs(600)).await;
            drop(_stopping);
        }
        "break" => pipeline.session().break_pool(error(argument))?,
        _ => return Err(ErrorRecord::new("no such command", ErrorCategory::ObjectNotFound).into()),
    }
    Ok(())
}

/// An error record with a position.
fn error(message: &str) -> ErrorRecord {
    let mut record = ErrorRecord::new(message, ErrorCategory::ObjectNotFound)
        .with_id("PathNotFound")
        .with_target("a.txt", "a.txt", "String")
        .with_activity("Get-Item")
        .with_reason("ItemNotFoundException");
    let call = InvocationCall {
        script_name: Some("deploy.ps1".into()),
        script_line_number: 12,
        offset_in_line: 5,
        line: Some(format!("    Get-Item {message}\n").into()),
        ..InvocationCall::default()
    };
    record.invocation = Some(Box::new(InvocationInfo { call, ..InvocationInfo::default() }));
    record
}

/// A running server, stopped on drop.
struct Server {
    path: PathBuf,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Socket paths must be short.
        let name = format!("psrp-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let listener = UnixListener::bind(&path).unwrap();
        let task = tokio::spawn(async move {
            loop {
                let (read, write) = listener.accept().await.unwrap().0.into_split();
                tokio::spawn(serve(Lines::new(Role::Server, read, write), CommandServer, Options::new()));
            }
        });
        Self { path, task }
    }

    /// Returns the program with this subcommand, connected to the server.
    fn psrp(&self, subcommand: &str) -> Command {
        let mut command = psrp(subcommand);
        command.arg("--socket").arg(&self.path);
        command
    }

    async fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.psrp("run").args(arguments), "").await
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

pub(crate) fn psrp(subcommand: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_psrp"));
    command.arg(subcommand);
    for name in ["NO_COLOR", "PSRP_PASSWORD"] {
        command.env_remove(name);
    }
    command.kill_on_drop(true).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) async fn of(command: &mut Command, input: &str) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // The program may exit before it has read everything.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        Self::wait(child).await
    }

    async fn wait(child: Child) -> Self {
        let output = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
        let output = output.expect("the program ends").unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    pub(crate) fn is(&self, code: i32, out: &str, err: &str) {
        assert_eq!((self.out.as_str(), self.err.as_str(), self.code), (out, err, Some(code)));
    }
}

#[tokio::test]
async fn output_is_printed_as_text() {
    let server = Server::start();
    server.run(&["say one\nobject\nsay two"]).await.is(0, "one\n\nName : sshd\nId : 4242\n\ntwo\n", "");
    let many = server.run(&["count 1000"]).await;
    assert_eq!((many.out.lines().count(), many.code), (1000, Some(0)));
}

#[tokio::test]
async fn output_is_printed_as_json() {
    let server = Server::start();
    let run = server.run(&["--json", "say a\"b\nobject\nwarn careful\nerror x"]).await;
    let err = "WARNING: careful\nerror: x\n  at deploy.ps1:12:5: Get-Item x\n  \
        ObjectNotFound (a.txt:String) [Get-Item], ItemNotFoundException\n  PathNotFound\n";
    run.is(1, "\"a\\\"b\"\n{\"Name\":\"sshd\",\"Id\":4242}\n", err);

    let run = server.run(&["--json", "--types", "object"]).await;
    let types = r#"["System.Management.Automation.PSCustomObject","System.Object"]"#;
    run.is(0, &format!("{{\"$TypeNames\":{types},\"Name\":\"sshd\",\"Id\":4242}}\n"), "");
}

#[tokio::test]
async fn all_streams_are_printed_as_tagged_json() {
    let server = Server::start();
    let run = server.run(&["--json=all", "object\nwarn careful\nerror x\nprogress copy\nfail bad"]).await;
    assert_eq!((run.code, run.err.as_str()), (Some(1), ""));
    let lines: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |stream: &str| -> Vec<&serde_json::Value> {
        lines.iter().filter(|line| line["stream"] == stream).map(|line| &line["value"]).collect()
    };
    assert_eq!(of("output"), [&serde_json::json!({ "Name": "sshd", "Id": 4242 })]);
    assert_eq!(of("warning"), [&serde_json::json!({ "message": "careful" })]);
    let [error] = of("error")[..] else { panic!("{}", run.out) };
    assert_eq!(error["message"], "x");
    assert_eq!((&error["category"], &error["id"]), (&"ObjectNotFound".into(), &"PathNotFound".into()));
    assert_eq!(error["position"]["script"], "deploy.ps1");
    assert_eq!((&error["position"]["line"], &error["position"]["column"]), (&12.into(), &5.into()));
    let [progress] = of("progress")[..] else { panic!("{}", run.out) };
    assert_eq!((&progress["activity"], &progress["percent"]), (&"copy".into(), &50.into()));
    let last = of("state").pop().unwrap();
    assert_eq!((&last["state"], &last["reason"]["message"]), (&"Failed".into(), &"bad".into()));
}

#[tokio::test]
async fn errors_set_exit_codes() {
    let server = Server::start();
    server.run(&["fail it broke"]).await.is(1, "", "error: it broke\n  InvalidOperation\n");
    server.run(&["say a\nexit 7"]).await.is(7, "a\n", "");
    server.run(&["exit 256"]).await.is(1, "", "");
    // The reader of the output ends early.
    let mut child = server.psrp("run").arg("count 100000").spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(Run::wait(child).await.err, "");

    for usage in [
        &["--no-such-option", "say a"][..],
        &["--file", "no such file.ps1"],
        &["--input", "lines", "-"],
        &["--child", "pwsh", "say a"],
    ] {
        let run = server.run(usage).await;
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(!run.err.is_empty());
    }

    let broken = server.run(&["say a\nbreak out of memory"]).await;
    assert_eq!(broken.code, Some(3), "{broken:?}");
    assert!(broken.err.contains("psrp: "), "{broken:?}");
    assert!(broken.err.contains("out of memory"), "{broken:?}");
    for target in [
        &["--socket", "no such socket"][..],
        &["--child", "'no such program' -s"],
        &["--child", "sh -c 'echo the reason >&2'"],
        &["--pid", "4294967295"],
    ] {
        let run = Run::of(psrp("run").args(target).arg("1"), "").await;
        assert_eq!((run.code, run.out.as_str()), (Some(3), ""), "{run:?}");
        assert!(run.err.starts_with("psrp: can't open a session: ") || target[0] == "--pid", "{run:?}");
        assert!(run.err.contains("the reason") || !target[1].contains("reason"), "{run:?}");
    }
}

#[tokio::test]
async fn a_script_runs_on_many_hosts() {
    let servers = [Server::start(), Server::start(), Server::start()];
    let paths = servers.each_ref().map(|server| server.path.to_str().unwrap().to_owned());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hosts-{}", std::process::id()));
    std::fs::write(&file, format!("# three servers\n{}\n\n", paths.join("\n"))).unwrap();
    let run = async |arguments: &[&str]| {
        Run::of(psrp("run").arg("--hosts").arg(&file).args(["--parallel", "2"]).args(arguments), "").await
    };
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(ToOwned::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let of_each = |lines: &[&str]| {
        let lines = lines.iter().flat_map(|line| paths.iter().map(move |path| format!("{path}: {line}\n")));
        sorted(&lines.collect::<String>())
    };

    let text = run(&["say one\nask name?\nsay two"]).await;
    // Prompts have no input.
    assert_eq!(sorted(&text.out), of_each(&["one", "name?"]));
    assert!(text.err.ends_with(&format!("  {}: exit code 1\n", sorted(&paths.join("\n"))[2])), "{text:?}");
    assert!(text.err.contains("psrp: 0 of 3 hosts succeeded\n") && text.code == Some(1), "{text:?}");

    let text = run(&["say one\nwarn careful"]).await;
    assert_eq!((sorted(&text.out), text.code), (of_each(&["one"]), Some(0)));
    let (warnings, summary) = text.err.rsplit_once("psrp: ").unwrap();
    assert_eq!((sorted(warnings), summary), (of_each(&["WARNING: careful"]), "3 of 3 hosts succeeded\n"));

    let json = run(&["--json", "object"]).await;
    let expected = paths
        .iter()
        .map(|path| format!("{{\"host\":\"{path}\",\"value\":{{\"Name\":\"sshd\",\"Id\":4242}}}}\n"));
    assert_eq!(sorted(&json.out), sorted(&expected.collect::<String>()));

    std::fs::write(&file, format!("{}\n/no/such/socket\n", paths[0])).unwrap();
    let json = run(&["--json=all", "say one\nexit 7"]).await;
    for (host, exit) in [(&*paths[0], 7), ("/no/such/socket", 3)] {
        let line = format!("{{\"host\":\"{host}\",\"stream\":\"exit\",\"value\":{exit}}}");
        assert!(json.out.lines().any(|other| other == line), "{json:?}");
        assert!(json.err.contains(&format!("  {host}: exit code {exit}\n")), "{json:?}");
    }
    assert!(json.err.contains("/no/such/socket: psrp: can't open a session: "), "{json:?}");
    assert_eq!(json.code, Some(3));
    std::fs::write(&file, "https://server.example.org\n").unwrap();
    let usage = run(&["1"]).await;
    assert!(usage.code == Some(2) && usage.err.contains("--user"), "{usage:?}");
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn help_has_examples_and_exit_codes() {
    let mut command = psrp("--help");
    let run = Run::of(&mut command, "").await;
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    for part in ["run", "shell", "copy", "clixml", "Examples:", "pwsh -s", "Exit codes:"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    // No option takes the password itself.
    let run = Run::of(psrp("run").arg("--help"), "").await;
    assert!(run.out.contains("PSRP_PASSWORD") && !run.out.contains("--password <"), "{}", run.out);
}

#[tokio::test]
async fn completions_and_manual_pages_contain_every_command() {
    let folder = std::env::temp_dir().join(format!("psrp-man-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let commands = ["run", "shell", "sessions", "receive", "copy", "clixml", "completions"];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = Run::of(psrp("completions").arg(shell), "").await;
        assert_eq!((run.code, &*run.err), (Some(0), ""));
        assert!(commands.iter().all(|name| run.out.contains(name)), "{}", run.out);
    }
    Run::of(psrp("man").arg(&folder).arg("2026-11-26"), "").await.is(0, "", "");
    let page = std::fs::read_to_string(folder.join("psrp.1")).unwrap();
    assert!(page.contains("Exit codes") && page.contains("psrp run"), "{page}");
    for name in commands {
        let page = std::fs::read_to_string(folder.join(format!("psrp-{name}.1"))).unwrap();
        assert!(page.contains(&format!("psrp {name}")), "{page}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let run = Run::of(psrp("man").arg(&folder).arg("2026-11-26"), "").await;
    assert!(run.code == Some(2) && run.err.contains("psrp-man-"), "{}", run.err);
}

#[tokio::test]
async fn scripts_have_a_timeout() {
    let server = Server::start();
    let run = server.run(&["--timeout", "1", "say a\nsleep 30"]).await;
    run.is(124, "a\n", "psrp: stopped after 1 s (--timeout)\n");
    // Output that never pauses.
    let run = server.run(&["-t", "1", "count 100000000"]).await;
    assert!(run.code == Some(124) && run.err.contains("--timeout"), "{:?} {}", run.code, run.err);
    server.run(&["-t", "60", "say a"]).await.is(0, "a\n", "");
    // A prompt whose answer does not come.
    let mut child = server.psrp("run").args(["-t", "1", "ask Name:"]).spawn().unwrap();
    let _input = child.stdin.take();
    let run = Run::wait(child).await;
    assert!(run.code == Some(124) && run.err.contains("--timeout"), "{run:?}");
}

#[tokio::test]
async fn scripts_have_arguments() {
    let server = Server::start();
    let list = r#"[1, {"a": [true]}]"#;
    let run = server
        .run(&["--json", "--argument-list", list, "arguments", "a", "--", "-Name", "b", "-Force"])
        .await;
    let expected = [
        r#"{"Name":null,"Value":"a"}"#,
        r#"{"Name":"Name","Value":"b"}"#,
        r#"{"Name":"Force","Value":true}"#,
        r#"{"Name":null,"Value":1}"#,
        r#"{"Name":null,"Value":{"a":[true]}}"#,
        "",
    ];
    run.is(0, &expected.join("\n"), "");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli arguments.ps1");
    std::fs::write(&file, "arguments").unwrap();
    let run = server.run(&["--json", "--file", file.to_str().unwrap(), "a"]).await;
    run.is(0, &format!("{}\n", expected[0]), "");
    let usage = server.run(&["--argument-list", "{}", "arguments"]).await;
    assert!(usage.code == Some(2) && usage.err.contains("--argument-list"), "{usage:?}");
}

#[tokio::test]
async fn scripts_come_from_files_and_standard_input() {
    let server = Server::start();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli script.ps1");
    std::fs::write(&file, "\u{FEFF}say from a file\n").unwrap();
    server.run(&["--file", file.to_str().unwrap()]).await.is(0, "from a file\n", "");
    let utf16: Vec<u8> = "\u{FEFF}say from 5.1\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(&file, utf16).unwrap();
    server.run(&["--file", file.to_str().unwrap()]).await.is(0, "from 5.1\n", "");
    Run::of(server.psrp("run").arg("-"), "say from input\n").await.is(0, "from input\n", "");
    // Standard input is used up by the script, so the prompt fails.
    let run = Run::of(server.psrp("run").arg("-"), "ask name\n").await;
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("ReadLine: end of input on the client."), "{run:?}");
}

#[tokio::test]
async fn standard_input_is_sent_to_the_pipeline() {
    let server = Server::start();
    let run = |form: &'static str, input: &'static str| {
        let mut command = server.psrp("run");
        command.args(["--json", "--input", form, "input"]);
        async move { Run::of(&mut command, input).await }
    };
    run("lines", "a\nb\r\n\nlast").await.is(0, "\"a\"\n\"b\"\n\"\"\n\"last\"\n", "");
    run("json", "{\"a\":[1,null]} 2\n\"x\"").await.is(0, "{\"a\":[1,null]}\n2\n\"x\"\n", "");
    run("lines", "").await.is(0, "", "");
}

#[tokio::test]
async fn invalid_input_stops_the_pipeline() {
    let server = Server::start();
    let mut child = server.psrp("run").args(["--json", "--input", "json", "input"]).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    stdin.write_all(b"1 ").await.unwrap();
    // Values before the syntax error are processed while more input follows.
    let mut line = [0; 2];
    stdout.read_exact(&mut line).await.unwrap();
    assert_eq!(line, *b"1\n");
    stdin.write_all(b"{").await.unwrap();
    drop(stdin);
    let bad = Run::wait(child).await;
    assert_eq!(bad.code, Some(2), "{bad:?}");
    assert!(bad.err.contains("the input is not valid JSON"), "{bad:?}");
}

#[tokio::test]
async fn prompts_are_answered_by_standard_input() {
    let server = Server::start();
    let script = "ask Name:\nsecret\nchoose sure\nchoose again";
    let run = Run::of(server.psrp("run").arg(script), "Ada\npassword\ny\n\n").await;
    let question = "[Y] Yes sure  [N] No  [?] Help (default is \"N\"): \n";
    let again = question.replace("sure", "again");
    run.is(0, "Name:Ada\n8\n0\n1\n", &format!("\n\nsure\nsure\n{question}again\nagain\n{again}"));
    assert!(!run.err.contains("password"));
    let none = Run::of(server.psrp("run").arg("choose x"), "").await;
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.err.contains("end of input on the client"), "{none:?}");
}

#[tokio::test]
async fn control_sequences_of_the_server_are_escaped() {
    let server = Server::start();
    let script = format!(
        "say {CONTROL_SEQUENCES}\nwarn {CONTROL_SEQUENCES}\nerror {CONTROL_SEQUENCES}\ngreen {CONTROL_SEQUENCES}\nchoose {CONTROL_SEQUENCES}\nfail {CONTROL_SEQUENCES}"
    );
    for arguments in [&["--color", "never"][..], &["--json"], &["--json=all"]] {
        let run = Run::of(server.psrp("run").args(arguments).arg(&script), "n\n").await;
        assert_eq!(run.code, Some(1), "{run:?}");
        for text in [&run.out, &run.err] {
            let is_control = |char: char| char.is_control() && char != '\n' || char == '\u{202e}';
            assert!(!text.contains(is_control), "{run:?}");
        }
        assert!(run.out.contains("[2J") && run.err.contains("[2J"), "{run:?}");
    }
    let run = Run::of(psrp("run").args(["--child", CONTROL_SEQUENCES, "1"]), "").await;
    assert!(!run.err.contains('\x1b'), "{run:?}");
}

#[tokio::test]
async fn colours_are_used_on_terminals_or_on_request() {
    let server = Server::start();
    server.run(&["green x\nwarn y"]).await.is(0, "x\n", "WARNING: y\n");
    server.run(&["say \x1b[32mOK\x1b[0m"]).await.is(0, "OK\n", "");
    let run = server.run(&["--color", "always", "say \x1b[32mOK"]).await;
    run.is(0, "\x1b[32mOK\x1b[0m\n", "");
    let run = server.run(&["--color", "always", "green x\nwarn y"]).await;
    run.is(0, "\x1b[92mx\x1b[0m\n", "\x1b[93mWARNING: y\x1b[0m\n");
    // With JSON, standard output contains only JSON.
    server.run(&["--json", "green x\nsay y"]).await.is(0, "\"y\"\n", "x\n");
}

/// Reads until the text occurs.
async fn read_until(from: &mut (impl tokio::io::AsyncRead + Unpin), text: &str) -> String {
    let (mut seen, mut buffer) = (Vec::new(), [0; 1024]);
    let reading = async {
        while !String::from_utf8_lossy(&seen).contains(text) {
            let count = from.read(&mut buffer).await.unwrap();
            assert_ne!(count, 0, "no {text:?} in {:?}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&buffer[..count]);
        }
    };
    tokio::time::timeout(LIMIT, reading).await.unwrap_or_else(|_| panic!("no {text:?} in time"));
    String::from_utf8_lossy(&seen).into_owned()
}

async fn interrupt(child: &Child) {
    let id = child.id().expect("it runs").to_string();
    let status: ExitStatus = Command::new("kill").args(["-INT", &id]).status().await.unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn the_first_ctrl_c_stops_the_pipeline_and_the_second_exits() {
    let server = Server::start();
    for script in ["say started\nsleep 600", "stubborn"] {
        let mut child = server.psrp("run").arg(script).spawn().unwrap();
        read_until(child.stdout.as_mut().unwrap(), "started").await;
        interrupt(&child).await;
        // The server does not stop, so a second signal is needed; repeated because pending signals may be merged.
        while script == "stubborn"
            && tokio::time::timeout(Duration::from_millis(300), child.wait()).await.is_err()
        {
            interrupt(&child).await;
        }
        let run = Run::wait(child).await;
        assert_eq!(run.code, Some(130), "{script}: {run:?}");
    }
}

#[tokio::test]
async fn a_shell_runs_scripts_line_by_line() {
    let server = Server::start();
    // A continuation line belongs to the same script. At the end of input the shell exits with the status of the last
    // script. A script can set the exit code.
    for (lines, out, code) in [
        ("say one\n\nfail two\nsay {\nsay three }\nexit\nsay four\n", "one\n{\nthree }\n", 0),
        ("say one\nfail two\n", "one\n", 1),
        ("exit 9\nsay one\n", "", 9),
    ] {
        let run = Run::of(server.psrp("shell").arg("--plain"), lines).await;
        assert_eq!((run.out.as_str(), run.code), (out, Some(code)), "{run:?}");
        assert_eq!(run.err.contains("error: two\n"), lines.contains("fail two"), "{run:?}");
    }
}

#[tokio::test]
async fn a_shell_continues_after_ctrl_c() {
    let server = Server::start();
    let mut child = server.psrp("shell").arg("--plain").spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"say started\nstall 600\nsay next\n").await.unwrap();
    read_until(child.stdout.as_mut().unwrap(), "stalled").await;
    interrupt(&child).await;
    read_until(child.stdout.as_mut().unwrap(), "next").await;
    drop(stdin);
    let run = Run::wait(child).await;
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[tokio::test]
async fn clixml_in_program_output_becomes_text_or_json() {
    let sample = format!(
        "make: two targets\n#< CLIXML\r\n<Objs Version=\"1.1.0.1\" \
         xmlns=\"http://schemas.microsoft.com/powershell/2004/04\"><S S=\"Error\">no such file_x000D__x000A_</S>\
         <S S=\"warning\">late_x001B_[2J</S><Obj S=\"progress\" RefId=\"0\"><MS><I32 N=\"a\">1</I32></MS></Obj>\
         <Obj S=\"Output\" RefId=\"1\"><MS><S N=\"Name\">x</S></MS></Obj></Objs>\nmake: {CONTROL_SEQUENCES}failed\n"
    );
    let run = Run::of(&mut psrp("clixml"), &sample).await;
    let evil = psrp::terminal_safe(CONTROL_SEQUENCES);
    let text = format!(
        "make: two targets\nno such file\nWARNING: late\\u{{1b}}[2J\n{{\"Name\":\"x\"}}\n\nmake: {evil}failed\n"
    );
    run.is(0, &text, "");
    let run = Run::of(psrp("clixml").arg("--json"), &sample).await;
    let lines: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let streams: Vec<_> = lines.iter().map(|line| line["stream"].as_str().unwrap()).collect();
    assert_eq!(streams, ["text", "error", "warning", "progress", "output", "text"]);
    assert_eq!(lines[1]["value"], "no such file\r\n");
    assert_eq!(lines[5]["value"], format!("\nmake: {CONTROL_SEQUENCES}failed\n"));
    assert!(!run.out.contains('\x1b'));
}

#[tokio::test]
async fn a_terminal_has_colours_progress_bars_and_hidden_passwords() {
    let Ok(found) = Command::new("script").arg("--version").output().await else {
        optional::skip("there is no program `script` to make a terminal with");
        return;
    };
    assert!(found.status.success());
    let server = Server::start();
    let tty = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cli-tty-{}", std::process::id()));
    let state = tty.with_extension("state");
    let terminal = |subcommand: &str, argument: &str| {
        let program = env!("CARGO_BIN_EXE_psrp");
        let line = format!(
            "tty >'{}'; exec '{program}' {subcommand} --socket '{}' '{argument}'",
            tty.display(),
            server.path.display()
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env("XDG_STATE_HOME", &state);
        command.env_remove("NO_COLOR").env_remove("PSRP_HISTORY");
        command.kill_on_drop(true).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        (child, stdin, stdout)
    };
    let exit_code =
        async |mut child: Child| tokio::time::timeout(LIMIT, child.wait()).await.unwrap().unwrap().code();

    let (child, mut stdin, mut stdout) =
        terminal("run", "progress copying\nask Name:\ngreen asked\nsecret\ngreen done");
    let mut seen = read_until(&mut stdout, "Name:").await;
    wait_for_raw_mode(&tty).await;
    stdin.write_all(b"Adx\x7fa\r").await.unwrap();
    seen += &read_until(&mut stdout, "asked").await;
    // Host calls are in order, so the name prompt is complete. The password prompt is not visible.
    wait_for_raw_mode(&tty).await;
    stdin.write_all(b"hunter2\r").await.unwrap();
    seen += &read_until(&mut stdout, "done").await;
    assert!(seen.contains("50% copying: half"), "no bar: {seen:?}");
    assert!(seen.contains("\x1b[92mdone"), "no colour: {seen:?}");
    assert!(seen.contains("Ada\r\n"), "no name: {seen:?}");
    if !seen.contains("7\r\n") {
        seen += &read_until(&mut stdout, "7\r\n").await;
    }
    assert!(!seen.contains("hunter2"), "the password is shown: {seen:?}");
    assert_eq!(exit_code(child).await, Some(0));

    // At a prompt, Ctrl+C is read as a key.
    let (child, mut stdin, mut stdout) = terminal("run", "ask Name:\nsleep 600");
    read_until(&mut stdout, "Name:").await;
    wait_for_raw_mode(&tty).await;
    stdin.write_all(b"\x03").await.unwrap();
    assert_eq!(exit_code(child).await, Some(130));

    // In a shell, Ctrl+C discards the typed line or stops the running script.
    let (child, mut stdin, mut stdout) = terminal("shell", "--plain");
    read_until(&mut stdout, "psrp /srv> ").await;
    stdin.write_all(b"say lost\x03").await.unwrap();
    read_until(&mut stdout, "psrp /srv> ").await;
    // At the prompt of a script it stops only the script.
    for answer in [&b"\x03"[..], b"Grace\r"] {
        stdin.write_all(b"ask Name:\r").await.unwrap();
        read_until(&mut stdout, "\r\nName:").await;
        wait_for_raw_mode(&tty).await;
        stdin.write_all(answer).await.unwrap();
        read_until(&mut stdout, "psrp /srv> ").await;
    }
    stdin.write_all(b"stall 600\r").await.unwrap();
    read_until(&mut stdout, "stalled").await;
    stdin.write_all(b"\x03").await.unwrap();
    read_until(&mut stdout, "psrp /srv> ").await;
    stdin.write_all(b"\x04").await.unwrap();
    assert_eq!(exit_code(child).await, Some(130), "what the last script ended with");

    // The server completes, and the next shell loads the history.
    for keys in [&b"sa\tkept\r"[..], b"\x10\r"] {
        let (child, mut stdin, mut stdout) = terminal("shell", "--plain");
        read_until(&mut stdout, "psrp /srv> ").await;
        stdin.write_all(keys).await.unwrap();
        read_until(&mut stdout, "\r\nkept\r\n").await;
        // The end of input is lost before the next prompt, when the terminal is not in raw mode.
        stdin.write_all(b"exit\r").await.unwrap();
        assert_eq!(exit_code(child).await, Some(0));
    }
    let history = std::fs::read_to_string(state.join("psrp/history")).unwrap();
    assert_eq!(history, "#V2\nask Name:\nstall 600\nsay kept\n");
    std::fs::remove_dir_all(state).unwrap();
    std::fs::remove_file(tty).unwrap();
}

/// Waits until the terminal named in this file is in raw mode. Before that, the terminal itself echoes and buffers
/// lines.
async fn wait_for_raw_mode(tty: &Path) {
    let name = std::fs::read_to_string(tty).unwrap();
    let waiting = async {
        loop {
            let output = Command::new("stty").args(["-F", name.trim(), "-a"]).output().await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            if String::from_utf8_lossy(&output.stdout).contains("-icanon") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LIMIT, waiting).await.expect("the program asks");
}

#[tokio::test]
async fn input_and_ctrl_c_reach_powershell() {
    let Some(powershell) = optional::powershell() else { return };
    let server = format!("'{}' -s", powershell.display());
    let run = |arguments: &[&str]| {
        let mut command = psrp("run");
        command.args(["--child", &server]).args(arguments);
        command
    };
    let mut many = run(&["--json", "--input", "lines", "$input; 1..10000"]);
    let many = Run::of(&mut many, "x\ny\n").await;
    assert!(many.code == Some(0) && many.out.starts_with("\"x\"\n\"y\"\n1\n2\n"), "{many:?}");
    assert_eq!(many.out.lines().count(), 10_002);
    let mut prompt = run(&["--json", "Read-Host; $Host.UI.ReadLineAsSecureString()"]);
    Run::of(&mut prompt, "Ada\nhunter2\n").await.is(0, "\"Ada\"\nnull\n", "\n\n");
    let mut child = run(&["'started'; while ($true) { }"]).spawn().unwrap();
    read_until(child.stdout.as_mut().unwrap(), "started").await;
    interrupt(&child).await;
    assert_eq!(Run::wait(child).await.code, Some(130));
}
