//! `verify`: checks the hashes of all stored files.

use std::io::{self, Write as _};

use clap::ArgMatches;
use indicatif::{HumanBytes, ProgressBar};
use pypi_proxy::store::Store;

use super::failure::Failure;
use super::setup;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let bar = ProgressBar::new_spinner();
    let verified = if matches.get_flag("bucket") {
        let bucket = settings
            .bucket()?
            .ok_or_else(|| Failure::usage("--bucket: no bucket is configured (set storage_type)"))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(bucket.verify(|_, _| bar.inc(1)))?
    } else {
        Store::open(setup::store(&settings)?)?.verify(|_, _| bar.inc(1))?
    };
    bar.finish_and_clear();
    let mut out = io::stdout().lock();
    for digest in &verified.bad {
        writeln!(out, "removed damaged file {digest}")?;
    }
    writeln!(out, "{} files ({}) are good", verified.good, HumanBytes(verified.bytes))?;
    match verified.bad.len() {
        0 => Ok(()),
        count => Err(Failure::new(format!("damaged files: {count}"))),
    }
}
