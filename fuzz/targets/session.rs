//! Runs arbitrary programs of actions, losses, repetitions and malformed messages. Both roles of a session must keep
//! their invariants.
#![no_main]

#[path = "../../crates/psrp/tests/support/session_fuzz.rs"]
mod session_fuzz;

libfuzzer_sys::fuzz_target!(|input: &[u8]| session_fuzz::check(input));
