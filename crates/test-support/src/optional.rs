//! Programs that a test uses if they are installed.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

/// Prints the reason for skipping a test to standard error. The test harness would show it only for failing tests.
///
/// # Panics
///
/// Panics if standard error cannot be written.
pub fn skip(reason: &str) {
    writeln!(io::stderr(), "skipped: {reason}").expect("standard error can be written");
}

/// Returns the value of an environment variable. If it is unset or empty, calls [`skip`].
pub fn variable(name: &str) -> Option<OsString> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    if value.is_none() {
        skip(&format!("{name} is not set"));
    }
    value
}

/// Returns the path of a program in the search path.
pub fn program(name: &str) -> Option<PathBuf> {
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns the PowerShell in `PSRP_TEST_PWSH`, or `pwsh` in the search path. Without both, calls [`skip`].
pub fn powershell() -> Option<PathBuf> {
    let named = env::var_os("PSRP_TEST_PWSH").filter(|value| !value.is_empty());
    let found = named.map(PathBuf::from).or_else(|| program("pwsh"));
    if found.is_none() {
        skip("PSRP_TEST_PWSH is not set, and pwsh is not on the search path");
    }
    found
}

/// Returns PowerShell if it is the build for tests, which has additional options (`-client`, `-deserialize`).
///
/// # Panics
///
/// Panics if the program that `PSRP_TEST_PWSH` names cannot be run.
pub fn powershell_for_tests() -> Option<PathBuf> {
    let program = powershell()?;
    let version = Command::new(&program).arg("-Version").output().expect("PowerShell can be run");
    if String::from_utf8_lossy(&version.stdout).contains("engine alone") {
        return Some(program);
    }
    skip("PowerShell lacks the options for tests");
    None
}

/// Runs [`powershell_for_tests`] with these arguments and returns its standard output.
///
/// # Panics
///
/// Panics if the program cannot be run or its output is not UTF-8.
pub fn powershell_output(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(powershell_for_tests()?).args(arguments).output().expect("PowerShell can be run");
    Some(String::from_utf8(output.stdout).expect("its output is UTF-8"))
}

/// Builds a Go program of the module in this folder. If Go is missing or too old, calls [`skip`].
///
/// # Panics
///
/// Panics if the program cannot be built.
pub fn go_program(module: &Path, package: &str, program: PathBuf) -> Option<PathBuf> {
    let mut command = Command::new("go");
    command.current_dir(module).env("GOTOOLCHAIN", "local").args(["build", "-o"]).arg(&program).arg(package);
    match command.output() {
        Ok(output) if output.status.success() => return Some(program),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(text.contains("requires go >="), "go build: {text}");
            skip(&format!("{}: Go is too old", program.display()));
        }
        Err(error) => skip(&format!("{}: go cannot be run: {error}", program.display())),
    }
    None
}

/// Runs a command with this standard input.
///
/// # Panics
///
/// Panics if the command cannot be run or does not read its input.
pub fn output_with_input(command: &mut Command, input: String) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command can be run");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    // Written in a separate thread, because either pipe can fill up.
    let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the output can be read");
    writer.join().expect("writing does not panic").expect("the input is read");
    output
}
