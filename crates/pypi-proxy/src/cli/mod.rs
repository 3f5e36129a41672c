//! Command line interface.

mod archive;
mod args;
mod commands;
mod documents;
mod explain;
mod listen;
mod reload;
mod requirements;
mod serve;
mod setup;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod systemd;
#[cfg(unix)]
mod unix_socket;
mod warm;
#[cfg(windows)]
mod windows;

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{ArgMatches, FromArgMatches as _};

use self::args::Command;
#[cfg(windows)]
use self::windows::{signals, systemd, unix_socket};

/// Exit status for wrong usage or configuration.
const USAGE: u8 = 2;
/// Exit status if a command failed.
const FAILED: u8 = 1;

#[derive(Debug)]
struct Usage(String);

impl std::error::Error for Usage {}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Formats an error with all its causes.
fn chain(error: impl Into<anyhow::Error>) -> String {
    format!("{:#}", error.into())
}

/// Parses the command line and runs the command.
pub(crate) fn main() -> ExitCode {
    let parse = || {
        let matches = args::command().try_get_matches()?;
        Ok((Command::from_arg_matches(&matches)?, matches))
    };
    let (command, matches) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => {
            let error: clap::Error = error;
            // There is no other place to report that printing failed.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    let Err(error) = run(command, &matches) else { return ExitCode::SUCCESS };
    // Nothing is printed if the reader of standard output has closed it.
    let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if !error.downcast_ref().is_some_and(is_closed) {
        let _ = writeln!(io::stderr(), "pypi-proxy: {error:#}");
    }
    let is_config = error.downcast_ref().is_some_and(pypi_proxy::Error::is_config);
    ExitCode::from(if is_config || error.is::<Usage>() { USAGE } else { FAILED })
}

fn run(command: Command, matches: &ArgMatches) -> anyhow::Result<()> {
    // The flags of settings are those of the command. clap requires a command.
    let matches = matches.subcommand().map_or(matches, |(_, matches)| matches);
    match command {
        Command::Serve => serve::run(matches),
        Command::Check => commands::check(matches),
        Command::Explain { requirement } => explain::run(matches, &requirement),
        Command::Claims { remove } => commands::claims(matches, &remove),
        Command::Healthcheck => commands::healthcheck(matches),
        Command::Config { toml } => commands::config(matches, toml),
        Command::Warm(options) => warm::run(matches, options),
        Command::Export(options) => archive::export(matches, &options),
        Command::Import(options) => archive::import(matches, &options),
        Command::Gc { unused } => commands::gc(matches, unused),
        Command::Verify { provenance: true, .. } => commands::verify_provenance(matches),
        Command::Verify { bucket, .. } => commands::verify(matches, bucket),
        Command::Stats => commands::stats(matches),
        Command::Completions { shell } => Ok(documents::completions(shell)?),
        Command::Man { directory, date } => {
            documents::man(&directory, &date).with_context(|| directory.display().to_string())
        }
    }
}
