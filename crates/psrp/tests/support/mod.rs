//! Shared test data and generators.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

pub mod values;
pub mod vectors;
