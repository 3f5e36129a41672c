//! `psrp`: runs PowerShell scripts on servers.

mod args;
mod balance;
mod clixml;
mod complete;
mod connect;
mod console;
mod copy;
mod documents;
mod encoding;
mod exit;
mod history;
mod hosts;
mod interrupts;
mod json;
mod printable;
mod run;
mod script;
mod sessions;
mod shell;

use std::process::ExitCode;

use clap::Parser;

use self::args::{Cli, Command};
use self::exit::Failure;

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
            Command::Sessions(args) => sessions::sessions(args).await,
            Command::Receive(args) => sessions::receive(args).await,
            Command::Copy(args) => copy::copy(args).await,
            Command::Clixml(args) => clixml::clixml(&args),
            Command::Completions { shell } => documents::completions(shell),
            Command::Man { directory, date } => documents::man(&directory, &date),
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
    use std::io::{Error, ErrorKind, Write};

    let is_closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref().is_some_and(|error: &Error| error.kind() == ErrorKind::BrokenPipe)
    };
    if failure.is_output && failure.error.chain().any(is_closed) {
        return failure.exit.into();
    }
    // If standard error is closed, nothing can be reported.
    let _ = writeln!(std::io::stderr(), "psrp: {}", printable::printable(&failure.text(), false));
    failure.exit.into()
}
