//! Task runner of the workspace: `cargo xtask COMMAND`. One file per command.

mod args;
mod bench;
mod cargo;
mod compare;
mod completeness;
mod conformance;
mod data;
mod deploy;
mod features;
mod fleet;
mod fuzz;
mod instructions;
mod interop;
mod join;
mod load;
mod machine;
mod parse;
mod peers;
mod process;
mod progress;
mod release;
mod report;
mod rounds;
mod setup;
mod stats;
mod suites;
mod test;
mod tidy;
mod unchanged;
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
    Command {
        name: "bench",
        summary: "measure the suites beside their peers and write target/report",
        run: bench::command,
    },
    Command {
        name: "load",
        summary: "measure our proxy beside nginx and its peers under load: [--quick] [--row R] [--peer NAME=PLACE]",
        run: load::command,
    },
    Command {
        name: "fleet",
        summary: "test and measure instances that share a bucket: [--quick] [--soak MINUTES] [--server NAME]",
        run: fleet::command,
    },
    Command {
        name: "report",
        summary: "draw the latest report again: [--out] [--allow-noisy] [--compare OLD.json] [--fail-on-regression]",
        run: report::command,
    },
    Command {
        name: "conformance",
        summary: "SYSTEM [--peers] FILE...: run files of test vectors",
        run: conformance::command,
    },
    Command {
        name: "test",
        summary: "[--full] [STEP...]: the checks before a change, or all that there are",
        run: test::command,
    },
    Command {
        name: unchanged::COMMAND,
        summary: "PROGRAM: run a test program unless it passed and has not changed (for `test`)",
        run: unchanged::command,
    },
    Command { name: "setup", summary: "install the tools of `test --full`", run: setup::command },
    Command { name: "fuzz", summary: "[TARGET...] [--seconds N]: run the fuzz targets", run: fuzz::command },
    Command { name: "tidy", summary: "check the rules of this repository", run: tidy::command },
    Command {
        name: "peers",
        summary: "check: build the peers in other languages and name the missing ones",
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
    if arguments.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        say(match name.as_str() {
            "bench" => bench::HELP,
            "conformance" => conformance::HELP,
            "fleet" => fleet::HELP,
            "fuzz" => fuzz::HELP,
            "load" => load::HELP,
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
    text + "\n`cargo xtask COMMAND --help` tells more where there is more.\n"
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
