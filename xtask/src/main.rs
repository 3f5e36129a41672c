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
mod progress;
mod proxy;
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
    run: fn(Args) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command { name: "bench", summary: "measure the suites beside their peers", run: bench::command },
    Command {
        name: "load",
        summary: "measure the proxy under load beside nginx and other proxies",
        run: proxy::load,
    },
    Command { name: "fleet", summary: "test and measure proxies that share a bucket", run: proxy::fleet },
    Command { name: "report", summary: "write the latest report again", run: report::command },
    Command { name: "conformance", summary: "run test vectors through a crate", run: conformance::command },
    Command {
        name: "test",
        summary: "run the checks before a change; with --full, all of CI",
        run: test::command,
    },
    Command {
        name: unchanged::COMMAND,
        summary: "run a test program unless it is unchanged (used by `test`)",
        run: unchanged::command,
    },
    Command { name: "setup", summary: "install the tools of `test --full`", run: setup::command },
    Command { name: "fuzz", summary: "run the fuzz targets", run: fuzz::command },
    Command { name: "tidy", summary: "check the rules of the repository", run: tidy::command },
    Command {
        name: "peers",
        summary: "`peers check` builds the peers in other languages",
        run: peers::command,
    },
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
    // The program behind these has options of its own.
    let is_passed_on = matches!(name.as_str(), "load" | "fleet");
    if !is_passed_on && arguments.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        say(match name.as_str() {
            "bench" => bench::HELP,
            "conformance" => conformance::HELP,
            "fuzz" => fuzz::HELP,
            "report" => report::HELP,
            "setup" => setup::HELP,
            "test" => test::HELP,
            _ => command.summary,
        });
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
