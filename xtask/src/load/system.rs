//! External programs: checks whether they are installed, and installs them.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::single::is_installed;
use crate::process::first_line;

/// Supported programs and their packages.
const PACKAGES: [(&str, &str); 2] = [("nginx", "nginx-light"), ("wrk", "wrk")];

/// Installs a program with the system's package manager if it is missing and the user has the rights.
///
/// # Errors
///
/// Fails if it is missing and cannot be installed.
pub(crate) fn ensure(name: &str) -> Result<()> {
    let places = [name.to_owned(), format!("/usr/sbin/{name}")];
    let is_available = || places.iter().any(|place| is_installed(place));
    if is_available() || name == "nginx" && std::env::var_os("NGINX_BIN").is_some() {
        return Ok(());
    }
    let (_, package) = PACKAGES
        .iter()
        .find(|(program, _)| *program == name)
        .context("no package is known for this program")?;
    let may = first_line("id", &["-u"]).as_deref() == Some("0") && is_installed("apt-get");
    ensure!(may, "{name} is not installed and cannot be installed");
    let apt = |arguments: &[&str]| -> Result<bool> {
        let status = Command::new("apt-get")
            .args(["-qq", "-y", "-o", "DPkg::Lock::Timeout=120", "--no-install-recommends"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()?;
        Ok(status.success())
    };
    ensure!(apt(&["update"])? && apt(&["install", package])?, "{package} cannot be installed");
    ensure!(is_available(), "{package} is installed, but {name} is missing");
    Ok(())
}

/// Returns the versions of the tools.
pub(crate) fn versions() -> Vec<String> {
    // Both print their version to standard error.
    let told = |program: &str| {
        let output = Command::new(program).arg("-v").stdin(Stdio::null()).output().ok()?;
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        let line = text.lines().find(|line| line.contains(program))?;
        Some(line.split(" [").next().unwrap_or(line).trim().to_owned())
    };
    ["wrk", "nginx"].into_iter().filter_map(told).collect()
}
