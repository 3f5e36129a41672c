//! The step `sdks` of the gate: the official SDKs in other languages, against our server of their API.
//!
//! They are installed below the target directory, in the versions that the tests pin, and once only. A language that is
//! not here, or whose registry cannot be reached, is told and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use crate::{cargo, note, process};

/// An installation that takes longer is taken for one that never ends.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);

/// One language.
struct Sdk {
    name: &'static str,
    /// The pinned versions, below the tests of the server.
    pins: &'static str,
    /// The programs without which nothing can be installed.
    programs: &'static [&'static str],
    /// Where the tests look for what is installed.
    variable: &'static str,
    /// That, in the directory of the installation.
    product: &'static str,
    install: fn(&Path) -> Vec<Command>,
}

const SDKS: [Sdk; 2] = [
    Sdk {
        name: "Python",
        pins: "python/requirements.txt",
        programs: &["python3"],
        variable: "PERPLEXITY_PYTHON",
        product: if cfg!(windows) { "venv/Scripts/python.exe" } else { "venv/bin/python" },
        install: |directory| {
            let mut venv = Command::new("python3");
            venv.args(["-m", "venv", "--clear", "venv"]);
            let python = SDKS[0].product;
            let mut pip = Command::new(directory.join(python));
            pip.args(["-m", "pip", "install", "--quiet", "--retries", "1", "--disable-pip-version-check"]);
            pip.args(["--requirement", "requirements.txt"]);
            vec![venv, pip]
        },
    },
    Sdk {
        name: "Node.js",
        pins: "node/package.json",
        programs: &["node", "npm"],
        variable: "PERPLEXITY_NODE_MODULES",
        product: "node_modules",
        install: |_| {
            let mut npm = Command::new("npm");
            npm.args(["install", "--loglevel=error", "--fetch-retries=1", "--no-audit", "--no-fund"]);
            npm.arg("--ignore-scripts");
            vec![npm]
        },
    },
];

/// Runs the tests with every SDK that can be had. Gives the reasons of those that cannot.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut tests = cargo::command(workspace, &["test", "--package", "perplexity-mock", "--test", "sdks"]);
    for sdk in &SDKS {
        match ready(sdk, workspace) {
            Ok(product) => tests.env(sdk.variable, product),
            Err(error) => {
                let reason = format!("{}: {error:#}", sdk.name);
                note(&reason);
                missing.push(reason);
                tests.env_remove(sdk.variable)
            }
        };
    }
    if missing.len() < SDKS.len() {
        let status = tests.stdin(std::process::Stdio::null()).status().context("cannot start cargo")?;
        ensure!(status.success(), "{status}");
    }
    Ok(missing)
}

/// Installs an SDK unless these versions are installed, and gives what the tests are told.
fn ready(sdk: &Sdk, workspace: &Workspace) -> Result<PathBuf> {
    for program in sdk.programs {
        process::first_line(program, &["--version"])
            .with_context(|| format!("{program} cannot be run here"))?;
    }
    let source = workspace.root.join("crates/perplexity-mock/tests/sdk").join(sdk.pins);
    let pins = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
    let language = Path::new(sdk.pins).parent().context("pins lie in a directory per language")?;
    let directory = workspace.target.join("sdk").join(language);
    let product = directory.join(sdk.product);
    // Written last, so that an installation that was broken off begins again.
    let done = directory.join("installed");
    if product.exists() && fs::read(&done).is_ok_and(|installed| installed == pins) {
        return Ok(product);
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let name = source.file_name().context("pins are a file")?;
    fs::write(directory.join(name), &pins)?;
    for mut command in (sdk.install)(&directory) {
        let finished = process::run(command.current_dir(&directory), &directory, INSTALL_LIMIT)?;
        ensure!(finished.status.success(), "cannot be installed: {}", finished.complaint());
    }
    fs::write(done, pins)?;
    Ok(product)
}
