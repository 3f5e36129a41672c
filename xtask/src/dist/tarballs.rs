//! A tarball of each program, and the list of its dependencies (SBOM).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::documents::{self, scratch};
use super::{CRATES, Dist, VERSION};
use crate::cargo;
use crate::process::{self, Skipped, succeed};

/// For each program a dependency, and an optional dependency that no feature enables.
const DEPENDENCIES: [(&str, &str, &str); 2] = [("pypi-proxy", "hyper", "quinn"), ("psrp", "russh", "ring")];

pub(super) fn build(dist: &Dist<'_>, out: &Path) -> Result<Skipped> {
    if process::first_line("tar", &["--version"]).is_none_or(|version| !version.contains("GNU")) {
        return Ok(Some("there is no GNU tar".to_owned()));
    }
    for (package, name) in CRATES {
        pack(dist, package, name, out)?;
        let list = serde_json::to_vec_pretty(&dependencies(dist, package, name)?)?;
        fs::write(out.join(list_name(name)), list)?;
    }
    Ok(None)
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
        let units = dist.workspace.root.join("docs/deploy/systemd");
        succeed(Command::new("cp").arg("-R").arg(units).arg(&folder))?;
    }
    let title = title(name)?;
    let mut tar = dist.tar(&out.join(format!("{title}.tar.gz")))?;
    // gzip writes neither a name nor a time for data from a pipe.
    let level = if dist.is_release { 9 } else { 1 };
    tar.arg(format!("--use-compress-program=gzip -{level}")).arg(format!("--transform=s,^release,{title},"));
    tar.arg("--directory").arg(folder.parent().context("a staged folder has a parent")?).arg("release");
    succeed(&mut tar).map(drop)
}

/// Returns the dependencies of a program with versions, licences and checksums, in the format CycloneDX.
fn dependencies(dist: &Dist<'_>, package: &str, name: &str) -> Result<Value> {
    let lock: toml::Table = fs::read_to_string(dist.workspace.root.join("Cargo.lock"))?.parse()?;
    let locked = lock["package"].as_array().context("Cargo.lock has no packages")?;
    let triple = cargo::host_triple()?;
    let arguments = ["tree", "--locked", "--edges=normal,build", "--prefix=depth", "--format=\t{p}\t{l}"];
    let mut tree = cargo::command(dist.workspace, &arguments);
    let output = succeed(tree.args(["--target", &triple, "--package", package]))?.stdout;
    let (mut path, mut components) = (Vec::new(), BTreeMap::new());
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Lines such as `1⇥bytes v1.12.0⇥MIT (*)`. The children of one with `(*)` are below its first line.
    for line in output.lines() {
        let mut fields = line.split('\t');
        let depth: usize = fields.next().unwrap_or_default().parse()?;
        let mut words = fields.next().unwrap_or_default().split(' ');
        let (crate_name, version) = words.next().zip(words.next()).context("cargo names no version")?;
        let version = version.trim_start_matches('v');
        let license = fields.next().unwrap_or_default().trim_end_matches(" (*)").replace('/', " OR ");
        let id = format!("pkg:cargo/{crate_name}@{version}");
        path.truncate(depth);
        if let Some(parent) = path.last() {
            edges.entry(String::clone(parent)).or_default().insert(id.clone());
        }
        path.push(id.clone());
        edges.entry(id.clone()).or_default();
        let is_same = |one: &&toml::Value| {
            one["name"].as_str() == Some(crate_name) && one["version"].as_str() == Some(version)
        };
        let checksum = locked.iter().find(is_same).and_then(|one| one.get("checksum")?.as_str());
        let hashes: Vec<Value> =
            checksum.iter().map(|sum| json!({ "alg": "SHA-256", "content": sum })).collect();
        let component = json!({
            "type": "library", "bom-ref": id, "purl": id, "name": crate_name, "version": version,
            "licenses": [{ "expression": license }], "hashes": hashes,
        });
        components.insert(id, component);
    }
    let mut program =
        path.first().and_then(|id| components.remove(id)).context("cargo tree prints nothing")?;
    program["type"] = json!("application");
    program["name"] = json!(name);
    let edges = edges.iter().map(|(id, others)| json!({ "ref": id, "dependsOn": others }));
    Ok(json!({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": { "component": program },
        "components": components.into_values().collect::<Vec<_>>(), "dependencies": edges.collect::<Vec<_>>(),
    }))
}

/// Checks the contents of the packages, that their programs run, and that another build has the same bytes.
pub(super) fn test(dist: &Dist<'_>) -> Result<Skipped> {
    let missing = documents::test(dist)?;
    let again = scratch(dist).join("again");
    process::empty(&again)?;
    build(dist, &again)?;
    dist.compare(&again)?;
    for (name, used, unused) in DEPENDENCIES {
        test_tarball(dist, name, &again)?;
        test_list(&fs::read_to_string(dist.out.join(list_name(name)))?, name, used, unused)?;
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
    ensure!(entry["hashes"][0]["content"].is_string(), "the SBOM has only {entry}");
    ensure!(find(unused).is_none(), "{unused} is in the SBOM of {program}");
    for component in components {
        ensure!(component["licenses"][0]["expression"] != "", "the SBOM has no licence of {component}");
    }
    Ok(())
}
