//! `healthcheck`: whether the proxy with these settings answers.

use std::time::Duration;

use clap::ArgMatches;

use super::failure::Failure;
use super::setup;

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(setup::ask_live(&settings, PATIENCE)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::because(&format!("no answer at {}", settings.listen.value), &error)),
    }
}
