//! `healthcheck`: tests whether the proxy with these settings responds.

use std::time::Duration;

use clap::ArgMatches;

use super::failure::Failure;
use super::setup;

/// Timeout of the request.
const TIMEOUT: Duration = Duration::from_secs(3);

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(setup::request_live(&settings, TIMEOUT)) {
        Ok(_) => Ok(()),
        Err(error) => {
            Err(Failure::with_cause(&format!("no response from {}", settings.listen.value), &error))
        }
    }
}
