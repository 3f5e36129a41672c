//! Debian packages of the programs.

use anyhow::Result;

use super::Dist;
use crate::process::Skipped;

pub(super) fn build(_dist: &Dist<'_>) -> Result<Skipped> {
    Ok(Some("not written yet".to_owned()))
}

pub(super) fn test(_dist: &Dist<'_>) -> Result<Skipped> {
    Ok(Some("not written yet".to_owned()))
}
