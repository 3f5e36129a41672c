//! Calls of cargo.

use std::env;
use std::process::Command;

use crate::workspace::Workspace;

/// `cargo ARGUMENTS` in the root of the workspace, with the cargo that runs this program.
pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&workspace.root);
    command
}
