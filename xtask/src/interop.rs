//! The step `interop` of the gate: tests beside programs in other languages, the official SDKs among them.
//!
//! What they need is installed below the target directory, in the versions that the tests pin, and once only. A language
//! that is not here, or whose registry cannot be reached, is told and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use crate::{cargo, note, process};

/// An installation that takes longer is taken for one that never ends. Some are compiled.
const INSTALL_LIMIT: Duration = Duration::from_secs(900);

/// The tests of one package with what they run beside.
pub(crate) struct Suite {
    /// The folder of what is installed.
    name: &'static str,
    /// The package that pins what the tests run beside.
    package: &'static str,
    /// What cargo is told, one command after the other.
    commands: &'static [&'static [&'static str]],
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

#[derive(Clone, Copy)]
enum Language {
    Python,
    Node,
    /// Programs, each a line with its package and version.
    Go,
    /// Jars, each a line with its coordinates.
    Maven,
}

/// What fetches jars.
const MAVEN_COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

const SUITES: [Suite; 4] = [
    Suite {
        name: "perplexity-mock",
        package: "perplexity-mock",
        commands: &[&["test", "--package", "perplexity-mock", "--test", "sdks"]],
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
        name: "psrp",
        package: "psrp",
        commands: &[
            &["test", "--package", "psrp", "--all-features", "--test", "peers"],
            &["test", "--package", "psrp", "--all-features", "--test", "live_client"],
            // The program `psrp` with the stand-in for PowerShell.
            &["test", "--package", "psrp", "--all-features", "--test", "cli"],
            // With the server of OpenSSH.
            &["test", "--package", "psrp", "--all-features", "--test", "ssh"],
            // The client of WS-Management with a service that pypsrp agrees with.
            &["test", "--package", "psrp", "--all-features", "--test", "wsman"],
            // The client of psrpcore with the example.
            &["build", "--package", "examples", "--example", "psrp_server"],
            &["test", "--package", "examples", "--test", "psrp_server"],
        ],
        peers: &[Peer {
            language: Language::Python,
            pins: "peers/requirements.txt",
            variable: "PSRP_PYTHON",
        }],
    },
    Suite {
        name: "pypi-proxy",
        package: "pypi-proxy",
        commands: &[&["test", "--package", "pypi-proxy", "--test", "clients"]],
        peers: &[Peer {
            language: Language::Python,
            pins: "clients/requirements.txt",
            variable: "PYPI_CLIENTS_PYTHON",
        }],
    },
    FLEET,
];

/// The proxy with S3 servers and bad networks.
pub(crate) const FLEET: Suite = Suite {
    name: "fleet",
    package: "pypi-proxy",
    commands: &[&["test", "--package", "pypi-proxy", "--test", "fleet"]],
    peers: &[
        Peer { language: Language::Maven, pins: "fleet/maven.txt", variable: "FLEET_JARS" },
        Peer { language: Language::Go, pins: "fleet/go.txt", variable: "FLEET_GO" },
        Peer { language: Language::Python, pins: "fleet/requirements.txt", variable: "FLEET_PYTHON" },
    ],
};

/// An S3 server that takes long to build: for those who ask for it.
pub(crate) const VERSITYGW: Suite = Suite {
    name: "versitygw",
    package: "pypi-proxy",
    commands: &[],
    peers: &[Peer { language: Language::Go, pins: "fleet/versitygw.txt", variable: "FLEET_VERSITYGW" }],
};

impl Language {
    fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Node => "Node.js",
            Self::Go => "Go",
            Self::Maven => "Maven",
        }
    }

    /// The programs without which nothing can be installed, and what they are asked to see whether they are here.
    fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Python => &[("python3", "--version")],
            Self::Node => &[("node", "--version"), ("npm", "--version")],
            Self::Go => &[("go", "version")],
            Self::Maven => &[("java", "--version"), ("mvn", "--version")],
        }
    }

    /// What the tests are told, in the directory of the installation.
    fn product(self) -> &'static str {
        match self {
            Self::Python if cfg!(windows) => "venv/Scripts/python.exe",
            Self::Python => "venv/bin/python",
            Self::Node => "node_modules",
            Self::Go => "bin",
            Self::Maven => "jars",
        }
    }

    fn install(self, directory: &Path, pins: &str) -> Vec<Command> {
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
            Self::Go => {
                let install = |package| {
                    let mut go = Command::new("go");
                    go.args(["install", package]).env("GOBIN", directory.join(self.product()));
                    go
                };
                pins.lines().map(install).collect()
            }
            Self::Maven => {
                let copy = |artifact| {
                    let mut mvn = Command::new("mvn");
                    mvn.args(["-q", "-B", "-ntp", MAVEN_COPY, "-Dmdep.stripVersion=true"]);
                    mvn.args([
                        format!("-Dartifact={artifact}"),
                        format!("-DoutputDirectory={}", self.product()),
                    ]);
                    mvn
                };
                pins.lines().map(copy).collect()
            }
        }
    }
}

/// Runs the tests with every language that can be had. Gives the reasons of those that cannot.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    let mut missing = Vec::new();
    for suite in &SUITES {
        let variables = suite.install(workspace, &mut missing);
        if variables.iter().all(|(_, product)| product.is_none()) {
            continue;
        }
        for arguments in suite.commands {
            let mut command = cargo::command(workspace, arguments);
            for (variable, product) in &variables {
                match product {
                    Some(product) => command.env(variable, product),
                    None => command.env_remove(variable),
                };
            }
            let status = command.stdin(std::process::Stdio::null()).status().context("cannot start cargo")?;
            ensure!(status.success(), "{}: {status}", arguments.join(" "));
        }
    }
    Ok(missing)
}

impl Suite {
    /// What the tests are told by variables: the places of what is installed. What is not has its reason told.
    pub(crate) fn install(
        &self,
        workspace: &Workspace,
        missing: &mut Vec<String>,
    ) -> Vec<(&'static str, Option<PathBuf>)> {
        let install = |peer: &Peer| match install(self, peer, workspace) {
            Ok(product) => (peer.variable, Some(product)),
            Err(error) => {
                let reason = format!("{}, {}: {error:#}", self.name, peer.language.name());
                note(&reason);
                missing.push(reason);
                (peer.variable, None)
            }
        };
        self.peers.iter().map(install).collect()
    }
}

/// Installs what is pinned unless these versions are installed, and gives what the tests are told.
fn install(suite: &Suite, peer: &Peer, workspace: &Workspace) -> Result<PathBuf> {
    for &(program, version) in peer.language.programs() {
        process::first_line(program, &[version]).with_context(|| format!("{program} cannot be run here"))?;
    }
    let source = workspace.root.join("crates").join(suite.package).join("tests").join(peer.pins);
    let pins = fs::read_to_string(&source).with_context(|| format!("cannot read {}", source.display()))?;
    let directory = workspace.target.join("interop").join(suite.name).join(peer.language.name());
    let product = directory.join(peer.language.product());
    // Written last, so that an installation that was broken off begins again.
    let done = directory.join("installed");
    if product.exists() && fs::read_to_string(&done).is_ok_and(|installed| installed == pins) {
        return Ok(product);
    }
    fs::create_dir_all(&directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let name = source.file_name().context("pins are a file")?;
    fs::write(directory.join(name), &pins)?;
    for mut command in peer.language.install(&directory, &pins) {
        let finished = process::run(command.current_dir(&directory), &directory, INSTALL_LIMIT)?;
        ensure!(finished.status.success(), "cannot be installed: {}", finished.complaint());
    }
    fs::write(done, pins)?;
    Ok(product)
}
