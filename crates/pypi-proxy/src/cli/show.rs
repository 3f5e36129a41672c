//! `config`: prints the settings.

use std::io::{self, Write as _};

use clap::ArgMatches;

use super::failure::Failure;
use super::setup;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let mut out = io::stdout().lock();
    if matches.get_flag("toml") {
        write!(out, "{}", settings.to_toml())?;
        return Ok(());
    }
    write!(out, "{settings}")?;
    if settings.index_url.is_none() {
        match setup::index(&settings) {
            Ok(Some(found)) => writeln!(out, "\nThe index is {} ({}).", found.value, found.origin)?,
            Ok(None) => {}
            Err(failure) => writeln!(out, "\n{failure}")?,
        }
    }
    Ok(())
}
