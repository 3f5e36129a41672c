//! Runs what the examples of parco do. They check themselves; streams of two programs are compared here.
#![allow(
    clippy::duplicate_mod,
    reason = "each program has the models that they share as a module of its own"
)]

#[path = "../parco_builder.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod parco_builder;
#[path = "../parco_compiler.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod parco_compiler;
#[path = "../parco_exchange.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod parco_exchange;
#[path = "../parco_parser.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod parco_parser;
#[path = "../parco_registry.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod parco_registry;
#[path = "../parco_registry_global.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod parco_registry_global;

#[test]
fn one_schema_for_both_directions() {
    let model = parco_builder::round_trip().unwrap();
    assert_eq!(model.grades.len(), 2);
}

#[test]
fn one_schema_for_each_direction() {
    assert_eq!(parco_compiler::compile().unwrap(), parco_parser::MESSAGE);
    assert_eq!(parco_parser::parse().unwrap().friends.len(), 4);
}

#[test]
fn registries() {
    let stream = parco_registry::exchange().unwrap();
    assert_eq!(parco_registry_global::exchange().unwrap(), stream);
    assert!(stream.starts_with(b"\0\x07monkeys\x0a\x01\0\0\x28\x42\x0bPlaza mayor\0\x0bfelix catus\x07"));
}

#[test]
fn messages_between_rust_and_go() {
    use std::io::Write as _;

    if std::process::Command::new("go").arg("version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: messages_between_rust_and_go, for there is no Go");
        return;
    }
    assert_eq!(parco_exchange::to_go().unwrap(), "3 passed, 0 failed");
    assert_eq!(parco_exchange::from_go().unwrap(), 100);
}
