//! `cargo xtask setup`: installs the tools of the full gate.

use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::process::{self, finish, is_installed};
use crate::workspace::Workspace;
use crate::{cargo, cross, note};

/// A Debian package: name, programs and purpose. It counts as installed if one of its programs is found.
type Package = (&'static str, &'static [&'static str], &'static str);

const SYSTEM_PACKAGES: [Package; 20] = [
    ("buildah", &["buildah"], "the container image"),
    ("chromium", &["chromium"], "the browser tests"),
    ("fish", &["fish"], "the check of its completion"),
    ("gss-ntlmssp", &["/etc/gss/mech.d/mech.ntlmssp.conf"], "the tests of NTLM"),
    ("krb5-admin-server", &["kadmin.local", "/usr/sbin/kadmin.local"], "the tests of Kerberos"),
    ("krb5-kdc", &["krb5kdc", "/usr/sbin/krb5kdc"], "the tests of Kerberos"),
    ("lintian", &["lintian"], "the check of Debian packages"),
    ("mandoc", &["mandoc"], "the check of manual pages"),
    ("openssh-server", &["sshd", "/usr/sbin/sshd"], "the tests with OpenSSH"),
    ("prometheus", &["promtool"], "the checks of metrics and rules"),
    ("nginx-light", &["nginx"], "the tests behind nginx, and the load test"),
    ("python3-gssapi", &["/usr/lib/python3/dist-packages/gssapi/__init__.py"], "the tests of Kerberos"),
    ("runc", &["runc", "/usr/sbin/runc"], "running the container image"),
    ("skopeo", &["skopeo"], "reading the container image"),
    ("systemd", &["systemd-analyze", "systemd-socket-activate"], "the checks of units"),
    ("valgrind", &["valgrind"], "the instruction counts"),
    ("wrk", &["wrk"], "the load test"),
    ("xz-utils", &["xz"], "unpacking the PowerShell for tests"),
    ("zsh", &["zsh"], "the check of its completion"),
    ("zstd", &["zstd"], "the check of the load run"),
];

/// Debian packages of the step `cross`.
const CROSS_PACKAGES: [Package; 7] = [
    ("cargo-web", &["/usr/bin/cargo"], "all targets"),
    ("gcc-aarch64-linux-gnu", &["aarch64-linux-gnu-gcc"], "aarch64"),
    ("gcc-mingw-w64-x86-64", &[cross::MINGW], "Windows"),
    ("libc6-dev-arm64-cross", &["/usr/aarch64-linux-gnu/include/stdio.h"], "aarch64"),
    ("qemu-user-static", &["qemu-aarch64-static"], "the tests of other processors"),
    ("rust-web-src", &[cross::SOURCES], "all targets"),
    ("rustc-web", &["/usr/bin/rustc"], "all targets"),
];

/// Programs from the Rust package registry in tested versions, with the features that replace the default ones.
const PLUGINS: [(&str, &str, Option<&str>, &str); 4] = [
    ("cargo-deb", "3.8.0", None, "the Debian packages"),
    ("cargo-deny", "0.20.2", None, "the checks of licences and bans"),
    ("cargo-machete", "0.9.2", None, "the check for unused dependencies"),
    ("mdbook", "0.5.4", Some("search"), "the web site"),
];

/// Returns name and purpose of each package that is not installed.
fn missing_packages(packages: &'static [Package]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let missing = packages.iter().filter(|(_, programs, _)| !programs.iter().any(|one| is_installed(one)));
    missing.map(|(name, _, purpose)| (*name, *purpose))
}

fn missing_plugins() -> impl Iterator<Item = (&'static str, &'static str, Option<&'static str>, &'static str)>
{
    PLUGINS.into_iter().filter(|(name, ..)| !is_installed(name))
}

/// Returns the missing tools of the full gate without its step `cross`.
pub(crate) fn missing() -> Vec<String> {
    let plugins = missing_plugins().map(|(name, _, _, purpose)| (name, purpose));
    let packages = missing_packages(&SYSTEM_PACKAGES).chain(plugins);
    packages.map(|(name, purpose)| format!("no {name} for {purpose}")).collect()
}

pub(crate) fn command(workspace: &Workspace, cross: bool) -> Result<()> {
    let cross: &[Package] = if cross { &CROSS_PACKAGES } else { &[] };
    let missing_names = missing_packages(&SYSTEM_PACKAGES).chain(missing_packages(cross));
    let packages: Vec<&str> = missing_names.map(|(name, _)| name).collect();
    if !packages.is_empty()
        && let Err(error) = install_packages(&packages)
    {
        note(&format!("{} cannot be installed: {error:#}", packages.join(", ")));
    }
    for (name, version, features, _) in missing_plugins() {
        // Without optimisation the plugins build in a third of the time and still run in seconds. The exception
        // saves more time on the first run of cargo-machete than it costs.
        let mut install =
            cargo::command(workspace, &["install", "--debug", "--locked", "--quiet", "--version"]);
        install.args([version, name]).env("CARGO_PROFILE_DEV_DEBUG", "0");
        if let Some(features) = features {
            install.args(["--no-default-features", "--features", features]);
        }
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
