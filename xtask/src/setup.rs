//! `cargo xtask setup`: installs the tools of the full gate.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::args::Args;
use crate::process::{self, finish, is_installed};
use crate::workspace::Workspace;
use crate::{cargo, note};

pub(crate) const HELP: &str = "\
usage: cargo xtask setup

Installs the tools of `cargo xtask test --full`: Debian packages (as root), cargo-deny and cargo-machete. Lists the tools
that it cannot install; the steps that need them are skipped. Go, Node.js, Python, Java and Maven are used if they are
installed.
";

/// A Debian package.
struct SystemPackage {
    name: &'static str,
    /// Programs of the package; if one of them is found, the package is installed.
    programs: &'static [&'static str],
    purpose: &'static str,
}

const SYSTEM_PACKAGES: [SystemPackage; 8] = [
    SystemPackage { name: "chromium", programs: &["chromium"], purpose: "the browser tests" },
    SystemPackage {
        name: "openssh-server",
        programs: &["sshd", "/usr/sbin/sshd"],
        purpose: "the tests with OpenSSH",
    },
    SystemPackage { name: "prometheus", programs: &["promtool"], purpose: "the checks of metrics and rules" },
    SystemPackage { name: "nginx-light", programs: &["nginx"], purpose: "the tests behind nginx" },
    SystemPackage {
        name: "systemd",
        programs: &["systemd-analyze", "systemd-socket-activate"],
        purpose: "the checks of units",
    },
    SystemPackage { name: "valgrind", programs: &["valgrind"], purpose: "the instruction counts" },
    SystemPackage { name: "xz-utils", programs: &["xz"], purpose: "unpacking the PowerShell for tests" },
    SystemPackage { name: "zstd", programs: &["zstd"], purpose: "the check of the load run" },
];

/// Cargo plugins in tested versions.
const PLUGINS: [(&str, &str, &str); 2] = [
    ("cargo-deny", "0.20.2", "the checks of licences and bans"),
    ("cargo-machete", "0.9.2", "the check for unused dependencies"),
];

fn missing_packages() -> impl Iterator<Item = &'static SystemPackage> {
    SYSTEM_PACKAGES.iter().filter(|package| !package.programs.iter().any(|program| is_installed(program)))
}

fn missing_plugins() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    PLUGINS.iter().filter(|(name, ..)| process::first_line(name, &["--version"]).is_none())
}

/// Returns the tools of the full gate that are not installed.
pub(crate) fn missing() -> Vec<String> {
    let packages = missing_packages().map(|package| format!("no {} for {}", package.name, package.purpose));
    packages.chain(missing_plugins().map(|(name, _, purpose)| format!("no {name} for {purpose}"))).collect()
}

pub(crate) fn command(args: Args) -> Result<()> {
    args.finish()?;
    let workspace = Workspace::find()?;
    let packages: Vec<&str> = missing_packages().map(|package| package.name).collect();
    if !packages.is_empty()
        && let Err(error) = install_packages(&packages)
    {
        note(&format!("{} cannot be installed: {error:#}", packages.join(", ")));
    }
    for (name, version, _) in missing_plugins() {
        // Without optimisation the plugins build in a third of the time and still run in seconds. The exception
        // saves more time on the first run of cargo-machete than it costs.
        let mut install =
            cargo::command(&workspace, &["install", "--debug", "--locked", "--quiet", "--version"]);
        install.args([version, name]).env("CARGO_PROFILE_DEV_DEBUG", "0");
        for package in ["regex-automata", "regex-syntax"] {
            install.arg(format!("--config=profile.dev.package.{package}.opt-level=1"));
        }
        if let Err(error) = finish(install) {
            note(&format!("{name} cannot be installed: {error:#}"));
        }
    }
    for line in missing() {
        note(&line);
    }
    Ok(())
}

fn install_packages(packages: &[&str]) -> Result<()> {
    if process::first_line("id", &["-u"]).as_deref() != Some("0") || !is_installed("apt-get") {
        bail!("this needs root and apt-get");
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(["-qq", "-y", "-o", "DPkg::Lock::Timeout=120", "--no-install-recommends"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(Stdio::null());
        finish(command)
    };
    apt(&["update"])?;
    apt(&[&["install"], packages].concat())?;
    Ok(())
}
