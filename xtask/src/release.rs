//! `cargo xtask release --dry-run`: the checks of a release that need no account. Some are steps of the gate as well.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process::{Skipped, finish, joined, lacks, skip, succeed, works};
use crate::workspace::Workspace;
use crate::{cargo, dist, say, test, tidy};

/// Run every check of a release that needs no account, and list the remaining steps
///
/// Nothing is published. A check that cannot run on this machine is skipped with the reason.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run the checks; without it, only the steps by hand are listed
    #[arg(long)]
    dry_run: bool,
}

type Check = fn(&Workspace) -> Result<Skipped>;

const CHECKS: [(&str, Check); 8] = [
    ("tree", tree),
    ("versions", versions),
    ("changelog", changelog),
    ("tag", tag),
    ("packages", publish),
    ("docs", docs),
    ("semver", semver),
    ("dist", |workspace| Ok(joined(&dist::release(workspace, &[])?))),
];

/// Version of all packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Tested version. `cargo xtask setup` does not install it, because compiling it and its run take minutes of the gate.
const SEMVER_CHECKS: &str = "cargo-semver-checks@0.51.0";

/// Files in every package.
const PACKAGED: [&str; 5] = ["Cargo.toml", "Cargo.lock", "README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Files that mention the version, or the beginning of it, and the text before it.
const MENTIONS: [(&str, &str); 10] = [
    ("docs/deploy/helm/pypi-proxy/Chart.yaml", "\nversion: "),
    ("docs/deploy/helm/pypi-proxy/Chart.yaml", "\nappVersion: \""),
    ("docs/deploy/kubernetes/kustomization.yaml", "newTag: \""),
    ("crates/tightwire-json/README.md", "package = \"tightwire-json\", version = \""),
    ("crates/tightwire-json/MIGRATION.md", "package = \"tightwire-json\", version = \""),
    ("crates/tightwire-parco/README.md", "tightwire-parco = { version = \""),
    ("docs/operations.md", "target/dist/release/pypi-proxy-"),
    ("docs/operations.md", "dpkg -i pypi-proxy_"),
    ("docs/release.md", "oci-archive:target/dist/release/pypi-proxy-"),
    ("docs/release.md", "registry.example.org/pypi-proxy:"),
];

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let has_repository = manifest(workspace)?["workspace"]["package"].get("repository").is_some();
    let remaining = remaining(has_repository, matches!(changelog(workspace), Ok(None)));
    if !options.dry_run {
        bail!("a release needs accounts: run `cargo xtask release --dry-run`, then by hand:\n{remaining}");
    }
    let checks = CHECKS.iter().map(|(name, check)| (*name, || test::timed(|| check(workspace))));
    let result = test::report(checks);
    say(&format!("\nremaining steps, by hand:\n{remaining}"));
    result
}

/// Returns the steps that need an account or a decision, in their order.
fn remaining(has_repository: bool, is_dated: bool) -> String {
    let mut steps = Vec::new();
    if !has_repository {
        steps.push("set `repository` of the packages to the public address of the repository".to_owned());
    }
    if !is_dated {
        steps.push(format!("set the date of {VERSION} in CHANGELOG.md and commit"));
    }
    steps.extend([
        "cargo xtask test --full".to_owned(),
        "cargo publish --workspace".to_owned(),
        "twine upload target/dist/release/*.whl".to_owned(),
        format!(
            "skopeo copy oci-archive:target/dist/release/pypi-proxy-{VERSION}.oci.tar \
            docker://REGISTRY/pypi-proxy:{VERSION}"
        ),
        format!("git tag --sign --message v{VERSION} v{VERSION} && git push origin v{VERSION}"),
        "upload the Debian packages, tarballs and checksums in target/dist/release to the page of the tag"
            .to_owned(),
        "cargo xtask site, and copy target/site to a web server".to_owned(),
        format!("set `semver-baseline` in Cargo.toml to \"v{VERSION}\" and commit"),
    ]);
    steps.iter().enumerate().map(|(index, step)| format!("{}. {step}\n", index + 1)).collect()
}

fn manifest(workspace: &Workspace) -> Result<toml::Table> {
    Ok(fs::read_to_string(workspace.root.join("Cargo.toml"))?.parse()?)
}

fn published(workspace: &Workspace) -> Result<Vec<tidy::Package>> {
    Ok(tidy::packages(workspace)?.into_iter().filter(tidy::Package::is_published).collect())
}

