//! Any program of actions, losses, repetitions and garbage: both ends of a session keep their invariants, and nothing panics.
#![no_main]

#[path = "../../crates/psrp/tests/support/session_twin.rs"]
mod session_twin;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session_twin::check(input));
