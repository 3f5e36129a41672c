//! Steps of the gate about packages: their dependencies, their contents, and breaking changes.

use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{Skipped, finish, first_line};
use crate::workspace::Workspace;
use crate::{cargo, tidy};

/// Finds dependencies that nothing uses.
pub(crate) fn machete(workspace: &Workspace) -> Result<Skipped> {
    if first_line("cargo-machete", &["--version"]).is_none() {
        return Ok(Some("cargo-machete is not installed".into()));
    }
    // Not by way of cargo: inside of `cargo run` it would take its own name for a folder.
    let mut command = Command::new("cargo-machete");
    command.args(["--with-metadata", "--skip-target-dir"]).current_dir(&workspace.root);
    finish(command).map(|()| None)
}

/// Creates the packages of a release without building their contents, which takes minutes.
pub(crate) fn package(workspace: &Workspace) -> Result<Skipped> {
    // Changes that are not committed are judged as well.
    let mut arguments = vec!["package", "--quiet", "--no-verify", "--allow-dirty"];
    let packages = tidy::packages(workspace)?;
    for package in packages.iter().filter(|package| package.is_published()) {
        arguments.extend(["--package", &package.name]);
    }
    finish(cargo::command(workspace, &arguments)).map(|()| None)
}

/// Compares the libraries with the last release.
pub(crate) fn semver(workspace: &Workspace) -> Result<Skipped> {
    let root = workspace.root.to_str().context("the path of the repository is no UTF-8")?;
    let Some(release) = first_line("git", &["-C", root, "describe", "--tags", "--abbrev=0", "--match", "v*"])
    else {
        return Ok(Some("there is no release to compare with".into()));
    };
    if first_line("cargo-semver-checks", &["--version"]).is_none() {
        return Ok(Some("cargo-semver-checks is not installed".into()));
    }
    let mut arguments = vec!["semver-checks", "--all-features", "--baseline-rev", &release];
    let packages = tidy::packages(workspace)?;
    for package in packages.iter().filter(|package| package.is_library()) {
        arguments.extend(["--package", &package.name]);
    }
    finish(cargo::command(workspace, &arguments)).map(|()| None)
}
