//! A tarball of each program, the list of its dependencies (SBOM), and the checksums of all packages.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::documents::{self, scratch};
use super::{CRATES, Dist, Profile};
use crate::cargo;
use crate::process::{self, Skipped, is_installed, succeed};

/// File with the checksums of all packages.
const CHECKSUMS: &str = "SHA256SUMS";
/// Version of the programs.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// For each program a dependency, and an optional dependency that no feature enables.
const DEPENDENCIES: [(&str, &str, &str); 2] = [("pypi-proxy", "hyper", "quinn"), ("psrp", "russh", "ring")];

pub(super) fn build(dist: &Dist<'_>) -> Result<Skipped> {
    build_into(dist, &dist.out)
}

fn build_into(dist: &Dist<'_>, out: &Path) -> Result<Skipped> {
    if process::first_line("tar", &["--version"]).is_none_or(|version| !version.contains("GNU")) {
        return Ok(Some("there is no GNU tar".to_owned()));
    }
    for (package, name) in CRATES {
        pack(dist, package, name, out)?;
        if is_installed("cargo-cyclonedx") {
            let list = serde_json::to_vec_pretty(&dependencies(dist, package, name)?)?;
            fs::write(out.join(list_name(name)), list)?;
        }
    }
    Ok((!is_installed("cargo-cyclonedx")).then(|| "there is no cargo-cyclonedx for the SBOM".to_owned()))
}

/// Returns the name of a tarball without its extension.
fn title(name: &str) -> Result<String> {
    Ok(format!("{name}-{VERSION}-{}", cargo::host_triple()?))
}

fn list_name(name: &str) -> String {
    format!("{name}-{VERSION}.cdx.json")
}

fn pack(dist: &Dist<'_>, package: &str, name: &str, out: &Path) -> Result<()> {
    let folder = documents::stage(dist, package, name)?;
    if name == "pypi-proxy" {
        let units = folder.join("systemd");
        fs::create_dir(&units)?;
        for entry in fs::read_dir(dist.workspace.root.join("docs/deploy/systemd"))? {
            let entry = entry?;
            fs::copy(entry.path(), units.join(entry.file_name()))?;
        }
    }
    let title = title(name)?;
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=u+w,go+rX,go-w",
    ]);
    // gzip writes neither a name nor a time for data from a pipe.
    let level = if dist.profile == Profile::Release { 9 } else { 1 };
    tar.arg(format!("--use-compress-program=gzip -{level}")).arg("--format=gnu");
    tar.arg(format!("--mtime=@{}", dist.date()?)).arg(format!("--transform=s,^release,{title},"));
    tar.arg("--file").arg(out.join(format!("{title}.tar.gz")));
    tar.arg("--directory").arg(folder.parent().context("a staged folder has a parent")?).arg("release");
    succeed(&mut tar).map(drop)
}

/// Returns the dependencies of a program with versions and licences, in the format CycloneDX.
///
/// cargo-cyclonedx writes beside the manifests of all members, and lists what any of them uses. Therefore it gets a
/// workspace with only this program. It also lists optional dependencies that no feature enables, which are removed.
fn dependencies(dist: &Dist<'_>, package: &str, name: &str) -> Result<Value> {
    let (root, copy) = (&dist.workspace.root, scratch(dist).join("sbom"));
    process::empty(&copy)?;
    fs::copy(root.join("Cargo.lock"), copy.join("Cargo.lock"))?;
    let mut workspace: toml::Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    workspace["workspace"]["members"] = toml::Value::from(vec![format!("crates/{package}")]);
    fs::write(copy.join("Cargo.toml"), workspace.to_string())?;
    succeed(Command::new("cp").args(["--recursive", "--symbolic-link"]).arg(root.join("crates")).arg(&copy))?;
    let triple = cargo::host_triple()?;
    let folder = copy.join("crates").join(package);
    let mut command = Command::new("cargo-cyclonedx");
    command.args([
        "cyclonedx",
        "--format=json",
        "--spec-version=1.5",
        "--all",
        "--describe=binaries",
        "--target",
    ]);
    command.args([&triple, "--manifest-path"]).arg(folder.join("Cargo.toml"));
    command.env("SOURCE_DATE_EPOCH", dist.date()?).env("CARGO_NET_OFFLINE", "true");
    succeed(&mut command)?;
    let text = fs::read_to_string(folder.join(format!("{name}_bin.cdx.json")))?;
    let mut list: Value = serde_json::from_str(&text.replace(&format!("{}/", copy.display()), ""))?;

    let mut tree =
        cargo::command(dist.workspace, &["tree", "--locked", "--edges=normal,build", "--prefix=none"]);
    tree.args(["--format={p}", "--target", &triple, "--package", package]);
    // Lines such as `bytes v1.12.0` or `psrp v0.1.0 (PATH)`.
    let output = succeed(&mut tree)?.stdout;
    let used: HashSet<(&str, &str)> = output
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(" v")?;
            Some((name, rest.split(' ').next()?))
        })
        .collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut ids = HashSet::from([text(&list["metadata"]["component"]["bom-ref"])]);
    let components = list["components"].as_array_mut().context("the SBOM has no components")?;
    components.retain(|component| {
        let is_used = used.contains(&(&*text(&component["name"]), &*text(&component["version"])));
        is_used && ids.insert(text(&component["bom-ref"]))
    });
    let edges = list["dependencies"].as_array_mut().context("the SBOM has no dependencies")?;
    edges.retain(|edge| ids.contains(&text(&edge["ref"])));
    for edge in edges {
        if let Some(targets) = edge["dependsOn"].as_array_mut() {
            targets.retain(|target| ids.contains(&text(target)));
        }
    }
    Ok(list)
}

