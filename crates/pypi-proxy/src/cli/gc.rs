//! `gc`: makes room.

use std::io::{self, Write as _};

use clap::ArgMatches;
use indicatif::HumanBytes;
use pypi_proxy::config::period;
use pypi_proxy::store::Store;

use super::failure::Failure;
use super::setup;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let unused = match matches.get_one::<String>("unused") {
        None => None,
        Some(text) => {
            Some(period(text).ok_or_else(|| Failure::usage("--unused: it takes a time, such as 30d"))?)
        }
    };
    // Opening it is to remove nothing yet, so that all that goes is counted.
    let store = Store::open(setup::store(&settings)?)?;
    let collected = store.collect(unused, settings.folder_size())?;
    writeln!(
        io::stdout(),
        "removed {} files, {}; {} files, {} are left",
        collected.removed,
        HumanBytes(collected.removed_bytes),
        collected.files,
        HumanBytes(collected.bytes),
    )?;
    Ok(())
}
