//! Python wheels of the programs, which run on every Linux with glibc 2.17 or later. The files `pyproject.toml` beside the
//! crates describe them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Result, ensure};

use super::{CRATES, Dist, VERSION, names};
use crate::process::{self, Skipped};
use crate::workspace::Workspace;

/// The oldest platform of Python that the standard library of Rust supports.
const PLATFORM: &str = "manylinux_2_17";
/// Validates the metadata of a wheel as PyPI does.
const VALIDATE: &str = "\
import sys, zipfile
from packaging.metadata import Metadata
with zipfile.ZipFile(sys.argv[1]) as wheel:
    text = wheel.read(next(name for name in wheel.namelist() if name.endswith('/METADATA')))
metadata = Metadata.from_email(text, validate=True)
assert metadata.summary and metadata.description and metadata.license_expression, metadata
assert metadata.license_files == ['LICENSE-APACHE', 'LICENSE-MIT'], metadata
";

/// Returns the compiler's name of this machine.
pub(super) fn target() -> String {
    format!("{}-unknown-linux-gnu", env::consts::ARCH)
}

pub(super) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("dist/wheels")
}

/// Builds the program of a package, and its wheel in a folder.
pub(super) fn create(dist: &Dist<'_>, python: &Path, package: &str, out: &Path) -> Result<()> {
    let mut maturin = Command::new(python.with_file_name("maturin"));
    // zig is a package of this interpreter.
    maturin.args(["build", "--zig", "--target", &target()]).env("CARGO_ZIGBUILD_PYTHON_PATH", python);
    maturin.args(["--compatibility", PLATFORM, "--auditwheel", "check"]);
    maturin.arg("--manifest-path").arg(format!("crates/{package}/Cargo.toml")).arg("--out").arg(out);
    maturin.current_dir(&dist.workspace.root).env("XDG_CACHE_HOME", dist.workspace.target.join("dist/cache"));
    dist.finish_build(maturin)
}

pub(super) fn build(dist: &Dist<'_>, out: &Path) -> Result<Skipped> {
    if let Err(reason) = &dist.tools {
        return Ok(Some(format!("{reason:#}")));
    }
    let folder = folder(dist.workspace);
    for name in names(&folder)? {
        fs::copy(folder.join(&name), out.join(name))?;
    }
    Ok(None)
}

/// Installs the wheels with pip, uv and pipx, and a project through the installed proxy.
pub(super) fn test(dist: &Dist<'_>) -> Result<Skipped> {
    let Ok(python) = &dist.tools else { return Ok(None) };
    let tool = |name| python.with_file_name(name);
    let scratch = Scratch { folder: dist.workspace.target.join("dist/test-wheels"), python };
    process::empty(&scratch.folder)?;
    let folder = folder(dist.workspace);

    let again = scratch.folder.join("again");
    for (package, _) in CRATES {
        create(dist, python, package, &again)?;
    }
    dist.compare(&again)?;
    let tag = format!("tag: \"{PLATFORM}_{}\"", env::consts::ARCH);
    for name in names(&folder)? {
        let wheel = folder.join(name);
        let shown = scratch.run(&tool("auditwheel"), &[OsStr::new("show"), wheel.as_os_str()])?;
        // It breaks lines anywhere.
        ensure!(shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&tag), "auditwheel: {shown}");
        scratch.run(python, &[OsStr::new("-c"), OsStr::new(VALIDATE), wheel.as_os_str()])?;
    }

    let venv = scratch.folder.join("venv");
    scratch.run(python, &[OsStr::new("-m"), OsStr::new("venv"), venv.as_os_str()])?;
    let from = format!("--find-links={}", folder.display());
    let pip = ["install", "--no-index", &from, "tightwire-pypi-proxy", "psrp"];
    scratch.run(&venv.join("bin/pip"), &pip)?;
    for (_, name) in CRATES {
        let is_same = fs::read(venv.join("bin").join(name))? == fs::read(dist.program(name))?;
        ensure!(is_same, "the wheel has another {name} than the other packages");
    }
    let script = dist.workspace.root.join("xtask/src/dist/wheels/install_through.py");
    scratch.run(&venv.join("bin/python"), &[script, scratch.folder.join("through")])?;
    let pipx = ["install", "--pip-args", &format!("--no-index {from}"), "tightwire-pypi-proxy", "psrp"];
    scratch.run(&tool("pipx"), &pipx)?;
    for bin in [venv.join("bin"), scratch.folder.join(".local/bin")] {
        for name in ["pypi-proxy", "tightwire-pypi-proxy", "psrp"] {
            scratch.check_version(&bin.join(name), &["--version"])?;
        }
    }
    let uvx = ["--no-index", &from, "tightwire-pypi-proxy", "--version"];
    scratch.check_version(&tool("uvx"), &uvx)?;
    Ok(None)
}

/// Where the wheels are installed.
struct Scratch<'tools> {
    folder: PathBuf,
    python: &'tools Path,
}

impl Scratch<'_> {
    /// Runs a program with its settings and caches below the folder. Returns its output.
    fn run<A: AsRef<OsStr>>(&self, program: &Path, arguments: &[A]) -> Result<String> {
        let mut command = Command::new(program);
        // Only these folders, because pip runs rustc if it finds it: rustup would install a toolchain in this home folder.
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", &self.folder).env("UV_PYTHON", self.python);
        Ok(process::succeed(&mut command)?.stdout)
    }

    fn check_version(&self, program: &Path, arguments: &[&str]) -> Result<()> {
        let version = self.run(program, arguments)?;
        ensure!(version.trim_end().ends_with(VERSION), "{}: {version}", program.display());
        Ok(())
    }
}
