//! Other programs, and the terminal.

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
