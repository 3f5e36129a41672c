//! Runs other programs with captured output and a time limit.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use bench_report::machine::first_line;

use anyhow::{Context, Result, bail, ensure};

/// Time limit of a program that must succeed.
const LIMIT: Duration = Duration::from_secs(300);
/// Interval at which a running program is polled.
const POLL: Duration = Duration::from_millis(5);

/// Reason why a check was not made on this machine; `None` if it was made.
pub(crate) type Skipped = Option<String>;

/// Runs a command without input.
pub(crate) fn finish(mut command: Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{status}");
    Ok(())
}

/// Creates a folder, or removes what is in it.
pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Returns the output line that most likely names the error.
    pub(crate) fn complaint(&self) -> String {
        let telling = |line: &&str| {
            let lower = line.to_lowercase();
            ["error", "fail", "panic", "cannot", "not found"].iter().any(|word| lower.contains(word))
        };
        let lines: Vec<&str> = self
            .stderr
            .lines()
            .chain(self.stdout.lines())
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let line = lines.iter().copied().find(telling).or_else(|| lines.last().copied());
        format!("{}: {}", self.status, line.unwrap_or("no output"))
    }
}

/// Runs `command` and captures its output in files below `scratch`, because a pipe could fill up. Fails if the program
/// cannot be started, or is killed because it still runs after `limit`.
pub(crate) fn run(command: &mut Command, scratch: &Path, limit: Duration) -> Result<Finished> {
    fs::create_dir_all(scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    let (out_path, err_path) = (scratch.join("stdout.txt"), scratch.join("stderr.txt"));
    let create = |path: &Path| File::create(path).with_context(|| format!("cannot write {}", path.display()));
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(create(&out_path)?)
        .stderr(create(&err_path)?)
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("stopped after {} s", limit.as_secs());
        }
        pause(POLL);
    };
    // The parsers need UTF-8 only.
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Finished { status, stdout: read(&out_path)?, stderr: read(&err_path)? })
}

/// Runs a command like [`run`], with [`LIMIT`]. Fails with its output if it does not succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<Finished> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let scratch = env::temp_dir().join(format!("xtask-{}-{count}", std::process::id()));
    let finished = run(command, &scratch, LIMIT);
    fs::remove_dir_all(scratch)?;
    let finished = finished?;
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    let Finished { status, stdout, stderr } = &finished;
    ensure!(status.success(), "{program}: {status}\n{stdout}{stderr}");
    Ok(finished)
}

#[allow(clippy::disallowed_methods, reason = "xtask is a blocking tool without an executor")]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// Returns the path of a program with this name in the search path, or this path if it exists.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).map(|path| path.join(name)).find(|path| path.is_file())
}

/// Returns whether a program with this name is in the search path, or this path exists.
pub(crate) fn is_installed(name: &str) -> bool {
    find(name).is_some()
}

/// Returns a message if a program is not installed.
pub(crate) fn lacks(program: &str) -> Skipped {
    (!is_installed(program)).then(|| format!("there is no {program}"))
}