fn tree(workspace: &Workspace) -> Result<Skipped> {
    let changes = workspace.git(&["status", "--porcelain"])?;
    ensure!(changes.is_empty(), "changes that are not committed:\n{changes}");
    Ok(None)
}

fn tag(workspace: &Workspace) -> Result<Skipped> {
    let tags = workspace.git(&["tag", "--list", &format!("v{VERSION}")])?;
    ensure!(tags.is_empty(), "the tag v{VERSION} exists");
    Ok(None)
}

/// Compares the version in the dependencies of the workspace, the deployment files and the guides.
fn versions(workspace: &Workspace) -> Result<Skipped> {
    let manifest = manifest(workspace)?;
    let dependencies = &manifest["workspace"]["dependencies"];
    for package in published(workspace)? {
        let own = dependencies.get(&package.name).and_then(|dependency| dependency["version"].as_str());
        ensure!(
            own.is_none_or(|own| own.strip_prefix('=') == Some(VERSION)),
            "Cargo.toml: the dependency {} has not the version ={VERSION}",
            package.name
        );
    }
    for (path, before) in MENTIONS {
        let text = fs::read_to_string(workspace.root.join(path)).with_context(|| path.to_owned())?;
        mention(&text, before, VERSION).with_context(|| path.to_owned())?;
    }
    Ok(None)
}

/// Checks that `version`, or the beginning of it such as `0.1`, follows `before` everywhere in a text.
fn mention(text: &str, before: &str, version: &str) -> Result<()> {
    let mut mentions = text.split(before).skip(1).peekable();
    ensure!(mentions.peek().is_some(), "{:?} is missing", before.trim());
    for rest in mentions {
        // Such as `0.1.0"` or `0.1.0.oci.tar`.
        let found = rest.split(|sign: char| !sign.is_ascii_digit() && sign != '.').next().unwrap_or_default();
        let found = found.trim_end_matches('.');
        ensure!(
            found == version || version.starts_with(&format!("{found}.")),
            "{:?} is followed by {found}, the version is {version}",
            before.trim()
        );
    }
    Ok(())
}

fn changelog(workspace: &Workspace) -> Result<Skipped> {
    let text = fs::read_to_string(workspace.root.join("CHANGELOG.md"))?;
    newest_section(&text, VERSION)
}

/// Checks that the first section of the changelog is that of `version`. Skips the check of its date while it has none.
fn newest_section(text: &str, version: &str) -> Result<Skipped> {
    let heading = text.lines().find_map(|line| line.strip_prefix("## ")).unwrap_or_default();
    let state = heading.strip_prefix(version).and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(')'));
    let state = state
        .with_context(|| format!("CHANGELOG.md begins with {heading:?}, not with {version} and a date"))?;
    if state == "unreleased" {
        return Ok(Some(format!("{version} is unreleased, so it has no date")));
    }
    let lengths =
        state.split('-').map(|part| part.bytes().all(|byte| byte.is_ascii_digit()).then_some(part.len()));
    let is_date = lengths.eq([Some(4), Some(2), Some(2)]);
    ensure!(is_date, "CHANGELOG.md: {state:?} is no date such as 2026-12-31");
    Ok(None)
}

/// Finds dependencies that nothing uses.
pub(crate) fn machete(workspace: &Workspace) -> Result<Skipped> {
    skip!(lacks("cargo-machete"));
    // Not by way of cargo: inside of `cargo run` it would take its own name for a folder.
    let mut command = Command::new("cargo-machete");
    command.args(["--with-metadata", "--skip-target-dir"]).current_dir(&workspace.root);
    finish(command).map(|()| None)
}

/// Creates the packages without building their contents, which takes minutes.
pub(crate) fn package(workspace: &Workspace) -> Result<Skipped> {
    // Changes that are not committed are checked as well.
    let mut command = cargo::command(workspace, &["package", "--quiet", "--no-verify", "--allow-dirty"]);
    for package in published(workspace)? {
        contents(workspace, &package)?;
        command.args(["--package", &package.name]);
    }
    finish(command).map(|()| None)
}

/// Checks that a package contains the files [`PACKAGED`].
fn contents(workspace: &Workspace, package: &tidy::Package) -> Result<()> {
    let mut command = cargo::command(workspace, &["package", "--list", "--allow-dirty", "--package"]);
    let files = succeed(command.arg(&package.name))?.stdout;
    for file in PACKAGED {
        ensure!(files.lines().any(|line| line == file), "the package {} has no {file}", package.name);
    }
    Ok(())
}

