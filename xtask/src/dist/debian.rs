//! Debian packages of the programs, from `[package.metadata.deb]` in their manifests.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::documents::stage;
use super::{CRATES, Dist, VERSION};
use crate::process::{self, Skipped, is_installed, lacks, skip, succeed, works};
use crate::{cargo, deploy};

const UNIT: &str = "/usr/lib/systemd/system/pypi-proxy.service";
/// Files of the installed proxy that systemd and the operator create.
const CONFIG: &str = "/etc/pypi-proxy/config.toml";
const SECRETS: &str = "/etc/pypi-proxy/secrets";
const CACHE: &str = "/var/cache/pypi-proxy";
/// Where systemd has the cache of a service with a dynamic user; the service sees it at `CACHE`.
const PRIVATE_CACHE: &str = "/var/cache/private/pypi-proxy";
/// Folder that systemd creates for all services with dynamic users.
const PRIVATE: &str = "/var/cache/private";
/// Link by which dpkg disables the service while its settings exist without the program.
const MASK: &str = "/etc/systemd/system/pypi-proxy.service";
/// Warnings of lintian about packages in the archive of Debian.
const ARCHIVE_TAGS: &str = "description-synopsis-starts-with-article,initial-upload-closes-no-bugs";
/// Maximum attempts of the health check.
const ATTEMPTS: usize = 100;

/// Returns a required program that is not installed.
fn missing() -> Skipped {
    ["dpkg-deb", "dpkg-shlibdeps", "cargo-deb", "xz"].into_iter().find_map(lacks)
}

/// Returns the name of the file of a package. cargo-deb adds the revision to the version.
fn file(name: &str) -> Result<String> {
    let architecture =
        process::first_line("dpkg", &["--print-architecture"]).context("dpkg cannot be run")?;
    Ok(format!("{name}_{VERSION}-1_{architecture}.deb"))
}

pub(super) fn build(dist: &Dist<'_>, out: &Path) -> Result<Skipped> {
    skip!(missing());
    let date = dist.formatted_date("--rfc-email")?;
    for (package, name) in CRATES {
        let folder = stage(dist, package, name)?;
        let manifest =
            fs::read_to_string(dist.workspace.root.join("crates").join(package).join("Cargo.toml"))?;
        let manifest: toml::Table = manifest.parse()?;
        let maintainer =
            manifest["package"]["metadata"]["deb"]["maintainer"].as_str().context("no maintainer")?;
        let changelog = folder.join("changelog.Debian");
        let entry = format!("  * Release {VERSION}.\n\n -- {maintainer}  {date}\n");
        fs::write(&changelog, format!("{name} ({VERSION}-1) unstable; urgency=medium\n\n{entry}"))?;
        let mut gzip = Command::new("gzip");
        gzip.args(["--best", "--no-name", "--recursive"]).arg(changelog).arg(folder.join("man"));
        succeed(&mut gzip)?;
        // cargo-deb finds the files in the folder `release` of this target directory.
        let target = folder.parent().context("a staged folder has a parent")?;
        let mut command =
            cargo::command(dist.workspace, &["deb", "--no-build", "--quiet", "--package", package]);
        // xz is faster than cargo-deb if that is not optimized.
        command.arg("--compress-system").arg("--output").arg(out.join(file(name)?));
        if !dist.is_release {
            command.arg("--fast");
        }
        succeed(command.env("CARGO_TARGET_DIR", target).env("SOURCE_DATE_EPOCH", dist.date()?))?;
    }
    Ok(None)
}

