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

const MOCK: &str = "tightwire-perplexity-mock";
/// The proxy with S3 servers and network faults.
pub(crate) const FLEET: &str = "fleet";
/// An S3 server that takes long to build; installed only on request.
pub(crate) const VERSITYGW: &str = "versitygw";

/// Installed programs: the folder of the installation, which the languages of a suite share; the package that pins the
/// versions; the language; the file with the pinned versions, below the package's tests; and the environment variable that
/// gets the path of the installation.
const ALL: [(&str, &str, Language, &str, &str); 10] = [
    ("perplexity-mock", MOCK, Language::Python, "sdk/python/requirements.txt", "PERPLEXITY_PYTHON"),
    ("perplexity-mock", MOCK, Language::Node, "sdk/node/package.json", "PERPLEXITY_NODE_MODULES"),
    ("psrp", "psrp", Language::Python, "peers/requirements.txt", "PSRP_PYTHON"),
    ("pypi-proxy", "pypi-proxy", Language::Python, "clients/requirements.txt", "PYPI_CLIENTS_PYTHON"),
    ("sse-mcp", "tightwire-sse", Language::Python, "mcp/python/requirements.txt", "SSE_MCP_PYTHON"),
    ("sse-mcp", "tightwire-sse", Language::Node, "mcp/node/package.json", "SSE_MCP_NODE_MODULES"),
    (FLEET, "pypi-proxy", Language::Maven, "fleet/maven.txt", "FLEET_JARS"),
    (FLEET, "pypi-proxy", Language::Go, "fleet/go.txt", "FLEET_GO"),
    (FLEET, "pypi-proxy", Language::Python, "fleet/requirements.txt", "FLEET_PYTHON"),
    (VERSITYGW, "pypi-proxy", Language::Go, "fleet/versitygw.txt", "FLEET_VERSITYGW"),
];

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

    /// Returns the path to store in the environment variable, relative to the installation.
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

/// Installs the programs of the selected suites.
pub(crate) fn install_suites(workspace: &Workspace, is_wanted: impl Fn(&str) -> bool) -> Installed {
    let mut installed = Installed::default();
    for (suite, package, language, pins, variable) in ALL.into_iter().filter(|(suite, ..)| is_wanted(suite)) {
        let pins = workspace.root.join("crates").join(package).join("tests").join(pins);
        let place = workspace.target.join("interop").join(suite).join(language.name());
        match install(language, &pins, &place) {
            Ok(product) => installed.variables.push((variable, product)),
            Err(error) => {
                let reason = format!("{suite}, {}: {error:#}", language.name());
                note(&reason);
                installed.missing.push(reason);
            }
        }
    }
    installed
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
