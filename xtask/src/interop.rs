//! The step `interop` of the gate: tests beside programs in other languages, the official SDKs among them.
//!
//! What they need is installed below the target directory, in the versions that the tests pin, and once only. A language
//! that is not here, or whose registry cannot be reached, is told and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use crate::{cargo, note, process};

/// An installation that takes longer is taken for one that never ends.
const INSTALL_LIMIT: Duration = Duration::from_secs(300);

/// The tests of one package with what they run beside.
struct Suite {
    /// The package that pins what the tests run beside.
    package: &'static str,
    /// The test targets.
    tests: &'static [&'static str],
    peers: &'static [Peer],
}

/// What is installed of one language for a suite.
struct Peer {
    language: Language,
    /// The pinned versions, below the package's tests.
    pins: &'static str,
    /// Where the tests look for what is installed.
    variable: &'static str,
}

/// A language that peers are written in.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    Python,
    Node,
}

const SUITES: [Suite; 3] = [
    Suite {
        package: "perplexity-mock",
        tests: &["sdks"],
        peers: &[
            Peer {
                language: Language::Python,
                pins: "sdk/python/requirements.txt",
                variable: "PERPLEXITY_PYTHON",
            },
            Peer {
                language: Language::Node,
                pins: "sdk/node/package.json",
                variable: "PERPLEXITY_NODE_MODULES",
            },
        ],
    },
    Suite {
        package: "psrp",
        // `cli` has a stand-in for PowerShell, `ssh` the server of OpenSSH, `wsman` a service that pypsrp agrees with,
        // `psrp_server` the client of psrpcore.
        tests: &["peers", "live_client", "cli", "ssh", "wsman", "psrp_server"],
        peers: &[Peer {
            language: Language::Python,
            pins: "peers/requirements.txt",
            variable: "PSRP_PYTHON",
        }],
    },
    Suite {
        package: "pypi-proxy",
        tests: &["clients"],
        peers: &[Peer {
            language: Language::Python,
            pins: "clients/requirements.txt",
            variable: "PYPI_CLIENTS_PYTHON",
        }],
    },
];

impl Language {
    fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Node => "Node.js",
        }
    }

    /// The programs without which nothing can be installed.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["python3"],
            Self::Node => &["node", "npm"],
        }
    }

    /// What the tests are told, in the directory of the installation.
    fn product(self) -> &'static str {
        match self {
            Self::Python if cfg!(windows) => "venv/Scripts/python.exe",
            Self::Python => "venv/bin/python",
            Self::Node => "node_modules",
        }
    }

    fn install(self, directory: &Path) -> Vec<Command> {
        match self {
            Self::Python => {
                let mut venv = Command::new("python3");
                venv.args(["-m", "venv", "--clear", "venv"]);
                let mut pip = Command::new(directory.join(self.product()));
                pip.args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--retries",
                    "1",
                    "--disable-pip-version-check",
                ]);
                pip.args(["--requirement", "requirements.txt"]);
                vec![venv, pip]
            }
            Self::Node => {
                let mut npm = Command::new("npm");
                npm.args(["install", "--loglevel=error", "--fetch-retries=1", "--no-audit", "--no-fund"]);
                npm.arg("--ignore-scripts");
                vec![npm]
            }
        }
    }
}

/// Runs the tests with every language that can be had. Gives the reasons of those that cannot.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    let mut command = cargo::command(workspace, &["test"]);
    command.args(cargo::WHOLE);
    for suite in &SUITES {
        let mut is_any_ready = false;
        for peer in suite.peers {
            let pins = workspace.root.join("crates").join(suite.package).join("tests").join(peer.pins);
            let place = workspace.target.join("interop").join(suite.package).join(peer.language.name());
            match install(peer.language, &pins, &place) {
                Ok(product) => {
                    command.env(peer.variable, product);
                    is_any_ready = true;
                }
                Err(error) => {
                    let reason = format!("{}, {}: {error:#}", suite.package, peer.language.name());
                    note(&reason);
                    missing.push(reason);
                    command.env_remove(peer.variable);
                }
            }
        }
        if is_any_ready {
            command.args(suite.tests.iter().flat_map(|test| ["--test", test]));
        }
    }
    if command.get_args().any(|argument| argument == "--test") {
        // And with it the example that `psrp_server` starts.
        cargo::tested_program(workspace, "psrp")?;
        let status = command.stdin(Stdio::null()).status().context("cannot start cargo")?;
        ensure!(status.success(), "the tests: {status}");
    }
    Ok(missing)
}

/// Installs what a file pins, in a folder, unless these versions are installed. Gives the interpreter of Python, or the
/// folder of modules of Node.js.
pub(crate) fn install(language: Language, pins: &Path, directory: &Path) -> Result<PathBuf> {
    for program in language.programs() {
        process::first_line(program, &["--version"])
            .with_context(|| format!("{program} cannot be run here"))?;
    }
    let text = fs::read(pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let product = directory.join(language.product());
    // Written last, so that an installation that was broken off begins again.
    let done = directory.join("installed");
    if product.exists() && fs::read(&done).is_ok_and(|installed| installed == text) {
        return Ok(product);
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let name = pins.file_name().context("pins are a file")?;
    fs::write(directory.join(name), &text)?;
    for mut command in language.install(directory) {
        let finished = process::run(command.current_dir(directory), directory, INSTALL_LIMIT)?;
        ensure!(finished.status.success(), "cannot be installed: {}", finished.complaint());
    }
    fs::write(done, text)?;
    Ok(product)
}