/// Installs, runs, removes and purges the packages. The machine is unchanged afterwards, also if a check fails.
pub(super) fn test(dist: &Dist<'_>) -> Result<Skipped> {
    skip!(missing());
    if process::first_line("id", &["-u"]).as_deref() != Some("0") {
        return Ok(Some("only root may install packages".to_owned()));
    }
    let existing = ["/usr/bin/pypi-proxy", "/usr/bin/psrp", "/etc/pypi-proxy", CACHE, PRIVATE_CACHE, MASK];
    if let Some(path) = existing.iter().find(|path| Path::new(path).exists()) {
        return Ok(Some(format!("{path} exists: the packages are built and not installed")));
    }
    let mut skipped = None;
    for (_, name) in CRATES {
        let package = dist.out.join(file(name)?);
        if is_installed("lintian") {
            let mut lintian = Command::new("lintian");
            lintian.args(["--allow-root", "--fail-on=error,warning", "--suppress-tags", ARCHIVE_TAGS]);
            succeed(lintian.arg(&package))?;
        } else {
            skipped = Some("there is no lintian".to_owned());
        }
        let purge = Purge { name, folder: (!Path::new(PRIVATE).exists()).then_some(PRIVATE) };
        succeed(Command::new("dpkg").arg("--install").arg(&package))?;
        let files = succeed(Command::new("dpkg").args(["--listfiles", name]))?.stdout;
        let files: Vec<&Path> = files.lines().map(Path::new).filter(|path| !path.is_dir()).collect();
        let version = succeed(Command::new(format!("/usr/bin/{name}")).arg("--version"))?.stdout;
        ensure!(version.starts_with(name), "the installed program prints {version}");
        if name == "pypi-proxy" {
            serve()?;
            succeed(Command::new("dpkg").args(["--remove", name]))?;
            for kept in [CONFIG, SECRETS, CACHE, PRIVATE_CACHE] {
                ensure!(Path::new(kept).exists(), "removing the package removes {kept}");
            }
        }
        succeed(Command::new("dpkg").args(["--purge", name]))?;
        let left = files.into_iter().chain(existing.map(Path::new)).find(|path| path.exists());
        ensure!(left.is_none(), "{left:?} exists after {name} was purged");
        drop(purge);
    }
    Ok(skipped)
}

/// Purges a package, and removes a folder if it is empty, when it is dropped.
struct Purge {
    name: &'static str,
    folder: Option<&'static str>,
}

impl Drop for Purge {
    fn drop(&mut self) {
        // It fails if the package is purged already.
        let _ = Command::new("dpkg").args(["--purge", self.name]).output();
        let _ = self.folder.map(fs::remove_dir);
    }
}

/// Runs the command of the installed unit as systemd would, with the installed settings and as another user.
fn serve() -> Result<()> {
    if is_installed("systemd-analyze") {
        deploy::verify_units(&[Path::new(UNIT), &Path::new(UNIT).with_extension("socket")])?;
    }
    let unit = fs::read_to_string(UNIT)?;
    let setting = |name: &str| {
        unit.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .with_context(|| name.to_owned())
    };
    ensure!(setting("DynamicUser")? == "yes", "the unit has no user of its own");
    let mut install = Command::new("install");
    install.args(["-d", "-o", "nobody", "-g", "nogroup", "-m", "700", CACHE]);
    succeed(&mut install)?;
    // Without a namespace of its own, the program cannot use this one.
    fs::create_dir_all(PRIVATE_CACHE)?;
    // The port is free until another program takes it; the check then fails.
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let mut config = fs::read_to_string(CONFIG)?;
    config += &format!(
        "index_url = \"https://packages.example.org/simple/\"\nlisten = \"127.0.0.1:{port}\"\noffline = true\n"
    );
    fs::write(CONFIG, config)?;
    fs::write(SECRETS, "PYPI_PROXY_ADMIN_TOKEN=secret\n")?;

    let environment = setting("Environment")?.replace("%C", "/var/cache");
    let service = |command: &str| {
        let mut service = Command::new("setpriv");
        service.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs", "--"]);
        service.args(command.split(' ')).env_clear().env("PATH", "/usr/bin:/bin").current_dir("/");
        service.envs(environment.split_once('='));
        service
    };
    let mut served = service(setting("ExecStart")?).spawn()?;
    let answers = (0..ATTEMPTS).any(|_| works(&mut service("pypi-proxy healthcheck")));
    let has_cache = fs::read_dir(CACHE)?.next().is_some();
    served.kill()?;
    served.wait()?;
    ensure!(answers, "the command of the unit does not answer at the port of {CONFIG}");
    ensure!(has_cache, "the command of the unit does not use {CACHE}");
    Ok(())
}
