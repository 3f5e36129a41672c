//! Helpers shared by tests and fuzz targets.

#![allow(unreachable_pub, reason = "every user takes its own part of this module")]

pub mod builders;
pub mod checks;
pub mod messages;
