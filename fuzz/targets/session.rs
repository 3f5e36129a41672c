//! Any program of actions, losses, repetitions and garbage: both ends of a session keep their invariants, and nothing panics.
#![no_main]

#[path = "../../crates/psrp/tests/support/session_fuzz.rs"]
mod session_fuzz;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session_fuzz::check(input));
