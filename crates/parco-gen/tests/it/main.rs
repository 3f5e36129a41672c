//! Integration tests.

mod commands;
mod expected;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program.
fn parco(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parco")).args(arguments).output().expect("the program runs")
}

fn utf8(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// Returns the path of a file of the tests.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}
