//! `psrp`: runs PowerShell scripts on servers.

mod args;
mod balance;
mod clixml;
mod complete;
mod connect;
mod console;
mod copy;
mod dedup;
mod history;
mod interrupts;
mod json;
mod run;
mod script;
mod shell;

use std::process::ExitCode;

use clap::Parser;

use self::args::{Cli, Command};

/// Exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    /// The pipeline failed, wrote errors or was stopped by the server.
    Errors,
    /// Invalid command line, input or local file.
    Usage,
    /// Connection failed or lost.
    Connection,
    /// Stopped by Ctrl+C.
    Interrupted,
    /// Exit code set by a script.
    Code(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Ok => 0,
            Exit::Errors => 1,
            Exit::Usage => 2,
            Exit::Connection => 3,
            Exit::Interrupted => interrupts::EXIT_CODE,
            Exit::Code(code) => code,
        })
    }
}

/// An error that ends the program, with its exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: anyhow::Error,
}

impl Failure {
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Usage, error: error.into() }
    }

    pub(crate) fn connection(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Connection, error: error.into() }
    }

    /// Output cannot be written, for example because the reading program has ended.
    pub(crate) fn output(error: impl Into<anyhow::Error>) -> Self {
        Self { exit: Exit::Errors, error: error.into().context("the output can't be written") }
    }

    pub(crate) fn interrupted() -> Self {
        Self { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted") }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&Failure::usage(error)),
    };
    let result = runtime.block_on(async {
        match cli.command {
            Command::Run(args) => run::run(args).await,
            Command::Shell(args) => shell::shell(args).await,
            Command::Copy(args) => copy::copy(args).await,
            Command::Clixml(args) => clixml::clixml(&args),
        }
    });
    // A thread may still be blocked reading standard input.
    runtime.shutdown_background();
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => report(&failure),
    }
}

fn report(failure: &Failure) -> ExitCode {
    use std::io::Write;

    // Skips causes whose text is already part of the error above.
    let mut text = String::new();
    for cause in failure.error.chain() {
        let cause = cause.to_string();
        if !text.ends_with(&cause) {
            text += if text.is_empty() { "" } else { ": " };
            text += &cause;
        }
    }
    // If standard error is closed, nothing can be reported.
    let _ = writeln!(std::io::stderr(), "psrp: {}", psrp::terminal_safe(&text));
    failure.exit.into()
}
