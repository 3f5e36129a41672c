//! Runs other programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

pub(crate) use bench_report::program::{find, first_line};

use crate::note;

/// Time limit of a program whose output is captured. It may download and compile.
const LIMIT: Duration = Duration::from_secs(900);

/// Reason why a check was not made on this machine; `None` if it was made.
pub(crate) type Skipped = Option<String>;

/// Joins the reasons to one text; `None` if there are none.
pub(crate) fn joined(reasons: &[String]) -> Skipped {
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// Runs a command without input.
pub(crate) fn finish(mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{program}: {status}");
    Ok(())
}

/// Runs a command that shows its progress on standard error, without a time limit, and returns its output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {program}"))?;
    ensure!(output.status.success(), "{program}: {}", output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Creates a folder, or removes what is in it.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Output of a successful program.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command without input and captures its output. If it fails, prints the output and returns an error with the line
/// that most likely names the cause. Kills it after [`LIMIT`].
pub(crate) fn succeed(command: &mut Command) -> Result<Finished> {
    let program = command.get_program().to_string_lossy().into_owned();
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    let id = child.id().to_string();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(LIMIT) else {
        Command::new("kill").args(["-KILL", &id]).status()?;
        bail!("{program}: stopped after {} s", LIMIT.as_secs());
    };
    let output = output?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    if !output.status.success() {
        note(&format!("{stdout}{stderr}"));
        bail!("{program}: {}: {}", output.status, complaint(&stderr, &stdout));
    }
    Ok(Finished { stdout, stderr })
}

/// Returns the line that most likely names the error.
fn complaint<'a>(stderr: &'a str, stdout: &'a str) -> &'a str {
    let names_error = |line: &&str| {
        let lower = line.to_lowercase();
        ["error", "fail", "panic", "cannot", "not found"].iter().any(|word| lower.contains(word))
    };
    let mut lines = stderr.lines().chain(stdout.lines()).map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next_back();
    lines.find(names_error).or(last).unwrap_or("no output")
}

/// Returns whether a command succeeds.
pub(crate) fn works(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
}

/// Returns whether a program with this name is in the search path, or this path exists.
pub(crate) fn is_installed(name: &str) -> bool {
    find(name).is_some()
}

/// Returns a message if a program is not installed.
pub(crate) fn lacks(program: &str) -> Skipped {
    (!is_installed(program)).then(|| format!("there is no {program}"))
}
