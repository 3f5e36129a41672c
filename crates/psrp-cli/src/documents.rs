//! Manual pages and completion scripts, both from the definition of the command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::exit::{Exit, Failure};

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    // `generate` panics if its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "psrp", &mut script);
    io::stdout().write_all(&script).map_err(Failure::output)?;
    Ok(Exit::Ok)
}

/// Writes a manual page of the program and of each command.
pub(crate) fn man(directory: &Path, date: &str) -> Result<Exit, Failure> {
    let written = write_pages(directory, date).with_context(|| directory.display().to_string());
    written.map(|()| Exit::Ok).map_err(Failure::usage)
}

fn write_pages(directory: &Path, date: &str) -> io::Result<()> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    for subcommand in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        write_page(subcommand.clone(), date, directory)?;
    }
    write_page(command, date, directory)
}

/// Writes the manual page of a command.
fn write_page(mut command: clap::Command, date: &str, directory: &Path) -> io::Result<()> {
    // Otherwise the synopsis lists all flags.
    let usage = command.render_usage().to_string();
    command = command.override_usage(usage.trim_start_matches("Usage: ").to_owned());
    let man = Man::new(command).date(date).source(concat!("psrp ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    man.render(&mut page)?;
    // Before possible values; mandoc warns about the empty line.
    let page = String::from_utf8_lossy(&page).replace(".br\n\n.br\n", ".sp\n");
    fs::write(directory.join(man.get_filename()), page)
}
