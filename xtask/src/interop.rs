//! Programs in other languages that the tests use, such as the official SDKs.
//!
//! They are installed once, below the target directory, in pinned versions. Tests find them through environment
//! variables, and are skipped without them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use crate::{note, process};

/// Time limit of an installation. Some compile their dependencies.
const INSTALL_LIMIT: Duration = Duration::from_secs(900);

/// The programs that the tests of one package use.
pub(crate) struct Suite {
    /// Folder of the installation.
    name: &'static str,
    /// The package that pins the versions.
    package: &'static str,
    peers: &'static [Peer],
}

/// The programs of one language for a suite.
struct Peer {
    language: Language,
    /// File with the pinned versions, below the package's tests.
    pins: &'static str,
    /// Environment variable with the path of the installation.
    variable: &'static str,
}

/// Language or package manager of a peer.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    Python,
    Node,
    /// Go programs, one line each with package and version.
    Go,
    /// Maven coordinates, one line each.
    Maven,
}

/// Maven plugin that downloads jars.
const MAVEN_COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

const SUITES: [Suite; 4] = [
    Suite {
        name: "perplexity-mock",
        package: "tightwire-perplexity-mock",
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
        peers: &[Peer {
            language: Language::Python,
            pins: "peers/requirements.txt",
            variable: "PSRP_PYTHON",
        }],
    },
    Suite {
        name: "pypi-proxy",
        package: "pypi-proxy",
        peers: &[Peer {
            language: Language::Python,
            pins: "clients/requirements.txt",
            variable: "PYPI_CLIENTS_PYTHON",
        }],
    },
    FLEET,
];

/// The proxy with S3 servers and network faults.
pub(crate) const FLEET: Suite = Suite {
    name: "fleet",
    package: "pypi-proxy",
    peers: &[
        Peer { language: Language::Maven, pins: "fleet/maven.txt", variable: "FLEET_JARS" },
        Peer { language: Language::Go, pins: "fleet/go.txt", variable: "FLEET_GO" },
        Peer { language: Language::Python, pins: "fleet/requirements.txt", variable: "FLEET_PYTHON" },
    ],
};

/// An S3 server that takes long to build; installed only on request.
pub(crate) const VERSITYGW: Suite = Suite {
    name: "versitygw",
    package: "pypi-proxy",
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

    /// Returns the required programs, each with an argument that checks whether it works.
    fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Python => &[("python3", "--version")],
            Self::Node => &[("node", "--version"), ("npm", "--version")],
            Self::Go => &[("go", "version")],
            Self::Maven => &[("java", "--version"), ("mvn", "--version")],
        }
    }

    /// Returns the path that the environment variable gets, relative to the installation.
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

/// Environment variables of the installed programs, and the reasons for missing ones.
#[derive(Debug, Default)]
pub(crate) struct Installed {
    pub(crate) variables: Vec<(&'static str, PathBuf)>,
    pub(crate) missing: Vec<String>,
}

/// Installs the programs of all suites.
pub(crate) fn install_all(workspace: &Workspace) -> Installed {
    let mut installed = Installed::default();
    for suite in &SUITES {
        let products = suite.install(workspace, &mut installed.missing);
        installed
            .variables
            .extend(products.into_iter().filter_map(|(variable, product)| Some((variable, product?))));
    }
    installed
}

impl Suite {
    /// Installs the programs of some suites. Returns their environment variables, and the reasons for missing ones.
    pub(crate) fn install(
        &self,
        workspace: &Workspace,
        missing: &mut Vec<String>,
    ) -> Vec<(&'static str, Option<PathBuf>)> {
        let each = |peer: &Peer| {
            let pins = workspace.root.join("crates").join(self.package).join("tests").join(peer.pins);
            let place = workspace.target.join("interop").join(self.name).join(peer.language.name());
            let product = install(peer.language, &pins, &place).map_err(|error| {
                let reason = format!("{}, {}: {error:#}", self.name, peer.language.name());
                note(&reason);
                missing.push(reason);
            });
            (peer.variable, product.ok())
        };
        self.peers.iter().map(each).collect()
    }
}

/// Installs what a file pins, unless these versions are installed already. Returns the Python interpreter, or the
/// folder of modules, programs or jars.
pub(crate) fn install(language: Language, pins: &Path, directory: &Path) -> Result<PathBuf> {
    for &(program, version) in language.programs() {
        process::first_line(program, &[version]).with_context(|| format!("{program} cannot be run here"))?;
    }
    let text = fs::read_to_string(pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let product = directory.join(language.product());
    // Written last, so that an interrupted installation is repeated.
    let done = directory.join("installed");
    if product.exists() && fs::read_to_string(&done).is_ok_and(|installed| installed == text) {
        return Ok(product);
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let name = pins.file_name().context("pins are a file")?;
    fs::write(directory.join(name), &text)?;
    for mut command in language.install(directory, &text) {
        let finished = process::run(command.current_dir(directory), directory, INSTALL_LIMIT)?;
        ensure!(finished.status.success(), "cannot be installed: {}", finished.complaint());
    }
    fs::write(done, text)?;
    Ok(product)
}
