//! Tests with files and messages written by the other libraries.

mod convert;
mod same_bytes;
