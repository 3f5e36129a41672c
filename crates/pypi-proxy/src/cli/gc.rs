//! `gc`: removes unused files from the cache directory.

use std::io::{self, Write as _};

use clap::ArgMatches;
use indicatif::HumanBytes;
use pypi_proxy::config::parse_duration;
use pypi_proxy::store::Store;

use super::failure::Failure;
use super::setup;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let unused = match matches.get_one::<String>("unused") {
        None => None,
        Some(text) => Some(
            parse_duration(text)
                .ok_or_else(|| Failure::usage("--unused: expected a duration, such as 30d"))?,
        ),
    };
    // Opening the store evicts nothing, so that the output counts all removed files.
    let store = Store::open(setup::store(&settings)?)?;
    let collected = store.collect(unused, settings.cache_directory_size())?;
    writeln!(
        io::stdout(),
        "removed {} files ({}); {} files ({}) remain",
        collected.removed,
        HumanBytes(collected.removed_bytes),
        collected.files,
        HumanBytes(collected.bytes),
    )?;
    Ok(())
}
