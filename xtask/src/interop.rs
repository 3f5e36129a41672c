//! Programs in other languages that the tests use, such as the official SDKs.
//!
//! They are installed once, below the target directory, in pinned versions. Tests find them through environment
//! variables, and are skipped without them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::note;
use crate::process::succeed;
use crate::workspace::Workspace;

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

const MOCK: &str = "tightwire-perplexity-mock";
/// The proxy with S3 servers and network faults.
pub(crate) const FLEET: &str = "fleet";
/// An S3 server that takes long to build; installed only on request.
pub(crate) const VERSITYGW: &str = "versitygw";
/// Proxies that the load test compares with.
pub(crate) const PROXIES: [&str; 2] = ["proxpi", "devpi"];

/// Installed programs: the folder of the installation, which the languages of a suite share; the package that pins the
/// versions; the language; the file with the pinned versions, below the package's tests; and the environment variable that
/// gets the path of the installation.
const ALL: [(&str, &str, Language, &str, &str); 13] = [
    ("parco-gen", "parco-gen", Language::Node, "node/package.json", "PARCO_NODE_MODULES"),
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
    (PROXIES[0], "pypi-proxy-load", Language::Python, "proxpi.txt", "PROXPI_PYTHON"),
    (PROXIES[1], "pypi-proxy-load", Language::Python, "devpi.txt", "DEVPI_PYTHON"),
];

impl Language {
    /// Returns its name, the path to store in the environment variable, relative to the installation, and the shell script
    /// that installs what the file `$1` pins into the current folder.
    fn parts(self) -> [&'static str; 3] {
        match self {
            Self::Python => [
                "Python",
                "venv/bin/python",
                "python3 -m venv --clear venv && venv/bin/python -m pip install --quiet --retries 1 \
                 --disable-pip-version-check --requirement \"$1\"",
            ],
            Self::Node => [
                "Node.js",
                "node_modules",
                "npm install --loglevel=error --fetch-retries=1 --no-audit --no-fund --ignore-scripts",
            ],
            Self::Go => ["Go", "bin", "GOBIN=\"$PWD/bin\" xargs --max-args=1 go install < \"$1\""],
            Self::Maven => [
                "Maven",
                "jars",
                "xargs -I{} mvn -q -B -ntp org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
                 -Dmdep.stripVersion=true -Dartifact={} -DoutputDirectory=jars < \"$1\"",
            ],
        }
    }
}

/// Returns whether tests use the programs of a suite.
pub(crate) fn is_for_tests(suite: &str) -> bool {
    suite != VERSITYGW && !PROXIES.contains(&suite)
}

/// Environment variables of the installed programs, and the reasons for missing ones.
#[derive(Debug, Default)]
pub(crate) struct Installed {
    pub(crate) variables: Vec<(&'static str, PathBuf)>,
    pub(crate) missing: Vec<String>,
}

pub(crate) fn install_suites(workspace: &Workspace, is_wanted: impl Fn(&str) -> bool) -> Installed {
    let mut installed = Installed::default();
    for (suite, package, language, pins, variable) in ALL.into_iter().filter(|(suite, ..)| is_wanted(suite)) {
        let pins = workspace.root.join("crates").join(package).join("tests").join(pins);
        let [name, ..] = language.parts();
        let place = workspace.target.join("interop").join(suite).join(name);
        match install(language, &pins, &place) {
            Ok(product) => installed.variables.push((variable, product)),
            Err(error) => {
                let reason = format!("{suite}, {name}: {error:#}");
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
    let text = fs::read_to_string(pins).with_context(|| format!("cannot read {}", pins.display()))?;
    let [_, product, script] = language.parts();
    let product = directory.join(product);
    // Written last, so that an interrupted installation is repeated.
    let done = directory.join("installed");
    if product.exists() && fs::read_to_string(&done).is_ok_and(|installed| installed == text) {
        return Ok(product);
    }
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let name = pins.file_name().context("pins are a file")?;
    fs::write(directory.join(name), &text)?;
    let mut sh = Command::new("sh");
    sh.args(["-c", script, "sh"]).arg(name).current_dir(directory);
    succeed(&mut sh).context("cannot be installed")?;
    fs::write(done, text)?;
    Ok(product)
}
