//! Command line interface.

mod args;
mod check;
mod failure;
mod gc;
mod healthcheck;
mod logging;
mod requirements;
mod serve;
mod setup;
mod show;
mod stats;
mod systemd;
mod verify;
mod warm;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::ArgMatches;

use failure::Failure;

/// Parses the command line and runs the command.
pub(crate) fn main() -> ExitCode {
    let matches = match args::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // There is no other place to report that printing failed.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { failure::USAGE } else { 0 });
        }
    };
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_silent() => failure.code(),
        Err(failure) => {
            let _ = writeln!(io::stderr(), "pypi-proxy: {failure}");
            failure.code()
        }
    }
}

fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("serve", matches)) => serve::run(matches),
        Some(("check", matches)) => check::run(matches),
        Some(("healthcheck", matches)) => healthcheck::run(matches),
        Some(("config", matches)) => show::run(matches),
        Some(("warm", matches)) => warm::run(matches),
        Some(("gc", matches)) => gc::run(matches),
        Some(("verify", matches)) => verify::run(matches),
        Some(("stats", matches)) => stats::run(matches),
        // clap requires a command.
        _ => Ok(()),
    }
}