/// Creates the packages, builds each with all features from its contents alone, and stops before the upload.
fn publish(workspace: &Workspace) -> Result<Skipped> {
    for package in published(workspace)? {
        contents(workspace, &package)?;
    }
    let mut command = cargo::command(workspace, &["publish", "--dry-run", "--quiet", "--workspace"]);
    // Changes that are not committed fail the check `tree`. The packages lack the profile of the workspace.
    command
        .args(["--all-features", "--allow-dirty", "--target-dir"])
        .arg(&workspace.target)
        .env("CARGO_PROFILE_DEV_DEBUG", "false");
    finish(command).map(|()| None)
}

/// Builds the documentation as docs.rs does: from the packages that [`publish`] unpacked, with an unstable feature of
/// rustdoc that shows which feature an item needs.
fn docs(workspace: &Workspace) -> Result<Skipped> {
    let folder = workspace.target.join("package");
    let (mut members, mut patches) = (Vec::new(), String::new());
    for package in published(workspace)? {
        let path = format!("{}-{VERSION}", package.name);
        ensure!(folder.join(&path).is_dir(), "the package {path} is not unpacked");
        patches += &format!("{} = {{ path = {path:?} }}\n", package.name);
        if package.is_library() {
            members.push(path);
        }
    }
    let manifest =
        format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}");
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(workspace.root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut command = cargo::command(workspace, &["doc", "--quiet", "--no-deps", "--lib", "--all-features"]);
    command
        .args(["--workspace", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(workspace.target.join("docs-rs"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTDOCFLAGS", "--cfg docsrs -D warnings");
    finish(command).map(|()| None)
}

/// Compares the public API of the libraries with that of the commit or tag `semver-baseline` in Cargo.toml.
pub(crate) fn semver(workspace: &Workspace) -> Result<Skipped> {
    let missing = lacks("cargo-semver-checks");
    skip!(missing.map(|missing| format!("{missing} (cargo install --locked {SEMVER_CHECKS})")));
    let manifest = manifest(workspace)?;
    let baseline = manifest["workspace"]["metadata"]["semver-baseline"].as_str();
    let baseline = baseline.context("Cargo.toml: workspace.metadata.semver-baseline is no string")?;
    let is_shallow = workspace.git(&["rev-parse", "--is-shallow-repository"])?.trim() == "true";
    let mut find = Command::new("git");
    if !works(find.args(["cat-file", "-e", &format!("{baseline}^{{commit}}")]).current_dir(&workspace.root)) {
        ensure!(is_shallow, "Cargo.toml: there is no commit {baseline}, the value of semver-baseline");
        return Ok(Some(format!("this clone has no history, so it lacks the commit {baseline}")));
    }
    let mut command =
        cargo::command(workspace, &["semver-checks", "--all-features", "--baseline-rev", baseline]);
    for package in published(workspace)?.iter().filter(|package| package.is_library()) {
        command.args(["--package", &package.name]);
    }
    finish(command).map(|()| None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_section_is_that_of_the_version() {
        let check = |heading: &str| {
            newest_section(&format!("# Changelog\n\n{heading}\n\n## 0.1.0 (2026-12-01)\n"), "0.2.0")
        };
        assert_eq!(check("## 0.2.0 (2026-12-31)").unwrap(), None);
        assert!(check("## 0.2.0 (unreleased)").unwrap().is_some_and(|reason| reason.contains("0.2.0")));
        for state in ["0.2.0", "0.2.0 (soon)", "0.2.0 (31.12.2026)", "0.2 (2026-12-31)", "Unreleased", ""] {
            assert!(check(&format!("## {state}")).is_err(), "{state}");
        }
    }

    #[test]
    fn mentions_are_the_version_or_its_beginning() {
        let check = |text| mention(text, "\nversion: ", "0.12.3");
        for text in ["a: 1\nversion: 0.12.3\n", "\nversion: 0.12\n", "\nversion: 0.12.3.tar\nversion: 0"] {
            check(text).unwrap();
        }
        for text in
            ["a: 1\n", "\nversion: 0.1\n", "\nversion: 0.12.30\n", "\nversion: 0.12.3\nversion: 0.12.4\n"]
        {
            assert!(check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn this_repository_has_one_version() {
        versions(&Workspace::find().unwrap()).unwrap();
    }
}