/// Writes the checksums of all packages.
pub(super) fn write_checksums(dist: &Dist<'_>) -> Result<()> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&dist.out)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && entry.file_name() != CHECKSUMS {
            files.push(entry.file_name().into());
        }
    }
    files.sort();
    let sums = succeed(Command::new("sha256sum").args(files).current_dir(&dist.out))?;
    Ok(fs::write(dist.out.join(CHECKSUMS), sums.stdout)?)
}

/// Compares all packages with their checksums.
pub(super) fn verify_checksums(dist: &Dist<'_>) -> Result<()> {
    let mut command = Command::new("sha256sum");
    succeed(command.args(["--check", "--strict", CHECKSUMS]).current_dir(&dist.out)).map(drop)
}

/// Checks the contents of the packages, that their programs run, and that another build has the same bytes.
pub(super) fn test(dist: &Dist<'_>) -> Result<Skipped> {
    let missing = documents::test(dist)?;
    let again = scratch(dist).join("again");
    process::empty(&again)?;
    build_into(dist, &again)?;
    for entry in fs::read_dir(&again)? {
        let entry = entry?;
        let is_equal = fs::read(entry.path())? == fs::read(dist.out.join(entry.file_name()))?;
        ensure!(is_equal, "{} differs between two builds", entry.file_name().display());
    }
    for (name, used, unused) in DEPENDENCIES {
        test_tarball(dist, name, &again)?;
        if is_installed("cargo-cyclonedx") {
            test_list(&fs::read_to_string(dist.out.join(list_name(name)))?, name, used, unused)?;
        }
    }
    Ok(missing)
}

fn test_tarball(dist: &Dist<'_>, name: &str, folder: &Path) -> Result<()> {
    let title = title(name)?;
    let mut tar = Command::new("tar");
    tar.arg("--extract").arg("--file").arg(dist.out.join(format!("{title}.tar.gz"))).arg("--directory");
    succeed(tar.arg(folder))?;
    let root = folder.join(&title);
    let version = succeed(Command::new(root.join(name)).arg("--version"))?.stdout;
    ensure!(version.trim() == format!("{name} {VERSION}"), "the program in {title} prints {version}");
    let unit = (name == "pypi-proxy").then_some("systemd/pypi-proxy.service");
    for file in
        ["README.md", "LICENSE-MIT", "LICENSE-APACHE", &format!("man/{name}.1")].into_iter().chain(unit)
    {
        ensure!(root.join(file).is_file(), "{title} has no {file}");
    }
    Ok(())
}

fn test_list(text: &str, program: &str, used: &str, unused: &str) -> Result<()> {
    let list: Value = serde_json::from_str(text)?;
    let component = &list["metadata"]["component"];
    ensure!(
        component["name"] == program && component["version"] == VERSION,
        "the SBOM describes {component}"
    );
    let components = list["components"].as_array().context("the SBOM has no components")?;
    let find = |name: &str| components.iter().find(|component| component["name"] == name);
    let entry = find(used).with_context(|| format!("{used} is not in the SBOM of {program}"))?;
    ensure!(entry["version"].is_string() && entry["licenses"].is_array(), "the SBOM has only {entry}");
    ensure!(find(unused).is_none(), "{unused} is in the SBOM of {program}");
    ensure!(list["serialNumber"].is_null(), "the serial number differs between builds");
    // Paths of this machine.
    ensure!(!text.contains("file:///"), "the SBOM of {program} contains absolute paths");
    Ok(())
}
