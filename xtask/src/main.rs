//! Task runner of the workspace: `cargo xtask COMMAND`. One file per command.

mod args;
mod bench;
mod cargo;
mod chart;
mod compare;
mod completeness;
mod conformance;
mod data;
mod deploy;
mod features;
mod fuzz;
mod history;
mod html;
mod instructions;
mod interop;
mod join;
mod machine;
mod markdown;
mod model;
mod parse;
mod peers;
mod process;
mod proxy;
mod publish;
mod quantity;
mod release;
mod report;
mod rounds;
mod setup;
mod stats;
mod suites;
mod test;
mod tidy;
mod unchanged;
mod view;
mod workspace;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;

/// One command of the task runner.
struct Command {
    name: &'static str,
    summary: &'static str,
    /// Help text; `None` if the program behind the command has its own.
    help: Option<&'static str>,
    run: fn(Args) -> Result<()>,
}

const fn command(
    name: &'static str,
    run: fn(Args) -> Result<()>,
    help: Option<&'static str>,
    summary: &'static str,
) -> Command {
    Command { name, summary, help, run }
}

const COMMANDS: &[Command] = &[
    command("bench", bench::command, Some(bench::HELP), "measure the suites beside their peers"),
    command("load", proxy::load, None, "measure the proxy under load beside nginx and other proxies"),
    command("fleet", proxy::fleet, None, "test and measure proxies that share a bucket"),
    command("report", report::command, Some(report::HELP), "write the latest report again"),
    command("conformance", conformance::command, Some(conformance::HELP), "run test vectors through a crate"),
    command(
        "test",
        test::command,
        Some(test::HELP),
        "run the checks before a change; with --full, all of CI",
    ),
    command(
        unchanged::COMMAND,
        unchanged::command,
        Some(""),
        "run a test program unless it is unchanged (used by `test`)",
    ),
    command("setup", setup::command, Some(setup::HELP), "install the tools of `test --full`"),
    command("fuzz", fuzz::command, Some(fuzz::HELP), "run the fuzz targets"),
    command("tidy", tidy::command, Some(""), "check the rules of the repository"),
    command("peers", peers::command, Some(""), "`peers check` builds the peers in other languages"),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    let arguments: Vec<String> = arguments.collect();
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        say(&help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        note(&format!("unknown command {name}\n\n{}", help()));
        return ExitCode::from(2);
    };
    let wants_help = arguments.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h"));
    if let Some(help) = command.help.filter(|_| wants_help) {
        say(if help.is_empty() { command.summary } else { help });
        say("\n");
        return ExitCode::SUCCESS;
    }
    match (command.run)(Args::new(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = "usage: cargo xtask COMMAND [ARGUMENTS]\n\n".to_owned();
    for command in COMMANDS {
        text += &format!("  {:<12} {}\n", command.name, command.summary);
    }
    text + "\n`cargo xtask COMMAND --help` describes a command.\n"
}

/// Writes to standard output. Ends the process quietly if the reader has closed it.
pub(crate) fn say(text: &str) {
    if io::stdout().write_all(text.as_bytes()).is_err() {
        std::process::exit(0);
    }
}

/// Writes a message to standard error.
pub(crate) fn note(text: &str) {
    // There is no other place to report a closed standard error.
    let _ = writeln!(io::stderr(), "{text}");
}
