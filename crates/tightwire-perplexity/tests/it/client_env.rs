//! Settings from environment variables.
//!
//! A test cannot change the environment of its process while other tests run. So each case runs this test
//! binary again with its own variables.
#![cfg(feature = "client")]

use std::process::Command;

use tightwire_perplexity::Client;

use crate::support::{Script, Step};

/// Returns whether the process has only these variables. If not, runs the test `name` in one that does.
fn has_variables(name: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var("CLIENT_ENV_CASE").is_ok_and(|case| case == name) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("client_env::{name}")]).env("CLIENT_ENV_CASE", name);
    for name in ["PERPLEXITY_API_KEY", "PPLX_API_KEY", "PERPLEXITY_BASE_URL", "PERPLEXITY_CUSTOM_HEADERS"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

#[tokio::test]
async fn variables_are_used() {
    let variables = [
        ("PERPLEXITY_API_KEY", " from-env\n"),
        ("PPLX_API_KEY", "other"),
        ("PERPLEXITY_BASE_URL", "https://example.org/env"),
        ("PERPLEXITY_CUSTOM_HEADERS", "x-a: 1\nno colon\nX-Title : env\nx-b: env"),
    ];
    if !has_variables("variables_are_used", &variables) {
        return;
    }
    let script = Script::new([Step::ok("1"), Step::ok("1"), Step::ok("1")]);
    let builder = || Client::builder().service(script.service()).default_header("x-b", "builder");
    let client = builder().build().unwrap();
    client.models().list().decode_as::<u8>().await.unwrap();
    client.to_builder().build().unwrap().models().list().decode_as::<u8>().await.unwrap();
    let explicit = builder().api_key("mine").base_url("https://example.org/mine").build().unwrap();
    explicit.models().list().decode_as::<u8>().await.unwrap();
    let sent = script.sent();
    for sent in &sent[..2] {
        assert_eq!(sent.url, "https://example.org/env/v1/models");
        assert_eq!(sent.headers["authorization"], "Bearer from-env");
        assert_eq!(sent.headers["x-a"], "1");
        assert_eq!(sent.headers["x-title"], "env");
        assert_eq!(sent.headers["x-b"], "builder");
    }
    assert_eq!(sent[2].url, "https://example.org/mine/v1/models");
    assert_eq!(sent[2].headers["authorization"], "Bearer mine");
    assert!(Client::builder().without_environment().build().unwrap_err().is_config());
}

#[test]
fn second_key_variable_is_the_fallback() {
    let variables = [("PERPLEXITY_API_KEY", " "), ("PPLX_API_KEY", "other"), ("PERPLEXITY_BASE_URL", " ")];
    if !has_variables("second_key_variable_is_the_fallback", &variables) {
        return;
    }
    let client = Client::from_env().unwrap();
    assert_eq!(client.base_url(), "https://api.perplexity.ai/");
}

#[test]
fn key_is_required() {
    if !has_variables("key_is_required", &[]) {
        return;
    }
    assert!(Client::from_env().unwrap_err().is_config());
    assert!(Client::new("key").is_ok());
}
