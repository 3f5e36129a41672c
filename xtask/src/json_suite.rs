//! The step `serde-json` of the gate: the test suite of serde_json, for the package of this repository that replaces it.
//!
//! The tests are read from the downloaded source of serde_json, and not part of this repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process::{Skipped, empty, finish, succeed};
use crate::workspace::Workspace;
use crate::{cargo, note};

/// The feature sets that the authors of serde_json test, and all features.
const FEATURES: [&str; 8] = [
    "",
    "preserve_order",
    "float_roundtrip",
    "arbitrary_precision",
    "float_roundtrip,arbitrary_precision",
    "raw_value",
    "unbounded_depth",
    "preserve_order,float_roundtrip,arbitrary_precision,raw_value,unbounded_depth",
];

/// Feature sets without `std`. The tests need `std`: the package is only compiled.
const WITHOUT_STD: [&str; 4] = [
    "alloc",
    "alloc,preserve_order",
    "alloc,arbitrary_precision,raw_value",
    "alloc,float_roundtrip,unbounded_depth",
];

/// Test programs. The program `lexical` tests a private module, and [`compile_failures`] replaces `compiletest`.
const PROGRAMS: [&str; 5] = ["debug", "map", "regression", "stream", "test"];

/// Manifest of the tests, without the dependency on serde_json.
const MANIFEST: &str = "[workspace]
[package]
name = \"suite\"
version = \"0.0.0\"
edition = \"2021\"
autotests = false
[lib]
path = \"lib.rs\"
[features]
preserve_order = [\"serde_json/preserve_order\"]
arbitrary_precision = [\"serde_json/arbitrary_precision\"]
raw_value = [\"serde_json/raw_value\"]
float_roundtrip = [\"serde_json/float_roundtrip\"]
unbounded_depth = [\"serde_json/unbounded_depth\"]
default = [\"std\"]
alloc = [\"serde_json/alloc\"]
std = [\"serde_json/std\"]
[dev-dependencies]
automod = \"1\"
indoc = \"2\"
ref-cast = \"1\"
serde = { version = \"1\", features = [\"derive\"] }
serde_bytes = \"0.11\"
serde_derive = \"1\"
";

/// Runs the suite, unless its dependencies cannot be downloaded.
pub(crate) fn suite(workspace: &Workspace) -> Result<Skipped> {
    let folder = workspace.scratch().join("serde-json");
    empty(&folder)?;
    fs::write(folder.join("lib.rs"), "")?;
    let tests = source(workspace)?.join("tests");
    copy(&tests, &folder.join("tests"))?;
    copy(&tests.join("ui"), &folder.join("examples"))?;
    let mut manifest = format!(
        "{MANIFEST}[dependencies]\nserde_json = {{ version = {:?}, default-features = false }}\n{}",
        requirement(workspace)?,
        patch(workspace),
    );
    for name in PROGRAMS {
        manifest += &format!("[[test]]\nname = \"{name}\"\n");
    }
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let command = |arguments: &[&str]| {
        let mut command = cargo::command(workspace, arguments);
        command.current_dir(&folder).env("CARGO_TARGET_DIR", workspace.target.join("serde-json"));
        // As in the workspace: a quarter of the space.
        command.env("CARGO_PROFILE_DEV_DEBUG", "false");
        command
    };
    if let Err(error) = finish(command(&["fetch", "--quiet"])) {
        return Ok(Some(format!("the dependencies of serde_json's tests cannot be downloaded: {error}")));
    }
    for features in WITHOUT_STD {
        let arguments = ["check", "--quiet", "--no-default-features", "--features", features];
        let warnings = succeed(&mut command(&arguments))?.stderr;
        ensure!(warnings.is_empty(), "with the features {features}: {warnings}");
    }
    for features in FEATURES {
        note(&format!("features: {features}"));
        finish(command(&["test", "--quiet", "--tests", "--features", features]))?;
    }
    compile_failures(
        &folder,
        &mut command(&["check", "--examples", "--keep-going", "--message-format", "short"]),
    )?;
    Ok(None)
}

/// Checks that the programs in `tests/ui`, which are the examples, are rejected for the reasons and at the places that
/// serde_json expects. The other lines of the messages quote its source.
fn compile_failures(folder: &Path, check: &mut Command) -> Result<()> {
    let messages = check.stdin(Stdio::null()).output()?.stderr;
    let messages = String::from_utf8_lossy(&messages);
    for entry in fs::read_dir(folder.join("tests/ui"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            let expected = fs::read_to_string(&path)?;
            let (error, rest) = expected.split_once("\n --> tests/ui/").context("no place of an error")?;
            let place = rest.lines().next().unwrap_or_default();
            let message = format!("{place}: {error}");
            ensure!(messages.contains(&message), "no message {message:?} in:\n{messages}");
        }
    }
    Ok(())
}

/// Folder of the package.
const FOLDER: &str = "crates/serde-json-patch";

/// Returns the section by which a program replaces serde_json everywhere.
pub(crate) fn patch(workspace: &Workspace) -> String {
    format!("[patch.crates-io]\nserde_json.path = {:?}\n", workspace.root.join(FOLDER).display().to_string())
}

/// Returns the requirement of exactly the version of the package: cargo would prefer a newer one of the registry.
pub(crate) fn requirement(workspace: &Workspace) -> Result<String> {
    let manifest: toml::Table =
        fs::read_to_string(workspace.root.join(FOLDER).join("Cargo.toml"))?.parse()?;
    let version = manifest["package"]["version"].as_str().context("the package serde_json has no version")?;
    Ok(format!("={version}"))
}

/// Returns the folder of the downloaded serde_json.
fn source(workspace: &Workspace) -> Result<PathBuf> {
    let metadata = succeed(&mut cargo::command(workspace, &["metadata", "--format-version", "1"]))?.stdout;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let package =
        packages.iter().find(|package| package["name"] == "serde_json" && package["source"].is_string());
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
    Ok(folder.context("serde_json is no dependency")?.to_owned())
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}
