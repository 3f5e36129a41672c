//! Runs the parco examples, which check their own results.

#[path = "../../parco_builder.rs"]
#[allow(dead_code, reason = "tests do not call `main`")]
mod parco_builder;
#[path = "../../parco_exchange.rs"]
#[allow(dead_code, reason = "tests do not call `main`")]
mod parco_exchange;
#[path = "../../parco_registry.rs"]
#[allow(dead_code, reason = "tests do not call `main`")]
mod parco_registry;

#[test]
fn one_schema_for_both_directions() {
    let model = parco_builder::round_trip().unwrap();
    assert_eq!(model.grades.len(), 2);
}

/// The README shows the output of the program, except for the time and the order of the grades.
#[test]
fn the_output_in_the_readme() {
    use parco_builder::Example;
    use tightwire_parco::WireExt as _;

    let readme = include_str!("../../README.md");
    let mut lines = readme.lines().skip_while(|line| !line.starts_with("    [3, 104, 101, 121, "));
    let (bytes, model) = (lines.next().unwrap().trim(), lines.next().unwrap().trim());
    let bytes: Vec<u8> = tightwire_json::from_str(bytes).unwrap();
    let decoded: Example = parco_builder::schema().decode_exact(&bytes).unwrap();
    assert_eq!(decoded, Example::new(decoded.created_at));
    let sorted = |text: &str| text.replace(r#"{"math": 5, "english": 6}"#, r#"{"english": 6, "math": 5}"#);
    assert_eq!(sorted(model), sorted(&format!("{decoded:?}")));
}

#[test]
fn registry() {
    let stream = parco_registry::exchange().unwrap();
    assert!(stream.starts_with(b"\0\x07monkeys\x0a\x01\0\0\x28\x42\x0bPlaza mayor\0\x0bfelix catus\x07"));
}

#[test]
fn messages_between_rust_and_go() {
    // Prevents an old Go from downloading a newer one.
    let listed = std::process::Command::new("go")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/peers/go"))
        .env("GOTOOLCHAIN", "local")
        .args(["list", "./parcowire/cmd/exchange"])
        .output();
    let Ok(listed) = listed else { return test_support::optional::skip("Go is not installed") };
    if String::from_utf8_lossy(&listed.stderr).contains("requires go >=") {
        return test_support::optional::skip("Go is too old");
    }
    assert_eq!(parco_exchange::to_go().unwrap(), "3 passed, 0 failed");
    assert_eq!(parco_exchange::from_go().unwrap(), 100);
}
