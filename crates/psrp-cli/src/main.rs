//! `psrp`: runs scripts on PowerShell servers.

mod args;
mod balance;
mod clixml;
mod complete;
mod connect;
mod console;
mod copy;
mod history;
mod interrupts;
mod json;
mod run;
mod screen;
mod script;
mod shell;

use std::process::ExitCode;

use clap::Parser;

use self::args::{Cli, Command};

/// What the program ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything went well.
    Ok,
    /// The pipeline failed, wrote errors or was stopped by the other side.
    Errors,
    /// The command line, a file that it names, or the input makes no sense.
    Usage,
    /// There is no connection, or it broke.
    Connection,
    /// The user stopped it.
    Interrupted,
    /// A script asked for this code.
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

/// Why the program can't go on, and with what it ends then.
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

    /// The output is gone, such as a pipe to a program that has ended.
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
    // A thread may still wait for a line of the input that nobody needs any more.
    runtime.shutdown_background();
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => report(&failure),
    }
}

fn report(failure: &Failure) -> ExitCode {
    use std::io::Write;

    // Each cause once: some errors tell the one below in their own text.
    let mut text = String::new();
    for cause in failure.error.chain() {
        let cause = cause.to_string();
        if !text.ends_with(&cause) {
            text += if text.is_empty() { "" } else { ": " };
            text += &cause;
        }
    }
    // Nothing is left to do where not even this can be written.
    let _ = writeln!(std::io::stderr(), "psrp: {}", psrp::terminal_safe(&text));
    failure.exit.into()
}
