//! Finds the source folder of the package jiter, which contains the real documents.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_PEERS").is_none() {
        return;
    }
    let variable = |name| std::env::var(name).unwrap_or_default();
    // Packages for other platforms need not be downloaded.
    let metadata = Command::new(variable("CARGO"))
        .args(["metadata", "--offline", "--format-version=1", "--filter-platform", &variable("TARGET")])
        .output();
    let text =
        metadata.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    // Without a JSON library: the build would compile one more than once.
    let manifest = text
        .split_once(r#"{"name":"jiter","version":"#)
        .and_then(|(_, package)| package.split_once(r#""manifest_path":""#))
        .and_then(|(_, path)| path.split_once(r#"/Cargo.toml""#));
    match manifest {
        Some((folder, _)) => println!("cargo::rustc-env=REAL_DOCUMENTS={folder}/benches/data"),
        None => println!("cargo::warning=the package jiter is not found: the suite json lacks its documents"),
    }
}
