//! Runs other programs.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

pub(crate) use bench_report::program::{Finished, empty, find, first_line, succeed};

/// Reason why a check was not made on this machine; `None` if it was made.
pub(crate) type Skipped = Option<String>;

/// Skips the check if there is a reason.
macro_rules! skip {
    ($reason:expr) => {
        if let Some(reason) = $reason {
            return Ok(Some(reason));
        }
    };
}

pub(crate) use skip;

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
