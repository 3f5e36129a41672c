//! Integration tests, in one binary.

mod envelope;
mod service;
