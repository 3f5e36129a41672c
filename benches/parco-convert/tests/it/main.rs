//! Tests with files and messages written by the other libraries.

mod convert;
mod formats;
mod same_bytes;
