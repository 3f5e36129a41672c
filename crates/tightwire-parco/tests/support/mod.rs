//! What tests and fuzz targets share.

#![allow(unreachable_pub, reason = "every user takes its own part of this module")]

pub mod checks;
pub mod forms;
