//! Other programs, their folders, and the terminal.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, thread};

use anyhow::{Context, Result, bail};

/// Time limit of a program whose output is captured. It may download and compile.
const LIMIT: Duration = Duration::from_secs(900);

/// Writes to standard output at once. Ends the process quietly if the reader has closed it, as with `cargo bench | head`.
pub fn say(text: &str) {
    let mut out = io::stdout();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Writes a message to standard error.
pub fn note(text: &str) {
    // There is no other place to report a closed standard error.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Returns the exit code of this program. Writes the message of an error.
pub fn exit(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Returns the first line that a program prints, such as its version; `None` if it cannot be run.
pub fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Returns the path of a program with this name in the search path, or this path if it exists.
pub fn find(name: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).map(|path| path.join(name)).find(|path| path.is_file())
}

/// Creates a folder, or removes what is in it.
pub fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

/// Output of a successful program.
#[derive(Debug)]
pub struct Finished {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs a command without input and captures its output. If it fails, prints the output and returns an error with the line
/// that most likely names the cause. Kills it after 15 minutes.
pub fn succeed(command: &mut Command) -> Result<Finished> {
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
